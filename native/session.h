/* Keep the messages of a session, each from its own line, and join some of them to a conversation. */

#ifndef TURNLINT_SESSION_H
#define TURNLINT_SESSION_H

#include "facts.h"

/* A message that was read. Its texts are in the window of its line. */
typedef struct {
    Frame frame;
    size_t first; /* of its pieces */
    int count;
} SaidMessage;

enum { MAX_KEPT_MESSAGES = 1 << 16, MAX_KEPT_PIECES = 1 << 16, MAX_FREE_ROWS = 1 << 12 };

typedef struct {
    SaidMessage *messages;
    Piece *pieces;
    size_t count, room, piece_count, piece_room;
} Session;

/* Read a line by the table of its object; without a table, it is a message. False if it has no facts, or its message alone has
   none. */
bool read_session_line(Reader *reader, const Object *line, const Object *message, At at, At end);
/* Keep the message of the line that was read. False beyond the limits, and without memory. */
bool keep_message(Session *session, const Reader *reader);
/* Add a message to the conversation of the reader, without its pieces if it is hollow. False if it has no facts. */
bool join_message(const Session *session, Reader *reader, const Object *message, size_t number, bool is_hollow);
/* Forget all messages. The memory of a short session serves the next one. */
void clear_session(Session *session);
void drop_session(Session *session);

#endif
