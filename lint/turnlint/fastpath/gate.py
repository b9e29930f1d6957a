"""Accept the lines of a log whose facts concern no rule.

The native scanner gives the facts of each line. `suspects` applies the clauses of the provider to them, as it does to the
facts of a conversation that was read. A line without facts, or with facts that concern a rule, goes to the plain reader.
"""

import re
from typing import TYPE_CHECKING, Any

from msgspec import structs

from turnlint import carriers
from turnlint.carriers._marks import is_evidence
from turnlint.carrying.carrier import Carrier
from turnlint.carrying.syntax import WireSyntax
from turnlint.documents.gate import Scan, Span
from turnlint.fastpath.decode import envelope_of, kind_of, last_of, without_envelope
from turnlint.fastpath.facts_reader import MAX_DECISIONS, Around, FactsReader
from turnlint.fastpath.passed import Passed
from turnlint.model import Known, Record, Transcript
from turnlint.sampling import owner_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from turnlint.judging import Book

MAX_ENVELOPES = 1 << 13
MAX_ENVELOPE_BYTES = 1 << 22
_NO_KEYS: frozenset[str] = frozenset()
_MODEL = re.compile(rb'"model(?:Id)?":"([^"\\]*)"')
"""The name of the model in an envelope, where it has no escapes."""
MIN_TRIES = 64
TRIES_FOR_EACH = 8
"""Limits of the lines that the tables of other wires read: a minimum, and an increase for each line that they decide."""
REQUEST_FORMATS = (
    "openai-chat",
    "anthropic",
    "openai-responses",
    "gemini",
    "bedrock",
    "mistral",
    "cohere",
    "ollama",
)
"""Formats with tables for the native reader."""


Decision = Around | Known | None
"""The surroundings of an accepted record; the facts about a record that may have findings; none without facts."""


def _model_in(envelope: bytes) -> bytes | None:
    """Return the name of the model, if it is the only one and ASCII text."""
    found = _MODEL.findall(envelope)
    return found[0] if len(found) == 1 and envelope.count(b'"model') == 1 and found[0].isascii() else None


class GateCaches:
    """The caches of all gates of one wire, with the native scanner that they belong to."""

    def __init__(self, native: Any, syntax: WireSyntax) -> None:
        self.facts = FactsReader(native, syntax)
        self.envelopes: dict[int, bytes] = {}
        self.held = 0
        """Bytes of envelopes."""
        self.around: dict[tuple[int, int, bool, frozenset[str]], Around | None] = {}
        self.bodies: dict[bytes, Transcript | None] = {}
        """Requests without messages, by their envelope without the name of the model."""
        self.owners: dict[tuple[bytes, bytes], bool] = {}
        """Whether records with an envelope and a sample of messages are of this format."""
        self.distinct: dict[Hashable, Around] = {}
        """Different envelopes may have equal surroundings."""
        self.decisions: dict[bytes, Decision] = {}
        self.shared: dict[tuple[Around, bytes], Decision] = {}
        """Decisions by surroundings, and by facts without the hash of the envelope."""

    def keep(self, number: int, envelope: bytes) -> None:
        """Keep an envelope under its hash."""
        if len(self.envelopes) >= MAX_ENVELOPES or self.held + len(envelope) > MAX_ENVELOPE_BYTES:
            self.forget()
        self.held += len(envelope)
        self.envelopes[number] = envelope

    def forget(self) -> None:
        """Clear all caches; the native scanner then gives each envelope again."""
        self.facts.scanner.forget()
        self.held = 0
        caches: tuple[dict[Any, Any], ...] = (
            self.envelopes, self.around, self.bodies, self.owners, self.distinct, self.decisions, self.shared,
        )  # fmt: skip
        for cache in caches:
            cache.clear()


