/* Add the messages of a request to its facts: kinds of contents, turns, and the pairs of calls and results.

   Calls and results that an id alone does not pair get the mark `unpaired`: the ledger pairs them. A piece without a fact
   gives no facts. */

#include "facts.h"

/* ---- pieces ---- */

/* Find the kind of an object, and check its keys. */
bool settle_kind(Reader *reader, const Object *object, Frame *frame, const Kind **kind)
{
    int number = frame->kind;
    if (object->kind_by == KIND_BY_TYPE)
        number = frame->type.start ? find_word(&object->kind_words, &frame->type) : object->default_kind;
    else if (object->kind_by == KIND_ALONE)
        number = 0;
    if (number < 0 || number >= object->kind_words.count)
        return false;
    *kind = &object->kinds[number];
    if ((frame->seen & ~(*kind)->allowed) || (frame->seen & (*kind)->needed) != (*kind)->needed)
        return false;
    if ((*kind)->piece != PIECE_message) /* its keys depend on its class */
        note_seen(reader, object->place + number, frame->seen);
    return true;
}

static bool fill_piece(Reader *reader, const Object *object, Frame *frame, Piece *piece)
{
    const Kind *kind;
    if (!settle_kind(reader, object, frame, &kind))
        return false;
    memset(piece, 0, sizeof *piece);
    piece->kind = kind->piece;
    piece->number = (int)(kind - object->kinds);
    piece->marks = frame->marks | kind->marks;
    piece->speaker = kind->speaker;
    piece->id = frame->result_id.start ? frame->result_id : frame->id;
    piece->name = frame->name;
    piece->text = frame->text;
    piece->item = frame->item;
    piece->has_words = frame->has_words;
    piece->group = kind->group;
    piece->has_signature = frame->has_signature;
    piece->has_blank_signature = frame->has_blank_signature;
    if (piece->kind == PIECE_text && frame->has_text) {
        /* A stream ends with an empty text that has the signature of the text before it. */
        piece->has_words = blankness_of(&frame->text) == HAS_WORDS;
        if (frame->is_thought || (!piece->has_words && piece->has_signature && !piece->has_blank_signature))
            piece->kind = PIECE_thought;
    } else if (frame->is_thought) {
        return false;
    }
    if ((piece->kind == PIECE_result && frame->has_object_output)
        || (piece->kind == PIECE_call && reader->syntax.needs_arguments && frame->arguments != ARGUMENTS_object))
        return false;
    if (kind->may_be_hosted && (frame->is_hosted || !piece->id.start))
        piece->kind = PIECE_other; /* the provider runs the tool, and the log has its outcome */
    piece->has_cipher = kind->piece == PIECE_cipher;
    if (piece->kind == PIECE_cipher)
        piece->kind = PIECE_thought;
    piece->failed = frame->failed;
    piece->output_kinds = frame->output_kinds;
    piece->written = frame->written;
    piece->size = frame->size;
    piece->is_hollow = frame->is_hollow || !frame->has_output;
    piece->arguments = frame->has_arguments ? frame->arguments : ARGUMENTS_absent;
    if (kind->tool.size && piece->kind == PIECE_call) {
        if (piece->arguments != ARGUMENTS_object)
            return false;
        piece->arguments = ARGUMENTS_free_object;
        piece->name = (Text){kind->tool.letters, kind->tool.letters + kind->tool.size, true, false};
    }
    if (piece->kind == PIECE_call && reader->syntax.needs_call_type && object->kind_by == KIND_BY_TYPE && !frame->type.start)
        piece->marks |= BIT(untyped_call);
    return true;
}

bool add_piece_of(Reader *reader, const Object *object, Frame *frame)
{
    if (reader->piece_count == MAX_PIECES || !fill_piece(reader, object, frame, &reader->pieces[reader->piece_count]))
        return false;
    reader->piece_count++;
    return true;
}

/* ---- ids and names ---- */

