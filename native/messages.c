/* The messages of a request, made into what the exact way makes of them. See `carrying/swift.py`.

   This file owns the making of messages that are of the plainest shape, as the wires here read them; whatever else
   stands among them is handed over as it is written, once it is known to be plain JSON. It refuses to judge: what it
   makes is, value for value, what the carrier of the wire makes. */

#include "wires.h"

/* What Python hands over, in the order of `carrying/swift.py`. */
enum {
    MESSAGE, CALL_TYPE, RESULT_TYPE, TEXT_TYPE, /* the types, and for each a row of values to begin with */
    MESSAGE_ROW, CALL_ROW, RESULT_ROW, TEXT_ROW, /* the last is for texts that end in white space */
    WHOLE, TRAILING, /* the texts of whole contents, shared by all */
    ROLES,           /* neutral and as written, by bit */
    PLACES, PIECES, TEXTS, /* kept: of messages, of what stands in them, and the texts there */
    KEYS,            /* of a message, and of what stands in it */
    CONTENTS,        /* a text, nothing, null, parts */
    HOLDS_CALL, IS_PLACEHOLDER, OPENS, ENDING, /* asked of texts; those that no letter of `OPENS` begins are none */
    KIT,
};

typedef struct {
    const Wire *wire;
    PyObject *kit, *record;
    At start, end;
    Message said;
    unsigned char *letters; /* one a message, as `turnlint.model.Outline` has them */
    size_t room;
    bool outlined; /* all messages have one */
} Reader;

static PyObject *from(const Reader *self, int what) { return PyTuple_GetItem(self->kit, what); }

/* A new value of a type. Takes the row, whose values it is made of; an error where there is none. */
static PyObject *make(const Reader *self, int type, PyObject *row)
{
    PyObject *made = row ? PyObject_Call(from(self, type), row, NULL) : NULL;
    Py_XDECREF(row);
    return made;
}

/* A slice of all of it would be the row itself. */
static PyObject *copy(PyObject *row)
{
    Py_ssize_t size = PyTuple_Size(row);
    PyObject *made = PyTuple_New(size);
    for (Py_ssize_t i = 0; made && i < size; i++)
        PyTuple_SetItem(made, i, Py_NewRef(PyTuple_GetItem(row, i)));
    return made;
}

/* Puts a value into a row that was copied; false where either is missing. */
static bool put(PyObject *row, Py_ssize_t at, PyObject *value)
{
    if (row && value)
        return PyTuple_SetItem(row, at, value) == 0;
    Py_XDECREF(value);
    return false;
}

static PyObject *number_of(PyObject *key, size_t number)
{
    return Py_BuildValue("(On)", key, (Py_ssize_t)number);
}

enum { MOST_KEPT = 1 << 10 };

/* A place of so many, kept for the next message that needs it. */
static PyObject *place_of(const Reader *self, int kept, Py_ssize_t key, size_t number)
{
    PyObject *list = from(self, kept), *name = PyTuple_GetItem(from(self, KEYS), key);
    Py_ssize_t count = PyList_Size(list);
    if ((Py_ssize_t)number < count)
        return Py_NewRef(PyList_GetItem(list, (Py_ssize_t)number));
    PyObject *place = number_of(name, number);
    if (place && (Py_ssize_t)number == count && count < MOST_KEPT && PyList_Append(list, place) < 0)
        Py_CLEAR(place);
    return place;
}

/* What a text says, as bytes or as a string. */
static PyObject *said_in(const Text *text, bool decoded)
{
    PyObject *made;
    const char *bytes = (const char *)text->start;
    size_t size = length(text);
    unsigned char *room = NULL;
    if (!text->plain) {
        room = PyMem_Malloc(size);
        if (!room)
            return PyErr_NoMemory();
        size = unescape(text, room);
        bytes = (const char *)room;
    }
    made = decoded ? PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)size, NULL)
                   : PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
    PyMem_Free(room);
    return made;
}

