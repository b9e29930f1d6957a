"""Write a call or a result of one format in the spelling of another.

The arguments of a call are not decoded: numbers keep their digits, and objects the order of their keys.
"""

from json import dumps, loads
from typing import Any

from turnlint.carrying.writer import MessageWriter
from turnlint.documents.decode import value_of
from turnlint.documents.edit import Style, encode, part
from turnlint.lifecycle import state_of
from turnlint.model import Call, Omitted, Result, Wire

_MARK = "\0arguments"
_OBJECT, _TEXT = "\0object", "\0text"
"""Texts in the place of the arguments, by the encoding that a wire has for them."""


def can_write(writer: MessageWriter | None, *, is_own: bool) -> bool:
    """Whether a format can write a call again. `is_own`: the call is from a file of the same format."""
    if writer is None or writer.result_pointer_in_call:
        return False
    if is_own and writer.has_record_frame:
        return True
    if writer.write_call("", "", {}) is None:
        return False
    return writer.calls_are_messages or writer.write_message("assistant", [], [""]) is not None


def spell_call(
    kept: Omitted, raw: bytes | None, writer: MessageWriter | None, wire: Wire, style: Style
) -> bytes | None:
    """Return a call from its bytes in the spelling of a wire; none where the wire has none for it."""
    call = kept.piece
    if not isinstance(call, Call) or raw is None or writer is None:
        return None
    is_listed = not call.at or isinstance(call.at[-1], int)
    if is_listed and call.dialect is None and kept.wire.speaks == wire.speaks:
        return raw
    if call.arguments not in ("object", "nothing") or not call.id or not call.name:
        return None
    body = part(raw, call.keys.body) if call.arguments == "object" else b"{}"
    if body is not None and body.startswith(b'"'):
        text = value_of(body)
        body = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else None
    if body is None:
        return None
    written = encode(_marked(writer.write_call(call.id, call.name, {_MARK: 0})), style)
    for mark, data in (
        (_OBJECT, body.strip()),
        (_TEXT, encode(body.decode("utf-8", "surrogatepass"), style)),
    ):
        head, found, tail = written.partition(dumps(mark).encode())
        if found:
            return head + data + tail
    return None


def spell_result(
    kept: Omitted, raw: bytes | None, writer: MessageWriter | None, wire: Wire, style: Style, call: Call
) -> bytes | None:
    """Return a result of a call from its bytes in the spelling of a wire; none where the wire has none for its content."""
    result = kept.piece
    if not isinstance(result, Result) or raw is None or writer is None or writer.result_pointer_in_call:
        return None
    is_alike = bool(result.at) == bool(writer.blocks_key) and result.dialect is None
    if is_alike and kept.wire.speaks == wire.speaks and kept.wire.like == wire.like:
        return raw if result.at else _without_frame(raw, writer, style)
    texts = _texts(value_of(part(raw, result.keys.body) or b"null"))
    if texts is None:
        return None
    value = writer.write_result(call, texts, state_of(result) == "error")
    return None if value is None else encode(value, style)


def _without_frame(raw: bytes, writer: MessageWriter, style: Style) -> bytes:
    """Return a message without the keys that the frame of its new record gives it."""
    message = value_of(raw)
    _, framed = writer.record_frame({"message": message}, None) if writer.has_record_frame else ({}, {})
    if not framed or not isinstance(message, dict):
        return raw
    return encode({key: message[key] for key in message if key not in framed}, style)


def _texts(content: Any) -> list[str] | None:
    """Return the texts of a content of texts only; none for any other content."""
    if isinstance(content, str):
        return [content]
    if isinstance(content, dict) and len(content) == 1:
        content = [{"text": content.get("output")}]  # Gemini has no other key for a text
    parts = content if isinstance(content, list) and content else [None]
    texts = [
        one.get("text") if isinstance(one, dict) and one.keys() <= {"type", "text"} else None for one in parts
    ]
    return (
        [one for one in texts if isinstance(one, str)] if all(isinstance(one, str) for one in texts) else None
    )


def _marked(value: Any) -> Any:
    """Return a written call with a mark in place of its arguments."""
    if value == {_MARK: 0}:
        return _OBJECT
    if isinstance(value, dict):
        return {key: _marked(one) for key, one in value.items()}
    return _TEXT if isinstance(value, str) and value.startswith("{") and loads(value) == {_MARK: 0} else value
