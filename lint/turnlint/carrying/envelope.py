"""Read the wrappers around request-shaped conversations, for all wires.

They are request bodies, arrays of messages, pairs of request and response, batch and fine-tuning lines, and one message
per line grouped by a conversation key. Each wire supplies the spelling of its messages as a `Dialect`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import Raw, Struct, json, structs

from turnlint.carrying.carrier import NEUTRAL, STRANGE, Carrier, Stray
from turnlint.carrying.listed import Listed, refers_to_none, unlisted
from turnlint.carrying.outer import Envelope
from turnlint.carrying.raws import NOTHING, given, head
from turnlint.carrying.requests import has_empty_messages, lacks_messages, request_of
from turnlint.carrying.stored import is_stored
from turnlint.carrying.writer import MessageWriter
from turnlint.documents.decode import Decoded, Shape, dig
from turnlint.model import Message, Misfit, Pointer, Record, Request, State, Transcript, Wire

if TYPE_CHECKING:
    from turnlint.carrying.lines import Lines
    from turnlint.carrying.syntax import WireSyntax

LONGEST_NAME = 400
_REQUESTS = ("request", "request_body", "body", "params", "input", "inputs", "content")
_SENT = ("request", "request_body", "body")
_RESPONSES = ("response", "response_body", "result", "output", "outputs")
_INSIDE_REQUESTS = ("body", "inputBodyJson", "content")
_INSIDE_RESPONSES = ("body", "message", "outputBodyJson")
_INSIDE = (*_INSIDE_REQUESTS, *_INSIDE_RESPONSES[1:])
GROUPS = (
    "conversation_id", "conversationId", "conversation", "thread_id", "threadId",
    "session_id", "sessionId", "chat_id", "trace_id",
)  # fmt: skip
_RECORD_IDS = ("custom_id", "key", *GROUPS, "id", "request_id", "requestId")
OWN_IDS = ("uuid", "message_id", "id")
PARENT_IDS = ("parentUuid", "parent_id", "parentId", "parent_message_id")

ANSWERED = "it records what was sent and what a provider answered"
"""Why such a file is not edited in place: it is evidence of what happened."""

ReadTurn = Callable[[Any, Pointer, Record], tuple[Message, list[Misfit]]]


def has_previous_response(body: Envelope) -> bool:
    return text_of(body.previous_response_id) is not None


class Dialect(Struct, frozen=True):
    """The parts of a wire that the common wrapper needs."""

    wire: Wire
    envelope: type[Envelope]
    turn: type[Struct]
    keys: tuple[str, ...]
    """Attributes of the envelope that may hold a list of messages."""
    turn_key: str
    """The key that every message has."""
    read_turn: ReadTurn
    is_turn: Callable[[Envelope], bool]
    """Return whether an object without a list is itself one message."""
    lines: tuple[Pointer, ...]
    """The pointers at which a log of one message per line may hold the message."""
    replies: Callable[[Envelope], list[tuple[Pointer, Any]]]
    """Return the answers in a response body, each with its pointer."""
    ends_open: Callable[[Envelope], bool]
    """Return whether a body may end with a call, as a training sample may."""
    evidence: Callable[[Any], int]
    """Return the evidence of a message or an envelope for this wire."""
    asked: Callable[[Any], Listed | None] = unlisted
    """Return the messages of a request body, where `keys` does not cover them."""
    answered: Callable[[Any], Listed | None] = unlisted
    """Return the messages of a response body that is one answer."""
    listed: str = "messages"
    """The key of a request's messages; empty where a record of this format is no request."""
    claims_empty: bool = False
    """Whether a request without messages is of this wire, if nothing is evidence for another."""
    refers: Callable[[list[Message]], bool] = refers_to_none
    """Return whether messages refer to others that are stored elsewhere."""
    is_continued: Callable[[Envelope], bool] = has_previous_response
    """Return whether a body continues messages that are stored elsewhere."""
    typed: bool = False
    """Whether messages have a `type`, so that a `type` does not mark a record as another event."""
    writer: MessageWriter | None = None
    states: Mapping[str, State] = {}
    """As `Carrier.states`."""
    syntax: "WireSyntax | None" = None
    """The tables for the native parser; a wire without them has no fast path."""


class _Found(Struct):
    """A conversation of a record, before it is numbered."""

    messages: list[Message]
    misfits: list[Misfit]
    open_end: bool = False
    headless: bool = False
    request: Request | None = None
    answer_at: int | None = None


