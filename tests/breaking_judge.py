"""What a repaired conversation must be, judged from its bytes.

This module owns strict pairing on each wire, and the comparison of a conversation before and after: what was kept,
what was mispaired, what was touched. It knows the wires from their specifications and refuses to know anything of
the linter.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from breaking import PLACEHOLDER, Piece, Talk, Turn
from breaking_files import Case
from breaking_wires import Wire

BLOCKS = ("anthropic", "bedrock", "gemini", "canonical")
UNIQUE = ("anthropic", "mistral", "openai-responses")
IDLESS = ("gemini", "ollama")


def merged(turns: Talk) -> Talk:
    """Messages of one role that follow each other are one."""
    out: Talk = []
    for turn in turns:
        if out and out[-1].role == turn.role:
            out[-1] = Turn(turn.role, [*out[-1].pieces, *turn.pieces])
        else:
            out.append(turn)
    return out


def unsound(wire: str, turns: Talk) -> str | None:
    """Why a provider would refuse the conversation for its calls and results."""
    calls = [one for turn in turns for one in turn.all("call")]
    ids = [one.id for one in calls if one.id]
    if wire not in IDLESS and len(ids) < len(calls):
        return "a call without an id"
    if wire in UNIQUE and len(set(ids)) < len(ids):
        return "an id twice"
    if wire == "ollama" and not all(
        one.id for turn in turns for one in turn.pieces if one.kind in ("call", "result")
    ):
        return None  # it takes what comes
    if wire == "openai-responses":
        return _anywhere(turns)
    if wire == "mistral" and not all(re.fullmatch("[A-Za-z0-9]{9}", one) for one in ids):
        return "an id of another form"
    return _blocks(wire, turns) if wire in BLOCKS else _messages(wire, turns)


def _match(wire: str, calls: list[Piece], results: list[Piece]) -> bool:
    """Each call has its one result."""
    if wire in IDLESS and not all(one.id for one in (*calls, *results)):
        return len(calls) == len(results)  # what takes them counts them
    ids = [one.id for one in calls]
    return len(set(ids)) == len(ids) and Counter(ids) == Counter(one.id for one in results)


def _anywhere(turns: Talk) -> str | None:
    asked: dict[str | None, int] = {}
    for turn in turns:
        for piece in turn.pieces:
            if piece.kind == "call":
                asked[piece.id] = 1
            elif piece.kind == "result" and asked.pop(piece.id, None) is None:
                return "an output without its call before it"
    return "a call without an output" if asked else None


def _messages(wire: str, turns: Talk) -> str | None:
    at = 0
    while at < len(turns):
        calls = turns[at].all("call")
        end = at + 1
        while end < len(turns) and turns[end].role == "tool":
            end += 1
        results = [piece for turn in turns[at + 1 : end] for piece in turn.pieces]
        if turns[at].role == "tool" or not _match(wire, calls, results):
            return "calls and the results behind them differ"
        at = end
    return None


def _blocks(wire: str, turns: Talk) -> str | None:
    turns = merged(turns)
    asked: list[Piece] = []
    for number, turn in enumerate(turns):
        results = turn.all("result")
        first = [one.kind for one in turn.pieces[: len(results)]]
        last = number == len(turns) - 1
        if wire == "canonical" and last:  # nobody is named who would refuse a call that waits
            asked = [one for one in asked if one.id in {answer.id for answer in results}]
        if not _match(wire, asked, results):
            return "calls and the results in the next turn differ"
        if wire == "anthropic" and any(kind != "result" for kind in first):
            return "something before the results"
        asked = turn.all("call")
        if last and wire == "canonical":
            asked = []
        halves = Counter(one.id for one in turn.all("served")), Counter(one.id for one in turn.all("found"))
        if halves[0] != halves[1] and not (last and not halves[1]):
            return "half of what the provider ran"
    return "a last call without a result" if asked else None


def pairs(wire: Wire, turns: Talk) -> list[tuple[Piece, Piece]]:
    """Calls with the results that a strict reader gives them."""
    found: list[tuple[Piece, Piece]] = []
    open_calls: list[Piece] = []
    for turn in merged(turns):
        calls = turn.all("call")
        if calls and wire.key != "input":
            open_calls = []
        for piece in turn.pieces:
            if piece.kind == "call":
                open_calls.append(piece)
            elif piece.kind == "result":
                fits = [
                    one for one in open_calls if (one.id == piece.id if piece.id else one.name == piece.name)
                ]
                if fits:
                    found.append((fits[0], piece))
                    open_calls.remove(fits[0])
    return found


def real(piece: Piece) -> bool:
    return piece.words.startswith("result-of-")


class Before:
    """What the conversation was, and what may be asked of its repair."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.pieces = [piece for turn in talk for piece in turn.pieces]
        self.calls = [one for one in self.pieces if one.kind == "call"]
        self.results = [one for one in self.pieces if one.kind == "result"]
        self.by_id: dict[str, set[int]] = {}
        for one in (*self.calls, *self.results):
            if one.id and (one.kind == "call" or real(one)):
                self.by_id.setdefault(one.id, set()).add(one.mark)
        self.asked = Counter(one.mark for one in self.calls)

    def plain(self, mark: int) -> bool:
        """Whether the ids say without a doubt which results are this call's."""
        own = [
            one
            for one in (*self.calls, *self.results)
            if one.mark == mark and (one.kind == "call" or real(one))
        ]
        ids = {one.id for one in own}
        if len(ids) != 1 or self.asked[mark] != 1 or not (identifier := ids.pop()):
            return False
        return self.by_id[identifier] == {mark}

    def duties(self) -> Iterator[tuple[Piece, str]]:
        """Real results that should be kept, and how sure that is."""
        for one in self.results:
            if real(one) and self.asked[one.mark]:
                bearing = [call for call in self.calls if call.id == one.id]
                if self.plain(one.mark):
                    yield one, ""
                elif one.id and not bearing:
                    continue
                else:
                    yield one, " (unsure)"


