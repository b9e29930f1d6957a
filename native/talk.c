#include "talk.h"

#include <stdlib.h>

enum {
    LONGEST_BLANK = 64, /* a longer text is never blank, as `carrying.raws` has it */
    FIRST_MASK = 63,
    LARGE_MASK = 4095,
    MOST_STEPS = 512, /* ids that were made to meet in one place of the table are read the exact way */
    MOST_WAITING = 64,
};

static bool grow(void **some, size_t *room, size_t need, size_t size)
{
    if (need <= *room)
        return true;
    size_t wanted = *room ? *room : 16;
    while (wanted < need)
        wanted *= 2;
    void *grown = realloc(*some, wanted * size);
    if (!grown)
        return false;
    *some = grown;
    *room = wanted;
    return true;
}

bool add_piece(Message *said, Piece piece)
{
    if (!grow((void **)&said->pieces, &said->room, said->count + 1, sizeof(Piece)))
        return false;
    said->pieces[said->count++] = piece;
    return true;
}

void drop_pieces(Message *said)
{
    free(said->pieces);
    memset(said, 0, sizeof(Message));
}

void let_go(Talk *talk)
{
    free(talk->kept);
    free(talk->asked);
    free(talk->table);
    memset(talk, 0, sizeof(Talk));
}

void rest(Talk *talk)
{
    Talk now = *talk;
    let_go(talk);
    talk->messages = now.messages;
    talk->role = now.role, talk->roles = now.roles;
    talk->trails = now.trails, talk->spoke = now.spoke;
}

void forget(Talk *talk)
{
    if (talk->mask > LARGE_MASK)
        let_go(talk);
    if (talk->count)
        memset(talk->table, 0, (talk->mask + 1) * sizeof(uint32_t));
    talk->used = talk->count = talk->answered = talk->messages = 0;
    talk->role = talk->roles = 0;
    talk->trails = talk->spoke = false;
}

/* Asks Python about a text; its answer is yes or no. An error is left for the caller of all to find. */
static bool ask(PyObject *whom, At start, At end, bool decoded)
{
    const char *bytes = (const char *)start;
    if (PyErr_Occurred())
        return false;
    PyObject *what = decoded ? PyUnicode_DecodeUTF8(bytes, end - start, NULL)
                             : PyBytes_FromStringAndSize(bytes, end - start);
    PyObject *answer = what ? PyObject_CallFunctionObjArgs(whom, what, NULL) : NULL;
    Py_XDECREF(what);
    bool yes = answer && PyObject_IsTrue(answer) == 1;
    Py_XDECREF(answer);
    return yes;
}

void begin_message(Message *said)
{
    said->role = said->needs = 0;
    said->count = 0;
    said->listed = false;
    said->author = (Text){0};
}

bool speaks(Talk *talk, const Terms *terms, const Message *said)
{
    unsigned role = said->role;
    if (!(terms->roles & role) || (!talk->messages && terms->first && !(terms->first & role)))
        return false;
    if (said->needs & ~terms->lax)
        return false;
    talk->messages++;
    talk->role = role;
    talk->roles |= role;
    talk->trails = false;
    return true;
}

bool is_blank(const Terms *terms, const Text *text)
{
    if (length(text) + 2 > LONGEST_BLANK)
        return false;
    if (has_letter(text))
        return false;
    return text->start == text->end || !ask(terms->says_something, text->start - 1, text->end + 1, false);
}

bool says(const Terms *terms, const Text *text, unsigned role)
{
    if (is_blank(terms, text))
        return false;
    return role != ASSISTANT || !text->marked || !ask(terms->holds_call, text->start - 1, text->end + 1, false);
}

static uint64_t hash_of(const Text *id)
{
    uint64_t hash = 0xCBF29CE484222325u; /* FNV-1a */
    for (At at = id->start; at < id->end; at++)
        hash = (hash ^ *at) * 0x100000001B3u;
    hash = (hash ^ hash >> 33) * 0xFF51AFD7ED558CCDu; /* mixed, for ids often count on */
    return hash ^ hash >> 33;
}

static Text kept_id(const Talk *talk, size_t number)
{
    At start = talk->kept + talk->asked[number].at;
    return (Text){start, start + talk->asked[number].id, true, false};
}

/* The free place in the table for an id; nothing where the id was met before, or none is near. */
static uint32_t *place_for(const Talk *talk, const Text *id)
{
    size_t at = hash_of(id) & talk->mask;
    for (int steps = 0; steps < MOST_STEPS; steps++, at = (at + 1) & talk->mask) {
        if (!talk->table[at])
            return &talk->table[at];
        Text other = kept_id(talk, talk->table[at] - 1);
        if (same(id, other.start, length(&other)))
            return NULL;
    }
    return NULL;
}