void add_name(Reader *reader, Names *names, const Text *name)
{
    size_t size = length(name);
    uint8_t rank = size >= 254 ? 255 : (uint8_t)(size + 1);
    const unsigned short *class_of = reader->syntax.class_of_letter;
    if (size)
        names->first |= class_of[*name->start];
    for (At at = name->start; at < name->end; at++)
        names->letters |= class_of[*at];
    if (rank > names->longest)
        names->longest = rank;
    if (!names->shortest || rank < names->shortest)
        names->shortest = rank;
}

/* Whether an id identifies a call: scrubbers and SDKs write some words in place of a lost id. */
static bool is_usable(const Reader *reader, const Text *id)
{
    unsigned char lower[16];
    size_t size = length(id);
    if (!size || size > sizeof lower)
        return size != 0;
    for (size_t i = 0; i < size; i++)
        lower[i] = id->start[i] >= 'A' && id->start[i] <= 'Z' ? id->start[i] | 0x20 : id->start[i];
    Text word = {lower, lower + size, true, false};
    return find_word(&reader->syntax.unusable, &word) < 0;
}

bool is_new_id(Reader *reader, const Text *id, unsigned salt, bool *is_new)
{
    uint64_t hash = mix(hash_bytes(id->start, length(id)), salt);
    for (uint32_t slot = (uint32_t)hash & (ID_SLOTS - 1);; slot = (slot + 1) & (ID_SLOTS - 1)) {
        if (reader->id_marks[slot] != reader->round) {
            if (reader->id_count == MAX_IDS)
                return false;
            reader->id_marks[slot] = reader->round;
            reader->id_slots[slot] = reader->id_count;
            reader->ids[reader->id_count] = *id;
            reader->id_salts[reader->id_count++] = (unsigned char)salt;
            return *is_new = true;
        }
        const Text *other = &reader->ids[reader->id_slots[slot]];
        if (reader->id_salts[reader->id_slots[slot]] == salt && same(other, id->start, length(id))) {
            *is_new = false;
            return true;
        }
    }
}

/* Add the id of an item of a kind. */
static bool add_item_id(Reader *reader, const Text *item, const Kind *kind, int number)
{
    bool is_new;
    if (!item->start)
        return true;
    if (!length(item))
        return false; /* an empty id is no id */
    reader->facts.item_kinds |= (uint64_t)1 << number;
    if (kind->prefix.size && (length(item) < kind->prefix.size || memcmp(item->start, kind->prefix.letters, kind->prefix.size) != 0))
        reader->facts.odd_items |= (uint64_t)1 << number;
    add_name(reader, &reader->facts.items, item);
    if (!is_new_id(reader, item, 1, &is_new))
        return false;
    if (!is_new)
        reader->facts.marks |= BIT(item_twice);
    return true;
}

/* ---- calls and results ---- */

/* Add a name of a tool that the provider runs, or the prefix of an id of its calls and results. */
static bool add_server_word(Reader *reader, const Text *word, bool is_head)
{
    for (int i = 0; i < reader->server_word_count; i++)
        if (reader->server_words[i].marked == is_head && same(&reader->server_words[i], word->start, length(word)))
            return true;
    if (reader->server_word_count == MAX_SERVER_WORDS)
        return false;
    reader->server_words[reader->server_word_count] = *word;
    reader->server_words[reader->server_word_count++].marked = is_head;
    reader->facts.servers += mix(hash_bytes(word->start, length(word)), is_head);
    return true;
}

static bool add_server_id(Reader *reader, const Text *id)
{
    At bar = memchr(id->start, '_', length(id));
    Text head = {id->start, bar ? bar + 1 : id->start, true, false};
    Text tail = {head.end, id->end, true, false};
    add_name(reader, &reader->facts.server_tails, &tail);
    return add_server_word(reader, &head, true);
}

