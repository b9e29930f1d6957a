"""Find calls and results that a compaction removed, in other files that still have them.

The files are read once, when the first pair lacks a side. Memory has the names of the calls, not their contents.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from glob import escape, glob
from itertools import chain, islice
from typing import Any

from msgspec import Struct, structs

from turnlint import carriers, ledger
from turnlint.carrying.lines import short_body
from turnlint.carrying.writer import MessageWriter
from turnlint.completions import content_of
from turnlint.documents.decode import normal, value_of
from turnlint.documents.edit import part, style_of
from turnlint.documents.locate import locate_all
from turnlint.documents.reread import reread
from turnlint.documents.source import Source, packing_of
from turnlint.errors import DecompressionError, SourceError
from turnlint.ledger import Answered, Ledger, usable
from turnlint.lifecycle import state_of
from turnlint.model import Break, Call, Message, Omitted, Pointer, Record, Result, Transcript, Wire
from turnlint.neighbours import sentence_of
from turnlint.reading import Foreign, Reading
from turnlint.repair.spelling import can_write, spell_call, spell_result
from turnlint.text import pluralize

MAX_CALLS = 50_000
"""Limit of the calls of all files of a history; further calls are not found."""
MAX_READINGS = 8
"""Limit of the different calls with one id. Beyond it, the id identifies none."""
MAX_BLOCKS_BESIDE = 100
"""Limit of the blocks of a message that are searched for its first calls."""
MAX_BYTES = 1 << 25
"""Limit of the bytes of all messages that repairs of one source take from a history."""
MAX_LOOKUPS = 1000
"""Limit of the readings of a history for the repairs of one source: a compressed file is read from its start."""
MAX_FILES_BESIDE = 100
MIN_EVIDENCE_BYTES = 12
"""A shorter result, such as `"ok"`, may be that of many calls."""
MIN_RANDOM_LETTERS, MIN_CHANGES = 8, 2
_STYLE = style_of(b"")
_LETTERS = re.compile(r"[A-Za-z0-9]+")
_RUNS = re.compile(r"[a-z]+|[A-Z]+|[0-9]+")


class _Place(Struct, frozen=True, gc=False):
    """A call or a result in a file of the history. Its body is short."""

    piece: Call | Result
    wire: Wire
    source: Source
    line: int
    offset: int
    size: int
    prefix: Pointer
    breaks: tuple[Break, ...]
    at: Pointer
    """Pointer of the message in the record."""
    beside: tuple[str, ...]
    """The ids of the calls of its message."""


class _Found(Struct):
    """A call in a file of the history, with its different results."""

    call: _Place
    results: tuple[_Place, ...] = ()
    sessions: tuple[str, ...] = ()
    """The names of the conversations that have it."""


class Index:
    """The calls of some files, by their ids."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self.sources = [*sources]
        """The files that the user named. Files beside a log are read too, each once in a run."""
        self.problems: list[str] = []
        """A sentence for each file whose calls are not all known."""
        self.calls: dict[str, tuple[_Found, ...]] = {}
        self.known: set[str] = set()
        """The names of the files that were read."""
        self.count = 0

    def of(self, identifier: str, sources: Sequence[Source]) -> list[_Found]:
        """Return the different calls with an id in some files."""
        for source in sources:
            if source.name not in self.known:
                self.known.add(source.name)
                self._read(source)
        names = {source.name for source in sources}
        return [one for one in self.calls.get(identifier, ()) if one.call.source.name in names]

    def _read(self, source: Source) -> None:
        reading = Reading(source, None, ())
        try:
            for item in chain.from_iterable(reading.batches(None)):
                if isinstance(item, Transcript):
                    self._add(source, item)
                elif isinstance(item, Foreign):
                    self.tell(source, f"{sentence_of(item.near)}; nothing is taken from it")
                elif isinstance(item, SourceError):
                    self.tell(source, f"{item.reason}; nothing further is taken from it")
        except SourceError as error:
            self.tell(source, f"{error.reason}; nothing is taken from it")
        except (OSError, DecompressionError) as error:
            self.tell(source, f"{error}; nothing further is taken from it")
        if reading.gaps:
            count = pluralize(len(reading.gaps), "record")
            self.tell(source, f"{count} cannot be read; calls in them are not found")
        if self.count >= MAX_CALLS:
            self.tell(source, f"only the first {MAX_CALLS:,} calls are known")

    def tell(self, source: Source, reason: str) -> None:
        """Keep a sentence about a file that the user named, once."""
        said = f"{source.name}: {reason}"
        if source in self.sources and said not in self.problems:
            self.problems.append(said)

    def _add(self, source: Source, transcript: Transcript) -> None:
        """Add the calls of a conversation, with the digests of their results."""
        pairs = ledger.read(transcript.messages, transcript.wire, transcript.answer_at, transcript.gaps)
        for one in pairs.interactions:
            call = one.asked.call
            if call.id is None or not usable(call.id) or call.server:
                continue
            found = self._entry(source, transcript, transcript.messages[one.asked.message], call)
            if found is None:
                continue
            if transcript.id and transcript.id not in found.sessions and len(found.sessions) < MAX_READINGS:
                found.sessions += (transcript.id,)
            result = one.answer.result if one.answer else None
            if (
                one.answer is None
                or result is None
                or result.synthetic
                or state_of(result) == "pending"
                or len(found.results) >= MAX_READINGS
            ):
                continue
            body = _short(result)
            if all(other.piece.body != body for other in found.results):
                message = transcript.messages[one.answer.message]
                found.results += (_placed(result, body, source, transcript, message),)

    def _entry(self, source: Source, transcript: Transcript, message: Message, call: Call) -> _Found | None:
        """Return the entry of a call, which is made where it is new; none beyond a limit."""
        name, body = call.id or "", _short(call)
        same = self.calls.get(name, ())
        for one in same:
            if (one.call.piece.name, one.call.piece.body) == (call.name, body):
                return one
        if self.count >= MAX_CALLS or len(same) >= MAX_READINGS:
            return None
        self.count += 1
        found = _Found(_placed(call, body, source, transcript, message))
        self.calls[name] = (*same, found)
        return found


