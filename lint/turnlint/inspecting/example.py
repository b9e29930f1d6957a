"""Choose one call as an example, and describe it.

The description has names, types and positions, and values only on request. Only the two records of the call
and its result are read.
"""

from collections.abc import Iterator

from msgspec import Raw, Struct, json

from turnlint import ledger
from turnlint.arguments import notation_of
from turnlint.documents.locate import locate_all
from turnlint.documents.reread import reread
from turnlint.documents.source import Source
from turnlint.inspecting.facts import Example, Key, Place
from turnlint.inspecting.forms import form_of
from turnlint.model import Call, Location, Pointer, Record, Result, Transcript
from turnlint.neighbours.sketch import kind_of
from turnlint.placing import Placer

MOST_KEYS = 12
LONGEST = 200


class Candidate(Struct):
    """The best call so far."""

    rank: tuple[bool, ...]
    format: str
    call: Call
    place: Location
    result: Result | None
    result_place: Location | None
    state: str

    def records(self) -> Iterator[Record]:
        yield self.place.record
        if self.result_place is not None:
            yield self.result_place.record


def better(best: Candidate | None, transcript: Transcript, pairs: ledger.Ledger) -> Candidate | None:
    """Return the first call with a name, an id, arguments and a result; else the call with most of these."""
    for one in pairs.interactions:
        call, message = one.asked.call, transcript.messages[one.asked.message]
        rank = (
            call.name is not None,
            one.answer is not None,
            call.arguments == "object" and len(call.body) > len("{}"),
            ledger.usable(call.id),
        )
        if best is not None and rank <= best.rank:
            continue
        there = transcript.messages[one.answer.message] if one.answer else None
        best = Candidate(
            rank,
            transcript.wire.name,
            call,
            Location(message.record, (*message.at, *call.at)),
            one.answer.result if one.answer else None,
            Location(there.record, (*there.at, *one.answer.result.at)) if there and one.answer else None,
            one.state,
        )
        if all(rank):
            break
    return best


def example(source: Source, chosen: Candidate, *, shown: bool) -> Example:
    """Return the description of a call."""
    if all(record.data for record in chosen.records()):
        return _told(chosen, shown=shown)
    for group in reread(source, [chosen], Candidate.records):
        return _told(group[0], shown=shown)
    raise AssertionError


def _told(chosen: Candidate, *, shown: bool) -> Example:
    places = Placer([chosen.place, *([chosen.result_place] if chosen.result_place else [])])
    body = _value_at(chosen.place, chosen.call.keys.body)
    keys, more = _keys(body)
    result = chosen.result_place
    answered = _value_at(result, chosen.result.keys.body) if result and chosen.result else b""
    identifier = chosen.call.id
    return Example(
        format=chosen.format,
        tool=chosen.call.name,
        id=form_of(identifier),
        length=len(identifier) if identifier else None,
        written=notation.name if (notation := notation_of(chosen.call)) else chosen.call.written,
        arguments=keys,
        more=more,
        call=_place(places, chosen.place),
        result=_place(places, result) if result else None,
        state=chosen.state,
        shown=(_beginning(body), _beginning(answered)) if shown else ("", ""),
    )


def _place(places: Placer, location: Location) -> Place:
    there = places[location]
    return Place(there.line, there.pointer)


def _value_at(location: Location, below: Pointer) -> bytes:
    """Return the bytes of a value inside of a piece; nothing where the key is absent."""
    at = (*location.at, *below)
    data = location.record.data
    reached, start, end = locate_all(data, [at])[at]
    return data[start:end] if reached == at else b""


def _keys(body: bytes) -> tuple[tuple[Key, ...], int]:
    """Return the keys of arguments with the types of their values, also if the arguments are JSON in a string."""
    try:
        inner = json.decode(body, type=str).encode() if body[:1] == b'"' else body
        members = json.decode(inner, type=dict[str, Raw])
    except (ValueError, RecursionError):
        return (), 0
    some = list(members.items())[:MOST_KEYS]
    return tuple(Key(key, kind_of(bytes(raw))) for key, raw in some), len(members) - len(some)


def _beginning(data: bytes) -> str:
    piece = data[:LONGEST].decode(errors="replace")
    return piece + ("…" if len(data) > LONGEST else "")
