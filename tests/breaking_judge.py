"""Check the bytes of a repaired conversation.

Implements strict pairing on each wire, and compares a conversation before and after: kept, mispaired and changed
parts. Written from the specifications of the wires, independent of the linter.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from breaking import PLACEHOLDER, Conversation, Piece, Turn
from breaking_files import Case
from breaking_wires import Wire

BLOCKS = ("anthropic", "bedrock", "gemini", "canonical")
UNIQUE = ("anthropic", "mistral", "openai-responses")
IDLESS = ("gemini", "ollama")


def merged(turns: Conversation) -> Conversation:
    """Join consecutive messages of one role."""
    out: Conversation = []
    for turn in turns:
        if out and out[-1].role == turn.role:
            out[-1] = Turn(turn.role, [*out[-1].pieces, *turn.pieces])
        else:
            out.append(turn)
    return out


def unsound(wire: str, turns: Conversation) -> str | None:
    """The reason for which a provider would refuse the calls and results of a conversation."""
    calls = [item for turn in turns for item in turn.all("call")]
    ids = [call.id for call in calls if call.id]
    if wire not in IDLESS and len(ids) < len(calls):
        return "a call without an id"
    if wire in UNIQUE and len(set(ids)) < len(ids):
        return "an id twice"
    if wire == "ollama" and not all(
        piece.id for turn in turns for piece in turn.pieces if piece.kind in ("call", "result")
    ):
        return None  # results in any order
    if wire == "openai-responses":
        return _anywhere(turns)
    if wire == "mistral" and not all(re.fullmatch("[A-Za-z0-9]{9}", identifier) for identifier in ids):
        return "an id of another form"
    return _blocks(wire, turns) if wire in BLOCKS else _messages(wire, turns)


def _match(wire: str, calls: list[Piece], results: list[Piece]) -> bool:
    """Whether each call has its one result."""
    if wire in IDLESS and not all(piece.id for piece in (*calls, *results)):
        return len(calls) == len(results)  # such wires only count results
    ids = [call.id for call in calls]
    return len(set(ids)) == len(ids) and Counter(ids) == Counter(result.id for result in results)


def _anywhere(turns: Conversation) -> str | None:
    open_calls: dict[str | None, int] = {}
    for turn in turns:
        for piece in turn.pieces:
            if piece.kind == "call":
                open_calls[piece.id] = 1
            elif piece.kind == "result" and open_calls.pop(piece.id, None) is None:
                return "an output without its call before it"
    return "a call without an output" if open_calls else None


def _messages(wire: str, turns: Conversation) -> str | None:
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


def _blocks(wire: str, turns: Conversation) -> str | None:
    turns = merged(turns)
    open_calls: list[Piece] = []
    for number, turn in enumerate(turns):
        results = turn.all("result")
        first = [piece.kind for piece in turn.pieces[: len(results)]]
        last = number == len(turns) - 1
        if wire == "canonical" and last:  # no provider is known to refuse an open call here
            open_calls = [call for call in open_calls if call.id in {answer.id for answer in results}]
        if not _match(wire, open_calls, results):
            return "calls and the results in the next turn differ"
        if wire == "anthropic" and any(kind != "result" for kind in first):
            return "something before the results"
        open_calls = turn.all("call")
        if last and wire == "canonical":
            open_calls = []
        halves = (
            Counter(item.id for item in turn.all("served")),
            Counter(item.id for item in turn.all("found")),
        )
        if halves[0] != halves[1] and not (last and not halves[1]):
            return "half of what the provider ran"
    return "a last call without a result" if open_calls else None


def pairs(wire: Wire, turns: Conversation) -> list[tuple[Piece, Piece]]:
    """Calls with the results that a strict reader assigns to them."""
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
                    call
                    for call in open_calls
                    if (call.id == piece.id if piece.id else call.name == piece.name)
                ]
                if fits:
                    found.append((fits[0], piece))
                    open_calls.remove(fits[0])
    return found


def real(piece: Piece) -> bool:
    return piece.words.startswith("result-of-")


class Before:
    """A conversation before its repair, and the requirements on the repair."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.pieces = [piece for turn in conversation for piece in turn.pieces]
        self.calls = [piece for piece in self.pieces if piece.kind == "call"]
        self.results = [piece for piece in self.pieces if piece.kind == "result"]
        self.by_id: dict[str, set[int]] = {}
        for entry in (*self.calls, *self.results):
            if entry.id and (entry.kind == "call" or real(entry)):
                self.by_id.setdefault(entry.id, set()).add(entry.mark)
        self.asked = Counter(call.mark for call in self.calls)

    def plain(self, mark: int) -> bool:
        """Whether the ids alone determine which results belong to this call."""
        own = [
            piece
            for piece in (*self.calls, *self.results)
            if piece.mark == mark and (piece.kind == "call" or real(piece))
        ]
        ids = {item.id for item in own}
        if len(ids) != 1 or self.asked[mark] != 1 or not (identifier := ids.pop()):
            return False
        return self.by_id[identifier] == {mark}

    def duties(self) -> Iterator[tuple[Piece, str]]:
        """Real results that a repair should keep, and whether that is certain."""
        for result in self.results:
            if real(result) and self.asked[result.mark]:
                bearing = [call for call in self.calls if call.id == result.id]
                if self.plain(result.mark):
                    yield result, ""
                elif result.id and not bearing:
                    continue
                else:
                    yield result, " (unsure)"


