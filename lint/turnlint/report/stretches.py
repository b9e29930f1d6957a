"""Yield the byte ranges of a source that a repair changes, with the bytes around them.

The source is read once more, forward only. Memory holds one patch and a few bytes around it.
"""

from collections.abc import Iterator
from typing import IO

from msgspec import Struct

from turnlint.documents.source import Source, open_source
from turnlint.errors import DecompressionError
from turnlint.keeping.patches import Patch
from turnlint.report.aligning import differences

NEAR = 1 << 12
"""Number of bytes that are kept before and behind a range as context."""
_PIECE = 1 << 20


class Stretch(Struct, frozen=True):
    """A range of bytes and its replacement."""

    line: int
    start: int
    old: bytes
    new: bytes
    before: bytes
    after: bytes
    """Bytes before and behind the range in the unchanged source, up to `NEAR`."""

    @property
    def end(self) -> int:
        return self.start + len(self.old)


def stretches(source: Source, patches: list[Patch]) -> Iterator[Stretch]:
    """Yield the ranges that the patches change, in order. Raises `SourceError` where the source cannot be read."""
    last: Stretch | None = None
    at = 0
    for one in _as_patched(source, patches):
        if last is not None:
            shown = _by_lines(last)
            last = shown if at <= shown.start and shown.end <= one.start else last
            at = last.end
            yield last
        last = one
    if last is not None:
        shown = _by_lines(last)
        yield shown if at <= shown.start else last


def _as_patched(source: Source, patches: list[Patch]) -> Iterator[Stretch]:
    with open_source(source) as stream:
        held = _Held(stream)
        for patch in patches:
            held.move(max(0, patch.start - NEAR), patch.end + NEAR)
            first = patch.start - held.base
            old = held.data[first : first + patch.end - patch.start]
            line, counted = held.line + held.data.count(b"\n", 0, first), 0
            for a, b, c, d in differences(old, patch.data):
                line += old.count(b"\n", counted, a)
                counted = a
                before = held.data[max(0, first + a - NEAR) : first + a]
                after = held.data[first + b : first + b + NEAR]
                yield Stretch(line, patch.start + a, old[a:b], patch.data[c:d], before, after)


def _by_lines(one: Stretch) -> Stretch:
    """Return an insertion or removal as whole lines if possible: it may be moved over equal bytes."""
    text = one.old or one.new
    if one.old and one.new:
        return one
    for end in (b"\r\n", b"\n"):
        if text.startswith(end) and one.after.startswith(end):
            text, before, after = text[len(end) :] + end, one.before + end, one.after[len(end) :]
            return _moved(one, len(end), text, before, after)
    head = one.before[one.before.rfind(b"\n") + 1 :]
    if head and not head.strip() and text.endswith(b"\n" + head):
        text = head + text[: -len(head)]
        return _moved(one, -len(head), text, one.before[: -len(head)], head + one.after)
    return one


def _moved(one: Stretch, by: int, text: bytes, before: bytes, after: bytes) -> Stretch:
    old, new = (text, b"") if one.old else (b"", text)
    return Stretch(one.line + (by > 0), one.start + by, old, new, before, after)


class _Held:
    """The current window of a stream, and the number of its first line."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.base = 0
        self.line = 1
        self.data = b""

    def move(self, start: int, end: int) -> None:
        """Release the bytes before `start`, and read on to `end`."""
        while start > self.base:
            gone = self.data[: start - self.base] or self._read(min(_PIECE, start - self.base))
            if not gone:
                break
            self.line += gone.count(b"\n")
            self.base += len(gone)
            self.data = self.data[len(gone) :]
        pieces = [self.data]
        missing = end - self.base - len(self.data)
        while missing > 0 and (piece := self._read(min(_PIECE, missing))):
            pieces.append(piece)
            missing -= len(piece)
        self.data = b"".join(pieces)

    def _read(self, size: int) -> bytes:
        try:
            return self.stream.read(size)
        except DecompressionError:
            return b""
