"""Define the events of a run besides its findings: counts, skipped sources, judged conversations, ids, failures."""

from msgspec import Struct, field

from turnlint.documents.source import Source
from turnlint.model import Level
from turnlint.neighbours import Near


class Tally(Struct):
    """Counts of a run."""

    files: int = 0
    conversations: int = 0
    messages: int = 0
    calls: int = 0
    results: int = 0
    findings: dict[str, int] = field(default_factory=lambda: {"error": 0, "warning": 0, "info": 0})
    rules: dict[str, int] = {}
    providers: dict[str, int] = {}
    """Number of conversations to which each provider's rules applied."""
    across: dict[str, int] = {}
    """Number of those on a foreign wire, as `provider on wire`: rules about the format do not apply to them."""
    noted: dict[str, int] = {}
    """Counts of deviations that providers accept and that no finding reports.

    - `kept-calls`: results whose calls the provider keeps.
    - `foreign-names`: results whose name is that of no tool.
    - `model-last`: requests without a model's name that end with a message of the model.
    - `text-calls`: calls written as text, which are not checked.
    - `bookkeeping`: records that hold only bookkeeping of their format.
    """
    is_unfinished: bool = False
    """Whether a split record at the end was left, because more lines may follow."""
    skipped: int = 0
    crashes: int = 0
    ignored: dict[str, int] = {}
    """Known findings, which are not counted above, by their label.

    The labels are `baseline`, `ignore`, `ignore until DAY` and `ignore in records`.
    """

    def add(self, other: "Tally") -> None:
        for name in ("files", "conversations", "messages", "calls", "results", "skipped", "crashes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("findings", "rules", "providers", "across", "ignored", "noted"):
            mine, theirs = getattr(self, name), getattr(other, name)
            for key, count in theirs.items():
                mine[key] = mine.get(key, 0) + count


class Remark(Struct, frozen=True):
    """A remark about an ignore in a record."""

    path: str
    line: int
    words: str
    idle: bool = False
    """Whether the ignore matches no finding."""
    more: int = 0
    """Number of further remarks that are only counted; then this is no remark itself."""


class Skipped(Struct, frozen=True):
    """A source in no supported format."""

    source: Source
    near: Near | None = None
    """The format that it resembles, if known."""


class Heard(Struct, frozen=True):
    """A judged conversation, after the events of its findings."""

    path: str
    line: int
    index: int
    id: str | None
    whole: bool
    """False where its records were released, so that more findings may follow at the end of the source."""


class Told(Struct, frozen=True):
    """The ids of one conversation."""

    conversation: str | None
    index: int
    line: int
    wire: str
    providers: tuple[str, ...]
    seen: tuple[str, ...]
    """The canonical ids of its calls before a repair."""
    calls: tuple[str, ...]
    """The ids of its calls and of its results as a request has them, after the repair if there is one."""
    results: tuple[str, ...]


class Decision(Struct, frozen=True):
    """A call or a result beside its copies."""

    rule: str
    call_id: str | None
    tool: str | None
    decision: str | None
    """What `fix` does, if it has a repair."""
    level: Level | None
    """The level of that repair."""
    reason: str
    line: int
    pointer: str


class Completion(Struct, frozen=True):
    """A call whose result no tool wrote."""

    call_id: str | None
    tool: str | None
    rule: str | None
    """The rule for which `fix` would write the result; none for a placeholder in the log."""
    reason: str
    line: int
    pointer: str


class Diagnosis(Struct, frozen=True):
    """One conversation of a run, with or without findings."""

    path: str
    told: Told
    faults: tuple[tuple[str, int], ...]
    """The number of findings for each kind of fault."""
    decisions: tuple[Decision, ...]
    completions: tuple[Completion, ...]


class Crash(Struct, frozen=True):
    """A rule that failed on a conversation, or a failure of reading. The run continues and reports it."""

    rule: str
    path: str
    line: int
    reason: str
