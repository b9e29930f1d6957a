"""Conversations whose results say for which call they were made, and the ways in which they break.

This module owns an abstract conversation, its making from a seed, and what may happen to it on the way from a
program to its log. It refuses to know any wire and anything of the linter.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from random import Random

PLACEHOLDER = "No result provided"
"""What an agent writes for a result that it does not have."""
NAMES = ("read_file", "write_file", "look_up")


@dataclass
class Piece:
    """Something in a turn. `mark` says which call it is, or was made for."""

    kind: str
    words: str = ""
    mark: int = -1
    id: str | None = None
    name: str = ""


@dataclass
class Turn:
    role: str
    """user, model or tool"""
    pieces: list[Piece] = field(default_factory=list)

    def all(self, kind: str) -> list[Piece]:
        return [one for one in self.pieces if one.kind == kind]


@dataclass
class Traits:
    """What conversations of a wire have."""

    make_id: Callable[[int, str], str | None]
    thoughts: bool = False
    server: bool = False
    separate: bool = True
    """Each result is a message of its own."""


Talk = list[Turn]


def result_of(mark: int) -> str:
    return f"result-of-{mark}."


class Maker:
    """One sound conversation."""

    def __init__(self, rng: Random, traits: Traits) -> None:
        self.rng = rng
        self.traits = traits
        self.count = 0
        self.turns: Talk = []
        self.thinks = traits.thoughts and rng.random() < 0.5

    def talk(self) -> Talk:
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
        said = [Piece("text", words)] if self.rng.random() < 0.5 else []
        calls = [self.call() for _ in range(self.rng.choice([1, 1, 2, 3]))]
        self.turns.append(Turn("model", [*self.thought(), *said, *calls]))
        results = [Piece("result", result_of(one.mark), one.mark, one.id, one.name) for one in calls]
        if self.traits.separate:
            self.turns += [Turn("tool", [one]) for one in results]
        else:
            self.turns.append(Turn("tool", results))

    def call(self) -> Piece:
        self.count += 1
        name = self.rng.choice(NAMES)
        return Piece("call", "", self.count, self.traits.make_id(self.count, name), name)

    def search(self) -> None:
        """The provider's own tool: both halves stand in the model's turn."""
        self.count += 1
        halves = [Piece(kind, "", self.count, f"srvtoolu_{self.count:06}") for kind in ("served", "found")]
        self.turns[-1].pieces[-1:-1] = halves


Operator = Callable[[Talk, Random], bool]
OPERATORS: dict[str, Operator] = {}


def operator(one: Operator) -> Operator:
    OPERATORS[one.__name__.strip("_")] = one
    return one


Place = tuple[Turn, Piece]


def places(talk: Talk, kind: str) -> list[Place]:
    return [(turn, piece) for turn in talk for piece in turn.pieces if piece.kind == kind]


def where(talk: Talk, turn: Turn) -> int:
    return next(number for number, one in enumerate(talk) if one is turn)


def take(talk: Talk, turn: Turn, piece: Piece) -> int:
    """Take a piece out, and the turn if nothing is left of it. Returns where it stood."""
    at = where(talk, turn)
    turn.pieces[:] = [one for one in turn.pieces if one is not piece]
    if not any(one.kind != "thought" for one in turn.pieces):
        del talk[at]
    return at


def any_of(talk: Talk, rng: Random, kind: str) -> Place | None:
    found = places(talk, kind)
    return rng.choice(found) if found else None


def _drop(talk: Talk, rng: Random, *, kind: str) -> bool:
    place = any_of(talk, rng, kind)
    if place:
        take(talk, *place)
    return bool(place)


@operator
def _drop_result_turn(talk: Talk, rng: Random) -> bool:
    place = any_of(talk, rng, "result")
    if place:
        del talk[where(talk, place[0])]
    return bool(place)


@operator
def _drop_call_message(talk: Talk, rng: Random) -> bool:
    place = any_of(talk, rng, "call")
    if place:
        del talk[where(talk, place[0])]
    return bool(place)


def _again(talk: Talk, rng: Random, *, words: str = "", more: str = "", before: bool = False) -> bool:
    place = any_of(talk, rng, "result")
    if not place:
        return False
    turn, piece = place
    copy = deepcopy(piece)
    copy.words = words or copy.words + more
    if len(turn.pieces) > 1 and rng.random() < 0.5:
        turn.pieces.insert(turn.pieces.index(piece) + (not before), copy)
        return True
    at = where(talk, turn)
    talk.insert(at if before else min(len(talk), at + rng.choice([1, 2])), Turn("tool", [copy]))
    return True


def _move(talk: Talk, rng: Random, *, steps: list[int]) -> bool:
    place = any_of(talk, rng, "result")
    if not place:
        return False
    turn, piece = place
    before = len(talk)
    at = take(talk, turn, piece)
    there = at + rng.choice(steps) + (len(talk) == before)
    talk.insert(max(0, min(len(talk) - 1, there)), Turn("tool", [piece]))
    return True


def _between(talk: Talk, rng: Random, *, role: str) -> bool:
    place = any_of(talk, rng, "result")
    if place:
        said = Piece("text", f"{role}-between-{rng.randrange(1000)}.")
        talk.insert(where(talk, place[0]), Turn(role, [said]))
    return bool(place)


@operator
def _head_cut(talk: Talk, rng: Random) -> bool:
    del talk[: rng.randrange(1, max(2, len(talk) // 2))]
    return True


@operator
def _tail_cut(talk: Talk, rng: Random) -> bool:
    if len(talk) < 3:
        return False
    del talk[rng.randrange(len(talk) // 2, len(talk)) :]
    return True


@operator
def _swap(talk: Talk, rng: Random) -> bool:
    if len(talk) < 3:
        return False
    at = rng.randrange(len(talk) - 1)
    talk[at], talk[at + 1] = talk[at + 1], talk[at]
    return True


def _take_over(talk: Talk, call: Piece, identifier: str | None) -> None:
    """The call, and the first result made for it, get this id."""
    call.id = identifier
    for _, result in places(talk, "result"):
        if result.mark == call.mark:
            result.id = identifier
            break


@operator
def _one_id_for_two(talk: Talk, rng: Random) -> bool:
    turns = [turn for turn in talk if len(turn.all("call")) > 1 and turn.all("call")[0].id]
    if turns:
        first, second = rng.choice(turns).all("call")[:2]
        _take_over(talk, second, first.id)
    return bool(turns)


@operator
def _id_of_an_earlier_turn(talk: Talk, _: Random) -> bool:
    calls = places(talk, "call")
    if len(calls) < 2 or calls[0][0] is calls[-1][0] or not calls[0][1].id:
        return False
    _take_over(talk, calls[-1][1], calls[0][1].id)
    return True


@operator
def _ids_blank(talk: Talk, rng: Random) -> bool:
    """All ids of a turn and its results are lost, as an empty text or altogether."""
    place = any_of(talk, rng, "call")
    if not place or not place[1].id:
        return False
    blank = rng.choice(["", None])
    for call in place[0].all("call"):
        _take_over(talk, call, blank)
    return True


def _blank(talk: Talk, rng: Random, *, kind: str) -> bool:
    place = any_of(talk, rng, kind)
    if not place or not place[1].id:
        return False
    place[1].id = rng.choice(["", None])
    return True


@operator
def _split_results(talk: Talk, _: Random) -> bool:
    split = [turn for turn in talk if turn.role == "tool" and len(turn.pieces) > 1]
    for turn in split:
        at = where(talk, turn)
        talk[at : at + 1] = [Turn("tool", [piece]) for piece in turn.pieces]
    return bool(split)


def _beside(talk: Talk, rng: Random, *, at: int) -> bool:
    place = any_of(talk, rng, "result")
    if place:
        place[0].pieces.insert(at, Piece("text", f"beside-{rng.randrange(1000)}."))
    return bool(place)


@operator
def _results_turned(talk: Talk, rng: Random) -> bool:
    turns = [turn for turn in talk if len(turn.all("result")) > 1]
    if turns:
        rng.choice(turns).pieces.reverse()
    return bool(turns)


@operator
def _replay(talk: Talk, rng: Random) -> bool:
    """A model's turn with its results once more, right behind or at the end."""
    place = any_of(talk, rng, "call")
    if not place:
        return False
    at = end = where(talk, place[0])
    end += 1
    while end < len(talk) and talk[end].role == "tool":
        end += 1
    there = rng.choice([end, len(talk)])
    talk[there:there] = deepcopy(talk[at:end])
    return True


@operator
def _half_lost(talk: Talk, rng: Random) -> bool:
    place = any_of(talk, rng, rng.choice(["served", "found"]))
    if place:
        take(talk, *place)
    return bool(place)


@operator
def _half_moved(talk: Talk, rng: Random) -> bool:
    """The answer of the provider's tool stands in the next turn of the model."""
    place = any_of(talk, rng, "found")
    if not place:
        return False
    at = take(talk, *place)
    later = [one for one in talk[at + 1 :] if one.role == "model"]
    (later[0] if later else place[0]).pieces.insert(0, place[1])
    if not later and not any(one is place[0] for one in talk):
        talk.insert(at, place[0])
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


def broken(talk: Talk, rng: Random, most: int = 3) -> list[str]:
    """Break a conversation up to so many times, in place. Returns how."""
    done = []
    for _ in range(min(most, rng.choice([0, 1, 1, 1, 2, 3]))):
        name = rng.choice(sorted(OPERATORS))
        if OPERATORS[name](talk, rng):
            done.append(name)
    return done
