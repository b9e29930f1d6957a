"""Read messages in the spelling of Chat Completions.

Several wires share that spelling. The module also lists the words in which they differ, and reads such a message within
another wire.
"""

from collections.abc import Callable, Mapping, Sequence
from sys import intern
from typing import Any

from msgspec import Raw, Struct, json, structs

from turnlint.carrying import foreign
from turnlint.carrying.contents import written_arguments
from turnlint.carrying.draft import CONTENT, Draft, signature_of, text_of, together
from turnlint.carrying.raws import (
    KINDS,
    NOTHING,
    NULL,
    QUOTE,
    SHORT,
    content_of,
    head,
    is_blank,
    string,
    written,
)
from turnlint.documents.decode import Shape
from turnlint.lifecycle import is_placeholder
from turnlint.model import (
    Block,
    Call,
    Content,
    Keys,
    Message,
    Misfit,
    Other,
    Pointer,
    Record,
    Result,
    Role,
    Signature,
)  # fmt: skip


class Function(Struct, gc=False):
    name: str | None = None
    arguments: Raw = NOTHING


class Custom(Struct, gc=False):
    name: str | None = None
    input: Raw = NOTHING


class ToolCall(Struct, gc=False):
    id: str | None = None
    type: str | None = None
    function: Function | None = None
    custom: Custom | None = None
    extra_content: Raw = NOTHING


class Turn(Struct, gc=False):
    role: str | None = None
    content: Raw = NOTHING
    tool_calls: Sequence[ToolCall] | None = None
    tool_call_id: str | None = None
    name: str | None = None
    function_call: Function | None = None
    refusal: Raw = NOTHING
    audio: Raw = NOTHING
    reasoning: Raw = NOTHING
    reasoning_content: Raw = NOTHING
    reasoning_details: Raw = NOTHING
    prefix: bool | None = None
    parts: Raw = NOTHING
    items: Raw = NOTHING


class Part(Struct, gc=False):
    type: str | None = None
    text: Raw = NOTHING


ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
FUNCTION_KEYS = Keys(("id",), ("function", "name"), ("function", "arguments"))
CUSTOM_KEYS = Keys(("id",), ("custom", "name"), ("custom", "input"))
LEGACY_KEYS = Keys(("name",), ("name",), ("arguments",))
RESULT_KEYS = Keys(("tool_call_id",), ("name",), ("content",))
OWN_PARTS = frozenset({
    "image_url", "input_audio", "file", "file_url", "refusal", "video_url", "document", "image", "audio_url", "audio",
    "video", "input_image", "input_video", "input_file",
})  # fmt: skip
"""Content parts that this wire and its dialects define, besides text."""

WIRE = "openai-chat"

_parts = json.Decoder(list[Raw])
_members = json.Decoder(dict[str, Raw])
_part = json.Decoder(Part)
_all_parts = json.Decoder(list[Part])
TURN = Shape(Turn)


def calls_of(turn: Turn, dialect: str | None = None) -> list[Call]:
    """Return the calls of a message: functions, custom tools, and the single call of 2023."""
    blocks = calls_in(turn.tool_calls, "tool_calls", dialect) if turn.tool_calls else []
    if turn.function_call is not None:
        body, kind, how = written_arguments(turn.function_call.arguments)
        name = turn.function_call.name
        blocks.append(Call(
            ("function_call",), LEGACY_KEYS, None, name, body, kind, needs_id=False, written=how, kind="function_call"
        ))  # fmt: skip
    return blocks


def _signature(raw: Raw) -> Signature:
    """Return the signature of a thought, from the key of Google's endpoint for this wire."""
    for key in ("google", "thought_signature"):
        try:
            raw = _members.decode(raw).get(key, NOTHING) if head(raw) == b"{" else NOTHING
        except (ValueError, RecursionError):
            return "unfit"
    return signature_of(raw)


