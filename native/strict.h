/* Validate strict JSON: values whose objects have no duplicate key.

   A value that the Python parser may decode differently gives NULL: an escaped key, a number with many digits. */

#ifndef TURNLINT_STRICT_H
#define TURNLINT_STRICT_H

#include <stdint.h>

#include "text.h"

enum { MAX_DEPTH = 60 };

/* The keys of the open objects, those of the innermost object last. */
typedef struct {
    Text *keys;
    uint32_t *hashes;
    int count, limit;
} OpenKeys;

/* Read the key of a member and its colon. NULL for a duplicate key. `first` is the index of the object's first key. */
At read_member(OpenKeys *open, At at, At end, int first, uint64_t *bloom, Text *key);
/* Read a value of any kind. */
At read_any(OpenKeys *open, At at, At end, int depth);

static inline uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0xFF51AFD7ED558CCDull;
    return hash ^ hash >> 32;
}
uint64_t hash_bytes(const unsigned char *bytes, size_t size);

#endif
