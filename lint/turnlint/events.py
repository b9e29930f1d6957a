"""What a run tells of besides its findings.

This module owns the other events: what was counted, what was passed over, what was heard to its end, what failed. It
refuses to know how any of them comes about.
"""

from msgspec import Struct, field

from turnlint.documents.source import Source
from turnlint.neighbours import Near


class Tally(Struct):
    """What was seen, and what was found."""

    files: int = 0
    conversations: int = 0
    messages: int = 0
    calls: int = 0
    results: int = 0
    findings: dict[str, int] = field(default_factory=lambda: {"error": 0, "warning": 0, "info": 0})
    rules: dict[str, int] = {}
    providers: dict[str, int] = {}
    """How many conversations were held against each."""
    across: dict[str, int] = {}
    """How many of those are written on a wire that is not its own, as `provider on wire`: their spelling is not judged."""
    noted: dict[str, int] = {}
    """What providers accept, and no finding reports: results whose calls the provider keeps (`kept-calls`), and
    results whose name is that of no tool (`foreign-names`), and requests without a model's name that end with a message of the
    model (`model-last`); and calls written as text (`text-calls`), which are not checked;
    records that a format keeps for its own bookkeeping (`bookkeeping`)."""
    is_unfinished: bool = False
    """A split record at the end was left, because more lines may follow."""
    skipped: int = 0
    crashes: int = 0
    ignored: dict[str, int] = {}
    """Findings that are known and not counted above, by what knows them: `baseline`, `ignore`, `ignore until DAY`,
    `ignore in records`."""

    def add(self, other: "Tally") -> None:
        for name in ("files", "conversations", "messages", "calls", "results", "skipped", "crashes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("findings", "rules", "providers", "across", "ignored", "noted"):
            mine, theirs = getattr(self, name), getattr(other, name)
            for key, count in theirs.items():
                mine[key] = mine.get(key, 0) + count


class Remark(Struct, frozen=True):
    """Something about what a record says of its own findings."""

    path: str
    line: int
    words: str
    idle: bool = False
    """What it says is of no use."""
    more: int = 0
    """So many others are only counted; then this is none itself."""


class Skipped(Struct, frozen=True):
    """A source that is of no supported format."""

    source: Source
    near: Near | None = None
    """The name of what it looks like, where it has one."""


class Heard(Struct, frozen=True):
    """A conversation was judged, and what was found in it was told before."""

    path: str
    line: int
    index: int
    id: str | None
    whole: bool
    """False where its records were let go, so that more may be told at the end of the source."""


class Crash(Struct, frozen=True):
    """A rule failed on a conversation, or reading failed. The run goes on and says so."""

    rule: str
    path: str
    line: int
    reason: str
