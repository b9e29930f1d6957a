"""Ways to break a sound request, and who refuses it then: contents, roles, the end, thoughts.

This module owns the faults in what turns say, who says it, and how thoughts are handed back. It refuses to look at
the linter.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from random import Random
from typing import Any

from faults import Ban, Faults, any_pair
from spelling import BLOCKS, CHAT, ITEMS, WIRES, Talk

MUTATORS = Faults()
fault = MUTATORS.add

OPENAI = "openai azure-openai"


def _text_piece(talk: Talk, rng: Random, *, text: str) -> bool:
    turns = [turn for turn in talk.turn_of("user") if talk.parts_of(turn) or turn.get("content")]
    if not turns:
        return False
    parts = talk.as_parts(rng.choice(turns))
    parts.insert(rng.randrange(len(parts) + 1), talk.text(text))
    return True


EMPTY = "PR312"
fault(("anthropic", "bedrock"), Ban("*", EMPTY), name="text-empty")(partial(_text_piece, text=""))
# Bedrock refuses white space for some models only.
fault(("anthropic", "bedrock"), Ban("anthropic", EMPTY), Ban("bedrock", EMPTY, "warning"), name="text-white")(
    partial(_text_piece, text=" \n")
)


def _hollow(talk: Talk, rng: Random, *, role: str, content: Any) -> bool:
    turns = [turn for turn in talk.turn_of(role) if turn is not talk.turns[-1]]
    if not turns:
        return False
    rng.choice(turns)[talk.spelling.parts] = deepcopy(content)
    return True


fault(BLOCKS, Ban("*", f"{EMPTY} PR318"), name="user-with-no-parts")(
    partial(_hollow, role="user", content=[])
)
fault(("anthropic",), Ban("*", EMPTY), name="user-with-empty-text")(partial(_hollow, role="user", content=""))
fault(("anthropic",), Ban("*", EMPTY), name="assistant-with-no-parts")(
    partial(_hollow, role="assistant", content=[])
)
fault(
    CHAT, Ban("kimi", EMPTY), Ban("glm", f"{EMPTY} ST110", "warning"), taken=OPENAI, name="assistant-empty"
)(partial(_hollow, role="assistant", content=""))
fault(CHAT, Ban(f"{OPENAI} groq", "PR318 PR312"), name="user-null")(
    partial(_hollow, role="user", content=None)
)
fault(CHAT, Ban(OPENAI, "PR318 PR312"), Ban("cohere", "PR312 PR318 ST110", "warning"), name="assistant-null")(
    partial(_hollow, role="assistant", content=None)
)


@fault(("openai-chat", "mistral"), taken="openai azure-openai deepseek mistral")
def _null_beside_calls(talk: Talk, rng: Random) -> bool:
    pair = any_pair(talk, rng)
    if pair:
        talk.turns[pair.call.turn]["content"] = None
    return bool(pair)


def _at_the_end(talk: Talk, _: Random, *, text: str) -> bool:
    if talk.turns and talk.turns[-1].get("role") != talk.spelling.model_role:
        talk.turns.append(talk.model(text))
        return True
    return False


fault(("anthropic",), Ban("anthropic", "PR313"), name="prefill-with-a-blank-at-its-end")(
    partial(_at_the_end, text="The answer is ")
)


@fault(("openai-chat", "mistral", "gemini"), Ban("mistral", "PR311"), Ban("gemini vertex", "PR311", "warning"),
       taken=OPENAI)  # fmt: skip
def _model_speaks_last(talk: Talk, rng: Random) -> bool:
    """Gemini refuses it from 3.5 on; older models took it."""
    if talk.wire == "gemini":
        talk.request["model"] = "gemini-3.5-pro"
    return _at_the_end(talk, rng, text="The answer is")


@fault(WIRES, Ban("mistral gemini vertex", "PR310 ST103"), Ban("anthropic", "PR310 ST103", "warning"),
       taken="openai azure-openai openai-responses deepseek")  # fmt: skip
def _system_in_the_middle(talk: Talk, rng: Random) -> bool:
    """As Anthropic's older models refuse it; the newest take it."""
    if talk.wire == "anthropic":
        talk.request["model"] = "claude-sonnet-4-5"
    busy = {one.turn for one in (*talk.calls, *talk.results)}
    places = [
        index
        for index, turn in enumerate(talk.turns)
        if turn.get("role") == talk.spelling.model_role and index not in busy and index + 1 < len(talk.turns)
    ]
    if places:
        turn = talk.user("Be brief.")
        talk.turns.insert(rng.choice(places) + 1, {**turn, "role": "system"})
    return bool(places)


