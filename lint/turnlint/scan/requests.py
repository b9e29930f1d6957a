"""Logs of which every line is a request, and so a conversation of its own.

This module owns the taking apart of such a line: the messages, which a wire's own predicate looks at, and what is
said around them, which is mostly the same in a whole log and is read exactly once. It refuses to know a wire.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from msgspec import Raw, Struct, defstruct, json

from turnlint import ledger
from turnlint.carrying.carrier import Carrier
from turnlint.carrying.lines import Unread
from turnlint.carrying.raws import NOTHING
from turnlint.case import Case
from turnlint.documents.gate import Ended, Scan, Span
from turnlint.model import Record, Transcript
from turnlint.providers import Chosen
from turnlint.scan.outline import Failed, compact, encode, is_utf8
from turnlint.scan.seam import Kind, Passed
from turnlint.scan.terms import Shapes, Terms, terms_of

if TYPE_CHECKING:
    from turnlint.documents.decode import Decoded

LONGEST = 1 << 22
"""A longer line is not looked at: that takes more memory than reading it."""
MOST_KEYS = 64
_MOST_SHELLS = 1 << 10
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


class Facts(Struct):
    """What a record says around its messages."""

    kind: Kind
    terms: Terms
    count: int = 0
    """How many conversations it stood around."""


class Requests:
    """A scanner for one log. It learns from the first records which keys to look for."""

    def __init__(self, wire: Wire, carrier: Carrier, choose: Choose, sample: Iterable[Record]) -> None:
        self.wire = wire
        self.carrier = carrier
        self.choose = choose
        self.sums = Passed()
        self.shells: dict[bytes, Facts | None] = {}
        self.keys: set[str] = set()
        self.missed = 0
        for record in sample:
            self._learn(record.data)
        self.decode = self._decoder()

    def _learn(self, data: bytes) -> None:
        try:
            keys = json.decode(data, type=dict[str, Raw]).keys()
        except Failed:
            return
        new = {key for key in keys if key.isidentifier() and not key.startswith("__")}
        if len(self.keys | new) <= MOST_KEYS:
            self.keys |= new

    def _decoder(self) -> Callable[[bytes], Any]:
        fields: list[Any] = [("messages", list[self.wire.message])]  # type: ignore[name-defined]
        fields += [(f"k{n}", Raw, NOTHING) for n, _ in enumerate(sorted(self.keys - {"messages"}))]
        names = {f"k{n}": key for n, key in enumerate(sorted(self.keys - {"messages"}))}
        body = defstruct("Body", fields, rename=names, omit_defaults=True, gc=False)
        return json.Decoder(body).decode

    def scan(self, window: bytes, _: int = 1, __: int = 0) -> Scan:
        spans: list[Span | Ended] = []
        size = len(window)
        at = number = vouched = 0
        while at < size:
            end = window.find(b"\n", at)
            end = size if end < 0 else end
            if end - at < LONGEST and self._vouches(window[at:end]):
                vouched += 1
            else:
                spans.append(Span(at, end, number, vouched))
            number += 1
            at = end + 1
        return Scan(spans, number, vouched)

    def _vouches(self, line: bytes) -> bool:
        if not is_utf8(line):
            return False
        try:
            text = compact(line)
            body = self.decode(text)
        except Failed:
            return False
        if len(encode(body)) != len(text):
            self._miss(line)
            return False
        messages = body.messages
        body.messages = []
        shell = encode(body)
        if shell not in self.shells:
            if len(self.shells) >= _MOST_SHELLS:
                self._settle()
                self.shells.clear()
            self.shells[shell] = self._read(shell)
        facts = self.shells[shell]
        calls = None if facts is None else self.wire.calls_in(messages, facts.terms)
        if facts is None or calls is None:
            return False
        self._count(facts, len(messages), calls)
        return True

    def _miss(self, line: bytes) -> None:
        """A key that was not looked for: a few more such lines, and it will be."""
        known = len(self.keys)
        self._learn(line)
        if len(self.keys) > known:
            self.decode = self._decoder()

    def _read(self, shell: bytes) -> Facts | None:
        """What stands around the messages, read as any record is, with no message in it."""
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

    def _count(self, facts: Facts, messages: int, calls: int) -> None:
        facts.count += 1
        passed = self.sums
        passed.conversations += 1
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
            if facts is not None and facts.count:
                kinds[facts.kind] = kinds.get(facts.kind, 0) + facts.count
                facts.count = 0
