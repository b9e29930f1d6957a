"""What came of repairing one source.

This module owns those values: what is to be written, what is told of it, and what was left as it is. It refuses to
know how a repair is made.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from turnlint.documents.selection import Selection
from turnlint.documents.source import Source
from turnlint.errors import SourceError
from turnlint.keeping.patches import Patch as Bytes
from turnlint.model import Finding
from turnlint.neighbours import Near
from turnlint.repair.change import Change
from turnlint.repair.spool import Spool
from turnlint.repair.tracing import IdMap


class Told(Struct, frozen=True):
    """What the repair report says of one conversation."""

    conversation: str | None
    index: int
    line: int
    wire: str
    providers: tuple[str, ...]
    seen: tuple[str, ...]
    """Canonical ids of the calls it had."""
    calls: tuple[str, ...]
    """Ids of the calls and of the results that it has now."""
    results: tuple[str, ...]


class Failure(Struct, frozen=True):
    """A conversation that was left as it is, because its repair could not be verified."""

    line: int
    conversation: str | None
    reason: str


class Blocked(Struct, frozen=True):
    """A repair that is not made, because an unreadable record may hold what it needs."""

    line: int
    rule: str
    conversation: str | None
    reason: str


class Removal(Struct):
    """Content that repairs at level lossy remove or replace."""

    pieces: dict[str, int] = {}
    """Removed pieces by noun: results, calls, messages and so on."""
    size: int = 0
    """Bytes of what was removed."""
    rewritten: int = 0
    """Values that another value replaces."""

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
    """What is to be done to one source."""

    source: Source
    patches: list[Bytes] = []
    changes: Spool[Change] = field(default_factory=Spool)
    told: Spool[Told] = field(default_factory=Spool)
    failures: list[Failure] = []
    notes: list[Failure] = []
    """Conversations that keep a finding, because its repair would bring in another."""
    unmade: list[Failure] = []
    """Conversations that keep a finding, because its repair changed nothing."""
    without_canonical: Counter[str] = field(default_factory=Counter)
    """Conversations that get no canonical ids in a run for these, by the provider that would refuse them."""
    foreign: bool = False
    near: Near | None = None
    """What a file of no supported format looks like."""
    bound: str = ""
    """Why what was repaired must not be written in place."""
    conversations: int = 0
    mended: int = 0
    before: dict[str, int] = field(default_factory=lambda: {"error": 0, "warning": 0, "info": 0})
    after: dict[str, int] = field(default_factory=lambda: {"error": 0, "warning": 0, "info": 0})
    """Findings by severity, as the file is and as it would be."""
    left: dict[str, int] = {}
    """Rules that still find something graver than an info, and how often."""
    errors_left: dict[str, int] = {}
    """The same, of errors alone."""
    held: dict[str, int] = {}
    """Findings that a higher level would repair, by that level; and last calls that only `--close-pending` answers."""
    needs: dict[str, dict[str, int]] = {}
    """The findings that a higher level would repair, by that level and by severity."""
    removed: Removal = field(default_factory=Removal)
    """What level lossy removed."""
    would: Removal = field(default_factory=Removal)
    """What level lossy would remove beyond the level of the run."""
    refused: dict[str, dict[str, int]] = {}
    """Errors that remain, by provider and code; the provider is empty for faults of state and pairing."""
    across: dict[str, int] = {}
    """How many conversations are on a wire that is not the named provider's, as `provider on wire`."""
    blocked: list[Blocked] = []
    ids: IdMap | None = None
    """The ids of repaired conversations, where they were asked for."""
    joined: bool = False
    """The pass only joined the lines of split records."""
    spared: set[Any] = set()
    """What the findings are about that settings or records ignore, for a further pass, which moves what they name."""
    problem: SourceError | None = None
    selection: Selection | None = None
    """The lines of the source that a further reading parses; nothing where it parses all of them."""


def provider_of(finding: Finding) -> str:
    """Return the provider whose rule a finding breaks; empty where every provider reads the fault."""
    return (finding.provider or "") if finding.fault == "projection" else ""
