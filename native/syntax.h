/* Hold the syntax of a wire as tables: the keys of its objects, and the meaning of each key.

   Python compiles the tables from the `SYNTAX` of a format (`carrying/syntax.py`). This file contains no wire. */

#ifndef TURNLINT_SYNTAX_H
#define TURNLINT_SYNTAX_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>

#include "text.h"

/* The meanings of keys. The number of an action is its index in the tuple that Python gets. */
#define ACTIONS(X) \
    X(skip) X(null) X(absent) X(mark) X(role) X(type) X(id) X(result_id) X(name) X(arguments) X(text_arguments) X(object_arguments) X(free) X(text) X(words) \
    X(content) X(pieces) X(output) X(outputs) X(list_output) X(hosted) X(json) X(output_parts) X(braces) X(list) X(object) X(signature) X(encrypted) X(item) X(media) X(source) X(failed) X(status) X(plan) X(thought) X(beside) X(naming) \
    X(keep) X(opaque) X(setting) X(choice) X(record) X(tools) X(messages) X(column) X(loose) X(flag) X(given) X(said) X(payload) X(scalar) X(told) X(number) X(buffer)
enum {
#define X(name) DO_##name,
    ACTIONS(X)
#undef X
    ACTION_COUNT
};

/* The kinds of pieces of a message. */
#define PIECES(X) X(text) X(media) X(call) X(result) X(thought) X(cipher) X(other) X(server_call) X(server_result) X(message) X(setting)
enum {
#define X(name) PIECE_##name,
    PIECES(X)
#undef X
    PIECE_COUNT
};

enum { MAX_COLUMNS = 16, GIVEN_SHIFT = 8, ROLE_SHIFT = 24, CONTENT_SHIFT = 28 };
enum { MAX_KEYS = 112, MAX_SEEN_KEYS = 62, MAX_KINDS = 60, MAX_WORD_BYTES = 47, WORD_SLOTS = 256, MAX_ROLES = 8, MAX_CLASSES = 8, MAX_PLACES = 192 };

enum { SYSTEM_NEUTRAL, USER_NEUTRAL, ASSISTANT_NEUTRAL, TOOL_NEUTRAL, NEUTRAL_COUNT };

/* The role of messages with parts of a kind. */
enum { ANY_SPEAKER, ASSISTANT_SPEAKER, OTHER_SPEAKERS };

/* How the kind of an object is found: a single kind, by the value of `type`, or by a key. */
enum { KIND_ALONE, KIND_BY_TYPE, KIND_BY_KEY };

typedef struct {
    unsigned char size, number;
    unsigned char letters[MAX_WORD_BYTES];
} Word;

/* A hash table of words. A slot has the index of a word in the list, or -1. */
typedef struct {
    Word words[MAX_KEYS];
    int count;
    signed char slots[WORD_SLOTS];
} Words;

typedef struct {
    int action, argument;
} Key;

typedef struct {
    uint64_t allowed, needed, marks;
    int piece, group; /* group: the number of a kind among those of results */
    Word prefix; /* of an item id; empty if the kind has none */
    Word tool;   /* the name of the only tool of such calls; empty if a call has its own name */
    bool may_be_hosted;
    int speaker;
} Kind;

typedef struct {
    Words words, kind_words;
    Key keys[MAX_KEYS];
    Kind kinds[MAX_KINDS];
    int kind_by, default_kind;
    signed char kind_of_key[MAX_KEYS];
    int place;         /* the number of its first place; each kind has one, and then each class of messages */
    bool is_envelope, is_open; /* is_open: other keys have no meaning, and the envelope omits them */
} Object;

typedef struct {
    Object *objects;
    int count, root;
    Words roles;
    int role_of_word[MAX_KEYS];
    int absent_role;       /* -1: a message without a role is unusual */
    int item_role;         /* of items that are calls, thoughts and others */
    int result_role;       /* of items and messages that are results; -1: the wire has none */
    int user_role;
    unsigned char neutral[MAX_ROLES];
    unsigned window;       /* neutral roles that may be between calls and their results */
    unsigned char class_of[MAX_ROLES][4];
    unsigned list_roles;   /* roles whose content must be a list */
    bool joins, anywhere, idless, needs_call_type, needs_arguments, may_be_empty, has_bare_lines;
    Words unusable;        /* ids that identify nothing, in lower case */
    Words evidence;        /* parts of a list of tools that are evidence for a format, within its first bytes */
    int evidence_window[MAX_KEYS];
    PyObject *evidence_fragments; /* the replacement of each in the envelope */
    unsigned short class_of_letter[256];
    int places;
} Syntax;

/* Fill the tables from (objects, settings). False with an error set. */
bool fill_syntax(Syntax *syntax, PyObject *objects, PyObject *settings);
void drop_syntax(Syntax *syntax);
PyObject *action_names(void);
PyObject *piece_names(void);

static inline uint32_t hash_word(const unsigned char *letters, size_t size)
{
    uint32_t first = 0, last = 0;
    if (size >= 4) {
        memcpy(&first, letters, 4);
        memcpy(&last, letters + size - 4, 4);
    } else {
        for (size_t i = 0; i < size; i++)
            first = first << 8 | letters[i];
    }
    return (uint32_t)(((first * 0x9E3779B1u) ^ (last * 0x85EBCA6Bu)) + (uint32_t)size * 0xC2B2AE35u);
}

/* Return the index of a word, or -1 for a word that is not in the list. */
static inline int find_word(const Words *words, const Text *text)
{
    size_t size = length(text);
    for (uint32_t slot = hash_word(text->start, size) >> 24;; slot = (slot + 1) & (WORD_SLOTS - 1)) {
        int number = words->slots[slot];
        if (number < 0)
            return -1;
        const Word *word = &words->words[number];
        if (word->size == size && memcmp(word->letters, text->start, size) == 0)
            return number;
    }
}

#endif
