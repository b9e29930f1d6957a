/* Read the lines of a session, and keep their messages. */

#include "session.h"

static bool add_said(Reader *reader, const Object *message, Frame *frame)
{
    return message->kind_words.count ? add_item(reader, message, frame) : add_message(reader, message, frame);
}

/* Read a line as an object. False if the object is not all of the line. */
static bool read_whole(Reader *reader, const Object *object, At at, At end, Frame *frame)
{
    forget_line(reader);
    memset(reader->columns, 0, sizeof reader->columns);
    reader->flags = 0;
    reader->has_said = false;
    at = skip_space(at, end);
    at = at < end && *at == '{' ? read_object_by(reader, object, at, end, frame, 0) : NULL;
    return at && skip_space(at, end) == end;
}

bool read_session_line(Reader *reader, const Object *line, const Object *message, At at, At end)
{
    Frame frame = {.kind = -1};
    const Kind *kind;
    reader->line = line;
    if (line && read_whole(reader, line, at, end, &frame) && settle_kind(reader, line, &frame, &kind)) {
        reader->line_kind = (int)(kind - line->kinds);
    } else {
        frame = (Frame){.kind = -1};
        if ((line && !reader->syntax.has_bare_lines) || !read_whole(reader, message, at, end, &frame))
            return false;
        reader->line_kind = line ? line->kind_words.count : 0;
        reader->has_said = true;
        reader->said = frame;
    }
    frame = reader->said;
    if (reader->has_said && !add_said(reader, message, &frame))
        return false;
    if (reader->has_said)
        reader->flags |= (reader->syntax.neutral[reader->role] + 1u) << ROLE_SHIFT
            | (unsigned)(reader->said.content != CONTENT_absent) << CONTENT_SHIFT;
    return true;
}

/* Make room for more elements of a size. False without memory, and then nothing changes. */
static bool grow(void **rows, size_t *room, size_t needed, size_t size)
{
    if (needed <= *room)
        return true;
    void *grown = PyMem_Realloc(*rows, needed * 2 * size);
    if (!grown)
        return false;
    *rows = grown;
    *room = needed * 2;
    return true;
}

bool keep_message(Session *session, const Reader *reader)
{
    size_t count = (size_t)reader->piece_count;
    void *messages = session->messages, *pieces = session->pieces;
    bool has_room = session->count < MAX_KEPT_MESSAGES && session->piece_count + count <= MAX_KEPT_PIECES
        && grow(&messages, &session->room, session->count + 1, sizeof *session->messages);
    session->messages = messages;
    has_room = has_room && grow(&pieces, &session->piece_room, session->piece_count + count, sizeof *session->pieces);
    session->pieces = pieces;
    if (!has_room)
        return false;
    session->messages[session->count++] = (SaidMessage){reader->said, session->piece_count, (int)count};
    if (count)
        memcpy(session->pieces + session->piece_count, reader->pieces, count * sizeof *session->pieces);
    session->piece_count += count;
    return true;
}

bool join_message(const Session *session, Reader *reader, const Object *message, size_t number, bool is_hollow)
{
    const SaidMessage *said = &session->messages[number];
    Frame frame = said->frame;
    if (is_hollow) {
        Frame bare = {.kind = frame.kind, .type = frame.type, .role = frame.role, .written = frame.written, .content = frame.content,
                      .speaks_beside = true};
        reader->piece_count = 0;
        return frame.content != CONTENT_text && add_said(reader, message, &bare);
    }
    reader->piece_count = said->count;
    if (said->count)
        memcpy(reader->pieces, session->pieces + said->first, (size_t)said->count * sizeof *session->pieces);
    return add_said(reader, message, &frame);
}

void clear_session(Session *session)
{
    if (session->room > MAX_FREE_ROWS || session->piece_room > MAX_FREE_ROWS)
        drop_session(session);
    session->count = session->piece_count = 0;
}

void drop_session(Session *session)
{
    PyMem_Free(session->messages);
    PyMem_Free(session->pieces);
    memset(session, 0, sizeof *session);
}
