/* Logs of sessions. See `scan/sessions.py`, which settles at the end of a log what was only looked at.

   This file owns whose a line is: every one goes to the thread of its session and writer. Where its lines stand is
   noted, for should one of them not be sound, all of them are read. It refuses to know how an agent writes a line, and
   what makes a thread sound. */

#include "noted.h"
#include "sessions.h"

#include <stdlib.h>

typedef struct {
    PyObject_HEAD
    Terms *terms;
    Thread thread;
    Noted noted;
    uint64_t salt;
    bool lost;
} Unheard;

enum { NAMELESS = 16 };

typedef struct {
    PyObject_HEAD
    const Session *session;
    Terms *terms;
    PyObject *threads; /* by session and agent, in the order in which they began */
    Met met;           /* the ids of all lines, and of what each thread calls an answer */
    bool tangled;      /* two lines may have the same id */
    Line line;
    Unheard *current;
    Kept name, agent; /* of the thread that spoke last */
    Unheard *nameless[NAMELESS]; /* threads of agents that have no name but that of their first line */
    size_t turn;
} Sessions;

extern PyTypeObject *unheard_type;

/* Another thread is spoken in now: of many that are open each holds what it must. */
static void leave(Unheard *thread)
{
    leave_thread(&thread->thread);
    trim_noted(&thread->noted);
}

static Unheard *begin(Sessions *self, PyObject *name)
{
    Unheard *thread = (Unheard *)((allocfunc)PyType_GetSlot(unheard_type, Py_tp_alloc))(unheard_type, 0);
    if (!thread)
        return NULL;
    thread->terms = (Terms *)Py_NewRef((PyObject *)self->terms);
    thread->salt = (uint64_t)PyDict_Size(self->threads) + 1;
    bool added = PyDict_SetItem(self->threads, name, (PyObject *)thread) == 0;
    Py_DECREF((PyObject *)thread); /* the dictionary holds it */
    return added ? thread : NULL;
}

static bool is_it(const Kept *kept, const Text *text)
{
    return kept->size == length(text) && same(text, kept->bytes, kept->size);
}

static void put(Kept *kept, const Text *text)
{
    kept->size = length(text);
    if (kept->size)
        memcpy(kept->bytes, text->start, kept->size);
}

static Unheard *find(Sessions *self, const Text *session, const Text *agent)
{
    PyObject *name = Py_BuildValue("(y#y#)", session->start, (Py_ssize_t)length(session), agent->start,
                                   (Py_ssize_t)length(agent));
    Unheard *found = name ? (Unheard *)PyDict_GetItemWithError(self->threads, name) : NULL;
    if (!found && !PyErr_Occurred())
        found = begin(self, name);
    Py_XDECREF(name);
    return found;
}

/* The thread of an agent without a name: that of its first line, on which the others hang. */
static Unheard *turn_to_nameless(Sessions *self, const Line *line)
{
    static const unsigned char nobody[] = "?";
    Text unknown = {nobody, nobody + 1, true, false};
    self->current = NULL;
    if (!line->parent.start)
        return self->nameless[self->turn++ % NAMELESS] = find(self, &line->session, &line->id);
    for (size_t i = 0; i < NAMELESS; i++)
        if (self->nameless[i] && is_near(&self->nameless[i]->thread, &line->parent))
            return self->nameless[i];
    self->tangled = true;
    return find(self, &line->session, &unknown);
}

/* The thread of a line. The agent of one counts beside the main conversation alone. */
static Unheard *turn_to(Sessions *self, const Line *line)
{
    static const unsigned char main_one[] = "";
    Text agent = line->side ? line->agent : (Text){main_one, main_one, true, false};
    if (!agent.start)
        return turn_to_nameless(self, line);
    if (self->current && is_it(&self->name, &line->session) && is_it(&self->agent, &agent))
        return self->current;
    if (self->current)
        leave(self->current);
    put(&self->name, &line->session);
    put(&self->agent, &agent);
    self->current = find(self, &line->session, &agent);
    return self->current;
}

/* Adds a line to its thread without reading it, if that can be done. */
static bool take(Sessions *self, At at, At end, int64_t number, int64_t offset)
{
    if (self->tangled || end - at >= HUGE_LINE || number > UINT32_MAX) /* tangled ones are all read at last */
        return false;
    Line *line = &self->line;
    At after = self->session->read(skip_space(at, end), end, line);
    if (!after || skip_space(after, end) != end || end[-1] == '\r')
        return false;
    if (!line->placed)
        return true;
    Unheard *thread = turn_to(self, line);
    if (!thread || !note_line(&thread->noted, number, offset, end - at))
        return false;
    self->tangled |= line->id.start && !meet(&self->met, hash_text(&line->id, 0));
    if (!thread->lost && !self->session->goes_on(&thread->thread, self->terms, &self->met, thread->salt, line)) {
        thread->lost = true;
        drop_thread(&thread->thread);
    }
    return !PyErr_Occurred();
}

