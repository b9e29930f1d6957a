"""Read the conversations of one source.

The module frames records, finds the format, decodes, and parses. In a mixed file, a record that one format
cannot read goes to the format that it matches. Damage is yielded beside the conversations, in the order of
the file.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from turnlint import carriers
from turnlint.carrying.carrier import AcceptedConversation, Carrier, Reader, Stray
from turnlint.carrying.envelope import named_groups
from turnlint.documents.decode import Decoded
from turnlint.documents.framing import frame, split
from turnlint.documents.gate import Ended, Gate, Scanner, Span
from turnlint.documents.source import Guarded, Part, Progress, Source, open_source, size_of
from turnlint.documents.trouble import Damage, Trouble
from turnlint.errors import SourceError
from turnlint.model import Call, Gap, Message, Other, Record, Result, Transcript
from turnlint.neighbours import NEEDED, Near, container_of, empty_request_in, is_body, near_to
from turnlint.neighbours.families import OTHER_CHAT
from turnlint.neighbours.guards import neighbour_in, similar_to
from turnlint.neighbours.spellings import Spelling, Survey, suspected_in
from turnlint.sampling import owner_of, sample
from turnlint.text import name_key

if TYPE_CHECKING:
    from turnlint.documents.selection import Selection

TOO_DEEP = "nested deeper than the parser allows"


class Foreign(Struct, frozen=True):
    """A source in no supported format."""

    source: Source
    near: Near | None = None
    """The format that it resembles, if known."""


Item = Transcript | Damage | Foreign
Watch = Callable[[Record], None]
"""Function that is called with every record before it is parsed, while its bytes are in memory."""
Batch = Iterable[Transcript | tuple[Damage, ...] | Foreign | SourceError]
"""The items of one record, its damage together; at the end, the error that stopped reading, if any."""
Framed = Record | Damage | Ended
Look = Callable[[Carrier, Reader, list[Record]], Scanner | None]
"""Function that chooses a scanner for a log, by its format and its first records."""
FEW = 20
"""Fewer records than this are read without a scanner,"""
LONG = 1 << 16
"""unless they have at least this many bytes together."""
MAX_GAPS = 100
"""Limit of the unreadable records that are kept one by one."""
MOST_WAITING = 100
"""Limit of the records without a conversation before their damage is reported."""


def transcripts(source: Source, format_name: str | None = None) -> Iterator[Transcript]:
    """Return the conversations of a source, each with its index. Raises `SourceError` where it cannot be read."""
    return (item for item in read(source, format_name) if isinstance(item, Transcript))


def read(
    source: Source,
    format_name: str | None = None,
    progress: Progress | None = None,
    prefer: tuple[str, ...] = (),
) -> Iterator[Item]:
    """Yield all items of a source. Raises `SourceError` after the readable items, where it cannot be read."""
    return Reading(source, format_name, prefer).items(progress)


def batches(
    source: Source, format_name: str | None, progress: Progress | None = None, prefer: tuple[str, ...] = (),
    watch: Watch | None = None,
) -> Iterator[Batch]:  # fmt: skip
    """Yield all items of a source, record by record. Raises `SourceError` where it cannot be opened."""
    return Reading(source, format_name, prefer, watch).batches(progress)


def glance(source: Source, format_name: str | None, prefer: tuple[str, ...] = ()) -> Part | None:
    """Return a plain file as a part, if its first records are lines with a conversation each; else nothing.

    Raises `SourceError` where it cannot be opened.
    """
    reading = Reading(source, format_name, prefer)
    with open_source(source) as opened:
        stream = Guarded(opened, source.name, None)
        framed = frame(stream, source.name, carriers.holds_records, reading.gate, limit=source.limit)
        if container_of(stream.peek(NEEDED)):
            return None
        head, carrier, _ = sample(framed, format_name, is_log=source.is_log, prefer=prefer)
        if carrier is None or reading.gate.lines is None:
            return None
        first = [item for item in head if isinstance(item, Record)][:3]
    for _ in chain.from_iterable(reading.of(carrier, first)):
        pass
    size = size_of(source)
    return None if reading.held else Part(0, size, size, carrier.name)


def again(name: str, carrier: Carrier, records: Iterable[Record], format_name: str | None) -> list[Item]:
    """Return the items of some records from a source of this format, parsed by themselves."""
    reading = Reading(Source(name, None), format_name, ())
    found: list[Item] = []
    for item in chain.from_iterable(reading.of(carrier, records)):
        if isinstance(item, tuple):
            found += item
        elif not isinstance(item, SourceError):
            found.append(item)
    return found


class Reading:
    """The parsing of one source."""

    def __init__(
        self, source: Source, format_name: str | None, prefer: tuple[str, ...], watch: Watch | None = None
    ) -> None:
        self.source = source
        self.watch = watch
        self.prefer = prefer
        self.format = format_name
        self.log_format: str | None = None
        """The format of the source, in which records without a format of their own are parsed."""
        self.readers: dict[str, Reader] = {}
        self.kept = False
        self.once = not source.again
        self.count = 0
        self.gate = Gate()
        self.unread: Counter[Near] = Counter()
        """Conversations of unsupported formats."""
        self.gaps: list[Gap] = []
        """Unreadable records."""
        self.survey: Survey | None = None
        """The spellings of the file, if a conversation has an unusual spelling."""
        self.collector: Survey | None = None
        """Survey that counts the conversations instead of yielding them."""
        self.whole = structs.replace(source, part=None, selection=None, edits=(), grows=False)
        """The file of which the source is a part or a repair."""
        self.has_second_reading = self.whole.again
        self.waiting: list[Transcript | Stray] | None = []
        """Conversations of a source that cannot be read again, until its end; `None` after the end."""
        self.survey_so_far = Survey()
        self.held = False
        """Whether a conversation waited for other records, or for the end."""

    @property
    def skipped(self) -> int:
        """Return the number of records that hold only bookkeeping of their format, and no message."""
        return sum(getattr(reader, "skipped", 0) for reader in self.readers.values())

    def batches(self, progress: Progress | None, look: Look | None = None) -> Iterator[Batch]:
        part = self.source.part
        self.gate.returned = part is not None and part.returned
        self.gate.grows = self.source.grows
        with open_source(self.source) as opened:
            stream = Guarded(opened, self.source.name, progress)
            if part is None and (near := container_of(stream.peek(NEEDED))):
                yield (Foreign(self.source, near),)
                return
            framed = frame(
                stream, self.source.name, carriers.holds_records, self.gate, part, self.source.limit
            )
            if part:
                head, carrier = list(islice(framed, FEW)), carriers.carrier(part.format)
                records = [one for one in head if isinstance(one, Record)]
            else:
                head, found, near = sample(framed, self.format, is_log=self.source.is_log, prefer=self.prefer)
                if found is None and near is None and self.source.fallback is not None:
                    found = carriers.carrier(self.source.fallback)
                carrier = found or carriers.carrier(carriers.NAMES[0])
                records = [one for one in head if isinstance(one, Record)]
                if found is None and records:
                    yield (Foreign(self.source, near or empty_request_in(records)),)
                    head, framed, records = [], iter(()), []
            if look is not None and (len(head) >= FEW or sum(len(one.data) for one in records) >= LONG):
                self.gate.scanner = look(carrier, self._open(carrier), records)
            selection = self.source.selection
            rest = chain(self._unsure(head), framed)
            items = self._read(carrier, self._unsure(self._selected(selection, head)) if selection else rest)
            yield from items if carrier.session or self.format else self._known(items)
            if stream.damage:
                detail = f"{stream.damage}, after {stream.count:,} bytes"
                yield ((Damage(Record(1, 0, b""), Trouble("compressed-badly", 0, 0, (), detail)),),)
        if stream.failure:
            yield (stream.failure,)

    def _known(self, found: Iterator[Batch]) -> Iterator[Batch]:
        """Yield the items of a source, unless all of its conversations are of unsupported formats."""
        waiting: list[Batch] = []
        count = 0
        for batch in found:
            items = iter(batch)
            held: list[Any] = []
            waiting.append(held)
            for item in items:
                held.append(_copied(item))
                count += 1
                if self.count + self.gate.passed or count >= MOST_WAITING:
                    yield from waiting[:-1]
                    yield chain(held, items)
                    yield from found
                    return
            if self.count + self.gate.passed:
                yield from waiting
                yield from found
                return
        if self.unread and not self.gate.passed:
            ((near, _),) = self.unread.most_common(1)
            yield (Foreign(self.source, near),)
        else:
            yield from waiting

    def _selected(self, selection: "Selection", head: list[Framed]) -> Iterator[Framed]:
        """Yield the selected records, those among the first records of the source and all others."""
        after = max((one.line for one in head if isinstance(one, Record)), default=0)
        before = selection.passed_before(one.line for one in head if isinstance(one, Record))
        passed = 0
        for item in head:
            if isinstance(item, Record) and item.line not in before:
                continue
            if isinstance(item, Record):
                self.gate.passed += before[item.line] - passed
                passed = before[item.line]
            yield item
        for count, record in selection.records(self.source, after):
            self.gate.passed += count - passed
            passed = count
            yield record

    def _unsure(self, head: Iterable[Framed]) -> Iterator[Framed]:
        """Yield those of the first records that need parsing: they were framed before the scanner was chosen."""
        scanner = self.gate.scanner
        for item in head:
            if scanner is None or not isinstance(item, Record) or not _is_line(item):
                yield item
                continue
            scan = scanner.scan(item.data, item.line, item.offset)
            for one in scan.spans:
                yield one if isinstance(one, Ended) else item
            self.gate.passed += scan.passed

    def items(self, progress: Progress | None = None) -> Iterator[Item]:
        """Yield all items. Raises `SourceError` after the readable items, where the source cannot be read."""
        for item in chain.from_iterable(self.batches(progress)):
            if isinstance(item, SourceError):
                raise item
            if isinstance(item, tuple):
                yield from item
            else:
                yield item

    def of(self, carrier: Carrier, items: Iterable[Framed]) -> Iterator[Batch]:
        """Yield the items of records whose format is known."""
        self.kept = True
        return self._read(carrier, items)

    def _read(self, carrier: Carrier, items: Iterable[Framed]) -> Iterator[Batch]:
        self.log_format = carrier.name
        self._open(carrier)
        for item in items:
            if isinstance(item, Record):
                if batch := self._take(carrier, item):
                    yield batch
            elif isinstance(item, Damage):
                if item.trouble.kind in ("too-long", "utf-16"):
                    self._add_gap(item.record)
                yield ((item,),)
            else:
                yield self._items_of(item.found)
            del item  # a long record is released before the next one is read
        for reader in self.readers.values():
            for found in reader.finish():
                self.held = True
                yield self._items_of((found,))
        if self.waiting:
            yield self._take_waiting()

    def _take(self, carrier: Carrier, record: Record) -> Batch:
        carrier, decoded = self._owned(carrier, record)
        return (
            self._parts(carrier, decoded)
            if decoded.troubles or decoded.rest
            else self._feed(carrier, decoded)
        )

    def _owned(self, carrier: Carrier, record: Record) -> tuple[Carrier, Decoded[Any]]:
        """Return a record in the format that it matches: a record with a whole conversation depends on no other."""
        if record.known is not None:
            owner = carriers.carrier(record.known.format)
            self._open(owner)
            return owner, self._decode(owner, record)
        decoded = self._decode(carrier, record)
        if self.format:
            return carrier, decoded
        owner, decoded = owner_of(carrier, decoded, self.prefer)
        self._open(owner)
        return owner, decoded

    def _parts(self, carrier: Carrier, decoded: Decoded[Any]) -> Batch:
        """Yield the damage of a record, its items, and those of other records on its line."""
        self._note_gap(decoded)
        yield _troubles(decoded)
        following = split(decoded.rest) if decoded.rest else ()
        yield from self._feed(carrier, decoded)
        for number, one in enumerate(following):
            if number:
                yield (Damage(one, Trouble("joined-records", 0, 1)),)
            if self._is_accepted(one):
                continue
            owner, decoded = self._owned(carrier, one)
            self._note_gap(decoded)
            yield _troubles(decoded)
            yield from self._feed(owner, decoded)

    def _is_accepted(self, record: Record) -> bool:
        """Whether the scanner accepts a record that shares its line with others, so that it needs no parsing."""
        scanner = self.gate.scanner
        if scanner is None or not scanner.decides_at_once or b"\n" in record.data or record.breaks:
            return False
        scan = scanner.scan(record.data, record.line, record.offset)
        for span in scan.spans:
            record.known = span.known if isinstance(span, Span) else None
            return False
        self.gate.passed += scan.passed
        return scan.passed > 0

    def _note_gap(self, decoded: Decoded[Any]) -> None:
        """Note an unreadable record, with the conversations that it names."""
        kinds = [one.kind for one in decoded.troubles]
        is_followed = decoded.rest is None and "joined-records" in kinds
        if not kinds or (decoded.value is not None and not is_followed):
            return
        is_cut = kinds[-1] == "torn"
        self._add_gap(decoded.record, is_cut=is_cut, names=named_groups(decoded.record.data))

    def _add_gap(self, record: Record, *, is_cut: bool = False, names: frozenset[str] = frozenset()) -> None:
        """Note an unreadable record. Behind the limit, the last value represents all further records."""
        if len(self.gaps) < MAX_GAPS:
            self.gaps.append(Gap(record.line, record.offset, record.offset, is_cut=is_cut, names=names))
        else:
            last = structs.replace(self.gaps[-1], until=record.offset, is_cut=False, names=frozenset())
            self.gaps[-1] = last

    def _gaps_of(self, transcript: Transcript) -> tuple[Gap, ...]:
        """Return the unreadable records that may belong to a conversation."""
        name = None if transcript.wire.like else transcript.id
        return tuple(one for one in self.gaps if not one.names or name is None or name in one.names)

    def _decode(self, carrier: Carrier, record: Record) -> Decoded[Any]:
        record.kept, record.once = self.kept, self.once
        if self.watch:
            self.watch(record)
        return carrier.shape.read(record, plain=True if record.known is not None else None)

    def _feed(self, carrier: Carrier, decoded: Decoded[Any]) -> Batch:
        """Give a record to the file's reader, and in a mixed file to the reader of the format that it matches."""
        try:
            self.held |= carrier.session  # all records of a session decide what is replayed
            found = self.readers[carrier.name].feed(decoded)
        except RecursionError:  # the next decoder is called from a deeper frame
            self._add_gap(decoded.record)
            return ((Damage(decoded.record, Trouble("too-deep", 0, 1, (), TOO_DEEP)),),)
        if not self.format and decoded.record.data and any(map(_fits_badly, found)):
            elsewhere = self._given_away(carrier, decoded.record, found)
            found = found if elsewhere is None else elsewhere
        return self._items_of(found) if found else ()

    def _items_of(self, found: Iterable[Transcript | Stray]) -> Batch:
        for one in found:
            if isinstance(one, AcceptedConversation):
                self.count += 1
            elif isinstance(one, Transcript):
                if self.collector is not None:
                    self.collector.add(one, self.whole)
                elif not self.format and self._has_to_wait(one):
                    continue
                elif not self.format and (near := self._near(one)) is not None:
                    self.unread[near] += 1
                    continue
                gaps = self._gaps_of(one) if self.gaps and one.spread else ()
                yield structs.replace(one, index=self.count + self.gate.passed, gaps=gaps)
                self.count += 1
            elif not one.expected and (near := self._unread_body(one)) is not None:
                self.unread[near] += 1
            elif not one.expected and self.waiting:
                self.waiting.append(one)
            elif not one.expected:
                yield (Damage(one.record, _stray(one)),)

    def _near(self, transcript: Transcript) -> Near | None:
        """Return the name of another format, if a conversation or all of its file is written in it."""
        near = neighbour_in(transcript, self.source)
        if near is not None or not (suspected := suspected_in(transcript)):
            return near
        survey = self._survey(suspected) if self.has_second_reading else self.survey_so_far
        return similar_to(transcript) if survey.is_format(transcript, suspected) else None

    def _survey(self, suspected: frozenset[Spelling]) -> Survey:
        """Return the spellings of the file. It is read at most twice more: until they are settled, and to its end."""
        if self.survey is None:
            self.survey = self._count(suspected)
        elif not (self.survey.is_complete or self.survey.is_settled(suspected)):
            self.survey = self._count(None)
        return self.survey

    def _count(self, suspected: frozenset[Spelling] | None) -> Survey:
        survey = Survey()
        reading = Reading(self.whole, None, self.prefer)
        reading.collector = survey
        for _ in chain.from_iterable(reading.batches(None)):
            if suspected is not None and survey.is_settled(suspected):
                return survey
        survey.is_complete = True
        return survey

    def _has_to_wait(self, transcript: Transcript) -> bool:
        """Whether a conversation of a source that cannot be read again waits for the rest of the source."""
        if self.has_second_reading or self.waiting is None:
            return False
        self.survey_so_far.add(transcript, self.source)
        suspected = suspected_in(transcript)
        is_open = bool(suspected) and not self.survey_so_far.is_settled(suspected)
        # A conversation behind a waiting one waits too, so that findings keep the order of the file.
        if not (is_open or self.waiting) or len(self.waiting) >= MOST_WAITING:
            return False
        self.waiting.append(transcript)
        return True

    def _take_waiting(self) -> Batch:
        """Yield the conversations that waited for the end of the source."""
        waiting, self.waiting = self.waiting or [], None
        self.survey_so_far.conversations += self.gate.passed
        passed = getattr(self.gate.scanner, "passed", None)
        # A call that a scanner accepted has the spelling of the wire.
        self.survey_so_far.is_of_wire |= passed is not None and passed.calls + passed.results > 0
        yield from self._items_of(waiting)

    def _unread_body(self, stray: Stray) -> Near | None:
        """Return the name of an unsupported format of a conversation: the same as for a file of its own."""
        if self.format or stray.misfit is not None or not is_body(stray.record):
            return None
        return near_to([stray.record])

    def _given_away(
        self, carrier: Carrier, record: Record, found: list[Transcript | Stray]
    ) -> list[Transcript | Stray] | None:
        """Return the items of a record in the other format that it matches, or those of an unknown format."""
        other, _ = carriers.best_for([record])
        if other is None:
            if carriers.score(carrier, record) >= 0:
                return None
            if not any(isinstance(one, Transcript) for one in found):
                return [Stray(record, None)]
            self.unread[Near(OTHER_CHAT)] += 1
            return []
        if other.name == carrier.name:
            return None
        self.held |= other.session
        return self._open(other).feed(other.shape.read(record))

    def _open(self, carrier: Carrier) -> Reader:
        """Return the one reader of this source for a format."""
        if carrier.name not in self.readers:
            self.readers[carrier.name] = carrier.open()
        return self.readers[carrier.name]


