"""Split a stream of bytes into records.

Only one record is in memory at a time. A record longer than the limit is skipped: its bytes are never kept.
"""

import re
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from turnlint.documents.columns import Position, has_short_lines
from turnlint.documents.gate import START_BYTES, Ended, Gate, Scanner, ends_record, may_be_split
from turnlint.documents.source import MAX_RECORD_BYTES, Part, says_lines
from turnlint.documents.trouble import Damage, Kind, Trouble
from turnlint.model import Known, Pointer, Record

if TYPE_CHECKING:
    from turnlint.documents.joining import Split

CHUNK = 1 << 20
LONG = 1 << 20
MAX_TRIES = 3
"""How often attempts to join lines may parse the bytes of a stream. The bound keeps the cost linear."""
HUGE = 1 << 25
"""The size from which a record gets a finding (32 MiB): most readers keep several copies of a whole record."""

_UTF16 = {b"\xff\xfe": "UTF-16, little-endian", b"\xfe\xff": "UTF-16, big-endian"}
_BOM = b"\xef\xbb\xbf"
_SPACE = b" \t\r\n"
_MANY_BLANKS = (b"\n" * 64, b"\r\n" * 64)
_BLANK_RUN = rb"(?<=\n)(?:[ \t\r]*+\n){63,}+"
"""Blank lines that are taken together before a scanner gets them. A long needle is found in fewer comparisons."""
_SPACES = (b" ", b"\t", b"\r", b"\n")

Explodes = Callable[[bytes], bool]
"""Whether the first element shows that an array holds records, not the messages of one record."""


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Tape(Position):
    """A stream with a sliding window, and the line and offset of the current position."""

    def __init__(self, stream: Readable, limit: int) -> None:
        super().__init__()
        self.stream = stream
        self.limit = limit
        self.over = False
        """Whether the kept bytes exceed the limit, so that reading stopped."""
        self.window = b""
        self.pos = 0
        self.offset = 0
        self.ended = False

    def more(self) -> bool:
        """Read more bytes. The read size grows with the kept bytes, so that one long value costs linear time."""
        if self.ended:
            return False
        held = len(self.window) - self.pos
        if held > self.limit:
            self.over = True
            return False
        piece = self.stream.read(max(CHUNK, min(held, self.limit - held)))
        self.ended = not piece
        self.window = self.window[self.pos :] + piece
        self.pos = 0
        return not self.ended

    def peek(self, size: int) -> bytes:
        return self.window[self.pos : self.pos + size]

    def take(self, size: int) -> bytes:
        piece = self.peek(size)
        self.pos += size
        self.offset += size
        self.advance(piece)
        return piece

    def record(self, size: int, prefix: Pointer = ()) -> Record:
        line, offset, column, extra = self.line, self.offset, self.column, self.extra
        return Record(line, offset, self.take(size), prefix, column, extra=extra)

    def note(self, kind: Kind, size: int, detail: str = "") -> Damage:
        return Damage(Record(self.line, self.offset, self.peek(size)), Trouble(kind, 0, size, (), detail))


def frame(
    stream: Readable,
    name: str,
    explodes: Explodes,
    gate: Gate | None = None,
    part: Part | None = None,
    limit: int = MAX_RECORD_BYTES,
) -> Iterator[Record | Damage | Ended]:
    """Yield the records of a stream, and the damage between them.

    A part that does not start with the file holds some of its lines. A record of more bytes than the limit is damage.
    """
    tape = _Tape(stream, limit)
    gate = gate or Gate()
    if part and part.start:
        tape.offset, tape.line = part.start, part.line
        yield from _lines(tape, explodes, gate)
        return
    while len(tape.window) < 4 and tape.more():
        pass
    if encoding := _UTF16.get(tape.peek(2)):
        yield tape.note("utf-16", 2, encoding)
        return
    if _zeros_alternate(tape.peek(4)):
        yield tape.note("utf-16", min(4, len(tape.window)), "UTF-16 without a byte order mark")
        return
    if tape.peek(3) == _BOM:
        yield tape.note("byte-order-mark", 3)
        tape.take(3)
    blanks = _leading_blanks(tape)
    if _is_lines(tape, name):
        yield from _lines(tape, explodes, gate, blanks)
    else:
        yield from _values(tape, explodes)


