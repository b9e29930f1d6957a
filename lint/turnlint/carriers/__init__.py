"""Records to transcripts, one module per log format.

This package owns what a format looks like and where it writes things. A carrier is one file: a
`CARRIER` value with a sniff, a shape and a reader. It refuses to know rules and reports.
"""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from turnlint.carrying.carrier import SPEAKS, STRANGE, Carrier
from turnlint.documents.census import is_plain
from turnlint.model import Record

if TYPE_CHECKING:
    from turnlint.carriers._marks import Sample
    from turnlint.documents.decode import Decoded
    from turnlint.documents.exact import Reading

NAMES = tuple(
    sorted(
        name[:-3].replace("_", "-")
        for name in os.listdir(os.path.dirname(__file__))
        if name.endswith(".py") and not name.startswith("_")
    )
)
"""Every format: each module beside this file is one, so that a new one is one file."""

DEFAULT = "openai-chat"
"""The wire of a record that says nothing of its own."""
LONG = 1 << 20
"""A longer record is asked a stretch at a time."""


def carrier(name: str) -> Carrier:
    """Load one format, and only that."""
    from importlib import import_module

    module = import_module(f"turnlint.carriers.{name.replace('-', '_')}")
    found = module.CARRIER
    assert isinstance(found, Carrier)
    return found


def of_wire(wire: str) -> Carrier | None:
    """The format that reads conversations of this name."""
    if wire in NAMES:
        return carrier(wire)
    return next((one for one in map(carrier, NAMES) if wire in one.wires), None)


def best_for(records: Iterable[Record], known: "Look | None" = None) -> tuple[Carrier | None, bool]:
    """The format that some records speak for most, if any, and whether they hold something of its own.

    Where they do not, they could be several formats' records, and more of them may tell.
    """
    best: tuple[int, Carrier | None] = (0, None)
    for candidate, scores in _scores(list(records), known):
        speaking = [one for one in scores if one > 0]
        against = sum(one < 0 for one in scores)
        own = sum(one for one in speaking if one >= SPEAKS)
        if len(speaking) < against + (not own and against > 0):
            continue
        total = own or len(speaking)
        if total > best[0]:
            best = total, candidate
    return best[1], best[0] >= SPEAKS


class Look(Struct, frozen=True):
    """One record as its file's format decoded it."""

    words: "Sample"
    """The words in it by which formats may be known."""
    candidate: Carrier
    score: int | None
    """How strongly it speaks for that format; None for a long record, whose parts are scored one by one."""
    rivals: tuple[str, ...]
    """The other formats that it could speak for as strongly."""


def look_at(candidate: Carrier, decoded: "Decoded[Any]") -> Look:
    """Score a record for the format of its file and name the other formats that come into question."""
    from turnlint.carriers._marks import Sample, may_outweigh, speakers

    words = Sample([decoded.record.data])
    rivals = [name for name in speakers(NAMES, words) if name != candidate.name]
    if not rivals or len(decoded.record.data) > LONG:
        return Look(words, candidate, None, tuple(rivals))
    score = candidate.sniff(decoded)
    if score >= SPEAKS:
        rivals = [name for name in rivals if may_outweigh(name, words)]
    return Look(words, candidate, score, tuple(rivals))


def owner(records: Iterable[Record]) -> Carrier | None:
    """The agent whose own log this is, where each of these records says so and nobody else's could be one of them."""
    sample = list(records)
    speaking = [found for found in _scores(sample) if any(one > 0 for one in found[1])]
    if len(speaking) != 1:
        return None
    ((candidate, scores),) = speaking
    each = len(scores) == len(sample) and min(scores) >= SPEAKS
    return candidate if candidate.session and each else None


def _scores(sample: list[Record], known: Look | None = None) -> Iterator[tuple[Carrier, list[int]]]:
    """How strongly each record speaks for each format for which one of them may."""
    from turnlint.carriers._marks import Sample, speakers  # a run that is told the format asks no mark

    asked = [(record, record.plain or is_plain(record.data)) for record in sample]
    asked = [(record, plain) for record, plain in asked if plain or not _is_hopeless(record)]
    names = speakers(NAMES, known.words if known else Sample([record.data for record, _ in asked]))
    for candidate in map(carrier, names):
        if known is None or known.score is None or candidate.name in known.rivals:
            yield candidate, [score(candidate, record, plain=plain) for record, plain in asked]
        elif candidate is known.candidate:
            yield candidate, [known.score]


def _is_hopeless(record: Record) -> bool:
    """A long record that nobody can read speaks for none, so that no mark is looked for in it."""
    if len(record.data) <= LONG:
        return False
    from turnlint.documents import exact

    return not exact.read(record.data).whole


def score(
    candidate: Carrier, record: Record, *, plain: bool | None = None, exactly: "Reading | None" = None
) -> int:
    """How strongly a record speaks for a format."""
    data = record.data
    if len(data) <= LONG:
        return _score(candidate, record, plain, exactly)
    if not (plain := is_plain(data) if plain is None else plain):
        return _score(candidate, record, plain, exactly)
    from turnlint.carriers._stretches import stretches

    try:
        first, *scores = (
            _score(candidate, Record(record.line, record.offset, one), True) for one in stretches(data)
        )
    except (ValueError, RecursionError):  # a key or a depth that this decoder does not take
        return _score(candidate, record, plain)
    beside = max(0, scores.pop(0)) if scores else 0
    strange = [one == STRANGE for one in (first, *scores)]
    if any(strange):  # of one alone it is not known whether it says nothing or is another's
        return STRANGE if all(strange) else _score(candidate, record, plain)
    # What is beside them is said by all, and counts once; so does what could be anyone's, however many say it.
    own = beside - beside % SPEAKS
    more = [first - first % SPEAKS, *(one - one % SPEAKS - own for one in scores)]
    return sum(more) + max(one % SPEAKS for one in (first, *scores))


def _score(candidate: Carrier, record: Record, plain: bool | None, exactly: "Reading | None" = None) -> int:
    decoded = candidate.shape.read(record, plain=plain, exactly=exactly)
    try:
        return 0 if decoded.value is None else candidate.sniff(decoded)
    except RecursionError:
        return 0


def holds_records(first: bytes) -> bool:
    """Whether an array that starts with this element is a list of records, not the messages of one."""
    import msgspec

    try:
        keys = msgspec.json.decode(first, type=dict[str, msgspec.Raw]).keys()
    except (ValueError, RecursionError):
        return first.startswith(b"[")
    known = [carrier(name) for name in NAMES]
    is_message = any(not keys.isdisjoint(one.message_keys) for one in known)
    return not is_message and any(not keys.isdisjoint(one.record_keys) for one in known)
