/* Read objects by the tables of a syntax. NULL: the bytes are not strict JSON, or have no facts. */

#include "facts.h"

/* ---- texts ---- */

static bool is_space_point(int32_t point)
{
    return (point >= 9 && point <= 13) || (point >= 28 && point <= 32) || point == 0x85 || point == 0xA0 || point == 0x1680
        || (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 || point == 0x202F || point == 0x205F
        || point == 0x3000;
}

static int32_t next_point(At *at, At end)
{
    At p = *at;
    int32_t point = *p++;
    int more = point >= 0xF0 ? 3 : point >= 0xE0 ? 2 : point >= 0xC0 ? 1 : 0;
    if (more)
        point &= 0x3F >> more;
    for (; more && p < end; more--)
        point = point << 6 | (*p++ & 0x3F);
    *at = p;
    return point;
}

/* The same limit as in `carrying/raws.py`: a longer value counts as text with words. */
enum { MAX_BLANK_BYTES = 64 };

Blankness blankness_of(const Text *text)
{
    size_t size = length(text);
    unsigned char plain[MAX_BLANK_BYTES];
    if (!size)
        return IS_EMPTY;
    if (size + 2 > MAX_BLANK_BYTES || (*text->start > 0x20 && *text->start < 0x7F && *text->start != '\\'))
        return HAS_WORDS;
    size_t plain_size = unescape(text, plain);
    At at = plain, end = plain + plain_size;
    while (at < end)
        if (!is_space_point(next_point(&at, end)))
            return HAS_WORDS;
    return IS_WHITE;
}

bool is_trailing(const Text *text)
{
    if (text->end == text->start)
        return false;
    unsigned char last = text->end[-1];
    return last == ' ' || (length(text) > 1 && (last == 'n' || last == 't' || last == 'r') && text->end[-2] == '\\');
}

static bool has_bytes(const Text *text, const char *word, size_t size)
{
    At last = text->end - size;
    for (At at = text->start; at <= last && (at = memchr(at, word[0], (size_t)(last - at) + 1)); at++)
        if (memcmp(at, word, size) == 0)
            return true;
    return false;
}

/* Whether a text of an assistant may have a call, by the text after `<` and `[` in the markers of
   `carrying/contents.py`. */
bool may_hold_call(const Text *text)
{
    static const Field opens[] = {
        FIELD("tool_call"), FIELD("|"), FIELD("function"), FIELD("invoke"), FIELD("minimax:"), FIELD("seed:"), FIELD("xai:"),
        FIELD("x.ai:"), FIELD("start_function"), FIELD("antml:"), FIELD("\xEF\xBD\x9C"),
    };
    if (!text->marked)
        return has_bytes(text, "functools", 9);
    if (!text->plain && (has_bytes(text, "\\u003", 5) || has_bytes(text, "\\u005", 5) || has_bytes(text, "\\u27", 4)))
        return true;
    for (At at = text->start; (at = memchr(at, '<', (size_t)(text->end - at))); at++)
        for (size_t i = 0; i < sizeof opens / sizeof opens[0]; i++)
            if ((size_t)(text->end - at) > opens[i].size && memcmp(at + 1, opens[i].name, opens[i].size) == 0)
                return true;
    return has_bytes(text, "TOOL_CALLS", 10) || has_bytes(text, "functools", 9) || has_bytes(text, "FUNCTION", 8);
}

/* ---- the envelope ---- */

static bool put(Reader *reader, const void *bytes, size_t size)
{
    if (reader->envelope_size + size > reader->envelope_room) {
        size_t room = (reader->envelope_size + size) * 2 + 1024;
        unsigned char *grown = PyMem_Realloc(reader->envelope, room);
        if (!grown)
            return false;
        reader->envelope = grown;
        reader->envelope_room = room;
    }
    memcpy(reader->envelope + reader->envelope_size, bytes, size);
    reader->envelope_size += size;
    return true;
}
#define PUT(reader, literal) put(reader, literal, sizeof(literal) - 1)

/* Make room for a text without escapes. */
static bool make_room(Reader *reader, size_t size)
{
    if (size <= reader->plain_room)
        return true;
    PyMem_Free(reader->plain);
    reader->plain_room = size * 2 + 4096;
    reader->plain = PyMem_Malloc(reader->plain_room);
    if (!reader->plain)
        reader->plain_room = 0;
    return reader->plain != NULL;
}

/* Write a value of the same kind, without its content. */
static bool put_opaque(Reader *reader, At at, At end)
{
    bool is_empty = end - at > 1 && (at[1] == '}' || at[1] == ']' || at[1] == '"');
    switch (*at) {
    case '{': return is_empty ? PUT(reader, "{}") : PUT(reader, "{\"x\":0}");
    case '[': return is_empty ? PUT(reader, "[]") : PUT(reader, "[0]");
    case '"': return is_empty ? PUT(reader, "\"\"") : PUT(reader, "\"x\"");
    case 't': return PUT(reader, "true");
    case 'f': return PUT(reader, "false");
    case 'n': return PUT(reader, "null");
    default: return PUT(reader, "0");
    }
}

static At read_opaque(Reader *reader, At at, At end, int depth)
{
    At to = read_any(&reader->open_keys, at, end, depth);
    return to && put_opaque(reader, at, end) ? to : NULL;
}

static At read_kept(Reader *reader, At at, At end, int depth)
{
    At to = read_any(&reader->open_keys, at, end, depth);
    return to && put(reader, at, (size_t)(to - at)) ? to : NULL;
}

static void count_tool(Reader *reader, const Frame *tool);

static At read_tools(Reader *reader, int number, At at, At end, int depth)
{
    const Syntax *syntax = &reader->syntax;
    At start = at;
    bool more = true, is_list = *at == '[';
    if (*at != '[' && *at != '{')
        return read_opaque(reader, at, end, depth);
    if (reader->tools_depth) /* a second list: the Python parser decides which one counts */
        return NULL;
    reader->tools_depth = depth + 1;
    if (is_list)
        at = enter(at, end, '[', ']', &more);
    while (at && more) {
        Frame tool = {.kind = -1};
        at = at < end && *at == '{' ? read_object_by(reader, &syntax->objects[number], at, end, &tool, depth + 1) : NULL;
        bool declares = false;
        for (int key = 0; key < syntax->objects[number].words.count; key++)
            declares |= (tool.seen >> key & 1) && syntax->objects[number].keys[key].action != DO_skip;
        if (at && declares && !tool.has_calls_key) /* else its declarations were counted one by one */
            count_tool(reader, &tool);
        for (; at && tool.others && reader->facts.tool_count < 255; tool.others--)
            reader->facts.tool_count++;
        more = false;
        if (at && is_list)
            at = onward(at, end, ']', &more);
    }
    if (!at || !PUT(reader, "["))
        return NULL;
    if (!reader->facts.tool_count)
        return PUT(reader, "]") ? at : NULL;
    if (!PUT(reader, "{"))
        return NULL;
    for (int i = 0; i < syntax->evidence.count; i++) {
        const Word *word = &syntax->evidence.words[i];
        size_t window = (size_t)syntax->evidence_window[i];
        Text head = {start, (size_t)(at - start) < window ? at : start + window, true, false};
        if (!has_bytes(&head, (const char *)word->letters, word->size))
            continue;
        PyObject *fragment = PyTuple_GetItem(syntax->evidence_fragments, i);
        if (!put(reader, PyBytes_AsString(fragment), (size_t)PyBytes_Size(fragment)))
            return NULL;
    }
    return PUT(reader, "\"name\":\"x\"}]") ? at : NULL;
}

/* ---- arguments ---- */

/* Read a text that contains a JSON object or nothing. */
static bool read_text_arguments(Reader *reader, const Text *written, Frame *frame)
{
    Text text = *written;
    frame->arguments = ARGUMENTS_text_nothing;
    if (!written->plain) {
        if (!make_room(reader, length(written)))
            return false;
        text.start = reader->plain;
        text.end = text.start + unescape(written, reader->plain);
    }
    At at = skip_space(text.start, text.end);
    if (at == text.end || (text.end - at == 4 && memcmp(at, "null", 4) == 0))
        return true;
    frame->arguments = ARGUMENTS_text_object;
    at = *at == '{' ? read_any(&reader->open_keys, at, text.end, 0) : NULL;
    if (has_bytes(&text, "\"\"", 2))
        frame->marks |= BIT(empty_key);
    return at && skip_space(at, text.end) == text.end;
}

static At read_arguments(Reader *reader, At at, At end, Frame *frame, int depth)
{
    frame->has_arguments = true;
    if (*at == '"') {
        Text text;
        at = read_text(at, end, &text);
        return at && read_text_arguments(reader, &text, frame) ? at : NULL;
    }
    frame->arguments = *at == '{' ? ARGUMENTS_object : ARGUMENTS_null;
    if (*at != '{' && *at != 'n')
        return NULL;
    At to = read_any(&reader->open_keys, at, end, depth);
    Text whole = {at, to, true, false};
    if (to && has_bytes(&whole, "\"\"", 2))
        frame->marks |= BIT(empty_key);
    return to;
}

/* ---- objects by their table ---- */

static At read_name(At at, At end, Text *name)
{
    at = *at == '"' ? read_text(at, end, name) : NULL;
    return at && name->plain ? at : NULL;
}

static bool are_digits(At at, At end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at == end;
}

static Text word_text(const Word *word) { return (Text){word->letters, word->letters + word->size, true, false}; }

/* Read a name that may be null, which counts as an absent key. */
static At read_optional_name(Reader *reader, At at, At end, Text *name, int depth)
{
    return *at == 'n' ? read_any(&reader->open_keys, at, end, depth) : read_name(at, end, name);
}

static At read_list_by(Reader *reader, int number, At at, At end, int depth, Frame *outer, bool is_output);

static At read_content(Reader *reader, Key key, At at, At end, Frame *frame, int depth)
{
    bool is_output = key.action == DO_output || key.action == DO_outputs;
    At start = at;
    if (*at == '"') {
        at = read_text(at, end, &frame->text);
        frame->has_text = true;
        frame->content = CONTENT_text;
        frame->written = WRITTEN_text;
        frame->is_hollow = at && blankness_of(&frame->text) != HAS_WORDS && length(&frame->text) == 0;
    } else if (*at == '[') {
        frame->written = WRITTEN_list;
        if (key.argument < 0)
            return NULL;
        frame->inner = 0;
        at = read_list_by(reader, key.argument, at, end, depth + 1, frame, is_output);
        frame->content = frame->inner ? CONTENT_parts : CONTENT_no_parts;
        frame->is_hollow = !frame->inner;
    } else if (*at == 'n') {
        frame->content = CONTENT_null;
        frame->written = WRITTEN_null;
        frame->is_hollow = true;
        at = read_any(&reader->open_keys, at, end, depth);
    } else if (*at == '{' && is_output) {
        frame->written = WRITTEN_object;
        frame->has_object_output = true;
        at = read_any(&reader->open_keys, at, end, depth);
    } else {
        return NULL;
    }
    frame->has_output = true;
    frame->size = at ? (uint32_t)(at - start) : 0;
    return at;
}

static At read_messages(Reader *reader, const Object *object, At at, At end, int depth);
static At read_envelope(Reader *reader, const Object *object, At at, At end, Frame *frame, int depth);

/* Read a value by the action of its key. */
static At read_by_action(Reader *reader, Key key, At at, At end, Frame *frame, int depth)
{
    Text text;
    At to;
    switch (key.action) {
    case DO_skip: return read_any(&reader->open_keys, at, end, depth);
    case DO_absent: return NULL;
    case DO_null: return *at == 'n' ? read_any(&reader->open_keys, at, end, depth) : NULL;
    case DO_mark:
        if (*at == 't')
            frame->marks |= (uint64_t)1 << key.argument;
        return *at == 't' || *at == 'f' || *at == 'n' ? read_any(&reader->open_keys, at, end, depth) : NULL;
    case DO_role: return read_name(at, end, &frame->role);
    case DO_type: return read_name(at, end, &frame->type);
    case DO_id: return read_optional_name(reader, at, end, &frame->id, depth);
    case DO_result_id: return read_optional_name(reader, at, end, &frame->result_id, depth);
    case DO_name: return read_optional_name(reader, at, end, &frame->name, depth);
    case DO_item: return read_optional_name(reader, at, end, &frame->item, depth);
    case DO_text_arguments:
        return *at == '"' ? read_arguments(reader, at, end, frame, depth) : NULL;
    case DO_object_arguments:
        if (*at == '"')
            return NULL;
        /* fall through */
    case DO_arguments: return read_arguments(reader, at, end, frame, depth);
    case DO_free:
        frame->has_arguments = true;
        frame->arguments = *at == '"' ? ARGUMENTS_free : ARGUMENTS_free_object;
        return *at == '"' || *at == '{' ? read_any(&reader->open_keys, at, end, depth) : NULL;
    case DO_text:
        frame->has_text = true;
        return *at == '"' ? read_text(at, end, &frame->text) : NULL;
    case DO_words:
        if (*at == '[') {
            to = read_any(&reader->open_keys, at, end, depth);
            frame->has_words |= to && to - at > 2;
            return to;
        }
        if (*at == 'n')
            return read_any(&reader->open_keys, at, end, depth);
        at = *at == '"' ? read_text(at, end, &text) : NULL;
        frame->has_words |= at && blankness_of(&text) == HAS_WORDS;
        return at;
    case DO_braces: return *at == '{' ? read_any(&reader->open_keys, at, end, depth) : NULL;
    case DO_list_output: /* an output that is a list without parts */
        frame->has_output = true;
        frame->written = *at == '[' ? WRITTEN_list : WRITTEN_null;
        to = *at == '[' || *at == 'n' ? read_any(&reader->open_keys, at, end, depth) : NULL;
        frame->is_hollow = *at == 'n' || (to && *skip_space(at + 1, to) == ']');
        frame->size = to ? (uint32_t)(to - at) : 0;
        return to;
    case DO_hosted:
        text = (Text){0};
        at = read_optional_name(reader, at, end, &text, depth);
        frame->is_hosted = at && IS(&text, "server");
        return at;
    case DO_json: /* an output that is one object */
        frame->has_output = true;
        frame->written = *at == '{' ? WRITTEN_object : WRITTEN_null;
        frame->output_kinds |= *at == '{';
        to = *at == '{' || *at == 'n' ? read_any(&reader->open_keys, at, end, depth) : NULL;
        frame->size += to ? (uint32_t)(to - at) : 0;
        return to;
    case DO_thought:
        frame->is_thought = *at == 't';
        return *at == 't' || *at == 'f' ? read_any(&reader->open_keys, at, end, depth) : NULL;
    case DO_plan: /* a thought beside the content */
        if (*at == 'n')
            return read_any(&reader->open_keys, at, end, depth);
        at = *at == '"' ? read_text(at, end, &text) : NULL;
        frame->has_plan = at && blankness_of(&text) == HAS_WORDS;
        return at;
    case DO_outputs:
        if (*at == '"')
            return NULL;
        /* fall through */
    case DO_output: return read_content(reader, key, at, end, frame, depth);
    case DO_output_parts: /* parts beside an output that is one object */
        to = *at == '[' ? read_list_by(reader, key.argument, at, end, depth + 1, frame, true) : NULL;
        frame->size += to ? (uint32_t)(to - at) : 0;
        return to;
    case DO_pieces:
        if (*at != '[')
            return NULL;
        /* fall through */
    case DO_content: return read_content(reader, key, at, end, frame, depth);
    case DO_list:
        if (*at == 'n')
            return read_any(&reader->open_keys, at, end, depth);
        frame->has_calls_key = true;
        return *at == '[' ? read_list_by(reader, key.argument, at, end, depth + 1, frame, false) : NULL;
    case DO_object: {
        uint64_t seen = frame->seen;
        int kind = frame->kind;
        at = *at == '{' ? read_object_by(reader, &reader->syntax.objects[key.argument], at, end, frame, depth + 1) : NULL;
        frame->seen = seen;
        frame->kind = kind;
        return at;
    }
    case DO_encrypted:
        if (*at == 'n')
            return read_any(&reader->open_keys, at, end, depth);
        /* fall through */
    case DO_signature:
        at = *at == '"' ? read_text(at, end, &frame->signature) : NULL;
        frame->has_signature = at != NULL;
        frame->has_blank_signature = at && blankness_of(&frame->signature) != HAS_WORDS;
        return at;
    case DO_media:
        return *at == 'n' ? NULL : read_any(&reader->open_keys, at, end, depth);
    case DO_source: { /* of a part */
        Frame source = {.kind = -1};
        if (*at != '{')
            return *at == 'n' ? NULL : read_any(&reader->open_keys, at, end, depth);
        at = read_object_by(reader, &reader->syntax.objects[key.argument], at, end, &source, depth + 1);
        if (IS(&source.type, "file"))
            frame->marks |= BIT(file_result);
        return at;
    }
    case DO_failed:
        frame->failed = *at == 't';
        return *at == 't' || *at == 'f' || *at == 'n' ? read_any(&reader->open_keys, at, end, depth) : NULL;
    case DO_status:
        at = read_name(at, end, &text);
        frame->failed = at && IS(&text, "error");
        return at;
    case DO_beside:
        if (key.argument >= 0) {
            frame->marks |= (uint64_t)1 << key.argument;
            frame->has_reasoning = *at != 'n';
        }
        if (*at == 'n')
            return read_any(&reader->open_keys, at, end, depth);
        if (*at == '"') {
            at = read_text(at, end, &text);
            frame->speaks_beside |= at && blankness_of(&text) == HAS_WORDS;
            return at;
        }
        frame->speaks_beside = true;
        return read_any(&reader->open_keys, at, end, depth);
    case DO_naming:
        if (*at == '{' || *at == '[')
            return read_kept(reader, at, end, depth);
        return read_opaque(reader, at, end, depth);
    case DO_keep: return read_kept(reader, at, end, depth);
    case DO_opaque: return read_opaque(reader, at, end, depth);
    case DO_record:
        if (*at != '{' && *at != 'n')
            return NULL;
        if (*at == 'n')
            return read_opaque(reader, at, end, depth);
        return read_envelope(reader, &reader->syntax.objects[key.argument], at, end, frame, depth + 1);
    case DO_choice: /* a word, or an object that has one */
        if (*at == '{')
            return read_envelope(reader, &reader->syntax.objects[key.argument], at, end, frame, depth + 1);
        return *at == '"' ? read_kept(reader, at, end, depth) : read_opaque(reader, at, end, depth);
    case DO_tools: return read_tools(reader, key.argument, at, end, depth);
    case DO_messages: {
        const Object *message = &reader->syntax.objects[key.argument];
        bool is_text = *at == '"' && message->kind_words.count;
        if (reader->has_messages || !(is_text ? PUT(reader, "\"x\"") : PUT(reader, "[]")))
            return NULL;
        reader->has_messages = true;
        reader->messages_depth = depth + 1;
        if (is_text) {
            at = read_text(at, end, &text);
            return at && add_text_message(reader, &text) ? at : NULL;
        }
        return *at == '[' ? read_messages(reader, message, at, end, depth + 1) : NULL;
    }
    case DO_buffer: { /* the text of a stream, which has all arguments or none */
        Frame buffer = {.kind = -1};
        at = *at == '"' ? read_arguments(reader, at, end, &buffer, depth) : NULL;
        return at && buffer.arguments == ARGUMENTS_text_object ? at : NULL;
    }
    case DO_told: /* a text that is the message of its line */
        reader->has_said = true;
        reader->said = (Frame){.kind = -1, .has_text = true, .content = CONTENT_text, .written = WRITTEN_text};
        reader->said.role = word_text(&reader->syntax.roles.words[key.argument]);
        at = *at == '"' ? read_text(at, end, &reader->said.text) : NULL;
        return at && blankness_of(&reader->said.text) == HAS_WORDS ? at : NULL;
    case DO_number: /* a text, or a whole number as it is written */
        if (*at == '"')
            return read_name(at, end, &reader->columns[key.argument]);
        to = read_any(&reader->open_keys, at, end, depth);
        if (to && are_digits(at, to))
            reader->columns[key.argument] = (Text){at, to, true, false};
        return to;
    case DO_scalar: return *at == '{' || *at == '[' ? NULL : read_any(&reader->open_keys, at, end, depth);
    case DO_loose:
        reader->flags |= 1u << (GIVEN_SHIFT + key.argument);
        if (*at != '"')
            return read_any(&reader->open_keys, at, end, depth);
        /* fall through */
    case DO_column: return read_optional_name(reader, at, end, &reader->columns[key.argument], depth);
    case DO_flag:
        reader->flags |= (unsigned)(*at == 't') << key.argument;
        return *at == 't' || *at == 'f' || *at == 'n' ? read_any(&reader->open_keys, at, end, depth) : NULL;
    case DO_given:
        reader->flags |= (unsigned)(*at != 'n') << key.argument;
        return read_any(&reader->open_keys, at, end, depth);
    case DO_payload: { /* the message of some kinds of lines, whose type is before it */
        int number = frame->type.start ? find_word(&reader->line->kind_words, &frame->type) : -1;
        const Kind *kind = number < 0 ? NULL : &reader->line->kinds[number];
        if (kind && kind->piece == PIECE_message)
            return read_by_action(reader, (Key){DO_said, key.argument}, at, end, frame, depth);
        to = kind ? read_any(&reader->open_keys, at, end, depth) : NULL;
        text = (Text){at, to, true, false};
        return to && kind->tool.size && (has_bytes(&text, (const char *)kind->tool.letters, kind->tool.size) || has_bytes(&text, "\\u", 2)) ? NULL : to;
    }
    case DO_said: /* the message of a line */
        reader->has_said = true;
        reader->said = (Frame){.kind = -1};
        return *at == '{' ? read_object_by(reader, &reader->syntax.objects[key.argument], at, end, &reader->said, depth + 1) : NULL;
    default: return NULL;
    }
}

At read_object_by(Reader *reader, const Object *object, At at, At end, Frame *frame, int depth)
{
    int first_key = reader->open_keys.count, kind = -1;
    uint64_t bloom = 0, seen = 0;
    bool more;
    Text name;
    if (depth > MAX_DEPTH)
        return NULL;
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_member(&reader->open_keys, at, end, first_key, &bloom, &name);
        int number = at && at < end ? find_word(&object->words, &name) : -1;
        if (number < 0) {
            at = at && at < end && object->is_open ? read_any(&reader->open_keys, at, end, depth) : NULL;
            frame->others++;
            if (at)
                at = onward(at, end, '}', &more);
            continue;
        }
        if (object->kind_by == KIND_BY_KEY && object->kind_of_key[number] >= 0) {
            if (kind >= 0)
                return NULL;
            kind = object->kind_of_key[number];
        }
        seen |= (uint64_t)1 << number;
        at = read_by_action(reader, object->keys[number], at, end, frame, depth);
        if (at)
            at = onward(at, end, '}', &more);
    }
    reader->open_keys.count = first_key;
    frame->seen = seen;
    frame->kind = kind;
    if (at && object->kind_by == KIND_ALONE)
        note_seen(reader, object->place, seen);
    return at;
}

