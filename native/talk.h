/* One conversation, as far as it seems sound.

   This file owns what is kept of a conversation while its messages go by: which calls wait, which ids it has had, who
   spoke last; and the bounds that its provider sets. It refuses to know how a wire writes them. What it cannot settle
   itself it asks of Python, which is seldom. */

#ifndef TURNLINT_TALK_H
#define TURNLINT_TALK_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>

#include "text.h"

enum { SYSTEM = 1, DEVELOPER = 2, USER = 4, ASSISTANT = 8, TOOL = 16 };

/* What a message says, piece by piece. */
typedef enum { SAID, MEDIA, CALL, RESULT, THOUGHT } Kind;

/* What some providers mind, in the order of `scan/native.py`. */
enum {
    LAX_ABSENT = 1, LAX_BLANK = 2, LAX_BLANK_RESULT = 4, LAX_PARTS = 8, LAX_MEDIA = 16, LAX_LIST_RESULT = 32,
    LAX_CACHE = 64, LAX_AUTHOR = 128, LAX_NULL = 256, LAX_EXTRAS = 512, LAX_THOUGHT = 1024, LAX_ODD_THOUGHT = 2048,
    LAX_KEYS = 4096, LAX_SHOWN_RESULT = 8192, LAX_APART = 16384,
};

typedef struct {
    Kind kind;
    Text id, name;
    Text body; /* of a text and a result; the arguments of a call */
    bool in_place; /* they stand there themselves, in no text */
    enum { UNSAID, WENT_WELL, WENT_WRONG } failed; /* what a result says of itself */
} Piece;

typedef struct {
    unsigned role;
    Piece *pieces;
    size_t count, room;
    unsigned needs; /* what of it some providers mind */
    bool listed;    /* its pieces stand in a list that is its content */
    Text author;
} Message;

/* The words that a log's lines have besides their message. */
typedef struct {
    const char *const *keys;
    const size_t *sizes;
    size_t count;
    size_t group; /* which of them names the conversation; `count` where none does */
    uint64_t seen;
    Text name;
} Spare;

enum { LONGEST_WORD = 10 }; /* no word that stands for a lost id is longer; a test holds it to `ledger/values.py` */

enum { NAMES = 32, KEPT_NAME = 64 };

typedef struct {
    size_t size;
    unsigned char letters[KEPT_NAME];
} Name;

typedef struct {
    PyObject_HEAD
    unsigned roles, first, last, needs; /* sets; an empty one asks nothing */
    unsigned lax;
    int calls, hollow_results, spaced_end;
    Py_ssize_t most_messages, most_calls, longest_id, longest_result;
    bool has_letters;
    bool letters[256]; /* of which ids are made */
    PyObject *takes_id, *takes_name, *takes_author, *says_something, *holds_call;
    Name known[NAMES]; /* names that were asked for, and are fine */
    Py_ssize_t conversations, messages, answered; /* what was vouched for */
} Terms;

typedef struct {
    size_t at;
    uint32_t id, name; /* their lengths; they are kept one behind the other */
    bool done;         /* it was answered before one that was asked earlier */
} Asked;

typedef struct {
    unsigned char *kept;
    size_t used, room;
    Asked *asked;
    size_t count, asked_room;
    size_t answered; /* so many calls, in their order */
    uint32_t *table; /* places in `asked`, from one on, by the hash of an id */
    size_t mask;
    size_t messages;
    unsigned role, roles; /* who spoke last, and who did at all */
    bool trails;          /* what was said last ends in white space */
    bool spoke;           /* more than thoughts was said since the assistant began */
} Talk;

/* Set when the module is made. Whatever Python hands over is held to them. */
extern PyTypeObject *terms_type, *unread_type;

bool add_piece(Message *said, Piece piece);
void drop_pieces(Message *said);
void forget(Talk *talk);
void let_go(Talk *talk);
/* Forgets the calls of a conversation in which none waits, and who made sure that no id comes twice. */
void rest(Talk *talk);

static inline bool waits(const Talk *talk) { return talk->answered < talk->count; }

/* Whether a message of this role and these needs may come next; then it has come. */
bool speaks(Talk *talk, const Terms *terms, const Message *said);
void begin_message(Message *said);
/* Whether a text is more than white space, and holds no call. */
bool says(const Terms *terms, const Text *text, unsigned role);
bool is_blank(const Terms *terms, const Text *text);
/* Whether a call may be made, and then it waits. */
bool asks(Talk *talk, Terms *terms, const Piece *call);
bool may_be_author(const Terms *terms, const Text *name);
/* Whether a result is that of the call that waits longest. */
bool answers(Talk *talk, const Piece *result);
/* Whether a result is that of a call that waits, whichever. */
bool answers_any(Talk *talk, const Piece *result);
/* Whether a text ends in white space, as it is written. */
bool trails_off(const Text *text);
/* Whether a conversation may end here. */
bool is_whole(const Talk *talk, const Terms *terms);

#endif