static bool add_call(Reader *reader, const Piece *piece)
{
    bool is_new;
    bool is_server = piece->kind == PIECE_server_call;
    if (reader->call_count == MAX_CALLS || !piece->name.start || !length(&piece->name))
        return false;
    OpenCall *call = &reader->calls[reader->call_count++];
    *call = (OpenCall){piece->id, piece->name, reader->turn, reader->messages, false, is_server};
    if (!piece->id.start) {
        if (!reader->syntax.idless || is_server)
            return false;
        reader->facts.marks |= BIT(idless_call);
    } else {
        if (!is_usable(reader, &piece->id) || !is_new_id(reader, &piece->id, is_server ? 4 : 0, &is_new))
            return false;
        bool is_taken = !is_new;
        if (reader->orphans && !is_new_id(reader, &piece->id, 3, &is_new))
            return false;
        if (is_taken || !is_new)
            reader->facts.marks |= BIT(unpaired);
    }
    reader->facts.arguments |= (uint8_t)(1u << piece->arguments);
    if (is_server)
        return add_server_word(reader, &piece->name, false) && add_server_id(reader, &piece->id);
    if (piece->id.start)
        add_name(reader, &reader->facts.ids, &piece->id);
    reader->calls_in_message++;
    reader->facts.marks |= BIT(uncounted_call); /* the numbers in ids are not counted */
    reader->facts.calls = 1;
    add_name(reader, &reader->facts.names, &piece->name);
    if (reader->calls_in_message == 1 && (!piece->has_signature || piece->has_blank_signature))
        reader->facts.marks |= BIT(unsigned_call);
    return true;
}

static bool is_answer(const OpenCall *call, const Piece *piece)
{
    if (call->is_answered || call->is_server != (piece->kind == PIECE_server_result))
        return false;
    if (!piece->id.start || !call->id.start)
        return !piece->id.start && !call->id.start;
    return same(&call->id, piece->id.start, length(&piece->id));
}

/* Add a result whose call the provider stores: no call here has its id. */
static bool add_orphan(Reader *reader, const Piece *piece)
{
    bool is_new;
    if (!reader->syntax.anywhere || piece->kind != PIECE_result || !piece->id.start || !is_usable(reader, &piece->id)
        || !is_new_id(reader, &piece->id, 0, &is_new) || !is_new || !is_new_id(reader, &piece->id, 3, &is_new) || !is_new)
        return false;
    reader->facts.marks |= BIT(orphan) | BIT(uncounted_call);
    reader->orphans++;
    return true;
}

/* Pair a result with an open call with its id, or with the next one where neither has an id. */
static bool add_result(Reader *reader, const Piece *piece)
{
    Facts *facts = &reader->facts;
    while (reader->head < reader->call_count && reader->calls[reader->head].is_answered)
        reader->head++;
    int at = reader->head;
    while (at < reader->call_count && !is_answer(&reader->calls[at], piece))
        at++;
    bool is_orphan = at == reader->call_count, is_server = piece->kind == PIECE_server_result;
    if (is_orphan && (is_server || !piece->id.start || !is_usable(reader, &piece->id)))
        return false;
    if (is_orphan && !add_orphan(reader, piece))
        facts->marks |= BIT(unpaired) | BIT(uncounted_call);
    OpenCall *call = is_orphan ? NULL : &reader->calls[at];
    bool is_inside = is_server ? reader->is_asking : reader->is_waiting;
    bool is_named = piece->name.start && length(&piece->name);
    if (call && ((!reader->syntax.anywhere && !(is_inside && call->turn == reader->turn))
                 || (is_named && !same(&call->name, piece->name.start, length(&piece->name)))))
        facts->marks |= BIT(unpaired);
    reader->results++;
    if (piece->size > reader->result_size)
        reader->result_size = piece->size;
    if (is_server) {
        if (piece->is_hollow && piece->written == WRITTEN_list)
            facts->marks |= BIT(empty_list_result);
        call->is_answered = true;
        if (!is_named)
            facts->marks |= BIT(nameless_result);
        return piece->id.start && add_server_id(reader, &piece->id);
    }
    if (!piece->id.start) {
        facts->marks |= BIT(idless_result);
        if (!is_named)
            return false;
    } else {
        if (!is_usable(reader, &piece->id))
            return false;
        add_name(reader, &facts->ids, &piece->id);
    }
    if (is_named)
        add_name(reader, &facts->result_names, &piece->name);
    else
        facts->marks |= BIT(nameless_result);
    if (call) {
        call->is_answered = true;
        if (reader->last_spoken > (int64_t)call->message || (reader->syntax.anywhere && call->turn != reader->turn))
            facts->marks |= BIT(spoken_between);
        if (reader->answer_message < 0)
            reader->answer_message = reader->messages;
        if (reader->answer_message != (int64_t)reader->messages || call->turn != reader->turn)
            facts->marks |= BIT(scattered_results);
    }
    facts->results |= (uint64_t)1 << (piece->group * WRITTEN_COUNT + piece->written);
    facts->output_kinds |= piece->output_kinds;
    if (piece->is_hollow && piece->failed)
        facts->marks |= BIT(failed_hollow_result);
    if (piece->is_hollow && piece->written == WRITTEN_list)
        facts->marks |= BIT(empty_list_result);
    return true;
}

