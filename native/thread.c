/* What one writer says in one session, while its lines go by in the order of the file.

   This file owns which trees are followed, those that have one meaning: each line hangs on the one before it, or on the last that spoke, or a
   result on its own call among parallel ones. What else a tree may be is for `carriers/claude_code.py`, by which this
   is sound exactly where nothing is left behind. It refuses to know how a line is written. */

#include "sessions.h"

#include <stdlib.h>

enum {
    MOST_STEPS = 512, /* of a table that is half full no chance run is that long, but one that was made */
    FIRST_ROOM = 1024,
    MOST_PIECES = 4096,
};

uint64_t hash_text(const Text *text, uint64_t salt)
{
    uint64_t hash = salt ^ length(text), word = 0;
    for (At at = text->start; at < text->end; at += 8) {
        size_t left = (size_t)(text->end - at);
        word = 0;
        memcpy(&word, at, left < 8 ? left : 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    hash *= 0xFF51AFD7ED558CCDu;
    return hash ^ hash >> 32;
}

static uint64_t *slot_for(const Met *met, uint64_t number)
{
    size_t at = number & met->mask;
    for (int steps = 0; steps < MOST_STEPS; steps++, at = (at + 1) & met->mask)
        if (!met->slots[at] || met->slots[at] == number)
            return &met->slots[at];
    return NULL;
}

static bool widen(Met *met)
{
    size_t mask = met->slots ? met->mask * 2 + 1 : FIRST_ROOM - 1;
    Met wider = {calloc(mask + 1, sizeof(uint64_t)), met->count, mask};
    if (!wider.slots)
        return false;
    for (size_t i = 0; met->slots && i <= met->mask; i++) {
        uint64_t *slot = met->slots[i] ? slot_for(&wider, met->slots[i]) : NULL;
        if (slot)
            *slot = met->slots[i];
        else if (met->slots[i]) {
            free(wider.slots);
            return false;
        }
    }
    free(met->slots);
    *met = wider;
    return true;
}

bool meet(Met *met, uint64_t number)
{
    number += !number;
    if ((!met->slots || met->count * 2 > met->mask) && !widen(met))
        return false;
    uint64_t *slot = slot_for(met, number);
    if (!slot || *slot)
        return false;
    *slot = number;
    met->count++;
    return true;
}

bool has_met(const Met *met, uint64_t number)
{
    number += !number;
    if (!met->slots)
        return false;
    const uint64_t *slot = slot_for(met, number);
    return !slot || *slot;
}

static void keep(Kept *kept, const Text *text)
{
    kept->size = text->start ? length(text) : 0;
    if (kept->size)
        memcpy(kept->bytes, text->start, kept->size);
}

static bool is_kept(const Kept *kept, const Text *text)
{
    return text->start && kept->size && same(text, kept->bytes, kept->size);
}

/* Whether a piece of an answer is no older than the one before it, so that the order of their times is that of the file. */
static bool is_later(Thread *thread, const Text *time)
{
    size_t size = time->start ? length(time) : 0, least = size < thread->time.size ? size : thread->time.size;
    int order = least ? memcmp(time->start, thread->time.bytes, least) : 0;
    if (order < 0 || (order == 0 && size < thread->time.size))
        return false;
    keep(&thread->time, time);
    return true;
}

static bool is_piece(const Thread *thread, const Text *id)
{
    for (size_t i = thread->count; i-- > 0;)
        if (is_kept(&thread->pieces[i], id))
            return true;
    return false;
}

bool is_near(const Thread *thread, const Text *id)
{
    return is_kept(&thread->tip, id) || is_kept(&thread->voice, id) || is_piece(thread, id);
}

static bool add_to_response(Thread *thread, const Text *id)
{
    if (thread->count == thread->room) {
        size_t room = thread->room ? thread->room * 2 : 4;
        Kept *pieces = room <= MOST_PIECES ? realloc(thread->pieces, room * sizeof(Kept)) : NULL;
        if (!pieces)
            return false;
        thread->pieces = pieces;
        thread->room = room;
    }
    keep(&thread->pieces[thread->count++], id);
    return true;
}

static bool are_all(const Message *said, Kind kind)
{
    for (size_t i = 0; i < said->count; i++)
        if (said->pieces[i].kind != kind)
            return false;
    return true;
}

static bool is_same_response(const Thread *thread, const Line *line)
{
    return line->response.start && is_kept(&thread->response, &line->response);
}

/* Whether a line hangs where it has one meaning. */
static bool hangs(Thread *thread, const Line *line)
{
    if (!line->parent.start || !thread->begun)
        return !line->parent.start && !thread->begun;
    bool results = line->said && line->message.role == USER && are_all(&line->message, RESULT);
    if (is_kept(&thread->tip, &line->parent)) {
        thread->chained |= results && thread->open && !is_piece(thread, &line->parent);
        return true;
    }
    thread->forked = true;
    if (is_kept(&thread->voice, &line->parent))
        return !results || is_piece(thread, &line->parent);
    /* Parallel calls: each result hangs on its own, and the next piece on the one before. */
    if (!line->said || line->aside || !thread->open || thread->chained || thread->shuffled
        || !is_piece(thread, &line->parent))
        return false;
    thread->spread = true;
    return results || (is_same_response(thread, line) && are_all(&line->message, CALL));
}

static bool takes_results(Talk *talk, const Terms *terms, const Message *said, size_t *count)
{
    while (*count < said->count && said->pieces[*count].kind == RESULT) {
        const Piece *result = &said->pieces[(*count)++];
        if (!answers_any(talk, result) || !takes_body(terms, result))
            return false;
    }
    return *count == said->count || !waits(talk);
}

static bool user_says(Thread *thread, const Terms *terms, const Message *said, unsigned before)
{
    Talk *talk = &thread->talk;
    size_t at = 0;
    if (!takes_results(talk, terms, said, &at) || (!at && waits(talk)))
        return false;
    if (at && (before == USER || thread->forked) && !(terms->lax & LAX_APART))
        return false;
    for (; at < said->count; at++) {
        const Piece *piece = &said->pieces[at];
        if (piece->kind != MEDIA && (piece->kind != SAID || !says(terms, &piece->body, USER)))
            return false;
    }
    return true;
}

static bool calls(Thread *thread, Terms *terms, Met *met, uint64_t salt, const Piece *call)
{
    thread->talk.spoke = true;
    thread->asked++;
    return call->kind == CALL && (Py_ssize_t)++thread->calls <= terms->most_calls
           && meet(met, hash_text(&call->id, ~salt)) && asks(&thread->talk, terms, call);
}

static bool assistant_says(Thread *thread, Terms *terms, Met *met, uint64_t salt, const Message *said)
{
    Talk *talk = &thread->talk;
    size_t at = 0;
    for (; at < said->count && said->pieces[at].kind != CALL; at++) {
        const Piece *piece = &said->pieces[at];
        bool thought = piece->kind == THOUGHT;
        if (waits(talk) || (!thought && (piece->kind != SAID || !says(terms, &piece->body, ASSISTANT))))
            return false;
        if (thought && talk->spoke && !(terms->lax & LAX_ODD_THOUGHT))
            return false;
        talk->spoke |= !thought;
        talk->trails = !thought && trails_off(&piece->body);
    }
    for (; at < said->count; at++)
        if (!calls(thread, terms, met, salt, &said->pieces[at]))
            return false;
    return true;
}

/* Whether what an answer says behind results stands behind all of them. Then nothing may hang on its earlier pieces. */
static bool is_behind_all(Thread *thread, const Line *line)
{
    if (thread->talk.role != USER || is_piece(thread, &line->parent))
        return true;
    thread->count = 0;
    return !thread->spread && !waits(&thread->talk);
}

/* A new answer of the API, or more of the one that was begun. */
static bool is_response(Thread *thread, Met *met, uint64_t salt, const Line *line)
{
    if (!is_same_response(thread, line)) {
        bool joins = thread->talk.role == ASSISTANT;
        if ((!joins || thread->spread) && waits(&thread->talk))
            return false;
        if (line->response.start && !meet(met, hash_text(&line->response, salt)))
            return false;
        keep(&thread->response, &line->response);
        thread->calls = joins ? thread->calls : 0;
        thread->count = thread->time.size = 0;
        thread->shuffled = thread->spread = false;
    } else if (!is_behind_all(thread, line)) {
        return false;
    }
    thread->open = line->response.start != NULL;
    thread->chained = false;
    thread->shuffled |= !is_later(thread, &line->time);
    if (!are_all(&line->message, CALL)) /* beside what the next line hangs on may stand calls alone */
        thread->count = 0;
    return !(thread->shuffled && thread->forked) && add_to_response(thread, &line->id);
}

static bool says_more(Thread *thread, Terms *terms, Met *met, uint64_t salt, const Line *line)
{
    const Message *said = &line->message;
    unsigned before = thread->talk.role;
    if (said->role == ASSISTANT && !is_response(thread, met, salt, line))
        return false;
    if (!speaks(&thread->talk, terms, said))
        return false;
    if (said->role == USER) {
        thread->open = thread->open && are_all(said, RESULT);
        return user_says(thread, terms, said, before);
    }
    thread->talk.spoke = thread->talk.spoke && before == ASSISTANT;
    return assistant_says(thread, terms, met, salt, said);
}

bool hangs_on(Thread *thread, Terms *terms, Met *met, uint64_t salt, const Line *line)
{
    if (!hangs(thread, line))
        return false;
    thread->begun = true;
    keep(&thread->tip, &line->id);
    if (!line->speaks)
        return true;
    keep(&thread->voice, &line->id);
    thread->aside = line->aside;
    if (!line->said) {
        thread->open = false;
        return true;
    }
    return says_more(thread, terms, met, salt, line);
}

bool may_end(const Thread *thread, const Terms *terms)
{
    return is_whole(&thread->talk, terms) && !(thread->forked && thread->aside);
}

void leave_thread(Thread *thread)
{
    if (!waits(&thread->talk))
        rest(&thread->talk);
    Kept *pieces = thread->count < thread->room ? realloc(thread->pieces, (thread->count + 1) * sizeof(Kept)) : NULL;
    if (pieces) {
        thread->pieces = pieces;
        thread->room = thread->count + 1;
    }
}

void drop_thread(Thread *thread)
{
    let_go(&thread->talk);
    free(thread->pieces);
    memset(thread, 0, sizeof(Thread));
}
