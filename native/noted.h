/* Lines that were only looked at: where each stands, for should it have to be read none the less.

   This file owns that list. It refuses to know what the lines are. */

#ifndef TURNLINT_NOTED_H
#define TURNLINT_NOTED_H

#include "talk.h"

typedef struct {
    int64_t offset;
    uint32_t line, size;
} Place;

typedef struct {
    Place *places;
    size_t count, room;
} Noted;

/* Notes a line. False where it cannot be: with an error set where there is no memory, without one where its number is
   larger than any log's. */
bool note_line(Noted *noted, int64_t line, int64_t offset, int64_t size);
/* Lets go of the room for more. */
void trim_noted(Noted *noted);
void drop_noted(Noted *noted);
/* As a list of line, offset and size. */
PyObject *places_noted(const Noted *noted);
PyObject *count_noted(const Noted *noted);
/* The offset of the first; -1 where there is none. */
PyObject *start_noted(const Noted *noted);

#endif
