/* Collect the facts of one request: a value of fixed size that describes its messages and serves as a cache key.

   The reader parses a line by the tables of a wire and adds each message to the facts. A line that is not strict JSON, or
   that has a shape without a fact, gives no facts: the Python parser parses it. This code contains no wire, rule or
   provider. */

#ifndef TURNLINT_FACTS_H
#define TURNLINT_FACTS_H

#include "strict.h"
#include "syntax.h"

/* The facts of a conversation that are true or false. `ConversationFacts.marks` has the same names. */
#define MARKS(X) \
    X(call_without_reasoning, "call-without-reasoning") X(call_without_reasoning_field, "call-without-reasoning-field") \
    X(empty_key, "empty-key") X(empty_list_result, "empty-list-result") X(empty_thought, "empty-thought") \
    X(failed_hollow_result, "failed-hollow-result") X(file_result, "file-result") X(final_thinking, "final-thinking") X(idless_call, "idless-call") \
    X(item_twice, "item-twice") X(late_thought, "late-thought") X(no_calls, "no-calls") X(odd_text, "odd-text") \
    X(prefix_before_end, "prefix-before-end") X(reasoning_field, "reasoning-field") X(result_behind, "result-behind") \
    X(result_beside, "result-beside") X(scattered_results, "scattered-results") X(spoken_between, "spoken-between") \
    X(stranded_reasoning, "stranded-reasoning") X(text_after_call, "text-after-call") X(thought, "thought") \
    X(trailing_space, "trailing-space") X(unencrypted_reasoning, "unencrypted-reasoning") \
    X(unsigned_call, "unsigned-call") X(unsigned_thought, "unsigned-thought") \
    X(blank_signed_thought, "blank-signed-thought") X(unthought_turn, "unthought-turn") X(untyped_call, "untyped-call") \
    X(nameless_result, "nameless-result") X(idless_result, "idless-result") X(prefix, "prefix") X(twin_tools, "twin-tools") \
    X(mixed_turn, "mixed-turn") X(reference, "reference") X(orphan, "orphan") \
    X(idless_server_call, "idless-server-call") X(uncounted_call, "uncounted-call") X(unpaired, "unpaired")
enum {
#define X(name, word) MARK_##name,
    MARKS(X)
#undef X
    MARK_COUNT
};
#define BIT(mark) ((uint64_t)1 << MARK_##mark)

/* The kinds of a content, in the order of `ConversationFacts.contents`. */
enum { CONTENT_absent, CONTENT_null, CONTENT_text, CONTENT_blank, CONTENT_parts, CONTENT_no_parts, CONTENT_other, CONTENT_COUNT };
/* The JSON kinds of a value. */
enum { WRITTEN_absent, WRITTEN_null, WRITTEN_text, WRITTEN_object, WRITTEN_list, WRITTEN_COUNT };
/* The JSON kind of arguments, and their content. */
enum { ARGUMENTS_text_object, ARGUMENTS_text_nothing, ARGUMENTS_object, ARGUMENTS_absent, ARGUMENTS_null, ARGUMENTS_free, ARGUMENTS_free_object };

/* A summary of ids or names. All lengths are rounded, so that few values differ. */
typedef struct {
    uint16_t first, letters;
    uint8_t shortest, longest; /* 0 and 0: no name */
} Names;

typedef struct {
    uint64_t envelope, keys, marks, steps, answers, contents, results, output_kinds, item_kinds, odd_items, servers;
    uint32_t empties; /* bits from class * 3: empty message, empty text of a list, white space */
    Names ids, names, result_names, authors, tools, items, server_tails;
    uint8_t first, last, last_content, mixed_classes, messages, most_calls, result_size, arguments, calls, tool_count;
} Facts;

typedef struct {
    int kind;
    int number, group; /* of its kind, among the kinds of its object and among those of results */
    int speaker;
    Text id, name, text, item;
    uint64_t marks;
    uint64_t output_kinds;
    uint32_t size;
    uint8_t written, arguments;
    bool has_words, has_signature, has_blank_signature, failed, is_hollow, has_cipher;
} Piece;

typedef struct {
    Text id, name;
    uint32_t turn, message;
    bool is_answered, is_server;
} OpenCall;

/* The state of an object that is being read. */
typedef struct {
    uint64_t seen, marks, output_kinds;
    int kind;
    Text type, role, id, result_id, name, item, text, signature;
    bool has_text, has_words, has_signature, has_blank_signature, has_arguments, has_output, failed, speaks_beside, has_calls_key, has_reasoning, has_plan, is_thought, has_object_output;
    bool is_hollow, is_hosted;
    uint8_t content, written, arguments;
    uint32_t size, inner, others;
} Frame;