static PyObject *as_written(const Text *text)
{
    return PyBytes_FromStringAndSize((const char *)text->start - 1, text->end - text->start + 2);
}

/* Whether a text is more than white space, at a glance. A longer one always is, as `carrying.raws` has it. */
static bool is_said(const Text *text) { return length(text) + 2 > 64 || has_letter(text); }

static bool holds_call(const Reader *self, const Text *text)
{
    PyObject *raw = as_written(text);
    PyObject *found = raw ? PyObject_CallFunctionObjArgs(from(self, HOLDS_CALL), raw, NULL) : NULL;
    bool none = found == Py_None;
    Py_XDECREF(raw);
    Py_XDECREF(found);
    return !none;
}

/* A text where a content is one, or in a list of pieces. */
static PyObject *make_text(Reader *self, const Text *text, bool listed, size_t number)
{
    if (!is_said(text) || (text->marked && self->said.role == ASSISTANT && holds_call(self, text)))
        return NULL;
    bool trails = trails_off(text);
    if (!listed)
        return Py_NewRef(from(self, trails ? TRAILING : WHOLE));
    PyObject *kept = from(self, TEXTS), *row, *made;
    if (!trails && (Py_ssize_t)number < PyList_Size(kept))
        return Py_NewRef(PyList_GetItem(kept, (Py_ssize_t)number));
    row = trails ? copy(from(self, TEXT_ROW)) : PyTuple_New(1);
    if (!put(row, 0, place_of(self, PIECES, 1, number)))
        Py_CLEAR(row);
    made = make(self, TEXT_TYPE, row);
    if (made && !trails && (Py_ssize_t)number == PyList_Size(kept) && number < MOST_KEPT
        && PyList_Append(kept, made) < 0)
        Py_CLEAR(made);
    return made;
}

/* Arguments that a text holds, once they are known to be a plain object. */
static PyObject *arguments(const Text *text)
{
    PyObject *made = said_in(text, false);
    if (!made)
        return NULL;
    At at = (At)PyBytes_AsString(made), end = at + PyBytes_Size(made);
    at = skip_space(at, end);
    at = at < end && *at == '{' ? read_value(at, end, 0) : NULL;
    if (!at || skip_space(at, end) != end)
        Py_CLEAR(made);
    return made;
}

/* The rows of calls and results begin alike: place, keys, id, name, body. */
static PyObject *make_call(Reader *self, const Piece *call, size_t number)
{
    PyObject *row = copy(from(self, CALL_ROW));
    bool fine = put(row, 0, place_of(self, PIECES, 1, number)) && put(row, 2, said_in(&call->id, true))
                && put(row, 3, said_in(&call->name, true))
                && put(row, 4, call->in_place ? PyBytes_FromStringAndSize((const char *)call->body.start,
                                                                        call->body.end - call->body.start)
                                             : arguments(&call->body));
    if (!fine)
        Py_CLEAR(row);
    return make(self, CALL_TYPE, row);
}

/* Whether a repair may have written it: only then it is asked. */
static PyObject *is_placeholder(const Reader *self, const Text *text, PyObject *body)
{
    unsigned char first = text->start < text->end ? *text->start : 0;
    if (!PyBytes_AsString(from(self, OPENS))[first])
        return Py_NewRef(Py_False);
    return PyObject_CallFunctionObjArgs(from(self, IS_PLACEHOLDER), body, NULL);
}

enum { ERROR = 9, STATE = 11, SYNTHETIC = 12 }; /* in the row of a result */

