"""One log that grows, from what was appended to events.

This module owns how far it was read, what of it was told, and what it means that it is another one now. Lines that are
conversations each are read once; where a conversation runs over many lines, all of it is read again, what was told before is
not told again, and what may change with the next line waits. It refuses to wait itself, and to know who asks how often.
"""

import os
from collections.abc import Iterator

from msgspec import Struct, structs

from turnlint.documents.source import MAGIC, Part, Source, says_lines
from turnlint.engine import Skipped, Tally
from turnlint.errors import SourceError
from turnlint.reading import glance
from turnlint.rows import Row
from turnlint.spread.cutting import STRETCH, next_record
from turnlint.spread.here import Done, Failure, Question, Told, here
from turnlint.spread.parcel import Joint, pack

ENDS = frozenset({"pending-call", "last-message"})
"""Rules about how a conversation ends: of one that goes on they say nothing yet."""
_STEP = 1 << 16
_MARK = 64
"""So many bytes before the place read to are remembered, to see that they are still the same."""


class Note(Struct, frozen=True):
    """Something about a log rather than in it."""

    name: str
    words: str


class _Stand(Struct, frozen=True):
    """A file as it was met."""

    device: int
    inode: int
    size: int
    changed: int

    def is_same_file(self, other: "_Stand") -> bool:
        return (self.device, self.inode) == (other.device, other.inode)


