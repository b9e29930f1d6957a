/* Logs that agents keep of their sessions: every line is a record, and most name the one before them.

   This file owns what a line and a thread of them are. It refuses to know any agent: each is a `Session`. */

#ifndef TURNLINT_SESSIONS_H
#define TURNLINT_SESSIONS_H

#include "wires.h"

/* A record, as far as it is of the lean shape. A text that is not given starts nowhere. */
typedef struct {
    bool placed; /* it has a place among the others; the rest is bookkeeping */
    bool speaks; /* it is the user's or the assistant's, whether it says anything or not */
    bool said;   /* it says something that is sent again */
    bool side, aside;
    Text id, parent, session, agent, time, response;
    Message message;
} Line;

enum { KEPT_ID = 64 };

typedef struct {
    size_t size; /* nothing is kept where this is nothing */
    unsigned char bytes[KEPT_ID];
} Kept;

/* Numbers that were met, told apart by 64 bits: two that meet are taken for one, which is for Python to sort out. */
typedef struct {
    uint64_t *slots;
    size_t count, mask;
} Met;

/* Whether it is met for the first time; where that cannot be told it is not. */
bool meet(Met *met, uint64_t number);
bool has_met(const Met *met, uint64_t number);

/* What one writer says in one session. */
typedef struct {
    Kept tip, voice; /* the last line that has a place, and the last that speaks */
    Kept response; /* the answer of the API that was begun last */
    Kept *pieces;  /* the lines of that */
    Kept time;     /* of the last of them */
    size_t count, room;
    size_t calls;  /* in it */
    size_t asked;  /* in all */
    bool begun;
    bool open;     /* since its last piece nothing was said but results */
    bool chained;  /* a result hangs on another */
    bool spread;   /* some of it, or a result, stands beside what the next line hangs on */
    bool shuffled; /* its pieces do not stand in the order of their times */
    bool forked;   /* more than one line has nobody behind it */
    bool aside;    /* the last that speaks is never the end of what would be replayed */
    Talk talk;
} Thread;

/* How an agent writes its log. */
typedef struct {
    const char *name;
    /* Reads a line, as far as it is of the lean shape; gives the place behind it. */
    At (*read)(At at, At end, Line *line);
    /* Whether a line goes on from what was said so far, all of it sound; then it is part of that. */
    bool (*goes_on)(Thread *thread, Terms *terms, Met *met, uint64_t salt, const Line *line);
} Session;

extern const Session CLAUDE, CODEX;

/* For sessions that are trees. */
bool hangs_on(Thread *thread, Terms *terms, Met *met, uint64_t salt, const Line *line);
/* Whether this is the id of a line that others may hang on. */
bool is_near(const Thread *thread, const Text *id);
bool may_end(const Thread *thread, const Terms *terms);
/* Lets go of what a thread does not need while others speak. */
void leave_thread(Thread *thread);
void drop_thread(Thread *thread);
uint64_t hash_text(const Text *text, uint64_t salt);

#endif
