"""Inspect one source: its frames, its conversations, then again the few records of reported positions.

A source that can be read only once is copied to a temporary file.
"""

from collections import Counter

from msgspec import structs

from turnlint.documents.piped import at_rest
from turnlint.documents.source import Progress, Source
from turnlint.documents.trouble import Damage
from turnlint.inspecting.container import Framed, framed
from turnlint.inspecting.example import example
from turnlint.inspecting.facts import Content, Inspection, Key, Look, Quirk, Unknown
from turnlint.inspecting.gathering import Gathering, names_of, ordered
from turnlint.inspecting.places import placed_later
from turnlint.inspecting.quirks import QUIRKS
from turnlint.inspecting.tells import nearest
from turnlint.model import Record, Transcript
from turnlint.neighbours import sentence_of
from turnlint.neighbours.families import resembled
from turnlint.neighbours.sketch import Sketch, sketch
from turnlint.providers import Providers
from turnlint.reading import Foreign, read

MOST_LOOKS = 3
MOST_KEYS = 12
_START = 16


def inspect(
    source: Source,
    format_name: str | None,
    providers: Providers,
    *,
    shown: bool,
    progress: Progress | None = None,
) -> Inspection:
    """Return all facts about a source. Raises `SourceError` where it cannot be read."""
    with at_rest(source) as file:
        pass_over = framed(file, format_name, progress)
        gathering = Gathering(providers, pass_over.models)
        damage = _Damaged()
        for item in read(file, format_name):
            if isinstance(item, Transcript):
                gathering.take(item)
            elif isinstance(item, Damage):
                damage.take(item)
            elif isinstance(item, Foreign):
                pass_over.near = item.near
                pass_over.recognition = structs.replace(pass_over.recognition, format=None)
                break
        known = pass_over.recognition.format is not None
        return Inspection(
            path=source.name,
            container=pass_over.container,
            damaged_records=damage.records,
            damage=ordered(damage.kinds),
            recognition=pass_over.recognition,
            content=_content(file, gathering, again=source.again, shown=shown) if known else None,
            unknown=None if known else _unknown(pass_over),
            named=source.named,
        )


class _Damaged:
    """Damage by kind, and the number of damaged records."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.records = 0
        self.last = -1

    def take(self, damage: Damage) -> None:
        self.kinds[damage.trouble.kind] += 1
        self.records += damage.record.offset != self.last
        self.last = damage.record.offset


def _content(source: Source, found: Gathering, *, again: bool, shown: bool) -> Content:
    places = placed_later(source, found.first)
    return Content(
        formats=ordered(found.formats),
        wires=ordered(found.wires),
        grouping=found.grouping(),
        providers=found.providers(),
        models=names_of(found.models),
        counts=found.counts(),
        tools=names_of(found.tools),
        arguments=ordered(found.arguments),
        tooling=found.tooling(),
        noted=ordered(found.noted),
        ids=found.ids(),
        quirks=tuple(
            Quirk(name, what, found.quirks[name], places[name])
            for name, what in QUIRKS.items()
            if found.quirks[name]
        ),
        example=example(source, found.example, shown=shown) if found.example else None,
        able=found.able(again=again),
    )


def _unknown(seen: Framed) -> Unknown:
    outlines = [(record, sketch(record)) for record in seen.head]
    known = [outline for _, outline in outlines if outline is not None]
    starts = [record.data.lstrip()[:_START] for record in seen.head]
    looks = tuple(_look(record, outline) for record, outline in outlines[:MOST_LOOKS])
    name = seen.near.name if seen.near else None
    resembles = tuple(sorted(resembled(known, starts), key=lambda one: one.name != name))
    return Unknown(nearest(known), resembles, looks, name, sentence_of(seen.near))


def _look(record: Record, outline: Sketch | None) -> Look:
    if outline is None:
        return Look(record.line, "no JSON", (), 0)
    inner = outline
    if outline.kind == "array" and outline.items and outline.items[0].kind == "object":
        inner = outline.items[0]
    keys = tuple(Key(key, one.kind) for key, one in list(inner.keys.items())[:MOST_KEYS])
    kind = "array of objects" if inner is not outline else outline.kind
    return Look(record.line, kind, keys, inner.count - len(keys))
