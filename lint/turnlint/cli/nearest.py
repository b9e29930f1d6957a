"""What somebody may have meant.

This module owns the words for a name that does not exist, and the parameter type of names that do.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def or_nearest(wrong: str, names: Iterable[str]) -> str:
    """The wrong name, and the nearest right one or all of them."""
    from difflib import get_close_matches

    from turnlint.report.escape import visible

    shown = repr(visible(wrong))
    known = list(names)
    close = get_close_matches(wrong.lower(), known, 1)
    return f"{shown}; did you mean {close[0]!r}?" if close else f"{shown}; expected one of {', '.join(known)}"


class Named(click.ParamType[str]):
    """One of some names."""

    def __init__(self, what: str, names: tuple[str, ...], *, note: str = "") -> None:
        self.name = what
        self.names = names
        self.note = note

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if text not in self.names:
            self.fail(f"unknown {self.name} {or_nearest(text, self.names)}{self.note}", param, ctx)
        return text

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in self.names if name.startswith(incomplete)]

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        return self.name.upper().replace(" ", "_")
