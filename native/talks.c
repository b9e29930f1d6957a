/* Logs of which every line is one message, with the name of its conversation. See `scan/talks.py`.

   Which conversations are open is Python's to know: this file asks its dictionary, and keeps of each only what tells
   whether it is sound so far and where its messages stand. */

#include "noted.h"
#include "wires.h"

enum { LONGEST_NAME = 60, MOST_SPARE = 32 };

typedef struct {
    PyObject_HEAD
    Talk talk;
    Noted noted;
    bool lost; /* a message came that was not taken: what is noted here may be more than was said */
    Terms *terms;
} Unread;

typedef struct {
    PyObject_HEAD
    const Wire *wire;
    Terms *terms;
    PyObject *lines; /* Python's `Lines` */
    PyObject *begin; /* makes an open conversation of one that is unread */
    PyObject *names; /* those of the spare keys, which `spare` points into */
    const char *keys[MOST_SPARE];
    size_t sizes[MOST_SPARE];
    Spare spare;
    Message said;
    /* The conversation that was spoken to last in this window: */
    PyObject *name;
    PyObject *open; /* as Python has it; nothing where it is new */
    Unread *current;
    bool last; /* it stands behind all others that are open */
} Talks;

static void turn_away(Talks *self)
{
    Py_CLEAR(self->name);
    Py_CLEAR(self->open);
    Py_XDECREF((PyObject *)self->current);
    self->current = NULL;
    self->last = false;
}

static PyObject *begin_talk(const Talks *self)
{
    Unread *unread = (Unread *)((allocfunc)PyType_GetSlot(unread_type, Py_tp_alloc))(unread_type, 0);
    if (unread)
        unread->terms = (Terms *)Py_NewRef((PyObject *)self->terms);
    return (PyObject *)unread;
}

/* Looks for the conversation of this name; a new one may begin unless that name was closed. */
static void look_for(Talks *self)
{
    PyObject *open = PyObject_GetAttrString(self->lines, "open");
    PyObject *closed = open ? PyObject_GetAttrString(self->lines, "closed") : NULL, *unread = NULL;
    self->open = closed ? PyDict_GetItemWithError(open, self->name) : NULL;
    Py_XINCREF(self->open);
    if (self->open)
        unread = PyObject_GetAttrString(self->open, "unread");
    else if (closed && !PyErr_Occurred() && PySet_Contains(closed, self->name) == 0)
        unread = begin_talk(self);
    Py_XDECREF(open);
    Py_XDECREF(closed);
    if (unread && Py_TYPE(unread) == unread_type)
        self->current = (Unread *)unread;
    else
        Py_XDECREF(unread);
}

/* Puts the conversation behind all others that are open. */
static bool put_last(Talks *self)
{
    PyObject *open = PyObject_GetAttrString(self->lines, "open");
    if (!open)
        return false;
    if (self->open) {
        self->last = PyDict_DelItem(open, self->name) == 0;
    } else {
        self->open = PyObject_CallFunctionObjArgs(self->begin, (PyObject *)self->current, NULL);
        self->last = self->open != NULL;
    }
    self->last = self->last && PyDict_SetItem(open, self->name, self->open) == 0;
    Py_XDECREF(open);
    return self->last;
}

static Unread *find_talk(Talks *self)
{
    const Text *text = &self->spare.name;
    bool named = self->spare.group < self->spare.count;
    size_t size = named ? length(text) : 0;
    if (named && (!(self->spare.seen >> self->spare.group & 1) || !text->plain || !size || size > LONGEST_NAME))
        return NULL;
    if (self->current) {
        Py_ssize_t known = 0;
        const char *name = named ? PyUnicode_AsUTF8AndSize(self->name, &known) : NULL;
        if (!named || (name && same(text, name, (size_t)known)))
            return self->current;
    }
    turn_away(self);
    self->name = named ? PyUnicode_DecodeUTF8((const char *)text->start, (Py_ssize_t)size, NULL) : Py_NewRef(Py_None);
    if (self->name)
        look_for(self);
    if (!self->current)
        turn_away(self);
    return self->current;
}

/* Adds a message to its conversation without reading it, if that can be done. */
static bool take(Talks *self, At at, At end, int64_t line, int64_t offset)
{
    if (end - at >= HUGE_LINE)
        return false;
    self->spare.seen = 0;
    At after = self->wire->read(skip_space(at, end), end, &self->said, &self->spare);
    if (!after || skip_space(after, end) != end || end[-1] == '\r')
        return false;
    Unread *unread = find_talk(self);
    if (!unread || unread->lost)
        return false;
    unread->lost = !self->wire->follows(&unread->talk, self->terms, &self->said);
    if (unread->lost || PyErr_Occurred())
        return false;
    unread->lost = !(self->last || put_last(self)) || !note_line(&unread->noted, line, offset, end - at);
    return !unread->lost;
}

static bool read_number(PyObject *lines, const char *name, Py_ssize_t *number)
{
    PyObject *value = PyObject_GetAttrString(lines, name);
    *number = value ? PyLong_AsSsize_t(value) : -1;
    Py_XDECREF(value);
    return !PyErr_Occurred();
}

enum { DONE, READ, FULL };

