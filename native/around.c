/* What stands around the messages of a request.

   This file owns where they begin in a record, and the record without them. It refuses to know what it says. */

#include "wires.h"

At find_messages(At at, At end)
{
    bool more;
    Text key;
    at = enter(skip_space(at, end), end, '{', '}', &more);
    while (at && more) {
        at = read_key(at, end, &key);
        if (at && IS(&key, "messages"))
            return at;
        if (at)
            at = skip_value(at, end);
        if (at)
            at = onward(at, end, '}', &more);
    }
    return NULL;
}

PyObject *shell_of(At start, At from, At to, At end)
{
    size_t before = (size_t)(from - start), after = (size_t)(end - to);
    PyObject *shell = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(before + after + 2));
    if (shell) {
        char *into = PyBytes_AsString(shell);
        memcpy(into, start, before);
        memcpy(into + before, "[]", 2);
        memcpy(into + before + 2, to, after);
    }
    return shell;
}