def calls_in(calls: Sequence[ToolCall], key: str, dialect: str | None = None) -> list[Call]:
    blocks: list[Call] = []
    for index, call in enumerate(calls):
        place: Pointer = (key, index)
        typed = intern(call.type or "")
        function = call.function
        if function is not None:
            body, kind, how = written_arguments(function.arguments)
            signature: Signature = (
                "absent" if call.extra_content is NOTHING else _signature(call.extra_content)
            )
            blocks.append(Call(
                place, FUNCTION_KEYS, call.id, function.name, body, kind, False, True, dialect, how, typed,
                signature=signature,
            ))  # fmt: skip
        elif call.custom is not None:
            body = bytes(call.custom.input)
            blocks.append(Call(
                place, CUSTOM_KEYS, call.id, call.custom.name, body, "free", dialect=dialect,
                written=written(call.custom.input), kind=typed,
            ))  # fmt: skip
        else:  # still a call, so that its result stays paired
            blocks.append(Call(
                place, FUNCTION_KEYS, call.id, None, b"", "nothing", dialect=dialect, written="absent", kind=typed
            ))  # fmt: skip
    return blocks


def result_of(turn: Turn) -> Result:
    body = bytes(turn.content)
    role = intern(turn.role or "")
    legacy = role == "function"
    how = KINDS.get(body[:1], "other")
    parts: tuple[str, ...] = ()
    if how == "list":
        parts = tuple(dict.fromkeys(part.type for part in foreign.parts_of(turn.content)))
    return Result(
        (),
        RESULT_KEYS,
        None if legacy else turn.tool_call_id,
        turn.name,
        body,
        needs_id=not legacy,
        synthetic=is_placeholder(body),
        written=how,
        parts=parts,
        kind=role,
    )


ReadPart = Callable[[Raw, str, Pointer], Block]
"""Reads a content part from its bytes, its type and its pointer."""


def other(_: Raw, kind: str, at: Pointer) -> Block:
    return Other(at, kind)


def instead(turn: Turn) -> list[Block]:
    """Return the blocks that may replace a content: a refusal or audio."""
    if turn.refusal is NOTHING and turn.audio is NOTHING:
        return []
    found = (("refusal", turn.refusal), ("audio", turn.audio))
    return [Other((key,), key) for key, raw in found if not is_blank(raw)]


class Spelling(Struct, frozen=True):
    """The words in which wires with this spelling differ."""

    roles: Mapping[str, Role]
    parts: Mapping[str, ReadPart]
    """Content parts besides text."""
    beside: Callable[[Any], list[Block]] = instead
    """Return the blocks of a message before its content."""
    calls: Callable[[Any], list[Call]] = calls_of
    result: Callable[[Any], Result] = result_of
    listed: bool = True
    """Whether a content may be a list of parts."""
    closed: bool = True
    """Whether providers reject all other roles."""


PARTS: dict[str, ReadPart] = dict.fromkeys(OWN_PARTS, other)
PLAIN = Spelling(ROLES, PARTS)


def read_turn(
    turn: Turn, at: Pointer, record: Record, spelling: Spelling = PLAIN
) -> tuple[Message, list[Misfit]]:
    said = intern(turn.role or "")
    role = spelling.roles.get(said)
    plain = _read_plain(turn, role, spelling) if role is not None else None
    if role is None or plain is None:
        return _read_odd(turn, at, record, spelling)
    content, blocks = plain
    calls, reasoning = turn.tool_calls, turn.reasoning_content
    message = Message(
        role,
        at,
        together(blocks),
        record,
        said,
        empty=not blocks and role in _SPEAKERS and _says_nothing(turn),
        content=content,
        no_calls=calls is not None and not calls,
        name=turn.name if role != "tool" else None,
        reasoning="absent" if reasoning is NOTHING else content_of(reasoning),
        prefix=turn.prefix is True,
    )
    return message, []


_SPEAKERS = frozenset({"user", "assistant"})


def _read_plain(turn: Turn, role: Role, spelling: Spelling) -> tuple[Content, list[Block]] | None:
    """Return the content and blocks of a typical message with one text or none; none for any other message."""
    text = memoryview(turn.content)
    content: Content = "text"
    if not text.nbytes:
        content = "absent"
    elif text[0] == NULL:
        content = "null"
    elif text[0] != QUOTE or (text.nbytes <= SHORT and is_blank(turn.content)):
        return None
    calls = spelling.calls(turn)
    if role == "tool":
        return None if calls else (content, [spelling.result(turn)])
    if calls and role != "assistant":
        return None
    blocks = spelling.beside(turn)
    for block in blocks:
        if type(block) is Call or type(block) is Result:
            return None
    if content == "text":
        blocks.append(text_of(text, CONTENT, role))
    return content, [*blocks, *calls] if calls else blocks