/* On from a place in a window: to its end, to a line that has to be read, or until too much is held. */
static PyObject *scan(Talks *self, PyObject *args)
{
    PyObject *window;
    char *start;
    Py_ssize_t from, number, size, held, limit;
    long long line, offset;
    if (!PyArg_ParseTuple(args, "SnnLL", &window, &from, &number, &line, &offset)
        || PyBytes_AsStringAndSize(window, &start, &size) < 0 || !read_number(self->lines, "held", &held)
        || !read_number(self->lines, "limit", &limit))
        return NULL;
    At at = (At)start + from, whole = (At)start + size, end = at;
    int state = DONE;
    while (state == DONE && at < whole) {
        end = memchr(at, '\n', (size_t)(whole - at));
        end = end ? end : whole;
        if (!take(self, at, end, line + number, offset + (at - (At)start))) {
            state = READ;
            break;
        }
        state = ++held > limit ? FULL : DONE;
        number++;
        at = end + 1;
    }
    turn_away(self);
    PyObject *now = PyErr_Occurred() ? NULL : PyLong_FromSsize_t(held);
    bool set = now && PyObject_SetAttrString(self->lines, "held", now) == 0;
    Py_XDECREF(now);
    return set ? Py_BuildValue("(innn)", state, (Py_ssize_t)(at - (At)start), (Py_ssize_t)(end - (At)start), number)
               : NULL;
}

static bool take_keys(Talks *self, PyObject *names, PyObject *group)
{
    Py_ssize_t count = PyTuple_Size(names);
    if (count < 0 || count > MOST_SPARE) {
        PyErr_SetString(PyExc_ValueError, "too many keys");
        return false;
    }
    self->spare.keys = self->keys;
    self->spare.sizes = self->sizes;
    self->spare.count = self->spare.group = (size_t)count;
    self->names = Py_NewRef(names);
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t size;
        PyObject *name = PyTuple_GetItem(names, i);
        self->keys[i] = PyUnicode_AsUTF8AndSize(name, &size);
        if (!self->keys[i])
            return false;
        self->sizes[i] = (size_t)size;
        if (name == group)
            self->spare.group = (size_t)i;
    }
    return true;
}

static PyObject *make_talks(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(named))
{
    const char *name;
    PyObject *terms, *keys, *group, *lines, *begin;
    if (!PyArg_ParseTuple(args, "sO!O!OOO", &name, terms_type, &terms, &PyTuple_Type, &keys, &group, &lines,
                          &begin))
        return NULL;
    const Wire *wire = wire_of(name);
    if (!wire)
        return NULL;
    Talks *self = (Talks *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self)
        return NULL;
    self->wire = wire;
    self->terms = (Terms *)Py_NewRef(terms);
    self->lines = Py_NewRef(lines);
    self->begin = Py_NewRef(begin);
    if (!take_keys(self, keys, group)) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

/* `Lines` has what reads its conversations, and that has this. Others of that circle can be emptied. */
static int visit_talks(Talks *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->lines);
    Py_VISIT(self->begin);
    Py_VISIT(self->open);
    return 0;
}

static void drop_talks(Talks *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    turn_away(self);
    Py_XDECREF((PyObject *)self->terms);
    Py_XDECREF(self->lines);
    Py_XDECREF(self->begin);
    Py_XDECREF(self->names);
    drop_pieces(&self->said);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"scan", (PyCFunction)scan, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, make_talks}, {Py_tp_dealloc, drop_talks}, {Py_tp_traverse, visit_talks}, {Py_tp_methods, methods},
    {0, NULL},
};
PyType_Spec talks_spec = {
    "turnlint.scan._native.Talks", sizeof(Talks), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots,
};

static void drop_unread(Unread *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    let_go(&self->talk);
    drop_noted(&self->noted);
    Py_XDECREF((PyObject *)self->terms);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *places(Unread *self, void *Py_UNUSED(none)) { return places_noted(&self->noted); }

static PyObject *start_of(Unread *self, void *Py_UNUSED(none)) { return start_noted(&self->noted); }

static PyObject *count_of(Unread *self, void *Py_UNUSED(none)) { return PyLong_FromSize_t(self->noted.count); }

static PyObject *calls_of(Unread *self, void *Py_UNUSED(none)) { return PyLong_FromSize_t(self->talk.count); }

static PyObject *may_end(Unread *self, PyObject *Py_UNUSED(none))
{
    return PyBool_FromLong(!self->lost && is_whole(&self->talk, self->terms));
}

static PyGetSetDef fields[] = {
    {"places", (getter)places, NULL, NULL, NULL},
    {"start", (getter)start_of, NULL, NULL, NULL},
    {"count", (getter)count_of, NULL, NULL, NULL},
    {"calls", (getter)calls_of, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef unread_methods[] = {
    {"is_whole", (PyCFunction)may_end, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot unread_slots[] = {
    {Py_tp_dealloc, drop_unread}, {Py_tp_getset, fields}, {Py_tp_methods, unread_methods}, {0, NULL},
};
PyType_Spec unread_spec = {
    "turnlint.scan._native.Unread", sizeof(Unread), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    unread_slots,
};
