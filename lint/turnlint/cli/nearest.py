"""Parameter type for one of some names."""

from typing import TYPE_CHECKING, Any

import click

from turnlint.text import did_you_mean

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Named(click.ParamType[str]):
    """One of some names."""

    def __init__(self, what: str, names: tuple[str, ...], *, note: str = "") -> None:
        self.name = what
        self.names = names
        self.note = note

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if text not in self.names:
            self.fail(f"unknown {self.name} {did_you_mean(text, self.names)}{self.note}", param, ctx)
        return text

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        return f"Expected one of {', '.join(self.names)}"

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