/* Mark the conversation if a call of the turns so far has no result. */
static void note_open_calls(Reader *reader)
{
    while (reader->head < reader->call_count && reader->calls[reader->head].is_answered)
        reader->head++;
    if (reader->head < reader->call_count)
        reader->facts.marks |= BIT(unpaired);
}

/* ---- turns ---- */

static bool is_assistant_role(const Reader *reader, int role)
{
    return role >= 0 && reader->syntax.neutral[role] == ASSISTANT_NEUTRAL;
}

static bool is_user_role(const Reader *reader, int role) { return role >= 0 && reader->syntax.neutral[role] == USER_NEUTRAL; }

/* Add the classes of two consecutive turns. */
static void end_turn(Reader *reader)
{
    if (reader->turn_role < 0)
        return;
    int class = reader->syntax.class_of[reader->turn_role][reader->turn_calls * 2 + reader->turn_results];
    if (reader->is_mixed) { /* its class represents several: see `Decoder._steps` */
        reader->facts.marks |= BIT(mixed_turn);
        class = class ? class : reader->last_class;
    }
    reader->facts.steps |= (uint64_t)1 << (reader->turn_class * 8 + class);
    reader->facts.answers |= (uint64_t)1 << (reader->said_class * 8 + class);
    reader->turn_class = class;
    reader->said_class = reader->said_now ? reader->said_now : class;
}

/* Begin a message of a role. */
static bool begin_message(Reader *reader, int role)
{
    const Syntax *syntax = &reader->syntax;
    bool is_assistant = is_assistant_role(reader, role);
    bool goes_on = is_assistant && is_assistant_role(reader, reader->role);
    if (reader->ends_in_thinking && !(is_assistant && syntax->joins))
        reader->facts.marks |= BIT(final_thinking);
    reader->ends_in_thinking = false;
    if (goes_on && syntax->joins) {
        reader->is_mixed |= role != reader->turn_role;
    } else {
        end_turn(reader);
        reader->turn_role = role;
        reader->is_mixed = false;
        reader->turn_calls = reader->turn_results = false;
        reader->said_now = 0;
    }
    if (is_assistant) {
        if (!(syntax->joins && reader->is_asking)) {
            if (!syntax->anywhere)
                note_open_calls(reader);
            reader->turn++;
            reader->answer_message = -1;
        }
        if (!(syntax->joins && goes_on))
            reader->called_in_turn = false;
        reader->is_asking = true;
        reader->is_waiting = false;
    } else if (syntax->window >> syntax->neutral[role] & 1) {
        reader->is_asking = false;
        reader->is_waiting = reader->call_count > 0 && reader->calls[reader->call_count - 1].turn == reader->turn;
    } else {
        if (!syntax->anywhere)
            note_open_calls(reader);
        reader->is_asking = reader->is_waiting = false;
        reader->turn++;
    }
    if (reader->facts.marks & BIT(prefix))
        reader->facts.marks |= BIT(prefix_before_end);
    if (!(syntax->joins && is_user_role(reader, role) && is_user_role(reader, reader->role)))
        reader->row_spoke = false;
    reader->calls_in_message = 0;
    return true;
}

