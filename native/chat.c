/* Chat Completions: calls hang on a message, and every result is a message. See `scan/chat.py`, whose lean shape
   this is. */

#include "wires.h"

enum { ROLE = 1, CONTENT = 2, CALLS = 4, ANSWERS = 8, NAME = 16, REFUSAL = 32, AUDIO = 64, FUNCTION = 128 };

typedef struct {
    unsigned seen;
    Text content, answers, name;
} Fields;

static unsigned field_of(const Text *key)
{
    if (IS(key, "role")) return ROLE;
    if (IS(key, "content")) return CONTENT;
    if (IS(key, "tool_calls")) return CALLS;
    if (IS(key, "tool_call_id")) return ANSWERS;
    if (IS(key, "name")) return NAME;
    if (IS(key, "refusal")) return REFUSAL;
    if (IS(key, "audio")) return AUDIO;
    if (IS(key, "function_call")) return FUNCTION;
    return 0;
}

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
        said->extras = true;
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

static At read_field(At at, At end, unsigned field, Message *said, Fields *fields)
{
    Text role;
    switch (field) {
    case ROLE:
        at = read_text(at, end, &role);
        said->role = at ? role_of(&role) : 0;
        return said->role ? at : NULL;
    case CONTENT:
        said->null = at < end && *at == 'n';
        return said->null ? read_null(at, end) : read_text(at, end, &fields->content);
    case CALLS:
        return read_calls(at, end, said);
    case ANSWERS:
        return read_text(at, end, &fields->answers);
    case NAME:
        said->extras = true;
        return read_text(at, end, &fields->name);
    default:
        said->extras = true;
        return read_null(at, end);
    }
}

/* What stands beside the calls comes behind them: a text, or the one result. */
static bool settle(Message *said, const Fields *fields)
{
    unsigned wanted = ROLE | CONTENT;
    if ((fields->seen & wanted) != wanted)
        return false;
    if (fields->seen & ANSWERS) {
        Piece result = {RESULT, fields->answers, {0}, fields->content};
        if (fields->seen & NAME)
            result.name = fields->name;
        return said->role == TOOL && !said->count && !said->null && add_piece(said, result);
    }
    if (said->role == TOOL || (fields->seen & NAME) || (said->count && said->role != ASSISTANT))
        return false;
    return said->null ? said->count != 0 : add_piece(said, (Piece){SAID, {0}, {0}, fields->content});
}

static At read_message(At at, At end, Message *said, Spare *spare)
{
    bool more;
    Text key;
    Fields fields = {0};
    said->count = 0;
    said->role = 0;
    said->null = said->extras = false;
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_key(at, end, &key);
        if (!at)
            return NULL;
        unsigned field = field_of(&key);
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
static bool is_object(const Text *text)
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

static bool follows(Talk *talk, Terms *terms, const Message *said)
{
    const Piece *last = &said->pieces[said->count - 1];
    if ((said->extras && !terms->extras) || !speaks(talk, terms, said->role))
        return false;
    if (last->kind == RESULT)
        return (Py_ssize_t)length(&last->body) + 2 <= terms->longest_result && !is_blank(terms, &last->body)
               && answers(talk, last);
    if (waits(talk) || (said->null && !terms->null_beside_calls))
        return false;
    size_t calls = said->count;
    if (last->kind == SAID) {
        calls--;
        if (!says(terms, &last->body, said->role))
            return false;
        talk->trails = said->role == ASSISTANT && trails_off(&last->body);
    }
    if ((Py_ssize_t)calls > terms->most_calls)
        return false;
    for (size_t i = 0; i < calls; i++)
        if (!is_object(&said->pieces[i].body) || !asks(talk, terms, &said->pieces[i]))
            return false;
    return true;
}

const Wire CHAT = {"openai-chat", read_message, follows};
