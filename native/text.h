/* JSON texts, read without building anything.

   This file owns what is a valid JSON value here. It is stricter than JSON: of what a reader of the exact way has a
   word to say about (a key that comes twice, a number that few programs can hold, half a surrogate pair, bytes that
   are not UTF-8), and of what is seldom (an escaped key, a long number), it says "not by me". It refuses to know
   what a value means. Every function gets the end of what it may look at, and gives NULL for anything it refuses. */

#ifndef TURNLINT_TEXT_H
#define TURNLINT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef const unsigned char *At;

typedef struct {
    At start, end; /* without the quotes */
    bool plain;    /* nothing in it is escaped */
    bool marked;   /* it holds a character with which a call in a text may begin */
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

/* For names that are written in the program. */
#define IS(text, literal) same(text, literal, sizeof(literal) - 1)

typedef struct {
    const char *name;
    size_t size;
} Field;

#define FIELD(name) {name, sizeof(name) - 1}

At read_text(At at, At end, Text *text);
/* A value that is no object and no list. */
At read_scalar(At at, At end);
/* The value is not looked into: only where it ends is found, as long as it is one. */
At skip_value(At at, At end);
/* The key of a member and its colon; gives the place of the value. */
At read_key(At at, At end, Text *key);
/* Into an object or a list, and from member to member; `more` says whether there is one. */
At enter(At at, At end, unsigned char open, unsigned char close, bool *more);
At onward(At at, At end, unsigned char close, bool *more);
/* What a text that was read says, in UTF-8. There is room for as many bytes as it is written with. */
size_t unescape(const Text *text, unsigned char *into);

#endif