/* The state of a message whose pieces are being added. */
typedef struct {
    bool is_assistant, has_calls, has_results, has_others, has_blanks, has_thoughts, has_block, speaks, is_last_text;
    bool is_last_thought, is_trailing;
    unsigned empties;
} Said;

enum { EMPTY_MESSAGE = 1, EMPTY_TEXT = 2, EMPTY_WHITE = 4 };

/* Update the state of the last messages before the model's next turn: see `unthought-turn`. */
static void note_loop(Reader *reader, const Said *said)
{
    if (!said->is_assistant && !said->has_results) {
        reader->is_in_loop = reader->is_loop_bare = false;
    } else if (said->is_assistant && !reader->is_in_loop) {
        reader->is_in_loop = true;
        reader->is_loop_bare = said->has_calls && !said->has_thoughts;
    }
}

static bool end_message(Reader *reader, int role, const Said *said, int content)
{
    Facts *facts = &reader->facts;
    int class = reader->syntax.class_of[role][said->has_calls * 2 + said->has_results];
    bool only_thinks = said->has_thoughts && !said->speaks && !said->has_calls && !said->has_results;
    if (!class)
        return false;
    facts->contents |= (uint64_t)1 << (class * CONTENT_COUNT + content);
    facts->empties |= said->empties << (class * 3);
    if (said->has_calls || said->has_results || said->has_thoughts || said->has_others)
        facts->mixed_classes |= (uint8_t)(1u << class);
    if (!reader->messages)
        facts->first = (uint8_t)class;
    facts->last = (uint8_t)class;
    facts->last_content = (uint8_t)content;
    reader->turn_calls |= said->has_calls;
    reader->turn_results |= said->has_results;
    if (!reader->is_mixed && !reader->syntax.class_of[reader->turn_role][reader->turn_calls * 2 + reader->turn_results])
        return false;
    reader->last_class = class;
    if (said->has_block && !only_thinks)
        reader->said_now = class;
    if (said->speaks)
        reader->last_spoken = reader->messages;
    if (reader->calls_in_message > reader->most_calls)
        reader->most_calls = reader->calls_in_message;
    facts->marks &= ~BIT(trailing_space);
    if (said->is_last_text && said->is_trailing)
        facts->marks |= BIT(trailing_space);
    reader->ends_in_thinking = said->is_last_thought;
    note_loop(reader, said);
    reader->role = role;
    reader->messages++;
    return true;
}

/* ---- messages ---- */

/* Add a text. A blank text is no block. */
static bool add_text(Reader *reader, const Text *text, Said *said, bool is_part)
{
    Blankness blankness = blankness_of(text);
    if (blankness != HAS_WORDS) {
        said->has_blanks = reader->row_spoke = true;
        said->is_last_thought = false;
        said->empties |= blankness == IS_WHITE ? EMPTY_WHITE : is_part ? EMPTY_TEXT : 0;
        if (said->has_results)
            reader->facts.marks |= BIT(result_beside);
        return true;
    }
    if (said->is_assistant) {
        if (may_hold_call(text))
            return false;
        if (reader->called_in_turn)
            reader->facts.marks |= BIT(text_after_call);
    }
    said->has_block = said->speaks = said->is_last_text = reader->row_spoke = true;
    said->is_last_thought = false;
    said->is_trailing = is_trailing(text);
    return true;
}

static void add_thought(Reader *reader, const Piece *piece, Said *said)
{
    bool is_late = !said->has_thoughts && (said->has_block || said->has_blanks);
    uint64_t marks = BIT(thought) | (is_late ? BIT(late_thought) : 0);
    if (!piece->has_cipher && reader->syntax.item_role >= 0) {
        marks |= BIT(empty_thought) | BIT(unsigned_thought); /* the texts of such items are not read */
    } else if (!piece->has_cipher) {
        if (!piece->has_words)
            marks |= !piece->has_signature || piece->has_blank_signature ? BIT(empty_thought) : 0;
        else if (!piece->has_signature)
            marks |= BIT(unsigned_thought);
        else if (piece->has_blank_signature)
            marks |= BIT(blank_signed_thought);
    }
    reader->facts.marks |= marks;
    said->has_block = said->has_thoughts = said->is_last_thought = true;
    said->is_last_text = false;
}

