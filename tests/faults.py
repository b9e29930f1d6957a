"""Faults in sound requests, and the providers that refuse each fault: pairing and ids.

Defines the type of a fault, and the faults in the relations of calls, results and ids. Each fault names the providers
that refuse it, the codes that a linter may report, and the providers that are known to accept it. Independent of the
linter.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from random import Random
from typing import Any, NamedTuple

from spelling import BLOCKS, ITEMS, WIRES, EditableRequest, Pair

Change = Callable[[EditableRequest, Random], bool]
"""Break the request, and return whether there was anything to break."""


class Ban(NamedTuple):
    """Providers that refuse a fault, and the codes that may report it."""

    by: str
    """Names with a blank between them; `*` is every provider without another ban or exemption of the fault."""
    codes: str
    severity: str = "error"
    """The lowest severity that counts."""


class Mutator(NamedTuple):
    """One way to break a request."""

    name: str
    wires: tuple[str, ...]
    change: Change
    bans: tuple[Ban, ...]
    taken: str
    """Providers that accept it: they may report no new error."""

    def apply(self, wire: str, request: dict[str, Any], rng: Random) -> dict[str, Any] | None:
        """The broken request, or nothing where there is nothing to break."""
        if wire not in self.wires:
            return None
        draft = EditableRequest(wire, request)
        return draft.request if self.change(draft, rng) else None

    def verdict(self, provider: str) -> Ban | None:
        """The ban of this provider; a ban without codes if the provider is known to accept the fault."""
        named = {name: ban for ban in self.bans for name in ban.by.split()}
        leaves = {name: Ban(name, "") for name in self.taken.split()}
        known = {**named, **leaves}
        bare = provider.partition("@")[0]
        return known.get(provider) or known.get(bare) or leaves.get("*") or named.get("*")


class Faults(list[Mutator]):
    """The faults of one module."""

    def add(
        self, wires: tuple[str, ...], *bans: Ban, taken: str = "", name: str = ""
    ) -> Callable[[Change], Change]:
        """Register a change under a name or under its own name."""

        def enter(change: Change) -> Change:
            title = name or getattr(change, "__name__", "").strip("_").replace("_", "-")
            self.append(Mutator(title, wires, change, bans, taken))
            return change

        return enter


MUTATORS = Faults()
fault = MUTATORS.add


def any_pair(draft: EditableRequest, rng: Random, *, named: bool = False) -> Pair | None:
    """A random call with its result; `named` requires a unique id."""
    pairs = [pair for pair in draft.pairs if not named or draft.call_id(pair.call)]
    if named:
        ids = [draft.call_id(call) for call in draft.calls]
        pairs = [pair for pair in pairs if ids.count(draft.call_id(pair.call)) == 1]
    return rng.choice(pairs) if pairs else None


def own_turn(draft: EditableRequest, element: dict[str, Any]) -> dict[str, Any]:
    """A result in a turn of its own."""
    return {"role": "user", draft.spelling.parts: [element]} if draft.wire in BLOCKS else element


UNANSWERED = "PA201 PR311"
OPEN = Ban("groq glm gemini vertex", f"{UNANSWERED} PA206", "warning")
"""It is unknown how a request may end for these."""
BARE = "gemini vertex"
"""A turn without any response was accepted once."""
SILENT = Ban(
    "ollama xai fireworks together vllm", "PA201 PA202 PA203 PA204 PA205 PA206 ST107 ST109 PR311", "warning"
)
"""No refusal is known; the model is confused."""
WITH_IDS = ("openai-chat", "mistral", "cohere", "anthropic", "bedrock", "openai-responses")


def _ends(draft: EditableRequest, pairs: list[Pair]) -> bool:
    """Whether these results are the last items of the request."""
    return max(pair.result.turn for pair in pairs) == len(draft.turns) - 1


@fault(WIRES, SILENT, Ban(BARE, UNANSWERED, "warning"), Ban("*", UNANSWERED))
def _drop_result(draft: EditableRequest, rng: Random) -> bool:
    rounds = [item for item in draft.rounds if not _ends(draft, item)]
    if rounds:
        draft.remove(rng.choice(rng.choice(rounds)).result)
    return bool(rounds)


@fault(WIRES, SILENT, OPEN, Ban("*", f"{UNANSWERED} PA206"))
def _drop_one_of_the_last_results(draft: EditableRequest, rng: Random) -> bool:
    rounds = [item for item in draft.rounds[-1:] if len(item) > 1 and _ends(draft, item)]
    if rounds:
        draft.remove(rng.choice(rounds[0]).result)
    return bool(rounds)


@fault(WIRES, SILENT, Ban("*", "PA202 PA205"))
def _drop_call(draft: EditableRequest, rng: Random) -> bool:
    pair = any_pair(draft, rng)
    if pair is None:
        return False
    if draft.wire in BLOCKS and len(pair.call.holder) == 1:
        pair.call.holder.append(draft.text("Let me see."))
    draft.remove(pair.call)
    return True


@fault(WIRES, SILENT, Ban(BARE, UNANSWERED, "warning"), Ban("*", UNANSWERED))
def _drop_answers_of_a_turn(draft: EditableRequest, rng: Random) -> bool:
    rounds = [item for item in draft.rounds if not _ends(draft, item)]
    pairs = rng.choice(rounds) if rounds else []
    for index in sorted({pair.result.turn for pair in pairs}, reverse=True):
        del draft.turns[index]
    return bool(pairs)


def _duplicate_result(draft: EditableRequest, rng: Random, *, same: bool) -> bool:
    pair = any_pair(draft, rng)
    if pair is None:
        return False
    again = deepcopy(pair.result.element)
    if not same:
        inner = again[draft.spelling.result] if draft.spelling.wrapped else again
        other: Any = "another answer"
        if draft.wire == "gemini":
            other = {"result": other}
        elif draft.wire == "bedrock":
            other = [{"text": other}]
        inner[draft.spelling.answer] = other
    pair.result.holder.insert(pair.result.place + 1, again)
    return True


TWICE = "PA205 ST107 PA202 PA201"
for _same, _kind in ((True, "same"), (False, "other")):
    fault(WIRES, SILENT, Ban("*", TWICE), name=f"duplicate-result-{_kind}")(
        partial(_duplicate_result, same=_same)
    )


@fault(
    WIRES,
    SILENT,
    Ban(BARE, f"ST109 ST108 PR305 {UNANSWERED} PA206", "warning"),
    Ban("*", f"ST109 ST108 PR305 {UNANSWERED}"),
)
def _duplicate_call(draft: EditableRequest, rng: Random) -> bool:
    pair = any_pair(draft, rng)
    if pair:
        pair.call.holder.insert(pair.call.place + 1, deepcopy(pair.call.element))
    return bool(pair)


@fault(
    WITH_IDS,
    Ban("minimax", "PR305 ST108 ST109"),
    Ban(
        "anthropic openai-responses bedrock glm", "PR305 ST108 ST109", "warning"
    ),  # Anthropic accepted it twice
    taken="openai azure-openai mistral deepseek xai groq",
)
def _reuse_id_in_a_later_turn(draft: EditableRequest, rng: Random) -> bool:
    rounds = draft.rounds
    if len(rounds) < 2:
        return False
    first = rng.randrange(len(rounds) - 1)
    one, other = rng.choice(rounds[first]), rng.choice(rounds[first + 1])
    old, new = draft.call_id(other.call), draft.call_id(one.call)
    if not old or old == new or sum(draft.call_id(call) == old for call in draft.calls) > 1:
        return False
    draft.rename(old, new)
    return True


PLACED = "PA201 PA202 PA203 PR308 PR309 PR310 PR322"


@fault(WIRES, SILENT, Ban("*", PLACED), taken="openai-responses")
def _move_result_one_turn_later(draft: EditableRequest, rng: Random) -> bool:
    rounds = [item for item in draft.rounds if not _ends(draft, item)]
    if draft.wire == "bedrock":  # for a single result no fact is known: the two turns before it are joined
        rounds = [item for item in rounds if len(item[0].result.holder) > 1]
    if not rounds:
        return False
    pairs = rng.choice(rounds)
    last = max(pair.result.turn for pair in pairs)
    if any(piece.turn == last + 1 for piece in (*draft.calls, *draft.results)):
        return False
    moved = rng.choice(pairs).result
    draft.turns.insert(last + 2, own_turn(draft, moved.element))
    draft.remove(moved)
    return True


@fault(WIRES, SILENT, Ban("*", "PA204 PA203 PA202 PA201 PR310 PR311"))
def _move_result_before_its_call(draft: EditableRequest, rng: Random) -> bool:
    pair = any_pair(draft, rng)
    if pair is None:
        return False
    draft.remove(pair.result)
    draft.turns.insert(pair.call.turn, own_turn(draft, pair.result.element))
    return True


def _ask_claude(draft: EditableRequest) -> None:
    """Name a model that refuses a text before results on Bedrock; Nova was recorded to accept it."""
    if draft.wire == "bedrock":
        draft.request["modelId"] = "anthropic.claude-sonnet-4-5-20250929-v1:0"


def _between(draft: EditableRequest, rng: Random, *, role: str) -> bool:
    pair = any_pair(draft, rng)
    if pair is None:
        return False
    _ask_claude(draft)
    turn = draft.user("By the way.") if role == "user" else draft.model("I am waiting.")
    draft.turns.insert(pair.call.turn + 1, turn)
    return True


_UNJOINED = tuple(wire for wire in WIRES if wire != "bedrock")
"""Bedrock joins two turns of the model of which the first has a call; whether that is accepted is not known."""
for _role, _wires in (("user", WIRES), ("model", _UNJOINED)):
    fault(_wires, SILENT, Ban("*", PLACED), taken="openai-responses", name=f"{_role}-before-the-results")(
        partial(_between, role=_role)
    )


@fault(("anthropic", "bedrock"), Ban("*", "PR308"))
def _text_before_results(draft: EditableRequest, rng: Random) -> bool:
    pair = any_pair(draft, rng)
    if pair:
        _ask_claude(draft)
        pair.result.holder.insert(0, draft.text("By the way."))
    return bool(pair)


@fault(("anthropic",), taken="anthropic")
def _text_after_results(draft: EditableRequest, rng: Random) -> bool:
    pairs = [pair for pair in draft.pairs if not _joined(draft, pair.result.turn)]
    if pairs:
        rng.choice(pairs).result.holder.append(draft.text("By the way."))
    return bool(pairs)


def _joined(draft: EditableRequest, index: int) -> bool:
    """Whether the next turn has the same role, so that both are read as one."""
    return index + 1 < len(draft.turns) and draft.turns[index + 1].get("role") == draft.turns[index].get(
        "role"
    )


@fault(
    BLOCKS,
    Ban("bedrock", "PR309 PA201 PA202 PR310"),
    Ban("gemini vertex", "PR309 PA201 PA202 PR310", "warning"),  # models before Gemini 3 accepted it
    taken="anthropic",
)
def _split_results(draft: EditableRequest, rng: Random) -> bool:
    rounds = [
        item for item in draft.rounds if len(item) > 1 and item[0].result.holder is item[-1].result.holder
    ]
    if not rounds:
        return False
    pair = rng.choice(rounds)[-1]
    draft.turns.insert(pair.result.turn + 1, own_turn(draft, pair.result.element))
    draft.remove(pair.result)
    return True


@fault(WITH_IDS, taken="*")
def _reverse_results(draft: EditableRequest, rng: Random) -> bool:
    rounds = [item for item in draft.rounds if len(item) > 1]
    if not rounds:
        return False
    found = rng.choice(rounds)
    places = [(pair.result.holder, pair.result.place) for pair in found]
    for (holder, place), pair in zip(places, reversed(found), strict=True):
        holder[place] = pair.result.element
    return True


@fault(("anthropic",), Ban("anthropic", "PR322"))
def _text_after_calls(draft: EditableRequest, rng: Random) -> bool:
    pair = any_pair(draft, rng)
    if pair:
        pair.call.holder.append(draft.text("I will look."))
    return bool(pair)


@fault(WITH_IDS, SILENT, Ban("*", "PA202 PA201 PR311"))
def _rename_the_id_of_a_result(draft: EditableRequest, rng: Random) -> bool:
    pair = any_pair(draft, rng, named=True)
    if pair is None:
        return False
    old = draft.result_id(pair.result)
    pair.result.thing[draft.spelling.result_id] = old[:-1] + ("Z" if old[-1] != "Z" else "Y")
    return True


def _with_id(draft: EditableRequest, rng: Random, *, make: Callable[[str], Any]) -> bool:
    pair = any_pair(draft, rng, named=True)
    if pair is None:
        return False
    old = draft.call_id(pair.call)
    new = make(old)
    if new == old or any(draft.call_id(call) == new for call in draft.calls):
        return False
    draft.rename(old, new)
    return True


def _longer(length: int) -> Callable[[str], str]:
    return lambda old: (old + "0123456789" * 10)[: max(length, len(old))]


NEW_MISTRAL = "mistral@v13 mistral@v15"
MISTRAL = Ban("mistral", "PR303")
"""By default the hosted service, which requires nine letters and digits."""
for _length, _bans, _taken in (
    (41, (Ban("openai@40 azure-openai", "PR302"), Ban("openai", "PR302", "warning"), MISTRAL),
     f"openai@64 anthropic bedrock openai-responses {NEW_MISTRAL}"),
    (65, (Ban("openai openai@40 azure-openai openai-responses bedrock", "PR302"), MISTRAL),
     f"anthropic {NEW_MISTRAL}"),
    (100, (Ban("openai openai@40 azure-openai openai-responses bedrock", "PR302"), MISTRAL),
     f"anthropic {NEW_MISTRAL}"),
):  # fmt: skip
    fault(WITH_IDS, *_bans, taken=_taken, name=f"id-of-{_length}")(partial(_with_id, make=_longer(_length)))

for _id, _banned, _taken in (
    ("functions.x:0", "anthropic", "openai deepseek bedrock openai-responses mistral@v13"),
    ("a b", "anthropic bedrock", "openai"),
    ("call|x", "anthropic bedrock", "openai openai-responses mistral@v15"),
    ("cäll_ü", "anthropic bedrock", "openai"),
):
    fault(WITH_IDS, Ban(_banned, "PR301"), MISTRAL, taken=f"{_taken} {NEW_MISTRAL}", name=f"id-{_id!r}")(
        partial(_with_id, make=lambda _, new=_id: new)
    )

for _id in ("call_123", "aB3dE6gH9x", "abc-defgh"):
    fault(("openai-chat", "mistral"), Ban("mistral mistral@v3 mistral@v7 mistral@v11", "PR303"),
          taken=f"openai {NEW_MISTRAL}", name=f"id-{_id!r}")(
        partial(_with_id, make=lambda _, new=_id: new)
    )  # fmt: skip

LOST = (
    Ban("deepseek xai qwen fireworks glm", "ST104", "info"),
    Ban("*", "ST104 ST103 PR303 PR318"),
)
"""With one open call its result is unambiguous, and some servers are not known to require more."""
fault(WITH_IDS, *LOST, name="id-blank")(partial(_with_id, make=lambda _: ""))
fault(WITH_IDS, *LOST, name="id-null")(partial(_with_id, make=lambda _: None))


@fault((*WITH_IDS, "gemini"), *LOST, taken="gemini vertex")
def _ids_left_out(draft: EditableRequest, rng: Random) -> bool:
    pair = any_pair(draft, rng, named=True)
    if pair is None:
        return False
    pair.call.thing.pop(draft.spelling.call_id, None)
    pair.result.thing.pop(draft.spelling.result_id, None)
    return True


@fault(WIRES, SILENT, OPEN, Ban("*", f"{UNANSWERED} PA206"))
def _open_calls_at_the_end(draft: EditableRequest, rng: Random) -> bool:
    rounds = draft.rounds
    if not rounds:
        return False
    pairs = rng.choice(rounds)
    last = max(pair.call.turn for pair in pairs)
    if draft.wire in ITEMS and any(pair.result.turn < last for pair in pairs):
        return False
    del draft.turns[last + 1 :]
    return True
