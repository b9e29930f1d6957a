"""Measure how much of its text a regular expression fixes.

The module counts the fixed characters, and finds a run of characters that every match contains. It supports
the common notation only, and ignores everything else.
"""

import re

from msgspec import Struct

_QUANTIFIERS = "?*+{"
_CLASSES = "dDwWsSbBAZ"
_LOOKING = ("?=", "?!", "?<=", "?<!", "?#", "?P=", "?(")
_OPENING = re.compile(r"\?(?:P<\w+>|P=|[:=!>#(]|<[=!]|[aiLmsux-]+:?)")


class Literals(Struct, frozen=True):
    """The characters that an expression fixes."""

    count: int
    run: str
    """The longest run in every match that no quoting changes; empty where none is certain."""


def literals(pattern: str) -> Literals:
    reader = _Reader(pattern)
    count = reader.alternatives(0)
    sure = "" if "(?i" in pattern or reader.choices else max(reader.runs, key=len, default="")
    return Literals(count, sure)


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.runs: list[str] = []
        self.run = ""
        self.choices = False
        """Whether the whole expression has alternatives: then no run is in every match."""

    def alternatives(self, depth: int) -> int:
        """Return the greatest number of characters that one of the alternatives fixes."""
        best = self._sequence(depth)
        while self.at < len(self.pattern) and self.pattern[self.at] == "|":
            self.at += 1
            self.choices |= not depth
            best = max(best, self._sequence(depth))
        return best

    def _sequence(self, depth: int) -> int:
        count = 0
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            fixed, char = self._atom(depth)
            least = self._least()
            count += fixed if least else 0
            if not depth:
                self._note(char if least else "")
                if least != 1:
                    self._note("")
        if not depth:
            self._note("")
        return count

    def _note(self, char: str) -> None:
        if char and (char.isalnum() or char in " _-.:,"):
            self.run += char
        elif self.run:
            self.runs.append(self.run)
            self.run = ""

    def _atom(self, depth: int) -> tuple[int, str]:
        """Return the number of characters that the next piece fixes, and the character if it is one."""
        char = self.pattern[self.at]
        self.at += 1
        if char == "(":
            return self._group(depth), ""
        if char == "[":
            self._skip_class()
            return 0, ""
        if char == "\\":
            char = self.pattern[self.at : self.at + 1]
            self.at += 1
            return (0, "") if char in _CLASSES or char.isalnum() else (1, char)
        return (0, "") if char in ".^$" else (1, char)

    def _group(self, depth: int) -> int:
        counts = not self.pattern.startswith(_LOOKING, self.at)
        if opening := _OPENING.match(self.pattern, self.at):
            self.at = opening.end()
        fixed = self.alternatives(depth + 1)
        self.at += 1
        return fixed if counts else 0

    def _skip_class(self) -> None:
        start = self.at
        while self.at < len(self.pattern):
            char = self.pattern[self.at]
            self.at += 2 if char == "\\" else 1
            if char == "]" and self.at - 1 > start + self.pattern.startswith("^", start):
                return

    def _least(self) -> int:
        """Return the least number of repetitions of the last piece."""
        char = self.pattern[self.at : self.at + 1]
        if not char or char not in _QUANTIFIERS:
            return 1
        end = self.pattern.find("}", self.at) if char == "{" else self.at
        body = self.pattern[self.at + 1 : end] if char == "{" else ""
        if char == "{" and not body.replace(",", "").isdigit():
            return 1  # a literal brace
        self.at = end + 1
        if self.pattern[self.at : self.at + 1] in ("?", "+"):
            self.at += 1
        least = body.partition(",")[0]
        return 2 if char == "+" else int(least or 0) if char == "{" else 0
