"""Faults in the evidence of pairing: contradictory ids, names and positions of calls and results.

This module adds operators to those of `breaking`. Each takes a conversation and a random generator, and returns
whether it changed something.
"""

import unicodedata
from copy import deepcopy
from random import Random

from breaking import NAMES, OPERATORS, Conversation, Operator, Piece, Turn, any_of, places, take, where

MORE: dict[str, Operator] = {}


def operator(one: Operator) -> Operator:
    MORE[one.__name__.strip("_")] = one
    return one


def _both(conversation: Conversation, call: Piece, identifier: str | None) -> None:
    """Give a call and every result made for it the same id."""
    call.id = identifier
    for _, result in places(conversation, "result"):
        if result.mark == call.mark:
            result.id = identifier


def _call_with_results(conversation: Conversation, rng: Random) -> tuple[Piece, list[Piece]] | None:
    place = any_of(conversation, rng, "call")
    if place is None:
        return None
    results = [one for _, one in places(conversation, "result") if one.mark == place[1].mark]
    return (place[1], results) if results else None


@operator
def _one_id_for_all(conversation: Conversation, rng: Random) -> bool:
    calls = [call for _, call in places(conversation, "call")]
    if len(calls) < 2:
        return False
    identifier = rng.choice([calls[0].id, "call_0"])
    for call in calls:
        _both(conversation, call, identifier)
    return True


@operator
def _reused_in_each_turn(conversation: Conversation, rng: Random) -> bool:
    """Ids count from 0 in each turn, as on some servers."""
    del rng
    turns = [turn for turn in conversation if turn.all("call")]
    for turn in turns:
        for number, call in enumerate(turn.all("call")):
            _both(conversation, call, f"call_{number}")
    return len(turns) > 1


@operator
def _bare_prefix(conversation: Conversation, rng: Random) -> bool:
    place = any_of(conversation, rng, "call")
    if place:
        _both(conversation, place[1], rng.choice(["call_", "toolu_", "hist_tool_"]))
    return bool(place)


@operator
def _blank_white(conversation: Conversation, rng: Random) -> bool:
    place = any_of(conversation, rng, rng.choice(["call", "result"]))
    if place:
        place[1].id = rng.choice([" ", "\t", "null", "REDACTED"])
    return bool(place)


@operator
def _white_space(conversation: Conversation, rng: Random) -> bool:
    place = any_of(conversation, rng, rng.choice(["call", "result"]))
    if not place or not place[1].id:
        return False
    place[1].id = rng.choice([" {}", "{} ", "{}\n"]).format(place[1].id)
    return True


@operator
def _normal_forms(conversation: Conversation, rng: Random) -> bool:
    found = _call_with_results(conversation, rng)
    if not found or not found[0].id:
        return False
    call, results = found
    call.id = unicodedata.normalize("NFC", f"é{call.id}")
    for result in results:
        result.id = unicodedata.normalize("NFD", call.id)
    return True


@operator
def _other_ids_at_results(conversation: Conversation, rng: Random) -> bool:
    """All results of a turn have ids that no call has; a call may have lost its own."""
    place = any_of(conversation, rng, "call")
    if not place:
        return False
    calls = place[0].all("call")
    marks = {call.mark for call in calls}
    for number, (_, result) in enumerate(places(conversation, "result")):
        if result.mark in marks and rng.random() < 0.8:
            result.id = f"call_{('one', 'two', 'three', 'four', 'five')[number % 5]}"
    if rng.random() < 0.7:
        rng.choice(calls).id = rng.choice(["", None])
    return True


@operator
def _stray_numbered(conversation: Conversation, rng: Random) -> bool:
    """A result under an id that a provider which counts calls would give."""
    if not conversation:
        return False
    stray = Piece("result", "result-of-900.", 900, f"functions.{rng.choice(NAMES)}:{rng.choice([0, 0, 1])}")
    stray.name = rng.choice(NAMES)
    conversation.insert(rng.randrange(len(conversation) + 1), Turn("tool", [stray]))
    return True


@operator
def _stray_blank(conversation: Conversation, rng: Random) -> bool:
    stray = Piece("result", "result-of-901.", 901, rng.choice(["", None]), rng.choice(NAMES))
    conversation.insert(rng.randrange(len(conversation) + 1), Turn("tool", [stray]))
    return True


@operator
def _stray_like_a_call(conversation: Conversation, rng: Random) -> bool:
    """A result of another conversation whose id differs from a call's in white space or case only."""
    place = any_of(conversation, rng, "call")
    if not place or not place[1].id:
        return False
    identifier = rng.choice([place[1].id.upper(), place[1].id[:-1], place[1].id + "0"])
    stray = Piece("result", "result-of-902.", 902, identifier, place[1].name)
    conversation.insert(rng.randrange(len(conversation) + 1), Turn("tool", [stray]))
    return True


@operator
def _stray_under_a_usual_id(conversation: Conversation, rng: Random) -> bool:
    """A result under an id in the spelling of providers, agents and histories."""
    identifier = rng.choice(
        ["functions.rm:0", "call_1", "toolu_1", "hist_tool_1", f"hist_tool_{'a' * 24}", "a" * 9, "tooluse_1"]
    )
    stray = Piece("result", "result-of-903.", 903, identifier, rng.choice(NAMES))
    conversation.insert(rng.randrange(len(conversation) + 1), Turn("tool", [stray]))
    return True