/* Sort the members of an envelope into the order of the table, those of other keys last. */
static bool sort_members(Reader *reader, size_t start, const size_t *starts, const size_t *sizes, int count)
{
    size_t size = reader->envelope_size - start;
    unsigned char *members = reader->envelope + start;
    if (!make_room(reader, size))
        return false;
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        memcpy(reader->plain + used, reader->envelope + starts[i], sizes[i]);
        used += sizes[i];
    }
    members = reader->envelope + start;
    memcpy(members, reader->plain, used);
    reader->envelope_size = start + used;
    return true;
}

/* Read an object around the messages, and write its members to the envelope. */
static At read_envelope(Reader *reader, const Object *object, At at, At end, Frame *frame, int depth)
{
    enum { MAX_OTHERS = 32 };
    size_t starts[MAX_KEYS + MAX_OTHERS], sizes[MAX_KEYS + MAX_OTHERS] = {0}, sorted_starts[MAX_KEYS + MAX_OTHERS];
    size_t sorted_sizes[MAX_KEYS + MAX_OTHERS];
    int first_key = reader->open_keys.count, others = MAX_KEYS, count = 0;
    uint64_t bloom = 0;
    bool more, has_setting = false;
    Text name;
    if (depth > MAX_DEPTH || !PUT(reader, "{"))
        return NULL;
    size_t start = reader->envelope_size;
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_member(&reader->open_keys, at, end, first_key, &bloom, &name);
        if (!at || at >= end)
            return NULL;
        int number = find_word(&object->words, &name);
        int action = number < 0 ? DO_opaque : object->keys[number].action;
        int slot = number < 0 ? others++ : number;
        if (slot == MAX_KEYS + MAX_OTHERS)
            return NULL;
        starts[slot] = reader->envelope_size;
        if (action == DO_setting || (number < 0 && object->is_open)) {
            at = read_any(&reader->open_keys, at, end, depth);
            has_setting |= number >= 0;
        } else {
            /* with its quotes, as in the record */
            if (!put(reader, name.start - 1, length(&name) + 2) || !PUT(reader, ":"))
                return NULL;
            at = number < 0 ? read_opaque(reader, at, end, depth) : read_by_action(reader, object->keys[number], at, end, frame, depth);
            if (!PUT(reader, ","))
                return NULL;
        }
        sizes[slot] = reader->envelope_size - starts[slot];
        if (at)
            at = onward(at, end, '}', &more);
    }
    reader->open_keys.count = first_key;
    for (int slot = 0; slot < others; slot++)
        if (sizes[slot]) {
            sorted_starts[count] = starts[slot];
            sorted_sizes[count++] = sizes[slot];
        }
    if (!at || !sort_members(reader, start, sorted_starts, sorted_sizes, count))
        return NULL;
    if (has_setting)
        return PUT(reader, "\"n\":0}") ? at : NULL;
    if (count)
        reader->envelope[reader->envelope_size - 1] = '}';
    else if (!PUT(reader, "}"))
        return NULL;
    return at;
}