class Growing:
    """A log, read as far as it goes each time that it is looked at."""

    def __init__(self, source: Source, asked: Question, *, rests: bool = True) -> None:
        assert source.path is not None
        self.rests = rests
        """It was there before anybody looked, and so is not just being written."""
        self.source = source
        self.path = source.path
        self.asked = asked
        self.met: _Stand | None = None
        """As it was when it was read last."""
        self.seen: _Stand | None = None
        """As it was when it was looked at last."""
        self.gone = self.failed = self.waits = False
        self.tally = Tally()
        """What was counted in the file as it is now."""
        self.told: set[str] = set()
        self.aside: set[str] = set()
        """What was moved out of its place."""
        self._begin()

    def _begin(self) -> None:
        """It is read from its start."""
        self.part: Part | None = None
        """How its lines are read, where each is a conversation."""
        self.whole = False
        """All of it is read each time."""
        self.offset = self.searched = 0
        self.mark = b""
        self.returned = False
        self.joint = Joint(self.asked.options.views_per_rule)

    def look(self, *, last: bool = False) -> Iterator[Told | Note]:
        """What there is to say since the last time; with the last look, also of what is not at its end."""
        now = self._stand()
        if now is None:
            if self.seen is not None and not self.gone:
                self.gone = True
                yield Note(self.source.name, "deleted; it will be read from the start if it appears again")
            return
        yield from self._turned(now)
        before, self.seen = self.seen, now
        if not now.size or (now == self.met and not (last and self.waits)):
            return
        if not self._is_known(now, last=last) or not (last or self._is_at_rest(before)):
            self.waits = True
            return
        self.waits = False
        try:
            yield from self._all(now, last=last) if self.whole else self._appended(now, last=last)
        except SourceError as error:
            yield from self._unreadable(error.reason)
        except OSError as error:
            yield from self._unreadable((error.strerror or "cannot be read").lower())
        self.met = now

    def was(self, path: str) -> bool:
        """Whether a file beside it is the one that stood in its place."""
        if (
            path not in self.aside
            and self.met is not None
            and os.path.dirname(path) == os.path.dirname(self.path)
        ):
            try:
                found = os.stat(path)
            except OSError:
                return False
            if (found.st_dev, found.st_ino) == (self.met.device, self.met.inode):
                self.aside.add(path)
        return path in self.aside

    def _stand(self) -> _Stand | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return _Stand(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def _unreadable(self, reason: str) -> Iterator[Told]:
        if not self.failed and os.path.exists(self.path):  # the next look will say that it is gone
            self.failed = True
            yield Failure(self.source.name, reason)

    # What it is now.

    def _turned(self, now: _Stand) -> Iterator[Told | Note]:
        """Where it is no longer the file that was read, or its bytes are others, it begins anew."""
        self.gone = False
        if self.met is None:
            return
        if not now.is_same_file(self.met):
            yield from self._rest_of_the_old()
            words = "replaced by another file"
        elif now.size < (self.met.size if self.whole else self.offset):
            words = "truncated"
        elif not self.whole and not self._goes_on():
            words = "rewritten"
        else:
            return
        if self._is_log():
            self.told.clear()
            self.tally = Tally()
            yield Note(self.source.name, f"{words}; read from the start")
        self._begin()
        self.met = None

    def _is_log(self) -> bool:
        return self.part is not None or says_lines(self.source.name)

    def _goes_on(self) -> bool:
        """Whether what stands before the place read to is what stood there."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset - len(self.mark))
                return file.read(len(self.mark)) == self.mark
        except OSError:
            return True  # reading will say why not

    def _rest_of_the_old(self) -> Iterator[Told | Note]:
        """What was appended to a log before it was moved aside, where it can be found under its new name."""
        if self.part is None or self.met is None:
            return
        path = self._moved()
        if path is None:
            return
        size = os.path.getsize(path)
        if size > self.offset:
            yield from self._lines_of(structs.replace(self.source, path=path), size)

    def _moved(self) -> str | None:
        assert self.met is not None
        try:
            with os.scandir(os.path.dirname(self.path) or ".") as entries:
                for entry in entries:
                    found = entry.stat()
                    if (found.st_dev, found.st_ino) == (self.met.device, self.met.inode):
                        return entry.path
        except OSError:
            return None
        return None

    def _is_known(self, now: _Stand, *, last: bool) -> bool:
        """Whether it is known how to read it; that takes a first line."""
        if self.part is not None or self.whole:
            return True
        self.searched = 0
        try:
            if says_lines(self.source.name) and not last and not self._end_of_lines(now.size):
                return False
            with open(self.path, "rb") as file:
                packed = file.read(2) in MAGIC
            if not packed:
                self.part = glance(self.source, self.asked.options.format, self.asked.book.wires)
        except (SourceError, OSError):
            self.part = None  # reading will say why not
        self.whole = self.part is None
        return True

    def _is_at_rest(self, before: _Stand | None) -> bool:
        """Whether it may be read: a log is whole at the end of each line, a document when nobody writes it any more."""
        if not self.whole or says_lines(self.source.name):
            return True
        return before == self.seen or (before is None and self.rests)

    def _end_of_lines(self, size: int) -> int:
        """Where the last whole line ends that was not read yet; nothing where there is none."""
        with open(self.path, "rb") as file:
            end = size
            while end > self.searched:
                start = max(self.searched, end - _STEP)
                file.seek(start)
                at = file.read(end - start).rfind(b"\n")
                if at >= 0:
                    return start + at + 1
                end = start
        self.searched = size
        return 0

    # Lines that are conversations.

    def _appended(self, now: _Stand, *, last: bool) -> Iterator[Told | Note]:
        end = now.size if last else self._end_of_lines(now.size)
        self.waits = end < now.size
        if end > self.offset:
            yield from self._lines_of(structs.replace(self.source, grows=not last), end)
        if self.whole:
            yield from self._all(now, last=last)

    def _lines_of(self, source: Source, end: int) -> Iterator[Told]:
        assert self.part is not None
        assert source.path is not None
        while self.offset < end and not self.whole:
            stop = _next_record(source.path, self.offset + STRETCH, end)
            part = structs.replace(self.part, start=self.offset, end=stop, size=end, returned=self.returned)
            grows = source.grows and stop == end
            try:
                parcel = pack(structs.replace(source, part=part, grows=grows), self.asked)
            except OSError:
                raise
            except Exception:
                if os.environ.get("TURNLINT_TRACEBACK"):
                    raise
                self.whole = True  # where it fails again, that is told
                return
            if parcel.held and source.path == self.path:  # from here on records hang together
                self.whole = True
                return
            first = not self.offset
            stop = stop if parcel.left is None else parcel.left
            self.offset = self.searched = stop
            self.mark = _before(source.path, stop)
            self.returned |= parcel.returned
            for event in self.joint.join(parcel):
                if isinstance(event, Tally):
                    event = structs.replace(event, files=int(first))  # noqa: PLW2901 - a file is counted once
                    self.tally.add(event)
                yield event
            if parcel.failure:
                yield from self._unreadable(parcel.failure.reason)
            if parcel.left is not None:
                self.waits = True
                return

    # All of it.

    def _all(self, now: _Stand, *, last: bool) -> Iterator[Told | Note]:
        unfinished = now.size if last else self._unfinished(now.size)
        tally = Tally()
        new = Tally()
        known: set[str] = set()
        source = structs.replace(self.source, grows=not last)
        for event in here([source], lambda _: self.asked, None):
            if isinstance(event, Done):
                continue
            if isinstance(event, Tally):
                tally.add(event)
                self.waits |= event.is_unfinished
            elif isinstance(event, Failure):
                yield from self._unreadable(event.reason)
            elif isinstance(event, Skipped) and not last:
                self.waits = True  # its first lines may not be there yet
            elif not isinstance(event, Row):
                yield event
            elif event.fingerprint in self.told or event.place.offset < self.offset:
                known.add(event.fingerprint)
            elif last or (event.finding.rule not in ENDS and event.place.offset < unfinished):
                known.add(event.fingerprint)
                new.findings[event.finding.severity] += 1
                new.rules[event.finding.rule] = new.rules.get(event.finding.rule, 0) + 1
                yield event
            else:
                self.waits = True
        gone = len(self.told - known)
        if gone:
            words = "1 finding is" if gone == 1 else f"{gone:,} findings are"
            yield Note(self.source.name, f"{words} gone")
        self.told, self.offset = known, 0
        yield _more(tally, self.tally, new)
        self.tally = tally

    def _unfinished(self, size: int) -> int:
        """Where the last line begins, where it may still be written; behind all else there is no such line."""
        if not says_lines(self.source.name):
            return size
        self.searched = 0
        return self._end_of_lines(size)


def _more(now: Tally, before: Tally, new: Tally) -> Tally:
    """What a reading counted more than the one before, and the findings that were new in it."""
    for name in ("files", "conversations", "messages", "calls", "results", "skipped"):
        setattr(new, name, getattr(now, name) - getattr(before, name))
    new.crashes = now.crashes
    for name in ("providers", "across", "noted"):
        mine, old = getattr(now, name), getattr(before, name)
        counts = {key: mine.get(key, 0) - old.get(key, 0) for key in {**mine, **old}}
        setattr(new, name, {key: count for key, count in counts.items() if count})
    return new


def _next_record(path: str, at: int, end: int) -> int:
    """Return the first offset from a place on at which a record begins, or the end."""
    if at >= end:
        return end
    with open(path, "rb") as file:
        return min(end, next_record(file, at) or end)


def _before(path: str, at: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(max(0, at - _MARK))
        return file.read(min(at, _MARK))
