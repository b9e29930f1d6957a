"""One conversation, and all that the rules of a run say of it.

This module owns what a run looks for, which rules that takes, and who is asked about a conversation. It refuses to
know where conversations come from, and where what is said of them goes.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from turnlint import ledger
from turnlint.bounded_cache import BoundedCache
from turnlint.case import Case
from turnlint.checks import Declared, PreparedChecks, built_in, is_asked, suspects, triggers_of, union_of
from turnlint.documents.trouble import Damage
from turnlint.extraction import facts_of
from turnlint.facts import ConversationFacts
from turnlint.model import Finding, Severity, Transcript
from turnlint.packages import BUILTIN, packages
from turnlint.profiles import Profile
from turnlint.providers import Chosen, Providers

if TYPE_CHECKING:
    from turnlint.ignores import Ignore
    from turnlint.own_rules import OwnRule, Watch
    from turnlint.rulebook import Entry

Content = Literal["none", "excerpt", "full"]
MOST_MET, MOST_LETTERS = 1000, 1 << 17
"""Of so many hosts and models, and as long as their names are together, it is kept whose rules hold."""


class Options(Struct, frozen=True):
    """What one run looks for and how much it shows."""

    format: str | None = None
    """`None` is `auto`."""
    providers: tuple[str, ...] = ("auto",)
    """Names with or without a version, `auto`; none at all leaves state and pairing only."""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    preview: bool = False
    """Rules in preview are wanted."""
    view: bool = False
    content: Content = "none"
    views_per_rule: int = 3
    fingerprints: bool = False
    spans: bool = False
    """Places are wanted with their ends, in every unit that columns are counted in."""
    conversations: bool = False
    """Each conversation is told of, also where nothing is wrong."""
    profiles: tuple[Profile, ...] = ()
    """Profiles that the user brings."""
    severities: tuple[tuple[str, Severity], ...] = ()
    """How grave the findings of some rules are, by selector; the last that means a rule holds."""
    own_rules: "tuple[OwnRule, ...]" = ()
    """Rules that the user brings: they look at records as they are written."""
    without: "tuple[Ignore, ...]" = ()
    """Findings that a repair leaves alone. A report sifts its rows instead, to tell of them."""
    says: bool = False
    """Rows say which models and which day their record names."""
    pardons: str = ""
    """Where records may ask to leave out findings, as a pattern of JSON Pointers; nowhere, where this is empty."""
    root: str = ""
    """The folder from which fingerprints see a file; the one that the run is in where nothing is said."""


class Book:
    """The rules of a run, loaded when the first conversation needs them."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.packages = packages()
        self.providers = Providers(self.packages, options.profiles)
        self.named = [
            None if name == "auto" else self.providers.named(name)
            for name in dict.fromkeys(options.providers)
        ]
        self.wires = tuple(
            dict.fromkeys(wire for one in self.named for wire in (one[0].wires if one else ()))
        )
        """Of the providers that the user named."""
        self.entries: list[Entry] | None = None
        self.taken: dict[frozenset[str], list[Entry]] = {}
        self.checks = PreparedChecks()
        self.met: BoundedCache[tuple[str, str | None, str | None], tuple[Chosen, ...]] = BoundedCache(
            MOST_MET, MOST_LETTERS
        )
        """Providers, by all that the choice among them looks at."""
        if options.select or options.ignore:
            self.rules()

    def chosen(self, transcript: Transcript) -> tuple[Chosen, ...]:
        """The providers that a conversation is held against, each once."""
        request = transcript.request
        host, model = (request.host, request.model) if request else (None, None)
        key = transcript.wire.speaks, host, model
        if key in self.met:
            return self.met[key]
        return self.met.put(key, self._choose(transcript), len(host or "") + len(model or ""))

    def _choose(self, transcript: Transcript) -> tuple[Chosen, ...]:
        found = [
            self.providers.auto(transcript) if one is None else self.providers.for_named(one, transcript)
            for one in self.named
        ]
        return tuple({one.profile.label: one for one in found if one}.values())

    def rules(self) -> "list[Entry]":
        if self.entries is None:
            from turnlint import rulebook

            entries = [entry for package in self.packages for entry in rulebook.load(package)]
            if self.options.own_rules:
                from turnlint.own_rules.entries import entry_of

                entries += map(entry_of, self.options.own_rules)
            options = self.options
            self.entries = rulebook.choose(entries, options.select, options.ignore, preview=options.preview)
        return self.entries

    @cached_property
    def others(self) -> "list[Entry]":
        """The rules that other packages bring, of those of the run."""
        if len(self.packages) == 1:
            return []
        if self.entries is not None:
            return [entry for entry in self.entries if not entry.builtin and entry.check is not None]
        from turnlint import rulebook

        found = [entry for name in self.packages if name != BUILTIN for entry in rulebook.load(name)]
        return rulebook.choose(found, (), (), preview=self.options.preview)

    @cached_property
    def has_triggers(self) -> bool:
        """Whether every rule of the run declares triggers, so that a conversation without any needs no rule."""
        return self.triggers is not None

    @cached_property
    def triggers(self) -> frozenset[str] | None:
        """All triggers of the rules of the run; `None` if a rule declares none."""
        if self.entries is None:
            declared = [triggers_of(code, some) for code, some, _ in self.built_in.values()]
            return union_of([*declared, *(one.triggers for one in self.others)])
        return union_of(one.triggers for one in self.entries if one.check or one.check_record)

    @cached_property
    def built_in(self) -> dict[str, Declared]:
        """What the built-in rules of the run declare, by their modules, where none is selected or ignored."""
        preview = self.options.preview
        return {name: one for name, one in built_in().items() if preview or not one[2]}

    def may_report(self, found: frozenset[str]) -> bool:
        """Whether a rule of the run may report something where there are these triggers and suspects."""
        return not self.has_triggers or is_asked(self.triggers, found)

    def found_in(
        self, facts: ConversationFacts, transcript: Transcript, held: tuple[Chosen, ...]
    ) -> frozenset[str]:
        """The triggers of a conversation, and the rules that the clauses of some providers suspect."""
        wire, request = transcript.wire.speaks, transcript.request
        model = request.model if request else None
        found = facts.triggers
        for one in held:
            checks = self.checks.of(one.profile, wire, model)
            found |= suspects(facts, checks, named=one.named)
        return found

    def concerned(self, found: frozenset[str]) -> "list[Entry]":
        """The rules of the run that may report something where there are these triggers and suspects, in their order."""
        if found not in self.taken:
            self.taken[found] = self._take(found)
        return self.taken[found]

    def _take(self, found: frozenset[str]) -> "list[Entry]":
        from turnlint import rulebook

        if self.entries is not None:
            return [entry for entry in self.entries if entry.is_asked(found)]
        own = rulebook.take(self.built_in, found)
        return [*own, *(entry for entry in self.others if entry.is_asked(found))]

    def watch(self) -> "Watch | None":
        """The user's own rules of this run, if there are any."""
        if not self.options.own_rules:
            return None
        from turnlint.own_rules.watching import open_watch

        chosen = self.rules() if self.options.select or self.options.ignore else None
        return open_watch(self.options.own_rules, chosen, self.told)

    def told(self, findings: list[Finding]) -> list[Finding]:
        """Findings as grave as the configuration says."""
        if not findings or not self.options.severities:
            return findings
        from turnlint.ignores import regraded

        return [regraded(finding, self.options.severities) for finding in findings]