def _read_odd(turn: Turn, at: Pointer, record: Record, spelling: Spelling) -> tuple[Message, list[Misfit]]:
    said = turn.role or ""
    role = spelling.roles.get(said, "other")
    dialect = None
    out = Draft(at, role)
    if role == "other":
        role, dialect = foreign.ROLES.get(said, (role, None))
        out.role = role
        if dialect is None:
            misfit = foreign.role_misfit(at, turn.role, tuple(spelling.roles))
            out.misfits.append(structs.replace(misfit, grave=spelling.closed or turn.role is None))
    _read_content(turn.content, out, spelling)
    if role == "tool":  # its content is the result; the parts were only checked for calls
        out.blanks, out.blocks = [], [spelling.result(turn)]
        out.echoes += [call.at for call in spelling.calls(turn) if len(call.at) > 1]
    else:
        _read_calls(turn, out, spelling)
        if foreign.only_results(out.blocks):
            role = "tool"
    message = Message(
        role,
        at,
        tuple(out.blocks),
        record,
        said,
        dialect=dialect,
        inner_calls=tuple(out.echoes),
        empty=role in _SPEAKERS and not out.blocks and _says_nothing(turn),
        content=content_of(turn.content),
        blanks=tuple(out.blanks),
        name=turn.name if role != "tool" else None,
        reasoning=content_of(turn.reasoning_content),
        prefix=bool(turn.prefix),
        no_calls=turn.tool_calls is not None and not turn.tool_calls,
    )
    return message, out.misfits


def _read_calls(turn: Turn, out: Draft, spelling: Spelling) -> None:
    """Read the calls beside a content. Frameworks record a call in both places: it is one call."""
    out.blocks = [*spelling.beside(turn), *out.blocks]
    own = spelling.calls(turn)
    if own:
        if out.role in ("user", "system"):
            out.amiss(own[0].at, "no calls in this role", "a call", grave=False)
        twins: dict[str, tuple[Call, ...]] = {call.id: () for call in own if call.id}
        for block in out.blocks:
            if isinstance(block, Call) and block.id in twins:
                twins[block.id] += (block,)
        out.blocks = [block for block in out.blocks if not (isinstance(block, Call) and block.id in twins)]
        out.blocks += [
            structs.replace(call, also=twins[call.id]) if call.id and twins[call.id] else call for call in own
        ]


def _read_content(content: Raw, out: Draft, spelling: Spelling) -> None:
    """Read a text, parts, or nothing. Any other kind is a misfit."""
    first = head(content)
    if first == b'"':
        out.say(content, ("content",))
        return
    if first not in (b"", b"n", b"[" if spelling.listed else b""):
        out.amiss(("content",), "a string or a list of parts" if spelling.listed else "a string", content)
    if first == b"[":
        texts = _texts_in(content)
        if texts is not None:
            for index, text in enumerate(texts):
                out.say(text, ("content", index))
            return
        for index, raw in enumerate(_parts.decode(content)):
            _read_part(raw, ("content", index), out, spelling)


def _texts_in(content: Raw) -> list[Raw] | None:
    """Return the texts of a list of only texts."""
    try:
        parts = _all_parts.decode(content)
    except (ValueError, RecursionError):
        return None
    return [part.text for part in parts] if all(part.type == "text" for part in parts) else None


def _read_part(raw: Raw, place: Pointer, out: Draft, spelling: Spelling) -> None:
    first = head(raw)
    if first == b'"':  # some clients send bare strings, and servers accept them
        out.say(raw, place)
        return
    if first != b"{":
        out.amiss(place, "an object", raw)
        return
    kind = _type_of(raw)
    if kind == "text":
        out.say(_part.decode(raw).text, place)
    elif kind is not None and kind in spelling.parts:
        out.blocks.append(spelling.parts[kind](raw, kind, place))
    else:
        out.blocks.append(foreign.block(raw, kind, place))


def _type_of(raw: Raw) -> str | None:
    value = json.decode(raw, type=dict[str, Raw]).get("type", NOTHING)
    return string(value)


def _says_nothing(turn: Turn) -> bool:
    others = (turn.refusal, turn.audio, turn.reasoning, turn.reasoning_content, turn.reasoning_details)
    return all(map(is_blank, others))
