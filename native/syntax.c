/* Fill the tables of a wire's syntax from the values that `carrying/syntax.py` compiles. */

#include "syntax.h"

static PyObject *names_of(const char *const *names, size_t count)
{
    PyObject *found = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; found && i < count; i++)
        PyTuple_SetItem(found, (Py_ssize_t)i, PyUnicode_FromString(names[i]));
    return found;
}

PyObject *action_names(void)
{
    static const char *const names[] = {
#define X(name) #name,
        ACTIONS(X)
#undef X
    };
    return names_of(names, ACTION_COUNT);
}

PyObject *piece_names(void)
{
    static const char *const names[] = {
#define X(name) #name,
        PIECES(X)
#undef X
    };
    return names_of(names, PIECE_COUNT);
}

static void clear_words(Words *words)
{
    words->count = 0;
    memset(words->slots, -1, sizeof words->slots);
}

static bool set_word(Word *word, const char *letters, Py_ssize_t size)
{
    if (size > MAX_WORD_BYTES) {
        PyErr_Format(PyExc_ValueError, "a word of the syntax is too long: %s", letters);
        return false;
    }
    word->size = (unsigned char)size;
    memcpy(word->letters, letters, (size_t)size);
    return true;
}

static bool add_word(Words *words, const char *letters, Py_ssize_t size)
{
    if (words->count == MAX_KEYS) {
        PyErr_SetString(PyExc_ValueError, "a list of words of the syntax is too long");
        return false;
    }
    if (!set_word(&words->words[words->count], letters, size))
        return false;
    uint32_t slot = hash_word((const unsigned char *)letters, (size_t)size) >> 24;
    while (words->slots[slot] >= 0)
        slot = (slot + 1) & (WORD_SLOTS - 1);
    words->slots[slot] = (signed char)words->count++;
    return true;
}

static bool fill_keys(Object *object, PyObject *keys)
{
    Py_ssize_t count = PyTuple_Size(keys);
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *letters;
        Py_ssize_t size;
        Key *key = &object->keys[i];
        if (i == (object->is_envelope ? MAX_KEYS : MAX_SEEN_KEYS) || !PyArg_ParseTuple(PyTuple_GetItem(keys, i), "s#ii", &letters, &size, &key->action, &key->argument)
            || !add_word(&object->words, letters, size))
            return false;
        bool is_column = key->action == DO_column || key->action == DO_loose || key->action == DO_number || key->action == DO_flag || key->action == DO_given;
        if (is_column && (key->argument < 0 || key->argument >= MAX_COLUMNS))
            return false;
        if (key->action == DO_told && (key->argument < 0 || key->argument >= MAX_KEYS))
            return false;
    }
    return count >= 0;
}

static bool fill_kinds(Object *object, PyObject *kinds)
{
    Py_ssize_t count = PyTuple_Size(kinds);
    memset(object->kind_of_key, -1, sizeof object->kind_of_key);
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *letters, *prefix, *tool;
        Py_ssize_t size, prefix_size, tool_size;
        int may_be_hosted;
        unsigned long long allowed, needed, marks;
        Kind *kind = &object->kinds[i];
        if (i == MAX_KINDS
            || !PyArg_ParseTuple(PyTuple_GetItem(kinds, i), "s#s#s#KKKiipi", &letters, &size, &prefix, &prefix_size, &tool,
                                 &tool_size, &allowed, &needed, &marks, &kind->piece, &kind->group, &may_be_hosted, &kind->speaker)
            || !set_word(&kind->prefix, prefix, prefix_size) || !set_word(&kind->tool, tool, tool_size))
            return false;
        kind->may_be_hosted = may_be_hosted;
        kind->allowed = allowed;
        kind->needed = needed;
        kind->marks = marks;
        if (!add_word(&object->kind_words, letters, size))
            return false;
        Text word = {(At)letters, (At)letters + size, true, false};
        int key = object->kind_by == KIND_BY_KEY ? find_word(&object->words, &word) : -1;
        if (key >= 0)
            object->kind_of_key[key] = (signed char)i;
    }
    return count >= 0;
}

static bool fill_object(Syntax *syntax, Object *object, PyObject *row)
{
    PyObject *keys, *kinds;
    int is_envelope, is_open;
    if (!PyArg_ParseTuple(row, "OOiipp", &keys, &kinds, &object->kind_by, &object->default_kind, &is_envelope, &is_open))
        return false;
    object->is_envelope = is_envelope;
    object->is_open = is_open;
    object->place = syntax->places;
    clear_words(&object->words);
    clear_words(&object->kind_words);
    if (!fill_keys(object, keys) || !fill_kinds(object, kinds))
        return false;
    syntax->places += object->kind_words.count + MAX_CLASSES;
    if (syntax->places > MAX_PLACES)
        PyErr_SetString(PyExc_ValueError, "the syntax has too many kinds");
    return syntax->places <= MAX_PLACES;
}