def _copied(item: Any) -> Any:
    """Return damage with a record of its own, whose bytes stay when the record is released.

    Damages of one record share the copy: their positions are found in one pass over the record.
    """
    if not isinstance(item, tuple):
        return item
    copies = {id(one.record): structs.replace(one.record) for one in item}
    return tuple(structs.replace(one, record=copies[id(one.record)]) for one in item)


def _is_line(record: Record) -> bool:
    """Whether a record is exactly one line; a record behind a byte order mark is not."""
    return not (record.prefix or record.breaks) and record.column == 1 and b"\n" not in record.data


def _troubles(decoded: Decoded[Any]) -> tuple[Damage, ...]:
    return tuple(Damage(decoded.record, trouble) for trouble in decoded.troubles)


def _stray(stray: Stray) -> Trouble:
    misfit = stray.misfit
    found = f": {name_key(misfit.at)}expected {misfit.expected}, got {misfit.found}" if misfit else ""
    return Trouble("stray", 0, 0, misfit.at if misfit else (), found)


def _fits_badly(found: Transcript | Stray) -> bool:
    if isinstance(found, AcceptedConversation):
        return False
    return isinstance(found, Stray) or bool(found.misfits) or any(map(_is_foreign, found.messages))


def _is_foreign(message: Message) -> bool:
    if message.dialect is not None:
        return True
    for block in message.blocks:
        kind = type(block)
        if (kind is Call or kind is Result or kind is Other) and block.dialect is not None:  # type: ignore[union-attr]
            return True
    return False
