/* Validate strict JSON. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "strict.h"

enum { MAX_KEYS_ON_STACK = 512 };

uint64_t hash_bytes(const unsigned char *bytes, size_t size)
{
    uint64_t hash = size * 0x9E3779B97F4A7C15ull, word;
    for (; size >= 8; size -= 8, bytes += 8) {
        memcpy(&word, bytes, 8);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, bytes, size);
    return mix(hash, word);
}

/* Whether the object already has the key. The array of hashes makes the check of thousands of keys cheap. */
static bool has_key(const OpenKeys *open, int first, uint32_t hash, const Text *key)
{
    for (int i = first; i < open->count; i++)
        if (open->hashes[i] == hash && same(key, open->keys[i].start, length(&open->keys[i])))
            return true;
    return false;
}

At read_member(OpenKeys *open, At at, At end, int first, uint64_t *bloom, Text *key)
{
    at = read_text(at, end, key);
    if (!at || !key->plain || open->count == open->limit)
        return NULL;
    uint32_t hash = (uint32_t)hash_bytes(key->start, length(key));
    uint64_t bit = (uint64_t)1 << (hash & 63);
    if ((*bloom & bit) && has_key(open, first, hash, key))
        return NULL;
    *bloom |= bit;
    open->keys[open->count] = *key;
    open->hashes[open->count++] = hash;
    at = skip_space(at, end);
    return at < end && *at == ':' ? skip_space(at + 1, end) : NULL;
}

static At read_any_object(OpenKeys *open, At at, At end, int depth)
{
    int first = open->count;
    uint64_t bloom = 0;
    bool more;
    Text key;
    at = enter(at, end, '{', '}', &more);
    while (at && more) {
        at = read_member(open, at, end, first, &bloom, &key);
        if (at)
            at = read_any(open, at, end, depth);
        if (at)
            at = onward(at, end, '}', &more);
    }
    open->count = first;
    return at;
}

static At read_any_list(OpenKeys *open, At at, At end, int depth)
{
    bool more;
    at = enter(at, end, '[', ']', &more);
    while (at && more) {
        at = read_any(open, at, end, depth);
        if (at)
            at = onward(at, end, ']', &more);
    }
    return at;
}

At read_any(OpenKeys *open, At at, At end, int depth)
{
    if (at >= end || depth > MAX_DEPTH)
        return NULL;
    if (*at == '{')
        return read_any_object(open, at, end, depth + 1);
    if (*at == '[')
        return read_any_list(open, at, end, depth + 1);
    return read_scalar(at, end);
}

/* Whether a decoder that skips unneeded values misses no fault in a JSON text. False: unknown. */
PyObject *is_plain(PyObject *module, PyObject *data)
{
    (void)module;
    char *bytes;
    Py_ssize_t size;
    Text keys[MAX_KEYS_ON_STACK];
    uint32_t hashes[MAX_KEYS_ON_STACK];
    OpenKeys open = {keys, hashes, 0, MAX_KEYS_ON_STACK};
    if (PyBytes_AsStringAndSize(data, &bytes, &size) < 0)
        return NULL;
    At end = (At)bytes + size, at = read_any(&open, skip_space((At)bytes, end), end, 0);
    return PyBool_FromLong(at && skip_space(at, end) == end);
}