/* Read a list of pieces of a message, or of the parts of an output. */
static At read_list_by(Reader *reader, int number, At at, At end, int depth, Frame *outer, bool is_output)
{
    const Object *object = &reader->syntax.objects[number];
    bool more;
    at = enter(at, end, '[', ']', &more);
    while (at && more) {
        Frame frame = {.kind = -1};
        at = at < end && *at == '{' ? read_object_by(reader, object, at, end, &frame, depth) : NULL;
        if (!at)
            return NULL;
        if (is_output) {
            const Kind *kind;
            if (!settle_kind(reader, object, &frame, &kind))
                return NULL;
            outer->output_kinds |= (uint64_t)1 << (kind - object->kinds);
            outer->marks |= frame.marks | kind->marks;
        } else if (object->kind_words.count) {
            if (!add_piece_of(reader, object, &frame))
                return NULL;
        } else {
            count_tool(reader, &frame);
        }
        outer->inner++;
        at = onward(at, end, ']', &more);
    }
    return at;
}

static At read_messages(Reader *reader, const Object *object, At at, At end, int depth)
{
    bool more;
    at = enter(at, end, '[', ']', &more);
    while (at && more) {
        Frame frame = {.kind = -1};
        reader->piece_count = 0;
        at = at < end && *at == '{' ? read_object_by(reader, object, at, end, &frame, depth) : NULL;
        if (!at)
            return NULL;
        bool is_fine = object->kind_words.count ? add_item(reader, object, &frame) : add_message(reader, object, &frame);
        at = is_fine ? onward(at, end, ']', &more) : NULL;
    }
    return at && reader->messages ? at : NULL;
}

