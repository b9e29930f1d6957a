"""Write findings in the formats of people and programs, one module for each format.

A sink takes events and writes text. All text of a conversation passes through `escape`.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from msgspec import Struct

from turnlint.engine import Event, Tally

if TYPE_CHECKING:
    from turnlint.rulebook import Entry


class Kind(Struct, frozen=True):
    """A format of output: the module that writes it, and the data that it requires."""

    module: str
    views: bool = False
    """Whether it shows the conversation around a finding."""
    fingerprints: bool = False
    spans: bool = False
    """Whether it needs the ends of positions, and columns in other units than characters."""
    conversations: bool = False
    """Whether it lists conversations without findings."""
    flows: bool = False
    """Whether it can be read while it is written, and is valid without an end."""
    added: bool = False
    """Whether it is appended to a file, which other programs append to as well."""


KINDS = {
    "text": Kind("text", views=True, flows=True),
    "concise": Kind("concise", flows=True),
    "json": Kind("machine", fingerprints=True),
    "jsonl": Kind("machine", fingerprints=True, flows=True),
    "sarif": Kind("sarif", fingerprints=True, spans=True),
    "github": Kind("github", spans=True),
    "github-summary": Kind("markdown", added=True),
    "gitlab": Kind("gitlab", fingerprints=True),
    "junit": Kind("junit", conversations=True),
    "checkstyle": Kind("checkstyle"),
    "rdjson": Kind("reviewdog", spans=True),
    "rdjsonl": Kind("reviewdog", spans=True, flows=True),
    "markdown": Kind("markdown"),
}
FORMATS = tuple(KINDS)
FLOWING = tuple(name for name, kind in KINDS.items() if kind.flows)
COUNTED = ("rule", "file", "model", "provider", "day")
"""Keys by which findings can be counted."""

Write = Callable[[str], object]


class Look(Protocol):
    """Appearance of the text output."""

    @property
    def width(self) -> int: ...
    @property
    def color(self) -> bool: ...
    @property
    def statistics(self) -> str:
        """Return the key by which findings are counted; empty where they are not counted."""
        ...

    @property
    def folds(self) -> bool:
        """Whether sentences are broken at the width; otherwise each stays on one line, so that programs find it."""
        ...

    @property
    def infos(self) -> bool:
        """Whether to show infos. Otherwise they are counted, unless one info is enough for a run to fail."""
        ...

    @property
    def fails(self) -> Mapping[str, tuple[str, ...]]:
        """Return by path the severities of which one finding is enough for a run to fail."""
        ...

    @property
    def own(self) -> "tuple[Entry, ...]":
        """Return the user's own rules."""
        ...


class Sink(Protocol):
    """A destination of findings."""

    def take(self, event: Event) -> None: ...
    def finish(self, tally: Tally, *, complete: bool) -> None: ...


@runtime_checkable
class Batched(Protocol):
    """A sink that delays findings to group them."""

    def tell(self) -> None: ...


def open_sink(name: str, write: Write, look: Look) -> Sink:
    module = import_module(f"turnlint.report.{KINDS[name].module}")
    sink: Sink = module.open_sink(name, write, look)
    return sink
