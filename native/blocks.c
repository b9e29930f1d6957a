/* Anthropic Messages: calls and results are blocks of a message. See `scan/blocks.py`, whose lean shape this is. */

#include "wires.h"

enum {
    TYPE = 1, TEXT = 2, ID = 4, NAME = 8, INPUT = 16, ANSWERS = 32, CONTENT = 64, FAILED = 128, CACHE = 256, SOURCE = 512,
    THINKING = 1024, SIGNATURE = 2048, DATA = 4096,
};

/* In the order of their bits. */
static const Field FIELDS[] = {
    FIELD("type"), FIELD("text"), FIELD("id"), FIELD("name"), FIELD("input"), FIELD("tool_use_id"), FIELD("content"),
    FIELD("is_error"), FIELD("cache_control"), FIELD("source"), FIELD("thinking"), FIELD("signature"), FIELD("data"),
};
enum { COUNT = sizeof(FIELDS) / sizeof(FIELDS[0]) };

static bool is_shown(const Text *kind) { return IS(kind, "image") || IS(kind, "document"); }

/* One of the pieces that a result may be a list of: a text that is not blank, or what is shown. */
static At read_inner(At at, At end, unsigned *needs)
{
    bool more;
    unsigned seen = 0;
    size_t count = 0;
    Text keys[MOST_KEYS], kind, text;
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_new_key(at, end, keys, &count);
        if (!at)
            return NULL;
        unsigned field = field_of(&keys[count - 1], FIELDS, COUNT) & (TYPE | TEXT | SOURCE);
        seen |= field;
        if (!field)
            *needs |= LAX_KEYS;
        at = field == TYPE ? read_text(at, end, &kind) : field == TEXT ? read_text(at, end, &text) : read_value(at, end, 0);
        if (at)
            at = onward(at, end, '}', &more);
    }
    if (!at) /* then what it names was never read */
        return NULL;
    if (seen == (TYPE | SOURCE) && is_shown(&kind))
        *needs |= LAX_SHOWN_RESULT;
    else if (seen != (TYPE | TEXT) || !IS(&kind, "text") || !has_letter(&text))
        return NULL;
    return at;
}

/* A result may be a list. */
static At read_list(At at, At end, Piece *result, unsigned *needs)
{
    bool more;
    at = enter(at, end, '[', ']', &more);
    if (at && !more)
        return NULL;
    while (at && more) {
        at = read_inner(at, end, needs);
        if (at)
            at = onward(at, end, ']', &more);
    }
    result->body = (Text){0};
    return at;
}

static At read_field(At at, At end, unsigned field, Piece *block, Text *kind, unsigned *needs)
{
    switch (field) {
    case TYPE:
        return read_text(at, end, kind);
    case CONTENT:
        if (at < end && *at == '[')
            return read_list(at, end, block, needs);
        return read_text(at, end, &block->body);
    case TEXT:
    case THINKING:
    case DATA:
        return read_text(at, end, &block->body);
    case ID:
    case ANSWERS:
        return read_text(at, end, &block->id);
    case NAME:
    case SIGNATURE:
        return read_text(at, end, &block->name);
    case INPUT:
        block->in_place = true;
        block->body.start = at;
        return block->body.end = at < end && *at == '{' ? read_value(at, end, 0) : NULL;
    case SOURCE:
    case CACHE:
        return at < end && *at == '{' ? read_value(at, end, 0) : NULL;
    case FAILED:
        block->failed = at < end && *at == 't' ? WENT_WRONG : WENT_WELL;
        return at < end && (*at == 't' || *at == 'f') ? read_value(at, end, 0) : NULL;
    default:
        *needs |= LAX_KEYS;
        return read_value(at, end, 0);
    }
}

