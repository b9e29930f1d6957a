/* Define the Python type that scans windows of a log for facts. */

#include "session.h"

/* The last text of a column, as Python has it. */
typedef struct {
    PyObject *text;
    const char *letters;
    Py_ssize_t size;
} LastText;

typedef struct {
    PyObject_HEAD
    Reader *reader;
    uint64_t *known; /* envelopes and sets of keys that Python has seen */
    size_t known_count;
    Session session;
    PyObject *windows; /* those that the texts of the session are in */
    LastText last[MAX_COLUMNS];
} FactScanner;

enum { KNOWN_SLOTS = 1 << 15, MAX_KNOWN = 24000 };

/* Whether a hash occurs for the first time. A full table is cleared. */
static bool is_unknown(FactScanner *self, uint64_t hash)
{
    hash |= 1;
    size_t slot = hash >> 20 & (KNOWN_SLOTS - 1);
    for (; self->known[slot]; slot = (slot + 1) & (KNOWN_SLOTS - 1))
        if (self->known[slot] == hash)
            return false;
    if (self->known_count == MAX_KNOWN) {
        memset(self->known, 0, KNOWN_SLOTS * sizeof *self->known);
        self->known_count = 0;
    }
    self->known[slot] = hash;
    self->known_count++;
    return true;
}

static PyObject *take_envelope(FactScanner *self)
{
    const Reader *reader = self->reader;
    if (!is_unknown(self, reader->facts.envelope))
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize((const char *)reader->envelope, (Py_ssize_t)reader->envelope_size);
}

/* Return the places of objects with the bits of their keys, if the set is new. */
static PyObject *take_keys(FactScanner *self)
{
    const Reader *reader = self->reader;
    if (!is_unknown(self, mix(reader->facts.keys, 1)))
        Py_RETURN_NONE;
    PyObject *found = PyTuple_New(reader->touched_count);
    for (int i = 0; found && i < reader->touched_count; i++) {
        int place = reader->touched[i];
        unsigned long long seen = reader->seen[place] & ~((uint64_t)1 << 63);
        PyTuple_SetItem(found, i, Py_BuildValue("iK", place, seen));
    }
    return found;
}

/* Return the words about tools that the provider runs, if they are new: (is a prefix, word). */
static PyObject *take_servers(FactScanner *self)
{
    const Reader *reader = self->reader;
    if (!reader->server_word_count || !is_unknown(self, mix(reader->facts.servers, 2)))
        Py_RETURN_NONE;
    PyObject *found = PyTuple_New(reader->server_word_count);
    for (int i = 0; found && i < reader->server_word_count; i++) {
        const Text *word = &reader->server_words[i];
        PyTuple_SetItem(found, i, Py_BuildValue("iy#", word->marked, word->start, (Py_ssize_t)length(word)));
    }
    return found;
}

static PyObject *build_row(FactScanner *self, Py_ssize_t start, Py_ssize_t end)
{
    const Reader *reader = self->reader;
    PyObject *facts = PyBytes_FromStringAndSize((const char *)&reader->facts, sizeof reader->facts);
    PyObject *envelope = facts ? take_envelope(self) : NULL;
    PyObject *keys = envelope ? take_keys(self) : NULL;
    PyObject *servers = keys ? take_servers(self) : NULL;
    if (!servers) {
        Py_XDECREF(keys);
        Py_XDECREF(facts);
        Py_XDECREF(envelope);
        return NULL;
    }
    return Py_BuildValue("(NnniiiiNNN)", facts, start, end, (int)reader->messages, reader->call_count, (int)reader->results,
                         (int)reader->orphans, envelope, keys, servers);
}

/* Return a row for each line of a window: facts or None, start, end.

   A row with facts also has the numbers of messages, calls, results and orphans. The envelope, the keys of objects and
   the words about the provider's tools follow, each if it is new. */
static PyObject *scan(FactScanner *self, PyObject *window)
{
    char *start;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(window, &start, &size) < 0)
        return NULL;
    PyObject *rows = PyList_New(0);
    At at = (At)start, whole = at + size;
    while (rows && at < whole) {
        At end = memchr(at, '\n', (size_t)(whole - at));
        end = end ? end : whole;
        Py_ssize_t from = at - (At)start, to = end - (At)start;
        bool has_facts = to - from < MAX_LINE_BYTES && read_line(self->reader, at, end);
        PyObject *row = has_facts ? build_row(self, from, to) : Py_BuildValue("(Onn)", Py_None, from, to);
        if (!row || PyList_Append(rows, row) < 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
        at = end + 1;
    }
    return rows;
}

/* ---- sessions ---- */

