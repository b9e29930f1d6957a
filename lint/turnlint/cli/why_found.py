"""Find the provider, the rules and the findings for `turnlint why`."""

from collections.abc import Iterator

from msgspec import Struct, field, structs

from turnlint import rulebook
from turnlint.carriers import NAMES
from turnlint.documents.source import Source, find
from turnlint.engine import Book, Crash, Options, Skipped, Tally, lint
from turnlint.errors import SourceError
from turnlint.model import SEVERITIES
from turnlint.packages import packages
from turnlint.profiles import Profile
from turnlint.providers import Providers
from turnlint.rows import Row
from turnlint.why import (
    Agreed,
    Clues,
    Near,
    Recognised,
    agreement,
    candidates,
    clues_of,
    dialects_of,
    heard,
    nearest,
    recognise,
    standing_in,
    word_in,
)

MOST_SHOWN = 20
VIEWS = 50
"""Limit of the views of each shape of finding: only at the end it is known which of them are shown."""

AUTO = "auto"


class Reason(Struct, frozen=True):
    """A rule that explains a text."""

    code: str
    name: str
    headline: str
    why: str


class Explained(Struct, frozen=True):
    """The explanation of a text."""

    recognised: Recognised | None
    providers: tuple[str, ...]
    """Providers whose rules apply to a conversation."""
    reasons: tuple[Reason, ...] = ()
    near: tuple[Near, ...] = ()
    dialects: tuple[str, ...] = ()
    """Providers that may have written an unknown text."""
    word: str = ""
    """The word that selects the rules, if the text is a single word."""


class Shown(Struct, frozen=True):
    """A finding that explains the text."""

    row: Row
    agreed: Agreed


class Looked(Struct):
    """The findings in a conversation."""

    tally: Tally
    clues: Clues
    providers: tuple[str, ...] = ()
    """Providers whose rules were applied."""
    shown: list[Shown] = []
    """Findings of the rules that explain the text, those that match it first."""
    levels: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SEVERITIES, 0))
    """Number of these findings by severity, also of those that are not kept."""
    others: dict[str, int] = {}
    """Number of findings of other rules."""
    absent: tuple[str, ...] = ()
    """Ids in the text that are not in the files."""
    longest: int = 0
    """Number of messages in the longest conversation."""
    crashes: list[Crash] = []
    skipped: list[Skipped] = []
    unreadable: list[SourceError] = []

    @property
    def count(self) -> int:
        return sum(self.levels.values())


def explain(text: str, named: tuple[str, ...], own: tuple[Profile, ...]) -> Explained:
    """Return the provider of a text and the rules that explain it."""
    providers = Providers(packages(), own)
    hint = tuple(providers.known(name)[0].name for name in named)
    pieces = heard(text, providers)
    found = recognise(pieces, providers, hint)
    word = word_in(text) if found is None else ""
    if word and (likely := _likely(word, providers)):
        return Explained(None, named or (AUTO,), likely, word=word)
    if found is None:
        near = tuple(nearest(pieces, providers))
        return Explained(None, named, near=near, dialects=dialects_of(pieces, providers))
    held = named or tuple(dict.fromkeys((found.best.profile.name, *found.carriers)))
    if not named and not found.is_certain and found.alike:
        held = (AUTO,)  # several providers use these words: the conversation identifies the provider
    known = tuple(name for name in held if name == AUTO or name.partition("@")[0] in providers.names())
    return Explained(found, known, tuple(_reasons(found.best.known.rules)))


def _likely(word: str, providers: Providers) -> tuple[Reason, ...]:
    """Return the rules that a single word concerns."""
    profiles = [one for name in providers.names() for one in providers.versions(name)[:1]]
    return tuple(map(_reason, candidates(word, rulebook.everything(), profiles)))


