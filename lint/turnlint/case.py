"""One conversation as a rule sees it.

This module owns the pairing of a conversation with the provider it is held against, and the choice of
the provider's clauses that hold for it. It refuses to judge anything.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct, field

from turnlint import wording
from turnlint.clauses import Clause
from turnlint.documents.decode import value_of
from turnlint.ledger import Answered, Asked, Ledger
from turnlint.model import Call, Message, Pointer, Result, Severity, Transcript
from turnlint.profiles import Profile

C = TypeVar("C", bound=Clause)


class Case(Struct, frozen=True):
    """One conversation with its pairing, and the provider it is held against: what a rule looks at."""

    transcript: Transcript
    ledger: Ledger
    profile: Profile | None = None
    certain: bool = True
    """The provider was named, by the user or by the record; else it was guessed, and nothing here is an error."""
    named: bool = False
    """The user named it, and so asks whether it would take this conversation."""
    opened: dict[int, Any] = field(default_factory=dict)

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.transcript.messages

    @property
    def asked(self) -> Iterator[Asked]:
        """Every call, in order."""
        return (interaction.asked for interaction in self.ledger.interactions)

    @property
    def answered(self) -> Iterator[tuple[Answered, Asked | None]]:
        """Every result with the call it answers or repeats, if there is one, in no order."""
        for interaction in self.ledger.interactions:
            if interaction.answer is not None:
                yield interaction.answer, interaction.asked
        yield from ((again, interaction.asked) for again, interaction in self.ledger.duplicates)
        yield from ((orphan, None) for orphan in self.ledger.orphans)

    @property
    def model(self) -> str | None:
        request = self.transcript.request
        return request.model if request else None

    @property
    def spelled(self) -> bool:
        """The conversation is written on a wire of the provider's, so that its spelling can be judged."""
        return self.profile is not None and self.transcript.wire.speaks in self.profile.wires

    def clauses(self, kind: type[C], *, spelled: bool = True) -> Iterator[C]:
        """The provider's clauses of a kind that hold here; those about spelling only on a wire of its own."""
        profile = self.profile
        if profile is None or (spelled and not self.spelled):
            return
        for clause in profile.by_code.get(kind.code, ()):
            if isinstance(clause, kind) and self.holds(clause):
                yield clause

    def holds(self, clause: Clause) -> bool:
        """Whether a clause is meant for this wire and model."""
        if clause.wires and self.transcript.wire.speaks not in clause.wires:
            return False
        model = self.model
        if model is None:
            return True
        if clause.other_models and re.search(clause.other_models, model):
            return False
        return not clause.models or re.search(clause.models, model) is not None

    def severity(self, clause: Clause) -> Severity:
        """A clause's severity, made milder where it is not sure to be meant."""
        unsure = not self.certain or ((clause.models or clause.other_models) and self.model is None)
        return "warning" if unsure and clause.severity == "error" else clause.severity

    def sent(self, index: int) -> bool:
        """Whether a message is part of a request as its record holds it, not a line of a log or an answer."""
        request = self.transcript.request
        at = self.messages[index].at
        return request is not None and bool(request.key) and at[:-1] == (*request.at, request.key)

    def written(self, index: int) -> Any:
        """A message as it is written, decoded; nothing where its record was let go."""
        message = self.messages[index]
        record = message.record
        if not record.data:
            return None
        key = id(record)
        if key not in self.opened:
            self.opened[key] = value_of(record.data)
        value = self.opened[key]
        for part in message.at:
            try:
                value = value[part]
            except (LookupError, TypeError):
                return None
        return value


def in_its_words(
    case: Case,
    index: int,
    below: Pointer,
    piece: Call | Result | None,
    clause: Clause,
    more: Mapping[str, object],
    at: Pointer | None = None,
) -> str | None:
    """The provider's text for this finding."""
    if not clause.says or case.profile is None:
        return None
    place = wording.in_request(case.messages[index], index, below, case.transcript.wire)
    number = place[1] if len(place) > 1 and isinstance(place[1], int) else index
    if at is not None:
        request = case.transcript.request
        place = at[len(request.at) :] if request else at
    kind = piece.kind if piece else str(more.get("kind", ""))
    fields: dict[str, object] = {
        "path": wording.path(place, case.profile.paths, kind), "index": number, "next": number + 1, "place": wording.path(place[:-1], "brackets"),
        "role": case.messages[index].written_role, "kind": kind,
        "block": next((part for part in below if isinstance(part, int)), 0),
    }  # fmt: skip
    if piece:
        name = piece.id or ""
        fields |= {"id": name, "ids": name, "name": piece.name or "", "length": len(name)}
    return wording.told(clause.says, fields | dict(more))
