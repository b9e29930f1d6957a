/* Find the bytes of pointers, and count characters. See `documents/locate.py`, which defines a place.

   One walk over a text that is known to be plain JSON covers all pointers and skips all other values. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "text.h"

typedef struct {
    PyObject *parts;
    Py_ssize_t size, depth; /* the number of parts, and of existing parts */
    At start, end;          /* of the value at the existing parts */
} Wanted;

enum { MOST_WANTED = 256 }; /* every value is compared with each pointer; Python handles more pointers, in a tree */

typedef struct {
    At whole;
    Wanted *wanted;
    size_t count, left; /* `left`: those without a known end */
} Walk;

/* Whether a pointer to this value continues with this key, or without a key, with this index. */
static bool goes_on(const Wanted *one, At inside, const Text *key, Py_ssize_t number)
{
    if (one->start != inside || one->size == one->depth)
        return false;
    PyObject *part = PyTuple_GetItem(one->parts, one->depth);
    if (!key)
        return PyLong_CheckExact(part) && PyLong_AsSsize_t(part) == number;
    Py_ssize_t size;
    const char *name = PyUnicode_CheckExact(part) ? PyUnicode_AsUTF8AndSize(part, &size) : NULL;
    return name && same(key, name, (size_t)size);
}

static At walk(Walk *self, At at);

/* Remove trailing white space, which `skip_value` includes in a number or a word. */
static At trim(At end)
{
    while (end[-1] == ' ' || end[-1] == '\n' || end[-1] == '\t' || end[-1] == '\r')
        end--;
    return end;
}

/* Skip a value in another, or walk it where a pointer continues. NULL once all pointers are found. */
static At step(Walk *self, At inside, At at, const Text *key, Py_ssize_t number)
{
    bool wanted = false, deeper = false;
    for (size_t i = 0; i < self->count; i++) {
        Wanted *one = &self->wanted[i];
        if (!goes_on(one, inside, key, number))
            continue;
        one->depth++;
        one->start = at;
        wanted = true;
        deeper = deeper || one->size > one->depth;
    }
    At after = deeper ? walk(self, at) : skip_value(at, self->whole);
    if (!after || !wanted)
        return after;
    for (size_t i = 0; i < self->count; i++) {
        Wanted *one = &self->wanted[i];
        if (one->start != at)
            continue;
        one->end = trim(after);
        self->left -= one->size == one->depth;
    }
    return self->left ? after : NULL;
}

/* Walk an object or a list, never deeper than the pointers. */
static At walk(Walk *self, At at)
{
    bool more, listed = *at == '[';
    At inside = at;
    Text key;
    if (!listed && *at != '{')
        return skip_value(at, self->whole);
    unsigned char close = listed ? ']' : '}';
    at = enter(at, self->whole, *at, close, &more);
    for (Py_ssize_t number = 0; at && more; number++) {
        if (!listed)
            at = read_key(at, self->whole, &key);
        if (at && at < self->whole)
            at = step(self, inside, at, listed ? NULL : &key, number);
        if (at)
            at = onward(at, self->whole, close, &more);
    }
    return at;
}

static bool begin(Walk *self, PyObject *pointers, At start)
{
    self->left = self->count;
    for (size_t i = 0; i < self->count; i++) {
        Wanted *one = &self->wanted[i];
        one->parts = PyList_GetItem(pointers, (Py_ssize_t)i);
        one->size = PyTuple_Check(one->parts) ? PyTuple_Size(one->parts) : -1;
        one->depth = 0;
        one->start = start;
        one->end = NULL;
        if (one->size < 0 || one->size > DEEPEST)
            return false;
    }
    return true;
}

/* Return the existing depth of each pointer, and the start and the end of the value there. */
static PyObject *spans_of(const Walk *self, At start)
{
    PyObject *spans = PyList_New(0);
    for (size_t i = 0; spans && i < self->count; i++) {
        const Wanted *one = &self->wanted[i];
        PyObject *span = Py_BuildValue("(nnn)", one->depth, (Py_ssize_t)(one->start - start),
                                       (Py_ssize_t)(one->end - start));
        if (!span || PyList_Append(spans, span) < 0)
            Py_CLEAR(spans);
        Py_XDECREF(span);
    }
    return spans;
}

/* Return the spans of pointers. None if the text is not plain, a pointer is invalid, or there are too many. */
PyObject *find_places(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *data, *pointers, *spans = NULL;
    char *start;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "SO!", &data, &PyList_Type, &pointers) || PyBytes_AsStringAndSize(data, &start, &size) < 0)
        return NULL;
    At at = (At)start, whole = at + size, first = skip_space(at, whole), end;
    Walk self = {.whole = whole, .count = (size_t)PyList_Size(pointers)};
    if (self.count > MOST_WANTED)
        return Py_NewRef(Py_None);
    self.wanted = PyMem_Calloc(self.count + 1, sizeof(Wanted));
    if (!self.wanted)
        return PyErr_NoMemory();
    if (first < whole && begin(&self, pointers, first)) {
        end = walk(&self, first);
        for (size_t i = 0; end && i < self.count; i++)
            if (self.wanted[i].start == first)
                self.wanted[i].end = end > first ? trim(end) : end;
        bool known = true;
        for (size_t i = 0; i < self.count; i++)
            known = known && self.wanted[i].end;
        known = known && !PyErr_Occurred();
        PyErr_Clear(); /* a key without a UTF-8 form matches no key of the text */
        spans = known ? spans_of(&self, at) : NULL;
    }
    PyMem_Free(self.wanted);
    return spans || PyErr_Occurred() ? spans : Py_NewRef(Py_None);
}

/* Return the number of line ends in a range of valid UTF-8, and the number of characters after the last one. */
PyObject *measure(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *data;
    char *start;
    Py_ssize_t from, to, size, lines = 0, letters = 0;
    if (!PyArg_ParseTuple(args, "Snn", &data, &from, &to) || PyBytes_AsStringAndSize(data, &start, &size) < 0)
        return NULL;
    from = from < 0 ? 0 : from;
    to = to < size ? to : size;
    for (At at = (At)start + from, end = (At)start + to; at < end;) {
        At line = memchr(at, '\n', (size_t)(end - at)), stop = line ? line : end;
        for (letters = 0; at < stop; at++)
            letters += (*at & 0xC0) != 0x80;
        if (line) {
            lines++;
            letters = 0;
            at = line + 1;
        }
    }
    return Py_BuildValue("(nn)", lines, letters);
}