def _reasons(rules: tuple[str, ...]) -> Iterator[Reason]:
    entries = rulebook.everything()
    for word in rules:
        entry = next((one for one in entries if word in (one.rule.code, one.rule.name)), None)
        if entry:  # otherwise the code is reserved for a rule that does not exist yet
            yield _reason(entry)


def _reason(entry: rulebook.Entry) -> Reason:
    return Reason(entry.rule.code, entry.rule.name, entry.headline, _why(entry.docs))


def _why(docs: str) -> str:
    """Return the first sentence of a rule's section on why it matters."""
    _, _, after = docs.partition("Why it matters\n")
    lines = []
    for line in after.split("\n"):
        if line and not line.startswith(" "):
            break
        lines.append(line.strip())
    first, stop, _ = " ".join(" ".join(lines).split()).partition(". ")
    return first + "." if stop else first


def look(explained: Explained, path: str, format_name: str | None, own: tuple[Profile, ...]) -> Looked:
    """Lint the files that `path` names, and sort matching findings first. Raises `SourceError` where there is no file.

    A short conversation may be valid on several wires. If it has no finding, it is read again in the formats
    of the provider. A service may pass on the error of another provider: without a finding, a conversation on a
    wire that the provider does not have is checked for the provider of its wire.
    """
    sources = list(find((path,)))
    looked = _look(explained, sources, format_name, own)
    found = explained.recognised
    if found and not looked.shown and format_name is None and all(source.again for source in sources):
        for wire in found.best.profile.wires:
            if wire in NAMES:
                again = _look(explained, sources, wire, own)
                if again.shown and again.tally.messages == looked.tally.messages and not _reads_badly(again):
                    return again
    if found and not looked.shown and looked.tally.across and all(source.again for source in sources):
        again = _look(structs.replace(explained, providers=(AUTO,)), sources, format_name, own)
        if again.shown:
            return again
    return looked


def _reads_badly(looked: Looked) -> bool:
    return any(rule in looked.others for rule in ("unreadable-record", "malformed-message", "mixed-dialect"))


def _look(
    explained: Explained, sources: list[Source], format_name: str | None, own: tuple[Profile, ...]
) -> Looked:
    clues = clues_of(explained.recognised.best) if explained.recognised else Clues(explained.word)
    looked = Looked(Tally(), clues, explained.providers)
    codes = {reason.code for reason in explained.reasons}
    options = Options(
        format=format_name, providers=explained.providers, profiles=own, view=True, content="none",
        views_per_rule=VIEWS, fingerprints=True,
    )  # fmt: skip
    book = Book(options)
    for source in sources:
        try:
            for event in lint(source, options, book):
                _hear(looked, event, codes)
        except SourceError as error:
            looked.unreadable.append(error)
    looked.shown.sort(key=lambda one: one.agreed, reverse=True)
    looked.absent = _absent(sources, clues)
    return looked


def _hear(looked: Looked, event: object, codes: set[str]) -> None:
    if isinstance(event, Tally):
        looked.tally.add(event)
        looked.longest = max(looked.longest, event.messages)
    elif isinstance(event, Crash):
        looked.crashes.append(event)
    elif isinstance(event, Skipped):
        looked.skipped.append(event)
    elif isinstance(event, Row) and event.finding.code in codes:
        looked.levels[event.finding.severity] += 1
        looked.shown.append(Shown(event, agreement(event, looked.clues)))
        if len(looked.shown) > 50 * MOST_SHOWN:
            looked.shown.sort(key=lambda one: one.agreed, reverse=True)
            del looked.shown[MOST_SHOWN:]
    elif isinstance(event, Row):
        rule = event.finding.rule
        looked.others[rule] = looked.others.get(rule, 0) + 1


def _absent(sources: list[Source], clues: Clues) -> tuple[str, ...]:
    here: set[str] = set()
    for source in sources:
        here |= standing_in(source, (one for one in clues.ids if one not in here))
    return tuple(one for one in clues.ids if one not in here)
