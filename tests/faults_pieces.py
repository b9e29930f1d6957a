"""Faults in sound requests, by provider: names, arguments, tools, keys, contents of results, limits.

The faults inside calls, results and tools. Independent of the linter.
"""

import json
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from random import Random
from typing import Any

from faults import Ban, Faults, any_pair
from spelling import BLOCKS, WIRES, EditableRequest

MUTATORS = Faults()
fault = MUTATORS.add

OPENAI = "openai azure-openai"
TEXTS = ("openai-chat", "openai-responses")
"""Wires on which arguments are a text."""


def _with_name(draft: EditableRequest, rng: Random, *, name: str | None) -> bool:
    pair = any_pair(draft, rng)
    if pair is None:
        return False
    pair.call.named["name"] = name
    if pair.result.thing.get("name") is not None:
        pair.result.thing["name"] = name
    return True


NAMELESS = Ban("*", "ST105 ST103 PR306 PR318")
fault(WIRES, NAMELESS, name="name-blank")(partial(_with_name, name=""))
fault(WIRES, NAMELESS, name="name-null")(partial(_with_name, name=None))
FORM = "PR306"
STRICT_NAMES = f"{OPENAI} bedrock"
WIDE_NAMES = f"{STRICT_NAMES} openai-responses"
GOOGLE = Ban("gemini vertex", FORM, "warning")
"""Refused in declarations; no refusal in histories is recorded yet."""
MISTRAL = Ban("mistral", FORM, "warning")
"""Its own library refuses it; the hosted API accepted another name."""
for _title, _name, _bans, _taken in (
    ("with-a-blank", "weather get", (Ban(WIDE_NAMES, FORM), GOOGLE, MISTRAL), "anthropic"),
    ("with-a-dot", "weather.get", (Ban(WIDE_NAMES, FORM), MISTRAL), "anthropic gemini vertex"),
    ("with-a-digit-first", "1weather", (GOOGLE,), "anthropic openai mistral"),
    ("of-65", "n" * 65, (Ban(STRICT_NAMES, FORM), MISTRAL), "anthropic openai-responses"),
    ("of-129", "n" * 129, (Ban(WIDE_NAMES, FORM), GOOGLE, MISTRAL), "anthropic"),
    ("of-201", "n" * 201, (Ban(f"{WIDE_NAMES} anthropic", FORM), GOOGLE, MISTRAL), ""),
):
    fault(WIRES, *_bans, taken=_taken, name=f"name-{_title}")(partial(_with_name, name=_name))


@fault(WIRES, NAMELESS)
def _name_left_out(draft: EditableRequest, rng: Random) -> bool:
    pair = any_pair(draft, rng)
    if pair:
        pair.call.named.pop("name", None)
    return bool(pair)


@fault(("gemini",), Ban("gemini vertex", "ST105 PR318 PR306"))
def _result_without_a_name(draft: EditableRequest, rng: Random) -> bool:
    pair = any_pair(draft, rng)
    if pair:
        pair.result.thing.pop("name", None)
    return bool(pair)


@fault(("anthropic", "gemini"), Ban("*", FORM))
def _tool_declared_twice(draft: EditableRequest, rng: Random) -> bool:
    own = [tool for tool in draft.tool_list() if "name" in tool and "type" not in tool]
    if own:
        draft.tool_list().append(deepcopy(rng.choice(own)))
    return bool(own)


def _with_tool(draft: EditableRequest, rng: Random, *, name: str) -> bool:
    if draft.tools:
        rng.choice(draft.tools)["name"] = name
    return bool(draft.tools)


DECLARED = f"{STRICT_NAMES} mistral anthropic openai-responses gemini vertex"
fault(WIRES, Ban(DECLARED, FORM), name="tool-declared-with-a-blank")(partial(_with_tool, name="weather get"))
fault(WIRES, Ban(DECLARED, FORM), name="tool-declared-with-129")(partial(_with_tool, name="n" * 129))
fault(
    WIRES,
    Ban(f"{STRICT_NAMES} mistral", FORM),
    taken="anthropic openai-responses gemini vertex",
    name="tool-declared-with-65",
)(partial(_with_tool, name="n" * 65))


