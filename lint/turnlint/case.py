"""Define the input of a rule: one conversation with its pairs and a provider.

A case also selects the clauses of the provider that apply.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, field, json, structs

from turnlint.clause import Clause
from turnlint.documents.decode import below as value_below
from turnlint.documents.decode import value_at
from turnlint.ledger import Answered, Asked, Ledger
from turnlint.lifecycle import MARKS
from turnlint.model import Call, Message, Other, Pointer, Record, Result, Role, Severity, Text, Transcript
from turnlint.profiles import Profile, is_doubtful, is_meant

if TYPE_CHECKING:
    from turnlint.repeats import Known

C = TypeVar("C", bound=Clause)


class Case(Struct, frozen=True, dict=True):
    """One conversation with its pairs, and the provider whose clauses apply."""

    transcript: Transcript
    ledger: Ledger
    profile: Profile | None = None
    certain: bool = True
    """Whether the user or the record names the provider; otherwise it is a guess, and no finding is an error."""
    named: bool = False
    """Whether the user named the provider, to learn if it accepts this conversation."""
    opened: dict[int, Any] = field(default_factory=dict)

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.transcript.messages

    @cached_property
    def first_in(self) -> dict[int, int]:
        """Return the first message of each record, by the record's identity."""
        return {id(self.messages[index].record): index for index in range(len(self.messages) - 1, -1, -1)}

    @property
    def asked(self) -> Iterator[Asked]:
        """Return all calls, in order."""
        return (interaction.asked for interaction in self.ledger.interactions)

    @cached_property
    def asked_by(self) -> dict[int, Asked]:
        """Return the call of each result, by the identity of the result."""
        return {id(one.answer.result): one.asked for one in self.ledger.interactions if one.answer}

    @cached_property
    def ids_of_turn(self) -> dict[int, str]:
        """Return the ids of each turn's calls, in the form of a list in texts of providers."""
        turns: dict[int, list[str]] = {}
        for asked in self.asked:
            turns.setdefault(asked.turn, []).append(asked.call.id or "")
        return {turn: ", ".join(ids) for turn, ids in turns.items()}

    @cached_property
    def open_ids(self) -> dict[int, str]:
        """Return the ids of each turn's calls without a result directly after the turn, by each message with calls.

        The texts of providers list these ids in one sentence for the whole turn, each once.
        """
        turns: dict[int, dict[str, None]] = {}
        asking: dict[int, int] = {}
        for one in self.ledger.interactions:
            if one.asked.call.server:
                continue
            asking[one.asked.message] = one.asked.turn
            if one.answer is None or one.how != "in-place":
                turns.setdefault(one.asked.turn, {})[one.asked.call.id or ""] = None
        texts = {turn: ", ".join(filter(None, ids)) for turn, ids in turns.items()}
        return {message: texts[turn] for message, turn in asking.items() if turn in texts}

    @cached_property
    def ids_of_results(self) -> frozenset[str]:
        """Return the ids of all results."""
        return frozenset(one.result.id for one, _ in self.answered if one.result.id)

    @cached_property
    def next_words(self) -> list[int]:
        """Return for each message the first one from it on that is empty or has more than calls, results or thoughts."""
        following = [len(self.messages)]
        for index in range(len(self.messages) - 1, -1, -1):
            blocks = self.messages[index].blocks
            speaks = not blocks or any(isinstance(block, Text | Other) for block in blocks)
            following.append(index if speaks else following[-1])
        return following[::-1]

    @property
    def answered(self) -> Iterator[tuple[Answered, Asked | None]]:
        """Yield all results, in no order, each with the call that it answers or repeats, if there is one."""
        for interaction in self.ledger.interactions:
            if interaction.answer is not None:
                yield interaction.answer, interaction.asked
        yield from ((again, interaction.asked) for again, interaction in self.ledger.duplicates)
        yield from ((orphan, None) for orphan in self.ledger.orphans)

    @cached_property
    def model(self) -> str | None:
        """Return the model of the request, if it may be a model of the provider; otherwise it is unknown."""
        request, profile = self.transcript.request, self.profile
        if request is None or profile is None:
            return None
        return profile.model_on(self.transcript.wire.speaks, request.model)

    @cached_property
    def spelled(self) -> bool:
        """Whether the conversation is on a wire of the provider, so that its format can be checked."""
        return self.profile is not None and self.profile.speaks(self.transcript.wire.speaks)

    def takes_message(self, role: Role) -> bool:
        """Whether a repair can add a message of a role: in sessions of some agents a repair adds only results."""
        from turnlint import carriers

        carrier = carriers.of_wire(self.transcript.wire.name)
        writer = carrier.writer if carrier else None
        return writer is not None and writer.write_message(role, ["text"], []) is not None

    def takes_result(self, asked: Asked) -> bool:
        """Whether a repair can write a placeholder for the result of a call: a screenshot or an approval is no text."""
        from turnlint import carriers

        carrier = carriers.of_wire(self.transcript.wire.name)
        writer = carrier.writer if carrier else None
        if writer is None:
            return False
        call = structs.replace(asked.call, id=asked.call.id or "call")  # another repair writes a missing id
        return writer.write_result(call, [writer.placeholder_text], True) is not None

    def clauses(self, kind: type[C], *, spelled: bool = True) -> Iterator[C]:
        """Yield the clauses of a kind that apply here.

        Clauses about the format apply only on a wire of the provider or on a wire that they name.
        """
        profile = self.profile
        if profile is None:
            return
        for clause in profile.by_code.get(kind.code, ()):
            if spelled and not self.spelled and not clause.wires:
                continue
            if isinstance(clause, kind) and self.holds(clause):
                yield clause

    def holds(self, clause: Clause) -> bool:
        """Whether a clause applies to this wire and model."""
        wire = self.transcript.wire.speaks
        return is_meant(clause, wire, self.model, certain=self.certain, named=self.named)

    def severity(self, clause: Clause) -> Severity:
        """Return a clause's severity. It is milder in doubt, or if the record has the provider's answer."""
        request = self.transcript.request
        taken = not self.named and request is not None and request.answered
        unsure = taken or is_doubtful(clause, self.model, certain=self.certain)
        return "warning" if unsure and clause.severity == "error" else clause.severity

    @property
    def ends(self) -> bool:
        """Whether the last message is the end of a request, so that rules about the last message apply."""
        transcript, request = self.transcript, self.transcript.request
        if request is None or not transcript.messages or not request.key:
            return False
        if self.named:
            return self.sent(len(transcript.messages) - 1)
        return request.whole and not transcript.open_end

    def sent(self, index: int) -> bool:
        """Whether a message is part of a request in its record, and neither a line of a log nor an answer."""
        request = self.transcript.request
        at = self.messages[index].at
        return request is not None and bool(request.key) and at[:-1] == (*request.at, request.key)

    def written(self, index: int) -> Any:
        """Return a message as written, decoded; nothing if its record was released."""
        message = self.messages[index]
        return self.value_in(message.record, message.at)

    def value_in(self, record: Record, at: Pointer) -> Any:
        """Return the value at a pointer of a record, decoded; nothing if the record was released."""
        return value_at(record, at, self.opened)

    def is_other_item(self, index: int) -> bool:
        """Whether a message has a type of its own and content under a key that its wire does not have."""
        value = self.written(index)
        kind = value.get("type") if isinstance(value, dict) else None
        # LangChain's `dumpd` writes each message as a constructor with its arguments.
        known = ("message", "constructor", self.messages[index].written_role)
        return isinstance(kind, str) and kind not in known and not self.is_hollow(index)

    def is_hollow(self, index: int) -> bool:
        """Whether neither a message nor its record has any content; false if the record was released."""
        from turnlint.carrying.saying import keeps_something, says_something

        message = self.written(index)
        if message is None or says_something(message):
            return False
        return not self.messages[index].at or not keeps_something(
            self.value_in(self.messages[index].record, ())
        )

    @cached_property
    def known_calls(self) -> "Known":
        """Return the calls of the conversation, indexed to find copies."""
        from turnlint.repeats import Known

        return Known(asked.call for asked in self.asked)

    def has_own_call(self, answered: Answered) -> bool:
        """Whether a message of results has a call that no assistant message has.

        That call may be the call of a result.
        """
        places = self.messages[answered.message].inner_calls
        return any(self.known_calls.repeated(self.said(answered.message, place)) is None for place in places)

    def has_call_beside(self, orphan: Answered) -> bool:
        """Whether the call of an orphan result may be in its message of results, and nowhere else.

        A call inside the result is its own only with its id, or where it has none.
        """
        if not self.has_own_call(orphan):
            return False
        inner = [self.said(orphan.message, place) for place in self.calls_in(orphan)]
        ids = [call.get("id") for call in inner if isinstance(call, dict)]
        return not inner or None in ids or orphan.result.id in ids

    @cached_property
    def no_objects(self) -> frozenset[tuple[int, Pointer]]:
        """Return the positions, by record, where another value is in place of an expected object."""
        misfits = self.transcript.misfits
        return frozenset((id(record), one.at) for record, one in misfits if one.expected == "an object")

    def is_no_object(self, asked: Asked) -> bool:
        """Whether an entry of a list of calls is null or another value that is no object.

        `malformed-message` reports it.
        """
        if not self.no_objects:
            return False
        message = self.messages[asked.message]
        return (id(message.record), (*message.at, *asked.call.at)) in self.no_objects

    def is_hollow_call(self, asked: Asked) -> bool:
        """Whether an entry in place of a call has no id, no name and no arguments, so that no tool was called."""
        call = asked.call
        return self.is_no_object(asked) or not (call.id or call.name or call.body)

    def calls_in(self, answered: Answered) -> tuple[Pointer, ...]:
        """Return the positions of the calls inside a result."""
        return self.messages[answered.message].calls_in(answered.result)

    def loses_calls(self, answered: Answered, kept: Answered) -> bool:
        """Whether a result has a call that the kept one lacks."""
        mine, theirs = (
            {json.encode(self.said(one.message, place), order="sorted") for place in self.calls_in(one)}
            for one in (answered, kept)
        )
        return not mine <= theirs

    def loses_keys(self, answered: Answered, kept: Answered) -> bool:
        """Whether a result in a list has a key that the kept one in the same record lacks."""
        if self.messages[answered.message].record is not self.messages[kept.message].record:
            return False  # records of a session differ in ids and times
        mine, theirs = (self.said(one.message, one.result.at) for one in (answered, kept))
        if not isinstance(mine, dict) or not isinstance(theirs, dict):
            return False
        # Both have the same state, so that a mark of it alone adds nothing.
        return not {key for key, value in mine.items() if value is not None} - MARKS <= theirs.keys()

    def said(self, index: int, below: Pointer) -> Any:
        """Return the value at a pointer below a message, decoded; nothing if its record was released."""
        return value_below(self.written(index), below)


