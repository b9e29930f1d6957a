"""Detect the format of a source from its first records."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from turnlint import carriers
from turnlint.carrying.carrier import SPEAKS, Carrier
from turnlint.documents.decode import Decoded
from turnlint.documents.gate import Ended
from turnlint.documents.trouble import Damage
from turnlint.model import Record, Transcript
from turnlint.neighbours import Near, claimed_by, is_body, near_to

SAMPLE = 20
FEW = 4
"""Number of records that decide on the format of a session, if they all agree."""
LONGEST = 400
HEAVIEST = 1 << 20

Item = Record | Damage | Ended


class Sampled(NamedTuple):
    """The first records of a source, and their format."""

    head: list[Item]
    carrier: Carrier | None
    near: Near | None = None
    """The format that the source resembles, if its format is not supported."""


def sample(
    framed: Iterator[Item], named: str | None, *, is_log: bool, prefer: tuple[str, ...] = ()
) -> Sampled:
    """Take the first records, and detect their format; nothing where no format matches.

    Read on, within limits, until a record has a feature of one format only. If no record can be parsed, and
    the file `is_log`, any format serves to report the damage. `prefer` has the wires of the provider that the
    user names: records that fit several wires are read as one of these.
    """
    head: list[Item] = list(islice(framed, SAMPLE))
    if named:
        return Sampled(head, carriers.carrier(named))
    records = [item for item in head if isinstance(item, Record)]
    if (near := claimed_by(records)) is not None:
        return Sampled(head, added := carriers.added_for(records), None if added else near)
    first = [item for item in head[: FEW + 1] if isinstance(item, Record)]
    if len(first) >= FEW and (owner := carriers.owner(first[:FEW], first[FEW:])) is not None:
        return Sampled(head, owner)
    new, weight, decided = head, 0, False
    best: Carrier | None = None
    while new and not decided:
        records = [item for item in new if isinstance(item, Record)]
        found, decided = carriers.best_for(records)
        best = found if decided or best is None else best
        weight += sum(len(record.data) for record in records)
        room = not decided and len(head) < LONGEST and weight < HEAVIEST
        new = list(islice(framed, SAMPLE)) if room else []
        head += new
    if best is not None and prefer and best.name not in prefer and not best.session:
        best = _preferred(head, prefer, decided=decided) or best
    if best is None and _is_damage(head):
        from turnlint.neighbours.configurations import configuration_in

        near = configuration_in([item.data for item in head if isinstance(item, Record)])
        if near is not None:
            return Sampled(head, None, near)
        best = carriers.carrier(carriers.NAMES[0]) if is_log else None
    if best is None:
        records = [item for item in head if isinstance(item, Record)]
        best = next(filter(None, (format_of(record, prefer) for record in records if is_body(record))), None)
        return Sampled(head, best, near_to(records) if best is None else None)
    return Sampled(head, best)


def format_of(
    record: Record, prefer: tuple[str, ...] = (), known: carriers.Look | None = None
) -> Carrier | None:
    """Return the format of one record, independent of the records beside it."""
    best, decided = carriers.best_for([record], known)
    if best is not None and prefer and best.name not in prefer and not best.session:
        return _preferred([record], prefer, decided=decided) or best
    return best


def owner_of(
    carrier: Carrier, decoded: Decoded[Any], prefer: tuple[str, ...] = ()
) -> tuple[Carrier, Decoded[Any]]:
    """Return the format of a record in a log, and the record in it.

    Only a record with a whole conversation depends on no other. A format that reads it as one message of a longer
    conversation does not own it: the records beside it are in the format of the log.
    """
    if carrier.is_whole is None or not carrier.is_whole(decoded):
        return carrier, decoded
    look = carriers.look_at(carrier, decoded)
    if not prefer and not look.rivals:
        return carrier, decoded
    owner = format_of(decoded.record, prefer, look) or carrier
    if owner.name == carrier.name:
        return carrier, decoded
    read = owner.shape.read(decoded.record)
    is_part = owner.is_whole is not None and read.value is not None and not owner.is_whole(read)
    return (carrier, decoded) if is_part else (owner, read)


def _preferred(head: list[Item], prefer: tuple[str, ...], *, decided: bool) -> Carrier | None:
    """Return a preferred wire that can read the records.

    If the records belong to another wire, they must have a feature of the preferred one as well.
    """
    records = [item for item in head if isinstance(item, Record)]
    for name in prefer:
        if name not in carriers.NAMES:
            continue
        carrier = carriers.carrier(name)
        speaks = sum(carriers.score(carrier, record) for record in records)
        if speaks >= SPEAKS or (not decided and any(_reads(carrier, record) for record in records)):
            return carrier
    return None


def _reads(carrier: Carrier, record: Record) -> bool:
    found = carrier.read([carrier.shape.read(Record(record.line, record.offset, record.data, kept=True))])
    return any(isinstance(one, Transcript) and one.messages and not one.misfits for one in found)


def _is_damage(head: list[Item]) -> bool:
    """Whether the records were meant to be JSON, and none of them is: a text of another kind is no damage."""
    from turnlint.documents import exact

    records = [item.data for item in head if isinstance(item, Record)]
    meant = any(data.lstrip()[:1] in (b"{", b"[") for data in records)
    return meant and not any(exact.read(data).whole for data in records)
