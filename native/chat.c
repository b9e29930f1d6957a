/* Chat Completions: calls hang on a message, and every result is a message. See `scan/chat.py`, whose lean shape
   this is. */

#include "wires.h"

enum { ROLE = 1, CONTENT = 2, CALLS = 4, ANSWERS = 8, NAME = 16, REFUSAL = 32, AUDIO = 64, FUNCTION = 128 };

typedef struct {
    unsigned seen;
    Text content, answers, name;
} Fields;

/* In the order of their bits. */
static const Field FIELDS[] = {
    FIELD("role"), FIELD("content"), FIELD("tool_calls"), FIELD("tool_call_id"), FIELD("name"), FIELD("refusal"),
    FIELD("audio"), FIELD("function_call"),
};
enum { COUNT = sizeof(FIELDS) / sizeof(FIELDS[0]) };

static At read_null(At at, At end)
{
    return end - at >= 4 && memcmp(at, "null", 4) == 0 ? at + 4 : NULL;
}

static At read_function(At at, At end, Piece *call)
{
    bool more, named = false, given = false;
    Text key;
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_key(at, end, &key);
        if (at && !named && IS(&key, "name")) {
            named = true;
            at = read_text(at, end, &call->name);
        } else if (at && !given && IS(&key, "arguments")) {
            given = true;
            at = read_text(at, end, &call->body);
        } else {
            return NULL;
        }
        if (at)
            at = onward(at, end, '}', &more);
    }
    return named && given ? at : NULL;
}

static At read_call(At at, At end, Piece *call)
{
    bool more;
    unsigned seen = 0, field;
    Text key, kind;
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_key(at, end, &key);
        if (!at)
            return NULL;
        field = IS(&key, "id") ? 1 : IS(&key, "type") ? 2 : IS(&key, "function") ? 4 : 0;
        if (!field || (seen & field))
            return NULL;
        seen |= field;
        at = field == 1 ? read_text(at, end, &call->id)
             : field == 2 ? read_text(at, end, &kind) : read_function(at, end, call);
        if (at)
            at = onward(at, end, '}', &more);
    }
    return at && seen == 7 && IS(&kind, "function") ? at : NULL;
}

static At read_calls(At at, At end, Message *said)
{
    bool more;
    if (at < end && *at == 'n') {
        said->needs |= LAX_EXTRAS;
        return read_null(at, end);
    }
    at = enter(at, end, '[', ']', &more);
    if (at && !more)
        return NULL;
    while (at && more) {
        Piece call = {.kind = CALL};
        at = read_call(at, end, &call);
        if (!at || !add_piece(said, call))
            return NULL;
        at = onward(at, end, ']', &more);
    }
    return at;
}

/* A part of a content: a text, or what is shown or heard. */
static At read_part(At at, At end, Piece *part)
{
    bool more;
    unsigned seen = 0;
    Text key, kind = {0}, shown = {0};
    part->kind = SAID;
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_key(at, end, &key);
        if (!at)
            return NULL;
        unsigned field = IS(&key, "type") ? 1 : IS(&key, "text") ? 2 : 4;
        if (seen & (field == 1 ? 1 : 6))
            return NULL;
        seen |= field;
        if (field == 4) {
            shown = key;
            part->kind = MEDIA;
        }
        at = field == 1 ? read_text(at, end, &kind)
             : field == 2 ? read_text(at, end, &part->body) : read_value(at, end, 0);
        if (at)
            at = onward(at, end, '}', &more);
    }
    if (!at || !(seen & 1))
        return NULL;
    if (part->kind == SAID)
        return (seen & 2) && IS(&kind, "text") ? at : NULL;
    bool known = IS(&kind, "image_url") || IS(&kind, "file") || IS(&kind, "input_audio");
    return known && same(&kind, shown.start, length(&shown)) ? at : NULL;
}

static At read_content(At at, At end, Message *said, Fields *fields)
{
    bool more;
    if (at < end && *at == 'n') {
        said->needs |= LAX_NULL;
        return read_null(at, end);
    }
    if (at < end && *at == '"')
        return read_text(at, end, &fields->content);
    said->needs |= LAX_PARTS;
    at = enter(at, end, '[', ']', &more);
    if (at && !more)
        return NULL;
    while (at && more) {
        Piece part = {.kind = SAID};
        at = read_part(at, end, &part);
        if (!at || !add_piece(said, part))
            return NULL;
        if (part.kind == MEDIA)
            said->needs |= LAX_MEDIA;
        at = onward(at, end, ']', &more);
    }
    return at;
}

