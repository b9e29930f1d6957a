"""Describe how a file holds its records, and the evidence of the first records for each format.

One pass over the frames of a source counts the records, their layout and the sampled ones. In an agent's own
log it also collects the models, since such a log has no request with a model. It parses no conversations.
"""

import os
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from msgspec import Raw, Struct, json

from turnlint import carriers
from turnlint.carrying.carrier import SPEAKS
from turnlint.carrying.raws import NOTHING, head, string
from turnlint.documents.census import is_plain
from turnlint.documents.framing import frame
from turnlint.documents.source import Guarded, Progress, Source, open_source, packing_at, says_lines
from turnlint.inspecting.facts import Container, Evidence, Layout, Recognition
from turnlint.model import Record
from turnlint.neighbours import NEEDED, Near, container_of
from turnlint.sampling import sample

MOST_MODELS = 1000
NO_MODEL = "<synthetic>"
"""Name in logs of Claude Code where no model wrote the message (seen 2026-11)."""


class Framed(Struct):
    """The result of the pass over the frames."""

    container: Container
    recognition: Recognition
    head: list[Record]
    """The first records."""
    models: Counter[str]
    near: Near | None
    """The unsupported format that the source resembles."""


class _Speaker(Struct, gc=False, rename={"model_id": "modelId"}):
    model: Raw = NOTHING
    model_id: Raw = NOTHING


class _Line(_Speaker, gc=False, rename={"model_id": "modelId"}):
    message: Raw = NOTHING
    payload: Raw = NOTHING


_line = json.Decoder(_Line)
_speaker = json.Decoder(_Speaker)


def framed(source: Source, format_name: str | None, progress: Progress | None) -> Framed:
    """Pass over the frames of a source. Raises `SourceError` where it cannot be read."""
    assert source.path is not None
    with open_source(source) as opened:
        stream = Guarded(opened, source.name, progress)
        near = container_of(stream.peek(NEEDED))
        items = iter(()) if near else frame(stream, source.name, carriers.holds_records, limit=source.limit)
        taken, carrier, look = sample(items, format_name, is_log=False)
        records = [item for item in taken if isinstance(item, Record)]
        is_session = carrier is not None and carrier.session
        models: Counter[str] = Counter()
        layout = _Layouts(source.name)
        for item in chain(taken, items):
            if not isinstance(item, Record):
                continue
            layout.take(item)
            if is_session and len(models) < MOST_MODELS:
                models.update(_models(item.data))
    if stream.failure:
        raise stream.failure
    size = os.path.getsize(source.path)
    container = Container(
        packing=packing_at(source.path),
        layout=layout.kind,
        size=size,
        unpacked=stream.count,
        records=layout.records,
    )
    found = recognise(records, carrier.name if carrier else None, told=bool(format_name))
    return Framed(container, found, records, models, near or look)


def recognise(records: list[Record], name: str | None, *, told: bool) -> Recognition:
    """Return the evidence of some records for each format, the chosen one first."""
    by_record = [_scores(record) for record in records]
    found = [
        _evidence(name, [scores[number] for scores in by_record])
        for number, name in enumerate(carriers.NAMES)
    ]
    chosen = next((one for one in found if one.format == name), None)
    others = [one for one in found if one is not chosen and (one.own or one.possible)]
    others.sort(key=lambda one: (-one.own, one.against, -one.possible, one.format))
    return Recognition(sampled=len(records), told=told, format=chosen, others=tuple(others))


def _scores(record: Record) -> list[int]:
    """Score a record for each format. A format without a mark in the bytes of the record scores nothing."""
    from turnlint.carriers._marks import Sample, speakers
    from turnlint.documents import exact

    plain = is_plain(record.data)
    exactly = None if plain else exact.read(record.data)
    speaking = {*speakers(carriers.NAMES, Sample([record.data]))}
    return [
        carriers.score(carriers.carrier(name), record, plain=plain, exactly=exactly)
        if name in speaking
        else 0
        for name in carriers.NAMES
    ]


def _evidence(name: str, scores: list[int]) -> Evidence:
    return Evidence(
        format=name,
        title=carriers.carrier(name).title,
        own=sum(score >= SPEAKS for score in scores),
        possible=sum(0 < score < SPEAKS for score in scores),
        against=sum(score < 0 for score in scores),
    )


class _Layouts:
    """The layout of the records so far in their file."""

    def __init__(self, name: str) -> None:
        self.says_lines = says_lines(name)
        self.records = 0
        self.elements = 0
        self.spanning = 0

    def take(self, record: Record) -> None:
        self.records += 1
        self.elements += bool(record.prefix)
        self.spanning += b"\n" in record.data.strip()

    @property
    def kind(self) -> Layout:
        if not self.records:
            return "nothing"
        if self.elements == self.records:
            return "array"
        if self.records == 1 and (self.spanning or not self.says_lines):
            return "document"
        return "documents" if self.spanning else "lines"


def _models(data: bytes) -> Iterator[str]:
    """Yield the models that a record of a session names: for all of it, for its message, for a turn."""
    try:
        line = _line.decode(data)
    except (ValueError, RecursionError):
        return
    inner = [_speaker.decode(raw) for raw in (line.message, line.payload) if head(raw) == b"{"]
    for one in (line, *inner):
        name = string(one.model) or string(one.model_id)
        if name and name != NO_MODEL:
            yield name