def text_of(raw: Raw) -> str | None:
    """Return a raw key as a name. Only strings and whole numbers are names."""
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
        if raw is not NOTHING and (text := text_of(raw)):
            return text
    return None


def named_groups(line: bytes) -> frozenset[str]:
    """Return the conversation keys that a record names, from bytes that are not fully parsable."""
    import re  # few logs have such a record

    names = "|".join(GROUPS).encode()
    pattern = rb'(?<!\\)"(?:%s)"\s*:\s*(?:"([^"\\]*)"|([^\s",}\]]+)\s*[,}])' % names
    found = (match[1] or match[2] or b"" for match in re.finditer(pattern, line))
    return frozenset(one.decode(errors="replace") for one in found if one)


def make_carrier(dialect: Dialect, title: str, about: str) -> Carrier:
    spelling = Spelling(dialect)
    shape = Shape(spelling.declared)
    return Carrier(
        dialect.wire.name, title, about, spelling.sniff, shape, lambda: Enveloped(spelling),
        record_keys=frozenset((*dialect.keys, *_REQUESTS, *_RESPONSES)) - {"content"},
        message_keys=frozenset((dialect.turn_key,)), writer=dialect.writer, states=dialect.states,
        is_whole=spelling.is_whole, syntax=dialect.syntax,
    )  # fmt: skip


class Enveloped:
    """The state of reading one source."""

    def __init__(self, spelling: "Spelling") -> None:
        self.spelling = spelling

    @cached_property
    def lines(self) -> "Lines":
        """The conversations that span records, created with their first record."""
        from turnlint.carrying.lines import Lines

        return Lines(self.spelling.dialect.wire)

    def feed(self, decoded: Decoded[Any], /) -> list[Transcript | Stray]:
        return self.spelling.read(decoded, lambda: self.lines)

    def finish(self) -> list[Transcript | Stray]:
        return [*self.lines.finish()] if "lines" in vars(self) else []


