/* The wires that are known here: how each writes a message, and what may follow what. */

#ifndef TURNLINT_WIRES_H
#define TURNLINT_WIRES_H

#include "talk.h"

enum { HUGE_LINE = 1 << 25 }; /* of a line this long there is something to say, as `documents.framing` has it */

typedef struct {
    const char *name;
    /* Reads a message, as far as it is of the lean shape; gives the place behind it. */
    At (*read)(At at, At end, Message *said, Spare *spare);
    /* Whether it may come next in a conversation that is sound so far; then it is part of that. */
    bool (*follows)(Talk *talk, Terms *terms, const Message *said);
} Wire;

extern const Wire CHAT, BLOCKS;

/* A content as Anthropic Messages has it: a text, or blocks. */
At read_blocks(At at, At end, Message *said);
/* Whether a text holds JSON, and that is an object. */
bool holds_object(const Text *text);
/* Whether a result says as much as its provider asks, and no more. */
bool takes_body(const Terms *terms, const Piece *result);
/* The wire of this name; nothing, with an error set, where none is known here. */
const Wire *wire_of(const char *name);
unsigned role_of(const Text *name);
/* A key that is not the wire's own: one of the log's. */
At read_spare(At at, At end, const Text *key, Spare *spare);

#endif
