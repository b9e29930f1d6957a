"""Conversations whose results name the call that they were made for, and operators that break them.

Defines an abstract conversation, its generation from a seed, and the faults that can happen between a program and its
log. Independent of wires and of the linter.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from random import Random

PLACEHOLDER = "No result provided"
"""The text that an agent writes for a missing result."""
NAMES = ("read_file", "write_file", "look_up")


@dataclass
class Piece:
    """A part of a turn. `mark` is the number of the call, or of the call that the result was made for."""

    kind: str
    words: str = ""
    mark: int = -1
    id: str | None = None
    name: str = ""


@dataclass
class Turn:
    role: str
    """`user`, `model` or `tool`."""
    pieces: list[Piece] = field(default_factory=list)

    def all(self, kind: str) -> list[Piece]:
        return [piece for piece in self.pieces if piece.kind == kind]


@dataclass
class Traits:
    """Features that conversations of a wire have."""

    make_id: Callable[[int, str], str | None]
    thoughts: bool = False
    server: bool = False
    separate: bool = True
    """Each result is a message of its own."""


Conversation = list[Turn]


def result_of(mark: int) -> str:
    return f"result-of-{mark}."


class Maker:
    """Generates one sound conversation."""

    def __init__(self, rng: Random, traits: Traits) -> None:
        self.rng = rng
        self.traits = traits
        self.count = 0
        self.turns: Conversation = []
        self.thinks = traits.thoughts and rng.random() < 0.5

    def conversation(self) -> Conversation:
        for number in range(self.rng.choice([1, 2, 2, 3])):
            self.turns.append(Turn("user", [Piece("text", f'user-{number}. é/"\\ 😀')]))
            for step in range(self.rng.choice([0, 1, 1, 2])):
                self.ask(f"say-{number}-{step}.")
            self.turns.append(Turn("model", [*self.thought(), Piece("text", f"answer-{number}.")]))
            if self.traits.server and self.rng.random() < 0.3:
                self.search()
        self.turns.append(Turn("user", [Piece("text", "user-final.")]))
        return self.turns

    def thought(self) -> list[Piece]:
        self.count += self.thinks
        return [Piece("thought", f"thought-{self.count}.", self.count)] if self.thinks else []

    def ask(self, words: str) -> None:
        text_pieces = [Piece("text", words)] if self.rng.random() < 0.5 else []
        calls = [self.call() for _ in range(self.rng.choice([1, 1, 2, 3]))]
        self.turns.append(Turn("model", [*self.thought(), *text_pieces, *calls]))
        results = [Piece("result", result_of(call.mark), call.mark, call.id, call.name) for call in calls]
        if self.traits.separate:
            self.turns += [Turn("tool", [result]) for result in results]
        else:
            self.turns.append(Turn("tool", results))

    def call(self) -> Piece:
        self.count += 1
        name = self.rng.choice(NAMES)
        return Piece("call", "", self.count, self.traits.make_id(self.count, name), name)

    def search(self) -> None:
        """A tool that the provider runs: call and result are in the turn of the model."""
        self.count += 1
        halves = [Piece(kind, "", self.count, f"srvtoolu_{self.count:06}") for kind in ("served", "found")]
        self.turns[-1].pieces[-1:-1] = halves


Operator = Callable[[Conversation, Random], bool]
OPERATORS: dict[str, Operator] = {}


def operator(one: Operator) -> Operator:
    OPERATORS[one.__name__.strip("_")] = one
    return one


Place = tuple[Turn, Piece]


def places(conversation: Conversation, kind: str) -> list[Place]:
    return [(turn, piece) for turn in conversation for piece in turn.pieces if piece.kind == kind]


def where(conversation: Conversation, turn: Turn) -> int:
    return next(number for number, item in enumerate(conversation) if item is turn)


def take(conversation: Conversation, turn: Turn, piece: Piece) -> int:
    """Remove a piece, and its turn if that is empty then. Return the position of the piece."""
    at = where(conversation, turn)
    turn.pieces[:] = [item for item in turn.pieces if item is not piece]
    if not any(item.kind != "thought" for item in turn.pieces):
        del conversation[at]
    return at


def any_of(conversation: Conversation, rng: Random, kind: str) -> Place | None:
    found = places(conversation, kind)
    return rng.choice(found) if found else None


def _drop(conversation: Conversation, rng: Random, *, kind: str) -> bool:
    place = any_of(conversation, rng, kind)
    if place:
        take(conversation, *place)
    return bool(place)


@operator
def _drop_result_turn(conversation: Conversation, rng: Random) -> bool:
    place = any_of(conversation, rng, "result")
    if place:
        del conversation[where(conversation, place[0])]
    return bool(place)


@operator
def _drop_call_message(conversation: Conversation, rng: Random) -> bool:
    place = any_of(conversation, rng, "call")
    if place:
        del conversation[where(conversation, place[0])]
    return bool(place)


def _again(
    conversation: Conversation, rng: Random, *, words: str = "", more: str = "", before: bool = False
) -> bool:
    place = any_of(conversation, rng, "result")
    if not place:
        return False
    turn, piece = place
    copy = deepcopy(piece)
    copy.words = words or copy.words + more
    if len(turn.pieces) > 1 and rng.random() < 0.5:
        turn.pieces.insert(turn.pieces.index(piece) + (not before), copy)
        return True
    at = where(conversation, turn)
    conversation.insert(
        at if before else min(len(conversation), at + rng.choice([1, 2])), Turn("tool", [copy])
    )
    return True


def _move(conversation: Conversation, rng: Random, *, steps: list[int]) -> bool:
    place = any_of(conversation, rng, "result")
    if not place:
        return False
    turn, piece = place
    before = len(conversation)
    at = take(conversation, turn, piece)
    there = at + rng.choice(steps) + (len(conversation) == before)
    conversation.insert(max(0, min(len(conversation) - 1, there)), Turn("tool", [piece]))
    return True


def _between(conversation: Conversation, rng: Random, *, role: str) -> bool:
    place = any_of(conversation, rng, "result")
    if place:
        text_piece = Piece("text", f"{role}-between-{rng.randrange(1000)}.")
        conversation.insert(where(conversation, place[0]), Turn(role, [text_piece]))
    return bool(place)


@operator
def _head_cut(conversation: Conversation, rng: Random) -> bool:
    del conversation[: rng.randrange(1, max(2, len(conversation) // 2))]
    return True


@operator
def _tail_cut(conversation: Conversation, rng: Random) -> bool:
    if len(conversation) < 3:
        return False
    del conversation[rng.randrange(len(conversation) // 2, len(conversation)) :]
    return True


@operator
def _swap(conversation: Conversation, rng: Random) -> bool:
    if len(conversation) < 3:
        return False
    at = rng.randrange(len(conversation) - 1)
    conversation[at], conversation[at + 1] = conversation[at + 1], conversation[at]
    return True


def _take_over(conversation: Conversation, call: Piece, identifier: str | None) -> None:
    """Give the call, and the first result made for it, this id."""
    call.id = identifier
    for _, result in places(conversation, "result"):
        if result.mark == call.mark:
            result.id = identifier
            break


@operator
def _one_id_for_two(conversation: Conversation, rng: Random) -> bool:
    turns = [turn for turn in conversation if len(turn.all("call")) > 1 and turn.all("call")[0].id]
    if turns:
        first, second = rng.choice(turns).all("call")[:2]
        _take_over(conversation, second, first.id)
    return bool(turns)


@operator
def _id_of_an_earlier_turn(conversation: Conversation, _: Random) -> bool:
    calls = places(conversation, "call")
    if len(calls) < 2 or calls[0][0] is calls[-1][0] or not calls[0][1].id:
        return False
    _take_over(conversation, calls[-1][1], calls[0][1].id)
    return True


@operator
def _ids_blank(conversation: Conversation, rng: Random) -> bool:
    """Remove all ids of a turn and its results: an empty text, or no id at all."""
    place = any_of(conversation, rng, "call")
    if not place or not place[1].id:
        return False
    blank = rng.choice(["", None])
    for call in place[0].all("call"):
        _take_over(conversation, call, blank)
    return True


def _blank(conversation: Conversation, rng: Random, *, kind: str) -> bool:
    place = any_of(conversation, rng, kind)
    if not place or not place[1].id:
        return False
    place[1].id = rng.choice(["", None])
    return True


@operator
def _split_results(conversation: Conversation, _: Random) -> bool:
    split = [turn for turn in conversation if turn.role == "tool" and len(turn.pieces) > 1]
    for turn in split:
        at = where(conversation, turn)
        conversation[at : at + 1] = [Turn("tool", [piece]) for piece in turn.pieces]
    return bool(split)


def _beside(conversation: Conversation, rng: Random, *, at: int) -> bool:
    place = any_of(conversation, rng, "result")
    if place:
        place[0].pieces.insert(at, Piece("text", f"beside-{rng.randrange(1000)}."))
    return bool(place)


@operator
def _results_turned(conversation: Conversation, rng: Random) -> bool:
    turns = [turn for turn in conversation if len(turn.all("result")) > 1]
    if turns:
        rng.choice(turns).pieces.reverse()
    return bool(turns)


@operator
def _replay(conversation: Conversation, rng: Random) -> bool:
    """Repeat a turn of the model with its results, directly after it or at the end."""
    place = any_of(conversation, rng, "call")
    if not place:
        return False
    at = end = where(conversation, place[0])
    end += 1
    while end < len(conversation) and conversation[end].role == "tool":
        end += 1
    there = rng.choice([end, len(conversation)])
    conversation[there:there] = deepcopy(conversation[at:end])
    return True


@operator
def _half_lost(conversation: Conversation, rng: Random) -> bool:
    place = any_of(conversation, rng, rng.choice(["served", "found"]))
    if place:
        take(conversation, *place)
    return bool(place)


@operator
def _half_moved(conversation: Conversation, rng: Random) -> bool:
    """Move the result of the provider's tool to the next turn of the model."""
    place = any_of(conversation, rng, "found")
    if not place:
        return False
    at = take(conversation, *place)
    later = [item for item in conversation[at + 1 :] if item.role == "model"]
    (later[0] if later else place[0]).pieces.insert(0, place[1])
    if not later and not any(item is place[0] for item in conversation):
        conversation.insert(at, place[0])
    return True


OPERATORS |= {
    "drop_result": partial(_drop, kind="result"),
    "drop_call": partial(_drop, kind="call"),
    "duplicate_equal": _again,
    "duplicate_other": partial(_again, more="#dup"),
    "duplicate_placeholder": partial(_again, words=PLACEHOLDER),
    "placeholder_first": partial(_again, words=PLACEHOLDER, before=True),
    "result_later": partial(_move, steps=[1, 2, 3]),
    "result_earlier": partial(_move, steps=[-1, -2, -3]),
    "user_between": partial(_between, role="user"),
    "model_between": partial(_between, role="model"),
    "text_before_results": partial(_beside, at=0),
    "text_behind_results": partial(_beside, at=99),
    "call_id_blank": partial(_blank, kind="call"),
    "result_id_blank": partial(_blank, kind="result"),
}


def broken(conversation: Conversation, rng: Random, most: int = 3) -> list[str]:
    """Break a conversation in place, at most `most` times. Return the names of the faults."""
    done = []
    for _ in range(min(most, rng.choice([0, 1, 1, 1, 2, 3]))):
        name = rng.choice(sorted(OPERATORS))
        if OPERATORS[name](conversation, rng):
            done.append(name)
    return done
