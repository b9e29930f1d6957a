"""Show a repair as changes of values in records, with their pointers.

A removed value is shown with its old pointer, an added one with its new pointer. Records are paired by their
offsets in the file. Elements of a list are compared by value, so a moved element is no change. The diff is no
patch for a program.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, zip_longest
from json import dumps
from typing import Any

from msgspec import Struct

from turnlint.carriers import holds_records
from turnlint.documents.breaks import raw_bytes
from turnlint.documents.decode import value_of
from turnlint.documents.framing import Readable, frame
from turnlint.documents.source import Guarded, open_source
from turnlint.keeping.patches import Patch, patched
from turnlint.model import Pointer, Record
from turnlint.repair.outcome import Fixed
from turnlint.report import Look
from turnlint.report.escape import clip, columns, fold, visible
from turnlint.report.sequence_diff import find_gaps

MOST = 60
"""Limit of the records of a file that are shown; the rest is counted."""
LEAST = 40
HEAD = 16
"""Number of characters shown before the first difference of a string."""
DEEPEST = 100
DOTS = "…"

Line = tuple[str, Pointer, str]
"""Sign, pointer and text."""


class _Change(Struct, frozen=True):
    """A record that was changed, added or removed."""

    old: Record | None
    new: Record | None


def differences(fixed: Fixed, look: Look) -> Iterator[str]:
    """Yield the lines of the diff. Raises `SourceError` where the source cannot be read again."""
    if not fixed.patches:
        return
    name = visible(fixed.source.name)
    for title in (f"--- {name}", f"+++ {name} (repaired)"):
        for line in _folded(title, look):
            yield _bold(line, look)
    more, number = 0, -1
    for number, change in enumerate(_changes(fixed)):
        if number >= MOST:
            more += 1
            continue
        yield _painted(_place(change), "36", look)
        if change.old is not None and change.old.breaks:
            yield f"  {len(change.old.breaks) + 1:,} lines joined"
        for sign, at, text in _record(change):
            yield _row(sign, at, text, look)
    if number < 0:
        yield from _folded(
            "  only bytes between records change: line ends, blank lines, byte order marks", look
        )
    if more:
        rest = f"{DOTS} {more:,} more {'record' if more == 1 else 'records'}; --report FILE lists all"
        yield from _folded(rest, look)


# Records.


class _Pieces:
    """Pieces of bytes as a readable stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.left = b""

    def read(self, size: int, /) -> bytes:
        while len(self.left) < size and (piece := next(self.pieces, b"")):
            self.left += piece
        taken, self.left = self.left[:size], self.left[size:]
        return taken


def _changes(fixed: Fixed) -> Iterator[_Change]:
    """Yield the records that patches touch, old and new ones paired by offset, in the order of the file."""
    with open_source(fixed.source) as stream:
        old = list(_touched(Guarded(stream, fixed.source.name, None), fixed, _old_spans(fixed.patches)))
    repaired = _Pieces(patched(fixed.source, fixed.patches))
    new = list(_touched(repaired, fixed, _new_spans(fixed.patches)))
    moved = _Moved(fixed.patches)
    waiting = {one.offset: one for one in new}
    paired: list[tuple[int, int, _Change]] = []
    # A record that begins in replaced bytes may be another one; all others are the same.
    for one in sorted(old, key=lambda one: moved.is_inside(one.offset)):
        there = moved.to(one.offset)
        paired.append((there, 0, _Change(one, waiting.pop(there, None))))
    paired += [(offset, 1, _Change(None, one)) for offset, one in waiting.items()]
    for _, _, change in sorted(paired, key=lambda item: item[:2]):
        if (
            change.old is None
            or change.new is None
            or change.old.data != change.new.data
            or (change.old.breaks and not change.new.breaks)
        ):
            yield change


def _touched(stream: Readable, fixed: Fixed, spans: list[tuple[int, int]]) -> Iterator[Record]:
    at = 0
    for item in frame(stream, fixed.source.name, holds_records, limit=fixed.source.limit):
        if not isinstance(item, Record):
            continue
        end = item.offset + len(raw_bytes(item) if item.breaks else item.data)
        while at < len(spans) and spans[at][1] < item.offset:
            at += 1
        if at < len(spans) and spans[at][0] <= end:
            yield item


def _old_spans(patches: list[Patch]) -> list[tuple[int, int]]:
    return [(patch.start, patch.end) for patch in patches]


