"""The ways in which a request-shaped conversation is wrapped, whatever the wire.

This module owns request bodies, bare arrays of messages, request and response pairs, batch and
fine-tuning lines, and one message a line grouped by a conversation key. It refuses to know how a
message is spelled: each wire brings that as a `Dialect`.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from msgspec import Raw, Struct, json, structs

from turnlint.carrying.carrier import NEUTRAL, STRANGE, Carrier, Stray
from turnlint.carrying.lines import Lines
from turnlint.carrying.raws import NOTHING, given, head
from turnlint.documents.decode import Decoded, Shape, dig
from turnlint.model import Message, Misfit, Pointer, Record, Transcript, Wire


class Envelope(Struct, gc=False, kw_only=True):
    """Keys of a record that are not a message's. All are kept raw: a proxy may put anything there."""

    body: Raw = NOTHING
    params: Raw = NOTHING
    request: Raw = NOTHING
    request_body: Raw = NOTHING
    response: Raw = NOTHING
    response_body: Raw = NOTHING
    result: Raw = NOTHING
    input: Raw = NOTHING
    inputs: Raw = NOTHING
    output: Raw = NOTHING
    outputs: Raw = NOTHING
    message: Raw = NOTHING
    error: Raw = NOTHING
    model: Raw = NOTHING
    previous_response_id: Raw = NOTHING
    role: Raw = NOTHING
    speaker: Raw = NOTHING
    type: Raw = NOTHING

    id: Raw = NOTHING
    custom_id: Raw = NOTHING
    conversation_id: Raw = NOTHING
    conversationId: Raw = NOTHING
    conversation: Raw = NOTHING
    thread_id: Raw = NOTHING
    threadId: Raw = NOTHING
    session_id: Raw = NOTHING
    sessionId: Raw = NOTHING
    chat_id: Raw = NOTHING
    trace_id: Raw = NOTHING
    request_id: Raw = NOTHING

    message_id: Raw = NOTHING
    uuid: Raw = NOTHING
    parent_id: Raw = NOTHING
    parentId: Raw = NOTHING
    parent_message_id: Raw = NOTHING
    parentUuid: Raw = NOTHING


LONGEST_NAME = 400
_REQUESTS = ("request", "request_body", "body", "params", "input", "inputs")
_RESPONSES = ("response", "response_body", "result", "output", "outputs")
_GROUPS = (
    "conversation_id", "conversationId", "conversation", "thread_id", "threadId",
    "session_id", "sessionId", "chat_id", "trace_id",
)  # fmt: skip
_RECORD_IDS = ("custom_id", *_GROUPS, "id", "request_id")
_OWN_IDS = ("uuid", "message_id", "id")
_PARENT_IDS = ("parentUuid", "parent_id", "parentId", "parent_message_id")

ReadTurn = Callable[[Any, Pointer, Record], tuple[Message, list[Misfit]]]


class Dialect(Struct, frozen=True):
    """What a wire adds to the common wrapping."""

    wire: Wire
    envelope: type[Envelope]
    turn: type[Struct]
    keys: tuple[str, ...]
    """Attributes of the envelope that hold a list of messages."""
    turn_key: str
    """The key that every message has."""
    read_turn: ReadTurn
    is_turn: Callable[[Envelope], bool]
    """Whether an object without a list is itself one message."""
    lines: tuple[Pointer, ...]
    """Where a log of one message a line may keep the message."""
    replies: Callable[[Envelope], list[tuple[Pointer, Any]]]
    """The answers in a response body, each with its place."""
    ends_open: Callable[[Envelope], bool]
    """Whether this body is of a kind that may end on a call: a training sample."""
    evidence: Callable[[Any], int]
    """What a message or an envelope says for this wire."""


class _Found(Struct):
    """A conversation inside a record, before it is numbered."""

    messages: list[Message]
    misfits: list[Misfit]
    open_end: bool = False
    headless: bool = False


def text_of(raw: Raw) -> str | None:
    """A raw key as a name: strings and whole numbers name things, nothing else does."""
    data = bytes(raw)
    if not data:
        return None
    if len(data) > LONGEST_NAME:
        from hashlib import blake2b

        return f"{data[1:33].decode(errors='replace')}…{blake2b(data, digest_size=8).hexdigest()}"
    if data[:1] == b'"':
        return str(json.decode(data)) or None
    return data.decode() if data.isdigit() else None