static PyObject *make_result(Reader *self, const Piece *result, bool listed, size_t number)
{
    if (!listed && !is_said(&result->body))
        return NULL; /* its message has a word for that */
    PyObject *row = copy(from(self, RESULT_ROW)), *body = as_written(&result->body);
    bool fine = (!listed || put(row, 0, place_of(self, PIECES, 1, number))) && put(row, 2, said_in(&result->id, true))
                && (!result->name.start || put(row, 3, said_in(&result->name, true))) && body
                && put(row, SYNTHETIC, is_placeholder(self, &result->body, body)) && put(row, 4, Py_NewRef(body));
    if (fine && result->failed)
        fine = put(row, ERROR, PyBool_FromLong(result->failed == WENT_WRONG));
    if (fine && result->failed == WENT_WRONG)
        fine = put(row, STATE, PyObject_CallFunctionObjArgs(from(self, ENDING), body, NULL));
    Py_XDECREF(body);
    if (!fine)
        Py_CLEAR(row);
    return make(self, RESULT_TYPE, row);
}

/* Calls of a wire whose messages list them beside their content are numbered apart, and come last. */
static PyObject *make_blocks(Reader *self)
{
    const Message *said = &self->said;
    bool listed = said->listed;
    PyObject *blocks = PyTuple_New((Py_ssize_t)said->count), *block;
    Py_ssize_t place = 0;
    for (int pass = 0; blocks && pass < (listed ? 1 : 2); pass++) {
        size_t number = 0;
        for (size_t i = 0; blocks && i < said->count; i++) {
            const Piece *piece = &said->pieces[i];
            if (!listed && (piece->kind == CALL) != (pass == 1))
                continue;
            block = piece->kind == SAID     ? make_text(self, &piece->body, listed, number)
                    : piece->kind == CALL   ? make_call(self, piece, number)
                    : piece->kind == RESULT ? make_result(self, piece, listed, number) : NULL;
            number++;
            if (!block || PyTuple_SetItem(blocks, place++, block) < 0)
                Py_CLEAR(blocks);
        }
    }
    return blocks;
}

/* What a message needs of those who take it, where it is made here none the less. */
enum { HARMLESS = LAX_ABSENT | LAX_NULL | LAX_EXTRAS | LAX_CACHE };

static bool is_plain(const Message *said)
{
    if (said->needs & ~(unsigned)HARMLESS)
        return false;
    for (size_t i = 0; i < said->count; i++)
        if (said->pieces[i].kind == MEDIA || (said->pieces[i].kind == CALL && said->role != ASSISTANT))
            return false;
    return true;
}

static int role_number(const Message *said)
{
    int bit = 0;
    while (!(said->role >> bit & 1))
        bit++;
    return bit;
}

static int content_of(const Message *said)
{
    return said->listed ? 3 : said->needs & LAX_NULL ? 2 : said->needs & LAX_ABSENT ? 1 : 0;
}

enum { BLOCKS_AT = 2, EMPTY = 11, CONTENT = 12 }; /* in the row of a message */

static PyObject *make_message(Reader *self, size_t number)
{
    const Message *said = &self->said;
    PyObject *blocks = is_plain(said) ? make_blocks(self) : NULL;
    if (!blocks)
        return NULL;
    PyObject *row = copy(from(self, MESSAGE_ROW)), *roles = PyTuple_GetItem(from(self, ROLES), role_number(said));
    bool fine = put(row, BLOCKS_AT, blocks) && put(row, 0, Py_NewRef(PyTuple_GetItem(roles, 0)))
                && put(row, 4, Py_NewRef(PyTuple_GetItem(roles, 1))) && put(row, 3, Py_NewRef(self->record))
                && put(row, 1, place_of(self, PLACES, 0, number))
                && put(row, EMPTY, PyBool_FromLong(!said->count && (said->role & (USER | ASSISTANT))))
                && put(row, CONTENT, Py_NewRef(PyTuple_GetItem(from(self, CONTENTS), content_of(said))));
    if (!fine)
        Py_CLEAR(row);
    return make(self, MESSAGE, row);
}

enum { CALLED = 8, ANSWERED = 16, CONTENT_BITS = 5, SILENT = 128 };

