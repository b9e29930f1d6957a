"""Apply the rules of a run to one conversation.

The module defines the options of a run, loads its rules, and selects those that run on a conversation.
"""

from collections.abc import Callable, Hashable, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct, structs

from turnlint import ledger
from turnlint.bounded_cache import BoundedCache
from turnlint.case import Case
from turnlint.checks import Declared, PreparedChecks, built_in, is_asked, suspects, triggers_of, union_of
from turnlint.documents.trouble import Damage
from turnlint.extraction import facts_of
from turnlint.facts import ConversationFacts
from turnlint.model import Finding, Omitted, Severity, Transcript
from turnlint.packages import BUILTIN, has_additions, packages
from turnlint.profiles import Profile
from turnlint.providers import Chosen, Providers

if TYPE_CHECKING:
    from turnlint.ignores import Ignore
    from turnlint.own_rules import OwnRule, Watch
    from turnlint.rulebook import Entry

Content = Literal["none", "excerpt", "full"]
MOST_MET, MOST_LETTERS = 1000, 1 << 17
"""Limits of the cache of chosen providers: the number of hosts and models, and the length of their names together."""


class Options(Struct, frozen=True):
    """The options of one run: what to find and how much to show."""

    format: str | None = None
    """`None` is `auto`."""
    providers: tuple[str, ...] = ("auto",)
    """Names with or without a version, `auto`; without any, only rules about state and pairing apply."""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    preview: bool = False
    """Whether rules in preview apply."""
    view: bool = False
    content: Content = "none"
    views_per_rule: int = 3
    fingerprints: bool = False
    spans: bool = False
    """Whether positions need their ends, in every unit of columns."""
    conversations: bool = False
    """Whether there is an event for each conversation, also for those without findings."""
    diagnostics: bool = False
    """Whether there is an event with the ids of each conversation."""
    profiles: tuple[Profile, ...] = ()
    """Profiles of the user."""
    severities: tuple[tuple[str, Severity], ...] = ()
    """Severities of the findings of some rules, by selector; the last matching one applies."""
    own_rules: "tuple[OwnRule, ...]" = ()
    """The user's own rules, which check records as they are written."""
    without: "tuple[Ignore, ...]" = ()
    """Findings that a repair skips. A report sifts its rows instead, in order to count them."""
    says: bool = False
    """Whether rows have the models and the day of their record."""
    origin: str | None = None
    """The provider that made the calls, for canonical ids; nothing if the records show it."""
    pardons: str = ""
    """Position of ignores in records, as a pattern of JSON Pointers; empty for none."""
    root: str = ""
    """Folder to which paths in fingerprints are relative; if empty, the working folder."""


class History(Protocol):
    """A search for calls and results that a compaction removed from a conversation."""

    def omitted(self, transcript: Transcript, pairs: ledger.Ledger) -> tuple[Omitted, ...]:
        """Return the missing sides of pairs, where exactly one piece can be meant."""
        ...


