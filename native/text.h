/* Parse JSON texts without building values.

   The grammar is stricter than JSON. It rejects faults that the exact parser reports: a number that few programs can
   hold, half a surrogate pair, bytes that are not UTF-8. It also rejects rare spellings: an escaped key, a long number.
   Every function takes the end of the readable bytes, and returns NULL for a rejected value. */

#ifndef TURNLINT_TEXT_H
#define TURNLINT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef const unsigned char *At;

typedef struct {
    At start, end; /* without the quotes */
    bool plain;    /* it has no escape */
    bool marked;   /* it has a character with which a call in a text may begin */
} Text;

enum { DEEPEST = 64 };

static inline At skip_space(At at, At end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

static inline size_t length(const Text *text) { return (size_t)(text->end - text->start); }

static inline bool same(const Text *text, const void *other, size_t size)
{
    return length(text) == size && memcmp(text->start, other, size) == 0;
}

/* Compare a text with a string literal. */
#define IS(text, literal) same(text, literal, sizeof(literal) - 1)

typedef struct {
    const char *name;
    size_t size;
} Field;

#define FIELD(name) {name, sizeof(name) - 1}

At read_text(At at, At end, Text *text);
/* Read a value that is no object and no list. */
At read_scalar(At at, At end);
/* Find the end of a value without validating its content. NULL if it has no end. */
At skip_value(At at, At end);
/* Read the key of a member and its colon. Returns the start of the value. */
At read_key(At at, At end, Text *key);
/* Enter an object or a list, and go to the next member; `more` is set to whether there is one. */
At enter(At at, At end, unsigned char open, unsigned char close, bool *more);
At onward(At at, At end, unsigned char close, bool *more);
/* Decode a text to UTF-8, and return its size. `into` must have room for the encoded size. */
size_t unescape(const Text *text, unsigned char *into);

#endif
