"""Describe the result of repairing one source: its patches, its report, and what stays unchanged."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from turnlint.documents.selection import Selection
from turnlint.documents.source import Source
from turnlint.errors import SourceError
from turnlint.events import Told
from turnlint.keeping.patches import Patch as Bytes
from turnlint.model import Finding
from turnlint.neighbours import Near
from turnlint.repair.change import Change
from turnlint.repair.spool import Spool
from turnlint.repair.tracing import IdMap


class Failure(Struct, frozen=True):
    """A conversation that stays unchanged, because its repair could not be verified."""

    line: int
    conversation: str | None
    reason: str


class Blocked(Struct, frozen=True):
    """A repair that is not made, because an unreadable record may have the missing piece."""

    line: int
    rule: str
    conversation: str | None
    reason: str


class Removal(Struct):
    """Content that repairs at level lossy remove or replace."""

    pieces: dict[str, int] = {}
    """Removed pieces by noun: results, calls, messages and so on."""
    size: int = 0
    """The number of removed bytes."""
    rewritten: int = 0
    """The number of values that another value replaces."""

    def add(self, changes: Iterable[Change]) -> None:
        """Count the lossy changes of a repair."""
        for one in changes:
            if one.level != "lossy":
                continue
            if one.what == "removed":
                self.pieces[one.piece] = self.pieces.get(one.piece, 0) + 1
                self.size += one.size or 0
            elif one.what == "rewritten":
                self.rewritten += 1

    def join(self, other: "Removal") -> None:
        """Add the counts of another repair."""
        for noun, count in other.pieces.items():
            self.pieces[noun] = self.pieces.get(noun, 0) + count
        self.size += other.size
        self.rewritten += other.rewritten


class Fixed(Struct):
    """The repair of one source."""

    source: Source
    patches: list[Bytes] = []
    changes: Spool[Change] = field(default_factory=Spool)
    told: Spool[Told] = field(default_factory=Spool)
    whole: Spool[Told] | None = None
    """Where requested, the ids of all conversations before the repair."""
    failures: list[Failure] = []
    notes: list[Failure] = []
    """Conversations that keep a finding, because its repair would bring in another."""
    unmade: list[Failure] = []
    """Conversations that keep a finding, because its repair changed nothing."""
    without_canonical: Counter[str] = field(default_factory=Counter)
    """Conversations without canonical ids in a run for these, by the provider that would reject them."""
    foreign: bool = False
    near: Near | None = None
    """The nearest supported format of a file of no supported format."""
    bound: str = ""
    """The reason why the repaired file must not be written in place."""
    conversations: int = 0
    unread: int = 0
    """The number of conversations in formats that are not supported."""
    mended: int = 0
    before: dict[str, int] = field(default_factory=lambda: {"error": 0, "warning": 0, "info": 0})
    after: dict[str, int] = field(default_factory=lambda: {"error": 0, "warning": 0, "info": 0})
    """Findings by severity, before and after the repair."""
    left: dict[str, int] = {}
    """The number of findings beyond severity info that remain, by rule."""
    errors_left: dict[str, int] = {}
    """The number of errors that remain, by rule."""
    held: dict[str, int] = {}
    """Findings that only a higher level would repair, by that level; and last calls for `--close-pending`."""
    needs: dict[str, dict[str, int]] = {}
    """The findings that a higher level would repair, by that level and by severity."""
    removed: Removal = field(default_factory=Removal)
    """The content that level lossy removed."""
    would: Removal = field(default_factory=Removal)
    """The content that level lossy would remove beyond the level of the run."""
    refused: dict[str, dict[str, int]] = {}
    """Errors that remain, by provider and code; the provider is empty for faults of state and pairing."""
    across: dict[str, int] = {}
    """The number of conversations on a wire that is not the named provider's, as `provider on wire`."""
    noted: dict[str, int] = {}
    """Counts of items that are not checked, as in the summary of `lint`."""
    blocked: list[Blocked] = []
    ids: IdMap | None = None
    """The ids of repaired conversations, where requested."""
    joined: bool = False
    """Whether the pass only joined the lines of split records."""
    spared: set[Any] = set()
    """The keys of ignored findings, for a further pass, in which their places may have moved."""
    problem: SourceError | None = None
    selection: Selection | None = None
    """The lines of the source that a further reading parses; none where it parses all of them."""


def provider_of(finding: Finding) -> str:
    """Return the provider whose rule a finding breaks; empty where the fault does not depend on a provider."""
    return (finding.provider or "") if finding.fault == "projection" else ""