def _placed(
    piece: Call | Result, body: bytes, source: Source, transcript: Transcript, message: Message
) -> _Place:
    """Return the place of a piece, without the bytes of its record."""
    record = message.record
    blocks = islice(message.blocks, MAX_BLOCKS_BESIDE) if isinstance(piece, Call) else ()
    names = (one.id for one in blocks if isinstance(one, Call) and one.id)
    return _Place(
        structs.replace(piece, body=body), transcript.wire, source, record.line, record.offset,
        len(record.data) or record.size, record.prefix, record.breaks, message.at, tuple(islice(names, MAX_READINGS)),
    )  # fmt: skip


class History:
    """The history of one source: the named files, and the files of its own session beside it."""

    def __init__(self, named: Index, path: str | None) -> None:
        self.named = named
        self.path = path
        self.own: dict[str, tuple[Source, ...]] = {}
        """The files beside the source, by the format of a conversation."""
        self.known: dict[tuple[str, type, str], Omitted | None] = {}
        self.size = 0
        self.lookups = 0

    def omitted(self, transcript: Transcript, pairs: Ledger) -> tuple[Omitted, ...]:
        """Return the missing sides of pairs, where exactly one piece can be meant."""
        if transcript.dead or transcript.gaps:
            return ()
        known = {(type(one.piece), one.piece.id) for one in transcript.omitted}
        calls = Counter(one.asked.call.id for one in pairs.interactions)
        results = Counter(one.result.id for one in pairs.orphans)
        found: dict[tuple[type, str], tuple[_Place, Call | None]] = {}
        for orphan in pairs.orphans:
            name = orphan.result.id
            key = Call, name or ""
            if usable(name) and not calls[name] and key not in known and key not in found:
                place = self._call_of(transcript, orphan)
                if place is not None:
                    found[key] = place, None
        for one in pairs.unanswered:
            name, call = one.asked.call.id, one.asked.call
            if (
                name is None
                or not usable(name)
                or calls[name] > 1
                or results[name]
                or call.server
                or one.answer
            ):
                continue
            place = self._result_of(transcript, call) if (Result, name) not in known else None
            if place is not None:
                found[Result, name] = place, call
        return tuple(self._with_bytes(transcript, found))

    def _call_of(self, transcript: Transcript, orphan: Answered) -> _Place | None:
        for sources in (self.named.sources, self._beside(transcript.wire.name)):
            found = _meant(self.named.of(orphan.result.id or "", sources), transcript, orphan)
            is_own = found is not None and found.call.wire.name == transcript.wire.name
            if found is not None and can_write(_writer(transcript), is_own=is_own):
                return found.call
        return None

    def _result_of(self, transcript: Transcript, call: Call) -> _Place | None:
        """Return the only result of a call."""
        for sources in (self.named.sources, self._beside(transcript.wire.name)):
            found = self.named.of(call.id or "", sources)
            same = [one for one in found if one.call.piece.name == call.name]
            is_sure = is_random(call.id or "") or (
                len(same) == 1
                and transcript.id in same[0].sessions
                and same[0].call.piece.body == _short(call)
            )
            if len(found) == len(same) == 1 and is_sure and len(same[0].results) == 1:
                return same[0].results[0]
        return None

    def _beside(self, format_name: str) -> Sequence[Source]:
        if format_name not in self.own:
            carrier = carriers.of_wire(format_name)
            patterns = carrier.beside if carrier is not None and self.path is not None else None
            paths = islice(_matches(self.path, patterns), MAX_FILES_BESIDE) if patterns and self.path else ()
            self.own[format_name] = tuple(Source(one, one) for one in paths)
        return self.own[format_name]

    def _with_bytes(
        self, transcript: Transcript, found: dict[tuple[type, str], tuple[_Place, Call | None]]
    ) -> Iterator[Omitted]:
        """Yield the pieces that the format can write, with the bytes of their messages."""
        files: dict[str, list[_Place]] = {}
        for key, (place, _) in found.items():
            if (place.source.name, *key) not in self.known:
                self.known[(place.source.name, *key)] = None
                files.setdefault(place.source.name, []).append(place)
        for some in files.values():
            self._load(some)
        writer = _writer(transcript)
        for key, (place, call) in found.items():
            one = self.known[(place.source.name, *key)]
            if one is None:
                continue
            if call is None:
                spelled = spell_call(one, one.raw, writer, transcript.wire, _STYLE)
            else:
                spelled = spell_result(one, one.raw, writer, transcript.wire, _STYLE, call)
            if spelled is not None:
                yield one

    def _load(self, some: list[_Place]) -> None:
        """Read the messages of some places of one file, within the limits."""
        source = some[0].source
        self.lookups += packing_of(source) is not None
        if self.lookups > MAX_LOOKUPS or self.size > MAX_BYTES:
            self.named.tell(source, "too many pieces are missing; some are not looked up")
            return
        records: dict[int, tuple[Record, list[_Place]]] = {}
        for one in some:
            record = Record(one.line, one.offset, b"", one.prefix, size=one.size, breaks=one.breaks)
            records.setdefault(one.offset, (record, []))[1].append(one)
        try:
            for group in reread(source, [*records.values()], lambda item: (item[0],)):
                for record, places in group:
                    self._take(source, record, places)
        except (SourceError, OSError, DecompressionError):
            return

    def _take(self, source: Source, record: Record, places: list[_Place]) -> None:
        """Keep the bytes of some places of a record, if the file did not change meanwhile."""
        wanted = {(*one.at, *one.piece.at): one for one in places}
        spans = locate_all(record.data, [at for place, one in wanted.items() for at in (place, one.at)])
        messages: dict[Pointer, bytes] = {}
        for place, one in wanted.items():
            found, start, end = spans[place]
            there, first, last = spans[one.at]
            raw = record.data[start:end] if found == place else b""
            identifier = part(raw, one.piece.keys.id)
            if there != one.at or identifier is None or value_of(identifier) != one.piece.id:
                continue
            if one.at not in messages:
                messages[one.at] = record.data[first:last]
                self.size += last - first
            self.size += len(raw)
            if self.size > MAX_BYTES:
                return
            beside = frozenset(one.beside)
            key = source.name, type(one.piece), one.piece.id or ""
            where = Record(one.line, -1, b"")
            self.known[key] = Omitted(
                one.piece, one.wire, where, (), beside, source.name, messages[one.at], raw
            )  # fmt: skip


