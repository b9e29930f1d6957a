/* What helps the exact way, beside the first look: messages made, places found, characters counted, turns walked.

   This file owns the list of these functions. Each says the same as its twin in Python, or gives nothing where it does not
   know. It refuses to know how they do it. */

#include "wires.h"

PyObject *read_messages(PyObject *module, PyObject *args);
PyObject *find_places(PyObject *module, PyObject *args);
PyObject *measure(PyObject *module, PyObject *args);
PyObject *walk_messages(PyObject *module, PyObject *args);
PyObject *is_plain(PyObject *module, PyObject *data);

PyMethodDef exact_methods[] = {
    {"messages", read_messages, METH_VARARGS, NULL},
    {"places", find_places, METH_VARARGS, NULL},
    {"measure", measure, METH_VARARGS, NULL},
    {"walk", walk_messages, METH_VARARGS, NULL},
    {"is_plain", is_plain, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
