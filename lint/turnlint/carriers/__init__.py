"""Read records of all log formats, with one module per format.

A format is one file with a `CARRIER` value, which has a sniff function, a shape and a reader.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from turnlint.carrying.carrier import SPEAKS, STRANGE, Carrier
from turnlint.documents.census import is_plain
from turnlint.model import Record
from turnlint.packages import WIRES, additions

if TYPE_CHECKING:
    from turnlint.carriers._marks import Sample
    from turnlint.documents.decode import Decoded
    from turnlint.documents.exact import Reading

_BUILTIN = tuple(
    sorted(
        name[:-3].replace("_", "-")
        for name in os.listdir(os.path.dirname(__file__))
        if name.endswith(".py") and not name.startswith("_")
    )
)
"""The built-in formats: each public module in this folder is one, so that a new format is one new file."""
ADDED = additions(WIRES)
"""The modules with formats of other packages, by their names."""
NAMES = (*_BUILTIN, *(name for name in ADDED if name not in _BUILTIN))
"""All formats, the built-in ones first: they count where evidence is equal."""

DEFAULT = "openai-chat"
"""The wire of a record without evidence for any other wire."""
LONG = 1 << 20
"""A longer record is scored one stretch at a time."""


def carrier(name: str) -> Carrier:
    """Import one format, without the others. Raises `BrokenAdditionError` for that of another package."""
    if name in ADDED and name not in _BUILTIN:
        return _added(name)
    from importlib import import_module

    module = import_module(f"turnlint.carriers.{name.replace('-', '_')}")
    found = module.CARRIER
    assert isinstance(found, Carrier)
    return found


@cache
def _added(name: str) -> Carrier:
    from turnlint.extensions import load

    return load(WIRES, name, ADDED[name], Carrier, _check)


def _check(found: Carrier) -> None:
    """Raise an error for a format that cannot be used."""
    if found.name in _BUILTIN:
        raise ValueError(f"{found.name!r} is the name of a built-in wire")


def check_added() -> None:
    """Load the formats of other packages. Raises `BrokenAdditionError`."""
    for name in ADDED:
        _added(name)


def added_for(records: Iterable[Record]) -> Carrier | None:
    """Return the format of another package that has evidence of its own in some records, if there is one."""
    sample = list(records)
    for candidate in map(carrier, NAMES[len(_BUILTIN) :]):
        if any(score(candidate, record) >= SPEAKS for record in sample):
            return candidate
    return None


def of_wire(wire: str) -> Carrier | None:
    """Return the format whose conversations have this wire name."""
    if wire in NAMES:
        return carrier(wire)
    return next((one for one in map(carrier, NAMES) if wire in one.wires), None)


def best_for(records: Iterable[Record], known: "Look | None" = None) -> tuple[Carrier | None, bool]:
    """Return the format with the most evidence in some records, if any, and whether the evidence is specific to it.

    Without specific evidence, the records may belong to several formats, and more records may decide.
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
    """One record as the format of its file decoded it."""

    words: "Sample"
    """The words in it that are evidence for formats."""
    candidate: Carrier
    score: int | None
    """Its evidence for that format; None for a long record, whose parts are scored one by one."""
    rivals: tuple[str, ...]
    """The other formats for which it may have as much evidence."""


def look_at(candidate: Carrier, decoded: "Decoded[Any]") -> Look:
    """Score a record for the format of its file, and name the other possible formats."""
    from turnlint.carriers._marks import Sample, may_outweigh, speakers

    words = Sample([decoded.record.data])
    rivals = [name for name in speakers(NAMES, words) if name != candidate.name]
    if not rivals or len(decoded.record.data) > LONG:
        return Look(words, candidate, None, tuple(rivals))
    score = candidate.sniff(decoded)
    if score >= SPEAKS:
        rivals = [name for name in rivals if may_outweigh(name, words)]
    return Look(words, candidate, score, tuple(rivals))


def owner(records: list[Record], following: Sequence[Record] = ()) -> Carrier | None:
    """Return the agent whose own log these records are, if each has evidence for it and none for another format.

    If the first record is a header, without specific evidence, the following one counts, too.
    """
    candidate, scores = _only_speaker(records)
    if candidate is None or not candidate.session or min(scores[1:], default=0) < SPEAKS:
        return None
    if scores[0] < SPEAKS:
        rival, more = _only_speaker([*following])
        return candidate if scores[0] > 0 and rival is candidate and more[0] >= SPEAKS else None
    return candidate


def _only_speaker(sample: list[Record]) -> tuple[Carrier | None, list[int]]:
    """Return the only format for which some records have evidence, with its scores, if each record can be parsed."""
    if not sample:
        return None, []
    speaking = [found for found in _scores(sample) if any(one > 0 for one in found[1])]
    is_one = len(speaking) == 1 and len(speaking[0][1]) == len(sample)
    return speaking[0] if is_one else (None, [])


def _scores(sample: list[Record], known: Look | None = None) -> Iterator[tuple[Carrier, list[int]]]:
    """Yield the scores of each record for each possible format."""
    from turnlint.carriers._marks import Sample, speakers  # a run with a given format needs no marks

    asked = [(record, record.plain or is_plain(record.data)) for record in sample]
    asked = [(record, plain) for record, plain in asked if plain or not _is_hopeless(record)]
    names = speakers(NAMES, known.words if known else Sample([record.data for record, _ in asked]))
    for candidate in map(carrier, names):
        if known is None or known.score is None or candidate.name in known.rivals:
            yield candidate, [score(candidate, record, plain=plain) for record, plain in asked]
        elif candidate is known.candidate:
            yield candidate, [known.score]


def _is_hopeless(record: Record) -> bool:
    """Whether a long record cannot be parsed, so that no format can have evidence in it."""
    if len(record.data) <= LONG:
        return False
    from turnlint.documents import exact

    return not exact.read(record.data).whole


def score(
    candidate: Carrier, record: Record, *, plain: bool | None = None, exactly: "Reading | None" = None
) -> int:
    """Return the evidence of a record for a format."""
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
    if any(strange):  # a stretch alone does not show whether it has no evidence or belongs to another format
        return STRANGE if all(strange) else _score(candidate, record, plain)
    # Evidence beside the list occurs in all stretches, and counts once. Shared evidence counts once too, however often
    # it occurs.
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
    """Whether an array with this first element is a list of records, not the messages of one record."""
    import msgspec

    try:
        keys = msgspec.json.decode(first, type=dict[str, msgspec.Raw]).keys()
    except (ValueError, RecursionError):
        return first.startswith(b"[")
    known = [carrier(name) for name in NAMES]
    is_message = any(not keys.isdisjoint(one.message_keys) for one in known)
    return not is_message and any(not keys.isdisjoint(one.record_keys) for one in known)