def _writer(transcript: Transcript) -> MessageWriter | None:
    carrier = carriers.of_wire(transcript.wire.name)
    return carrier.writer if carrier else None


def _meant(found: list[_Found], transcript: Transcript, orphan: Answered) -> _Found | None:
    """Return the only call that a result can answer; none where it may be another's."""
    result = orphan.result
    body = _short(result)
    fitting = [one for one in found if result.name in (None, one.call.piece.name)]
    sure = [
        one
        for one in fitting
        if (len(body) >= MIN_EVIDENCE_BYTES and any(other.piece.body == body for other in one.results))
        or transcript.id in one.sessions
    ]
    if len(sure) == 1:
        return sure[0]
    return fitting[0] if len(found) == len(fitting) == 1 and is_random(result.id or "") else None


def is_random(identifier: str) -> bool:
    """Whether an id is so long and irregular that no two calls get it by chance: counters and names are not."""
    return any(
        len(word) >= MIN_RANDOM_LETTERS and len(_RUNS.findall(word)) > MIN_CHANGES
        for word in _LETTERS.findall(identifier)
    )


def _matches(path: str, patterns: Any) -> Iterator[str]:
    """Yield the other files that a format keeps beside a file, in the order of their names."""
    found = chain.from_iterable(sorted(glob(pattern)) for pattern in patterns(escape(path)))
    return (one for one in dict.fromkeys(found) if one != path)


def _short(piece: Call | Result) -> bytes:
    """Return the body of a piece in the form for comparison, with a digest for a long one."""
    body = short_body(piece)
    return content_of(body) if isinstance(piece, Result) else normal(body)
