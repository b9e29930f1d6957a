"""Verify the evidence for each pair of call and result that a repair makes.

The module compares a conversation before and after its repair. It shares no code with the pairing that made the repair.
For each result it checks whether its id, its position or its name led to that call before.
"""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import islice, pairwise, product
from json import dumps, loads
from typing import Any, TypeVar
from unicodedata import normalize

from msgspec import Struct, field

from turnlint.documents.decode import MAX_EXACT
from turnlint.model import Call, Result, Transcript

BLANK = frozenset({"", "NULL", "REDACTED", "<REDACTED>", "[REDACTED]", "***", "<UUID>", "XXX"})
"""Ids in capitals that identify nothing."""
EMPTY = frozenset({b"", b"null", b'""', b"[]", b"{}"})
"""Empty bodies of calls and results. A repair for a provider may replace one by another."""
Pair = tuple[str | None, bytes, bytes]
Piece = TypeVar("Piece")
Group = list[Piece]
"""Calls or results that repeat each other."""
MAX_READINGS = 64
"""The maximum number of readings of equal calls and equal results. Beyond it, no pair is rejected."""


class Asked(Struct):
    """A call at its position before the repair."""

    call: Call
    talk: int
    """The number of its conversation."""
    place: int
    turn: int
    message: int


class Answered(Struct):
    """A result at its position before the repair, with the turn whose calls precede it."""

    result: Result
    talk: int
    place: int
    turn: int
    inside: bool
    """Whether only results are between the calls of that turn and this result."""
    latest: int = 0
    """The last turn before it that has calls."""
    message: int = 0


class Talk(Struct):
    """The calls and results of one conversation before the repair."""

    results: list[Answered] = []
    calls: list[Asked] = []
    beside: dict[int, tuple[list[Asked], list[int]]] = {}
    """The calls, and the positions of results without ids, by the number of the message."""
    by_id: dict[str, list[Answered]] = {}
    idless: bool = False
    """Whether the wire has dialects without ids."""
    named: set[tuple[str, str | None]] = set()
    """The ids and the names of all results."""
    bearers: dict[str, list[Asked]] = {}
    answers: Counter[str] = field(default_factory=Counter)


class Past(Struct):
    """All calls and results before the repair.

    A file may have several conversations, and a session may have abandoned parts. Each has its own ids.
    """

    talks: list[Talk] = []
    by_call: dict[tuple[str | None, bytes], list[Asked]] = {}
    by_body: dict[bytes, list[Answered]] = {}
    left: set[str] = set()
    """The ids of calls in abandoned parts of a session."""
    messages: int = 0
    turns: dict[int, tuple[list[Asked], list[Answered]]] = {}
    """The calls of each turn, and all results after them up to the next call."""


def untied(
    before: Iterable[Transcript], after: Iterable[Transcript], recalled: Container[str | None] = ()
) -> tuple[Call, Result] | None:
    """Return a call and a result that a repair paired without evidence, if there are any.

    The repair added the missing sides of pairs with the ids `recalled`.
    """
    past, before, after = Past(), tuple(before), tuple(after)
    for transcript in before:
        _read(transcript, past)
    kept = {
        _named(call, result)
        for transcript in before
        for real in (False, True)
        for call, result in _pairs(transcript, real=real)
    }
    added = _added(before, after) if recalled else Counter()
    for transcript in after:
        for call, result in _pairs(transcript):
            if _named(call, result) in kept or _is_tied(past, call, result):
                continue
            # The new call, or the new result, equals another one of the conversation. The same id names the other side.
            is_added = added[Call, call.name, _content(call)] > 0 or added[Result, None, _content(result)] > 0
            if not is_added or call.id != result.id:
                return call, result
    return None


