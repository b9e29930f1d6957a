"""Read training samples in the form of ShareGPT: `conversations`, `from`, `value`, no ids.

One observation answers several calls in one value, as LLaMA-Factory writes them (its converter, formatter and
data/README, read 2026-11). Calls written as text are no calls here, since the model is to learn exactly that text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from json import dumps
from typing import Any

from msgspec import Raw, Struct, field, json, structs

from turnlint.carrying.carrier import SPEAKS, Reader, Stray
from turnlint.carrying.contents import arguments_in_text
from turnlint.carrying.draft import Draft
from turnlint.carrying.envelope import Dialect, make_carrier
from turnlint.carrying.outer import Envelope
from turnlint.carrying.raws import NOTHING, content_of, given, head, string, written
from turnlint.carrying.writer import MessageWriter
from turnlint.documents.decode import Decoded, Shape
from turnlint.lifecycle import is_placeholder
from turnlint.model import (
    Arguments,
    Block,
    Call,
    Keys,
    Message,
    Misfit,
    Other,
    Pointer,
    Record,
    Result,
    Role,
    Text,
    Transcript,
    Wire,
)  # fmt: skip


class Turn(Struct, gc=False):
    who: str | None = field(default=None, name="from")
    value: Raw = NOTHING


class Body(Envelope, gc=False, kw_only=True):
    conversations: list[Turn] | None = None
    items: list[Turn] | None = None
    messages: list[Turn] | None = None
    chosen: Raw = NOTHING
    rejected: Raw = NOTHING
    who: Raw = field(default=NOTHING, name="from")
    value: Raw = NOTHING


class Asked(Struct, gc=False):
    """A call in the JSON of a value."""

    name: Raw = NOTHING
    arguments: Raw = NOTHING
    parameters: Raw = NOTHING


ROLES: dict[str, Role] = {
    "system": "system",
    "human": "user", "user": "user",
    "gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant", "bing": "assistant", "bard": "assistant",
    "model": "assistant", "function_call": "assistant", "tool_call": "assistant",
    "observation": "tool", "tool": "tool", "tool_response": "tool", "function_response": "tool", "function": "tool",
}  # fmt: skip
ANSWERS = {"function_call": "observation", "tool_call": "tool_response"}
"""The speakers of calls, and the speakers of results in samples of the same writer."""
SPEAKERS: dict[Role, str] = {"system": "system", "user": "human", "assistant": "gpt"}
CALL_KEYS = Keys(("name",), ("name",), ("arguments",))
"""Values inside a text have no pointer of their own."""
RESULT_KEYS = Keys(("value",), ("value",), ("value",))
WIRE = Wire("sharegpt", idless=True)
TURN = Shape(Turn)
TEXT_CALLS = "text-calls"
"""The name of the count of calls in texts."""
_TEXT_CALL, _MAYBE_CALL = _WRITTEN = "text-call", "maybe-call"
HARMLESS = frozenset({"duplicate-key", "duplicate-keys", "not-a-number"})
"""Faults that Python's JSON parser, and thus LLaMA-Factory, accepts."""

_LISTED = re.compile(r"(?:\A\s*\[|\)\s*,\s*)[\w./ -]{1,99}\((?=[^()]*[=)])")
_GLAIVE = "<functioncall>"
_LIKE_A_CALL = re.compile(
    r"""^[ \t]*Action[ \t]*:|["'](?:name|function|tool|tool_name|action)["']\s*:\s*["']|<[^<>]{1,99}>|```""",
    re.MULTILINE,
)
"""Calls as text: the notations of `carrying.contents`, ToolACE and Glaive, and signs of others (read 2026-11)."""
_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
_NAME = re.compile(r"""["']name["']\s*:\s*["']([^"'\\]+)["']""")
_asked = json.Decoder(Asked | list[Asked])


