/* Logs of which every line is a request, and so a conversation of its own. See `scan/requests.py`.

   What stands around the messages is the same in most lines: it is compared with that of the line before, and read by
   Python where it is new. */

#include "wires.h"

typedef struct {
    PyObject_HEAD
    const Wire *wire;
    PyObject *look_up; /* gives the terms for what stands around the messages, or None */
    PyObject *shell;   /* of the line before: what stands around an empty list of messages */
    size_t before;     /* how much of it stands before that list */
    Terms *terms;
    Message said;
    Talk talk;
    At stuck; /* the message that was not sound, where there was one */
} Requests;

/* Reads a whole list of messages, all of them sound; gives the place behind it. */
static At read_messages(Requests *self, Terms *terms, At at, At end)
{
    bool more;
    forget(&self->talk);
    at = enter(at, end, '[', ']', &more);
    while (at && more) {
        self->stuck = at;
        at = self->wire->read(at, end, &self->said, NULL);
        if (!at || !self->wire->follows(&self->talk, terms, &self->said))
            return NULL;
        at = onward(at, end, ']', &more);
    }
    self->stuck = NULL;
    return at && is_whole(&self->talk, terms) ? at : NULL;
}

/* Where a list ends whose next element stands here. */
static At end_of_list(At at, At end)
{
    bool more = true;
    while (at && more) {
        at = skip_value(at, end);
        if (at)
            at = onward(at, end, ']', &more);
    }
    return at;
}

static void count(Requests *self)
{
    self->terms->conversations++;
    self->terms->messages += (Py_ssize_t)self->talk.messages;
    self->terms->answered += (Py_ssize_t)self->talk.count;
}

typedef enum { OTHER, SOUND, UNSOUND } Look;

/* Whether a line is like the one before it, but for its messages, and these are sound. */
static Look is_alike(Requests *self, At at, At end)
{
    if (!self->terms)
        return OTHER;
    At shell = (At)PyBytes_AsString(self->shell);
    size_t after = (size_t)PyBytes_Size(self->shell) - self->before - 2;
    if ((size_t)(end - at) < self->before + after || memcmp(at, shell, self->before) != 0
        || memcmp(end - after, shell + self->before + 2, after) != 0)
        return OTHER;
    At to = end - after;
    if (read_messages(self, self->terms, at + self->before, to) == to)
        return SOUND;
    return self->stuck && end_of_list(self->stuck, to) == to ? UNSOUND : OTHER;
}

/* Asks Python what is said around the messages. False with an error set where that went wrong. */
static bool turn_to(Requests *self, At at, At end, At from, At to)
{
    PyObject *shell = shell_of(at, from, to, end);
    if (!shell)
        return false;
    PyObject *terms = PyObject_CallFunctionObjArgs(self->look_up, shell, NULL);
    Py_XDECREF(self->shell);
    Py_XDECREF((PyObject *)self->terms);
    self->shell = shell;
    self->before = (size_t)(from - at);
    bool mine = terms && Py_TYPE(terms) == terms_type;
    self->terms = mine ? (Terms *)terms : NULL;
    if (!mine)
        Py_XDECREF(terms);
    return terms != NULL;
}

static bool vouches(Requests *self, At at, At end)
{
    At from, to;
    Look look = is_alike(self, at, end);
    if (look == UNSOUND)
        return false;
    if (look == OTHER) {
        from = PyErr_Occurred() ? NULL : find_messages(at, end);
        to = from && from < end && *from == '[' ? skip_value(from, end) : NULL;
        if (!to || !turn_to(self, at, end, from, to) || !self->terms)
            return false;
        if (read_messages(self, self->terms, from, to) != to)
            return false;
    }
    count(self);
    return true;
}

/* The lines of a window that have to be read: start, end, number, and how many were vouched for before. */
static PyObject *scan(Requests *self, PyObject *window)
{
    char *start;
    Py_ssize_t size, number = 0, vouched = 0;
    if (PyBytes_AsStringAndSize(window, &start, &size) < 0)
        return NULL;
    PyObject *spans = PyList_New(0);
    At at = (At)start, whole = at + size;
    while (spans && at < whole) {
        At end = memchr(at, '\n', (size_t)(whole - at));
        end = end ? end : whole;
        bool fine = end - at < HUGE_LINE && vouches(self, at, end);
        PyObject *span = NULL;
        if (!fine && !PyErr_Occurred())
            span = Py_BuildValue("(nnnn)", (Py_ssize_t)(at - (At)start), (Py_ssize_t)(end - (At)start), number, vouched);
        if (PyErr_Occurred() || (span && PyList_Append(spans, span) < 0))
            Py_CLEAR(spans);
        Py_XDECREF(span);
        vouched += fine;
        number++;
        at = end + 1;
    }
    return spans ? Py_BuildValue("(Nnn)", spans, number, vouched) : NULL;
}

static PyObject *make_requests(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(named))
{
    const char *name;
    PyObject *look_up;
    const Wire *wire = PyArg_ParseTuple(args, "sO", &name, &look_up) ? wire_of(name) : NULL;
    if (!wire)
        return NULL;
    Requests *self = (Requests *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self)
        return NULL;
    self->wire = wire;
    self->look_up = Py_NewRef(look_up);
    return (PyObject *)self;
}

static void drop_requests(Requests *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    Py_XDECREF(self->look_up);
    Py_XDECREF(self->shell);
    Py_XDECREF((PyObject *)self->terms);
    let_go(&self->talk);
    drop_pieces(&self->said);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"scan", (PyCFunction)scan, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, make_requests}, {Py_tp_dealloc, drop_requests}, {Py_tp_methods, methods}, {0, NULL},
};
PyType_Spec requests_spec = {"turnlint.scan._native.Requests", sizeof(Requests), 0, Py_TPFLAGS_DEFAULT, slots};