/* The lines of a window that have to be read: start, end and number. */
static PyObject *scan(Sessions *self, PyObject *args)
{
    PyObject *window;
    char *start;
    Py_ssize_t size, number = 0;
    long long line, offset;
    if (!PyArg_ParseTuple(args, "SLL", &window, &line, &offset) || PyBytes_AsStringAndSize(window, &start, &size) < 0)
        return NULL;
    PyObject *spans = PyList_New(0);
    At at = (At)start, whole = at + size;
    while (spans && at < whole) {
        At end = memchr(at, '\n', (size_t)(whole - at));
        end = end ? end : whole;
        Py_ssize_t from = (Py_ssize_t)(at - (At)start);
        PyObject *span = NULL;
        if (!take(self, at, end, line + number, offset + from) && !PyErr_Occurred())
            span = Py_BuildValue("(nnn)", from, (Py_ssize_t)(end - (At)start), number);
        if (PyErr_Occurred() || (span && PyList_Append(spans, span) < 0))
            Py_CLEAR(spans);
        Py_XDECREF(span);
        number++;
        at = end + 1;
    }
    return spans ? Py_BuildValue("(Nn)", spans, number) : NULL;
}

/* Whether a line may have this id. */
static PyObject *may_hold(Sessions *self, PyObject *id)
{
    char *start;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(id, &start, &size) < 0)
        return NULL;
    Text text = {(At)start, (At)start + size, true, false};
    return PyBool_FromLong(has_met(&self->met, hash_text(&text, 0)));
}

static PyObject *make_sessions(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(named))
{
    PyObject *terms;
    const char *name;
    if (!PyArg_ParseTuple(args, "sO!", &name, terms_type, &terms))
        return NULL;
    const Session *session = strcmp(name, CLAUDE.name) == 0 ? &CLAUDE : strcmp(name, CODEX.name) == 0 ? &CODEX : NULL;
    if (!session)
        return PyErr_Format(PyExc_ValueError, "no session is called %s", name);
    Sessions *self = (Sessions *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self)
        return NULL;
    self->session = session;
    self->terms = (Terms *)Py_NewRef(terms);
    self->threads = PyDict_New();
    if (!self->threads) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static void drop_sessions(Sessions *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    Py_XDECREF((PyObject *)self->terms);
    Py_XDECREF(self->threads);
    free(self->met.slots);
    drop_pieces(&self->line.message);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *threads_of(Sessions *self, void *Py_UNUSED(none)) { return Py_NewRef(self->threads); }

static PyObject *is_tangled(Sessions *self, void *Py_UNUSED(none)) { return PyBool_FromLong(self->tangled); }

static PyGetSetDef fields[] = {
    {"threads", (getter)threads_of, NULL, NULL, NULL},
    {"tangled", (getter)is_tangled, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef methods[] = {
    {"scan", (PyCFunction)scan, METH_VARARGS, NULL},
    {"may_hold", (PyCFunction)may_hold, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, make_sessions}, {Py_tp_dealloc, drop_sessions}, {Py_tp_methods, methods}, {Py_tp_getset, fields},
    {0, NULL},
};
PyType_Spec sessions_spec = {"turnlint.scan._native.Sessions", sizeof(Sessions), 0, Py_TPFLAGS_DEFAULT, slots};

static void drop_unheard(Unheard *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    drop_thread(&self->thread);
    drop_noted(&self->noted);
    Py_XDECREF((PyObject *)self->terms);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *places(Unheard *self, void *Py_UNUSED(none)) { return places_noted(&self->noted); }

static PyObject *records(Unheard *self, void *Py_UNUSED(none)) { return count_noted(&self->noted); }

static PyObject *start_of(Unheard *self, void *Py_UNUSED(none)) { return start_noted(&self->noted); }

static PyObject *messages_of(Unheard *self, void *Py_UNUSED(none)) { return PyLong_FromSize_t(self->thread.talk.messages); }

static PyObject *calls_of(Unheard *self, void *Py_UNUSED(none)) { return PyLong_FromSize_t(self->thread.asked); }

static PyObject *is_sound(Unheard *self, PyObject *Py_UNUSED(none))
{
    return PyBool_FromLong(!self->lost && may_end(&self->thread, self->terms));
}

static PyGetSetDef unheard_fields[] = {
    {"places", (getter)places, NULL, NULL, NULL},
    {"records", (getter)records, NULL, NULL, NULL},
    {"start", (getter)start_of, NULL, NULL, NULL},
    {"messages", (getter)messages_of, NULL, NULL, NULL},
    {"calls", (getter)calls_of, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef unheard_methods[] = {
    {"is_sound", (PyCFunction)is_sound, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot unheard_slots[] = {
    {Py_tp_dealloc, drop_unheard}, {Py_tp_getset, unheard_fields}, {Py_tp_methods, unheard_methods}, {0, NULL},
};
PyType_Spec unheard_spec = {
    "turnlint.scan._native.Unheard", sizeof(Unheard), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    unheard_slots,
};
