"""Examples spelled on a wire, one module a wire.

This package owns the values that pass from the notation to the wires. A module beside this file has a
`write`, which takes the steps of an example and gives the record. It refuses to read anything.
"""

from json import dumps, loads
from typing import Any

from msgspec import Struct

from turnlint.model import Pointer

ABSENT: Any = object()
"""What a step does not have at all; an empty text is something else."""


class Step(Struct, frozen=True):
    """One line of the notation."""

    kind: str
    text: str
    id: Any = ABSENT
    name: Any = ABSENT
    body: str = ""
    codes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """It is a result that says it went wrong."""
        return self.body.startswith("error:")

    @property
    def answer(self) -> str:
        """A result's text."""
        return self.body.removeprefix("error:").strip()


class Expected(Struct, frozen=True):
    """A finding that must be there: its code and the place its line became."""

    code: str
    at: Pointer


class Written(Struct, frozen=True):
    """A conversation on a wire."""

    record: dict[str, Any]
    expected: tuple[Expected, ...]

    @property
    def data(self) -> bytes:
        return dumps(self.record, ensure_ascii=False).encode() + b"\n"


class Draft:
    """A conversation being written: messages, and what is expected where."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.messages: list[dict[str, Any]] = []
        self.expected: list[Expected] = []

    def expect(self, step: Step, *below: str | int) -> None:
        """The step's codes at the last message, or below it."""
        at = (self.key, len(self.messages) - 1, *below)
        self.expected += [Expected(code, at) for code in step.codes]

    def done(self, **more: Any) -> Written:
        return Written({**more, self.key: self.messages}, tuple(self.expected))


def spell(steps: list[Step], wire: str) -> Written:
    """The steps of an example on a wire."""
    from importlib import import_module

    written = import_module(f"{__name__}.{wire.replace('-', '_')}").write(steps)
    assert isinstance(written, Written)
    return written


def present(**values: Any) -> dict[str, Any]:
    """An object of what is there."""
    return {key: value for key, value in values.items() if value is not ABSENT}


def arguments_text(body: str) -> str:
    return body.removeprefix("raw:") if body.startswith("raw:") else body or "{}"


def arguments_value(body: str) -> Any:
    return loads(arguments_text(body))