def _added(before: Iterable[Transcript], after: Iterable[Transcript]) -> Counter[Any]:
    """Count the calls and the results that a repair added, by their contents."""
    found: Counter[Any] = Counter()
    for transcripts, sign in ((after, 1), (before, -1)):
        for block in _blocks(transcripts):
            name = block.name if isinstance(block, Call) else None
            found[type(block), name, _content(block)] += sign
    return found


def _blocks(transcripts: Iterable[Transcript]) -> Iterator[Call | Result]:
    """Yield the calls and the results of some conversations."""
    messages = (message for one in transcripts for message in one.messages)
    return (block for message in messages for block in message.blocks if isinstance(block, Call | Result))


def _named(call: Call, result: Result) -> Pair:
    return call.name, _content(call), _content(result)


def _content(block: Call | Result) -> bytes:
    """Return the body of a call or of a result in the form for comparison."""
    return b"" if block.body in EMPTY else block.body


class _Waiting:
    """The open calls of a turn, by id and by name."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str | None], deque[Call]] = {}
        self.taken: set[int] = set()

    def add(self, call: Call) -> None:
        for key in (("id", call.id), ("name", call.name)):
            self.calls.setdefault(key, deque()).append(call)

    def take(self, result: Result) -> Call | None:
        """Return the first open call with the id of a result, or with its name if the result has and needs no id."""
        if result.id:  # for a provider, white space is an id
            key = "id", result.id
        elif result.name and not result.needs_id:
            key = "name", result.name
        else:
            return None
        queue = self.calls.get(key, deque())
        while queue:
            call = queue.popleft()
            if id(call) not in self.taken:
                self.taken.add(id(call))
                return call
        return None


def _pairs(transcript: Transcript, *, real: bool = False) -> Iterator[tuple[Call, Result]]:
    """Yield calls with the results that a strict parser pairs, in order and up to the next turn with calls.

    With `real`, placeholders match no call.
    """
    waiting, wire, asking = _Waiting(), transcript.wire, False
    for message in transcript.messages:
        speaks = message.role == "assistant"
        fresh = not (wire.anywhere or (wire.joins and asking and speaks))
        asking = speaks
        for block in message.blocks:
            if isinstance(block, Call):
                if fresh:
                    waiting, fresh = _Waiting(), False
                waiting.add(block)
            elif isinstance(block, Result) and not (real and block.synthetic):
                call = waiting.take(block)
                if call is not None and not (call.server or block.server or block.synthetic):
                    yield call, block


def _read(transcript: Transcript, past: Past) -> None:
    turn, asking, closed, place = max(past.turns, default=0), False, True, 0
    talk, number = Talk(), len(past.talks)
    past.talks.append(talk)
    latest = 0
    window, joins = transcript.wire.window, transcript.wire.joins
    talk.idless = transcript.wire.idless
    for message in transcript.messages:
        past.messages += 1
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
                one = Asked(block, number, place, turn, past.messages)
                talk.calls.append(one)
                talk.beside.setdefault(past.messages, ([], []))[0].append(one)
                past.by_call.setdefault((block.name, _content(block)), []).append(one)
                talk.bearers.setdefault(_form(block.id), []).append(one)
                if transcript.dead:
                    past.left.add(_form(block.id))
                past.turns.setdefault(turn, ([], []))[0].append(one)
                latest = turn
            elif isinstance(block, Result):
                inside = not closed and not asking
                other = Answered(block, number, place, turn, inside, latest, past.messages)
                talk.results.append(other)
                if not _form(block.id):
                    talk.beside.setdefault(past.messages, ([], []))[1].append(place)
                past.by_body.setdefault(_content(block), []).append(other)
                talk.by_id.setdefault(_form(block.id), []).append(other)
                talk.named.add((_form(block.id), block.name))
                talk.answers[_form(block.id)] += bool(_form(block.id))
                if latest:
                    past.turns[latest][1].append(other)


def _form(identifier: str | None) -> str:
    """Return an id in the form for comparison; empty if it identifies nothing."""
    text = normalize("NFC", (identifier or "").strip())
    return "" if text.upper() in BLANK else text


def _is_tied(past: Past, call: Call, result: Result) -> bool:
    asked = past.by_call.get((call.name, _content(call)))
    answered = past.by_body.get(_content(result))
    if not asked or not answered:
        return True  # another finding changed the call or the result, and its own checks apply
    if len(asked) * len(answered) > MAX_READINGS:
        return True
    return any(_ties(past, one, other) for one, other in islice(product(asked, answered), MAX_READINGS))


def _ties(past: Past, asked: Asked, answered: Answered) -> bool:
    call, result = asked.call, answered.result
    mine, theirs = _form(call.id), _form(result.id)
    talk = past.talks[answered.talk]
    if asked.talk != answered.talk:
        # The repair joined parts of a session: an id that belongs to the same call everywhere is evidence.
        return bool(mine) and mine == theirs and all(_is_meant(one, asked, answered) for one in past.talks)
    if call.id and call.id == result.id and not mine and call.id.upper() not in BLANK:
        return _is_only_of_id(past, asked, answered)  # white space is an id too
    if mine and theirs:
        return mine == theirs and _is_meant(talk, asked, answered)
    if theirs and (theirs in talk.bearers or theirs in past.left):
        return False  # the id of another call
    if result.name and call.name and result.name != call.name and not _is_in_step(past, asked, answered):
        return False
    if answered.inside and answered.turn == asked.turn:
        agree = _agrees(past, asked, answered) and not _is_answered(past, asked)
        return agree or _is_only_of_name(past, asked, answered)
    return _is_beside(talk, asked, answered) or _is_last_of_all(talk, asked, answered)


def _is_answered(past: Past, asked: Asked) -> bool:
    """Whether the window of a turn has a result for each of its calls with the id of a call."""
    form = _form(asked.call.id)
    calls, results = past.turns.get(asked.turn, ([], []))
    bearing = sum(_form(one.result.id) == form and not one.result.synthetic for one in results)
    return bool(form) and bearing >= sum(_form(one.call.id) == form for one in calls)


def _is_in_step(past: Past, asked: Asked, answered: Answered) -> bool:
    """Whether a turn has as many calls as results, and a call and a result have the same index among them."""
    calls, results = ([*map(id, some)] for some in past.turns.get(answered.latest, ([], [])))
    if id(asked) not in calls or not _agrees(past, asked, answered):
        return False
    return calls.index(id(asked)) == results.index(id(answered))


def _is_beside(talk: Talk, asked: Asked, answered: Answered) -> bool:
    """Whether a call and a result have the same index in a message with as many open calls as results without ids."""
    if asked.message != answered.message or asked.place > answered.place:
        return False
    calls, results = talk.beside[asked.message]
    places = [one.place for one in calls if not talk.answers[_form(one.call.id)]]
    if len(places) != len(results) or asked.place not in places:
        return False
    return places.index(asked.place) == bisect_left(results, answered.place)


def _is_only_of_id(past: Past, asked: Asked, answered: Answered) -> bool:
    """Whether a result is in the window of a turn where as many calls as results have its exact id."""
    calls, results = past.turns.get(asked.turn, ([], []))
    asking = sum(one.call.id == asked.call.id for one in calls)
    return (
        answered.inside
        and answered.turn == asked.turn
        and asking == sum(one.result.id == asked.call.id for one in results)
    )


def _is_last_of_all(talk: Talk, asked: Asked, answered: Answered) -> bool:
    """Whether the only call without an id, of all or of its name, gets the only result without an id."""
    calls = [one for one in talk.calls if not _form(one.call.id) and _has_content(one.call)]
    results = [one for one in talk.results if not _form(one.result.id) and not one.result.synthetic]
    name = answered.result.name
    if name and name == asked.call.name:
        calls = [one for one in calls if one.call.name == name]
        results = [one for one in results if one.result.name == name]
    return len(results) == 1 and [*map(id, calls)] == [id(asked)]


def _has_content(call: Call) -> bool:
    """Whether an entry of a list of calls has a name or a body."""
    return bool(call.name or call.body)


def _is_meant(talk: Talk, asked: Asked, answered: Answered) -> bool:
    """Whether the id refers to this call: no other call has it, or name and position distinguish them."""
    bearers = talk.bearers.get(_form(asked.call.id), ())
    mine = _meaning(asked.call)
    others = [one for one in bearers if _meaning(one.call) != mine]
    if not others:
        return True
    name = answered.result.name
    if name and name != asked.call.name and any(one.call.name == name for one in others):
        return False
    if asked.place > answered.place or _is_one_too_many(talk, asked, answered):
        return False
    return asked.turn != answered.latest or not _is_one_too_few(talk, asked, answered)


def _is_one_too_many(talk: Talk, asked: Asked, answered: Answered) -> bool:
    """Whether more results than calls of one id, or of one id and name, precede the next turn with calls."""
    form, name = _form(asked.call.id), answered.result.name
    calls = [one for one in talk.bearers[form] if one.call.name in (name or one.call.name, None)]
    if len({_meaning(one.call) for one in calls}) < 2:
        return False  # the name identifies one call
    calls = [one for one in calls if one.turn <= answered.latest]
    results = {
        one.result.body
        for one in talk.by_id.get(form, ())
        if calls
        and calls[0].place < one.place
        and one.latest <= answered.latest
        and one.result.name in (name, None)
        and not one.result.synthetic
    }
    if _texts(results) > len(calls):
        return True
    own = sum(one.turn == answered.latest for one in calls)
    if own == sum(one.turn == answered.latest for one in talk.bearers[form]):
        return False
    # Another call of the turn has the id, so that no parser pairs by it; an earlier call may have any of the results.
    behind = {
        one.result.body
        for one in talk.by_id.get(form, ())
        if one.latest == answered.latest and one.result.name in (name, None) and not one.result.synthetic
    }
    return 0 < own < _texts(behind)


def _is_one_too_few(talk: Talk, asked: Asked, answered: Answered) -> bool:
    """Whether a turn has more calls than results of one id, or of one id and name, so that a call may have none."""
    form, name = _form(asked.call.id), answered.result.name
    calls = [
        one
        for one in talk.bearers[form]
        if one.turn == asked.turn and one.call.name in (name or one.call.name, None)
    ]
    results = {
        one.result.body
        for one in talk.by_id.get(form, ())
        if one.latest == asked.turn and one.result.name in (name, None) and not one.result.synthetic
    }
    return len({_meaning(one.call) for one in calls}) > _texts(results)


def _agrees(past: Past, asked: Asked, answered: Answered) -> bool:
    """Whether a turn has as many calls as results without a matching id, and order and names match these two."""
    return any(
        _pairs_in_order(calls, results, asked, answered) for calls, results in _readings(past, answered)
    )


def _readings(past: Past, answered: Answered) -> Iterator[tuple[list[Group[Asked]], list[Group[Answered]]]]:
    """Yield groups of calls and of results of a turn, equal in number; copies and placeholders may count or not."""
    talk = past.talks[answered.talk]
    calls, results = past.turns.get(answered.latest, ([], []))
    calls = [one for one in calls if _has_content(one.call)]
    inside = [one for one in results if one.inside and one.turn == one.latest]
    if talk.idless and len(inside) == len(calls) and not any(one.result.needs_id for one in inside):
        yield [[one] for one in calls], [[one] for one in inside]
    window = {_form(one.result.id) for one in results} - {""}
    real = {_form(one.result.id) for one in results if not one.result.synthetic} - {""}
    # A result with the id that several calls share may be the result of any of them.
    everywhere = {form for form in talk.bearers if talk.answers[form]} - {""}
    lost = [one for one in results if _form(one.result.id) not in talk.bearers or not _form(one.result.id)]
    said = [one for one in lost if not one.result.synthetic]
    answers = (
        [[one] for one in lost],
        [[one] for one in said],
        _by_text(said),
        _grouped(said, lambda one: _form(one.result.id) or one.result.body),
    )
    for known in (window, real, everywhere):
        some = [one for one in calls if _form(one.call.id) not in known]
        for asking in ([[one] for one in some], _grouped(some, _written)):
            yield from ((asking, answering) for answering in answers if len(asking) == len(answering))


def _pairs_in_order(
    calls: list[Group[Asked]], results: list[Group[Answered]], asked: Asked, answered: Answered
) -> bool:
    """Whether matching each result with the next call of its name, and others with the rest, matches these two."""
    waiting: dict[str | None, deque[int]] = {}
    for number, group in enumerate(calls):
        waiting.setdefault(group[0].call.name, deque()).append(number)
    mine = next((number for number, group in enumerate(calls) if any(one is asked for one in group)), -1)
    others = []
    for answers in results:
        queue = waiting.get(answers[0].result.name)
        if not queue:
            others.append(answers)
        elif queue.popleft() == mine:
            return any(other is answered for other in answers)
    left = sorted(number for queue in waiting.values() for number in queue)
    rank = left.index(mine) if mine in left else -1
    return rank >= 0 and any(other is answered for other in others[rank])


def _grouped(some: Iterable[Piece], key: Callable[[Piece], object]) -> list[Group[Piece]]:
    groups: dict[object, Group[Piece]] = {}
    for one in some:
        groups.setdefault(key(one), []).append(one)
    return [*groups.values()]


def _written(asked: Asked) -> object:
    return asked.call.id, *_meaning(asked.call)


def _by_text(results: Iterable[Answered]) -> list[Group[Answered]]:
    """Group results by text, where one text may be the start of another."""
    groups: list[Group[Answered]] = []
    for one in results:
        body = one.result.body.rstrip(b'"}] ')
        for group in groups[-MAX_READINGS:]:
            other = group[0].result.body
            if other.startswith(body) or one.result.body.startswith(other.rstrip(b'"}] ')):
                group.append(one)
                break
        else:
            groups.append([one])
    return groups


def _meaning(call: Call) -> tuple[str | None, object]:
    """Return the tool and the value of its arguments, in one spelling."""
    try:
        return call.name, dumps(loads(call.body, parse_float=_number), sort_keys=True)
    except (ValueError, RecursionError):
        return call.name, call.body


def _number(text: str) -> float | int:
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < MAX_EXACT else number


def _texts(bodies: Iterable[bytes]) -> int:
    """Return the number of texts, not counting a text that is the start of another."""
    pairs = pairwise([*sorted(bodies), b""])
    return sum(not after.startswith(one.rstrip(b'"}] ')) for one, after in pairs)


def _is_only_of_name(past: Past, asked: Asked, answered: Answered) -> bool:
    """Whether as many results as open calls of the turn have the name of the tool, and order matches these two."""
    name = asked.call.name
    talk = past.talks[answered.talk]
    calls, results = past.turns.get(answered.latest, ([], []))
    lost = [one for one in results if _form(one.result.id) not in talk.bearers or not _form(one.result.id)]
    own = [one for one in lost if one.result.name == name and not one.result.synthetic]
    open_ones = [one for one in calls if one.call.name == name and not _has_answer(talk, one)]
    pairs = zip(open_ones, own, strict=True) if name and len(own) == len(open_ones) else ()
    return any(one is asked and other is answered for one, other in pairs)


def _has_answer(talk: Talk, asked: Asked) -> bool:
    """Whether a result has the id of a call and no name of another tool."""
    form = _form(asked.call.id)
    return bool(form) and not talk.named.isdisjoint({(form, asked.call.name), (form, None)})
