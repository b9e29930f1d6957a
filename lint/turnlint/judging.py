"""One conversation, and all that the rules of a run say of it.

This module owns what a run looks for, which rules that takes, and who is asked about a conversation. It refuses to
know where conversations come from, and where what is said of them goes.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from turnlint import ledger
from turnlint.case import Case
from turnlint.clean import concerns
from turnlint.fits import Known, doubts
from turnlint.model import Finding, Severity, Transcript
from turnlint.once import Kept
from turnlint.packages import packages
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
        self.only_faults = len(self.packages) == 1
        """No rule of this run but those about a provider has anything to say of a clean conversation."""
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
        self.known = Known()
        self.met: Kept[tuple[str, str | None, str | None], tuple[Chosen, ...]] = Kept(MOST_MET, MOST_LETTERS)
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
        return self.met.keep(key, self._choose(transcript), len(host or "") + len(model or ""))

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

    def concerned(self, concerns: frozenset[str]) -> "list[Entry]":
        """The rules that may have something to say where there is this; of those of the run, and in their order."""
        if concerns not in self.taken:
            self.taken[concerns] = self._take(concerns)
        return self.taken[concerns]

    def _take(self, concerns: frozenset[str]) -> "list[Entry]":
        from turnlint import rulebook

        if self.entries is None and self.only_faults:
            return rulebook.choose(rulebook.shelf().take(concerns), (), (), preview=self.options.preview)
        return [one for one in self.rules() if rulebook.shelf().concerned(one.module.__name__, concerns)]

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


def judge(book: Book, transcript: Transcript, ask: Ask) -> Judged:
    """Pair a conversation and hold it against the rules of a run."""
    pairs = ledger.read(transcript.messages, transcript.wire, transcript.answer_at, transcript.gaps)
    faults = concerns(transcript, pairs)
    chosen = () if transcript.dead else book.chosen(transcript)
    held = [one for one in chosen if one.judges(transcript)]
    cases = [Case(transcript, pairs, one.profile, one.certain, one.named) for one in held]
    judged = Judged(transcript, pairs, chosen, cases, [])
    there = frozenset(faults.union(*(doubts(case, book.known) for case in cases)))
    if not there and book.only_faults:
        return judged
    from turnlint.weighing import weigh

    line = transcript.messages[0].record.line if transcript.messages else 1
    bare = Case(transcript, pairs)
    for entry in book.concerned(there):
        if (
            entry.check is None
            or (not faults and entry.only_faults)
            or entry.rule.dead is not bool(transcript.dead)
        ):
            continue
        if entry.rule.fault == "projection":
            for case in cases:
                judged.findings += ask(entry, line, entry.check, case)
        else:
            found = ask(entry, line, entry.check, bare)
            judged.findings += [weigh(finding, transcript, chosen) for finding in found] if chosen else found
    judged.findings = book.told(judged.findings)
    if judged.findings:
        from turnlint.gaps import held_back

        judged.findings = held_back(judged.findings, transcript, pairs)
    return judged