/* Which kind of block has just these fields. */
static bool settle(Piece *block, const Text *kind, unsigned seen, unsigned *needs)
{
    *needs |= seen & CACHE ? LAX_CACHE : 0;
    seen &= ~(unsigned)CACHE;
    block->kind = seen & TEXT ? SAID : seen & INPUT ? CALL : seen & SOURCE ? MEDIA : seen & ANSWERS ? RESULT : THOUGHT;
    switch (block->kind) {
    case MEDIA:
        *needs |= LAX_MEDIA;
        return seen == (TYPE | SOURCE) && is_shown(kind);
    case SAID:
        return seen == (TYPE | TEXT) && IS(kind, "text");
    case CALL:
        return seen == (TYPE | ID | NAME | INPUT) && IS(kind, "tool_use");
    case RESULT:
        *needs |= block->body.start ? 0 : LAX_LIST_RESULT;
        return (seen & ~FAILED) == (TYPE | ANSWERS | CONTENT) && IS(kind, "tool_result");
    default:
        *needs |= LAX_THOUGHT;
        if ((seen & ~SIGNATURE) == (TYPE | THINKING) && IS(kind, "thinking")) {
            bool signed_one = (seen & SIGNATURE) && has_letter(&block->name);
            *needs |= signed_one && has_letter(&block->body) ? 0 : LAX_ODD_THOUGHT;
            return true;
        }
        return seen == (TYPE | DATA) && IS(kind, "redacted_thinking");
    }
}

static At read_block(At at, At end, Piece *block, unsigned *needs)
{
    bool more;
    unsigned seen = 0;
    size_t count = 0;
    Text keys[MOST_KEYS], kind;
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_new_key(at, end, keys, &count);
        if (!at)
            return NULL;
        unsigned field = field_of(&keys[count - 1], FIELDS, COUNT);
        seen |= field;
        at = read_field(at, end, field, block, &kind, needs);
        if (at)
            at = onward(at, end, '}', &more);
    }
    return at && settle(block, &kind, seen, needs) ? at : NULL;
}

At read_blocks(At at, At end, Message *said)
{
    bool more;
    if (at < end && *at == '"') {
        Piece text = {.kind = SAID};
        at = read_text(at, end, &text.body);
        return at && add_piece(said, text) ? at : NULL;
    }
    said->listed = true;
    at = enter(at, end, '[', ']', &more);
    while (at && more) {
        Piece block = {.kind = SAID};
        at = read_block(at, end, &block, &said->needs);
        if (!at || !add_piece(said, block))
            return NULL;
        at = onward(at, end, ']', &more);
    }
    return said->count ? at : NULL;
}

static At read_message(At at, At end, Message *said, Spare *spare)
{
    bool more, spoke = false;
    Text key, role;
    begin_message(said);
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_key(at, end, &key);
        if (!at)
            return NULL;
        if (!said->role && IS(&key, "role")) {
            at = read_text(at, end, &role);
            said->role = at ? role_of(&role) & (USER | ASSISTANT) : 0;
            if (!said->role)
                return NULL;
        } else if (!spoke && IS(&key, "content")) {
            spoke = true;
            at = read_blocks(at, end, said);
        } else if (IS(&key, "role") || IS(&key, "content")) {
            return NULL;
        } else {
            at = read_spare(at, end, &key, spare);
        }
        if (at)
            at = onward(at, end, '}', &more);
    }
    return said->role && spoke ? at : NULL;
}

bool takes_body(const Terms *terms, const Piece *result)
{
    size_t size = length(&result->body);
    return (Py_ssize_t)size + 2 <= terms->longest_result && (terms->hollow_results || !result->body.start || size);
}

static bool answer_all(Talk *talk, const Terms *terms, const Message *said)
{
    for (size_t i = 0; i < said->count; i++) {
        const Piece *result = &said->pieces[i];
        if (result->kind != RESULT || !answers(talk, result) || !takes_body(terms, result))
            return false;
    }
    return !waits(talk);
}

/* Texts first, then calls, which the next message answers. */
static bool follows(Talk *talk, Terms *terms, const Message *said)
{
    size_t texts = 0, calls;
    if ((talk->role & said->role & ASSISTANT) || !speaks(talk, terms, said))
        return false;
    if (said->pieces[0].kind == RESULT)
        return answer_all(talk, terms, said);
    if (waits(talk))
        return false;
    while (texts < said->count && (said->pieces[texts].kind == SAID || said->pieces[texts].kind == MEDIA)) {
        const Piece *piece = &said->pieces[texts++];
        if (piece->kind == MEDIA && said->role != USER)
            return false;
        if (piece->kind == SAID && !says(terms, &piece->body, said->role))
            return false;
        talk->trails = said->role == ASSISTANT && trails_off(&piece->body);
    }
    calls = said->count - texts;
    if ((calls && said->role != ASSISTANT) || (Py_ssize_t)calls > terms->most_calls)
        return false;
    for (size_t i = texts; i < said->count; i++)
        if (said->pieces[i].kind != CALL || !asks(talk, terms, &said->pieces[i]))
            return false;
    return true;
}

const Wire BLOCKS = {"anthropic", read_message, follows};