class _Blanks(Struct):
    """Consecutive blank lines."""

    line: int
    offset: int
    data: bytes = b""
    """The bytes of the first blank line."""
    count: int = 0

    def damage(self) -> Damage:
        record = Record(self.line, self.offset, self.data)
        words = "blank line" if self.count == 1 else f"{self.count:,} blank lines in a row"
        return Damage(record, Trouble("blank-line", 0, len(self.data), (), words))


def _leading_blanks(tape: _Tape) -> _Blanks:
    """Take windows of only white space. A file may begin with more white space than fits into memory."""
    blanks = _Blanks(tape.line, tape.offset)
    while len(tape.window) - tape.pos >= CHUNK and not tape.window[tape.pos :].strip(_SPACE):
        end = tape.window.rfind(b"\n", tape.pos) + 1
        if not end:
            break
        if not blanks.count:
            blanks.data = tape.window[tape.pos : tape.window.find(b"\n", tape.pos)]
        blanks.count += tape.window.count(b"\n", tape.pos, end)
        tape.take(end - tape.pos)
        tape.more()
    return blanks


def _zeros_alternate(start: bytes) -> bool:
    """Whether two characters are ASCII with two bytes each. A single NUL in a line does not count."""
    if len(start) < 4:
        return False
    return (start[::2] == b"\0\0") != (start[1::2] == b"\0\0")


def _tape_of(record: Record) -> _Tape:
    tape = _Tape(BytesIO(record.data), len(record.data))
    tape.line, tape.offset, tape.column, tape.extra = record.line, record.offset, record.column, record.extra
    _to_next_value(tape)
    return tape


def _first_of(record: Record) -> bytes:
    return _first_element(_tape_of(record))


def split(record: Record) -> Iterator[Record]:
    """Yield the values of a record that holds several, in one walk."""
    tape = _tape_of(record)
    for item in _values(tape, lambda _: False):
        if isinstance(item, Record):
            item.prefix = record.prefix
            yield item


def _is_lines(tape: _Tape, name: str) -> bool:
    """Whether the stream has one record per line, or is a document that spans lines.

    The first lines decide; the name decides a tie.
    """
    from turnlint.documents import census

    first, second = _peek_lines(tape)
    if len(first) > tape.limit:
        return says_lines(name) or first[:1] not in (b"{", b"[")
    if not first.strip():
        return True
    if _is_whole(first):
        return bool(second.strip()) or not first.lstrip().startswith(b"[") or says_lines(name)
    cut_in_string = False
    if len(first) <= LONG:
        from turnlint.documents import exact

        reading = exact.read(first)
        last = reading.troubles[-1] if reading.troubles else None
        if reading.whole or last is None or last.kind != "torn":
            return True
        cut_in_string = last.detail.endswith("a string")
    # No string spans lines: a record that was cut inside one is not the start of a document.
    if not second.strip() or ((says_lines(name) or cut_in_string) and census.is_plain(second)):
        return True
    return _begins_split(tape)


def _begins_split(tape: _Tape) -> bool:
    """Whether the stream is a log whose first record is split over lines, not a document that spans lines."""
    from turnlint.documents.joining import is_split_log

    while len(tape.window) - tape.pos < LONG and tape.more():
        pass
    tape.over = False
    *lines, last = tape.window[tape.pos : tape.pos + LONG].split(b"\n")
    lines += [last] if tape.ended and len(tape.window) - tape.pos <= LONG else []
    return is_split_log(lines)


def _is_whole(line: bytes) -> bool:
    """Whether a line is a JSON text. For a long line, only its ends are checked."""
    from turnlint.documents import census

    if len(line) <= LONG:
        return census.is_plain(line)
    closing = b"}" if line.lstrip().startswith(b"{") else b"]"
    return line.rstrip(_SPACE).endswith(closing)


def _peek_lines(tape: _Tape) -> tuple[bytes, bytes]:
    """Return the first two lines that are not blank, without taking them. Much white space hides the second."""
    found = [b"", b""]
    at = 0
    for number in range(2):
        at = _past_space(tape, at, LONG)
        end = tape.window.find(b"\n", tape.pos + at)
        while end < 0 and tape.more():
            end = tape.window.find(b"\n", tape.pos + at)
        line = tape.window[tape.pos + at : end if end >= 0 else None]
        found[number] = line if line.strip(_SPACE) else b""
        if end < 0 or not found[number]:
            break
        at = end + 1 - tape.pos
    tape.over = False
    return found[0], found[1]


