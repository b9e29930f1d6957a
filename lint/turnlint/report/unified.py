"""Write a repair as a patch for `patch -p0` and `git apply -p0`.

The patch has whole lines, three around each change, in the exact bytes of the file. The file is read once,
line by line. A patch cannot be escaped, so a file is rejected if its patch is not safe to show. A file is
also rejected if a text patch of it is impossible.
"""

import os
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct, field

from turnlint.documents.source import MAGIC, Source
from turnlint.errors import SourceError
from turnlint.keeping.patches import Patch
from turnlint.repair.outcome import Fixed
from turnlint.report.escape import steers_runner, visible
from turnlint.report.sequence_diff import find_gaps

AROUND = 3
_PIECE = 1 << 20
_PLAIN = (
    frozenset(b"!#$%&'()*+,-./:;<=>?@[]^_`{|}~ ")
    | frozenset(range(48, 58))
    | frozenset(range(65, 91))
    | frozenset(range(97, 123))
)

Reader = Literal["file", "pipe", "screen"]
"""Output of a patch. A pipe may end in `git apply`, or in the log of a build."""
Op = tuple[bool, list[bytes], list[bytes]]
"""Whether the lines differ, and the lines before and after."""


class _Hunk(Struct):
    """Changed lines, with those around them."""

    old: int
    new: int
    lines: list[bytes] = []
    counts: list[int] = field(default_factory=lambda: [0, 0])

    def put(self, sign: bytes, line: bytes) -> None:
        self.counts[0] += sign != b"+"
        self.counts[1] += sign != b"-"
        self.lines.append(
            sign + line if line.endswith(b"\n") else sign + line + b"\n\\ No newline at end of file\n"
        )

    def written(self) -> bytes:
        places = zip((self.old, self.new), self.counts, strict=True)
        old, new = (f"{at if count else at - 1},{count}" for at, count in places)
        return f"@@ -{old} +{new} @@\n".encode() + b"".join(self.lines)


def patch_of(fixed: Fixed, *, reader: Reader) -> Iterator[bytes]:
    """Yield the patch of a file in pieces. Raises `SourceError` where there can be none."""
    if not fixed.patches:
        return
    _refuse(fixed.source)
    if reader != "file":
        for piece in _hunks(fixed):
            _refuse_hidden(fixed.source, piece, reader)
    name = _name(fixed.source.name)
    yield b"--- " + name + b"\n+++ " + name + b"\n"
    yield from _hunks(fixed)


def _refuse(source: Source) -> None:
    assert source.path is not None
    decoder = getincrementaldecoder("utf-8")()
    with open(source.path, "rb") as file:
        piece = file.read(_PIECE)
        if piece[:2] in MAGIC:
            raise SourceError(
                source.name, "compressed files cannot be patched as text; use --diff without =unified"
            )
        try:
            while piece:
                decoder.decode(piece)
                piece = file.read(_PIECE)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            reason = "the file is not valid UTF-8, so there is no text patch; use --diff without =unified"
            raise SourceError(source.name, reason) from None


def _refuse_hidden(source: Source, hunk: bytes, reader: Reader) -> None:
    """Reject a patch that would control a terminal or a build runner: it has the bytes of the file, unescaped."""
    for line in hunk.decode().split("\n"):
        text = line.removesuffix("\r").replace("\t", " ")
        # Invisible characters, such as those in emoji, matter only on a screen.
        steers = visible(text) != text if reader == "screen" else steers_runner(text)
        if steers or text.lstrip().startswith("::"):
            reason = "the patch contains terminal escapes or CI commands; redirect it to a file"
            raise SourceError(source.name, reason)


def _name(name: str) -> bytes:
    """Return a path for a patch: quoted where it would be ambiguous."""
    below = os.path.relpath(name)
    raw = os.fsencode(os.path.normpath(name) if below.startswith("..") else below)
    if all(byte in _PLAIN for byte in raw):
        return raw + b"\t" if b" " in raw else raw
    quoted = (bytes((byte,)) if byte in _PLAIN else b"\\%03o" % byte for byte in raw)
    return b'"' + b"".join(quoted) + b'"'


def _hunks(fixed: Fixed) -> Iterator[bytes]:
    before: deque[bytes] = deque(maxlen=AROUND)
    old = new = 1
    hunk: _Hunk | None = None
    same: list[bytes] = []
    """Lines behind the last change that may still belong to its hunk."""
    for differs, was, now in _ops(fixed):
        if not differs:
            for line in was:
                if hunk is not None:
                    same.append(line)
                    if len(same) > 2 * AROUND:
                        yield _ended(hunk, same)
                        before.extend(same)
                        hunk, same = None, []
                else:
                    before.append(line)
        else:
            if hunk is None:
                hunk = _Hunk(old - len(before), new - len(before))
                same = [*before]
                before.clear()
            for line in same:
                hunk.put(b" ", line)
            same = []
            for line in was:
                hunk.put(b"-", line)
            for line in now:
                hunk.put(b"+", line)
        old, new = old + len(was), new + len(now)
    if hunk is not None:
        yield _ended(hunk, same)


def _ended(hunk: _Hunk, same: list[bytes]) -> bytes:
    for line in same[:AROUND]:
        hunk.put(b" ", line)
    return hunk.written()


def _ops(fixed: Fixed) -> Iterator[Op]:
    """Yield all lines of the file in order, unchanged and replaced ones."""
    assert fixed.source.path is not None
    with open(fixed.source.path, "rb") as file:
        waiting = deque(fixed.patches)
        at = 0
        while line := file.readline():
            if not waiting or (waiting[0].start >= at + len(line) and line.endswith(b"\n")):
                yield False, [line], [line]
                at += len(line)
                continue
            old, new = line, bytearray()
            done = 0
            while True:
                while waiting and _reaches(waiting[0], at + len(old), old):
                    patch = waiting[0]
                    if patch.end > at + len(old):
                        break
                    new += old[done : patch.start - at] + patch.data
                    done = patch.end - at
                    waiting.popleft()
                cut = waiting and _reaches(waiting[0], at + len(old), old)
                rest = bytes(new) + old[done:]
                if not cut and (not rest or rest.endswith(b"\n")):
                    break
                if not (more := file.readline()):
                    break
                old += more
            yield from _compared(_lines(old), _lines(rest))
            at += len(old)
        if waiting:  # behind the last line
            yield True, [], _lines(b"".join(patch.data for patch in waiting))


def _reaches(patch: Patch, end: int, old: bytes) -> bool:
    """Whether a patch begins in these lines, or at the end of the last one, if that has no line end."""
    return patch.start < end or (patch.start == end and not old.endswith(b"\n"))


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True) if b"\r" not in data else [line for line in _split(data) if line]


def _split(data: bytes) -> Iterator[bytes]:
    *whole, last = data.split(b"\n")
    yield from (line + b"\n" for line in whole)
    yield last


def _compared(was: list[bytes], now: list[bytes]) -> Iterator[Op]:
    i = j = 0
    for a, b, c, d in find_gaps(was, now):
        yield False, was[i:a], now[j:c]
        yield True, was[a:b], now[c:d]
        i, j = b, d
    yield False, was[i:], now[j:]
