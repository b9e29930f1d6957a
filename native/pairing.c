/* Who answers whom, where all is in order. See `ledger/__init__.py`, whose first rule this is.

   This file owns the walk over a conversation: its turns, its windows, and the windows whose results answer their
   calls one by one. It refuses to decide about any other: that is given back to Python as it comes to its end. */

#include "talk.h"

/* What Python hands over, in the order of `ledger/__init__.py`. */
enum { CALL_TYPE, RESULT_TYPE, ASKED, ANSWERED, ROLE_NAME, BLOCKS_NAME, ID_NAME, SERVER_NAME, IN_PLACE, KIT };

typedef struct {
    Py_ssize_t number, seq;
    PyObject *piece; /* borrowed: its message is held */
} Seen;

typedef struct {
    Seen *some;
    size_t count, room;
} Row;

typedef struct {
    PyObject *kit, *window, *work, *end_window;
    PyObject *calls, *results, *spare, *answer_of, *how, *placed;
    Row asked, answered; /* of the turn at hand */
    Py_ssize_t turn, last;
    bool joins, asking, waiting, spoken, interrupted;
} Walk;

enum { MOST_IN_STEP = 32 };

static PyObject *from(const Walk *self, int what) { return PyTuple_GetItem(self->kit, what); }

static PyObject *get(const Walk *self, PyObject *one, int name) { return PyObject_GetAttr(one, from(self, name)); }

static bool add(Row *row, Py_ssize_t number, Py_ssize_t seq, PyObject *piece)
{
    if (row->count == row->room) {
        size_t room = row->room ? row->room * 2 : 16;
        Seen *some = PyMem_Realloc(row->some, room * sizeof(Seen));
        if (!some) {
            PyErr_NoMemory();
            return false;
        }
        row->some = some;
        row->room = room;
    }
    row->some[row->count++] = (Seen){number, seq, piece};
    return true;
}

/* Whether a call and a result bear one id that can be told from others, and are of one side. */
static bool belong(const Walk *self, const Seen *asked, const Seen *answered, PyObject **id)
{
    PyObject *other = get(self, answered->piece, ID_NAME), *side = get(self, asked->piece, SERVER_NAME),
             *other_side = get(self, answered->piece, SERVER_NAME);
    *id = get(self, asked->piece, ID_NAME);
    bool fine = *id && other && side && side == other_side && answered->seq >= asked->seq
                && PyUnicode_CheckExact(*id) && PyUnicode_CheckExact(other)
                && PyUnicode_GetLength(*id) > LONGEST_WORD && PyUnicode_Compare(*id, other) == 0;
    Py_XDECREF(other);
    Py_XDECREF(side);
    Py_XDECREF(other_side);
    return fine;
}

/* Whether the results of a window answer its calls one by one in their order, all under ids of their own. */
static bool are_in_step(const Walk *self)
{
    PyObject *ids[MOST_IN_STEP];
    size_t count = self->asked.count, known = 0;
    bool fine = count == self->answered.count && count <= MOST_IN_STEP;
    for (size_t i = 0; fine && i < count; i++) {
        fine = belong(self, &self->asked.some[i], &self->answered.some[i], &ids[i]);
        known += ids[i] != NULL;
        for (size_t j = 0; fine && j < i; j++)
            fine = PyUnicode_Compare(ids[i], ids[j]) != 0;
    }
    for (size_t i = 0; i < known; i++)
        Py_DECREF(ids[i]);
    return fine && !PyErr_Occurred();
}

static bool match(Walk *self, Py_ssize_t call, Py_ssize_t result)
{
    PyObject *one = PyLong_FromSsize_t(call), *other = PyLong_FromSsize_t(result);
    bool fine = one && other && PyDict_SetItem(self->answer_of, one, other) == 0
                && PyDict_SetItem(self->how, one, from(self, IN_PLACE)) == 0 && PySet_Add(self->placed, other) == 0;
    Py_XDECREF(one);
    Py_XDECREF(other);
    return fine;
}

