/* Claude Code: a line holds a content block or two of a message of Anthropic's, in a tree. See
   `carriers/claude_code.py`, whose lean shape this is.

   This file owns how such a line is written. It refuses to know other lines: what hangs on what is for `thread.c`. */

#include "sessions.h"

enum {
    TYPE = 1, ID = 2, PARENT = 4, SESSION = 8, AGENT = 16, SIDE = 32, META = 64, FAILED = 128, TEAM = 256, SUBTYPE = 512,
    LEAF = 1024, TIME = 2048, COMPACTED = 4096, MESSAGE = 8192,
};

/* In the order of their bits. */
static const Field FIELDS[] = {
    FIELD("type"), FIELD("uuid"), FIELD("parentUuid"), FIELD("sessionId"), FIELD("agentId"), FIELD("isSidechain"),
    FIELD("isMeta"), FIELD("isApiErrorMessage"), FIELD("teamName"), FIELD("subtype"), FIELD("leafUuid"),
    FIELD("timestamp"), FIELD("compactMetadata"), FIELD("message"),
};
enum { COUNT = sizeof(FIELDS) / sizeof(FIELDS[0]) };

enum { ROLE = 1, CONTENT = 2, RESPONSE = 4, FOREIGN = 8 | 16 | 32 };
static const Field SAID_FIELDS[] = {
    FIELD("role"), FIELD("content"), FIELD("id"), FIELD("tool_calls"), FIELD("tool_call_id"), FIELD("parts"),
};
enum { SAID_COUNT = sizeof(SAID_FIELDS) / sizeof(SAID_FIELDS[0]) };

/* A name that can be compared as it is written, or null. */
static At read_name(At at, At end, Text *name)
{
    if (at < end && *at == 'n')
        return read_value(at, end, 0);
    at = read_text(at, end, name);
    return at && name->plain && name->start < name->end && length(name) <= KEPT_ID ? at : NULL;
}

static At read_flag(At at, At end, bool *flag)
{
    if (at >= end || (*at != 't' && *at != 'f' && *at != 'n'))
        return NULL;
    *flag = *at == 't';
    return read_value(at, end, 0);
}

static At read_message_field(At at, At end, unsigned field, Line *line)
{
    Text role;
    switch (field) {
    case ROLE:
        at = read_text(at, end, &role);
        line->message.role = at ? role_of(&role) & (USER | ASSISTANT) : 0;
        return line->message.role ? at : NULL;
    case CONTENT:
        return read_blocks(at, end, &line->message);
    case RESPONSE:
        return read_name(at, end, &line->response);
    default:
        return field & FOREIGN ? NULL : read_value(at, end, 0);
    }
}

static At read_said(At at, At end, Line *line)
{
    bool more;
    Text keys[MOST_KEYS];
    size_t count = 0;
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_new_key(at, end, keys, &count);
        if (at)
            at = read_message_field(at, end, field_of(&keys[count - 1], SAID_FIELDS, SAID_COUNT), line);
        if (at)
            at = onward(at, end, '}', &more);
    }
    return at && line->message.role && line->message.count ? at : NULL;
}

static At read_field(At at, At end, unsigned field, Line *line, Text *type, bool *failed)
{
    Text text = {0};
    bool flag;
    switch (field) {
    case TYPE:
        return read_text(at, end, type);
    case ID:
        return read_name(at, end, &line->id);
    case PARENT:
        return read_name(at, end, &line->parent);
    case SESSION:
        return read_name(at, end, &line->session);
    case AGENT:
        return read_name(at, end, &line->agent);
    case SIDE:
        return read_flag(at, end, &line->side);
    case META:
        at = read_flag(at, end, &flag);
        line->aside |= at && flag;
        return at;
    case FAILED:
        return read_flag(at, end, failed);
    case TEAM:
        line->aside |= at < end && *at != 'n';
        return read_value(at, end, 0);
    case SUBTYPE:
    case LEAF: /* one that names a line is read */
        at = read_name(at, end, &text);
        return field == SUBTYPE || !text.start ? at : NULL;
    case TIME:
        return at < end && *at == '"' ? read_name(at, end, &line->time) : NULL;
    case COMPACTED:
        return NULL;
    case MESSAGE:
        return read_said(at, end, line);
    default:
        return read_value(at, end, 0);
    }
}

/* What kind of line it is, and whether it has what that kind must have. */
static bool settle(Line *line, const Text *type, unsigned seen, bool failed)
{
    if (!type->plain)
        return false;
    unsigned role = role_of(type) & (USER | ASSISTANT);
    line->speaks = role != 0;
    line->placed = role || IS(type, "attachment") || IS(type, "system") || IS(type, "progress");
    if (!line->placed)
        return !(seen & MESSAGE);
    line->said = role && !failed;
    if (role != ASSISTANT || failed)
        line->response = (Text){0};
    if (!line->id.start || !line->session.start || !(seen & PARENT))
        return false;
    return role ? (seen & MESSAGE) && line->message.role == role : !(seen & MESSAGE);
}

static At read_line(At at, At end, Line *line)
{
    bool more, failed = false;
    unsigned seen = 0;
    size_t count = 0;
    Text keys[MOST_KEYS], type = {0};
    Message message = line->message;
    *line = (Line){.message = message};
    begin_message(&line->message);
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_new_key(at, end, keys, &count);
        if (!at)
            return NULL;
        unsigned field = field_of(&keys[count - 1], FIELDS, COUNT);
        seen |= field;
        at = read_field(at, end, field, line, &type, &failed);
        if (at)
            at = onward(at, end, '}', &more);
    }
    return at && (seen & TYPE) && settle(line, &type, seen, failed) ? at : NULL;
}

const Session CLAUDE = {"claude-code", read_line, hangs_on};