class Spelling:
    """The common wrapper for one dialect."""

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
        inner = self._bodies(value, (*_REQUESTS, *_RESPONSES), _INSIDE)
        score = self._speaks(value) + sum(self._speaks(body) for _, body, _ in inner)
        if score == 0 and self._is_empty_request(value, decoded.data):
            return NEUTRAL
        return score or (0 if self._known(value) else STRANGE)

    def _is_empty_request(self, value: Any, data: bytes) -> bool:
        """Whether a record is a request without messages: an empty list or null, and otherwise only settings."""
        if not self.dialect.claims_empty or len(data) > MAX_EMPTY_BYTES or not _EMPTY.search(data):
            return False
        raws = (bytes(getattr(value, name)) for name in _REQUESTS)
        return any(has_empty_messages(raw, self.dialect.listed) for raw in (data, *raws))

    def is_whole(self, decoded: Decoded[Any]) -> bool:
        """Whether a record is no single message of a conversation that spans records."""
        value = decoded.value
        return value is not None and (isinstance(value, list) or self._line(value, decoded) is None)

    def _speaks(self, value: Any) -> int:
        """Return the evidence of one body: its own keys and its messages."""
        turns = (turn for name in self.dialect.keys for turn in getattr(value, name) or ())
        bodies = (self.dialect.asked(value), self.dialect.answered(value))
        others = (turn for body in bodies if body for _, turn in body.turns)
        return _weigh(map(self.dialect.evidence, chain((value,), turns, others)))

    def read(self, decoded: Decoded[Any], lines: "Callable[[], Lines]") -> list[Transcript | Stray]:
        value, record = decoded.value, decoded.record
        if value is None:
            return []
        whole = [(record, misfit) for misfit in decoded.misfits]
        line = None if isinstance(value, list) else self._line(value, decoded)
        if line is not None:
            at, turn, misfits = line
            message, wrong = self.dialect.read_turn(turn, at, record)
            whole += [(record, misfit) for misfit in (*misfits, *wrong)]
            lines().add(first_of(value, GROUPS), _placed(message, value), whole)
            return [*lines().overflow()]
        done = self._transcripts(value, decoded, whole) or self._without_messages(value, record, whole)
        if not done:
            misfits = tuple(decoded.misfits) or self._misfits_inside(value)
            expected = not misfits and self._known(value)
            return [Stray(record, misfits[0] if misfits else None, expected)]
        return [*done]

    def _transcripts(
        self, value: Any, decoded: Decoded[Any], misfits: list[tuple[Record, Misfit]]
    ) -> list[Transcript]:
        record, data = decoded.record, decoded.data
        if isinstance(value, list):
            found, identifier = [_answer_or_history(self._plain(value, (), record))], None
        else:
            found, identifier = self._all(value, record), first_of(value, _RECORD_IDS)
        done = []
        emptied = {misfit.at for _, misfit in misfits}
        for one in found:
            own = (misfit for misfit in one.misfits if not _below_any(misfit.at, emptied))
            here = (*misfits, *((record, misfit) for misfit in own))
            misfits = []  # misfits of the whole record are reported once
            done.append(
                Transcript(
                    self.dialect.wire,
                    tuple(one.messages),
                    0,
                    identifier,
                    one.headless,
                    one.open_end,
                    here,
                    one.request,
                    bound=ANSWERED if one.request is not None and _is_kept(one.request) else "",
                    answer_at=one.answer_at,
                    stored=self._is_stored(data, one.request),
                )
            )
        return done

    def _without_messages(
        self, value: Any, record: Record, misfits: list[tuple[Record, Misfit]]
    ) -> list[Transcript]:
        """Return a request body without its list of messages, as a conversation without messages."""
        key = self.dialect.listed
        if misfits or not key or isinstance(value, list) or not lacks_messages(record.data, key):
            return []
        facts = request_of(value, value, record, (), key=key)
        return [Transcript(self.dialect.wire, (), 0, first_of(value, _RECORD_IDS), request=facts)]

    def _is_stored(self, data: bytes, request: Request | None) -> bool:
        """Whether the messages are a program's own store, not a request body."""
        if request is None:
            return is_stored(data, ())
        return bool(request.key) and not request.whole and is_stored(data, (*request.at, request.key))

    def _all(self, value: Any, record: Record) -> list[_Found]:
        """Return the conversations of one record: a request, with each answer of its response."""
        request = self._request(value, value, (), record, ())
        bodies = () if request else self._bodies(value, _REQUESTS, _INSIDE_REQUESTS)
        for at, body, misfits in bodies:
            request = request or self._request(value, body, at, record, misfits)
        answers = self._answers(value, (), record)
        for at, body, misfits in self._bodies(value, _RESPONSES, _INSIDE_RESPONSES):
            answers += [(said, [*misfits, *wrong]) for said, wrong in self._answers(body, at, record)]
        if request is None:
            facts = request_of(value, value, record, (), key="")
            return [_Found(said, misfits, True, True, facts) for said, misfits in answers]
        if not answers:
            return [request]
        taken = structs.replace(request.request, answered=True) if request.request else None
        return [
            _Found(
                [*request.messages, *said],
                [*request.misfits, *misfits],
                True,
                request.headless,
                taken,
                len(request.messages),
            )
            for said, misfits in answers
        ]

    def _request(
        self, outer: Any, value: Any, at: Pointer, record: Record, misfits: tuple[Misfit, ...]
    ) -> _Found | None:
        for name in self.dialect.keys:
            turns = getattr(value, name)
            if turns is not None:
                setattr(value, name, [])  # each turn is released when it is read
                key, found = name, self._plain(turns, (*at, name), record)
                break
        else:
            asked = self.dialect.asked(value)
            if asked is None:
                return None
            key = next((str(place[0]) for place, _ in asked.turns if place), self.dialect.listed)
            found = self._conversation(asked.below(at), record)
        found.misfits[:0] = misfits
        found.open_end = self.dialect.ends_open(value)
        found.headless |= self.dialect.is_continued(value)
        found.request = request_of(outer, value, record, at, key=key)
        return found

    def _plain(self, turns: list[Any], at: Pointer, record: Record) -> _Found:
        """Read a list of only messages. There may be very many, so each is released when it is read."""
        turns.reverse()
        messages: list[Message] = []
        misfits: list[Misfit] = []
        read_turn = self.dialect.read_turn
        while turns:
            message, wrong = read_turn(turns.pop(), (*at, len(messages)), record)
            messages.append(message)
            misfits += wrong
        return _Found(messages, misfits, headless=self.dialect.refers(messages))

    def _conversation(self, said: Listed, record: Record) -> _Found:
        messages: list[Message] = []
        misfits = [*said.misfits]
        emptied = {misfit.at for misfit in misfits}
        read_turn = self.dialect.read_turn
        for at, turn in said.turns:
            message, wrong = read_turn(turn, at, record)
            messages.append(message)
            misfits += (one for one in wrong if not _below_any(one.at, emptied)) if emptied else wrong
        return _Found(messages, misfits, headless=said.headless or self.dialect.refers(messages))

    def _answers(self, value: Any, at: Pointer, record: Record) -> list[tuple[list[Message], list[Misfit]]]:
        """Return the messages and misfits of each answer in a response body."""
        whole = self.dialect.answered(value)
        answers = [Listed([reply]) for reply in self.dialect.replies(value)] + ([whole] if whole else [])
        found = (self._conversation(answer.below(at), record) for answer in answers)
        return [(one.messages, one.misfits) for one in found]

    def _line(self, value: Any, decoded: Decoded[Any]) -> tuple[Pointer, Any, tuple[Misfit, ...]] | None:
        """Return the message of a record that holds one message and no list."""
        typed = given(value.type) and not self.dialect.typed
        if typed or any(getattr(value, name) is not None for name in self.dialect.keys):
            return None  # a `type` marks the record as another event
        if self.dialect.answered(value):
            return None  # a complete answer, whatever the names of its keys
        if head(value.content) == b"{" and not given(value.role) and self._wraps(value.content):
            return None  # a recorder's wrapper around a request
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

    def _wraps(self, raw: Raw) -> bool:
        """Whether an object is a request body."""
        inner = self._open(raw)
        if inner is None:
            return False
        body = inner[0]
        listed = any(getattr(body, name) is not None for name in self.dialect.keys)
        return listed or self.dialect.asked(body) is not None

    def _open(self, raw: Raw, at: Pointer = ()) -> tuple[Any, tuple[Misfit, ...]] | None:
        """Decode a wrapped object as an envelope; none where it is no object."""
        if raw is NOTHING or head(raw) != b"{":
            return None
        value, misfits = self.inner.inner(raw, at)
        return None if value is None else (value, misfits)

    def _bodies(
        self, value: Any, names: tuple[str, ...], inside: tuple[str, ...]
    ) -> Iterator[tuple[Pointer, Any, tuple[Misfit, ...]]]:
        """Yield the objects under some keys of a record, and under some keys of those objects."""
        for name in names:
            raw = getattr(value, name)
            outer = None if raw is NOTHING else self._open(raw, (name,))
            if outer is None:
                continue
            yield (name,), *outer
            for key in inside:
                inner = self._open(getattr(outer[0], key), (name, key))
                if inner is not None:
                    yield (name, key), *inner

    def _misfits_inside(self, value: Any) -> tuple[Misfit, ...]:
        """Return the misfits of the request in a recorder's record."""
        return tuple(one for _, _, misfits in self._bodies(value, _SENT, ()) for one in misfits)

    def _known(self, value: Any) -> bool:
        """Whether a record of this family has no conversation: an error, an expired batch line, a request for embeddings."""
        if given(value.model) or (given(value.error) and bytes(value.error) != b"null"):
            return True
        if any(given(body.model) for _, body, _ in self._bodies(value, _SENT, ())):
            return True
        return any(self._open(getattr(value, name)) is not None for name in _RESPONSES)


