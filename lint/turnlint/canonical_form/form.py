"""Write a conversation of any format in the canonical form.

The form has the blocks of the content model, canonical ids, the key of each turn, the state of each interaction, and
for each call its id in the log, its provider and its model. Values of keys that the form does not have are kept in
`metadata`. An input that is canonical keeps all its keys.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Raw, Struct, json

from turnlint import carriers
from turnlint.canonical_form.contents import (
    ORDINARY_KINDS,
    arguments_in,
    error_in,
    parsed_in,
    payload_in,
    signature_in,
    system_parts,
    text_in,
    thought_in,
    thoughts_beside,
)  # fmt: skip
from turnlint.canonical_form.members import Values, container, decode, is_text, members, rest_of, without
from turnlint.canonical_form.metadata import CONTENT, RECORD, fitting, joined
from turnlint.carriers.canonical import CARRIER, OWN_PARTS, SPEAKERS
from turnlint.carrying.raws import NOTHING, is_blank
from turnlint.case import Case
from turnlint.completions import has_same_content
from turnlint.errors import FormError
from turnlint.events import Told
from turnlint.ids import canonicalize, origin_of, provider_of
from turnlint.ids.turns import is_digest, short, turns
from turnlint.ledger import Ledger
from turnlint.ledger import read as paired
from turnlint.lifecycle import state_of
from turnlint.model import (
    Blank,
    Block,
    Call,
    Message,
    Other,
    Pointer,
    Record,
    Result,
    State,
    Text,
    Thinking,
    Transcript,
)  # fmt: skip
from turnlint.reading import again

FORMAT = CARRIER.name
Object = dict[str, Any]
ROLE_KEYS = frozenset({"role", "speaker", "from"})
DEFAULT_ROLES = frozenset({
    "user", "assistant", "system", "tool", "model", "human", "ai", "gpt", "function_call", "observation", "",
})  # fmt: skip
"""Names of roles that the speaker replaces."""
TOOL = "tool"
PIECES = ("call", "result")
TEXT_PARTS = frozenset({"text", "input_text", "output_text", "json", "json-other"})
"""Kinds of the parts of a result that are no files."""


class Form(Struct, frozen=True):
    """One conversation in the canonical form."""

    data: bytes
    """JSON on one line."""
    told: Told
    """The ids of the source conversation in the form."""
    renamed: tuple[tuple[str, str], ...]
    """The ids that a call or a result had in the log, each with its new id."""

    @property
    def calls(self) -> int:
        return len(self.told.calls)

    @property
    def results(self) -> int:
        return len(self.told.results)


def write_form(transcript: Transcript, pairs: Ledger) -> Form:
    """Write the canonical form of a conversation whose records have their bytes.

    Raises `FormError` where a value cannot be written, or where the form does not read back as the conversation.
    """
    try:
        builder = _Builder(transcript, pairs)
        data = json.format(json.encode(builder.form()), indent=-1)
        data.decode()  # raw values may have bytes that are no UTF-8
    except (ValueError, RecursionError, UnicodeError) as error:
        raise FormError(f"its JSON is damaged: {error}") from None
    _verify(data, transcript, pairs, builder.system_texts)
    return Form(data, *builder.names_in_form())


class _Builder:
    """The values of one conversation, and the names that its interactions get."""

    def __init__(self, transcript: Transcript, pairs: Ledger) -> None:
        self.transcript = transcript
        self.is_canonical = transcript.wire.speaks == FORMAT
        self.origin = origin_of(transcript)
        self.entries = canonicalize(transcript, pairs, everywhere=True).entries
        self.ids = [entry.new for entry in self.entries]
        """The id of each call and each result, in their order. Other values have the same order."""
        keys = {asked.seq: turn.key for turn in turns(transcript, pairs) for asked in turn.asked}
        self.case = Case(transcript, pairs)
        self.asked = {one.asked.seq: one.asked for one in pairs.interactions}
        self.turns: dict[int, str] = {}
        """The key of the turn of each call and each result, by its place in that order."""
        self.states: dict[int, State] = {}
        self.names: dict[int, str | None] = {}
        """The tool of the call of each result."""
        for one in pairs.interactions:
            asked, answer = one.asked, one.answer
            self.turns[asked.seq] = keys[asked.seq]
            self.states[asked.seq] = one.state
            if answer is not None:
                self.turns[answer.seq] = keys[asked.seq]
                self.names[answer.seq] = asked.call.name
        for copy, one in pairs.duplicates:
            self.turns[copy.seq] = keys[one.asked.seq]
            self.names[copy.seq] = one.asked.call.name
        self.values: dict[int, Values] = {}
        self.shared: set[Pointer] = set()
        """The places of several results of a message: some formats have them in one text."""
        self.system_texts = 0
        """The number of system texts beside the messages."""

    def form(self) -> Object:
        history = [*self._system(), *self._merged()]
        request = self.transcript.request
        outer, settings, tools = self._outer()
        known: Object = {"provider": self.origin or None}
        known |= {"model": request.model, "host": request.host} if request else {}
        if not self.is_canonical:
            known["format"] = self.transcript.wire.name
        known |= {"continued": self.transcript.headless or None, "openEnd": self.transcript.open_end or None}
        form: Object = {"id": self.transcript.id} if self.transcript.id is not None else {}
        metadata = joined(_present(**known), outer, RECORD)
        form |= {"metadata": metadata} if metadata else {}
        form |= {"tools": tools} if tools is not None else {}
        form["history"] = history
        form |= {"settings": settings} if settings else {}
        return form | {key: value for key, value in fitting(outer, RECORD).items() if key not in form}

    def names_in_form(self) -> tuple[Told, tuple[tuple[str, str], ...]]:
        """Return the ids of the conversation in the form, and each id that the form replaces with its new id."""
        source = self.transcript
        new = {piece: tuple(one.new or "" for one in self.entries if one.piece == piece) for piece in PIECES}
        told = Told(
            source.id, source.index, source.messages[0].record.line, FORMAT, (), new["call"], *new.values()
        )
        changed = dict.fromkeys((one.old, one.new) for one in self.entries if one.old not in (None, one.new))
        return told, tuple((old or "", name or "") for old, name in changed)

    # The request around the messages.

    def _outer(self) -> tuple[Mapping[str, Raw], Object, Raw | None]:
        """Return the other keys of a canonical record, the settings of any other request, and its tools."""
        request = self.transcript.request
        if request is None or not request.record.data:
            return {}, {}, None
        values = self._of(request.record)
        body = values.object_at(request.at)
        tools = values.at(request.tools_at) if request.tools_at else None
        tools = tools if tools is not None and isinstance(container(tools), list) else None
        depth = len(request.at)
        taken = {
            str(one.at[depth])
            for one in self.transcript.messages
            if one.record is request.record and len(one.at) > depth
        }
        tools_at = request.tools_at[depth:] if tools is not None else ()
        taken |= {request.key, *map(str, tools_at[:1])}
        if self.is_canonical:
            return {key: value for key, value in body.items() if key not in taken}, {}, tools
        taken |= {"model"} if request.model is not None else set()
        taken |= {key for key, _ in system_parts(body)}
        at_top = not request.key or any(one.at[:depth] != request.at for one in self.transcript.messages)
        named = body.get("id")
        if named is not None and is_text(named) and decode(named) == self.transcript.id:
            taken.add("id")
        settings: Object = {} if at_top else without(body, taken)
        if not at_top and (beside := _beside(body, tools_at)):
            settings[str(tools_at[0])] = beside
        return {}, settings, tools

    def _system(self) -> Iterator[Object]:
        request = self.transcript.request
        if self.is_canonical or request is None or not request.record.data:
            return
        blocks = []
        for key, part in system_parts(self._of(request.record).object_at(request.at)):
            text = text_in(part)
            if text is not None and bytes(text) == b'""':
                continue
            more = without(members(part), ("type", "text"))
            metadata = _present(key=key, part=more or None)
            if text is not None:
                self.system_texts += not is_blank(text)
                blocks.append({"type": "text", "text": text, "metadata": metadata})
            else:
                blocks.append({"type": "media", "kind": key, "part": part, "metadata": {"key": key}})
        if blocks:
            yield {"speaker": "system", "blocks": blocks}

    def _of(self, record: Record) -> Values:
        if id(record) not in self.values:
            self.values[id(record)] = Values(record.data)
        return self.values[id(record)]

    # Messages.

    def _merged(self) -> Iterator[Object]:
        """Yield all contents. Results of one turn are one content, as are the items of one answer."""
        carrier = carriers.of_wire(self.transcript.wire.name)
        writer = carrier.writer if carrier else None
        joins = {TOOL, SPEAKERS["assistant"]} if writer is not None and writer.calls_are_messages else {TOOL}
        last: Object | None = None
        first = 0
        for index, message in enumerate(self.transcript.messages):
            pieces = _pieces(message, first)
            first += sum(isinstance(one, Call | Result) for one in message.blocks)
            for content in self._contents(index, message, pieces):
                if last is not None and content["speaker"] in joins and _is_joined(last, content):
                    last["blocks"] += content["blocks"]
                    if "metadata" in content:
                        last["metadata"] = content["metadata"]
                    continue
                if last is not None:
                    yield last
                last = content
        if last is not None:
            yield last

    def _contents(self, index: int, message: Message, pieces: "list[_Piece]") -> Iterator[Object]:
        """Yield the contents of a message: it is split at its results, which are contents of the tool."""
        speaker = SPEAKERS.get(message.role)
        if speaker is None:
            raise FormError(f"message {index} has the unknown role {message.written_role[:40]!r}")
        values = self._of(message.record)
        own = values.object_at(message.at)
        thoughts = () if self.is_canonical else thoughts_beside(message, own)
        rest = self._rest((*message.blocks, *message.blanks, *thoughts), message, own)
        places = Counter(block.at for block in message.blocks if isinstance(block, Result))
        self.shared = {at for at, count in places.items() if count > 1}
        groups: list[tuple[str, list[_Piece]]] = []
        for piece in [*map(_Piece, thoughts), *pieces]:
            of = TOOL if isinstance(piece.block, Result) else speaker
            if not groups or groups[-1][0] != of:
                groups.append((of, []))
            groups[-1][1].append(piece)
        here = _Place(index, message, values, own)
        for number, (of, some) in enumerate(groups or [(speaker, [])]):
            content: Object = {"speaker": of, "blocks": [self._block(here, one) for one in some]}
            key = next((self.turns[one.seq] for one in some if one.seq in self.turns), None)
            metadata = _present(turnId=key)
            more: Object = {}
            if not number and self.is_canonical:
                metadata = joined(metadata, own, CONTENT)
                more = {key: value for key, value in fitting(own, CONTENT).items() if key not in content}
            elif not number:
                origin = message.origin
                made = _present(
                    provider=origin.provider if origin else None,
                    model=origin.model if origin else None,
                    id=message.response or None,
                )
                metadata |= made | rest
            yield content | ({"metadata": metadata} if metadata else {}) | more

    def _rest(self, places: Iterable[Block | Blank], message: Message, own: Mapping[str, Raw]) -> Object:
        """Return what the metadata of a content keeps of a message: its other role, and keys that no block has."""
        alone = any(isinstance(block, Call | Result | Thinking) and not block.at for block in message.blocks)
        taken: set[Pointer] = {(key,) for key in ROLE_KEYS}
        taken |= {("type",)} if message.kind else set()
        for place in places:
            taken |= set(_places(place))
        taken |= set(message.inner_calls)
        more = {} if alone else rest_of(own, taken)
        role = message.written_role
        return _present(role=None if role.lower() in DEFAULT_ROLES else role, message=more or None)

    # Blocks.

    def _block(self, here: "_Place", piece: "_Piece") -> Object:
        block = piece.block
        value = here.values.at((*here.message.at, *block.at))
        if value is None and not isinstance(block, Call):
            raise FormError(f"message {here.index} has no value at its block")
        value = value if value is not None else NOTHING  # some formats have calls inside a text
        part = members(value)
        if isinstance(block, Call):
            made = self._call(here, block, piece.seq)
        elif isinstance(block, Result):
            made = self._result(here, block, piece.seq)
        else:
            made = _other(block, value, part)
        if self.is_canonical:
            return _canonical_block(made, part)
        more = rest_of(part, {*made.taken, *((key,) for key in ROLE_KEYS)}) if made.taken else {}
        metadata = made.metadata | ({"part": more} if more else {})
        return made.value | ({"metadata": metadata} if metadata else {})

    def _call(self, here: "_Place", call: Call, seq: int) -> "_Made":
        if not call.name:
            raise FormError(f"message {here.index} has a call without a name")
        parameters, raw = arguments_in(call, here.values.at((*here.message.at, *call.at, *call.keys.body)))
        if raw is not None:
            parameters = parsed_in(self.case, self.asked[seq]) or parameters
        new = self._id(here, seq)
        kind = "custom" if call.arguments == "free" else call.kind
        metadata = _present(
            rawId=call.id if call.id != new else None,
            provider=provider_of(self.transcript, here.message) or None,
            model=self._model_of(here.message),
            type=None if kind in ORDINARY_KINDS else kind,
            server=True if call.server else None,
            state=self.states[seq],
            rawInput=raw,
        )
        block = {"type": "tool_call", "id": new, "name": call.name, "parameters": parameters}
        return _Made(block, metadata, _keys_of(call))

    def _model_of(self, message: Message) -> str | None:
        """Return the model of a message: its own, or that of the request."""
        own = message.origin.model if message.origin else None
        request = self.transcript.request
        return own or (request.model if request else None)

    def _result(self, here: "_Place", result: Result, seq: int) -> "_Made":
        at = (*here.message.at, *result.at)
        new, asked, state = self._id(here, seq), self.names.get(seq), state_of(result)
        block: Object = {"type": "tool_response", "callId": new}
        block |= _present(toolName=asked or result.name)
        is_shared = result.at in self.shared
        value = Raw(result.body) if is_shared else here.values.at((*at, *result.keys.body))
        if self.is_canonical:
            part = here.values.object_at(at)
            block |= {key: part[key] for key in ("result", "error") if key in part}
            if "error" in block and state in ("error", "cancelled") and not is_text(part["error"]):
                block["error"] = error_in(part["error"])[0]
        elif state in ("error", "cancelled"):
            text, more = error_in(value)
            block |= {"error": text} if more is None else {"result": more, "error": text}
        elif (payload := payload_in(value)) is not None and bytes(payload) != b"null":
            block["result"] = payload
        elif state == "complete":
            block["result"] = ""  # null, or nothing at all, would be pending
        block["isComplete"] = state != "pending"
        metadata = _present(
            rawId=result.id if result.id not in (None, new) else None,
            rawName=result.name if asked and result.name not in (None, asked) else None,
            state=state,
            synthetic=True if result.synthetic else None,
        )
        return _Made(block, metadata, _keys_of(result))

    def _id(self, here: "_Place", seq: int) -> str:
        new = self.ids[seq]
        if new is None:
            raise FormError(f"message {here.index} has a call or a result that gets no id")
        return new


def _beside(body: Mapping[str, Raw], at: Pointer) -> Object:
    """Return the members of an object around a value, without the value."""
    return rest_of(members(body.get(str(at[0]))), {at[1:]}) if len(at) > 1 else {}


class _Place(Struct):
    """A message of a record, with its members."""

    index: int
    message: Message
    values: Values
    own: Mapping[str, Raw]


class _Piece(Struct):
    """A block of a message, with its place among the calls and results of the conversation."""

    block: Block | Blank
    seq: int = -1


class _Made(Struct):
    """A block of the form, its metadata, and the places below its source that both have."""

    value: Object
    metadata: Object = {}
    taken: set[Pointer] = set()


def _canonical_block(made: _Made, part: Mapping[str, Raw]) -> Object:
    """Return a block of a canonical input with all its other keys."""
    kind = made.value["type"]
    kind = kind if isinstance(kind, str) else ""  # a block that the form takes as it is
    metadata = joined(made.metadata, part, kind)
    block = made.value | ({"metadata": metadata} if metadata else {})
    return block | {key: one for key, one in fitting(part, kind).items() if key not in block}


def _keys_of(block: Call | Result) -> set[Pointer]:
    """Return the places that a block of the form has. An id or a name of another kind is not there."""
    found = {("type",), block.keys.body}
    found |= {block.keys.id} if block.id is not None else set()
    return found | ({block.keys.name} if block.name is not None else set())


def _other(block: Block | Blank, value: Raw, part: Mapping[str, Raw]) -> _Made:
    if isinstance(block, Thinking):
        return _thought(block, value)
    if isinstance(block, Text | Blank):
        text = text_in(value)
        return _Made({"type": "text", "text": "" if text is None else text}, taken={("type",), ("text",)})
    kind = block.kind if isinstance(block, Other) else ""
    if kind in OWN_PARTS and "type" in part:  # a block of the canonical form
        return _Made({**part})
    return _Made({"type": "media", "kind": kind, "part": value})


def _thought(block: Thinking, value: Raw) -> _Made:
    if is_text(value):
        return _Made(
            {"type": "thinking", "thought": value}, _present(key=".".join(map(str, block.at)) or None)
        )
    found: Object = {"type": "thinking", "thought": thought_in(value)}
    found |= _present(signature=signature_in(value))
    part = members(value)
    is_whole = part.keys() <= {"type", "thinking", "thought", "signature"}
    is_whole = is_whole and all(map(is_text, part.values()))
    return _Made(found, {} if is_whole else {"part": value})


def _places(piece: Block | Blank) -> Iterator[Pointer]:
    """Yield the positions of the values of a block, below its message."""
    yield piece.at
    if isinstance(piece, Call | Result):
        yield from ((*piece.at, *key) for key in (piece.keys.id, piece.keys.name, piece.keys.body))
    if isinstance(piece, Call):
        yield from (twin.at for twin in piece.also)


def _pieces(message: Message, seq: int) -> list[_Piece]:
    """Return the blocks of a message with its white texts. Results inside the objects of calls follow the blocks.

    `seq` is the number of calls and results before the message.
    """
    calls = {block.at for block in message.blocks if isinstance(block, Call)} - {()}
    pieces: list[_Piece] = []
    inner: list[_Piece] = []
    blanks = deque(one for one in message.blanks if one.white)
    for number, block in enumerate(message.blocks):
        while blanks and blanks[0].before <= number:
            pieces.append(_Piece(blanks.popleft()))
        above = (block.at[:depth] for depth in range(1, len(block.at) + 1))
        is_inside = isinstance(block, Result) and not calls.isdisjoint(above)
        has_id = isinstance(block, Call | Result)
        (inner if is_inside else pieces).append(_Piece(block, seq if has_id else -1))
        seq += has_id
    return [*pieces, *map(_Piece, blanks), *inner]


def _is_joined(last: Object, content: Object) -> bool:
    """Whether two contents of one speaker are one: they have no metadata but the key of the same turn."""
    if last["speaker"] != content["speaker"] or len(last) > 3 or len(content) > 3:
        return False
    before, after = last.get("metadata", {}), content.get("metadata", {})
    if not {*before, *after} <= {"turnId", "provider", "model"}:
        return False
    return not before or before == after


def _present(**values: Any) -> Object:
    return {key: value for key, value in values.items() if value is not None}


def _verify(data: bytes, transcript: Transcript, pairs: Ledger, system_texts: int) -> None:
    """Read a form back, and compare its calls, results and texts with the conversation."""
    found = again("form", CARRIER, [Record(1, 0, data)], FORMAT)
    back = [one for one in found if isinstance(one, Transcript)]
    if len(back) != 1:
        raise FormError("it does not read back as one conversation")
    before = _summary(transcript.messages, pairs, system_texts)
    again_paired = paired(back[0].messages, back[0].wire)
    after = _summary(back[0].messages, again_paired)
    for what, one, other in zip(("calls", "results", "texts"), before, after, strict=False):
        if one != other:
            raise FormError(f"its {what} do not read back")
    for one, other in zip(pairs.interactions, again_paired.interactions, strict=True):
        if one.answer and other.answer and not _has_same_result(one.answer.result, other.answer.result):
            raise FormError("the result of a call does not read back")
    kinds = (one.asked.call.arguments for one in pairs.interactions)
    for kind, one, other in zip(kinds, before[-1], after[-1], strict=True):
        if kind == "object" and one != other and not _are_equal(one, other):
            raise FormError("its arguments do not read back")


def _has_same_result(one: Result, other: Result) -> bool:
    """Whether two results have the same content. The form spells errors in another way, and puts files beside them."""
    has_files = not TEXT_PARTS.issuperset(one.parts)
    if state_of(one) != "complete" or has_files or is_digest(one.body) or is_digest(other.body):
        return True
    found = (b'""' if body in (b"", b"null") else body for body in (one.body, other.body))
    return has_same_content(*found)


def _are_equal(one: bytes, other: bytes) -> bool:
    """Whether two JSON texts have one value for a parser that reads all numbers as floats, as the parser of damage."""
    from json import loads

    try:
        return bool(loads(one, parse_int=float) == loads(other, parse_int=float))
    except (ValueError, RecursionError):
        return False


def _summary(messages: Iterable[Message], pairs: Ledger, more: int = 0) -> tuple[Any, ...]:
    """Return the tools and arguments of all calls, the states of their results, and the number of texts."""
    calls = [(one.asked.call.name, one.state if one.answer else None) for one in pairs.interactions]
    arguments = [_arguments(one.asked.call) for one in pairs.interactions]
    blocks = [block for one in messages for block in one.blocks]
    texts = sum(isinstance(block, Text) for block in blocks)
    return calls, sum(isinstance(block, Result) for block in blocks), texts + more, arguments


def _arguments(call: Call) -> bytes:
    """Return the arguments in one spelling. Others than JSON objects are in another place of the form."""
    if call.arguments != "object" or is_digest(call.body):
        return call.body
    return short(json.format(call.body, indent=-1))