/* ---- a line ---- */

static void count_tool(Reader *reader, const Frame *tool)
{
    bool is_new;
    if (reader->facts.tool_count < 255)
        reader->facts.tool_count++;
    if (tool->name.start) {
        add_name(reader, &reader->facts.tools, &tool->name);
        if (!is_new_id(reader, &tool->name, 2, &is_new) || !is_new)
            reader->facts.marks |= BIT(twin_tools);
    }
}

void note_seen(Reader *reader, int place, uint64_t seen)
{
    if (!reader->seen[place])
        reader->touched[reader->touched_count++] = (short)place;
    reader->seen[place] |= seen | (uint64_t)1 << 63;
}

void forget_line(Reader *reader)
{
    for (int i = 0; i < reader->touched_count; i++)
        reader->seen[reader->touched[i]] = 0;
    reader->server_word_count = reader->touched_count = reader->open_keys.count = reader->piece_count = reader->call_count = reader->head = 0;
    reader->envelope_size = 0;
    reader->id_count = 0;
    if (++reader->round == 0) {
        memset(reader->id_marks, 0, ID_SLOTS * sizeof *reader->id_marks);
        reader->round = 1;
    }
    memset(&reader->facts, 0, sizeof reader->facts);
    memset(&reader->messages, 0, sizeof *reader - offsetof(Reader, messages));
    reader->turn_role = reader->role = -1;
    reader->last_spoken = reader->answer_message = -1;
}

