/* Find which of some words occur in a text, in one pass. See `carriers/_marks.py`. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "text.h"

enum { MOST_WORDS = 250, PAIRS = 1 << 16 };

typedef struct {
    const unsigned char *start;
    size_t size;
    bool found;
    unsigned char next; /* the number, from 1, of another word with the same first two bytes; 0: none */
} Word;

typedef struct {
    Word words[MOST_WORDS];
    size_t count;
    unsigned char first[PAIRS]; /* the number, from 1, of a word by its first two bytes; 0: none */
} Search;

static unsigned pair_at(At at) { return at[0] | (unsigned)at[1] << 8; }

static bool take_words(Search *search, PyObject *words)
{
    search->count = (size_t)PyTuple_Size(words);
    if (search->count > MOST_WORDS) {
        PyErr_SetString(PyExc_ValueError, "too many words");
        return false;
    }
    for (size_t i = 0; i < search->count; i++) {
        char *start;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(words, (Py_ssize_t)i), &start, &size) < 0)
            return false;
        if (size < 2) {
            PyErr_SetString(PyExc_ValueError, "a word has two bytes at least");
            return false;
        }
        unsigned char *first = &search->first[pair_at((At)start)];
        search->words[i] = (Word){(At)start, (size_t)size, false, *first};
        *first = (unsigned char)(i + 1);
    }
    return true;
}

/* Mark the words that occur at this position as found, and remove them from the search. */
static void look_at(Search *search, At at, At end)
{
    unsigned char *link = &search->first[pair_at(at)];
    while (*link) {
        Word *word = &search->words[*link - 1];
        word->found = (size_t)(end - at) >= word->size && memcmp(at, word->start, word->size) == 0;
        if (word->found)
            *link = word->next;
        else
            link = &word->next;
    }
}

static PyObject *answer(const Search *search)
{
    PyObject *found = PyList_New(0);
    for (size_t i = 0; found && i < search->count; i++)
        if (PyList_Append(found, search->words[i].found ? Py_True : Py_False) < 0)
            Py_CLEAR(found);
    return found;
}

PyObject *find_words(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *texts, *words;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &texts, &PyTuple_Type, &words))
        return NULL;
    Search *search = PyMem_Calloc(1, sizeof(Search));
    if (!search)
        return PyErr_NoMemory();
    bool fine = take_words(search, words);
    for (Py_ssize_t i = 0; fine && i < PyList_Size(texts); i++) {
        char *start;
        Py_ssize_t size;
        fine = PyBytes_AsStringAndSize(PyList_GetItem(texts, i), &start, &size) == 0;
        At end = fine ? (At)start + size : NULL;
        for (At at = (At)start; fine && end - at >= 2; at++)
            if (search->first[pair_at(at)])
                look_at(search, at, end);
    }
    PyObject *found = fine ? answer(search) : NULL;
    PyMem_Free(search);
    return found;
}