def _new_spans(patches: list[Patch]) -> list[tuple[int, int]]:
    shift = 0
    spans = []
    for patch in patches:
        spans.append((patch.start + shift, patch.start + shift + len(patch.data)))
        shift += len(patch.data) - (patch.end - patch.start)
    return spans


class _Moved:
    """The new offsets of records."""

    def __init__(self, patches: list[Patch]) -> None:
        self.patches = patches
        self.ends = [patch.end for patch in patches]
        self.by = [0, *accumulate(len(patch.data) - (patch.end - patch.start) for patch in patches)]

    def is_inside(self, offset: int) -> bool:
        """Whether an offset is in the bytes that a patch removes."""
        at = bisect_right(self.ends, offset)
        return at < len(self.patches) and self.patches[at].start <= offset

    def to(self, offset: int) -> int:
        return offset + self.by[bisect_right(self.ends, offset)]


def _place(change: _Change) -> str:
    if change.old is None:
        assert change.new is not None
        return f"@@ new, line {change.new.line:,} @@"
    return f"@@ line {change.old.line:,} @@" if change.new else f"@@ line {change.old.line:,}, removed @@"


# Values.


def _record(change: _Change) -> Iterator[Line]:
    old, new = ((one, value_of(one.data)) if one else None for one in (change.old, change.new))
    if old and new:
        found = list(_values(old[1], new[1], old[0].prefix, new[0].prefix))
        yield from found or [(" ", new[0].prefix, "the same value, encoded differently")]
        return
    for sign, one in (("-", old), ("+", new)):
        if one:
            yield sign, one[0].prefix, _text(one[1])


def _values(old: Any, new: Any, was: Pointer, now: Pointer) -> Iterator[Line]:
    if _same(old, new):
        return
    deep = len(was) > DEEPEST
    if isinstance(old, dict) and isinstance(new, dict) and not deep:
        for key in dict.fromkeys([*old, *new]):
            if key not in new:
                yield "-", (*was, key), _text(old[key])
            elif key not in old:
                yield "+", (*now, key), _text(new[key])
            else:
                yield from _values(old[key], new[key], (*was, key), (*now, key))
    elif isinstance(old, list) and isinstance(new, list) and not deep:
        yield from _lists(old, new, was, now)
    else:
        before, after = _narrowed(old, new)
        yield "-", was, before
        yield "+", now, after


def _lists(old: list[Any], new: list[Any], was: Pointer, now: Pointer) -> Iterator[Line]:
    texts = [_text(one) for one in old], [_text(one) for one in new]
    for a, b, c, d in find_gaps(*texts):
        if b - a == d - c:
            for left, right in zip(range(a, b), range(c, d), strict=True):
                yield from _values(old[left], new[right], (*was, left), (*now, right))
            continue
        yield from (("-", (*was, left), texts[0][left]) for left in range(a, b))
        yield from (("+", (*now, right), texts[1][right]) for right in range(c, d))


def _same(old: Any, new: Any) -> bool:
    """Whether two values are equal in JSON, where 1 is not true, and the order of keys matters."""
    return type(old) is type(new) and _text(old) == _text(new)


def _text(value: Any) -> str:
    try:
        return dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "(too deep to show)"


def _narrowed(old: Any, new: Any) -> tuple[str, str]:
    """Return two values as text; of long strings with the same start, the part from shortly before the difference."""
    before, after = _text(old), _text(new)
    if not (isinstance(old, str) and isinstance(new, str)):
        return before, after
    pairs = enumerate(zip_longest(before, after))
    apart = next((at for at, (one, other) in pairs if one != other), 0)
    if apart <= 2 * HEAD:
        return before, after
    return DOTS + before[apart - HEAD :], DOTS + after[apart - HEAD :]


# Rows.


def _row(sign: str, at: Pointer, text: str, look: Look) -> str:
    pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in at)
    width = max(LEAST, look.width)
    where = clip(visible(pointer[: 4 * width]), width // 2) or "(the whole record)"
    row = f"{sign} {where}  {clip(visible(text[: 4 * width]), width - columns(where) - 4)}"
    return _painted(row, {"-": "31", "+": "32"}.get(sign, ""), look)


def _folded(text: str, look: Look) -> list[str]:
    return fold(text, max(LEAST, look.width), "    ") if look.folds else [text]


def _bold(text: str, look: Look) -> str:
    return _painted(text, "1", look)


def _painted(text: str, code: str, look: Look) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if look.color and code else text