uint64_t hash_seen(const Reader *reader)
{
    uint64_t hash = 0;
    for (int i = 0; i < reader->touched_count; i++)
        hash += mix((uint64_t)reader->touched[i] + 1, reader->seen[reader->touched[i]]);
    return hash;
}

bool read_line(Reader *reader, At at, At end)
{
    Frame frame = {.kind = -1};
    forget_line(reader);
    at = skip_space(at, end);
    if (at >= end || *at != '{')
        return false;
    at = read_envelope(reader, &reader->syntax.objects[reader->syntax.root], at, end, &frame, 0);
    if (!at || skip_space(at, end) != end || !reader->has_messages || !end_conversation(reader))
        return false;
    if (reader->tools_depth && reader->tools_depth != reader->messages_depth && reader->tools_depth != reader->messages_depth + 1)
        return false;
    reader->facts.keys = hash_seen(reader);
    reader->facts.envelope = hash_bytes(reader->envelope, reader->envelope_size);
    return true;
}

bool open_reader(Reader *reader)
{
    reader->open_keys.keys = PyMem_Malloc(MAX_OPEN_KEYS * sizeof *reader->open_keys.keys);
    reader->open_keys.hashes = PyMem_Malloc(MAX_OPEN_KEYS * sizeof *reader->open_keys.hashes);
    reader->open_keys.limit = MAX_OPEN_KEYS;
    reader->pieces = PyMem_Malloc(MAX_PIECES * sizeof *reader->pieces);
    reader->calls = PyMem_Malloc(MAX_CALLS * sizeof *reader->calls);
    reader->ids = PyMem_Malloc(MAX_IDS * sizeof *reader->ids);
    reader->id_salts = PyMem_Malloc(MAX_IDS);
    reader->id_slots = PyMem_Calloc(ID_SLOTS, sizeof *reader->id_slots);
    reader->id_marks = PyMem_Calloc(ID_SLOTS, sizeof *reader->id_marks);
    return reader->open_keys.keys && reader->open_keys.hashes && reader->pieces && reader->calls && reader->ids && reader->id_salts && reader->id_slots && reader->id_marks;
}

void close_reader(Reader *reader)
{
    void *rooms[] = {reader->envelope, reader->plain, reader->open_keys.keys, reader->open_keys.hashes, reader->pieces, reader->calls,
                     reader->ids, reader->id_salts, reader->id_slots, reader->id_marks};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++)
        PyMem_Free(rooms[i]);
    drop_syntax(&reader->syntax);
}
