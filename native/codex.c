/* Codex: a line holds an item of OpenAI's Responses, or speaks about the session. See `carriers/codex.py`, whose lean
   shape this is.

   This file owns how such a line is written, and that one goes on from all before it. It refuses to know what takes back
   or replaces what was said, which is left to Python. */

#include "sessions.h"

enum { TYPE = 1, PAYLOAD = 2 };
static const Field FIELDS[] = {FIELD("type"), FIELD("payload"), FIELD("timestamp"), FIELD("ordinal")};
enum { COUNT = sizeof(FIELDS) / sizeof(FIELDS[0]) };

/* What kind of item: of each it is known what it must have, and what it may not. */
typedef enum { UNKNOWN, MESSAGE, FUNCTION, CUSTOM, OUTPUT, THOUGHTS, HOSTED, UNSENT } Item;
static const struct {
    const char *name;
    Item item;
} ITEMS[] = {
    {"message", MESSAGE}, {"function_call", FUNCTION}, {"custom_tool_call", CUSTOM}, {"function_call_output", OUTPUT},
    {"custom_tool_call_output", OUTPUT}, {"reasoning", THOUGHTS}, {"web_search_call", HOSTED}, {"ghost_snapshot", UNSENT},
};

enum { KIND = 1, ROLE = 2, CONTENT = 4, CALL_ID = 8, NAME = 16, ARGUMENTS = 32, INPUT = 64, OUT = 128, OWN_ID = 256 };
static const Field ITEM_FIELDS[] = {
    FIELD("type"), FIELD("role"), FIELD("content"), FIELD("call_id"), FIELD("name"), FIELD("arguments"), FIELD("input"),
    FIELD("output"), FIELD("id"),
    /* These say that it is something else, or something more. */
    FIELD("tool_calls"), FIELD("tool_call_id"), FIELD("parts"), FIELD("approval_request_id"),
};
enum { ITEM_COUNT = sizeof(ITEM_FIELDS) / sizeof(ITEM_FIELDS[0]) };

static Item item_of(const Text *type)
{
    for (size_t i = 0; i < sizeof(ITEMS) / sizeof(ITEMS[0]); i++)
        if (type->plain && same(type, ITEMS[i].name, strlen(ITEMS[i].name)))
            return ITEMS[i].item;
    return UNKNOWN;
}

static At read_part(At at, At end, Piece *part)
{
    bool more;
    size_t count = 0;
    Text keys[MOST_KEYS], kind = {0};
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_new_key(at, end, keys, &count);
        if (!at)
            return NULL;
        const Text *key = &keys[count - 1];
        at = IS(key, "type") ? read_text(at, end, &kind)
             : IS(key, "text") ? read_text(at, end, &part->body) : read_value(at, end, 0);
        if (at)
            at = onward(at, end, '}', &more);
    }
    if (!at || !kind.start)
        return NULL;
    if (IS(&kind, "input_text") || IS(&kind, "output_text"))
        return part->body.start ? at : NULL;
    part->kind = MEDIA;
    return IS(&kind, "input_image") || IS(&kind, "input_file") ? at : NULL;
}

static At read_parts(At at, At end, Message *said)
{
    bool more;
    if (at < end && *at == '"') {
        Piece text = {.kind = SAID};
        at = read_text(at, end, &text.body);
        return at && add_piece(said, text) ? at : NULL;
    }
    at = enter(at, end, '[', ']', &more);
    while (at && more) {
        Piece part = {.kind = SAID};
        at = read_part(at, end, &part);
        if (!at || !add_piece(said, part))
            return NULL;
        at = onward(at, end, ']', &more);
    }
    return said->count ? at : NULL;
}

static At read_field(At at, At end, unsigned field, Item item, Line *line, Piece *piece)
{
    Text role;
    switch (field) {
    case ROLE:
        at = item == MESSAGE ? read_text(at, end, &role) : NULL;
        line->message.role = at ? role_of(&role) & ~(unsigned)TOOL : 0;
        return line->message.role ? at : NULL;
    case CONTENT: /* what it is has to be known */
        if (item == MESSAGE)
            return read_parts(at, end, &line->message);
        return item == THOUGHTS ? read_value(at, end, 0) : NULL;
    case CALL_ID:
        return read_text(at, end, &piece->id);
    case NAME:
        return item == FUNCTION || item == CUSTOM ? read_text(at, end, &piece->name) : NULL;
    case ARGUMENTS:
        return item == FUNCTION ? read_text(at, end, &piece->body) : NULL;
    case OWN_ID:
        return at < end && (*at == '"' || *at == 'n') ? read_value(at, end, 0) : NULL;
    default:
        return read_value(at, end, 0);
    }
}