class Judged(Struct):
    """One conversation, and all that the rules of a run say of it."""

    transcript: Transcript
    pairs: ledger.Ledger
    chosen: tuple[Chosen, ...]
    cases: list[Case]
    """One for each provider."""
    findings: list[Finding]


Ask = Callable[["Entry", int, Callable[[Any], Any], Any], list[Finding]]
"""Puts a question to a rule: the rule, a line for the case that it fails, its check, and what to look at."""


_DAMAGE = frozenset({"record"})
"""The trigger of rules about damage."""


def judge_damage(book: Book, damages: Sequence[Damage], ask: Ask) -> list[Finding]:
    """Return the findings of the rules of a run about damage."""
    findings: list[Finding] = []
    for entry in book.concerned(_DAMAGE) if damages else ():
        if entry.check_record:
            for damage in damages:
                findings += ask(entry, damage.record.line, entry.check_record, damage)
    return book.told(findings)


def judge(book: Book, transcript: Transcript, ask: Ask, found: frozenset[str] | None = None) -> Judged:
    """Pair a conversation and hold it against the rules of a run.

    `found` is what `Book.found_in` says of its facts, if a scanner has them already.
    """
    pairs = ledger.read(transcript.messages, transcript.wire, transcript.answer_at, transcript.gaps)
    chosen = () if transcript.dead else book.chosen(transcript)
    held = tuple(one for one in chosen if one.judges(transcript))
    opened: dict[int, Any] = {}
    cases = [Case(transcript, pairs, one.profile, one.certain, one.named, opened) for one in held]
    judged = Judged(transcript, pairs, chosen, cases, [])
    if found is None:
        found = book.found_in(facts_of(transcript, pairs, opened), transcript, held)
    if not book.may_report(found):
        return judged
    from turnlint.weighing import weigh

    line = transcript.messages[0].record.line if transcript.messages else 1
    bare = Case(transcript, pairs, opened=opened)
    for entry in book.concerned(found):
        if entry.check is None or entry.rule.dead is not bool(transcript.dead):
            continue
        if entry.rule.fault == "projection":
            for case in cases:
                judged.findings += ask(entry, line, entry.check, case)
        else:
            told = ask(entry, line, entry.check, bare)
            judged.findings += [weigh(finding, bare, chosen) for finding in told] if chosen else told
    judged.findings = book.told(judged.findings)
    if judged.findings:
        from turnlint.gaps import held_back

        judged.findings = held_back(judged.findings, transcript, pairs)
        if transcript.misfits:
            from turnlint.writable import without_unwritable

            judged.findings = without_unwritable(judged.findings, transcript, pairs)
    return judged
