"""Follow one log that grows: lint the bytes that were appended since the last look.

Where each line is a conversation, each line is read once. Where a conversation spans many lines, the whole
file is read again. Findings of an earlier look are not repeated, and findings that the next line may change
are delayed. A file that was replaced, truncated or rewritten is read from its start. The caller decides when
to look.
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
"""Rules about the end of a conversation: they report nothing while the conversation continues."""
_STEP = 1 << 16
_MARK = 64
"""Number of bytes before the offset that are compared, to detect a file that was rewritten."""


class Note(Struct, frozen=True):
    """A remark about a log and not about its content."""

    name: str
    words: str


class _Stand(Struct, frozen=True):
    """State of a file on the disk."""

    device: int
    inode: int
    size: int
    changed: int

    def is_same_file(self, other: "_Stand") -> bool:
        return (self.device, self.inode) == (other.device, other.inode)


class Growing:
    """A log that is read up to its end at each look."""

    def __init__(self, source: Source, asked: Question, *, rests: bool = True) -> None:
        assert source.path is not None
        self.rests = rests
        """Whether the file existed before the first look, so that it is probably not being written."""
        self.source = source
        self.path = source.path
        self.asked = asked
        self.met: _Stand | None = None
        """State of the file when it was last read."""
        self.seen: _Stand | None = None
        """State of the file at the last look."""
        self.gone = self.failed = self.waits = False
        self.tally = Tally()
        """Counts of the file as it is now."""
        self.told: set[str] = set()
        self.aside: set[str] = set()
        """Paths to which the file was moved."""
        self._begin()

    def _begin(self) -> None:
        """Prepare to read the file from its start."""
        self.part: Part | None = None
        """How its lines are read, where each line is a conversation."""
        self.whole = False
        """Whether the whole file is read at each look."""
        self.offset = self.searched = 0
        self.mark = b""
        self.returned = False
        self.joint = Joint(self.asked.options.views_per_rule)

    def look(self, *, last: bool = False) -> Iterator[Told | Note]:
        """Yield what is new since the last look; the last look also yields findings of an incomplete end."""
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
        """Whether a file in the same folder is the one that had this path before."""
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
        if not self.failed and os.path.exists(self.path):  # the next look reports the deletion
            self.failed = True
            yield Failure(self.source.name, reason)

    # State of the file now.

    def _turned(self, now: _Stand) -> Iterator[Told | Note]:
        """Begin anew if the path has another file, or if the bytes changed before the offset."""
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
        """Whether the bytes before the offset are the same as when they were read."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset - len(self.mark))
                return file.read(len(self.mark)) == self.mark
        except OSError:
            return True  # reading will report the reason

    def _rest_of_the_old(self) -> Iterator[Told | Note]:
        """Yield the events of the last lines of a log that was moved, if it is found under its new name."""
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
        """Whether the way to read the file is known; that takes a first line."""
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
            self.part = None  # reading will report the reason
        self.whole = self.part is None
        return True

    def _is_at_rest(self, before: _Stand | None) -> bool:
        """Whether the file may be read now: a log after each line, a document once it no longer changes."""
        if not self.whole or says_lines(self.source.name):
            return True
        return before == self.seen or (before is None and self.rests)

    def _end_of_lines(self, size: int) -> int:
        """Return the offset after the last complete line that was not read yet, or 0 if there is none."""
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
                self.whole = True  # if it fails again, that run reports it
                return
            if parcel.held and source.path == self.path:  # from here on conversations span several records
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

    # The whole file.

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
                self.waits = True  # its first lines may be missing yet
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
        """Return the offset of the last line where it may be incomplete, and otherwise the size."""
        if not says_lines(self.source.name):
            return size
        self.searched = 0
        return self._end_of_lines(size)


def _more(now: Tally, before: Tally, new: Tally) -> Tally:
    """Return the difference between two readings, and the findings that are new in the second."""
    for name in ("files", "conversations", "messages", "calls", "results", "skipped"):
        setattr(new, name, getattr(now, name) - getattr(before, name))
    new.crashes = now.crashes
    for name in ("providers", "across", "noted"):
        mine, old = getattr(now, name), getattr(before, name)
        counts = {key: mine.get(key, 0) - old.get(key, 0) for key in {**mine, **old}}
        setattr(new, name, {key: count for key, count in counts.items() if count})
    return new


def _next_record(path: str, at: int, end: int) -> int:
    """Return the first offset from `at` on at which a record begins, or the end."""
    if at >= end:
        return end
    with open(path, "rb") as file:
        return min(end, next_record(file, at) or end)


def _before(path: str, at: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(max(0, at - _MARK))
        return file.read(min(at, _MARK))