def _past_space(tape: _Tape, at: int, most: int = MAX_RECORD_BYTES) -> int:
    """Return the offset after white space, across windows, or an offset within it after at most `most` bytes."""
    end = at + most
    while True:
        rest = tape.window[tape.pos + at : tape.pos + min(at + CHUNK, end)]
        space = len(rest) - len(rest.lstrip(_SPACE))
        at += space
        if space < len(rest) or at >= end or not (rest or tape.more()):
            return at


def _lines(
    tape: _Tape, explodes: Explodes, gate: Gate, blanks: _Blanks | None = None
) -> Iterator[Record | Damage | Ended]:
    """Take whole windows at once. A line that two windows share is joined, and kept once."""
    gate.lines = 0
    reading = _Lines(explodes, gate, tape, blanks or _Blanks(tape.line, tape.offset))
    first_line = reading.blanks.line
    passed = 0
    """The number of discarded bytes of a line that is too long."""
    block = tape.window[tape.pos :] if tape.pos else tape.window
    tape.window, tape.pos = b"", 0
    block = block or tape.stream.read(CHUNK)
    begun = bytearray()
    while block:
        start = block.find(b"\n") + 1 if begun else 0
        if begun and not start:
            begun += block
        else:
            if begun:
                begun += block[: start - 1]
                if passed:
                    yield from reading.pass_over(passed + len(begun))
                    begun.clear()
                    passed = 0
                else:
                    yield from reading.take(_taken(begun), last=False)
            end = block.rfind(b"\n") + 1
            if start < end:
                yield from reading.take(block[start:end] if start or end < len(block) else block, last=False)
            if end < len(block):
                begun += block[end:]
        if len(begun) > tape.limit or passed:
            passed += len(begun) - 1
            del begun[1:]
        block = b"" if tape.ended else tape.stream.read(CHUNK)
    if passed:
        yield from reading.pass_over(passed + len(begun))
    elif begun:
        yield from reading.take(_taken(begun), last=True)
    yield from reading.finish()
    gate.lines = reading.line - first_line


def _taken(begun: bytearray) -> bytes:
    """Return a complete line, and clear the buffer that collected it."""
    line = bytes(begun)
    begun.clear()
    return line


