"""Parse arguments that are not JSON, with one parser for each notation.

A parser never guesses: a text with two readings has no object, and the parser names the reason.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from msgspec import Struct

from turnlint.extensions import load
from turnlint.packages import PARSERS as GROUP
from turnlint.packages import additions
from turnlint.parsers import xml

Types = Mapping[str, Any] | None
"""The JSON Schema of the arguments of a tool; nothing if the tool is not declared."""


class Parser(Struct, frozen=True, kw_only=True):
    """A notation of arguments beside JSON."""

    name: str
    title: str
    """The name of the notation in sentences, such as `XML`."""
    syntax: Literal["xml", "custom"]
    read: Callable[[str, Types], dict[str, Any] | str | None]
    """Return the object in a text, the reason why it has several readings, or nothing for another notation."""


class Parsed(Struct, frozen=True):
    """Arguments in a notation beside JSON."""

    parser: Parser
    value: dict[str, Any] | None
    reason: str = ""
    """Why there is no value."""


BUILTIN = (Parser(name="xml", title="XML", syntax="xml", read=xml.read),)
MAX_CHARACTERS = 1 << 20
"""A longer text of arguments is not tried."""


@cache
def parsers() -> tuple[Parser, ...]:
    """Return all parsers: the built-in one, then those of other packages. Raises `BrokenAdditionError`."""
    names = additions(GROUP)
    return (*BUILTIN, *(load(GROUP, name, module, Parser, _check) for name, module in names.items()))


def _check(parser: Parser) -> None:
    """Raise an error for a parser that cannot be used."""
    if parser.name in {"json", *(one.name for one in BUILTIN)}:
        raise ValueError(f"{parser.name!r} is the name of a built-in parser")


def parse(text: str, types: Types = None) -> Parsed | None:
    """Return arguments by the only parser that recognizes them; nothing if none does, or several do."""
    if len(text) > MAX_CHARACTERS:
        return None
    found = [(one, value) for one in parsers() if (value := one.read(text, types)) is not None]
    if len(found) != 1:
        return None
    ((parser, value),) = found
    return Parsed(parser, None, value) if isinstance(value, str) else Parsed(parser, value)
