"""Examples of conversations: the lines of their notation, and the record that a writer builds from them."""

from json import dumps, loads
from typing import Any

from msgspec import Struct

from turnlint.carrying.writer import ABSENT
from turnlint.model import Pointer


class NotationLine(Struct, frozen=True):
    """One line of the notation."""

    kind: str
    text: str
    id: Any = ABSENT
    name: Any = ABSENT
    body: str = ""
    codes: tuple[str, ...] = ()

    @property
    def is_spoken(self) -> bool:
        """Whether the line is a message with a text."""
        return self.kind in ("user", "assistant", "system")

    @property
    def failed(self) -> bool:
        """Whether the line is a result that reports an error."""
        return self.body.startswith("error:")

    @property
    def answer(self) -> str:
        """The text of a result."""
        return self.body.removeprefix("error:").strip()

    @property
    def arguments_text(self) -> str:
        return self.body.removeprefix("raw:") if self.body.startswith("raw:") else self.body or "{}"

    @property
    def arguments_value(self) -> Any:
        return loads(self.arguments_text)


class Expected(Struct, frozen=True):
    """A finding that an example must have: its code and its place."""

    code: str
    at: Pointer


class Written(Struct, frozen=True):
    """An example in a format."""

    record: dict[str, Any]
    expected: tuple[Expected, ...]

    @property
    def data(self) -> bytes:
        return dumps(self.record, ensure_ascii=False).encode() + b"\n"


class ExampleBuilder:
    """The messages of an example under construction, and the findings that it must have."""

    def __init__(self, key: str, lines: list[NotationLine]) -> None:
        self.key = key
        self.lines = lines
        self.messages: list[dict[str, Any]] = []
        self.expected: list[Expected] = []
        self.open_calls: list[NotationLine] = []
        self.names: dict[Any, Any] = {}
        """The names of answered calls by their ids."""

    def add(self, line: NotationLine, message: dict[str, Any]) -> None:
        """Add a message with the findings of its line."""
        self.messages.append(message)
        self.expect(line)

    def expect(self, line: NotationLine, *below: str | int) -> None:
        """Expect the findings of a line at the last message, or below it."""
        self.expect_at(line, self.key, len(self.messages) - 1, *below)

    def expect_at(self, line: NotationLine, *at: str | int) -> None:
        self.expected += [Expected(code, at) for code in line.codes]

    def called_names(self) -> list[str]:
        """Return the names of the called tools, in order."""
        names = dict.fromkeys(line.name for line in self.lines if line.kind == "call")
        return [name for name in names if isinstance(name, str) and name]

    def name_of(self, result: NotationLine) -> Any:
        """Return the name of the called tool, for a format whose results have it although the example has not."""
        if result.name is not ABSENT:
            return result.name
        is_lost = result.id is ABSENT or not result.id
        call = next((call for call in self.open_calls if is_lost or call.id == result.id), None)
        if call is None:
            return self.names.get(result.id, ABSENT)
        self.open_calls.remove(call)
        self.names[call.id] = call.name
        return call.name