class WireGate:
    """Decides about the records of one wire."""

    def __init__(
        self, native: Any, carrier: Carrier, log: Carrier, book: "Book", sums: Passed, *, told: bool
    ) -> None:
        syntax = carrier.syntax
        assert syntax is not None
        key = carrier.name, log.name, told
        if key not in book.gate_caches:
            book.gate_caches[key] = GateCaches(native, syntax)
        self.caches: GateCaches = book.gate_caches[key]
        self.facts = self.caches.facts
        self.carrier = carrier
        self.log = log
        """The format of the log."""
        self.syntax = syntax
        self.book = book
        self.sums = sums
        self.told = told
        """The user names the format, so that each record is of it."""
        self.counts: dict[Around, int] = {}
        """The number of accepted conversations, by their surroundings."""

    def decide(self, facts: bytes, counts: tuple[Any, ...]) -> Decision:
        """Decide about a record. An accepted one is counted."""
        messages, calls, results, orphans, envelope, keys, servers = counts
        if keys is not None or servers is not None:
            self.facts.note(facts, keys, servers)
        if envelope is not None:
            self.caches.keep(envelope_of(facts), envelope)
        decisions = self.caches.decisions
        around = decisions[facts] if facts in decisions else self._decide(facts)
        if not isinstance(around, Around):
            return around
        self.counts[around] = self.counts.get(around, 0) + 1
        self.sums.add(messages, calls, results, orphans)
        return around

    def _decide(self, facts: bytes) -> Decision:
        key = envelope_of(facts), *kind_of(facts), self._evidence_in(facts)
        around = self.caches.around[key] if key in self.caches.around else self._read(*key)
        decision = None if around is None else self._decide_in(around, facts)
        if len(self.caches.decisions) >= MAX_DECISIONS:
            self.caches.decisions.clear()
        self.caches.decisions[facts] = decision
        return decision

    def _decide_in(self, around: Around, facts: bytes) -> Decision:
        key = around, without_envelope(facts)
        if key in self.caches.shared:
            return self.caches.shared[key]
        decision: Decision = None
        concerns = self.facts.concerns(facts, around)
        if concerns is not None:
            accepted = None if self.book.may_report(concerns) else self._accepted(around, facts)
            decision = accepted or Known(self.carrier.name, concerns)
            if len(self.caches.shared) >= MAX_DECISIONS:
                self.caches.shared.clear()
            self.caches.shared[key] = decision
        return decision

    def _accepted(self, around: Around, facts: bytes) -> Around | None:
        """Return the surroundings that count a conversation; none if only its messages decide."""
        if not around.may_end_with_model:
            return around
        last, is_empty = last_of(facts)
        said = self.facts.decoder.tables.classes[last]
        if said.role != "assistant" or said.calls:
            return around
        return None if is_empty else around.ending

    def _evidence_in(self, facts: bytes) -> frozenset[str]:
        """Return the keys of the record by which a format is recognized."""
        return self.facts.decoder.keys_in(facts, self.syntax.evidence) if self.syntax.evidence else _NO_KEYS

    def _read(self, number: int, first: int, with_calls: bool, evidence: frozenset[str]) -> Around | None:
        envelope = self.caches.envelopes.get(number)
        sample = self._sample(first, with_calls, evidence)
        around = None if envelope is None else self._read_around(envelope, sample)
        self.caches.around[number, first, with_calls, evidence] = around
        return around

    def _sample(self, first: int, with_calls: bool, evidence: frozenset[str]) -> bytes:
        """Return messages by which a format is recognized, with the role of the first message."""
        plain, calls = self.syntax.samples
        for key in sorted(evidence):
            of_call, _, word = key.rpartition(".")
            value = self.syntax.evidence[key]
            if value.startswith(b"{"):
                calls = calls[:-1] + b"," + value + b"]"
                continue
            member = b'"%b":%b,' % (word.encode(), value)
            if of_call:
                calls = (b"[{" + member).join(calls.rsplit(b"[{", 1))
                continue
            plain, calls = plain.replace(b"{", b"{" + member, 1), calls.replace(b"{", b"{" + member, 1)
        role = self.facts.decoder.tables.classes[first].written
        if role:
            plain = plain.replace(b'"user"', b'"%b"' % role.encode(), 1)
        return plain[:-1] + b"," + calls[1:] if with_calls else plain

    def _read_around(self, envelope: bytes, sample: bytes) -> Around | None:
        """Read an envelope as any record, with no message in it."""
        key = b'"%b":' % self.syntax.messages.encode()
        bare = envelope.replace(key + b'"x"', key + b"[]")
        model = _model_in(bare)
        template = bare if model is None else _MODEL.sub(b"", bare)
        if not self.told:
            is_same = model is not None and not is_evidence(model)
            is_text = key + b'"x"' in envelope  # a text instead of a list may be the input of another API
            known = template if is_same else bare, b"" if is_text else sample
            if known not in self.caches.owners:
                self.caches.owners[known] = self._is_owner(envelope.replace(key + b"[]", key + sample))
            if not self.caches.owners[known]:
                return None
        if template not in self.caches.bodies:
            self.caches.bodies[template] = self._read_body(bare)
        transcript = self.caches.bodies[template]
        if transcript is None or transcript.request is None:
            return None
        if model is not None:
            transcript = structs.replace(
                transcript, request=structs.replace(transcript.request, model=model.decode())
            )
        around = Around.of(self.book, transcript)
        return self.caches.distinct.setdefault(around.identity, around)

    def _read_body(self, bare: bytes) -> Transcript | None:
        """Return the request of an envelope without messages."""
        decoded = self.carrier.shape.read(Record(1, 0, bare, kept=True, plain=True))
        found = list(self.carrier.read([decoded]))
        transcript = found[0] if len(found) == 1 and not decoded.troubles else None
        if not isinstance(transcript, Transcript) or transcript.misfits or transcript.messages:
            return None
        return transcript

    def _is_owner(self, record: bytes) -> bool:
        """Whether a record with such messages is of this format."""
        decoded = self.log.shape.read(Record(1, 0, record, kept=True, plain=True))
        return owner_of(self.log, decoded, self.book.wires)[0].name == self.carrier.name

    def count_kinds(self) -> None:
        """Add the accepted records to the sums, by wire and providers."""
        kinds = self.sums.kinds
        for around, times in self.counts.items():
            kinds[around.kind] = kinds.get(around.kind, 0) + times
            self.sums.model_last += times * around.ends_with_model
        self.counts.clear()


