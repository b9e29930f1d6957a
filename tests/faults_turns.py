"""Faults in sound requests, by provider: contents, roles, the last message, thoughts.

The faults in the contents and roles of turns, and in thoughts that a client sends back. Independent of the linter.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from random import Random
from typing import Any

from faults import Ban, Faults, any_pair
from spelling import BLOCKS, CHAT, ITEMS, WIRES, EditableRequest

MUTATORS = Faults()
fault = MUTATORS.add

OPENAI = "openai azure-openai"


def _text_piece(draft: EditableRequest, rng: Random, *, text: str) -> bool:
    turns = [turn for turn in draft.turn_of("user") if draft.parts_of(turn) or turn.get("content")]
    if not turns:
        return False
    parts = draft.as_parts(rng.choice(turns))
    parts.insert(rng.randrange(len(parts) + 1), draft.text(text))
    return True


EMPTY = "PR312"
fault(("anthropic", "bedrock"), Ban("*", EMPTY), name="text-empty")(partial(_text_piece, text=""))
# Bedrock refuses white space for some models only.
fault(("anthropic", "bedrock"), Ban("anthropic", EMPTY), Ban("bedrock", EMPTY, "warning"), name="text-white")(
    partial(_text_piece, text=" \n")
)


def _hollow(draft: EditableRequest, rng: Random, *, role: str, content: Any) -> bool:
    turns = [turn for turn in draft.turn_of(role) if turn is not draft.turns[-1]]
    if not turns:
        return False
    rng.choice(turns)[draft.spelling.parts] = deepcopy(content)
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
def _null_beside_calls(draft: EditableRequest, rng: Random) -> bool:
    pair = any_pair(draft, rng)
    if pair:
        draft.turns[pair.call.turn]["content"] = None
    return bool(pair)


def _at_the_end(draft: EditableRequest, _: Random, *, text: str) -> bool:
    if draft.turns and draft.turns[-1].get("role") != draft.spelling.model_role:
        draft.turns.append(draft.model(text))
        return True
    return False


fault(("anthropic",), Ban("anthropic", "PR313"), name="prefill-with-a-blank-at-its-end")(
    partial(_at_the_end, text="The answer is ")
)


@fault(("openai-chat", "mistral", "gemini"), Ban("mistral", "PR311"), Ban("gemini vertex", "PR311", "warning"),
       taken=OPENAI)  # fmt: skip
def _model_speaks_last(draft: EditableRequest, rng: Random) -> bool:
    """Gemini refuses it from 3.5 on; older models accepted it."""
    if draft.wire == "gemini":
        draft.request["model"] = "gemini-3.5-pro"
    return _at_the_end(draft, rng, text="The answer is")


@fault(WIRES, Ban("mistral gemini vertex", "PR310 ST103"), Ban("anthropic", "PR310 ST103", "warning"),
       taken="openai azure-openai openai-responses deepseek")  # fmt: skip
def _system_in_the_middle(draft: EditableRequest, rng: Random) -> bool:
    """Anthropic's older models refuse it; the newest accept it."""
    if draft.wire == "anthropic":
        draft.request["model"] = "claude-sonnet-4-5"
    busy = {piece.turn for piece in (*draft.calls, *draft.results)}
    places = [
        index
        for index, turn in enumerate(draft.turns)
        if turn.get("role") == draft.spelling.model_role
        and index not in busy
        and index + 1 < len(draft.turns)
    ]
    if places:
        turn = draft.user("Be brief.")
        draft.turns.insert(rng.choice(places) + 1, {**turn, "role": "system"})
    return bool(places)


@fault(WIRES, Ban("ollama", "ST103", "warning"), Ban("*", "ST103 PR310"))
def _role_unknown(draft: EditableRequest, rng: Random) -> bool:
    turns = draft.turn_of("user")
    if turns:
        rng.choice(turns)["role"] = "moderator"
    return bool(turns)


@fault(("openai-chat",), Ban("qwen", "PR310"), taken="openai")
def _developer(draft: EditableRequest, rng: Random) -> bool:
    turns = draft.turn_of("system")
    if turns:
        rng.choice(turns)["role"] = "developer"
    return bool(turns)


@fault(("gemini",), Ban("gemini vertex", "PR310"))
def _begins_with_a_call(draft: EditableRequest, _: Random) -> bool:
    calls = draft.calls
    if calls:
        del draft.turns[: calls[0].turn]
    return bool(calls)


def _thought(draft: EditableRequest, rng: Random, *, thought: dict[str, Any], place: int) -> bool:
    turns = [
        turn
        for turn in draft.turns
        if turn.get("role") == "assistant"
        and draft.parts_of(turn)
        and all(part.get("type") in ("text", "tool_use") for part in draft.parts_of(turn))
    ]
    if turns:
        rng.choice(turns)["content"].insert(place, {"type": "thinking", **thought})
        if place:
            # Newer models accept a text before a thought, and so does a request without a budget for thoughts.
            draft.request |= {
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
def _thoughts_left_out(draft: EditableRequest, _: Random) -> bool:
    kinds = ("thinking", "redacted_thinking")
    found = [turn for turn in draft.turns if any(part.get("type") in kinds for part in draft.parts_of(turn))]
    for turn in found:
        turn["content"] = [part for part in turn["content"] if part.get("type") not in kinds]
    return bool(found) and not draft.request.get("thinking")


def _signature(draft: EditableRequest, _: Random, *, value: Any) -> bool:
    """The signature of the first call after the last user message."""
    words = [index for index, turn in enumerate(draft.turns) if any("text" in item for item in draft.parts_of(turn)
             ) and turn.get("role", "user") == "user"]  # fmt: skip
    signed = [
        call.element
        for call in draft.calls
        if words and call.turn > words[-1] and "thoughtSignature" in call.element
    ]
    if not signed or "gemini-3" not in str(draft.request.get("model")):
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
def _reasoning_without_what_follows(draft: EditableRequest, _: Random) -> bool:
    places = [index for index, turn in enumerate(draft.turns) if turn.get("role") == "user"]
    if places and not draft.request.get("previous_response_id"):
        thought = {"type": "reasoning", "id": "rs_0123456789abcdef", "summary": []}
        draft.turns.insert(places[-1], thought)
    return bool(places)


def _item_id(draft: EditableRequest, rng: Random, *, make: Callable[[], str]) -> bool:
    if draft.calls:
        rng.choice(draft.calls).thing["id"] = make()
    return bool(draft.calls)


fault(ITEMS, Ban("openai-responses", "PR303"), name="item-id-call_1")(
    partial(_item_id, make=lambda: "call_1")
)
fault(ITEMS, Ban("openai-responses", "PR302"), name="item-id-of-68")(
    partial(_item_id, make=lambda: "fc_" + "0" * 65)
)


@fault(ITEMS, Ban("openai-responses", "PR305"))
def _item_id_twice(draft: EditableRequest, _: Random) -> bool:
    calls = draft.calls[:2]
    for call in calls:
        call.thing["id"] = "fc_0123456789abcdef"
    return len(calls) == 2
