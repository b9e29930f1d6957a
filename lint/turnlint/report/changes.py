"""Show a repair as a diff for people.

Short lines are shown whole, with the lines around them. Of long lines, as in logs with a record on each line,
the changed ranges are shown with some text around. The diff shows content, because the user asked for it, and
is no patch for a program.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal

from msgspec import Struct, structs

from turnlint.repair.outcome import Fixed
from turnlint.report import Look
from turnlint.report.escape import clip, columns, fold, visible
from turnlint.report.stretches import NEAR, Stretch, stretches

MOST = 60
"""Limit of the changes of a file that are shown; the rest is counted."""
LINES = 2
"""Number of lines before and behind a change."""
ROWS = 12
"""Limit of the rows of a change."""
LEAST = 40
DOTS = "…"
_BOUNDARY = re.compile(rb'(?<=[,\[{])\s*(?=["\[{0-9tfn-])')
"""Position at which a JSON value may begin, unless it is inside of a string."""

Sign = Literal[" ", "-", "+"]
_COLORS = {" ": "", "-": "31", "+": "32"}


class _Block(Struct, frozen=True):
    """A change as it is shown."""

    line: int
    byte: int
    start: int
    old: bytes
    new: bytes
    before: bytes
    after: bytes
    whole: bool
    """Whether it consists of whole lines."""

    @property
    def end(self) -> int:
        return self.start + len(self.old)


def changes(fixed: Fixed, look: Look) -> Iterator[str]:
    """Yield the lines of the diff. Raises `SourceError` where the source cannot be read again."""
    if not fixed.patches:
        return
    paint = _Paint(max(LEAST, look.width), color=look.color)
    name = visible(fixed.source.name)
    for title in (f"--- {name}", f"+++ {name} (repaired)"):
        yield from map(paint.bold, fold(title, paint.room, "    ") if look.folds else [title])
    last: _Block | None = None
    more = 0
    for number, block in enumerate(_blocks(stretches(fixed.source, fixed.patches), paint.room)):
        if number >= MOST:
            more += 1
            continue
        if last is not None and _together(last, block, paint.room):
            yield from paint.rows(" ", last.after[: block.start - last.end])
        else:
            yield from paint.context(_behind(_until(last, block), paint.room) if last else ())
            yield paint.place(block)
            yield from paint.context(_ahead(block, paint.room))
        yield from paint.rows("-", block.old)
        yield from paint.rows("+", block.new)
        last = block
    yield from paint.context(_behind(last, paint.room) if last else ())
    if more:
        rest = f"{DOTS} {more:,} more {'change' if more == 1 else 'changes'}; --report FILE lists all"
        yield from fold(rest, paint.room, "    ")


# Convert stretches to blocks.


def _blocks(found: Iterable[Stretch], room: int) -> Iterator[_Block]:
    group: list[Stretch] = []
    for one in found:
        if group and not _on_one_line(group[-1], one):
            yield from _shown(group, room)
            group = []
        group.append(one)
    if group:
        yield from _shown(group, room)


def _on_one_line(one: Stretch, other: Stretch) -> bool:
    gap = other.start - one.end
    return gap <= len(one.after) and b"\n" not in one.after[:gap] and not one.old.endswith(b"\n")


def _shown(group: list[Stretch], room: int) -> Iterator[_Block]:
    """Yield a block of whole lines, if their unchanged text fits in a line; else a block for each stretch."""
    first, last = group[0], group[-1]
    head, foot = _head(first), _foot(last)
    gaps = [one.after[: other.start - one.end] for one, other in pairwise(group)]
    if len(group) == 1 and head == b"" and _are_lines(first):
        foot = b""
    if head is None or foot is None or len(head) + sum(map(len, gaps)) + len(foot) > room:
        for one in group:
            yield _Block(one.line, one.start, one.start, one.old, one.new, one.before, one.after, False)
        return
    between = [head, *gaps]
    old = b"".join(part for gap, one in zip(between, group, strict=True) for part in (gap, one.old))
    new = b"".join(part for gap, one in zip(between, group, strict=True) for part in (gap, one.new))
    around = first.before[: len(first.before) - len(head)], last.after[len(foot) :]
    yield _Block(first.line, first.start, first.start - len(head), old + foot, new + foot, *around, True)


def _are_lines(one: Stretch) -> bool:
    return all(not text or text.endswith(b"\n") for text in (one.old, one.new))


def _head(one: Stretch) -> bytes | None:
    """Return the start of the line, if it is near."""
    at = one.before.rfind(b"\n")
    return one.before[at + 1 :] if at >= 0 or one.start == len(one.before) else None


def _foot(one: Stretch) -> bytes | None:
    """Return the rest of the line, if it is near."""
    if one.old.endswith(b"\n") and one.new.endswith(b"\n"):
        return b""
    at = one.after.find(b"\n")
    return one.after[: at + 1] if at >= 0 else one.after if len(one.after) < NEAR else None


# Context of a change.


def _together(one: _Block, other: _Block, room: int) -> bool:
    """Whether the text between two changes is short enough to be shown."""
    size = other.start - one.end
    if size > len(one.after) or one.whole is not other.whole:
        return False
    gap = one.after[:size]
    if one.whole:
        return gap.count(b"\n") <= 2 * LINES and max(map(len, gap.split(b"\n"))) <= room
    return size <= room and b"\n" not in gap


def _until(one: _Block, other: _Block) -> _Block:
    """Return a change whose context ends before the next change."""
    size = other.start - one.end
    if size >= len(one.after):
        return one
    lines = one.after.rfind(b"\n", 0, size) + 1
    return structs.replace(one, after=one.after[: lines if one.whole else size])


def _ahead(block: _Block, room: int) -> Iterator[str]:
    """Yield the text before a change: lines, or the nearest part of its own line."""
    lines = block.before.split(b"\n")
    known = len(block.before) == block.start
    if block.whole:
        yield from (_line(line, room) for line in lines[not known : -1][-LINES:])
        return
    head = lines[-1]
    least = len(head) - room + 1
    if least > 0:
        cut = _BOUNDARY.search(head, least, len(head) - room // 3)
        head = head[cut.end() if cut else least :]
    text = _text(head)
    dots = least > 0 or (len(lines) == 1 and not known)
    while columns(text) > room - dots:
        text, dots = text[1:], True
    yield DOTS + text if dots else text


def _behind(block: _Block, room: int) -> Iterator[str]:
    """Yield the text behind a change."""
    lines = block.after.split(b"\n")
    if block.whole:
        known = lines if len(block.after) < NEAR // 2 else lines[:-1]
        yield from (_line(line, room) for line in known[:LINES])
        return
    foot = lines[0].removesuffix(b"\r")
    if len(foot) < room:
        yield clip(_text(foot), room)
        return
    cuts = [match.end() for match in _BOUNDARY.finditer(foot, room // 3, room - 1)]
    yield clip(_text(foot[: cuts[-1] if cuts else room - 1]).rstrip() + DOTS, room)


def _line(data: bytes, room: int) -> str:
    return clip(_text(data.removesuffix(b"\r")), room)


def _text(data: bytes) -> str:
    """Return bytes as visible text. Incomplete characters at the start are left off."""
    while data and data[0] & 0xC0 == 0x80:
        data = data[1:]
    text = data.decode("utf-8", "backslashreplace")
    indent = len(text) - len(text.lstrip("\t "))
    return text[:indent].replace("\t", "    ") + visible(text[indent:])


class _Paint:
    """Rows of a diff."""

    def __init__(self, width: int, *, color: bool) -> None:
        self.room = width - 1
        self.color = color

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self.color else text

    def place(self, block: _Block) -> str:
        text = f"@@ line {block.line:,}, byte {block.byte:,} @@"
        return f"\x1b[36m{text}\x1b[0m" if self.color else text

    def context(self, texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            if text.strip():
                yield self._row(" ", text)

    def rows(self, sign: Sign, data: bytes) -> Iterator[str]:
        """Yield all lines of the bytes, broken where they are too wide, up to a limit of rows."""
        if not data:
            return
        most = ROWS * 4 * self.room
        count = 0
        for line in data[:most].removesuffix(b"\n").split(b"\n"):
            for piece in self._broken(_text(line.removesuffix(b"\r"))):
                if count == ROWS:
                    yield self._row(sign, f"{DOTS} {len(data):,} bytes in all")
                    return
                count += 1
                yield self._row(sign, piece)

    def _broken(self, text: str) -> Iterator[str]:
        while columns(text) > self.room:
            at = used = 0
            while used + columns(text[at]) <= self.room:
                used += columns(text[at])
                at += 1
            least = at * 2 // 3
            at = (
                text.rfind(", ", least, at) + 2
                if ", " in text[least:at]
                else text.rfind(" ", least, at) + 1 or at
            )
            yield text[:at]
            text = text[at:]
        yield text

    def _row(self, sign: Sign, text: str) -> str:
        if sign == " " and text.lstrip().startswith("::"):  # a runner takes such a line for its command
            text = text.replace("::", "\\u{3a}:", 1)
        row = f"{sign}{text}"
        code = _COLORS[sign]
        return f"\x1b[{code}m{row}\x1b[0m" if self.color and code else row