_EMPTY = re.compile(rb":\s*(\[\s*\]|null)")
MAX_EMPTY_BYTES = 4096
"""A longer record has more content than settings."""


def _answer_or_history(found: _Found) -> _Found:
    """Return a list of messages; one with only messages of the model is an answer, whose request is elsewhere."""
    if found.messages and all(message.role == "assistant" for message in found.messages):
        found.headless = found.open_end = True
    return found


def _is_kept(request: Request) -> bool:
    """Whether the record holds a request with its response."""
    return request.answered or not request.key


def _weigh(evidence: Iterable[int]) -> int:
    """Add the evidence of specific parts; shared parts count once in all."""
    scores = list(evidence)
    return sum(score for score in scores if score != NEUTRAL) + (NEUTRAL if NEUTRAL in scores else 0)


def _below_any(at: Pointer, emptied: set[Pointer]) -> bool:
    """Whether a misfit only follows from a place that was emptied because of another misfit."""
    return any(at[:depth] in emptied for depth in range(len(at) + 1))


def _placed(message: Message, value: Any) -> Message:
    """Return a single message of a line with its own id and its parent's id."""
    key = next((name for name in PARENT_IDS if given(getattr(value, name))), None)
    return structs.replace(
        message,
        id=first_of(value, OWN_IDS),
        parent=text_of(getattr(value, key)) if key else None,
        parent_at=(key,) if key else (),
    )