def in_its_words(
    case: Case,
    index: int,
    below: Pointer,
    piece: Call | Result | None,
    clause: Clause,
    more: Mapping[str, object],
    at: Pointer | None = None,
) -> str | None:
    """Return the provider's text for this finding."""
    if not clause.says or case.profile is None:
        return None
    from turnlint import wording

    message = case.messages[index] if case.messages else None
    place = wording.in_request(message, index, below, case.transcript.wire) if message else ("messages", 0)
    number = place[1] if len(place) > 1 and isinstance(place[1], int) else index
    if at is not None:
        request = case.transcript.request
        place = at[len(request.at) :] if request else at
    kind = piece.kind if piece else str(more.get("kind", ""))
    wanted = wording.left_open(clause.says)
    fields: dict[str, object] = {
        "path": wording.path(place, case.profile.paths, kind) if "path" in wanted else "",
        "index": number, "next": number + 1,
        "place": wording.path(place[:-1], "brackets") if "place" in wanted else "",
        "role": message.written_role if message else "", "kind": kind,
        "block": next((part for part in below if isinstance(part, int)), 0),
    }  # fmt: skip
    if piece:
        name = piece.id or ""
        fields |= {"id": name, "ids": name, "name": piece.name or "", "length": len(name)}
    fields |= more
    if not case.spelled:
        fields = {name: value for name, value in fields.items() if name not in wording.PLACES}
    if any(f"{{{name}}}" in clause.says and not fields.get(name) for name in ("id", "ids")):
        return None  # a text without the id would be misleading
    return wording.told(clause.says, fields)
