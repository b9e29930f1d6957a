"""Count the content of the conversations of a source, and keep none of them.

Memory is bounded by a limit for the names of each kind, and not by the file.
"""

import re
from collections import Counter
from itertools import islice

from turnlint import ledger
from turnlint.arguments import notation_of
from turnlint.carriers import of_wire
from turnlint.inspecting.example import Candidate, better
from turnlint.inspecting.facts import (
    Able,
    Counts,
    Grouping,
    Ids,
    Named,
    Names,
    Part,
    Place,
    Provider,
    Tooling,
)
from turnlint.inspecting.forms import ABSENT, CANONICAL, REDACTED, form_of
from turnlint.inspecting.places import is_gone, placed
from turnlint.inspecting.quirks import seen
from turnlint.model import Call, Location, Message, Result, Text, Thinking, Transcript
from turnlint.providers import SHARED, Chosen, Providers
from turnlint.text import truncate

MOST_NAMES = 10_000
MOST_TOLD = 100
MOST_PARTS = 20
LONGEST_NAME = 200
UNTYPED = "(no type)"
SHARED_RULES = "rules that all servers of this API share"

Held = tuple[str | None, tuple[str, ...], bool, bool]


class Gathering:
    def __init__(self, providers: Providers, models: Counter[str]) -> None:
        self.rules = providers
        self.models = models
        self.formats: Counter[str] = Counter()
        self.wires: Counter[str] = Counter()
        self.grouped: Counter[str] = Counter()
        self.parts: list[Part] = []
        self.more_parts = 0
        self.held: Counter[Held] = Counter()
        self.roles: Counter[str] = Counter()
        self.count: Counter[str] = Counter()
        self.tools: Counter[str] = Counter()
        self.declared: set[str] = set()
        self.styles: set[tuple[str, str]] = set()
        self.syntaxes: Counter[str] = Counter()
        self.parsers: Counter[str] = Counter()
        self.arguments: Counter[str] = Counter()
        self.noted: Counter[str] = Counter()
        self.forms: Counter[str] = Counter()
        self.longest = 0
        self.quirks: Counter[str] = Counter()
        self.first: dict[str, Place | Location] = {}
        """First place of each quirk.

        It is a location only where the record was released, so that no bytes are kept.
        """
        self.bound: dict[str, None] = {}
        self.writers: set[bool] = set()
        self.judged: set[bool] = set()
        """Whether `auto` checks conversations against the format of a provider."""
        self.example: Candidate | None = None

    def take(self, transcript: Transcript) -> None:
        if transcript.dead:
            if len(self.parts) < MOST_PARTS:
                self.parts.append(Part(transcript.dead, len(transcript.messages)))
            else:
                self.more_parts += 1
            return
        pairs = ledger.read(transcript.messages, transcript.wire, transcript.answer_at, transcript.gaps)
        self._frame(transcript)
        for message in transcript.messages:
            self._message(message, transcript.wire.name)
        self._pairs(pairs)
        new: dict[str, Location] = {}
        for name, record, at in seen(transcript, pairs):
            self.quirks[name] += 1
            if name not in self.first:
                new.setdefault(name, Location(record, at))
        self.first |= new
        here = {name: one for name, one in new.items() if not is_gone(one)}
        self.first |= zip(here, placed([*here.values()]), strict=True)
        if self.example is None or not all(self.example.rank):
            self.example = better(self.example, transcript, pairs)

    def _frame(self, transcript: Transcript) -> None:
        wire, request = transcript.wire, transcript.request
        self.noted.update(dict(transcript.noted))
        self.formats[wire.name] += 1
        self.wires[wire.speaks] += 1
        carrier = of_wire(wire.name)
        own_log = carrier is not None and carrier.session
        self.writers.add(carrier is not None and carrier.writer is not None)
        self.grouped[_lies(transcript, own_log=own_log)] += 1
        chosen = self.rules.auto(transcript)
        provider = chosen.profile.label if chosen else None
        key = (provider, _because(chosen, transcript), bool(chosen and chosen.certain), not transcript.is_log)
        if key in self.held or len(self.held) < MOST_NAMES:
            self.held[key] += 1
        self.judged.add(chosen is not None and not transcript.is_log)
        if transcript.bound:
            self.bound[transcript.bound] = None
        if request is not None:
            if request.model:
                _add(self.models, request.model)
            for tool in request.tools or ():
                if len(self.declared) < MOST_NAMES:
                    self.declared.add(tool.name or tool.kind)
                    self.styles.add((tool.style, tool.name or tool.kind))

    def _message(self, message: Message, wire: str) -> None:
        self.roles[message.role] += 1
        for block in message.blocks:
            if isinstance(block, Call):
                self._call(block, block.dialect or wire)
            elif isinstance(block, Result):
                self.count["results"] += 1
            elif isinstance(block, Thinking):
                self.count["thoughts"] += 1
                self.count["signed"] += block.signature in ("given", "bypass")
                self.count["ciphered"] += block.cipher
            elif isinstance(block, Text) and block.grammar:
                from turnlint.carrying.grammars import syntax_of

                self.parsers[f"text/{block.grammar}"] += 1
                self.syntaxes[syntax_of(block.grammar)] += 1

    def _call(self, call: Call, wire: str) -> None:
        self.count["calls"] += 1
        self.count["server"] += call.server
        if call.name:
            _add(self.tools, call.name)
        notation = notation_of(call)
        written = "free text" if call.arguments == "free" else call.written
        self.arguments[notation.name if notation else written] += 1
        self.syntaxes[notation.syntax if notation else "custom" if call.arguments == "free" else "json"] += 1
        _add(self.parsers, f"{wire}/{call.kind or UNTYPED}")
        self.forms[form_of(call.id)] += 1
        self.longest = max(self.longest, len(call.id or ""))

    def _pairs(self, pairs: ledger.Ledger) -> None:
        self.count["unanswered"] += sum(1 for _ in pairs.unanswered)
        self.count["waiting"] += sum(1 for _ in pairs.pending)
        self.count["orphans"] += len(pairs.orphans)
        self.count["duplicates"] += len(pairs.duplicates)

    def grouping(self) -> Grouping:
        return Grouping(
            conversations=self.grouped.total(),
            record=self.grouped["record"],
            lines=self.grouped["lines"],
            session=self.grouped["session"],
            left_behind=tuple(self.parts),
            more_left_behind=self.more_parts,
        )

    def counts(self) -> Counts:
        count = self.count
        return Counts(
            messages=self.roles.total(),
            roles=ordered(self.roles),
            calls=count["calls"],
            server_calls=count["server"],
            unanswered=count["unanswered"],
            waiting=count["waiting"],
            results=count["results"],
            orphans=count["orphans"],
            duplicates=count["duplicates"],
            thoughts=count["thoughts"],
            signed_thoughts=count["signed"],
            ciphered_thoughts=count["ciphered"],
            declared_tools=len(self.declared),
        )

    def tooling(self) -> Tooling:
        return Tooling(
            formats=ordered(self.syntaxes),
            parsers=dict(islice(ordered(self.parsers).items(), MOST_TOLD)),
            schema_styles=ordered(Counter(style for style, _ in self.styles)),
        )

    def ids(self) -> Ids:
        forms = ordered(self.forms)
        absent, redacted = forms.pop(ABSENT, 0), forms.pop(REDACTED, 0)
        return Ids(
            given=sum(forms.values()),
            absent=absent,
            redacted=redacted,
            reused=self.quirks["id-reused"],
            canonical=forms.get(CANONICAL, 0),
            longest=self.longest,
            forms=forms,
        )

    def providers(self) -> tuple[Provider, ...]:
        ranked = sorted(self.held.items(), key=lambda one: (-one[1], one[0][0] or "", one[0][1:]))
        return tuple(
            Provider(
                provider=provider,
                because=because,
                certain=certain,
                projection=projection,
                conversations=conversations,
            )
            for (provider, because, certain, projection), conversations in ranked[:MOST_TOLD]
        )

    def able(self, *, again: bool) -> Able:
        return Able(
            lint=True,
            projection="mixed" if len(self.judged) > 1 else "auto" if True in self.judged else "named",
            fix=True,
            in_place=again and not self.bound,
            bound=tuple(self.bound),
            adds=self.writers == {True},
            render=False,
        )


