/* The bounds that a provider sets, as Python hands them over. See `scan/terms.py`, which makes them of its clauses. */

#include "wires.h"

static PyObject *make_terms(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *names[] = {"roles", "first", "last", "needs", "lax", "flags", "bounds", "letters", "asked", NULL};
    unsigned roles, first, last, needs, lax;
    PyObject *letters;
    int flags[3];
    Py_ssize_t bounds[4];
    PyObject *asked[5];
    if (!PyArg_ParseTupleAndKeywords(
            args, named, "IIIII(ppp)(nnnn)O(OOOOO)", names, &roles, &first, &last, &needs, &lax, &flags[0], &flags[1],
            &flags[2], &bounds[0], &bounds[1], &bounds[2], &bounds[3], &letters, &asked[0], &asked[1], &asked[2],
            &asked[3], &asked[4]))
        return NULL;
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Terms *terms = (Terms *)make(type, 0);
    if (!terms)
        return NULL;
    terms->roles = roles, terms->first = first, terms->last = last, terms->needs = needs;
    terms->lax = lax, terms->calls = flags[0], terms->hollow_results = flags[1], terms->spaced_end = flags[2];
    terms->most_messages = bounds[0], terms->most_calls = bounds[1];
    terms->longest_id = bounds[2], terms->longest_result = bounds[3];
    terms->takes_id = Py_NewRef(asked[0]), terms->takes_name = Py_NewRef(asked[1]);
    terms->takes_author = Py_NewRef(asked[2]);
    terms->says_something = Py_NewRef(asked[3]), terms->holds_call = Py_NewRef(asked[4]);
    char *given;
    Py_ssize_t size;
    terms->has_letters = letters != Py_None;
    if (terms->has_letters) {
        if (PyBytes_AsStringAndSize(letters, &given, &size) < 0) {
            Py_DECREF(terms);
            return NULL;
        }
        for (Py_ssize_t i = 0; i < size; i++)
            terms->letters[(unsigned char)given[i]] = true;
    }
    return (PyObject *)terms;
}

static void drop_terms(Terms *terms)
{
    PyTypeObject *type = Py_TYPE((PyObject *)terms);
    Py_XDECREF(terms->takes_id);
    Py_XDECREF(terms->takes_name);
    Py_XDECREF(terms->takes_author);
    Py_XDECREF(terms->says_something);
    Py_XDECREF(terms->holds_call);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(terms);
    Py_DECREF(type);
}

/* Conversations, messages and answered calls that were vouched for since it was asked last. */
static PyObject *take_counts(Terms *terms, PyObject *Py_UNUSED(none))
{
    PyObject *counts = Py_BuildValue("(nnn)", terms->conversations, terms->messages, terms->answered);
    terms->conversations = terms->messages = terms->answered = 0;
    return counts;
}

static PyMethodDef methods[] = {
    {"take_counts", (PyCFunction)take_counts, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, make_terms}, {Py_tp_dealloc, drop_terms}, {Py_tp_methods, methods}, {0, NULL},
};
PyType_Spec terms_spec = {"turnlint.scan._native.Terms", sizeof(Terms), 0, Py_TPFLAGS_DEFAULT, slots};