static bool fill_roles(Syntax *syntax, PyObject *roles)
{
    Py_ssize_t count = PyTuple_Size(roles);
    clear_words(&syntax->roles);
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *letters;
        Py_ssize_t size;
        int role, neutral;
        if (!PyArg_ParseTuple(PyTuple_GetItem(roles, i), "z#ii", &letters, &size, &role, &neutral) || role < 0 || role >= MAX_ROLES
            || neutral < 0 || neutral >= NEUTRAL_COUNT)
            return false;
        syntax->neutral[role] = (unsigned char)neutral;
        if (!letters) /* the role of items, which have no role key */
            continue;
        syntax->role_of_word[syntax->roles.count] = role;
        if (!add_word(&syntax->roles, letters, size))
            return false;
    }
    return count >= 0;
}

static bool fill_classes(Syntax *syntax, PyObject *classes)
{
    Py_ssize_t count = PyTuple_Size(classes);
    for (Py_ssize_t i = 0; i < count; i++) {
        int role, has_calls, has_results;
        if (!PyArg_ParseTuple(PyTuple_GetItem(classes, i), "ipp", &role, &has_calls, &has_results) || i + 1 >= MAX_CLASSES)
            return false;
        syntax->class_of[role][has_calls * 2 + has_results] = (unsigned char)(i + 1);
    }
    return count >= 0;
}

static bool fill_unusable(Syntax *syntax, PyObject *words)
{
    Py_ssize_t count = PyTuple_Size(words);
    clear_words(&syntax->unusable);
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t size;
        const char *letters = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(words, i), &size);
        if (!letters || !add_word(&syntax->unusable, letters, size))
            return false;
    }
    return count >= 0;
}

static bool fill_evidence(Syntax *syntax, PyObject *rows)
{
    Py_ssize_t count = PyTuple_Size(rows);
    clear_words(&syntax->evidence);
    syntax->evidence_fragments = PyTuple_New(count);
    for (Py_ssize_t i = 0; syntax->evidence_fragments && i < count; i++) {
        const char *letters;
        Py_ssize_t size;
        PyObject *fragment;
        if (!PyArg_ParseTuple(PyTuple_GetItem(rows, i), "s#iS", &letters, &size, &syntax->evidence_window[i], &fragment)
            || !add_word(&syntax->evidence, letters, size))
            return false;
        PyTuple_SetItem(syntax->evidence_fragments, i, Py_NewRef(fragment));
    }
    return syntax->evidence_fragments != NULL;
}

bool fill_syntax(Syntax *syntax, PyObject *objects, PyObject *settings)
{
    PyObject *roles, *classes, *unusable, *letters, *evidence;
    int joins, anywhere, idless, needs_call_type, needs_arguments, may_be_empty, has_bare_lines, window, list_roles;
    if (!PyArg_ParseTuple(settings, "iOOOOOiiiiiipppppppi", &syntax->root, &roles, &classes, &unusable, &letters, &evidence, &syntax->absent_role,
                          &syntax->item_role, &syntax->user_role, &syntax->result_role, &window, &list_roles, &joins, &anywhere, &idless,
                          &needs_call_type, &needs_arguments, &may_be_empty, &has_bare_lines, &syntax->count))
        return false;
    syntax->window = (unsigned)window;
    syntax->list_roles = (unsigned)list_roles;
    syntax->joins = joins;
    syntax->anywhere = anywhere;
    syntax->idless = idless;
    syntax->needs_call_type = needs_call_type;
    syntax->needs_arguments = needs_arguments;
    syntax->may_be_empty = may_be_empty;
    syntax->has_bare_lines = has_bare_lines;
    Py_ssize_t size = 0;
    char *classes_of = NULL;
    if (PyBytes_AsStringAndSize(letters, &classes_of, &size) < 0)
        return false;
    if (size != (Py_ssize_t)sizeof syntax->class_of_letter || PyTuple_Size(objects) != syntax->count || syntax->root >= syntax->count) {
        PyErr_SetString(PyExc_ValueError, "the syntax has a table of another size");
        return false;
    }
    memcpy(syntax->class_of_letter, classes_of, sizeof syntax->class_of_letter);
    syntax->objects = PyMem_Calloc((size_t)syntax->count, sizeof(Object));
    if (!syntax->objects) {
        PyErr_NoMemory();
        return false;
    }
    for (int i = 0; i < syntax->count; i++)
        if (!fill_object(syntax, &syntax->objects[i], PyTuple_GetItem(objects, i))) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "the syntax has too many keys or kinds");
            return false;
        }
    return fill_roles(syntax, roles) && fill_classes(syntax, classes) && fill_unusable(syntax, unusable)
        && fill_evidence(syntax, evidence);
}

void drop_syntax(Syntax *syntax)
{
    PyMem_Free(syntax->objects);
    Py_CLEAR(syntax->evidence_fragments);
}