/* Notes what is in a message. False where that takes more than a letter. */
static bool note(Reader *self, size_t number)
{
    const Message *said = &self->said;
    unsigned letter = (unsigned)content_of(said) << CONTENT_BITS | (said->count ? 0 : SILENT);
    if (said->needs & (LAX_EXTRAS | LAX_CACHE))
        return false;
    if (number >= self->room) {
        size_t room = self->room ? self->room * 4 : 64;
        unsigned char *letters = PyMem_Realloc(self->letters, room);
        if (!letters)
            return false;
        self->letters = letters;
        self->room = room;
    }
    for (size_t i = 0; i < said->count; i++)
        letter |= said->pieces[i].kind == CALL ? CALLED : said->pieces[i].kind == RESULT ? ANSWERED : 0;
    self->letters[number] = (unsigned char)(letter | (unsigned)role_number(said));
    return true;
}

/* The message at a place, or its bytes, whose number is then noted; gives the place behind it. */
static At take(Reader *self, At at, PyObject *messages, PyObject *odd)
{
    Py_ssize_t number = PyList_Size(messages);
    PyObject *one = NULL;
    At after = self->wire->read(at, self->end, &self->said, NULL);
    if (after)
        one = make_message(self, (size_t)number);
    if (!one && PyErr_Occurred())
        return NULL;
    if (!one) {
        after = read_value(at, self->end, 0);
        PyObject *place = after ? PyLong_FromSsize_t(number) : NULL;
        if (place && PyList_Append(odd, place) == 0)
            one = PyBytes_FromStringAndSize((const char *)at, after - at);
        Py_XDECREF(place);
    }
    /* Once a letter is missing, none is noted: there is room for one after the other alone. */
    self->outlined = self->outlined && one && PyList_Size(odd) == 0 && note(self, (size_t)number);
    bool kept = one && PyList_Append(messages, one) == 0;
    Py_XDECREF(one);
    return kept ? after : NULL;
}

static At take_all(Reader *self, At at, PyObject *messages, PyObject *odd)
{
    bool more;
    at = enter(at, self->end, '[', ']', &more);
    while (at && more) {
        at = take(self, at, messages, odd);
        if (at)
            at = onward(at, self->end, ']', &more);
    }
    return at;
}

/* What stands around the messages, they, the numbers of those that are handed over as bytes, and the outline. */
static PyObject *read_all(Reader *self)
{
    At from = find_messages(self->start, self->end);
    if (!from)
        return NULL;
    PyObject *messages = PyList_New(0), *odd = PyList_New(0), *shell = NULL;
    At to = messages && odd ? take_all(self, from, messages, odd) : NULL;
    if (to)
        shell = shell_of(self->start, from, to, self->end);
    if (shell)
        return Py_BuildValue("(NNNy#)", shell, messages, odd, self->letters ? (char *)self->letters : "",
                             self->outlined ? PyList_Size(messages) : (Py_ssize_t)0);
    Py_XDECREF(messages);
    Py_XDECREF(odd);
    return NULL;
}

enum { LONGEST = 1 << 24 }; /* what is handed over as bytes is held twice, which of a long record is too much */

/* Nothing where the record is not plain, or no object with a list of messages. */
PyObject *read_messages(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *name;
    PyObject *record, *kit, *data;
    char *start;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "SsO!O", &data, &name, &PyTuple_Type, &kit, &record)
        || PyBytes_AsStringAndSize(data, &start, &size) < 0)
        return NULL;
    if (PyTuple_Size(kit) != KIT) {
        PyErr_SetString(PyExc_ValueError, "a kit of another size");
        return NULL;
    }
    Reader self = {.wire = wire_of(name), .kit = kit, .record = record, .start = (At)start, .end = (At)start + size,
                   .outlined = true};
    if (!self.wire)
        return NULL;
    PyObject *found = size < LONGEST ? read_all(&self) : NULL;
    drop_pieces(&self.said);
    PyMem_Free(self.letters);
    return found || PyErr_Occurred() ? found : Py_NewRef(Py_None);
}