/* Puts the piece of an item that is no message to what is said; whether it has all that it must. */
static bool settle(Line *line, Item item, unsigned seen, Piece piece)
{
    Message *said = &line->message;
    seen &= ~(unsigned)OWN_ID;
    line->said = item != UNSENT;
    switch (item) {
    case MESSAGE:
        return seen == (KIND | ROLE | CONTENT);
    case FUNCTION:
    case CUSTOM:
        said->role = ASSISTANT;
        piece.kind = CALL;
        return seen == (KIND | CALL_ID | NAME | (item == FUNCTION ? ARGUMENTS : INPUT)) && add_piece(said, piece);
    case OUTPUT:
        said->role = TOOL;
        piece.kind = RESULT;
        return seen == (KIND | CALL_ID | OUT) && add_piece(said, piece);
    case THOUGHTS:
        said->role = ASSISTANT;
        return (seen & ~(unsigned)CONTENT) == KIND;
    case HOSTED:
        said->role = ASSISTANT;
        return seen == KIND;
    default:
        return item == UNSENT;
    }
}

static At read_item(At at, At end, Line *line)
{
    bool more;
    unsigned seen = 0;
    size_t count = 0;
    Item item = UNKNOWN;
    Text keys[MOST_KEYS], type;
    Piece piece = {0};
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_new_key(at, end, keys, &count);
        if (!at)
            return NULL;
        unsigned field = field_of(&keys[count - 1], ITEM_FIELDS, ITEM_COUNT);
        seen |= field;
        if (field == KIND) {
            at = read_text(at, end, &type);
            item = at ? item_of(&type) : UNKNOWN;
        } else if (item == UNKNOWN || field > OWN_ID) {
            return NULL;
        } else {
            at = read_field(at, end, field, item, line, &piece);
        }
        if (at)
            at = onward(at, end, '}', &more);
    }
    return at && settle(line, item, seen, piece) ? at : NULL;
}

/* What is told for people: of it only what takes a turn back decides anything. */
static At read_event(At at, At end)
{
    bool more;
    size_t count = 0;
    Text keys[MOST_KEYS], type = {0};
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_new_key(at, end, keys, &count);
        if (at)
            at = IS(&keys[count - 1], "type") ? read_text(at, end, &type) : read_value(at, end, 0);
        if (at)
            at = onward(at, end, '}', &more);
    }
    return at && type.start && type.plain && !IS(&type, "thread_rolled_back") ? at : NULL;
}

static At read_payload(At at, At end, const Text *type, Line *line)
{
    if (at >= end || *at != '{' || !type->plain)
        return NULL;
    if (IS(type, "response_item"))
        return read_item(at, end, line);
    if (IS(type, "event_msg"))
        return read_event(at, end);
    bool decides = IS(type, "compacted") || IS(type, "inter_agent_communication");
    return decides ? NULL : read_value(at, end, 0);
}

static At read_line(At at, At end, Line *line)
{
    static const unsigned char nobody[] = "";
    bool more;
    unsigned seen = 0;
    size_t count = 0;
    Text keys[MOST_KEYS], type;
    Message message = line->message;
    *line = (Line){.message = message};
    begin_message(&line->message);
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_new_key(at, end, keys, &count);
        unsigned field = at ? field_of(&keys[count - 1], FIELDS, COUNT) : 0;
        if (!field || (field == PAYLOAD && !(seen & TYPE)))
            return NULL;
        seen |= field;
        at = field == TYPE ? read_text(at, end, &type)
             : field == PAYLOAD ? read_payload(at, end, &type, line) : read_value(at, end, 0);
        if (at)
            at = onward(at, end, '}', &more);
    }
    if (!at || (seen & (TYPE | PAYLOAD)) != (TYPE | PAYLOAD))
        return NULL;
    line->session = line->agent = (Text){nobody, nobody, true, false};
    line->placed = IS(&type, "response_item") || IS(&type, "session_meta");
    return at;
}

static bool goes_on(Thread *thread, Terms *terms, Met *met, uint64_t salt, const Line *line)
{
    Talk *talk = &thread->talk;
    const Message *said = &line->message;
    if (!line->said)
        return true;
    if (!speaks(talk, terms, said))
        return false;
    for (size_t i = 0; i < said->count; i++) {
        const Piece *piece = &said->pieces[i];
        if (piece->kind == SAID && !says(terms, &piece->body, said->role))
            return false;
        if (piece->kind == RESULT && !answers_any(talk, piece))
            return false;
        if (piece->kind != CALL)
            continue;
        thread->asked++;
        if ((piece->body.start && !holds_object(&piece->body)) || !meet(met, hash_text(&piece->id, ~salt))
            || !asks(talk, terms, piece))
            return false;
    }
    if (!waits(talk))
        rest(talk);
    return true;
}

const Session CODEX = {"codex", read_line, goes_on};