static PyObject *numbers(const Row *row)
{
    PyObject *list = PyList_New((Py_ssize_t)row->count);
    for (size_t i = 0; list && i < row->count; i++) {
        PyObject *number = PyLong_FromSsize_t(row->some[i].number);
        if (!number || PyList_SetItem(list, (Py_ssize_t)i, number) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* The window of a turn is over. */
static bool end(Walk *self)
{
    bool fine = true;
    if (self->asked.count && are_in_step(self)) {
        for (size_t i = 0; fine && i < self->asked.count; i++)
            fine = match(self, self->asked.some[i].number, self->answered.some[i].number);
    } else if (self->asked.count && !PyErr_Occurred()) {
        PyObject *calls = numbers(&self->asked), *results = numbers(&self->answered), *done = NULL;
        if (calls && results)
            done = PyObject_CallFunctionObjArgs(self->end_window, self->work, calls, results, NULL);
        fine = done != NULL;
        Py_XDECREF(calls);
        Py_XDECREF(results);
        Py_XDECREF(done);
    }
    self->asked.count = self->answered.count = 0;
    return fine && !PyErr_Occurred();
}

static bool begin(Walk *self)
{
    if (!end(self))
        return false;
    self->turn++;
    self->asking = true;
    self->waiting = self->spoken = false;
    return true;
}

/* Keeps a call or a result with its number, its turn and its message. */
static bool keep(Walk *self, int type, PyObject *list, Py_ssize_t seq, Py_ssize_t turn, Py_ssize_t message,
                 PyObject *piece)
{
    PyObject *row = Py_BuildValue("(nnnO)", seq, turn, message, piece);
    PyObject *made = row ? PyObject_Call(from(self, type), row, NULL) : NULL;
    bool kept = made && PyList_Append(list, made) == 0;
    Py_XDECREF(row);
    Py_XDECREF(made);
    return kept;
}

static bool take_result(Walk *self, Py_ssize_t message, PyObject *piece)
{
    PyObject *server = get(self, piece, SERVER_NAME), *number;
    Py_ssize_t count = PyList_Size(self->results), seq = PyList_Size(self->calls) + count;
    if (!server)
        return false;
    bool own = server == Py_True, inside = self->asked.count && (own ? self->asking : self->waiting);
    Py_DECREF(server);
    if (inside) {
        self->interrupted |= self->spoken;
        if (!add(&self->answered, count, seq, piece))
            return false;
    } else {
        number = PyLong_FromSsize_t(count);
        bool fine = number && PyList_Append(self->spare, number) == 0;
        Py_XDECREF(number);
        if (!fine)
            return false;
    }
    return keep(self, ANSWERED, self->results, seq, inside ? self->turn : -1, message, piece);
}

static bool take_call(Walk *self, Py_ssize_t message, PyObject *piece)
{
    if (!self->asking && !begin(self)) /* outside a message of the assistant it opens a turn of its own */
        return false;
    Py_ssize_t count = PyList_Size(self->calls), seq = count + PyList_Size(self->results);
    return add(&self->asked, count, seq, piece) && keep(self, ASKED, self->calls, seq, self->turn, message, piece);
}

static bool turn_to(Walk *self, PyObject *role)
{
    if (PyUnicode_CompareWithASCIIString(role, "assistant") == 0) {
        if (!(self->joins && self->asking))
            return begin(self);
        self->waiting = self->spoken = false;
        return true;
    }
    int within = PySet_Contains(self->window, role);
    if (within < 0 || (!within && !end(self)))
        return false;
    self->asking = false;
    self->waiting = within && self->asked.count;
    return true;
}

static bool take(Walk *self, PyObject *message, Py_ssize_t index)
{
    PyObject *role = get(self, message, ROLE_NAME), *blocks = get(self, message, BLOCKS_NAME);
    bool fine = role && blocks && PyTuple_Check(blocks) && turn_to(self, role);
    Py_ssize_t count = fine ? PyTuple_Size(blocks) : 0;
    for (Py_ssize_t i = 0; fine && i < count; i++) {
        PyObject *piece = PyTuple_GetItem(blocks, i), *type = (PyObject *)Py_TYPE(piece);
        if (type == from(self, CALL_TYPE))
            fine = take_call(self, index, piece);
        else if (type == from(self, RESULT_TYPE))
            fine = take_result(self, index, piece);
        else
            self->spoken |= self->waiting;
    }
    if (fine && self->asked.count && (self->asking || (self->waiting && count && !self->spoken)))
        self->last = index;
    Py_XDECREF(role);
    Py_XDECREF(blocks);
    return fine;
}

/* Fills the working state of a pairing; gives the last message of the last turn, and whether a window was broken into. */
PyObject *walk_messages(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *messages;
    int joins;
    Walk self = {.turn = -1, .last = -1};
    if (!PyArg_ParseTuple(args, "O!OpO!OO(O!O!O!O!O!O!)", &PyTuple_Type, &messages, &self.window, &joins,
                          &PyTuple_Type, &self.kit, &self.work, &self.end_window, &PyList_Type, &self.calls,
                          &PyList_Type, &self.results, &PyList_Type, &self.spare, &PyDict_Type, &self.answer_of,
                          &PyDict_Type, &self.how, &PySet_Type, &self.placed))
        return NULL;
    if (PyTuple_Size(self.kit) != KIT) {
        PyErr_SetString(PyExc_ValueError, "a kit of another size");
        return NULL;
    }
    self.joins = joins;
    bool fine = true;
    for (Py_ssize_t i = 0; fine && i < PyTuple_Size(messages); i++)
        fine = take(&self, PyTuple_GetItem(messages, i), i);
    fine = fine && end(&self);
    PyMem_Free(self.asked.some);
    PyMem_Free(self.answered.some);
    if (!fine && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "a message without blocks");
    return fine ? Py_BuildValue("(nO)", self.last, self.interrupted ? Py_True : Py_False) : NULL;
}