static bool add_piece(Reader *reader, const Piece *piece, Said *said)
{
    reader->facts.marks |= piece->marks;
    if (piece->speaker && said->is_assistant != (piece->speaker == ASSISTANT_SPEAKER))
        reader->facts.marks |= BIT(odd_text);
    switch (piece->kind) {
    case PIECE_text: return piece->text.start && add_text(reader, &piece->text, said, true);
    case PIECE_thought: add_thought(reader, piece, said); return said->is_assistant;
    case PIECE_call: case PIECE_server_call:
        if (!said->is_assistant || !add_call(reader, piece))
            return false;
        reader->called_in_turn |= piece->kind == PIECE_call;
        said->has_calls = said->has_block = true;
        break;
    case PIECE_result: case PIECE_server_result:
        if (said->is_assistant != (piece->kind == PIECE_server_result) || !add_result(reader, piece))
            return false;
        if (reader->row_spoke && piece->kind == PIECE_result)
            reader->facts.marks |= BIT(result_behind);
        said->has_results = said->has_block = true;
        break;
    default: said->has_block = said->has_others = said->speaks = reader->row_spoke = true;
    }
    said->is_last_text = said->is_last_thought = false;
    return true;
}

static int role_of_frame(const Reader *reader, const Frame *frame)
{
    if (!frame->role.start)
        return reader->syntax.absent_role;
    int word = find_word(&reader->syntax.roles, &frame->role);
    return word < 0 ? -1 : reader->syntax.role_of_word[word];
}

/* Add the facts of a complete message. False for a message that is empty in all keys. */
static bool settle_message(Reader *reader, int role, Said *said, bool speaks_beside)
{
    if (!said->has_block) {
        said->empties |= EMPTY_MESSAGE;
        said->speaks = true;
        if (!speaks_beside && !reader->syntax.may_be_empty && (is_user_role(reader, role) || said->is_assistant))
            return false;
    }
    if (said->has_results && (said->speaks || said->has_blanks || said->has_calls || said->has_thoughts))
        reader->facts.marks |= BIT(result_beside);
    return true;
}

static bool add_content(Reader *reader, const Frame *frame, Said *said, int *content)
{
    *content = frame->content;
    if (*content != CONTENT_text)
        return true;
    if (!add_text(reader, &frame->text, said, false))
        return false;
    if (!said->is_last_text)
        *content = CONTENT_blank;
    return true;
}

/* Add a message that is one result, as in Chat Completions. */
static bool add_result_message(Reader *reader, const Frame *frame, int role)
{
    Piece piece = {.kind = PIECE_result, .id = frame->result_id, .name = frame->name, .written = frame->written, .size = frame->size,
                   .is_hollow = frame->is_hollow || !frame->has_output, .failed = frame->failed};
    Said said = {.has_block = true};
    int content = frame->content;
    for (int i = 0; i < reader->piece_count; i++) {
        if (reader->pieces[i].kind != PIECE_text && reader->pieces[i].kind != PIECE_media)
            return false;
        piece.output_kinds |= (uint64_t)1 << reader->pieces[i].number;
    }
    if (frame->has_calls_key || !begin_message(reader, role) || !add_piece(reader, &piece, &said))
        return false;
    reader->facts.marks = (reader->facts.marks & ~BIT(prefix)) | frame->marks;
    if (content == CONTENT_text && blankness_of(&frame->text) != HAS_WORDS)
        content = CONTENT_blank;
    return end_message(reader, role, &said, content);
}