class _Lines:
    """The lines of a log, and the current position."""

    def __init__(self, explodes: Explodes, gate: Gate, tape: _Tape, blanks: _Blanks) -> None:
        self.explodes = explodes
        self.gate = gate
        self.limit = tape.limit
        self.blanks = blanks
        self.line = tape.line
        self.offset = tape.offset
        self.column = tape.column
        self.extra = tape.extra
        self.split: Split | None = None
        """The first lines of a record that may continue in the next line."""
        self.unended = False
        """Whether the last line of the split record is the last of the stream, without a line end."""
        self.spent = 0
        """The number of bytes that failed attempts to join lines have parsed."""

    def take(self, block: bytes, *, last: bool) -> Iterator[Record | Damage | Ended]:
        """Yield the records of a block. A block without a final line end is a single line."""
        if has_short_lines(block) or any(map(block.__contains__, _MANY_BLANKS)):
            at = 0
            for run in re.compile(_BLANK_RUN).finditer(block):
                yield from self._taken(block[at : run.start()], last=False)
                yield from self._add_blanks(block[run.start() : run.end()])
                at = run.end()
            block = block[at:]
        yield from self._taken(block, last=last)

    def _add_blanks(self, run: bytes) -> Iterator[Record | Damage]:
        """Count blank lines, given with their line ends."""
        yield from self._give_up_all()
        if self.line != self.blanks.line + self.blanks.count:  # a scanner skipped lines between them
            yield from self.told_blanks()
        if not self.blanks.count:
            self.blanks = _Blanks(self.line, self.offset, run[: run.find(b"\n")])
        count = run.count(b"\n")
        self.blanks.count += count
        self.line += count
        self.offset += len(run)

    def told_blanks(self) -> Iterator[Damage]:
        """Yield the pending blank lines, once the text after them is known."""
        if self.blanks.count:
            yield self.blanks.damage()
            self.blanks.count = 0

    def pass_over(self, size: int) -> Iterator[Record | Damage]:
        """Skip a line that is too long, and yield its damage."""
        yield from self._give_up_all()
        yield from self.told_blanks()
        yield _too_long(Record(self.line, self.offset, b"", (), self.column), size, self.limit)
        self.line += 1
        self.offset += size + 1
        self.column, self.extra = 1, (0, 0)

    def _taken(self, block: bytes, *, last: bool) -> Iterator[Record | Damage | Ended]:
        at, size = 0, len(block)
        while at < size:
            scanner = self.gate.scanner
            # The first line that ends with a carriage return gets a finding, so a scanner must not skip it.
            is_short = size <= self.limit and self.split is None
            if scanner is not None and is_short and (self.gate.returned or b"\r" not in block):
                yield from self._sifted(scanner, block[at:] if at else block, last=last)
                return
            end = block.find(b"\n", at)
            end = size if end < 0 else end
            piece = block[at:end]
            if self.split is None and ends_record(block, end):
                yield from self._read(piece, last=False)
            else:
                following = block[end + 1 : end + 1 + START_BYTES]
                yield from self._join(piece, following, last=last and end == size)
            at = end + 1

    def finish(self) -> Iterator[Record | Damage]:
        """Yield what is left at the end of the stream."""
        if self.split is not None and self.gate.grows:
            _, self.line, self.gate.left = self.split.lines[0]
            self.split = None
        yield from self._give_up_all()
        yield from self.told_blanks()

    def _join(self, piece: bytes, following: bytes, *, last: bool) -> Iterator[Record | Damage]:
        """Parse a line, or join it to the lines before it."""
        split = self.split
        if split is not None:
            outcome = split.add(piece, self.line, self.offset)
            self.unended = last
            if outcome == "failed":
                yield from self._give_up()
                return
            self.line, self.offset = self.line + 1, self.offset + len(piece) + 1
            if outcome == "whole":
                self.split = None
                yield from self._joined(split)
            return
        if not last and may_be_split(piece, following) and self._may_try(len(piece)):
            from turnlint.documents.joining import Split

            split = Split(piece, self.line, self.offset, self.limit)
            if split.is_open:
                self.split = split
                self.line, self.offset = self.line + 1, split.end
                return
        yield from self._read(piece, last=last)

    def _may_try(self, size: int) -> bool:
        """Whether an attempt to join lines keeps the cost linear in the bytes of the stream."""
        return size <= self.limit and self.spent <= MAX_TRIES * self.offset + CHUNK

    def _joined(self, split: "Split") -> Iterator[Record | Damage]:
        from turnlint.documents.joining import damage_of

        yield from self.told_blanks()
        record = split.joined(self.column, self.extra)
        self.column, self.extra = 1, (0, 0)
        yield damage_of(record)
        yield record

    def _give_up_all(self) -> Iterator[Record | Damage]:
        """Yield all lines that wait for the rest of a record."""
        while self.split is not None:
            yield from self._give_up()

    def _give_up(self) -> Iterator[Record | Damage]:
        """Yield each of the lines that did not form a record together."""
        split, self.split = self.split, None
        if split is None:
            return
        self.spent += split.end - split.lines[0][2]
        unended, self.unended = self.unended, False
        followings = [piece[:START_BYTES] or b"\n" for piece, *_ in split.lines[1:]]
        for number, (piece, line, offset) in enumerate(split.lines):
            self.line, self.offset = line, offset
            last = unended and number == len(followings)
            if number:
                following = followings[number] if number < len(followings) else b""
                yield from self._join(piece, following, last=last)
            else:
                yield from self._read(piece, last=last)

    def _read(self, piece: bytes, *, last: bool, known: Known | None = None) -> Iterator[Record | Damage]:
        record = self._plain(piece, known)
        if record is None:
            yield from self._line(piece, last=last)
            return
        if self.blanks.count:
            yield from self.told_blanks()
        yield record

    def _sifted(self, scanner: Scanner, block: bytes, *, last: bool) -> Iterator[Record | Damage | Ended]:
        line, offset, passed = self.line, self.offset, self.gate.passed
        scan = scanner.scan(block, line, offset)
        for span in scan.spans:
            if isinstance(span, Ended):
                yield span
                continue
            self.line, self.offset = line + span.line, offset + span.start
            self.gate.passed = passed + span.passed
            piece, end = block[span.start : span.end], span.end
            if self.split is None and ends_record(block, end):
                yield from self._read(piece, last=False, known=span.known)
            else:
                following = block[end + 1 : end + 1 + START_BYTES]
                yield from self._join(piece, following, last=last and end == len(block))
        self.line, self.offset = line + scan.lines, offset + len(block) + (not block.endswith(b"\n"))
        self.gate.passed = passed + scan.passed

    def _plain(self, piece: bytes, known: Known | None = None) -> Record | None:
        """Return a line that is an object, as most are; none where the line needs more checks."""
        if piece[:1] != b"{" or piece[-1:] != b"}" or len(piece) >= min(HUGE, self.limit):
            return None
        record = Record(self.line, self.offset, piece, (), self.column, extra=self.extra, known=known)
        self.line += 1
        self.offset += len(piece) + 1
        self.column, self.extra = 1, (0, 0)
        return record

    def _line(self, piece: bytes, *, last: bool) -> Iterator[Record | Damage]:
        line, offset = self.line, self.offset
        if len(piece) > self.limit:
            yield from self.pass_over(len(piece))
            return
        if not piece.strip(_SPACE):
            if not last:
                yield from self._add_blanks(piece + b"\n")
            return
        yield from self.told_blanks()
        self.line, self.offset = line + 1, offset + len(piece) + 1
        returns = piece.endswith(b"\r")
        record = Record(line, offset, piece[:-1] if returns else piece, (), self.column, extra=self.extra)
        self.column, self.extra = 1, (0, 0)
        if returns and not self.gate.returned:
            self.gate.returned = True
            place = Trouble("carriage-returns", len(piece) - 1, len(piece))
            yield Damage(Record(line, offset, piece), place)
        if record.data.lstrip().startswith(b"[") and self.explodes(_first_of(record)):
            yield from _elements(_tape_of(record))
        else:
            yield from _weighed(record)