def kept(wire: Wire, before: Before, after: Talk) -> Iterator[str]:
    """What of the calls and results is not as it was."""
    there = [piece for turn in after for piece in turn.pieces]
    paired = pairs(wire, after)
    for mark in before.asked:
        if mark not in {one.mark for one in there if one.kind == "call"}:
            yield "call lost"
    results = {one.mark for one in there if one.kind == "result"}
    for one, sure in before.duties():
        if one.mark not in results:
            yield f"result lost{sure}"
    for call, result in paired:
        if real(result) and call.mark != result.mark:
            sure = "" if before.plain(result.mark) else " (unsure)"
            yield f"mispaired{sure}"
    for call, result in paired:
        if result.words == PLACEHOLDER and any(real(one) and one.mark == call.mark for one in before.results):
            yield "placeholder won over a result" + ("" if before.plain(call.mark) else " (unsure)")
    words = "\n".join(piece.words for piece in there)
    refused = _final_thoughts(before.talk) if wire.name == "anthropic" else set()
    for piece in before.pieces:
        if piece.kind in ("text", "thought") and piece.words not in words and id(piece) not in refused:
            yield f"{piece.kind} lost"


def _final_thoughts(talk: Talk) -> set[int]:
    """The thoughts of model messages that end with a thought, which Anthropic rejects."""
    ends = (turn for turn in merged(talk) if turn.role == "model" and turn.pieces[-1].kind == "thought")
    return {id(piece) for turn in ends for piece in turn.all("thought")}


def beyond(level: str, before: Talk, after: Talk) -> Iterator[str]:
    """What a level below the last may not do: lose what is said nowhere else, and the first of them make anything up."""

    def held(talk: Talk) -> set[tuple[str, str, int]]:
        pieces = (piece for turn in talk for piece in turn.pieces if piece.kind in ("text", "call", "result"))
        return {(one.kind, one.words, one.mark) for one in pieces}

    was, now = held(before), held(after)
    yield from (f"{level} took a {kind} away" for kind, _, _ in was - now)
    for kind, words, mark in now - was:
        if level == "lossless" or kind == "call" or mark >= 0 or words == PLACEHOLDER:
            yield f"{level} added a {kind}"


def untouched(case: Case, raws: list[str]) -> list[str]:
    """The messages that no repair has a reason to touch, as the file has them."""
    found = []
    sound = _sound_turns(case)
    spelled = case.messages()
    while case.wire.name == "mistral" and spelled and spelled[-1].turn.role != "user":
        spelled, raws = (
            spelled[:-1],
            raws[:-1],
        )  # what the model says last has to say that it shall go on from there
    for one, raw in zip(spelled, raws, strict=True):
        plain = one.turn.role != "tool" and all(piece.kind in ("text", "thought") for piece in one.pieces)
        if raws.count(raw) == 1 and (id(one.turn) in sound or (plain and _apart(case, one.turn))):
            found.append(raw)
    return found


def _apart(case: Case, turn: Turn, end: int = 1) -> bool:
    """Whether the neighbours of some turns are others', where the wire takes neighbours of one role for one."""
    if case.wire.name not in BLOCKS:
        return True
    at = next(number for number, one in enumerate(case.talk) if one is turn)
    sides = [case.talk[at - 1] if at else None, turn, case.talk[at + end - 1], (*case.talk, None)[at + end]]
    roles = [("user" if one.role == "tool" else one.role) if one else "" for one in sides]
    return roles[0] != roles[1] and roles[2] != roles[3]


def _sound_turns(case: Case) -> set[int]:
    """Turns with calls whose results stand behind them as they should, and those results."""
    found: set[int] = set()
    talk, before = case.talk, Before(case.talk)
    for at, turn in enumerate(talk):
        calls = turn.all("call")
        end = at + 1
        while end < len(talk) and talk[end].role == "tool":
            end += 1
        results = [piece for one in talk[at + 1 : end] for piece in one.pieces]
        alone = all(before.plain(one.mark) for one in calls)
        only = [one.mark for one in results] == [one.mark for one in calls] and all(map(real, results))
        once = all(sum(one.mark == call.mark for one in before.results) == 1 for call in calls)
        together = case.wire.name not in BLOCKS or end == at + 2
        mixed = any(one.kind in ("served", "found") for one in turn.pieces)
        if (
            calls
            and alone
            and only
            and once
            and together
            and not mixed
            and not (at and talk[at - 1].role == "model")
        ):
            found |= {id(one) for one in talk[at:end]} if _apart(case, turn, end - at) else set()
    return found


def in_order(raws: list[str], data: bytes) -> str | None:
    """The first of these that is not in the bytes behind those before it."""
    at = 0
    for raw in raws:
        there = data.find(raw.encode(), at)
        if there < 0:
            return raw
        at = there + len(raw.encode())
    return None


def links(messages: list[dict[str, Any]]) -> bool:
    """Whether each names the one before it."""
    own = "message_id" if any("message_id" in one for one in messages) else "id"
    parent = "parent_" + ("message_id" if own == "message_id" else "id")
    return all(second.get(parent) == first.get(own) for first, second in pairwise(messages))
