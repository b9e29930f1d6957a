/* Anthropic Messages: calls and results are blocks of a message. See `scan/blocks.py`, whose lean shape this is. */

#include "wires.h"

enum { TYPE = 1, TEXT = 2, ID = 4, NAME = 8, INPUT = 16, ANSWERS = 32, CONTENT = 64, FAILED = 128, CACHE = 256, SOURCE = 512 };

/* In the order of their bits. */
static const Field FIELDS[] = {
    FIELD("type"), FIELD("text"), FIELD("id"), FIELD("name"), FIELD("input"), FIELD("tool_use_id"), FIELD("content"),
    FIELD("is_error"), FIELD("cache_control"), FIELD("source"),
};
enum { COUNT = sizeof(FIELDS) / sizeof(FIELDS[0]) };

/* A result may be a list of texts, none of them blank. */
static At read_texts(At at, At end, Piece *result)
{
    bool more, inner;
    Text key, kind, text;
    at = enter(at, end, '[', ']', &more);
    if (at && !more)
        return NULL;
    while (at && more) {
        unsigned seen = 0;
        at = enter(at, end, '{', '}', &inner);
        while (at && inner) {
            at = read_key(at, end, &key);
            unsigned field = !at ? 0 : IS(&key, "type") ? TYPE : IS(&key, "text") ? TEXT : 0;
            if (!field || (seen & field))
                return NULL;
            seen |= field;
            at = read_text(at, end, field == TYPE ? &kind : &text);
            if (at)
                at = onward(at, end, '}', &inner);
        }
        if (!at || seen != (TYPE | TEXT) || !IS(&kind, "text") || !has_letter(&text))
            return NULL;
        at = onward(at, end, ']', &more);
    }
    result->body = (Text){0};
    return at;
}

static At read_field(At at, At end, unsigned field, Piece *block, Text *kind)
{
    switch (field) {
    case TYPE:
        return read_text(at, end, kind);
    case CONTENT:
        if (at < end && *at == '[')
            return read_texts(at, end, block);
        return read_text(at, end, &block->body);
    case TEXT:
        return read_text(at, end, &block->body);
    case ID:
    case ANSWERS:
        return read_text(at, end, &block->id);
    case NAME:
        return read_text(at, end, &block->name);
    case INPUT:
        block->in_place = true;
        block->body.start = at;
        return block->body.end = at < end && *at == '{' ? read_value(at, end, 0) : NULL;
    case SOURCE:
    case CACHE:
        return at < end && *at == '{' ? read_value(at, end, 0) : NULL;
    default:
        block->failed = at < end && *at == 't' ? WENT_WRONG : WENT_WELL;
        return at < end && (*at == 't' || *at == 'f') ? read_value(at, end, 0) : NULL;
    }
}

/* Which kind of block has just these fields. */
static bool settle(Piece *block, const Text *kind, unsigned seen)
{
    seen &= ~(unsigned)CACHE;
    block->kind = seen & TEXT ? SAID : seen & INPUT ? CALL : seen & SOURCE ? MEDIA : RESULT;
    switch (block->kind) {
    case MEDIA:
        return seen == (TYPE | SOURCE) && (IS(kind, "image") || IS(kind, "document"));
    case SAID:
        return seen == (TYPE | TEXT) && IS(kind, "text");
    case CALL:
        return seen == (TYPE | ID | NAME | INPUT) && IS(kind, "tool_use");
    default:
        return (seen & ~FAILED) == (TYPE | ANSWERS | CONTENT) && IS(kind, "tool_result");
    }
}

static At read_block(At at, At end, Piece *block, unsigned *needs)
{
    bool more;
    unsigned seen = 0;
    Text key, kind;
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_key(at, end, &key);
        if (!at)
            return NULL;
        unsigned field = field_of(&key, FIELDS, COUNT);
        if (!field || (seen & field))
            return NULL;
        seen |= field;
        at = read_field(at, end, field, block, &kind);
        if (at)
            at = onward(at, end, '}', &more);
    }
    if (!at || !settle(block, &kind, seen))
        return NULL;
    *needs |= (seen & CACHE ? LAX_CACHE : 0) | (block->kind == MEDIA ? LAX_MEDIA : 0);
    if (block->kind == RESULT && !block->body.start)
        *needs |= LAX_LIST_RESULT;
    return at;
}

static At read_content(At at, At end, Message *said)
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
            at = read_content(at, end, said);
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

static bool answer_all(Talk *talk, const Terms *terms, const Message *said)
{
    for (size_t i = 0; i < said->count; i++) {
        const Piece *result = &said->pieces[i];
        if (result->kind != RESULT || !answers(talk, result))
            return false;
        if ((Py_ssize_t)length(&result->body) + 2 > terms->longest_result)
            return false;
        if (!terms->hollow_results && result->body.start && !length(&result->body))
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