@operator
def _other_case(conversation: Conversation, rng: Random) -> bool:
    """The id of a result differs from that of its call in case: it is another id."""
    place = any_of(conversation, rng, "result")
    if not place or not place[1].id:
        return False
    place[1].id = place[1].id.swapcase()
    return True


@operator
def _names_exchanged(conversation: Conversation, rng: Random) -> bool:
    """Two results of a turn have each other's names."""
    turns = [turn for turn in conversation if len(turn.all("result")) > 1]
    if not turns:
        return False
    first, second = rng.choice(turns).all("result")[:2]
    first.name, second.name = second.name, first.name
    return True


@operator
def _id_of_another_call(conversation: Conversation, rng: Random) -> bool:
    """A result has the id of a call of any turn."""
    result, call = any_of(conversation, rng, "result"), any_of(conversation, rng, "call")
    if not result or not call:
        return False
    result[1].id = call[1].id
    return True


@operator
def _into_the_calling_turn(conversation: Conversation, rng: Random) -> bool:
    """Move the result into the turn of its call, with a text after it."""
    found = _call_with_results(conversation, rng)
    if not found:
        return False
    call, results = found
    turn = next(item for item in conversation if any(piece is call for piece in item.pieces))
    place = next(place for place in places(conversation, "result") if place[1] is results[0])
    take(conversation, *place)
    at = next(number for number, piece in enumerate(turn.pieces) if piece is call)
    turn.pieces.insert(at + 1, results[0])
    if rng.random() < 0.7:
        turn.pieces.insert(at + 2, Piece("text", f"said-{call.mark}."))
    return True


@operator
def _wrong_name(conversation: Conversation, rng: Random) -> bool:
    place = any_of(conversation, rng, "result")
    if place:
        place[1].name = rng.choice(NAMES)
    return bool(place)


@operator
def _renamed_call(conversation: Conversation, rng: Random) -> bool:
    """Give every call a tool of its own, so that names alone distinguish the results."""
    del rng
    for number, (_, call) in enumerate(places(conversation, "call")):
        call.name = f"{NAMES[number % len(NAMES)]}_{number}"
        for _, result in places(conversation, "result"):
            if result.mark == call.mark:
                result.name = call.name
    return bool(places(conversation, "call"))


@operator
def _answered_in_a_later_turn(conversation: Conversation, rng: Random) -> bool:
    """Move the results of a turn into the window of the next one, under one id with those."""
    turns = [turn for turn in conversation if turn.all("call")]
    if len(turns) < 2:
        return False
    at = rng.randrange(len(turns) - 1)
    first, second = turns[at].all("call")[0], turns[at + 1].all("call")[0]
    _both(conversation, second, first.id)
    own = [place for place in places(conversation, "result") if place[1].mark == first.mark]
    if not own:
        return False
    take(conversation, *own[0])
    there = where(conversation, turns[at + 1]) + 1
    if there < len(conversation) and conversation[there].role == "tool" and rng.random() < 0.5:
        conversation[there].pieces.insert(rng.choice([0, len(conversation[there].pieces)]), own[0][1])
    else:
        conversation.insert(there + rng.choice([0, 1]), Turn("tool", [own[0][1]]))
    return True


@operator
def _copy_of_a_call(conversation: Conversation, rng: Random) -> bool:
    """Repeat a call, with its arguments in another spelling."""
    place = any_of(conversation, rng, "call")
    if not place:
        return False
    copy = deepcopy(place[1])
    copy.words = rng.choice(["", "wide"])
    place[0].pieces.append(copy)
    return True


@operator
def _partial_first(conversation: Conversation, rng: Random) -> bool:
    """Put a partial result before the complete one."""
    place = any_of(conversation, rng, "result")
    if not place:
        return False
    partial = deepcopy(place[1])
    partial.words, partial.kind = partial.words[:-1], "partial"
    place[0].pieces.insert(place[0].pieces.index(place[1]), partial)
    return True


@operator
def _call_among_results(conversation: Conversation, rng: Random) -> bool:
    """Put a call beside its result in a turn of results, and keep it in its own turn or not."""
    found = _call_with_results(conversation, rng)
    if not found:
        return False
    call, results = found
    turn = next(turn for turn, piece in places(conversation, "result") if piece is results[0])
    turn.pieces.insert(0, deepcopy(call))
    if rng.random() < 0.5:
        own = next(place for place in places(conversation, "call") if place[1] is call)
        take(conversation, *own)
    return True


@operator
def _results_of_two_exchanged(conversation: Conversation, rng: Random) -> bool:
    """Swap the positions of the results of two calls, with their own ids and names."""
    found = places(conversation, "result")
    if len(found) < 2:
        return False
    (one, first), (other, second) = rng.sample(found, 2)
    here, there = one.pieces.index(first), other.pieces.index(second)
    one.pieces[here], other.pieces[there] = second, first
    return True


ALL: dict[str, Operator] = {**OPERATORS, **MORE}


def broken(conversation: Conversation, rng: Random) -> list[str]:
    """Break a conversation up to four times, in place, and return how."""
    done = []
    for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3, 4])):
        name = rng.choice(sorted(ALL if rng.random() < 0.4 else MORE))
        if ALL[name](conversation, rng):
            done.append(name)
    return done