def kept(wire: Wire, before: Before, after: Conversation) -> Iterator[str]:
    """Differences of the calls and results from those before."""
    there = [piece for turn in after for piece in turn.pieces]
    paired = pairs(wire, after)
    for mark in before.asked:
        if mark not in {item.mark for item in there if item.kind == "call"}:
            yield "call lost"
    results = {item.mark for item in there if item.kind == "result"}
    for one, sure in before.duties():
        if one.mark not in results:
            yield f"result lost{sure}"
    for call, result in paired:
        if real(result) and call.mark != result.mark:
            sure = "" if before.plain(result.mark) else " (unsure)"
            yield f"mispaired{sure}"
    for call, result in paired:
        if result.words == PLACEHOLDER and any(
            real(result) and result.mark == call.mark for result in before.results
        ):
            yield "placeholder won over a result" + ("" if before.plain(call.mark) else " (unsure)")
    words = "\n".join(piece.words for piece in there)
    refused = _final_thoughts(before.conversation) if wire.name == "anthropic" else set()
    for piece in before.pieces:
        if piece.kind in ("text", "thought") and piece.words not in words and id(piece) not in refused:
            yield f"{piece.kind} lost"


def _final_thoughts(conversation: Conversation) -> set[int]:
    """The thoughts of model messages that end with a thought, which Anthropic rejects."""
    ends = (
        turn for turn in merged(conversation) if turn.role == "model" and turn.pieces[-1].kind == "thought"
    )
    return {id(piece) for turn in ends for piece in turn.all("thought")}


def beyond(level: str, before: Conversation, after: Conversation) -> Iterator[str]:
    """Changes that a level may not make: a loss below the last level, an addition at the first."""

    def held(conversation: Conversation) -> set[tuple[str, str, int]]:
        pieces = (
            piece
            for turn in conversation
            for piece in turn.pieces
            if piece.kind in ("text", "call", "result")
        )
        return {(piece.kind, piece.words, piece.mark) for piece in pieces}

    was, now = held(before), held(after)
    yield from (f"{level} took a {kind} away" for kind, _, _ in was - now)
    for kind, words, mark in now - was:
        if level == "lossless" or kind == "call" or mark >= 0 or words == PLACEHOLDER:
            yield f"{level} added a {kind}"


def untouched(case: Case, raws: list[str]) -> list[str]:
    """The messages that no repair has a reason to change, as the file spells them."""
    found = []
    sound = _sound_turns(case)
    spelled = case.messages()
    while case.wire.name == "mistral" and spelled and spelled[-1].turn.role != "user":
        spelled, raws = (
            spelled[:-1],
            raws[:-1],
        )  # the last message of the model must get a mark that it continues
    for one, raw in zip(spelled, raws, strict=True):
        plain = one.turn.role != "tool" and all(piece.kind in ("text", "thought") for piece in one.pieces)
        if raws.count(raw) == 1 and (id(one.turn) in sound or (plain and _apart(case, one.turn))):
            found.append(raw)
    return found


def _apart(case: Case, turn: Turn, end: int = 1) -> bool:
    """Whether no neighbour of these turns has the same role, for wires that join messages of one role."""
    if case.wire.name not in BLOCKS:
        return True
    at = next(number for number, item in enumerate(case.conversation) if item is turn)
    sides = [
        case.conversation[at - 1] if at else None,
        turn,
        case.conversation[at + end - 1],
        (*case.conversation, None)[at + end],
    ]
    roles = [("user" if side.role == "tool" else side.role) if side else "" for side in sides]
    return roles[0] != roles[1] and roles[2] != roles[3]


def _sound_turns(case: Case) -> set[int]:
    """Turns with calls whose results follow them correctly, and those results."""
    found: set[int] = set()
    conversation, before = case.conversation, Before(case.conversation)
    for at, turn in enumerate(conversation):
        calls = turn.all("call")
        end = at + 1
        while end < len(conversation) and conversation[end].role == "tool":
            end += 1
        results = [piece for item in conversation[at + 1 : end] for piece in item.pieces]
        alone = all(before.plain(call.mark) for call in calls)
        only = [result.mark for result in results] == [call.mark for call in calls] and all(
            map(real, results)
        )
        once = all(sum(result.mark == call.mark for result in before.results) == 1 for call in calls)
        together = case.wire.name not in BLOCKS or end == at + 2
        mixed = any(piece.kind in ("served", "found") for piece in turn.pieces)
        if (
            calls
            and alone
            and only
            and once
            and together
            and not mixed
            and not (at and conversation[at - 1].role == "model")
        ):
            found |= {id(item) for item in conversation[at:end]} if _apart(case, turn, end - at) else set()
    return found


def in_order(raws: list[str], data: bytes) -> str | None:
    """The first of these that is not in the bytes after the ones before it."""
    at = 0
    for raw in raws:
        there = data.find(raw.encode(), at)
        if there < 0:
            return raw
        at = there + len(raw.encode())
    return None


def links(messages: list[dict[str, Any]]) -> bool:
    """Whether each message links to the one before it."""
    own = "message_id" if any("message_id" in message for message in messages) else "id"
    parent = "parent_" + ("message_id" if own == "message_id" else "id")
    return all(second.get(parent) == first.get(own) for first, second in pairwise(messages))
