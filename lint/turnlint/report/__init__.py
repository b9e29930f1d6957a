"""Findings to what people and programs read, one module a format.

This package owns outputs. A sink takes events and writes text through `escape`, the only door to a
terminal or a log. It refuses to look at conversations.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from msgspec import Struct

from turnlint.engine import Event, Tally

if TYPE_CHECKING:
    from turnlint.rulebook import Entry


class Kind(Struct, frozen=True):
    """A format of output: the module that writes it, and what that module has to be told."""

    module: str
    views: bool = False
    """The conversation around a finding."""
    fingerprints: bool = False
    spans: bool = False
    """Where places end, and columns in other units than characters."""
    conversations: bool = False
    """Conversations that nothing is wrong with."""
    flows: bool = False
    """It can be read while it is written, and has no end that it would be nothing without."""
    added: bool = False
    """It is added to what a file holds: others write there too."""


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
"""By what findings may be counted."""

Write = Callable[[str], object]


class Look(Protocol):
    """How the text for people is to look."""

    @property
    def width(self) -> int: ...
    @property
    def color(self) -> bool: ...
    @property
    def statistics(self) -> str:
        """By what findings are counted, in reports that have a sum; empty where they are not."""
        ...

    @property
    def folds(self) -> bool:
        """Sentences are broken at the width; else each stays on one line, for programs to find."""
        ...

    @property
    def infos(self) -> bool:
        """Findings of severity info are shown; else they are counted, unless one of them is enough for a run to fail."""
        ...

    @property
    def fails(self) -> Mapping[str, tuple[str, ...]]:
        """By path, the severities of which one finding is enough for a run to fail."""
        ...

    @property
    def own(self) -> "tuple[Entry, ...]":
        """Rules of the user's own, which no package brings."""
        ...


class Sink(Protocol):
    """Somewhere findings go."""

    def take(self, event: Event) -> None: ...
    def finish(self, tally: Tally, *, complete: bool) -> None: ...


@runtime_checkable
class Batched(Protocol):
    """A sink that holds findings back, to group them."""

    def tell(self) -> None: ...


def open_sink(name: str, write: Write, look: Look) -> Sink:
    module = import_module(f"turnlint.report.{KINDS[name].module}")
    sink: Sink = module.open_sink(name, write, look)
    return sink
