/* Strict JSON without a meaning: valid values whose objects have no key twice.

   A value that the plain reader may read in another way gives NULL: an escaped key, a number with many digits. */

#ifndef TURNLINT_STRICT_H
#define TURNLINT_STRICT_H

#include <stdint.h>

#include "text.h"

enum { MAX_DEPTH = 60 };

/* The keys of the objects that are open, those of the inner object last. */
typedef struct {
    Text *keys;
    uint32_t *hashes;
    int count, limit;
} OpenKeys;

/* The key of a member and its colon. NULL for a key that the object has twice. `first` is the place of its first key. */
At read_member(OpenKeys *open, At at, At end, int first, uint64_t *bloom, Text *key);
/* A value without a meaning. */
At read_any(OpenKeys *open, At at, At end, int depth);

static inline uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0xFF51AFD7ED558CCDull;
    return hash ^ hash >> 32;
}
uint64_t hash_bytes(const unsigned char *bytes, size_t size);

#endif