static bool widen(Talk *talk)
{
    if (talk->table && talk->count * 2 < talk->mask)
        return true;
    size_t mask = talk->table ? talk->mask * 4 + 3 : FIRST_MASK;
    uint32_t *table = mask < UINT32_MAX ? calloc(mask + 1, sizeof(uint32_t)) : NULL;
    if (!table)
        return false;
    free(talk->table);
    talk->table = table;
    talk->mask = mask;
    for (size_t i = 0; i < talk->count; i++) {
        Text id = kept_id(talk, i);
        uint32_t *place = place_for(talk, &id);
        if (!place)
            return false;
        *place = (uint32_t)i + 1;
    }
    return true;
}

/* Notes a call under its id. Nothing of the window is needed any more then. */
static bool keep(Talk *talk, const Piece *call)
{
    size_t id = length(&call->id), name = length(&call->name);
    if (id > UINT32_MAX || name > UINT32_MAX || !widen(talk))
        return false;
    if (!grow((void **)&talk->kept, &talk->room, talk->used + id + name, 1)
        || !grow((void **)&talk->asked, &talk->asked_room, talk->count + 1, sizeof(Asked)))
        return false;
    uint32_t *place = place_for(talk, &call->id);
    if (!place)
        return false;
    memcpy(talk->kept + talk->used, call->id.start, id);
    memcpy(talk->kept + talk->used + id, call->name.start, name);
    talk->asked[talk->count++] = (Asked){talk->used, (uint32_t)id, (uint32_t)name, false};
    talk->used += id + name;
    *place = (uint32_t)talk->count;
    return true;
}

static bool is_id(const Terms *terms, const Text *id)
{
    if (!id->plain || id->start == id->end || (Py_ssize_t)length(id) > terms->longest_id)
        return false;
    for (At at = id->start; at < id->end; at++)
        if (*at >= 0x80 || (terms->has_letters && !terms->letters[*at]))
            return false;
    if (terms->has_letters && length(id) > LONGEST_WORD)
        return true;
    return ask(terms->takes_id, id->start, id->end, true);
}

static bool is_name(Terms *terms, const Text *name)
{
    size_t size = length(name);
    if (!name->plain || !size)
        return false;
    Name *known = &terms->known[hash_of(name) % NAMES];
    if (same(name, known->letters, known->size))
        return true;
    if (!ask(terms->takes_name, name->start, name->end, true))
        return false;
    if (size <= sizeof(known->letters)) {
        memcpy(known->letters, name->start, size);
        known->size = size;
    }
    return true;
}

bool may_be_author(const Terms *terms, const Text *name)
{
    return name->plain && ask(terms->takes_author, name->start, name->end, true);
}

bool asks(Talk *talk, Terms *terms, const Piece *call)
{
    return terms->calls && is_id(terms, &call->id) && is_name(terms, &call->name) && keep(talk, call);
}

static bool is_answer(const Talk *talk, const Asked *call, const Piece *result)
{
    At id = talk->kept + call->at;
    return !call->done && same(&result->id, id, call->id)
           && (!result->name.start || same(&result->name, id + call->id, call->name));
}

bool answers(Talk *talk, const Piece *result)
{
    if (!waits(talk) || !result->id.plain || !is_answer(talk, &talk->asked[talk->answered], result))
        return false;
    talk->answered++;
    return true;
}

bool answers_any(Talk *talk, const Piece *result)
{
    size_t at = talk->answered, last = talk->count - at < MOST_WAITING ? talk->count : at + MOST_WAITING;
    while (at < last && !(result->id.plain && is_answer(talk, &talk->asked[at], result)))
        at++;
    if (at == last)
        return false;
    talk->asked[at].done = true;
    while (waits(talk) && talk->asked[talk->answered].done)
        talk->answered++;
    return true;
}

bool trails_off(const Text *text)
{
    if (text->start == text->end)
        return false;
    unsigned char last = text->end[-1];
    if (last == ' ')
        return true;
    return length(text) >= 2 && text->end[-2] == '\\' && (last == 'n' || last == 't' || last == 'r');
}

bool is_whole(const Talk *talk, const Terms *terms)
{
    if (!talk->messages || waits(talk) || (Py_ssize_t)talk->messages > terms->most_messages)
        return false;
    if ((terms->last && !(terms->last & talk->role)) || (terms->needs && !(terms->needs & talk->roles)))
        return false;
    return terms->spaced_end || !talk->trails;
}
