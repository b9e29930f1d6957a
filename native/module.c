/* Define the Python module `turnlint.fastpath._native`: the scanner for facts, and functions for the Python parser.

   Each function returns the result of its Python equivalent, or no result. */

#include "facts.h"

PyObject *action_names(void);
PyObject *piece_names(void);
PyObject *mark_names(void);
PyObject *find_places(PyObject *module, PyObject *args);
PyObject *find_words(PyObject *module, PyObject *args);
PyObject *is_plain(PyObject *module, PyObject *data);
PyObject *measure(PyObject *module, PyObject *args);
extern PyType_Spec facts_spec;

static PyMethodDef methods[] = {
    {"find_words", find_words, METH_VARARGS, NULL},
    {"is_plain", is_plain, METH_O, NULL},
    {"measure", measure, METH_VARARGS, NULL},
    {"places", find_places, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module)
{
    struct {
        const char *name;
        PyObject *value;
    } members[] = {
        {"FactScanner", PyType_FromSpec(&facts_spec)},
        {"ACTIONS", action_names()},
        {"PIECES", piece_names()},
        {"MARKS", mark_names()},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        failed = failed || !members[i].value || PyModule_AddObjectRef(module, members[i].name, members[i].value) < 0;
        Py_XDECREF(members[i].value);
    }
    if (failed || PyModule_AddIntConstant(module, "MAX_LINE_BYTES", MAX_LINE_BYTES) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "DIGEST", TURNLINT_DIGEST);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};
static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "turnlint.fastpath._native", NULL, 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&module); }