/* A longer line has no facts. */
enum { MAX_LINE_BYTES = 1 << 22 };
enum { MAX_SERVER_WORDS = 32, MAX_PIECES = 4096, MAX_CALLS = 4096, MAX_IDS = 8192, ID_SLOTS = 16384, MAX_OPEN_KEYS = 8192 };

typedef struct {
    Syntax syntax;
    /* the envelope: the record without its messages, with masked values of naming keys */
    unsigned char *envelope;
    size_t envelope_size, envelope_room;
    unsigned char *plain; /* an unescaped text */
    size_t plain_room;
    OpenKeys open_keys;
    Piece *pieces;
    int piece_count;
    OpenCall *calls;
    int call_count, head;
    Text *ids;
    unsigned char *id_salts;
    uint32_t *id_slots, *id_marks;
    uint32_t round, id_count;
    uint64_t seen[MAX_PLACES]; /* bits of the keys of the objects at each place; the highest bit: the place occurs */
    short touched[MAX_PLACES];
    int touched_count;
    Facts facts;
    /* names of tools that the provider runs, and prefixes of their ids; `marked`: a prefix */
    Text server_words[MAX_SERVER_WORDS];
    int server_word_count;
    /* the line of a session: values of its keys, and its message */
    Text columns[MAX_COLUMNS]; /* without a start: null, absent, or no text */
    /* the flags of the syntax; from GIVEN_SHIFT on, whether each loose column has its key; from ROLE_SHIFT on the role; at
       CONTENT_SHIFT whether the message has a content */
    unsigned flags;
    Frame said;
    bool has_said;
    const Object *line;
    int line_kind; /* the number of kinds: the whole line is the message */
    /* the conversation so far; all fields from here are cleared for each line */
    uint32_t messages, results, orphans, turn, most_calls, calls_in_message, result_size;
    int tools_depth, messages_depth; /* of the objects that contain them; 0: none was read */
    int role;                   /* of the last message */
    int turn_role;              /* of the open turn; -1: none */
    int turn_class, said_class; /* of the previous turn, and of the last message in it with more than thoughts */
    int said_now;               /* the class of that message in the open turn; 0: none yet */
    int last_class;             /* of the last message */
    bool is_mixed;              /* the open turn has messages of several roles */
    int64_t last_spoken;        /* the last message that is empty or has more than calls, results and thoughts */
    int64_t answer_message;     /* of the first result of the turn */
    bool turn_calls, turn_results, has_messages, is_waiting, is_asking, called_in_turn, row_spoke, is_in_loop, is_loop_bare;
    bool ends_in_thinking, has_open_reasoning, has_reasoning_id, is_reasoned, has_unreasoned_call;
} Reader;

/* Read a line. False if it has no facts, also for a lack of memory. */
bool read_line(Reader *reader, At at, At end);
bool open_reader(Reader *reader);
void close_reader(Reader *reader);

/* Clear everything that belongs to a line. */
void forget_line(Reader *reader);
/* Hash the keys of the objects of a line, independent of their order. */
uint64_t hash_seen(const Reader *reader);
/* Read an object with all values below it. NULL: the line has no facts. */
At read_object_by(Reader *reader, const Object *object, At at, At end, Frame *frame, int depth);
/* Add a message after its object and pieces were read. False: it has no facts. */
bool add_message(Reader *reader, const Object *object, Frame *frame);
bool add_item(Reader *reader, const Object *object, Frame *frame);
bool add_text_message(Reader *reader, const Text *text);
bool end_conversation(Reader *reader);
/* Add a piece of a message: an object by its kind. False: the kind is unknown, or the keys do not fit it. */
bool add_piece_of(Reader *reader, const Object *object, Frame *frame);
bool settle_kind(Reader *reader, const Object *object, Frame *frame, const Kind **kind);
void note_seen(Reader *reader, int place, uint64_t seen);

/* Add a name to a summary. */
void add_name(Reader *reader, Names *names, const Text *name);
/* Set `is_new` to whether an id occurs for the first time; `salt` separates the ids of calls, items and tools.
   False: there are too many ids. */
bool is_new_id(Reader *reader, const Text *id, unsigned salt, bool *is_new);

/* Whether a text is empty or white space, as defined by `str.strip`, in a value of at most 64 bytes. */
typedef enum { HAS_WORDS, IS_EMPTY, IS_WHITE } Blankness;
Blankness blankness_of(const Text *text);
bool is_trailing(const Text *text);
bool may_hold_call(const Text *text);

#endif
