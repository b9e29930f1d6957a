/* See `noted.h`. */

#include "noted.h"

#include <stdlib.h>

static bool make_room(Noted *noted, size_t room)
{
    Place *places = realloc(noted->places, room * sizeof(Place));
    if (!places)
        return false;
    noted->places = places;
    noted->room = room;
    return true;
}

bool note_line(Noted *noted, int64_t line, int64_t offset, int64_t size)
{
    if (line > UINT32_MAX || size > UINT32_MAX)
        return false;
    if (noted->count == noted->room && !make_room(noted, noted->room + noted->room / 2 + 8)) {
        PyErr_NoMemory();
        return false;
    }
    noted->places[noted->count++] = (Place){offset, (uint32_t)line, (uint32_t)size};
    return true;
}

void trim_noted(Noted *noted)
{
    if (noted->count && noted->count < noted->room)
        make_room(noted, noted->count);
}

void drop_noted(Noted *noted)
{
    free(noted->places);
    *noted = (Noted){0};
}

PyObject *places_noted(const Noted *noted)
{
    PyObject *found = PyList_New(0);
    for (size_t i = 0; found && i < noted->count; i++) {
        const Place *one = &noted->places[i];
        PyObject *place = Py_BuildValue("(LLL)", (long long)one->line, (long long)one->offset, (long long)one->size);
        if (!place || PyList_Append(found, place) < 0)
            Py_CLEAR(found);
        Py_XDECREF(place);
    }
    return found;
}

PyObject *start_noted(const Noted *noted)
{
    return PyLong_FromLongLong(noted->count ? (long long)noted->places[0].offset : -1);
}

PyObject *count_noted(const Noted *noted)
{
    return PyLong_FromSize_t((size_t)noted->count);
}