/* Return a text of a column. Most lines have texts of the line before them. */
static PyObject *take_text(FactScanner *self, const Text *text, int column)
{
    const char *letters = (const char *)text->start;
    Py_ssize_t size = (Py_ssize_t)length(text);
    LastText *last = &self->last[column];
    if (!text->start)
        return Py_NewRef(Py_None);
    for (int i = 0; i < MAX_COLUMNS; i++)
        if (self->last[i].size == size && self->last[i].text && memcmp(self->last[i].letters, letters, (size_t)size) == 0) {
            PyObject *same_text = Py_NewRef(self->last[i].text);
            if (i != column) {
                Py_XDECREF(last->text);
                *last = self->last[i];
                Py_INCREF(last->text);
            }
            return same_text;
        }
    PyObject *found = PyUnicode_FromStringAndSize(letters, size);
    if (!found)
        return NULL;
    Py_XDECREF(last->text);
    last->text = Py_NewRef(found);
    last->letters = PyUnicode_AsUTF8AndSize(found, &last->size);
    if (!last->letters)
        Py_CLEAR(found);
    return found;
}

/* Return the ids of the calls, or of the results, of the last line. */
static PyObject *take_ids(const Reader *reader, bool are_results)
{
    Py_ssize_t count = 0;
    int piece_count = reader->has_said ? reader->piece_count : 0;
    int own = are_results ? PIECE_result : PIECE_call, server = are_results ? PIECE_server_result : PIECE_server_call;
    bool is_result = are_results && reader->has_said && reader->said.result_id.start; /* the message itself */
    for (int i = 0; i < piece_count; i++)
        count += reader->pieces[i].kind == own || reader->pieces[i].kind == server;
    PyObject *found = PyTuple_New(count + is_result);
    count = 0;
    if (found && is_result) {
        const Text *text = &reader->said.result_id;
        PyObject *id = PyUnicode_FromStringAndSize((const char *)text->start, (Py_ssize_t)length(text));
        if (!id || PyTuple_SetItem(found, count++, id) < 0)
            Py_CLEAR(found);
    }
    for (int i = 0; found && i < piece_count; i++) {
        const Piece *piece = &reader->pieces[i];
        if (piece->kind != own && piece->kind != server)
            continue;
        PyObject *id = piece->id.start ? PyUnicode_FromStringAndSize((const char *)piece->id.start, (Py_ssize_t)length(&piece->id)) : Py_NewRef(Py_None);
        if (!id) {
            Py_CLEAR(found);
            break;
        }
        PyTuple_SetItem(found, count++, id);
    }
    return found;
}

enum { FIXED_COLUMNS = 7 };

/* Return the row of the line that was read: start, end, number of its kind, number of its message or -1, flags, ids of
   calls and of results, columns. */
static PyObject *build_line(FactScanner *self, Py_ssize_t start, Py_ssize_t end, int columns, bool is_kept)
{
    const Reader *reader = self->reader;
    PyObject *row = PyTuple_New(FIXED_COLUMNS + columns);
    Py_ssize_t number = reader->has_said && is_kept ? (Py_ssize_t)self->session.count - 1 : -1;
    for (int i = 0; row && i < FIXED_COLUMNS + columns; i++) {
        PyObject *value = i == 0 ? PyLong_FromSsize_t(start)
            : i == 1             ? PyLong_FromSsize_t(end)
            : i == 2             ? PyLong_FromLong(reader->line_kind)
            : i == 3             ? PyLong_FromSsize_t(number)
            : i == 4             ? PyLong_FromLong((long)reader->flags)
            : i < FIXED_COLUMNS  ? take_ids(reader, i == 6)
                                 : take_text(self, &reader->columns[i - FIXED_COLUMNS], i - FIXED_COLUMNS);
        if (value)
            PyTuple_SetItem(row, i, value);
        else
            Py_CLEAR(row);
    }
    return row;
}

/* Read the lines of a window of a session: (window, tables of a line and of a message, number of columns, whether to keep the
   messages). Without a table of a line (-1), each line is a message.

   Return a row for each line; a line without facts has only its start and its end. */