def first_of(record: Any, names: tuple[str, ...]) -> str | None:
    for name in names:
        raw: Raw = getattr(record, name)
        if given(raw) and (text := text_of(raw)):
            return text
    return None


def make_carrier(dialect: Dialect, title: str, about: str) -> Carrier:
    spelling = _Spelling(dialect)
    shape = Shape(spelling.declared)
    return Carrier(
        dialect.wire.name, title, about, spelling.sniff, shape, lambda: _Reading(spelling),
        record_keys=frozenset((*dialect.keys, *_REQUESTS, *_RESPONSES)),
        message_keys=frozenset((dialect.turn_key,)),
    )  # fmt: skip


class _Reading:
    """What one source has said so far."""

    def __init__(self, spelling: "_Spelling") -> None:
        self.spelling = spelling
        self.lines = Lines(spelling.dialect.wire)

    def feed(self, decoded: Decoded[Any], /) -> list[Transcript | Stray]:
        return self.spelling.read(decoded, self.lines)

    def finish(self) -> list[Transcript | Stray]:
        return [*self.lines.finish()]


class _Spelling:
    """The common wrapping in one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.declared: Any = dialect.envelope | list[dialect.turn]  # type: ignore[name-defined]
        self.inner = Shape(dialect.envelope)
        self.turn = Shape(dialect.turn)

    def sniff(self, decoded: Decoded[Any]) -> int:
        value = decoded.value
        if isinstance(value, list):
            return _weigh(map(self.dialect.evidence, value))
        line = self._line(value, decoded)
        if line is not None:
            return self.dialect.evidence(line[1])
        inner = self._bodies(value, (*_REQUESTS, *_RESPONSES), ("body", "message"))
        score = self._speaks(value) + sum(self._speaks(body) for _, body, _ in inner)
        return score or (0 if self._known(value) else STRANGE)

    def _speaks(self, value: Any) -> int:
        """The evidence of one body: its own keys and its messages."""
        turns = (turn for name in self.dialect.keys for turn in getattr(value, name) or ())
        return _weigh(map(self.dialect.evidence, chain((value,), turns)))

    def read(self, decoded: Decoded[Any], lines: Lines) -> list[Transcript | Stray]:
        value, record = decoded.value, decoded.record
        if value is None:
            return []
        whole = [(record, misfit) for misfit in decoded.misfits]
        line = None if isinstance(value, list) else self._line(value, decoded)
        if line is not None:
            at, turn, misfits = line
            message, wrong = self.dialect.read_turn(turn, at, record)
            whole += [(record, misfit) for misfit in (*misfits, *wrong)]
            lines.add(first_of(value, _GROUPS), _placed(message, value), whole)
            return [*lines.overflow()]
        done = self._transcripts(value, record, whole)
        if not done and (decoded.misfits or not self._known(value)):
            return [Stray(record, decoded.misfits[0] if decoded.misfits else None)]
        return [*done]

    def _transcripts(
        self, value: Any, record: Record, misfits: list[tuple[Record, Misfit]]
    ) -> list[Transcript]:
        if isinstance(value, list):
            found, identifier = [self._conversation(value, (), record)], None
        else:
            found, identifier = self._all(value, record), first_of(value, _RECORD_IDS)
        done = []
        emptied = {misfit.at for _, misfit in misfits}
        for one in found:
            own = (misfit for misfit in one.misfits if not _below_any(misfit.at, emptied))
            here = (*misfits, *((record, misfit) for misfit in own))
            misfits = []  # what is wrong with the record as a whole is said once
            done.append(
                Transcript(
                    self.dialect.wire,
                    tuple(one.messages),
                    0,
                    identifier,
                    one.headless,
                    one.open_end,
                    here,
                )
            )
        return done

    def _all(self, value: Any, record: Record) -> list[_Found]:
        """The conversations of one record: a request, and what each answer in its response adds."""
        request = self._request(value, (), record, ())
        bodies = () if request else self._bodies(value, _REQUESTS, ("body",))
        for at, body, misfits in bodies:
            request = request or self._request(body, at, record, misfits)
        answers = self._answers(value, (), record)
        for at, body, misfits in self._bodies(value, _RESPONSES, ("body", "message")):
            answers += [(message, [*misfits, *wrong]) for message, wrong in self._answers(body, at, record)]
        if request is None:
            return [_Found([message], misfits, True, True) for message, misfits in answers]
        if not answers:
            return [request]
        return [
            _Found([*request.messages, message], [*request.misfits, *misfits], True, request.headless)
            for message, misfits in answers
        ]

    def _request(self, value: Any, at: Pointer, record: Record, misfits: tuple[Misfit, ...]) -> _Found | None:
        for name in self.dialect.keys:
            turns = getattr(value, name)
            if turns is not None:
                found = self._conversation(turns, (*at, name), record)
                found.misfits[:0] = misfits
                found.open_end = self.dialect.ends_open(value)
                found.headless = text_of(value.previous_response_id) is not None
                return found
        return None

    def _conversation(self, turns: list[Any], at: Pointer, record: Record) -> _Found:
        messages: list[Message] = []
        misfits: list[Misfit] = []
        read_turn = self.dialect.read_turn
        for index, turn in enumerate(turns):
            message, wrong = read_turn(turn, (*at, index), record)
            messages.append(message)
            misfits += wrong
        return _Found(messages, misfits)

    def _answers(self, value: Any, at: Pointer, record: Record) -> list[tuple[Message, list[Misfit]]]:
        replies = self.dialect.replies(value)
        return [self.dialect.read_turn(turn, (*at, *place), record) for place, turn in replies]

    def _line(self, value: Any, decoded: Decoded[Any]) -> tuple[Pointer, Any, tuple[Misfit, ...]] | None:
        """The message of a record that holds one message and no list."""
        if given(value.type) or any(getattr(value, name) is not None for name in self.dialect.keys):
            return None  # a `type` says that the record is an event of something else
        for at in self.dialect.lines:
            data = dig(decoded.data, at)
            if data is None:
                continue
            holder = self.inner.inner(data)[0] if at else value
            if holder is None or not self.dialect.is_turn(holder):
                continue
            turn, misfits = self.turn.inner(data, at)
            if turn is not None:
                return at, turn, misfits
        return None

    def _open(self, raw: Raw, at: Pointer = ()) -> tuple[Any, tuple[Misfit, ...]] | None:
        """A wrapped object in the envelope's own shape, or nothing where it is no object."""
        if head(raw) != b"{":
            return None
        value, misfits = self.inner.inner(raw, at)
        return None if value is None else (value, misfits)

    def _bodies(
        self, value: Any, names: tuple[str, ...], inside: tuple[str, ...]
    ) -> Iterator[tuple[Pointer, Any, tuple[Misfit, ...]]]:
        """The objects under some keys of a record, and under some keys of those."""
        for name in names:
            outer = self._open(getattr(value, name), (name,))
            if outer is None:
                continue
            yield (name,), *outer
            for key in inside:
                inner = self._open(getattr(outer[0], key), (name, key))
                if inner is not None:
                    yield (name, key), *inner

    def _known(self, value: Any) -> bool:
        """A record of this family without a conversation in it: an error answer, an expired batch line."""
        if given(value.model) or (given(value.error) and bytes(value.error) != b"null"):
            return True
        return any(self._open(getattr(value, name)) is not None for name in _RESPONSES)


def _weigh(evidence: Iterable[int]) -> int:
    """Own and strange pieces count each, those that could be anyone's count once."""
    scores = list(evidence)
    return sum(score for score in scores if score != NEUTRAL) + (NEUTRAL if NEUTRAL in scores else 0)


def _below_any(at: Pointer, emptied: set[Pointer]) -> bool:
    """Whether a misfit only follows from a place that was emptied because it did not fit."""
    return any(at[:depth] in emptied for depth in range(len(at) + 1))


def _placed(message: Message, value: Any) -> Message:
    """A message that stands alone knows its own id and its parent's."""
    key = next((name for name in _PARENT_IDS if given(getattr(value, name))), None)
    return structs.replace(
        message,
        id=first_of(value, _OWN_IDS),
        parent=text_of(getattr(value, key)) if key else None,
        parent_at=(key,) if key else (),
    )
