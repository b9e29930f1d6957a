"""Messages on standard error, broken at the width of the terminal."""

from typing import Any, TextIO

from turnlint.report.escape import fold

INDENT = "  "
LEAST_WIDTH = 20


class Folded:
    """A text stream that breaks long lines at words. A progress bar moves the cursor, and passes unchanged."""

    def __init__(self, stream: TextIO, width: int) -> None:
        self.stream = stream
        self.width = max(LEAST_WIDTH, width)

    def write(self, text: str) -> int:
        if "\r" not in text and "\x1b" not in text:
            lines = (fold(line, self.width, _indent_of(line)) for line in text.split("\n"))
            self.stream.write("\n".join("\n".join(some) for some in lines))
        else:
            self.stream.write(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _indent_of(line: str) -> str:
    """Return the indent of continuation lines: two columns more than the first line."""
    return " " * (len(line) - len(line.lstrip(" "))) + INDENT