def _with_arguments(draft: EditableRequest, rng: Random, *, make: Callable[[Any], Any]) -> bool:
    pair = any_pair(draft, rng)
    if pair is None:
        return False
    held = pair.call.named
    old = held.get(draft.spelling.arguments)
    if old is None or (draft.spelling.encoded and not isinstance(old, str)):
        return False
    new = make(old)
    held[draft.spelling.arguments] = new
    return bool(new != old)


def _decoded(old: str) -> Any:
    try:
        found = json.loads(old)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


fault(TEXTS, Ban(f"{OPENAI} openai-responses", "PR307 ST103"), taken="mistral", name="arguments-as-object")(
    partial(_with_arguments, make=_decoded)
)
IN_PLACE = (*BLOCKS, "ollama")
UNFIT = "PR307 ST103 ST106"
fault(IN_PLACE, Ban("*", UNFIT), name="arguments-as-text")(partial(_with_arguments, make=json.dumps))
fault(IN_PLACE, Ban("*", UNFIT), name="arguments-as-list")(partial(_with_arguments, make=lambda old: [old]))
fault(("anthropic", "bedrock"), Ban("*", UNFIT), name="arguments-null")(
    partial(_with_arguments, make=lambda _: None)
)
for _title, _text, _also in (
    ("broken", "not json", ""), ("cut", '{"city": "Par', ""), ("blank", "", ""), ("list", "[1]", "-"),
):  # fmt: skip
    fault(TEXTS, Ban("qwen" if _also else "xai qwen", "PR307"), taken=f"{OPENAI} mistral",
          name=f"arguments-{_title}")(partial(_with_arguments, make=lambda _, new=_text: new))  # fmt: skip


@fault(("anthropic", "bedrock"), Ban("*", UNFIT))
def _arguments_left_out(draft: EditableRequest, rng: Random) -> bool:
    pair = any_pair(draft, rng)
    if pair:
        pair.call.named.pop(draft.spelling.arguments, None)
    return bool(pair)


def _key_on(draft: EditableRequest, rng: Random, *, what: str, key: str) -> bool:
    pair = any_pair(draft, rng)
    if pair is None:
        return False
    holder = {"turn": draft.turns[pair.call.turn], "call": pair.call.thing, "function": pair.call.named}[what]
    if key in holder:
        return False
    holder[key] = "2026-11-18"
    return True


KEY = "PR317"
STRICT_KEYS = "groq fireworks mistral"
fault(("openai-chat",), Ban("groq mistral", KEY), Ban(OPENAI, KEY, "warning"), taken="deepseek kimi xai glm fireworks",
      name="key-reasoning_content")(partial(_key_on, what="turn", key="reasoning_content"))  # fmt: skip
fault(("openai-chat",), Ban(STRICT_KEYS, KEY), name="key-timestamp-on-a-message")(
    partial(_key_on, what="turn", key="timestamp")
)
fault(("openai-chat",), Ban("fireworks", KEY), name="key-extra_content-on-a-call")(
    partial(_key_on, what="call", key="extra_content")
)
fault(("anthropic",), Ban("anthropic", KEY), name="key-text-on-a-call")(
    partial(_key_on, what="call", key="text")
)
fault(("anthropic", "gemini", "bedrock"), Ban("bedrock", KEY, "warning"), Ban("anthropic gemini", KEY),
      name="key-timestamp-on-a-turn")(partial(_key_on, what="turn", key="timestamp"))  # fmt: skip
fault(("openai-responses", "bedrock"), Ban("bedrock", KEY, "warning"), Ban("openai-responses", KEY),
      name="key-timestamp-on-a-call")(partial(_key_on, what="call", key="timestamp"))  # fmt: skip


