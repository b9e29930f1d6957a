/* Functions of the native module for the plain reader. Each returns the result of its Python twin, or none. */

#include "wires.h"

PyObject *find_places(PyObject *module, PyObject *args);
PyObject *measure(PyObject *module, PyObject *args);
PyObject *is_plain(PyObject *module, PyObject *data);

PyMethodDef exact_methods[] = {
    {"places", find_places, METH_VARARGS, NULL},
    {"measure", measure, METH_VARARGS, NULL},
    {"is_plain", is_plain, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
