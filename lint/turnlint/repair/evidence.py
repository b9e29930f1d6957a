"""The evidence that ties each result to the call under which a repair leaves it.

This module compares a conversation before and after its repair. It shares no code with the pairing that made the
repair: it asks of each result whether its id, its place or its name led to that call before.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise, product
from json import dumps, loads
from unicodedata import normalize

from msgspec import Struct, field

from turnlint.model import Call, Result, Transcript

BLANK = frozenset({"", "NULL", "REDACTED", "<REDACTED>", "[REDACTED]", "***", "<UUID>", "XXX"})
"""Ids in capitals that name nothing."""
Pair = tuple[str | None, bytes, bytes]
Bearers = frozenset[tuple[tuple[str | None, str | None, bytes], int]]
MAX_READINGS = 64
"""Equal calls and equal results have many readings; with more than this number nothing is known of them."""


class Asked(Struct):
    """A call where it stood before the repair."""

    call: Call
    talk: int
    """The number of its conversation."""
    place: int
    turn: int


class Answered(Struct):
    """A result where it stood before the repair, with the turn whose calls it follows."""

    result: Result
    talk: int
    place: int
    turn: int
    inside: bool
    """Only results stand between the calls of that turn and this one."""


class Talk(Struct):
    """The calls and results of one conversation before the repair."""

    results: list[Answered] = []
    bearers: dict[str, list[Asked]] = {}
    answers: Counter[str] = field(default_factory=Counter)


class Past(Struct):
    """All calls and results before the repair.

    A file may hold several conversations, and a session parts that it left behind. Each has its own ids.
    """

    talks: list[Talk] = []
    by_call: dict[tuple[str | None, bytes], list[Asked]] = {}
    by_body: dict[bytes, list[Answered]] = {}
    left: set[str] = set()
    """The ids of calls in parts of a session that were left behind."""
    turns: dict[int, tuple[list[Asked], list[Answered]]] = {}


def untied(before: Iterable[Transcript], after: Iterable[Transcript]) -> tuple[Call, Result] | None:
    """A call and a result under it that no evidence ties together, if a repair made such a pair."""
    past, before = Past(), tuple(before)
    for transcript in before:
        _read(transcript, past)
    kept = {pair for call, result in _pairs_before(past) if (pair := _named(call, result))}
    after = tuple(after)
    kept |= _as_before(before, after)
    for transcript in after:
        for call, result in _pairs(transcript):
            if _named(call, result) not in kept and not _is_tied(past, call, result):
                return call, result
    return None


def _named(call: Call, result: Result) -> Pair:
    return call.name, call.body, result.body


def _as_before(before: Iterable[Transcript], after: Iterable[Transcript]) -> set[Pair]:
    """The pairs of ids on whose calls the repair changed nothing."""
    now = {(form, calls) for transcript in after for form, calls in _bearers(transcript).items()}
    found = set()
    for transcript in before:
        was = _bearers(transcript)
        found |= {
            _named(call, result)
            for call, result in _pairs(transcript)
            if (_form(call.id), was[_form(call.id)]) in now
        }
    return found


def _bearers(transcript: Transcript) -> dict[str, Bearers]:
    """The calls of each id with their numbers, whatever the spelling of the id."""
    found: dict[str, Counter[tuple[str | None, str | None, bytes]]] = defaultdict(Counter)
    for message in transcript.messages:
        for block in message.blocks:
            if isinstance(block, Call):
                found[_form(block.id)][block.id, block.name, block.body] += 1
    return {form: frozenset(calls.items()) for form, calls in found.items()}


def _read(transcript: Transcript, past: Past) -> None:
    turn, asking, closed, place = max(past.turns, default=0), False, True, 0
    talk, number = Talk(), len(past.talks)
    past.talks.append(talk)
    window, joins = transcript.wire.window, transcript.wire.joins
    for message in transcript.messages:
        if message.role == "assistant":
            turn += not (joins and asking)
            asking, closed = True, False
        else:
            asking, closed = False, closed or (message.role not in window and bool(message.blocks))
        for block in message.blocks:
            place += 1
            if isinstance(block, Call):
                if not asking:
                    turn, asking, closed = turn + 1, True, False
                one = Asked(block, number, place, turn)
                past.by_call.setdefault((block.name, block.body), []).append(one)
                talk.bearers.setdefault(_form(block.id), []).append(one)
                if transcript.dead:
                    past.left.add(_form(block.id))
                past.turns.setdefault(turn, ([], []))[0].append(one)
            elif isinstance(block, Result):
                other = Answered(block, number, place, turn, inside=not closed and not asking)
                talk.results.append(other)
                past.by_body.setdefault(block.body, []).append(other)
                talk.answers[_form(block.id)] += 1
                if other.inside:
                    past.turns.setdefault(turn, ([], []))[1].append(other)


def _form(identifier: str | None) -> str:
    """An id in the spelling in which it is compared; empty where it names nothing."""
    text = normalize("NFC", (identifier or "").strip())
    return "" if text.upper() in BLANK else text


def _pairs_before(past: Past) -> Iterator[tuple[Call, Result]]:
    """What stood under a call by its exact id in its window already, once each."""
    for calls, results in past.turns.values():
        for asked in calls:
            own = [one for one in results if one.result.id == asked.call.id and _form(asked.call.id)]
            alike = [one for one in calls if one.call.id == asked.call.id]
            if len(alike) == 1 and len(own) == 1:
                yield asked.call, own[0].result


def _pairs(transcript: Transcript) -> Iterator[tuple[Call, Result]]:
    """Calls with the results that a reader gives them by the id: those of the nearest call before."""
    nearest: dict[str, Call] = {}
    for message in transcript.messages:
        for block in message.blocks:
            if isinstance(block, Call):
                nearest[_form(block.id)] = block
            elif isinstance(block, Result) and not block.synthetic and not block.server and _form(block.id):
                call = nearest.get(_form(block.id))
                if call is not None and call.id == block.id and not call.server:
                    yield call, block


def _is_tied(past: Past, call: Call, result: Result) -> bool:
    asked = past.by_call.get((call.name, call.body))
    answered = past.by_body.get(result.body)
    if not asked or not answered:
        return True  # another finding rewrote the call or the result, and its own checks hold
    if len(asked) * len(answered) > MAX_READINGS:
        return True
    return any(_ties(past, one, other) for one, other in islice(product(asked, answered), MAX_READINGS))


def _ties(past: Past, asked: Asked, answered: Answered) -> bool:
    call, result = asked.call, answered.result
    mine, theirs = _form(call.id), _form(result.id)
    talk = past.talks[answered.talk]
    if asked.talk != answered.talk:
        # The repair joined parts of a session: an id that is everywhere the same call's is evidence.
        return bool(mine) and mine == theirs and all(_is_meant(one, asked, answered) for one in past.talks)
    if call.id and call.id == result.id and not mine and call.id.upper() not in BLANK:
        return answered.inside and answered.turn == asked.turn  # white space is an id as well
    if mine and theirs:
        return mine == theirs and _is_meant(talk, asked, answered)
    if theirs and (theirs in talk.bearers or theirs in past.left):
        return False  # the id of another call
    if result.name and call.name and result.name != call.name and not _counts_agree(past, answered):
        return False
    if answered.inside and answered.turn == asked.turn:
        return _counts_agree(past, answered) or _is_only_of_name(past, asked, answered)
    lost = [one for one in talk.results if not _form(one.result.id) and not one.result.synthetic]
    return len(lost) == 1 or bool(result.name and result.name == call.name)


def _is_meant(talk: Talk, asked: Asked, answered: Answered) -> bool:
    """Whether the id means this call: no other one bears it, or name and place tell them apart."""
    bearers = talk.bearers.get(_form(asked.call.id), ())
    mine = _meaning(asked.call)
    others = [one for one in bearers if _meaning(one.call) != mine]
    if not others:
        return True
    name = answered.result.name
    if name and name != asked.call.name and any(one.call.name == name for one in others):
        return False
    return asked.place < answered.place


def _counts_agree(past: Past, answered: Answered) -> bool:
    """Whether a turn has as many calls as results that no id pairs; copies and placeholders may count or not."""
    talk = past.talks[answered.talk]
    calls, results = past.turns.get(answered.turn, ([], []))
    window = {_form(one.result.id) for one in results} - {""}
    real = {_form(one.result.id) for one in results if not one.result.synthetic} - {""}
    everywhere = {form for form, some in talk.bearers.items() if talk.answers[form] >= _distinct(some)} - {""}
    asked = set()
    for known in (window, real, everywhere):
        some = [one for one in calls if _form(one.call.id) not in known]
        asked |= {len(some), _distinct(some)}
    lost = [one for one in results if _form(one.result.id) not in talk.bearers or not _form(one.result.id)]
    said = [one for one in lost if not one.result.synthetic]
    return not asked.isdisjoint(
        {len(lost), len(said), _texts(said), len({one.result.id for one in said})} - {0}
    )


def _meaning(call: Call) -> tuple[str | None, object]:
    """The tool and the value of its arguments, in one spelling."""
    try:
        return call.name, dumps(loads(call.body), sort_keys=True)
    except (ValueError, RecursionError):
        return call.name, call.body


def _distinct(calls: Iterable[Asked]) -> int:
    return len({(one.call.id, *_meaning(one.call)) for one in calls})


def _texts(results: Iterable[Answered]) -> int:
    """How many texts there are, where the start of another one is none of its own."""
    bodies = sorted({one.result.body for one in results})
    return sum(not after.startswith(one.rstrip(b'"}] ')) for one, after in pairwise([*bodies, b""]))


def _is_only_of_name(past: Past, asked: Asked, answered: Answered) -> bool:
    """Whether as many results as calls of the turn have the name of the tool."""
    name = asked.call.name
    calls, results = past.turns.get(answered.turn, ([], []))
    own = [one for one in results if one.result.name == name and not one.result.synthetic]
    return (
        bool(name)
        and answered.result.name == name
        and len(own) == sum(one.call.name == name for one in calls)
    )