static PyObject *scan_session(FactScanner *self, PyObject *args)
{
    PyObject *window;
    int table, message, columns, is_kept, count = self->reader->syntax.count;
    if (!PyArg_ParseTuple(args, "Siiip", &window, &table, &message, &columns, &is_kept))
        return NULL;
    if (table < -1 || table >= count || message < 0 || message >= count || columns < 0 || columns > MAX_COLUMNS) {
        PyErr_SetString(PyExc_ValueError, "the syntax has no such table");
        return NULL;
    }
    const Object *objects = self->reader->syntax.objects;
    PyObject *rows = PyList_New(0);
    At start = (At)PyBytes_AsString(window), at = start, whole = at + PyBytes_Size(window);
    if (is_kept && !self->windows)
        self->windows = PyList_New(0);
    if (is_kept && (!self->windows || PyList_Append(self->windows, window) < 0))
        Py_CLEAR(rows);
    while (rows && at < whole) {
        At end = memchr(at, '\n', (size_t)(whole - at));
        end = end ? end : whole;
        bool has_facts = end - at < MAX_LINE_BYTES && read_session_line(self->reader, table < 0 ? NULL : &objects[table], &objects[message], at, end)
            && (!is_kept || !self->reader->has_said || keep_message(&self->session, self->reader));
        PyObject *row = has_facts ? build_line(self, at - start, end - start, columns, is_kept) : Py_BuildValue("(nn)", at - start, end - start);
        if (!row || PyList_Append(rows, row) < 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
        at = end + 1;
    }
    return rows;
}

/* Return the facts of the conversation of some messages, as `scan` does: (numbers, table of a message). None without facts.

   A message with the number n is added without its pieces if the number is ~n. */
static PyObject *join(FactScanner *self, PyObject *args)
{
    PyObject *numbers;
    int table;
    Reader *reader = self->reader;
    if (!PyArg_ParseTuple(args, "O!i", &PyList_Type, &numbers, &table))
        return NULL;
    bool has_facts = table >= 0 && table < reader->syntax.count;
    forget_line(reader);
    for (Py_ssize_t i = 0; has_facts && i < PyList_Size(numbers); i++) {
        Py_ssize_t number = PyLong_AsSsize_t(PyList_GetItem(numbers, i));
        if (PyErr_Occurred())
            return NULL;
        size_t place = (size_t)(number < 0 ? ~number : number);
        has_facts = place < self->session.count
            && join_message(&self->session, reader, &reader->syntax.objects[table], place, number < 0);
    }
    if (!has_facts || !reader->messages || !end_conversation(reader))
        Py_RETURN_NONE;
    reader->facts.keys = hash_seen(reader);
    return build_row(self, 0, 0);
}

static void release_session(FactScanner *self)
{
    clear_session(&self->session);
    Py_CLEAR(self->windows);
    for (int i = 0; i < MAX_COLUMNS; i++) {
        Py_CLEAR(self->last[i].text);
        self->last[i].size = 0;
    }
}

/* Release the messages of a session and their windows. */
static PyObject *release(FactScanner *self, PyObject *Py_UNUSED(none))
{
    release_session(self);
    Py_RETURN_NONE;
}

/* Return all envelopes, keys and words as new again. */
static PyObject *forget(FactScanner *self, PyObject *Py_UNUSED(none))
{
    memset(self->known, 0, KNOWN_SLOTS * sizeof *self->known);
    self->known_count = 0;
    Py_RETURN_NONE;
}

static PyObject *make_scanner(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(named))
{
    PyObject *objects, *settings;
    if (!PyArg_ParseTuple(args, "OO", &objects, &settings))
        return NULL;
    FactScanner *self = (FactScanner *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self)
        return NULL;
    self->reader = PyMem_Calloc(1, sizeof *self->reader);
    self->known = PyMem_Calloc(KNOWN_SLOTS, sizeof *self->known);
    bool is_open = self->reader && self->known && open_reader(self->reader);
    if (is_open && fill_syntax(&self->reader->syntax, objects, settings))
        return (PyObject *)self;
    if (!is_open)
        PyErr_NoMemory();
    Py_DECREF(self);
    return NULL;
}

static void drop_scanner(FactScanner *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    release_session(self);
    drop_session(&self->session);
    if (self->reader)
        close_reader(self->reader);
    PyMem_Free(self->reader);
    PyMem_Free(self->known);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

PyObject *mark_names(void)
{
    static const char *const names[] = {
#define X(name, word) word,
        MARKS(X)
#undef X
    };
    PyObject *found = PyTuple_New(MARK_COUNT);
    for (int i = 0; found && i < MARK_COUNT; i++)
        PyTuple_SetItem(found, i, PyUnicode_FromString(names[i]));
    return found;
}

static PyMethodDef methods[] = {
    {"scan", (PyCFunction)scan, METH_O, NULL},
    {"scan_session", (PyCFunction)scan_session, METH_VARARGS, NULL},
    {"join", (PyCFunction)join, METH_VARARGS, NULL},
    {"release", (PyCFunction)release, METH_NOARGS, NULL},
    {"forget", (PyCFunction)forget, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, make_scanner}, {Py_tp_dealloc, drop_scanner}, {Py_tp_methods, methods}, {0, NULL},
};
PyType_Spec facts_spec = {"turnlint.fastpath._native.FactScanner", sizeof(FactScanner), 0, Py_TPFLAGS_DEFAULT, slots};