def read_turn(turn: Turn, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    said = turn.who or ""
    out = Draft(at, ROLES.get(said, "other"))
    if turn.who is None:
        out.amiss((), "a speaker under `from`", "none")
    elif out.role == "other":  # a trainer can be configured for any name, so it is only unusual
        out.amiss(("from",), "one of the speakers " + ", ".join(ROLES), f"`{said[:40]}`", grave=False)
    if not given(turn.value):
        out.amiss((), "a string under `value`", "none")
    elif head(turn.value) not in (b'"', b"n"):
        out.amiss(("value",), "a string", turn.value)
    if said in ANSWERS:
        _read_calls(turn.value, said, out)
    elif out.role == "tool":
        content = bytes(turn.value)
        out.blocks.append(
            Result(
                (), RESULT_KEYS, None, None, content, needs_id=False, synthetic=is_placeholder(content),
                written=written(turn.value), kind=said,
            )
        )  # fmt: skip
    elif head(turn.value) == b'"':
        out.say(turn.value, ("value",))
        if out.role == "assistant":
            out.blocks += _written_calls(turn.value, out.blocks[0]) if out.blocks else []
    message = Message(
        out.role, at, tuple(out.blocks), record, said,
        empty=out.role in ("user", "assistant") and not (out.blocks or out.misfits),
        content=content_of(turn.value), blanks=tuple(out.blanks),
    )  # fmt: skip
    return message, out.misfits


def _written_calls(value: Raw, said: Block) -> list[Block]:
    """Return a block for each call that the model writes in a text, or one block if the text may have a call."""
    data = bytes(value)
    if not any(one in data for one in (b"<", b"[", b"{", b"Action", b"`")):
        return []
    text = string(value) or ""
    if _is_marked(said):
        from turnlint.carrying.grammars import any_mark

        count = sum(1 for _ in re.finditer(any_mark(), text))
    else:
        is_list = text.lstrip()[:1] == "[" and text.rstrip()[-1:] == "]"
        count = text.count(_GLAIVE) + (sum(1 for _ in _LISTED.finditer(text)) if is_list else 0)
    kinds = [_TEXT_CALL] * count or [_MAYBE_CALL] * bool(_LIKE_A_CALL.search(text))
    return [Other(("value",), kind) for kind in kinds]


def _read_calls(value: Raw, said: str, out: Draft) -> None:
    """Read one call, or a list of calls, as JSON in a text. A text without JSON is kept as a text."""
    text = string(value)
    if text is None:
        if head(value) in (b"{", b"["):
            _take(value, said, out)
        return
    thought = _THOUGHT.match(text)
    data = (text[thought.end() :] if thought else text).strip()
    if data[:1] not in ("{", "["):
        out.say(value, ("value",))
        if not any(map(_is_marked, out.blocks)):
            out.amiss(("value",), "JSON of a call or of a list of them", "a string that is not such JSON")
        out.blocks = list(map(_plain, out.blocks))
    elif not _take(data.encode(), said, out):
        name = _NAME.search(data)
        found, how = _damaged(data.encode())
        out.blocks.append(_call(("value",), name[1] if name else None, found, how, said))


def _take(data: bytes | Raw, said: str, out: Draft) -> bool:
    """Add valid calls; return whether they are valid."""
    try:
        asked = _asked.decode(data)
    except (ValueError, RecursionError):
        return False
    several = isinstance(asked, list)
    for index, one in enumerate(asked if isinstance(asked, list) else [asked]):
        raw = one.arguments if given(one.arguments) else one.parameters
        body, how = arguments_in_text(raw)
        # Inside a text any JSON is possible, and trainers accept it.
        how = "other" if how == "unfit" else how
        at: Pointer = ("value", index) if several else ("value",)
        out.blocks.append(_call(at, string(one.name), body, how, said))
    if not out.blocks:
        out.amiss(("value",), "a call", "an empty list")
    return True


def _damaged(data: bytes) -> tuple[bytes, Arguments]:
    """Classify damaged JSON of a value. A lenient JSON parser may accept it."""
    from turnlint.documents import exact

    reading = exact.read(data)
    if not reading.whole:
        return data, "torn" if reading.troubles[-1].kind == "torn" else "broken"
    taken = all(trouble.kind in HARMLESS for trouble in reading.troubles)
    return data, "object" if taken and isinstance(reading.value, dict) else "broken"


def _call(at: Pointer, name: str | None, body: bytes, how: Arguments, said: str) -> Call:
    return Call(at, CALL_KEYS, None, name, body, how, needs_id=False, written="text", kind=said)


def _is_marked(block: Block) -> bool:
    return isinstance(block, Text) and block.call_marker is not None


def _plain(block: Block) -> Block:
    return structs.replace(block, call_marker=None, grammar="") if isinstance(block, Text) else block


class _Turn(Struct):
    """Consecutive messages with calls, and the results directly after them."""

    asked: list[tuple[int, list[Call]]]
    results: list[int] = []

    @property
    def calls(self) -> list[tuple[int, Call]]:
        return [(index, call) for index, calls in self.asked for call in calls]

    @property
    def open(self) -> int:
        """Return the number of open calls. One observation answers all calls of one value."""
        return 0 if len(self.results) == 1 else max(0, len(self.calls) - len(self.results))

    def filled(self, messages: Sequence[Message]) -> bool:
        """Whether one of its results is a placeholder, so that the real result may be elsewhere."""
        blocks = (block for index in self.results for block in messages[index].blocks)
        return any(isinstance(block, Result) and block.synthetic for block in blocks)


class _Stray(Struct):
    """A result that no open call precedes, and the message before it."""

    index: int
    behind: Message | None


def settled(said: Transcript) -> Transcript:
    """Return a sample with results assigned to calls as its writer intended."""
    messages = list(said.messages)
    written = _take_written(messages)
    turns, strays = _turns(messages)
    for turn in turns:
        if len(turn.results) == 1:
            (index,) = turn.results
            messages[index] = structs.replace(
                messages[index], blocks=messages[index].blocks * len(turn.calls)
            )
    if not turns:  # calls in texts are training targets, which no program had to parse
        messages = [structs.replace(one, blocks=tuple(map(_plain, one.blocks))) for one in messages]
    last = len(messages) - 1
    waiting = [turn for turn in turns if turn.open and turn.asked[-1][0] < last]
    if waiting:
        _share_out(messages, waiting, strays)
    else:
        for stray in strays:
            if _answers_text(stray.behind, only_texts=not turns and bool(written)):
                messages[stray.index] = _set_aside(messages[stray.index])
    # Where each call has its result, a surplus result is as certainly wrong as for a provider that counts results.
    known = not waiting and not any(turn.filled(messages) for turn in turns)
    grave = known and any(_answers_nothing(stray.behind) for stray in strays)
    joins = any(len(turn.asked) > 1 for turn in turns)
    wire = structs.replace(said.wire, joins=joins, counts=grave, suspects=not turns and not written)
    noted = () if turns or not written else ((TEXT_CALLS, written),)
    return structs.replace(said, wire=wire, messages=tuple(messages), open_end=True, noted=noted)


def _take_written(messages: list[Message]) -> int:
    """Remove the blocks of calls written as text, and return the number of these calls."""
    count = 0
    for index, message in enumerate(messages):
        pieces = [one for one in message.blocks if isinstance(one, Other) and one.kind in _WRITTEN]
        if not pieces:
            continue
        blocks = tuple(one for one in message.blocks if one not in pieces)
        messages[index] = structs.replace(message, blocks=blocks)
        is_answered = index + 1 < len(messages) and messages[index + 1].role == "tool"
        count += sum(one.kind == _TEXT_CALL or is_answered for one in pieces)
    return count


def _turns(messages: Sequence[Message]) -> tuple[list[_Turn], list[_Stray]]:
    """Return the turns with calls, and the results that are elsewhere or surplus."""
    turns: list[_Turn] = []
    strays: list[_Stray] = []
    now: _Turn | None = None
    behind: Message | None = None
    for index, message in enumerate(messages):
        calls = [block for block in message.blocks if isinstance(block, Call)]
        if message.role == "tool":
            if now is not None:
                now.results.append(index)
            else:
                strays.append(_Stray(index, behind))
            continue
        if now is not None and (not calls or now.results):
            strays += _close(now, turns, behind)
            now = None
        if calls:
            now = now or _Turn([])
            now.asked.append((index, calls))
        behind = message
    return turns, [*strays, *(_close(now, turns, behind) if now is not None else ())]


def _close(turn: _Turn, turns: list[_Turn], behind: Message | None) -> list[_Stray]:
    """Add a turn, and return its surplus results.

    Consecutive messages with calls are one turn if each call has a result; else each message is a turn by itself.
    """
    if len(turn.calls) != len(turn.results):
        turns += [_Turn([asked]) for asked in turn.asked[:-1]]
        turn.asked = turn.asked[-1:]
    turns.append(turn)
    room = len(turn.calls)
    extra, turn.results = turn.results[room:], turn.results[:room]
    return [_Stray(index, behind) for index in extra]


def _share_out(messages: list[Message], waiting: Sequence[_Turn], strays: Sequence[_Stray]) -> None:
    """Exclude results that may answer any of several calls. The ledger pairs a single result and a single call."""
    if len(strays) == sum(turn.open for turn in waiting) == 1:
        return
    for stray in strays:
        messages[stray.index] = _set_aside(messages[stray.index])


def _set_aside(message: Message) -> Message:
    return structs.replace(message, blocks=(Other(("value",), message.written_role),))


def _answers_text(behind: Message | None, *, only_texts: bool) -> bool:
    """Whether a result follows a message of the model whose call is a text."""
    if behind is None or behind.role != "assistant" or _answers_nothing(behind):
        return False
    return only_texts or behind.written_role in ANSWERS or any(map(_is_marked, behind.blocks))


def _answers_nothing(behind: Message | None) -> bool:
    """Whether a result after this message has no call: the user spoke, or all calls have results."""
    if behind is None or behind.role != "assistant":
        return True
    return any(isinstance(block, Call) for block in behind.blocks)


class _Reading:
    """A reader of one source that assigns the results of each complete sample."""

    def __init__(self, inner: Reader) -> None:
        self.inner = inner

    def feed(self, decoded: Decoded[Any], /) -> list[Transcript | Stray]:
        return [*_each_settled(self.inner.feed(decoded))]

    def finish(self) -> list[Transcript | Stray]:
        return [*_each_settled(self.inner.finish())]


def _each_settled(found: Iterable[Transcript | Stray]) -> Iterator[Transcript | Stray]:
    return (settled(one) if isinstance(one, Transcript) else one for one in found)


def _replies(body: Any) -> list[tuple[Pointer, Turn]]:
    """Return the better and the worse answer of a preference sample: each continues the same conversation."""
    found: list[tuple[Pointer, Turn]] = []
    for name in ("chosen", "rejected"):
        turn = TURN.inner(getattr(body, name), (name,))[0] if head(getattr(body, name)) == b"{" else None
        if turn is not None and turn.who is not None:
            found.append(((name,), turn))
    return found


def _is_turn(envelope: Any) -> bool:
    return string(envelope.who) is not None and given(envelope.value)


def _evidence(value: Any) -> int:
    return SPEAKS * (isinstance(value, Turn) and value.who in ROLES and given(value.value))


class ShareGPTWriter(MessageWriter):
    """The writer of the samples of LLaMA-Factory."""

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:  # noqa: ARG002 - the format has no key for it
        """Write one result for all calls of a list, in place of that of the first call."""
        if isinstance(call.at[-1], int) and call.at[-1] > 0:
            return None
        return {"from": ANSWERS[call.kind], "value": "\n".join(texts)}

    def write_call(self, identifier: str, name: str, arguments: Any) -> Any:  # noqa: ARG002 - calls have no id
        return {"name": name, "arguments": arguments}

    def write_message(self, role: Role, texts: Sequence[str], calls: Sequence[Any]) -> Any:
        """Write a message with a text or with calls: no message has both."""
        if role not in SPEAKERS or (texts and calls):
            return None
        if calls:
            return {
                "from": "function_call",
                "value": dumps(calls if len(calls) > 1 else calls[0], ensure_ascii=False),
            }
        return {"from": SPEAKERS[role], "value": "\n".join(texts)}


_carrier = make_carrier(
    Dialect(
        wire=WIRE,
        envelope=Body,
        turn=Turn,
        keys=("conversations", "items", "messages"),
        listed="",
        turn_key="from",
        read_turn=read_turn,
        is_turn=_is_turn,
        lines=((),),
        replies=_replies,
        ends_open=lambda _: True,
        evidence=_evidence,
        writer=ShareGPTWriter(),
    ),
    title="ShareGPT",
    about="training samples with `from` and `value`: LLaMA-Factory (calls and observations), Hermes, preference pairs",
)
CARRIER = structs.replace(_carrier, open=lambda: _Reading(_carrier.open()), message_keys=frozenset[str]())
"""An object with a key `from` alone is no message of this format."""