class FactGate:
    """A scanner for one log of requests. Each record is decided by the tables of its own wire."""

    decides_at_once = True

    def __init__(self, native: Any, carrier: Carrier, book: "Book", *, told: bool) -> None:
        self.native = native
        self.book = book
        self.told = told
        self.sums = Passed()
        self.log = carrier
        self.first = self._open(carrier)
        self.others: list[WireGate] = []
        """Gates of other wires, the one that accepted a record last first."""
        self.tries = MIN_TRIES
        self.unopened = [] if told else [name for name in REQUEST_FORMATS if name != carrier.name]

    def _open(self, carrier: Carrier) -> WireGate:
        return WireGate(self.native, carrier, self.log, self.book, self.sums, told=self.told)

    def scan(self, window: bytes, _: int = 1, __: int = 0) -> Scan:
        spans: list[Span] = []
        first, number = self.first, 0
        for facts, start, end, *counts in first.facts.scan(window):
            decision = None if facts is None else first.decide(facts, tuple(counts))
            if decision is None and not self.told and self.tries:
                decision = self._decide_elsewhere(window[start:end])
            if not isinstance(decision, Around):
                spans.append(Span(start, end, number, number - len(spans), decision))
            number += 1
        return Scan(spans, number, number - len(spans))

    def _decide_elsewhere(self, line: bytes) -> Decision:
        """Decide about a line by the tables of another wire. A log of one wire has few such lines: the tries are limited."""
        self.tries -= 1
        while self.unopened:
            self.others.append(self._open(carriers.carrier(self.unopened.pop())))
        for place, gate in enumerate(self.others):
            rows = gate.facts.scan(line)
            decision = gate.decide(rows[0][0], rows[0][3:]) if rows and rows[0][0] is not None else None
            if decision is not None:
                self.others.insert(0, self.others.pop(place))
                self.tries += TRIES_FOR_EACH
                return decision
        return None

    @property
    def passed(self) -> Passed:
        """The count of accepted conversations."""
        for gate in (self.first, *self.others):
            gate.count_kinds()
        return self.sums
