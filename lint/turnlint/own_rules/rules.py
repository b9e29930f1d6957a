"""Define user-defined rules and the tests of their conditions."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from turnlint.globs import Steps
from turnlint.model import Severity
from turnlint.own_rules.expressions import expression

KINDS = ("text", "number", "boolean", "list", "object", "null")


class Condition(Struct, frozen=True):
    """Tests of one value, all of which must hold."""

    tests: tuple[tuple[str, Any], ...] = ()
    absent: bool = False
    """Whether the place must not exist."""

    def holds(self, value: Any) -> bool:
        return all(TESTS[name](value, wanted) for name, wanted in self.tests)


class OwnRule(Struct, frozen=True):
    """A rule of the configuration, named `own/…`."""

    name: str
    message: str
    severity: Severity = "warning"
    each: Steps = ()
    """The pattern of the places to check one by one; the record itself if empty."""
    where: tuple[tuple[Steps, Condition], ...] = ()
    """The conditions below such a place, each of which must hold at one of its places."""
    pointer: Steps = ()
    """The pattern of the places of the findings, below the checked place."""
    when: Condition = Condition()
    about: str = ""
    origin: str = ""


def kind_of(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {bool: "boolean", int: "number", float: "number", str: "text", list: "list"}
    return kinds.get(type(value), "object")


def is_same(value: Any, other: Any) -> bool:
    """Whether two values are equal as JSON: true is not 1."""
    if kind_of(value) != kind_of(other):
        return False
    if isinstance(value, list):
        return len(value) == len(other) and all(map(is_same, value, other))
    if isinstance(value, dict):
        return value.keys() == other.keys() and all(is_same(one, other[key]) for key, one in value.items())
    return bool(value == other)


def _length(value: Any) -> int | None:
    return len(value) if isinstance(value, str | list | dict) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": is_same,
    "not-equals": lambda value, wanted: not is_same(value, wanted),
    "one-of": lambda value, wanted: any(is_same(value, one) for one in wanted),
    "none-of": lambda value, wanted: not any(is_same(value, one) for one in wanted),
    "matches": lambda value, wanted: isinstance(value, str) and expression(wanted).is_in(value),
    "not-matches": lambda value, wanted: isinstance(value, str) and not expression(wanted).is_in(value),
    "longer-than": lambda value, wanted: (size := _length(value)) is not None and size > wanted,
    "shorter-than": lambda value, wanted: (size := _length(value)) is not None and size < wanted,
    "above": lambda value, wanted: _is_number(value) and value > wanted,
    "below": lambda value, wanted: _is_number(value) and value < wanted,
    "kind": lambda value, wanted: kind_of(value) in wanted,
}
"""The tests by their configuration key. Arguments are the value and the setting."""