@fault(WIRES, Ban("ollama", "ST103", "warning"), Ban("*", "ST103 PR310"))
def _role_unknown(talk: Talk, rng: Random) -> bool:
    turns = talk.turn_of("user")
    if turns:
        rng.choice(turns)["role"] = "moderator"
    return bool(turns)


@fault(("openai-chat",), Ban("qwen", "PR310"), taken="openai")
def _developer(talk: Talk, rng: Random) -> bool:
    turns = talk.turn_of("system")
    if turns:
        rng.choice(turns)["role"] = "developer"
    return bool(turns)


@fault(("gemini",), Ban("gemini vertex", "PR310"))
def _begins_with_a_call(talk: Talk, _: Random) -> bool:
    calls = talk.calls
    if calls:
        del talk.turns[: calls[0].turn]
    return bool(calls)


def _thought(talk: Talk, rng: Random, *, thought: dict[str, Any], place: int) -> bool:
    turns = [
        turn
        for turn in talk.turns
        if turn.get("role") == "assistant"
        and talk.parts_of(turn)
        and all(part.get("type") in ("text", "tool_use") for part in talk.parts_of(turn))
    ]
    if turns:
        rng.choice(turns)["content"].insert(place, {"type": "thinking", **thought})
        if place:
            # Newer models accept a text before a thought, and so does a request without a budget for thoughts.
            talk.request |= {
                "model": "claude-sonnet-4-5",
                "thinking": {"type": "enabled", "budget_tokens": 1024},
            }
    return bool(turns)


for _title, _thinking, _place in (
    ("unsigned", {"thinking": "hm"}, 0),
    ("signed-with-nothing", {"thinking": "hm", "signature": ""}, 0),
    ("signed-with-a-number", {"thinking": "hm", "signature": 5}, 0),
    ("empty", {"thinking": "", "signature": ""}, 0),
    ("not-first", {"thinking": "hm", "signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3h"}, 1),
):
    fault(
        ("anthropic",),
        Ban("anthropic", "PR314 PR324 ST103"),
        name=f"thought-{_title}",
    )(partial(_thought, thought=_thinking, place=_place))


@fault(("anthropic",), taken="anthropic")
def _thoughts_left_out(talk: Talk, _: Random) -> bool:
    kinds = ("thinking", "redacted_thinking")
    found = [turn for turn in talk.turns if any(part.get("type") in kinds for part in talk.parts_of(turn))]
    for turn in found:
        turn["content"] = [part for part in turn["content"] if part.get("type") not in kinds]
    return bool(found) and not talk.request.get("thinking")


def _signature(talk: Talk, _: Random, *, value: Any) -> bool:
    """Of the first call after the user's last words."""
    words = [index for index, turn in enumerate(talk.turns) if any("text" in one for one in talk.parts_of(turn)
             ) and turn.get("role", "user") == "user"]  # fmt: skip
    signed = [
        call.element
        for call in talk.calls
        if words and call.turn > words[-1] and "thoughtSignature" in call.element
    ]
    if not signed or "gemini-3" not in str(talk.request.get("model")):
        return False
    signed[0]["thoughtSignature"] = value
    if value is None:
        del signed[0]["thoughtSignature"]
    return True


fault(("gemini",), Ban("gemini vertex", "PR320"), name="signature-left-out")(partial(_signature, value=None))
fault(("gemini",), Ban("gemini vertex", "PR320"), name="signature-blank")(partial(_signature, value=""))
fault(("gemini",), Ban("gemini vertex", "PR320 ST103"), name="signature-a-number")(
    partial(_signature, value=5)
)


@fault(ITEMS, Ban("openai-responses", "PR315 PR326", "warning"))
def _reasoning_without_what_follows(talk: Talk, _: Random) -> bool:
    places = [index for index, turn in enumerate(talk.turns) if turn.get("role") == "user"]
    if places and not talk.request.get("previous_response_id"):
        thought = {"type": "reasoning", "id": "rs_0123456789abcdef", "summary": []}
        talk.turns.insert(places[-1], thought)
    return bool(places)


def _item_id(talk: Talk, rng: Random, *, make: Callable[[], str]) -> bool:
    if talk.calls:
        rng.choice(talk.calls).thing["id"] = make()
    return bool(talk.calls)


fault(ITEMS, Ban("openai-responses", "PR303"), name="item-id-call_1")(
    partial(_item_id, make=lambda: "call_1")
)
fault(ITEMS, Ban("openai-responses", "PR302"), name="item-id-of-68")(
    partial(_item_id, make=lambda: "fc_" + "0" * 65)
)


@fault(ITEMS, Ban("openai-responses", "PR305"))
def _item_id_twice(talk: Talk, _: Random) -> bool:
    calls = talk.calls[:2]
    for call in calls:
        call.thing["id"] = "fc_0123456789abcdef"
    return len(calls) == 2
