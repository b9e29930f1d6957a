/* Define the Python type that scans windows of a log for facts. */

#include "facts.h"

typedef struct {
    PyObject_HEAD
    Reader *reader;
    uint64_t *known; /* envelopes and sets of keys that Python has seen */
    size_t known_count;
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
    {"forget", (PyCFunction)forget, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, make_scanner}, {Py_tp_dealloc, drop_scanner}, {Py_tp_methods, methods}, {0, NULL},
};
PyType_Spec facts_spec = {"turnlint.fastpath._native.FactScanner", sizeof(FactScanner), 0, Py_TPFLAGS_DEFAULT, slots};
