/* What Python sees: `turnlint.scan._native`. */

#include "wires.h"

PyTypeObject *terms_type, *unread_type, *unheard_type;
extern PyType_Spec terms_spec, talks_spec, unread_spec, sessions_spec, unheard_spec, facts_spec;
PyObject *action_names(void);
PyObject *piece_names(void);
PyObject *mark_names(void);

extern PyMethodDef words_methods[];
extern PyMethodDef exact_methods[];

const Wire *wire_of(const char *name)
{
    const Wire *wires[] = {&CHAT, &BLOCKS};
    for (size_t i = 0; i < sizeof(wires) / sizeof(wires[0]); i++)
        if (strcmp(name, wires[i]->name) == 0)
            return wires[i];
    PyErr_Format(PyExc_ValueError, "no wire is called %s", name);
    return NULL;
}

unsigned role_of(const Text *name)
{
    if (IS(name, "user")) return USER;
    if (IS(name, "assistant")) return ASSISTANT;
    if (IS(name, "tool")) return TOOL;
    if (IS(name, "system")) return SYSTEM;
    if (IS(name, "developer")) return DEVELOPER;
    return 0;
}

At read_spare(At at, At end, const Text *key, Spare *spare)
{
    Text text;
    if (!spare)
        return NULL;
    for (size_t i = 0; i < spare->count; i++) {
        if (!same(key, spare->keys[i], spare->sizes[i]))
            continue;
        if (spare->seen >> i & 1)
            return NULL;
        spare->seen |= (uint64_t)1 << i;
        if (i == spare->group)
            return read_text(at, end, &spare->name);
        if (at < end && *at == '"')
            return read_text(at, end, &text);
        return at < end && *at != '{' && *at != '[' ? read_value(at, end, 0) : NULL;
    }
    return NULL;
}

static int fill(PyObject *module)
{
    PyType_Spec *specs[] = {&terms_spec, &talks_spec, &unread_spec, &sessions_spec, &unheard_spec, &facts_spec};
    const char *names[] = {"Terms", "Talks", "Unread", "Sessions", "Unheard", "FactScanner"};
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    PyObject *types[COUNT];
    if (terms_type) { /* its types are the process's: a second interpreter does without */
        PyErr_SetString(PyExc_ImportError, "the native scanner can be loaded once");
        return -1;
    }
    for (size_t i = 0; i < COUNT; i++) {
        types[i] = PyType_FromSpec(specs[i]); /* kept as long as the program runs */
        if (!types[i] || PyModule_AddObjectRef(module, names[i], types[i]) < 0)
            return -1;
    }
    terms_type = (PyTypeObject *)types[0];
    unread_type = (PyTypeObject *)types[2];
    unheard_type = (PyTypeObject *)types[4];
    if (PyModule_AddFunctions(module, words_methods) < 0 || PyModule_AddFunctions(module, exact_methods) < 0)
        return -1;
    if (PyModule_AddIntConstant(module, "LONGEST_WORD", LONGEST_WORD) < 0)
        return -1;
    PyObject *tables[] = {action_names(), piece_names(), mark_names()};
    const char *table_names[] = {"ACTIONS", "PIECES", "MARKS"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (!tables[i] || PyModule_AddObjectRef(module, table_names[i], tables[i]) < 0)
            return -1;
    return PyModule_AddStringConstant(module, "DIGEST", TURNLINT_DIGEST);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "turnlint.scan._native", NULL, 0, NULL, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&module); }
