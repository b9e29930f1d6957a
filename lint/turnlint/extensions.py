"""Load the wires, parsers and grammars of other packages. A run without such packages loads nothing here."""

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from turnlint.errors import BrokenAdditionError
from turnlint.packages import GRAMMARS, PARSERS, WIRES

KINDS = {WIRES: ("wire", "CARRIER"), PARSERS: ("parser", "PARSER"), GRAMMARS: ("grammar", "GRAMMAR")}
"""For each group, what its entries are, and the name of the value in their modules."""
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")

T = TypeVar("T")


def is_name(name: str) -> bool:
    """Whether a text can name a wire, a parser or a grammar."""
    return _NAME.fullmatch(name) is not None


def load(group: str, name: str, module: str, kind: type[T], check: Callable[[T], None]) -> T:
    """Return the addition of an entry. Raises `BrokenAdditionError`."""
    what, attribute = KINDS[group]
    try:
        found = _value_of(module, attribute, name, kind)
        check(found)
    except Exception as error:  # noqa: BLE001 - the module is another author's and may fail in any way
        raise BrokenAdditionError(what, name, module, error) from None
    return found


def _value_of(module: str, attribute: str, name: str, kind: type[T]) -> T:
    found: Any = getattr(import_module(module), attribute)
    if not isinstance(found, kind):
        raise TypeError(f"{attribute} is no {kind.__name__}")
    if getattr(found, "name", None) != name or not is_name(name):
        raise ValueError(
            "the entry and its value need the same name, of lower-case letters, digits and hyphens"
        )
    return found
