"""Records of the wires with one hostile name at every position, and crowds: many repetitions of one thing.

Defines the spelling of a turn on each wire, and the shapes of crowds of turns. The tests define the expected
findings.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

Turns = list[dict[str, Any]]


class WireSpelling(NamedTuple):
    """The spelling on a wire of the parts of a crowd, and the providers that check it."""

    format: str
    providers: tuple[str, ...]
    user: Callable[[Any], Turns]
    call: Callable[[str], Any]
    result: Callable[[str], Any]
    text: Callable[[str], Any]
    calls: Callable[[list[Any]], Turns]
    """A turn of the model with these pieces."""
    results: Callable[[list[Any]], Turns]
    """The turns with these results."""
    body: Callable[[Turns, list[Any]], dict[str, Any]]
    tool: dict[str, Any]


def _of_parts(role: str, key: str) -> Callable[[list[Any]], Turns]:
    return lambda parts: [{"role": role, key: parts}]


def _as_message(parts: list[Any]) -> Turns:
    calls = [part for part in parts if "function" in part]
    texts = [part for part in parts if "function" not in part]
    return [{"role": "assistant", "content": texts or "", "tool_calls": calls}]


def _as_messages(parts: list[Any]) -> Turns:
    return [part if "role" in part else {"role": "user", "content": [part]} for part in parts]


_TYPED = {"type": "function", "function": {"name": "f é"}}
WIRE_SPELLINGS = (
    WireSpelling(
        "gemini", ("gemini", "vertex"),
        user=lambda text: [{"role": "user", "parts": [{"text": text}]}],
        call=lambda name: {"functionCall": {"id": name, "name": "f", "args": {}}},
        result=lambda name: {"functionResponse": {"id": name, "name": "f", "response": {"r": 1}}},
        text=lambda text: {"text": text},
        calls=_of_parts("model", "parts"),
        results=_of_parts("user", "parts"),
        body=lambda turns, tools: {
            "model": "gemini-3-pro", "contents": turns, "tools": [{"functionDeclarations": tools}],
        },
        tool={"name": "f é"},
    ),
    WireSpelling(
        "bedrock", ("bedrock", "bedrock@mistral"),
        user=lambda text: [{"role": "user", "content": [{"text": text}]}],
        call=lambda name: {"toolUse": {"toolUseId": name, "name": "f", "input": {}}},
        result=lambda name: {"toolResult": {"toolUseId": name, "content": [{"text": "r"}]}},
        text=lambda text: {"text": text},
        calls=_of_parts("assistant", "content"),
        results=_of_parts("user", "content"),
        body=lambda turns, tools: {
            "modelId": "anthropic.claude-3", "messages": turns, "toolConfig": {"tools": tools},
            "inferenceConfig": {"maxTokens": 9},
        },
        tool={"toolSpec": {"name": "f é"}},
    ),
    WireSpelling(
        "anthropic", ("anthropic", "anthropic@thinking"),
        user=lambda text: [{"role": "user", "content": text}],
        call=lambda name: {"type": "tool_use", "id": name, "name": "f", "input": {}},
        result=lambda name: {"type": "tool_result", "tool_use_id": name, "content": "r"},
        text=lambda text: {"type": "text", "text": text},
        calls=_of_parts("assistant", "content"),
        results=_of_parts("user", "content"),
        body=lambda turns, tools: {"model": "claude-3", "max_tokens": 9, "messages": turns, "tools": tools},
        tool={"name": "f é"},
    ),
    WireSpelling(
        "openai-responses", ("deepseek", "openai-responses"),
        user=lambda text: [{"role": "user", "content": text}],
        call=lambda name: {"type": "function_call", "id": f"fc_{name}", "call_id": name, "name": "f", "arguments": "{}"},
        result=lambda name: {"type": "function_call_output", "id": f"y{name}", "call_id": name, "output": "r"},
        text=lambda text: {"role": "assistant", "content": text},
        calls=lambda pieces: pieces,
        results=lambda pieces: pieces,
        body=lambda turns, tools: {"model": "gpt-5", "store": False, "input": turns, "tools": tools},
        tool={"type": "function", "name": "f é"},
    ),
    WireSpelling(
        "openai-chat", ("openai", "mistral", "kimi@k2", "vllm"),
        user=lambda text: [{"role": "user", "content": text}],
        call=lambda name: {"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}},
        result=lambda name: {"role": "tool", "tool_call_id": name, "name": "f", "content": "r"},
        text=lambda text: {"type": "text", "text": text},
        calls=_as_message,
        results=_as_messages,
        body=lambda turns, tools: {"model": "m", "temperature": 1, "messages": turns, "tools": tools},
        tool=_TYPED,
    ),
)  # fmt: skip


def _many(speech: WireSpelling, count: int, name: str = "c {}") -> tuple[list[Any], list[Any]]:
    names = [name.format(number) for number in range(count)]
    return [*map(speech.call, names)], [*map(speech.result, names)]


def side_by_side(speech: WireSpelling, count: int) -> Turns:
    """Calls of one turn, each with its result."""
    calls, results = _many(speech, count, "call_{:06}")
    return [*speech.calls(calls), *speech.results(results), *speech.user("go on")]


def texts_everywhere(speech: WireSpelling, count: int) -> Turns:
    """A text after each call, and one before each result."""
    turns: Turns = []
    for call, result in zip(*_many(speech, count), strict=True):
        turns += speech.calls([call, speech.text("hm")]) + speech.results([speech.text("hm"), result])
    return turns


def texts_at_the_end(speech: WireSpelling, count: int) -> Turns:
    """A turn of calls and one of results, each with as many texts after them."""
    calls, results = _many(speech, count)
    texts = [speech.text("hm")] * count
    return [*speech.calls([*calls, *texts]), *speech.results([*results, *texts])]


def unanswered(speech: WireSpelling, count: int) -> Turns:
    return [*speech.calls(_many(speech, count)[0]), *speech.user("go on")]


def open_at_the_end(speech: WireSpelling, count: int) -> Turns:
    return speech.calls(_many(speech, count)[0])


def nameless(speech: WireSpelling, count: int) -> Turns:
    """Calls and results without ids."""
    calls, results = _many(speech, count, "")
    return [*speech.calls(calls), *speech.results(results), *speech.user("go on")]


def one_id(speech: WireSpelling, count: int) -> Turns:
    """One id for every call, each with two results."""
    calls, results = _many(speech, count, "c")
    return [*speech.calls(calls), *speech.results(results * 2), *speech.user("go on")]


def orphan_results(speech: WireSpelling, count: int) -> Turns:
    return speech.results(_many(speech, count)[1])


def all_answers_late(speech: WireSpelling, count: int) -> Turns:
    calls, results = _many(speech, count)
    calling = [turn for call in calls for turn in speech.calls([call])]
    return [
        *calling,
        *speech.user("go on"),
        *(turn for result in results for turn in speech.results([result])),
    ]


def blanks(speech: WireSpelling, count: int) -> Turns:
    """Blank texts among other texts, in one message and alone."""
    texts = [speech.text(text) for text in ("", " ", "hm")]
    return [*speech.results(texts * count), *(speech.user("") + speech.user(" ")) * count]


CROWDS = (
    side_by_side, texts_everywhere, texts_at_the_end, unanswered, open_at_the_end, nameless, one_id,
    orphan_results, all_answers_late, blanks,
)  # fmt: skip


def crowd(speech: WireSpelling, shape: Callable[[WireSpelling, int], Turns], count: int) -> dict[str, Any]:
    return speech.body([*speech.user("hi"), *shape(speech, count)], [speech.tool] * count)


def _gemini(x: str) -> list[Any]:
    call = {"id": x, "name": x, "args": {x: x}}
    result = {
        "id": x,
        "name": x + "n",
        "response": x,
        "parts": [{x: {x: x}}, {"inlineData": {"mimeType": x + "/x"}}],
    }
    contents = [
        {"role": "user", "parts": [{"text": x}]},
        {"role": "model", "parts": [
            {"functionCall": call}, {"functionCall": {**call, "args": x}}, {"functionCall": {**call, "id": x + "2"}},
            {x: x}, {"functionCall": x}, {"thoughtSignature": 5, "functionCall": {"name": x}}, {"type": x, x: x}]},
        {"role": "user", "parts": [
            {"text": ""}, {"functionResponse": result},
            {"functionResponse": {"id": x + "9", "name": x, "response": {"error": x}}}]},
        {"role": x, "parts": [{"text": x}]}, {"role": "function", "parts": {x: x}}, {"role": "model", "parts": x},
    ]  # fmt: skip
    body = {
        "model": x, "contents": contents, "systemInstruction": {"parts": [{"text": x}]}, "generationConfig": {},
        "tools": [{"functionDeclarations": [{"name": x}, {"name": x}]}, {x: x}, {x: {}}], "toolConfig": {x: x}, x: x,
    }  # fmt: skip
    return [body, {**body, "contents": contents[::-1]}]


def _bedrock(x: str) -> list[Any]:
    use = {"toolUseId": x, "name": x, "input": {x: x}}
    result = {"toolUseId": x, "content": [{x: x}, {"json": x}, {"text": x}, {x + "k": {x: x}}], "status": x}
    thought = {"reasoningContent": {"reasoningText": {"text": x, "signature": x}}}
    messages = [
        {"role": "user", "content": [{"text": x}]},
        {"role": "assistant", "content": [
            thought, {"toolUse": use}, {"toolUse": {**use, "input": x}}, {"toolUse": {**use, "toolUseId": x + "2"}},
            {x: x}, {"image": x}, {x: {}, "text": ""}]},
        {"role": "user", "content": [
            {"text": " "}, {"toolResult": result}, {"toolResult": {**result, "content": x}},
            {"toolResult": {**result, "toolUseId": x + "3"}}, {x: x}]},
        {"role": x, "content": [{"text": x}]}, {"role": "user", "content": x},
        {"role": "assistant", "content": [{"text": "a "}]},
    ]  # fmt: skip
    tools = {"tools": [{"toolSpec": {"name": x}}, {"toolSpec": {"name": x}}, {x: x}], "toolChoice": {x: x}}
    body = {"modelId": x, "messages": messages, "inferenceConfig": {x: x}, "toolConfig": tools, x: x}
    return [body, {**body, "messages": messages[::-1]}]


def _responses(x: str) -> list[Any]:
    call = {"type": "function_call", "id": x, "call_id": x, "name": x, "arguments": x, "status": x, x: x}
    output = {"type": "function_call_output", "id": x, "call_id": x, "output": [{"type": x, x: x}]}
    items = [
        {"role": "user", "content": x}, {"type": "reasoning", "id": x, "summary": [{"type": x, "text": x}]},
        call, {**call, "arguments": {x: x}}, output, {**output, "call_id": x + "3", "output": {x: x}},
        {"type": x, "id": x, "call_id": x}, {"type": "custom_tool_call", "call_id": x, "name": x, "input": x},
        {"type": x + "_call", "id": x}, {"type": x + "_call_output", "id": x, "call_id": x},
        {"type": "message", "role": x, "id": x, "content": [{"type": x}]}, {"role": x, "content": x},
        {"type": "item_reference", "id": x}, {"type": "web_search_call", "id": x, "status": x},
    ]  # fmt: skip
    tools = [{"type": x, "name": x}, {"type": "function", "name": x}, {"type": "function", "name": x}]
    body = {"model": x, "input": items, "tools": tools, "store": False, "conversation": x, x: x}
    answer = {"id": x, "object": "response", "model": x, "output": items}
    return [body, {**body, "input": items[::-1]}, answer]


def _chat(x: str, **more: Any) -> list[Any]:
    call = {"id": x, "type": "function", "function": {"name": x, "arguments": {x: x}}}
    calls = [call, {**call, "id": x + "2"}, {**call, "type": x}, {x: x}, {**call, "function": x}]
    blocks = [{"type": x, x: x}, {"type": "thinking", "thinking": [{x: x}]}]
    messages = [
        {"role": "user", "content": x, "name": x, x: x},
        {"role": "assistant", "content": blocks, "tool_calls": calls, "reasoning_content": x, "prefix": True, x: x},
        {"role": "tool", "tool_call_id": x, "name": x + "n", "content": [{"type": x, x: x}]},
        {"role": "tool", "tool_call_id": x + "3", "tool_name": x, "content": {x: x}}, {"role": x, "content": ""},
        {"role": "assistant", "content": " ", "tool_calls": []}, {"role": "assistant", "content": "x "},
    ]  # fmt: skip
    tools = [{"type": "function", "function": {"name": x}}] * 2 + [{"type": x}, x]
    body = {
        "model": x,
        "messages": messages,
        "temperature": 1,
        "tools": tools,
        "tool_choice": x,
        x: x,
        **more,
    }
    sent = {"url": f"https://{x}/v1/chat/completions", "request": body}
    return [body, {**body, "messages": messages[::-1]}, sent, {"host": x, **body}]


def _cohere(x: str) -> list[Any]:
    past = [
        {"role": "USER", "message": x},
        {"role": "CHATBOT", "message": x, "tool_calls": [{"name": x, "parameters": {x: x}}, {"name": x, x: x}]},
        {"role": "TOOL", "tool_results": [
            {"call": {"name": x, "parameters": {x: x}}, "outputs": [{x: x}]}, {"call": x, "outputs": x},
            {"call": {"name": x + "k"}}]},
        {"role": x, "message": x},
    ]  # fmt: skip
    body = {
        "model": x, "message": x, "preamble": x, "chat_history": past, "tools": [{"name": x}, {"name": x}],
        "tool_results": [{"call": {"name": x, "parameters": {x: x}}, "outputs": [x]}], x: x,
    }  # fmt: skip
    return [*_chat(x, safety_mode="OFF"), body, {**body, "chat_history": past[::-1]}]


def _ollama(x: str) -> list[Any]:
    body = _chat(x, options={x: x}, keep_alive=x, think=x)[0]
    own = {"function": {"name": x, "arguments": {x: x}, "index": x}}
    turn = {**body["messages"][1], "tool_calls": [own, {"function": {"name": x, "arguments": x}}]}
    body["messages"][1] = turn
    return [body, {**body, "done_reason": x, "message": turn}]


PROVIDER_WIRES: dict[str, Callable[[str], list[Any]]] = {
    "gemini": _gemini,
    "bedrock": _bedrock,
    "openai-responses": _responses,
    "mistral": lambda x: _chat(x, safe_prompt=True),
    "cohere": _cohere,
    "ollama": _ollama,
    "openai-chat": _chat,
}
"""For each wire, records with a name at every position that untrusted input may fill."""
