"""Translate a message in the spelling of another wire into the spelling of this wire.

The translation covers texts, calls and results. A message with any other block, such as an image or a thought, stays
unchanged.
"""

from typing import Any

from msgspec import json

from turnlint.model import Call, Message, Result, Text
from turnlint.repair.losses import says_all
from turnlint.repair.sheet import Sheet


def translate(sheet: Sheet, index: int) -> bool:
    """Translate a message. It may become several, since some wires have one message per result."""
    writer, message = sheet.writer, sheet.messages[index]
    if writer is None or sheet.host(index) is None or not isinstance(sheet.value(index), dict):
        return False
    try:
        spoken = _spoken(sheet, index, message)
        answers = _answers(sheet, index, message)
    except _Unlike:
        return False
    values: list[Any] = list(answers)
    if answers and writer.blocks_key:
        values = [{**writer.result_message_keys, writer.blocks_key: answers}]
    values = [*values, *spoken] if message.role in ("user", "tool") else [*spoken, *values]
    if not values or any(value is None for value in values):
        return False
    first, *others = (sheet.written(value, index) for value in values)
    raw, whole = sheet.raw(index), _around(sheet, index, values[0], first)
    if raw is None or not says_all(raw, (whole, *others)):
        return False
    if not sheet.edits(index).put(sheet.place(index), whole):
        return False
    for piece in others:
        sheet.add(piece, behind=index)
    return True


class _Unlike(Exception):  # noqa: N818 - control flow inside this file
    """A block without an equivalent on this wire."""


def _around(sheet: Sheet, index: int, value: Any, data: bytes) -> bytes:
    """Keep the other keys of a message: its conversation's key and its own metadata.

    The keys of a message that belongs to another wire as a whole belong to that wire too.
    """
    if sheet.place(index) and sheet.messages[index].dialect is not None:
        return data
    if sheet.writer is not None and sheet.writer.calls_are_messages and "role" not in value:
        return data  # a call or a result is no message, and has other keys
    known = sheet.value(index)
    gone = {"role", "content", "parts", "tool_calls", "tool_call_id", "name", "blocks", "speaker"}
    more = {key: known[key] for key in known if key not in gone and key not in value}
    return sheet.written({**value, **more} if sheet.place(index) else {**more, **value}, index)


def _spoken(sheet: Sheet, index: int, message: Message) -> list[Any]:
    """Return the texts and the calls of a message, as messages of this wire."""
    writer = sheet.writer
    assert writer is not None
    texts = [_text(sheet.value(index, block.at)) for block in message.blocks if isinstance(block, Text)]
    calls = [_call(sheet, block) for block in message.blocks if isinstance(block, Call)]
    others = [block for block in message.blocks if not isinstance(block, Text | Call | Result)]
    if others:
        raise _Unlike
    if not texts and not calls:
        return []
    alone = calls if writer.calls_are_messages else []
    said = [writer.write_message(message.role, texts, [] if alone else calls)] if texts or not alone else []
    if None in said:
        raise _Unlike
    return [*said, *alone]


def _call(sheet: Sheet, call: Call) -> Any:
    assert sheet.writer is not None
    if call.arguments not in ("object", "nothing") or call.body.startswith(b"#"):
        raise _Unlike
    arguments = json.decode(call.body) if call.body else {}
    if isinstance(arguments, str):
        arguments = json.decode(arguments) if arguments.strip() else {}
    return sheet.writer.write_call(call.id or "", call.name or "", arguments or {})


def _answers(sheet: Sheet, index: int, message: Message) -> list[Any]:
    writer = sheet.writer
    assert writer is not None
    answers = []
    for block in message.blocks:
        if not isinstance(block, Result):
            continue
        texts = _texts(sheet.value(index, (*block.at, *block.keys.body)))
        asked = sheet.asked_of.get((index, block.at))
        name = block.name or (asked.call.name if asked else None)
        call = Call((), block.keys, block.id, name, b"", "object", kind=_kind(block))
        answers.append(writer.write_result(call, texts, bool(block.error)))
    return answers


def _kind(result: Result) -> str:
    """Return the kind of call that a result of this kind answers."""
    return result.kind.removesuffix("_output") if result.kind.endswith("_output") else ""


def _texts(content: Any) -> list[str]:
    if content is None:
        return [""]
    if isinstance(content, list):
        return [_text(part) for part in content]
    return [_text(content)]


def _text(part: Any) -> str:
    said = part.get("text") if isinstance(part, dict) else part
    if isinstance(part, dict) and not isinstance(said, str):
        said = part.get("output") if len(part) == 1 else None
    if not isinstance(said, str):
        raise _Unlike
    return said