def _tools(draft: EditableRequest, _: Random, *, empty: bool) -> bool:
    key = "toolConfig" if draft.wire == "bedrock" else "tools"
    if not draft.calls or not draft.tool_list() or draft.request.get("tool_choice"):
        return False
    if empty:
        draft.request[key] = {"tools": []} if draft.wire == "bedrock" else []
    else:
        del draft.request[key]
    return True


fault(
    WIRES,
    Ban("bedrock", "PR316"),
    taken=f"{OPENAI} openai-responses mistral anthropic",
    name="tools-left-out",
)(partial(_tools, empty=False))
fault(("openai-chat", "bedrock", "anthropic"), Ban("bedrock openai", "PR316 PR319"), taken="anthropic",
      name="tools-empty")(partial(_tools, empty=True))  # fmt: skip


@fault(("openai-chat",), Ban(OPENAI, "PR319"))
def _tools_129(draft: EditableRequest, _: Random) -> bool:
    tools = draft.tool_list()
    tools += [
        {"type": "function", "function": {"name": f"f{number}"}} for number in range(129 if tools else 0)
    ]
    return bool(tools)


@fault(("openai-chat",), Ban(OPENAI, "PR319"))
def _calls_129(draft: EditableRequest, rng: Random) -> bool:
    pair = any_pair(draft, rng)
    if pair is None or len(draft.turns) > 8:
        return False
    for number in range(129):
        call, result = deepcopy(pair.call.element), deepcopy(pair.result.element)
        call["id"] = result["tool_call_id"] = f"c{number:08}"
        pair.call.holder.append(call)
        draft.turns.insert(pair.result.turn + 1, result)
    return True


def _answer(draft: EditableRequest, rng: Random, *, value: Any, more: dict[str, Any]) -> bool:
    pair = any_pair(draft, rng)
    if pair:
        pair.result.thing[draft.spelling.answer] = deepcopy(value)
        pair.result.thing.update(more)
    return bool(pair)


MEDIA = "PR321"
for _name, _wires, _bans, _value, _more in (
    ("sound-in-a-result", ("openai-chat",), (Ban("openai", MEDIA),), [{"type": "input_audio", "input_audio": {}}], {}),
    ("json-list-in-a-result", ("bedrock",), (Ban("bedrock", MEDIA),), [{"json": [1]}], {}),
    ("failed-result-with-nothing", ("bedrock",), (Ban("bedrock", "PR312"),), [], {"status": "error"}),
    ("failed-result-with-nothing", ("anthropic",), (Ban("anthropic", "PR312"),), [], {"is_error": True}),
    ("response-a-list", ("gemini",), (Ban("gemini vertex", f"{MEDIA} ST103"),), [1], {}),
    ("response-a-text", ("gemini",), (Ban("gemini vertex", f"{MEDIA} ST103"),), "18 degrees", {}),
):  # fmt: skip
    fault(_wires, *_bans, name=_name)(partial(_answer, value=_value, more=_more))


@fault(("openai-chat",), Ban("openai", MEDIA, "warning"), Ban("azure-openai", MEDIA))
def _picture_in_a_result(draft: EditableRequest, rng: Random) -> bool:
    """As refused by one model; newer models accept it."""
    draft.request["model"] = "gpt-4o"
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    return _answer(draft, rng, value=[picture], more={})


@fault(("openai-chat",), Ban(f"{OPENAI} deepseek", "PR318 PR312"))
def _calls_an_empty_list(draft: EditableRequest, rng: Random) -> bool:
    turns = draft.turn_of("assistant")
    if turns:
        rng.choice(turns)["tool_calls"] = []
    return bool(turns)


@fault(("openai-chat",), Ban(OPENAI, "PR318"))
def _type_of_a_call_left_out(draft: EditableRequest, rng: Random) -> bool:
    pair = any_pair(draft, rng)
    if pair:
        pair.call.thing.pop("type", None)
    return bool(pair)
