"""What a log says around its messages, which is mostly the same in all of it.

This module owns reading that once, and the count of conversations that were vouched for, by what stood around them.
It refuses to look at a message.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from turnlint import carriers, ledger
from turnlint.carrying.carrier import Carrier
from turnlint.carrying.lines import Unread
from turnlint.carrying.naming import mask
from turnlint.case import Case
from turnlint.model import Record, Transcript
from turnlint.once import Kept
from turnlint.providers import Chosen
from turnlint.scan.seam import Kind, Passed
from turnlint.scan.terms import Shapes, Terms, terms_of

if TYPE_CHECKING:
    from turnlint.documents.decode import Decoded

MOST_SHELLS = 1 << 10
MOST_HELD = 1 << 22
"""Bytes of them: one may hold all the tools of an agent."""
_NO_PAIRS = ledger.Ledger((), (), (), tidy=True)

Choose = Callable[[Transcript], tuple[Chosen, ...]]


class Wire(Struct, frozen=True):
    """What a wire adds to this."""

    message: type[Struct]
    roles: frozenset[str]
    shapes: Shapes
    calls_in: Callable[[list[Any], Terms], int | None]
    """How many calls a sound conversation has, each answered; nothing where it may be unsound."""
    follows: Callable[[Any, Unread, Terms], bool]
    """Whether a message may come next in a conversation that is sound so far; if so, its calls and results are
    noted."""


class Bounds(Protocol):
    def take_counts(self) -> tuple[int, int, int]:
        """Conversations, messages and answered calls since it was asked last."""
        ...


class Facts(Struct):
    """What a record says around its messages."""

    kind: Kind
    terms: Terms
    count: int = 0
    """How many conversations it stood around."""
    bounds: "Bounds | None" = None
    """The terms as a native scanner has them, which counts for itself."""


class Around:
    """All that was said around the messages of one log so far."""

    def __init__(self, wire: Wire, carrier: Carrier, choose: Choose, *, told: bool) -> None:
        self.wire = wire
        self.carrier = carrier
        self.choose = choose
        self.sums = Passed()
        self.told = told
        """The user names the format, so that no record is another's."""
        self.shells: Kept[bytes, Facts | None] = Kept(MOST_SHELLS, MOST_HELD)

    def facts(self, shell: bytes) -> Facts | None:
        """A shell is a record with an empty list of messages. Nothing where none in it is vouched for."""
        shell = mask(shell).envelope
        if shell in self.shells:
            return self.shells[shell]
        if not self.shells.has_room(len(shell)):
            self._settle()
        return self.shells.keep(shell, self._read(shell), len(shell))

    def _read(self, shell: bytes) -> Facts | None:
        """What stands around the messages, read as any record is, with no message in it."""
        if not self.told and not carriers.owns_shell(self.carrier, shell):
            return None
        decoded: Decoded[Any] = self.carrier.shape.read(Record(1, 0, shell, kept=True))
        found = list(self.carrier.read([decoded]))
        if decoded.troubles or len(found) != 1:
            return None
        (transcript,) = found
        if not isinstance(transcript, Transcript) or transcript.misfits or transcript.messages:
            return None
        chosen = self.choose(transcript)
        cases = [Case(transcript, _NO_PAIRS, one.profile, one.certain, one.named) for one in chosen]
        terms = terms_of(cases, self.wire.roles, self.wire.shapes)
        return None if terms is None else Facts((transcript.wire.speaks, chosen), terms)

    def count(self, facts: Facts, messages: int, calls: int, conversations: int = 1) -> None:
        facts.count += conversations
        passed = self.sums
        passed.conversations += conversations
        passed.messages += messages
        passed.calls += calls
        passed.results += calls

    @property
    def passed(self) -> Passed:
        self._settle()
        return self.sums

    def _settle(self) -> None:
        """Count by kind, seldom: a profile is long to tell from another."""
        kinds = self.sums.kinds
        for facts in self.shells.values():
            if facts is None:
                continue
            if facts.bounds is not None:
                conversations, messages, calls = facts.bounds.take_counts()
                self.count(facts, messages, calls, conversations)
            if facts.count:
                kinds[facts.kind] = kinds.get(facts.kind, 0) + facts.count
                facts.count = 0