static At read_field(At at, At end, unsigned field, Message *said, Fields *fields)
{
    Text role;
    switch (field) {
    case ROLE:
        at = read_text(at, end, &role);
        said->role = at ? role_of(&role) : 0;
        return said->role ? at : NULL;
    case CONTENT:
        return read_content(at, end, said, fields);
    case CALLS:
        return read_calls(at, end, said);
    case ANSWERS:
        return read_text(at, end, &fields->answers);
    case NAME:
        said->needs |= LAX_EXTRAS;
        return read_text(at, end, &fields->name);
    default:
        said->needs |= LAX_EXTRAS;
        return read_null(at, end);
    }
}

/* What stands beside the calls comes behind them: a text, or the one result. */
static bool settle(Message *said, const Fields *fields)
{
    bool text = fields->content.start != NULL;
    if (!(fields->seen & ROLE))
        return false;
    if (fields->seen & ANSWERS) {
        Piece result = {.kind = RESULT, .id = fields->answers, .body = fields->content};
        if (fields->seen & NAME)
            result.name = fields->name;
        return said->role == TOOL && text && !said->count && add_piece(said, result);
    }
    if (said->role == TOOL || (said->role != ASSISTANT && (said->needs & LAX_NULL)))
        return false;
    if (fields->seen & NAME) {
        said->author = fields->name;
        said->needs |= LAX_AUTHOR;
    }
    if (!(fields->seen & CONTENT))
        said->needs |= LAX_ABSENT;
    return !text || add_piece(said, (Piece){.kind = SAID, .body = fields->content});
}

static At read_message(At at, At end, Message *said, Spare *spare)
{
    bool more;
    Text key;
    Fields fields = {0};
    begin_message(said);
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_key(at, end, &key);
        if (!at)
            return NULL;
        unsigned field = field_of(&key, FIELDS, COUNT);
        if (fields.seen & field)
            return NULL;
        fields.seen |= field;
        at = field ? read_field(at, end, field, said, &fields) : read_spare(at, end, &key, spare);
        if (at)
            at = onward(at, end, '}', &more);
    }
    return at && settle(said, &fields) ? at : NULL;
}

/* Arguments are a text that holds an object. */
bool holds_object(const Text *text)
{
    unsigned char small[1024];
    At at = text->start, end = text->end;
    unsigned char *room = NULL;
    if (!text->plain) {
        if (length(text) > sizeof(small) && !(room = PyMem_Malloc(length(text))))
            return false;
        at = room ? room : small;
        end = at + unescape(text, room ? room : small);
    }
    at = skip_space(at, end);
    at = at < end && *at == '{' ? read_value(at, end, 0) : NULL;
    bool whole = at && skip_space(at, end) == end;
    PyMem_Free(room);
    return whole;
}

static bool takes_result(Talk *talk, const Terms *terms, const Piece *result)
{
    bool hollow = terms->hollow_results && (terms->lax & LAX_BLANK_RESULT);
    return (Py_ssize_t)length(&result->body) + 2 <= terms->longest_result
           && (hollow || !is_blank(terms, &result->body)) && answers(talk, result);
}

/* A text of a message; beside calls it may be blank where nobody minds. */
static bool takes_text(Talk *talk, const Terms *terms, const Message *said, const Text *text, bool calls)
{
    talk->trails = said->role == ASSISTANT && trails_off(text);
    bool blank = calls && !(said->needs & LAX_PARTS) && (terms->lax & LAX_BLANK);
    return (blank && is_blank(terms, text)) || says(terms, text, said->role);
}

static bool follows(Talk *talk, Terms *terms, const Message *said)
{
    Py_ssize_t calls = 0;
    if (!speaks(talk, terms, said))
        return false;
    for (size_t i = 0; i < said->count; i++)
        calls += said->pieces[i].kind == CALL;
    if (said->count && said->pieces[0].kind == RESULT)
        return takes_result(talk, terms, &said->pieces[0]);
    if (waits(talk) || calls > terms->most_calls || (calls && said->role != ASSISTANT))
        return false;
    if ((said->needs & (LAX_NULL | LAX_ABSENT)) && !calls)
        return false;
    if ((said->needs & LAX_AUTHOR) && !may_be_author(terms, &said->author))
        return false;
    for (size_t i = 0; i < said->count; i++) {
        const Piece *piece = &said->pieces[i];
        if (piece->kind == SAID && !takes_text(talk, terms, said, &piece->body, calls != 0))
            return false;
        if (piece->kind == MEDIA && said->role != USER)
            return false;
        if (piece->kind == CALL && (!holds_object(&piece->body) || !asks(talk, terms, piece)))
            return false;
    }
    return true;
}

const Wire CHAT = {"openai-chat", read_message, follows};
