"""Ways to break a sound request, and who refuses it then: pairing and ids.

This module owns what a fault is, and the faults in how calls, results and ids hang together. Each says which
providers refuse it and by which codes a linter may tell of it, and which providers are known to take it. It
refuses to look at the linter.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from random import Random
from typing import Any, NamedTuple

from spelling import BLOCKS, ITEMS, WIRES, Pair, Talk

Change = Callable[[Talk, Random], bool]
"""Break the talk, and say whether there was anything to break."""


class Ban(NamedTuple):
    """Providers that refuse a fault, and the codes by which that may be told."""

    by: str
    """Names with a blank between them; `*` is every provider that no other ban or leave of the fault names."""
    codes: str
    severity: str = "error"
    """At least so grave."""


class Mutator(NamedTuple):
    """One way to break a request."""

    name: str
    wires: tuple[str, ...]
    change: Change
    bans: tuple[Ban, ...]
    taken: str
    """Providers that take it all the same: they may report no new error."""

    def apply(self, wire: str, request: dict[str, Any], rng: Random) -> dict[str, Any] | None:
        """The broken request; nothing where there is nothing to break."""
        if wire not in self.wires:
            return None
        talk = Talk(wire, request)
        return talk.request if self.change(talk, rng) else None

    def verdict(self, provider: str) -> Ban | None:
        """Who refuses it, if this provider does; a ban without codes where it is known to take it."""
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
        """Enter a change among them, under a name or its own."""

        def enter(change: Change) -> Change:
            title = name or getattr(change, "__name__", "").strip("_").replace("_", "-")
            self.append(Mutator(title, wires, change, bans, taken))
            return change

        return enter


MUTATORS = Faults()
fault = MUTATORS.add


def any_pair(talk: Talk, rng: Random, *, named: bool = False) -> Pair | None:
    """One call with its result; with an id of its own, if that is asked for."""
    pairs = [one for one in talk.pairs if not named or talk.call_id(one.call)]
    if named:
        ids = [talk.call_id(one) for one in talk.calls]
        pairs = [one for one in pairs if ids.count(talk.call_id(one.call)) == 1]
    return rng.choice(pairs) if pairs else None


def own_turn(talk: Talk, element: dict[str, Any]) -> dict[str, Any]:
    """A result as a turn of its own."""
    return {"role": "user", talk.spelling.parts: [element]} if talk.wire in BLOCKS else element


UNANSWERED = "PA201 PR311"
OPEN = Ban("groq glm gemini vertex", f"{UNANSWERED} PA206", "warning")
"""How a request may end is not known of these."""
BARE = "gemini vertex"
"""A turn without any response was accepted once."""
SILENT = Ban(
    "ollama xai fireworks together vllm", "PA201 PA202 PA203 PA204 PA205 PA206 ST107 ST109 PR311", "warning"
)
"""No refusal is known; the model is confused."""
WITH_IDS = ("openai-chat", "mistral", "cohere", "anthropic", "bedrock", "openai-responses")


def _ends(talk: Talk, pairs: list[Pair]) -> bool:
    """These results are the last that the request says."""
    return max(pair.result.turn for pair in pairs) == len(talk.turns) - 1


@fault(WIRES, SILENT, Ban(BARE, UNANSWERED, "warning"), Ban("*", UNANSWERED))
def _drop_result(talk: Talk, rng: Random) -> bool:
    rounds = [one for one in talk.rounds if not _ends(talk, one)]
    if rounds:
        talk.remove(rng.choice(rng.choice(rounds)).result)
    return bool(rounds)


@fault(WIRES, SILENT, OPEN, Ban("*", f"{UNANSWERED} PA206"))
def _drop_one_of_the_last_results(talk: Talk, rng: Random) -> bool:
    rounds = [one for one in talk.rounds[-1:] if len(one) > 1 and _ends(talk, one)]
    if rounds:
        talk.remove(rng.choice(rounds[0]).result)
    return bool(rounds)


@fault(WIRES, SILENT, Ban("*", "PA202 PA205"))
def _drop_call(talk: Talk, rng: Random) -> bool:
    pair = any_pair(talk, rng)
    if pair is None:
        return False
    if talk.wire in BLOCKS and len(pair.call.holder) == 1:
        pair.call.holder.append(talk.text("Let me see."))
    talk.remove(pair.call)
    return True


@fault(WIRES, SILENT, Ban(BARE, UNANSWERED, "warning"), Ban("*", UNANSWERED))
def _drop_answers_of_a_turn(talk: Talk, rng: Random) -> bool:
    rounds = [one for one in talk.rounds if not _ends(talk, one)]
    pairs = rng.choice(rounds) if rounds else []
    for index in sorted({pair.result.turn for pair in pairs}, reverse=True):
        del talk.turns[index]
    return bool(pairs)


def _duplicate_result(talk: Talk, rng: Random, *, same: bool) -> bool:
    pair = any_pair(talk, rng)
    if pair is None:
        return False
    again = deepcopy(pair.result.element)
    if not same:
        inner = again[talk.spelling.result] if talk.spelling.wrapped else again
        other: Any = "another answer"
        if talk.wire == "gemini":
            other = {"result": other}
        elif talk.wire == "bedrock":
            other = [{"text": other}]
        inner[talk.spelling.answer] = other
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
def _duplicate_call(talk: Talk, rng: Random) -> bool:
    pair = any_pair(talk, rng)
    if pair:
        pair.call.holder.insert(pair.call.place + 1, deepcopy(pair.call.element))
    return bool(pair)


@fault(
    WITH_IDS,
    Ban("minimax", "PR305 ST108 ST109"),
    Ban("anthropic openai-responses bedrock glm", "PR305 ST108 ST109", "warning"),  # Anthropic took it twice
    taken="openai azure-openai mistral deepseek xai groq",
)
def _reuse_id_in_a_later_turn(talk: Talk, rng: Random) -> bool:
    rounds = talk.rounds
    if len(rounds) < 2:
        return False
    first = rng.randrange(len(rounds) - 1)
    one, other = rng.choice(rounds[first]), rng.choice(rounds[first + 1])
    old, new = talk.call_id(other.call), talk.call_id(one.call)
    if not old or old == new or sum(talk.call_id(call) == old for call in talk.calls) > 1:
        return False
    talk.rename(old, new)
    return True


PLACED = "PA201 PA202 PA203 PR308 PR309 PR310 PR322"


@fault(WIRES, SILENT, Ban("*", PLACED), taken="openai-responses")
def _move_result_one_turn_later(talk: Talk, rng: Random) -> bool:
    rounds = [one for one in talk.rounds if not _ends(talk, one)]
    if talk.wire == "bedrock":  # of a result alone nothing is known: the two turns before it are joined
        rounds = [one for one in rounds if len(one[0].result.holder) > 1]
    if not rounds:
        return False
    pairs = rng.choice(rounds)
    last = max(pair.result.turn for pair in pairs)
    if any(one.turn == last + 1 for one in (*talk.calls, *talk.results)):
        return False
    moved = rng.choice(pairs).result
    talk.turns.insert(last + 2, own_turn(talk, moved.element))
    talk.remove(moved)
    return True


@fault(WIRES, SILENT, Ban("*", "PA204 PA203 PA202 PA201 PR310 PR311"))
def _move_result_before_its_call(talk: Talk, rng: Random) -> bool:
    pair = any_pair(talk, rng)
    if pair is None:
        return False
    talk.remove(pair.result)
    talk.turns.insert(pair.call.turn, own_turn(talk, pair.result.element))
    return True


def _ask_claude(talk: Talk) -> None:
    """Name a model that refuses a text before results on Bedrock; Nova was recorded to accept it."""
    if talk.wire == "bedrock":
        talk.request["modelId"] = "anthropic.claude-sonnet-4-5-20250929-v1:0"


def _between(talk: Talk, rng: Random, *, who: str) -> bool:
    pair = any_pair(talk, rng)
    if pair is None:
        return False
    _ask_claude(talk)
    turn = talk.user("By the way.") if who == "user" else talk.model("I am waiting.")
    talk.turns.insert(pair.call.turn + 1, turn)
    return True


_UNJOINED = tuple(wire for wire in WIRES if wire != "bedrock")
"""Of two turns of the model, of which the first calls, Bedrock makes one; whether it is taken is not known."""
for _who, _wires in (("user", WIRES), ("model", _UNJOINED)):
    fault(_wires, SILENT, Ban("*", PLACED), taken="openai-responses", name=f"{_who}-before-the-results")(
        partial(_between, who=_who)
    )


@fault(("anthropic", "bedrock"), Ban("*", "PR308"))
def _text_before_results(talk: Talk, rng: Random) -> bool:
    pair = any_pair(talk, rng)
    if pair:
        _ask_claude(talk)
        pair.result.holder.insert(0, talk.text("By the way."))
    return bool(pair)


@fault(("anthropic",), taken="anthropic")
def _text_after_results(talk: Talk, rng: Random) -> bool:
    pairs = [one for one in talk.pairs if not _joined(talk, one.result.turn)]
    if pairs:
        rng.choice(pairs).result.holder.append(talk.text("By the way."))
    return bool(pairs)


def _joined(talk: Talk, index: int) -> bool:
    """Whether the next turn is of the same role, so that both are read as one."""
    return index + 1 < len(talk.turns) and talk.turns[index + 1].get("role") == talk.turns[index].get("role")


@fault(
    BLOCKS,
    Ban("bedrock", "PR309 PA201 PA202 PR310"),
    Ban("gemini vertex", "PR309 PA201 PA202 PR310", "warning"),  # models before Gemini 3 took it
    taken="anthropic",
)
def _split_results(talk: Talk, rng: Random) -> bool:
    rounds = [one for one in talk.rounds if len(one) > 1 and one[0].result.holder is one[-1].result.holder]
    if not rounds:
        return False
    pair = rng.choice(rounds)[-1]
    talk.turns.insert(pair.result.turn + 1, own_turn(talk, pair.result.element))
    talk.remove(pair.result)
    return True


@fault(WITH_IDS, taken="*")
def _reverse_results(talk: Talk, rng: Random) -> bool:
    rounds = [one for one in talk.rounds if len(one) > 1]
    if not rounds:
        return False
    found = rng.choice(rounds)
    places = [(pair.result.holder, pair.result.place) for pair in found]
    for (holder, place), pair in zip(places, reversed(found), strict=True):
        holder[place] = pair.result.element
    return True


@fault(("anthropic",), Ban("anthropic", "PR322"))
def _text_after_calls(talk: Talk, rng: Random) -> bool:
    pair = any_pair(talk, rng)
    if pair:
        pair.call.holder.append(talk.text("I will look."))
    return bool(pair)


@fault(WITH_IDS, SILENT, Ban("*", "PA202 PA201 PR311"))
def _rename_the_id_of_a_result(talk: Talk, rng: Random) -> bool:
    pair = any_pair(talk, rng, named=True)
    if pair is None:
        return False
    old = talk.result_id(pair.result)
    pair.result.thing[talk.spelling.result_id] = old[:-1] + ("Z" if old[-1] != "Z" else "Y")
    return True


def _with_id(talk: Talk, rng: Random, *, make: Callable[[str], Any]) -> bool:
    pair = any_pair(talk, rng, named=True)
    if pair is None:
        return False
    old = talk.call_id(pair.call)
    new = make(old)
    if new == old or any(talk.call_id(call) == new for call in talk.calls):
        return False
    talk.rename(old, new)
    return True


def _longer(length: int) -> Callable[[str], str]:
    return lambda old: (old + "0123456789" * 10)[: max(length, len(old))]


NEW_MISTRAL = "mistral@v13 mistral@v15"
MISTRAL = Ban("mistral", "PR303")
"""By default the hosted service, which wants nine letters and digits."""
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
"""Where one call is open its result is plain, and some servers are not known to ask for more."""
fault(WITH_IDS, *LOST, name="id-blank")(partial(_with_id, make=lambda _: ""))
fault(WITH_IDS, *LOST, name="id-null")(partial(_with_id, make=lambda _: None))


@fault((*WITH_IDS, "gemini"), *LOST, taken="gemini vertex")
def _ids_left_out(talk: Talk, rng: Random) -> bool:
    pair = any_pair(talk, rng, named=True)
    if pair is None:
        return False
    pair.call.thing.pop(talk.spelling.call_id, None)
    pair.result.thing.pop(talk.spelling.result_id, None)
    return True


@fault(WIRES, SILENT, OPEN, Ban("*", f"{UNANSWERED} PA206"))
def _open_calls_at_the_end(talk: Talk, rng: Random) -> bool:
    rounds = talk.rounds
    if not rounds:
        return False
    pairs = rng.choice(rounds)
    last = max(pair.call.turn for pair in pairs)
    if talk.wire in ITEMS and any(pair.result.turn < last for pair in pairs):
        return False
    del talk.turns[last + 1 :]
    return True