def _weighed(record: Record) -> Iterator[Record | Damage]:
    if len(record.data) >= HUGE:
        size = f"{len(record.data) >> 20} MiB"
        yield Damage(record, Trouble("huge-record", 0, len(record.data), (), size))
    yield record


def _values(tape: _Tape, explodes: Explodes) -> Iterator[Record | Damage]:
    """Yield JSON values one after another, whatever lines they span. An array of records is split into its elements."""
    while _to_next_value(tape):
        if tape.peek(1) == b"[" and explodes(_first_element(tape)):
            yield from _elements(tape)
            continue
        yield from _value(tape)


def _value(tape: _Tape, prefix: Pointer = ()) -> Iterator[Record | Damage]:
    """Yield the value that starts here, or its damage if it is too long."""
    from turnlint.documents.walking import Walk

    walk = Walk()
    walk.on(tape)
    if not tape.over and walk.at <= tape.limit:
        yield from _weighed(tape.record(max(1, walk.at), prefix))
        return
    start = Record(tape.line, tape.offset, b"", prefix, tape.column)
    size = 0
    while tape.over:
        size += walk.at
        tape.take(walk.at)
        tape.over, walk.at = False, 0
        if tape.more() or tape.pos < len(tape.window):
            walk.on(tape)
    size += walk.at
    tape.take(walk.at)
    yield _too_long(start, size, tape.limit)


def _too_long(record: Record, size: int, limit: int) -> Damage:
    detail = f"{_in_words(size)}; the limit is {_in_words(limit)}"
    return Damage(record, Trouble("too-long", 0, 0, (), detail))


def _in_words(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB" if size >= 1 << 20 else f"{size:,} bytes"


def _to_next_value(tape: _Tape) -> bool:
    while True:
        if tape.pos < len(tape.window):
            if tape.peek(1) not in _SPACES:
                return True
            rest = tape.window[tape.pos : tape.pos + CHUNK]
            tape.take(len(rest) - len(rest.lstrip(_SPACE)))
        elif not tape.more():
            return False


def _first_element(tape: _Tape) -> bytes:
    from turnlint.documents.walking import Walk

    walk = Walk(at=_past_space(tape, 1))
    walk.on(tape)
    is_whole, tape.over = not tape.over, False
    return tape.peek(walk.at)[1:].strip(_SPACE) if is_whole else b""


def _elements(tape: _Tape) -> Iterator[Record | Damage]:
    tape.take(1)
    index = 0
    while _to_next_value(tape):
        if tape.peek(1) in (b",", b"]"):
            if tape.take(1) == b"]":
                return
            continue
        yield from _value(tape, (index,))
        index += 1