class Book:
    """The rules of a run, loaded when the first conversation needs them."""

    def __init__(self, options: Options) -> None:
        self.options = options
        if has_additions():
            from turnlint.additions import check_additions

            check_additions()
        self.packages = packages()
        self.providers = Providers(self.packages, options.profiles)
        self.named = [
            None if name == "auto" else self.providers.named(name)
            for name in dict.fromkeys(options.providers)
        ]
        self.wires = tuple(
            dict.fromkeys(wire for one in self.named for wire in (one[0].wires if one else ()))
        )
        """The wires of the providers that the user named."""
        self.entries: list[Entry] | None = None
        self.taken: dict[frozenset[str], list[Entry]] = {}
        self.checks = PreparedChecks()
        self.met: BoundedCache[tuple[str, str | None, str | None], tuple[Chosen, ...]] = BoundedCache(
            MOST_MET, MOST_LETTERS
        )
        """Cached providers, by all values on which the choice depends."""
        self.gate_caches: dict[Hashable, Any] = {}
        """Caches of the native scanners, by format and properties of the log. The sources of a run share them."""
        self.history: History | None = None
        """The history of the source, for calls and results that a compaction removed."""
        self.recalls = True
        """Whether a repair adds such pieces again."""
        if options.select or options.ignore:
            self.rules()

    def with_history(self, history: "History | None", *, recalls: bool = True) -> "Book":
        """Return the same rules with the history of a source."""
        other = copy(self)
        other.history, other.recalls = history, recalls
        return other

    def remembering(self, transcript: Transcript, pairs: ledger.Ledger) -> Transcript:
        """Return a conversation with the missing sides of its pairs that another place still has."""
        if not self.recalls:
            return structs.replace(transcript, omitted=())
        found = self.history.omitted(transcript, pairs) if self.history else ()
        return structs.replace(transcript, omitted=(*transcript.omitted, *found)) if found else transcript

    def chosen(self, transcript: Transcript) -> tuple[Chosen, ...]:
        """Return the providers whose rules apply to a conversation, each once."""
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
        """Return the rules of the run from other packages."""
        if len(self.packages) == 1:
            return []
        if self.entries is not None:
            return [entry for entry in self.entries if not entry.builtin and entry.check is not None]
        from turnlint import rulebook

        found = [entry for name in self.packages if name != BUILTIN for entry in rulebook.load(name)]
        return rulebook.choose(found, (), (), preview=self.options.preview)

    @cached_property
    def may_shorten(self) -> bool:
        """Whether the rules about abandoned parts of sessions need only their first messages and counts."""
        return not any(entry.rule.dead for entry in self.others)

    @cached_property
    def has_triggers(self) -> bool:
        """Whether every rule of the run declares triggers, so that a conversation without any needs no rule."""
        return self.triggers is not None

    @cached_property
    def triggers(self) -> frozenset[str] | None:
        """Return all triggers of the rules of the run; `None` if a rule declares none."""
        if self.entries is None:
            declared = [triggers_of(code, some) for code, some, _ in self.built_in.values()]
            return union_of([*declared, *(one.triggers for one in self.others)])
        return union_of(one.triggers for one in self.entries if one.check or one.check_record)

    @cached_property
    def built_in(self) -> dict[str, Declared]:
        """Return the declarations of the built-in rules by module, for runs that select and ignore no rules."""
        preview = self.options.preview
        return {name: one for name, one in built_in().items() if preview or not one[2]}

    def may_report(self, found: frozenset[str]) -> bool:
        """Whether a rule of the run may report something for these triggers and suspects."""
        return not self.has_triggers or is_asked(self.triggers, found)

    def found_in(
        self, facts: ConversationFacts, transcript: Transcript, held: tuple[Chosen, ...]
    ) -> frozenset[str]:
        """Return the triggers of a conversation, and the rules whose clauses may not be satisfied."""
        wire, request = transcript.wire.speaks, transcript.request
        model = request.model if request else None
        found = facts.triggers
        for one in held:
            checks = self.checks.of(one, wire, model)
            found |= suspects(facts, checks, named=one.named)
        return found

    def concerned(self, found: frozenset[str]) -> "list[Entry]":
        """Return the rules of the run that may report something for these triggers and suspects, in their order."""
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
        """Return the user's own rules of this run, if there are any."""
        if not self.options.own_rules:
            return None
        from turnlint.own_rules.watching import open_watch

        chosen = self.rules() if self.options.select or self.options.ignore else None
        return open_watch(self.options.own_rules, chosen, self.told)

    def told(self, findings: list[Finding]) -> list[Finding]:
        """Return findings with the severities of the settings."""
        if not findings or not self.options.severities:
            return findings
        from turnlint.ignores import regraded

        return [regraded(finding, self.options.severities) for finding in findings]


class Judged(Struct):
    """One conversation with the findings of the rules of a run."""

    transcript: Transcript
    pairs: ledger.Ledger
    chosen: tuple[Chosen, ...]
    cases: list[Case]
    """One for each provider."""
    findings: list[Finding]


Ask = Callable[["Entry", int, Callable[[Any], Any], Any], list[Finding]]
"""Function that runs a rule: the rule, a line for its failure, its check, and the subject."""


_LACKING = frozenset({"open", "orphan"})
"""The irregularities of pairs of which one side may be in another place."""
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
    """Pair a conversation and apply the rules of a run to it.

    `found` is the value of `Book.found_in` for its facts, if a scanner has them already.
    """
    if book.options.origin is not None:
        transcript = structs.replace(transcript, origin=book.options.origin)
    pairs = ledger.read(transcript.messages, transcript.wire, transcript.answer_at, transcript.gaps)
    if (pairs.odd & _LACKING) and (book.history or transcript.omitted):
        transcript = book.remembering(transcript, pairs)
    chosen = () if transcript.dead else book.chosen(transcript)
    held = tuple(one for one in chosen if one.judges(transcript))
    opened: dict[int, Any] = {}
    cases = [Case(transcript, pairs, one.profile, one.certain, one.named, opened) for one in held]
    judged = Judged(transcript, pairs, chosen, cases, [])
    if found is None:
        found = book.found_in(facts_of(transcript, pairs, opened), transcript, held)
    else:
        found = (found - ledger.ODD) | pairs.odd  # a scanner that cannot pair names all of these words
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