static bool add_spoken_message(Reader *reader, Frame *frame, int role)
{
    Said said = {.is_assistant = is_assistant_role(reader, role)};
    int content;
    if (frame->result_id.start || !begin_message(reader, role) || !add_content(reader, frame, &said, &content))
        return false;
    if (frame->has_plan) {
        Piece plan = {.kind = PIECE_thought, .has_words = true};
        said.is_last_text = said.has_block = false;
        if (content == CONTENT_blank)
            reader->facts.marks |= BIT(late_thought);
        add_thought(reader, &plan, &said);
        said.is_last_thought = content != CONTENT_text;
        said.is_last_text = content == CONTENT_text;
    }
    reader->facts.marks &= ~BIT(prefix);
    reader->facts.marks |= frame->marks;
    if (frame->name.start)
        add_name(reader, &reader->facts.authors, &frame->name);
    /* Calls beside a content follow it, whatever the order of the keys. */
    for (int pass = 0; pass < (frame->has_calls_key ? 2 : 1); pass++)
        for (int i = 0; i < reader->piece_count; i++) {
            const Piece *piece = &reader->pieces[i];
            bool is_call = piece->kind == PIECE_call;
            if ((!frame->has_calls_key || is_call == (pass == 1)) && !add_piece(reader, piece, &said))
                return false;
        }
    if (frame->has_calls_key && !said.has_calls)
        reader->facts.marks |= BIT(no_calls);
    if (said.has_calls && !frame->has_reasoning)
        reader->facts.marks |= BIT(call_without_reasoning_field);
    if (!settle_message(reader, role, &said, frame->speaks_beside))
        return false;
    if (is_user_role(reader, role) && said.speaks && said.has_block && !said.has_results)
        reader->facts.marks &= ~BIT(unsigned_call);
    return end_message(reader, role, &said, content);
}

/* Note the keys of the last message at the place of its class. */
static void note_message(Reader *reader, const Object *object, const Frame *frame)
{
    note_seen(reader, object->place + object->kind_words.count + reader->facts.last, frame->seen);
}

bool add_message(Reader *reader, const Object *object, Frame *frame)
{
    int role = role_of_frame(reader, frame);
    if (role < 0 || (reader->syntax.list_roles >> role & 1 && frame->written != WRITTEN_list))
        return false;
    bool is_fine = role == reader->syntax.result_role ? add_result_message(reader, frame, role) : add_spoken_message(reader, frame, role);
    if (is_fine)
        note_message(reader, object, frame);
    return is_fine;
}

/* ---- items: messages, calls and results in one list ---- */

static bool add_message_item(Reader *reader, Frame *frame)
{
    int role = role_of_frame(reader, frame), content;
    Said said = {.is_assistant = is_assistant_role(reader, role)};
    if (role < 0 || !begin_message(reader, role) || !add_content(reader, frame, &said, &content))
        return false;
    for (int i = 0; i < reader->piece_count; i++)
        if (!add_piece(reader, &reader->pieces[i], &said))
            return false;
    if (said.has_calls || said.has_results || !settle_message(reader, role, &said, false))
        return false;
    if (is_user_role(reader, role)) {
        reader->is_reasoned = false;
        if (said.has_block)
            reader->facts.marks &= ~BIT(unsigned_call);
    }
    return end_message(reader, role, &said, content);
}

static bool add_piece_item(Reader *reader, const Object *object, Frame *frame)
{
    Piece piece;
    if (!fill_piece(reader, object, frame, &piece))
        return false;
    bool has_id = piece.item.start != NULL;
    int role = piece.kind == PIECE_result ? reader->syntax.result_role : reader->syntax.item_role;
    Said said = {.is_assistant = is_assistant_role(reader, role)};
    if (piece.kind == PIECE_thought) {
        reader->is_reasoned = true;
        reader->has_reasoning_id |= has_id;
        reader->has_open_reasoning = has_id;
        piece.has_cipher = piece.has_signature && !piece.has_blank_signature;
        if (has_id && !piece.has_cipher)
            reader->facts.marks |= BIT(unencrypted_reasoning);
    } else if (piece.kind == PIECE_call) {
        reader->facts.marks |= BIT(call_without_reasoning_field);
        reader->has_unreasoned_call |= has_id && !reader->is_reasoned;
    }
    int content = piece.kind == PIECE_thought ? frame->content : CONTENT_absent; /* an output is no content */
    return begin_message(reader, role) && add_piece(reader, &piece, &said) && end_message(reader, role, &said, content);
}