def _lies(transcript: Transcript, *, own_log: bool) -> str:
    """Return how a conversation is stored in records."""
    is_of_lines = _is_of_lines(transcript)
    if not is_of_lines and len({(record.line, record.offset) for record in transcript.records}) < 2:
        return "record"
    return "session" if own_log else "lines" if is_of_lines else "record"


def _is_of_lines(transcript: Transcript) -> bool:
    """Whether each message is a record of its own: it is in no list, and there are no fields of a request."""
    said = transcript.messages
    alone = not any(isinstance(step, int) for message in said[:2] for step in message.at)
    return bool(said) and transcript.request is None and alone


def _because(chosen: Chosen | None, transcript: Transcript) -> tuple[str, ...]:
    """Return the evidence of a record for a provider. A host outweighs a model, and a model outweighs the wire."""
    request = transcript.request
    host, model = (request.host, request.model) if request else (None, None)
    if chosen is None:
        return (f"host {truncate(host, LONGEST_NAME)}",) if host else ()
    profile = chosen.profile
    facts = []
    if host and any(host == end or host.endswith(f".{end}") for end in profile.hosts):
        facts.append(f"host {truncate(host, LONGEST_NAME)}")
    if model and profile.models and re.search(profile.models, model):
        facts.append(f"model {truncate(model, LONGEST_NAME)}")
    if profile.name == SHARED:
        return (SHARED_RULES,)
    if not facts or profile.wires[:1] == (transcript.wire.speaks,):
        facts.append(f"wire {transcript.wire.speaks}")
    return tuple(facts)


def names_of(counter: Counter[str]) -> Names:
    ranked = sorted(counter.items(), key=lambda one: (-one[1], one[0]))
    told = tuple(Named(name, count) for name, count in ranked[:MOST_TOLD])
    return Names(told, len(ranked) - len(told))


def ordered(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda one: (-one[1], one[0])))


def _add(counter: Counter[str], name: str) -> None:
    """Count a name, unless there are too many names for a useful list."""
    name = truncate(name, LONGEST_NAME)
    if name in counter or len(counter) < MOST_NAMES:
        counter[name] += 1
