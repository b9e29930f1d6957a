"""Requests in the spelling of each wire, for tests that change them.

Finds the turns, calls, results, ids, names and arguments of a request, and makes turns of text. Written from the
specifications of the wires and independent of the linter, so that both do not share an oversight.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

CHAT = ("openai-chat", "mistral", "cohere", "ollama")
BLOCKS = ("anthropic", "bedrock", "gemini")
ITEMS = ("openai-responses",)
WIRES = (*CHAT, *BLOCKS, *ITEMS)


class Spelling(NamedTuple):
    """The keys of one wire."""

    turns: str = "messages"
    parts: str = "content"
    call: str = "tool_calls"
    """The key or the type of a call, and of a result."""
    result: str = "tool"
    wrapped: bool = False
    """A piece is under a key of its own, which gives its kind."""
    call_id: str = "id"
    result_id: str = "tool_call_id"
    arguments: str = "arguments"
    answer: str = "content"
    encoded: bool = True
    """Arguments are JSON inside a text."""
    model_role: str = "assistant"


CHAT_SPELLING = Spelling()
SPELLINGS = {
    "openai-chat": CHAT_SPELLING,
    "mistral": CHAT_SPELLING,
    "cohere": CHAT_SPELLING,
    "ollama": CHAT_SPELLING._replace(encoded=False),
    "anthropic": Spelling(
        call="tool_use", result="tool_result", result_id="tool_use_id", arguments="input", encoded=False
    ),
    "bedrock": Spelling(
        call="toolUse", result="toolResult", wrapped=True, call_id="toolUseId", result_id="toolUseId",
        arguments="input", encoded=False,
    ),
    "gemini": Spelling(
        turns="contents", parts="parts", call="functionCall", result="functionResponse", wrapped=True, result_id="id",
        arguments="args", answer="response", encoded=False, model_role="model",
    ),
    "openai-responses": Spelling(
        turns="input", call="function_call", result="function_call_output", call_id="call_id", result_id="call_id",
        answer="output",
    ),
}  # fmt: skip


class Piece(NamedTuple):
    """A call or a result, with the list that holds it."""

    turn: int
    holder: list[Any]
    element: dict[str, Any]
    thing: dict[str, Any]
    """The object with its id."""

    @property
    def named(self) -> dict[str, Any]:
        """The object with its name and its arguments."""
        inner = self.thing.get("function")
        return inner if isinstance(inner, dict) else self.thing

    @property
    def place(self) -> int:
        return next(index for index, item in enumerate(self.holder) if item is self.element)


class Pair(NamedTuple):
    call: Piece
    result: Piece


class EditableRequest:
    """A copy of one request, to be changed."""

    def __init__(self, wire: str, request: dict[str, Any]) -> None:
        self.wire = wire
        self.spelling = SPELLINGS[wire]
        self.request = deepcopy(request)

    @property
    def turns(self) -> list[Any]:
        found = self.request.get(self.spelling.turns)
        return found if isinstance(found, list) else []

    @property
    def calls(self) -> list[Piece]:
        return list(self._pieces(self.spelling.call, results=False))

    @property
    def results(self) -> list[Piece]:
        return list(self._pieces(self.spelling.result, results=True))

    def _pieces(self, kind: str, *, results: bool) -> Iterator[Piece]:
        for index, turn in enumerate(self.turns):
            if not isinstance(turn, dict):
                continue
            if self.wire in ITEMS:
                if turn.get("type") == kind:
                    yield Piece(index, self.turns, turn, turn)
            elif self.wire in CHAT:
                if results and turn.get("role") == kind:
                    yield Piece(index, self.turns, turn, turn)
                elif not results:
                    calls = turn.get(kind) or []
                    yield from (
                        Piece(index, calls, call, call)
                        for call in calls
                        if isinstance(call.get("function"), dict)
                    )
            else:
                for element in self.parts_of(turn):
                    if not self.spelling.wrapped and element.get("type") == kind:
                        yield Piece(index, turn[self.spelling.parts], element, element)
                    elif self.spelling.wrapped and isinstance(element.get(kind), dict):
                        yield Piece(index, turn[self.spelling.parts], element, element[kind])

    def parts_of(self, turn: dict[str, Any]) -> list[dict[str, Any]]:
        parts = turn.get(self.spelling.parts)
        return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []

    def call_id(self, call: Piece) -> Any:
        return call.thing.get(self.spelling.call_id)

    def result_id(self, result: Piece) -> Any:
        return result.thing.get(self.spelling.result_id)

    @property
    def pairs(self) -> list[Pair]:
        """Each call with its result: by id; without ids, by order within the turns that follow it."""
        free = self.results
        found: list[Pair] = []
        for call in self.calls:
            wanted = self.call_id(call)
            fits = [
                item
                for item in free
                if item.turn > call.turn
                and (self.result_id(item) == wanted if wanted else self._follows(call.turn, item.turn))
            ]
            if fits:
                found.append(Pair(call, fits[0]))
                free.remove(fits[0])
        return found

    def _follows(self, call: int, result: int) -> bool:
        return all(item.turn <= call or item.turn >= result for item in self.calls)

    @property
    def rounds(self) -> list[list[Pair]]:
        """The pairs of each turn of the model."""
        found: list[list[Pair]] = []
        for pair in self.pairs:
            if found and self._same_turn(found[-1][-1].call.turn, pair.call.turn):
                found[-1].append(pair)
            else:
                found.append([pair])
        return found

    def _same_turn(self, first: int, second: int) -> bool:
        between = self.turns[first + 1 : second]
        return first == second or (
            self.wire in ITEMS and all(item.get("type") == self.spelling.call for item in between)
        )

    def user(self, text: str) -> dict[str, Any]:
        return self._text_turn("user", text)

    def model(self, text: str) -> dict[str, Any]:
        return self._text_turn(self.spelling.model_role, text)

    def _text_turn(self, role: str, text: str) -> dict[str, Any]:
        return {"role": role, self.spelling.parts: text if self.wire not in BLOCKS else [self.text(text)]}

    def text(self, text: str) -> dict[str, Any]:
        """A piece of text on a wire of blocks."""
        return {"type": "text", "text": text} if self.wire == "anthropic" else {"text": text}

    def turn_of(self, role: str) -> list[dict[str, Any]]:
        """Turns of a role without calls and results."""
        busy = {id(self.turns[piece.turn]) for piece in (*self.calls, *self.results)}
        return [
            turn
            for turn in self.turns
            if isinstance(turn, dict) and turn.get("role") == role and id(turn) not in busy
        ]

    def remove(self, piece: Piece) -> None:
        """Remove a piece, and the empty shell of its turn."""
        del piece.holder[piece.place]
        if piece.holder or piece.holder is self.turns:
            return
        turn = self.turns[piece.turn]
        if self.wire not in CHAT:
            del self.turns[piece.turn]
            return
        del turn[self.spelling.call]
        turn["content"] = turn.get("content") or "Let me see."

    def rename(self, old: Any, new: Any) -> None:
        """Change the id of a call and its results."""
        for call in self.calls:
            if self.call_id(call) == old:
                call.thing[self.spelling.call_id] = new
        for result in self.results:
            if self.result_id(result) == old:
                result.thing[self.spelling.result_id] = new

    def as_parts(self, turn: dict[str, Any]) -> list[Any]:
        """The content of a turn as a list, converted where necessary."""
        content = turn.get(self.spelling.parts)
        if not isinstance(content, list):
            content = [self.text(content)] if content else []
            turn[self.spelling.parts] = content
        return content

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The objects with the names of the caller's own tools."""
        if self.wire == "bedrock":
            listed = (self.request.get("toolConfig") or {}).get("tools") or []
            return [item["toolSpec"] for item in listed if "toolSpec" in item]
        if self.wire == "gemini":
            return self.tool_list()
        listed = self.request.get("tools") or []
        inner = [
            item.get("function", item)
            for item in listed
            if item.get("type", "custom") in ("function", "custom")
        ]
        return [item for item in inner if isinstance(item, dict) and "name" in item]

    def tool_list(self) -> list[Any]:
        """The list of tools, or nothing if the request has none."""
        where = self.request.get("toolConfig") or {} if self.wire == "bedrock" else self.request
        tools = where.get("tools") or []
        if self.wire == "gemini":
            first = tools[0] if isinstance(tools, list) and tools else tools or {}
            tools = first.get("functionDeclarations") or first.get("function_declarations") or []
        return tools if isinstance(tools, list) else []