/* Add an item with settings for the following turns: a message of the system without a content. */
static bool add_setting_item(Reader *reader, const Frame *frame)
{
    int role = role_of_frame(reader, frame);
    Said said = {.has_block = true, .has_others = true, .speaks = true};
    if (role < 0 || reader->syntax.neutral[role] != SYSTEM_NEUTRAL || !begin_message(reader, role))
        return false;
    reader->row_spoke = true;
    return end_message(reader, role, &said, CONTENT_absent);
}

/* Add one item of a list whose items are messages, calls and results. */
bool add_item(Reader *reader, const Object *object, Frame *frame)
{
    const Kind *kind;
    if (!settle_kind(reader, object, frame, &kind) || !add_item_id(reader, &frame->item, kind, (int)(kind - object->kinds)))
        return false;
    if (reader->has_open_reasoning && kind->piece != PIECE_thought && !frame->item.start)
        reader->facts.marks |= BIT(stranded_reasoning);
    reader->has_open_reasoning = false;
    if (kind->piece == PIECE_other)
        reader->facts.marks |= kind->marks;
    if (kind->piece == PIECE_setting)
        return add_setting_item(reader, frame);
    if (kind->piece != PIECE_message)
        return add_piece_item(reader, object, frame);
    bool is_fine = add_message_item(reader, frame);
    if (is_fine)
        note_message(reader, object, frame);
    return is_fine;
}

/* Add a request whose input is one text of the user. */
bool add_text_message(Reader *reader, const Text *text)
{
    Said said = {.is_assistant = false};
    int role = reader->syntax.user_role;
    return begin_message(reader, role) && add_text(reader, text, &said, false) && said.is_last_text
        && end_message(reader, role, &said, CONTENT_text);
}

/* ---- the end ---- */

/* Return the number of bits of a count, at least `least`. */
static uint8_t rounded(uint64_t count, uint8_t least)
{
    uint8_t bits = 0;
    for (; count; count >>= 1)
        bits++;
    return bits > least ? bits : least;
}

/* Round a length up to the next bound of a known profile, so that few values differ. Ids of at most 9 bytes stay exact. */
static uint8_t round_up(uint8_t rank)
{
    static const uint8_t bounds[] = {33, 41, 65, 129, 254};
    for (size_t i = 0; i < sizeof bounds; i++)
        if (rank <= bounds[i])
            return bounds[i];
    return 255;
}

static void round_names(Names *names, bool are_ids)
{
    if (are_ids && names->longest <= 10)
        return;
    if (names->longest)
        names->longest = round_up(names->longest < 65 && !are_ids ? 65 : names->longest);
    if (names->shortest > 1)
        names->shortest = 2;
}

bool end_conversation(Reader *reader)
{
    Facts *facts = &reader->facts;
    Names *names[] = {&facts->names, &facts->result_names, &facts->authors, &facts->tools};
    note_open_calls(reader);
    end_turn(reader);
    facts->steps |= (uint64_t)1 << (reader->turn_class * 8); /* the last turn, without a successor */
    if (reader->ends_in_thinking)
        facts->marks |= BIT(final_thinking);
    if (reader->has_open_reasoning)
        facts->marks |= BIT(stranded_reasoning);
    if (reader->has_reasoning_id && reader->has_unreasoned_call)
        facts->marks |= BIT(call_without_reasoning);
    if (reader->is_loop_bare && !is_assistant_role(reader, reader->role))
        facts->marks |= BIT(unthought_turn);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        round_names(names[i], false);
    round_names(&facts->ids, true);
    round_names(&facts->items, true);
    round_names(&facts->server_tails, false);
    facts->messages = rounded(reader->messages, 10);
    facts->most_calls = reader->most_calls > 1 ? rounded(reader->most_calls, 7) : (uint8_t)reader->most_calls;
    facts->result_size = rounded(reader->result_size, 20);
    if (facts->tool_count > 1)
        facts->tool_count = facts->tool_count <= 128 ? 128 : 255;
    return true;
}
