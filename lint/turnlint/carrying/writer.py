"""Write results, calls and messages in the spelling of a format.

Each format has a writer. Repairs and the examples of the rules use it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from turnlint.lifecycle import UNKNOWN
from turnlint.model import Call, Pointer, Role

if TYPE_CHECKING:
    from turnlint.carrying.examples import ExampleBuilder, NotationLine

ABSENT: Any = object()
"""The value of a key that a line of an example leaves out. An empty text is another value."""
Frame = tuple[dict[str, Any], dict[str, Any]]
"""The keys of a new record, and those of the message in it."""


class MessageWriter:
    """A writer that writes no message. A format overrides what it can write."""

    blocks_key: str = ""
    """The key of the list of a message that holds its results. Empty if a result is a message of its own."""
    result_message_keys: ClassVar[Mapping[str, Any]] = {}
    """The other keys of a message of results."""
    placeholder_mark: ClassVar[Mapping[str, Any]] = {}
    """Keys that mark a placeholder."""
    placeholder_text: str = UNKNOWN
    """The text of a placeholder."""
    one_result_per_message: bool = False
    """Whether a message has only one result, although results are blocks of a list."""
    calls_are_messages: bool = False
    """Whether a call is a message of its own."""
    result_pointer_in_call: Pointer = ()
    """The place of a result below its call. Empty if a result does not belong to the object of its call."""
    has_record_frame: bool = False
    """Whether a new message needs a record with more than a few common keys."""
    has_continued_frame: bool = False
    """Whether a record can continue the assistant message of another record."""
    id_and_parent_keys: tuple[str, str] = ("", "")
    """The keys of a record for its own id and for the id of the record before it."""
    examples_key: str = ""
    """The key of the list of messages in an example. Empty if the format has no examples."""

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:  # noqa: ARG002 - for formats to override
        """Write the result of a call; None if the format has no such result."""
        return None

    def completed_values(self, result: Mapping[str, Any], text: str) -> Mapping[Pointer, Any]:  # noqa: ARG002 - for formats to override
        """Return the values that complete a pending result by an interruption; none if the format has no such result."""
        return {}

    def write_call(self, identifier: str, name: str, arguments: Any) -> Any:  # noqa: ARG002 - for formats to override
        """Write a call; None if the format has no calls to write."""
        return None

    def write_message(self, role: Role, texts: Sequence[str], calls: Sequence[Any]) -> Any:  # noqa: ARG002 - for formats to override
        """Write a message with texts and calls; None if the format has no such message."""
        return None

    def record_frame(self, near: Mapping[str, Any], asking: Mapping[str, Any] | None) -> Frame:  # noqa: ARG002 - for formats to override
        """Write the keys around a new message, from the record beside it and the record of the call that it answers."""
        return {}, {}

    def continued_frame(self, near: Mapping[str, Any], identifier: str) -> Frame:  # noqa: ARG002 - for formats to override
        """Write the keys around a message that continues an assistant message, from its record and a new id."""
        return {}, {}

    def new_id(self, digest: str) -> str:
        """Write the id of a new record, from a digest of 32 digits."""
        return digest

    def write_example(self, example: "ExampleBuilder") -> dict[str, Any]:  # noqa: ARG002 - for formats to override
        """Add the messages of an example and return the other keys of its record."""
        return {}


class ChatWriter(MessageWriter):
    """The writer of Chat Completions and its relatives."""

    examples_key = "messages"
    example_model = "gpt-4.1"

    def write_result(self, call: Call, texts: Sequence[str], failed: bool) -> Any:  # noqa: ARG002 - the wire has no key for it
        content = one_or_parts(texts)
        if call.kind == "function_call":
            return {"role": "function", "name": call.name, "content": content}
        # Where no call of a conversation has an id, the place and the name pair its results.
        own = {"tool_call_id": call.id} if call.id else {"name": call.name} if call.name else {}
        return {"role": "tool", **own, "content": content}

    def write_call(self, identifier: str, name: str, arguments: Any) -> Any:
        from json import dumps

        text = dumps(arguments, ensure_ascii=False)
        return {"id": identifier, "type": "function", "function": {"name": name, "arguments": text}}

    def write_message(self, role: Role, texts: Sequence[str], calls: Sequence[Any]) -> Any:
        message = {"role": role, "content": one_or_parts(texts)}
        return message | {"tool_calls": list(calls)} if calls else message

    def write_example(self, example: "ExampleBuilder") -> dict[str, Any]:
        for line in example.lines:
            if line.is_spoken:
                example.add(line, {"role": line.kind, "content": line.text})
            elif line.kind == "call":
                message = example.messages[-1]
                calls = message.setdefault("tool_calls", [])
                self._settle_content(message)
                calls.append(self._example_call(example, line))
                example.expect(line, "tool_calls", len(calls) - 1)
            elif line.kind == "result":
                example.add(line, self._example_result(example, line))
            else:
                assert line.kind == "think", f"this format has no {line.kind}"
                self._add_thought(example, line)
        return {"model": self.example_model}

    def _settle_content(self, message: dict[str, Any]) -> None:
        """Settle the content of a message with calls."""
        message["content"] = message["content"] or None

    def _example_call(self, _: "ExampleBuilder", line: "NotationLine") -> dict[str, Any]:
        function = present(name=line.name, arguments=line.arguments_text)
        return present(id=line.id, type="function", function=function)

    def _example_result(self, _: "ExampleBuilder", line: "NotationLine") -> dict[str, Any]:
        return present(role="tool", tool_call_id=line.id, name=line.name, content=line.answer)

    def _add_thought(self, example: "ExampleBuilder", line: "NotationLine") -> None:
        example.messages[-1]["reasoning_content"] = line.text


class BlockWriter(MessageWriter, ABC):
    """A writer of examples whose calls and results are blocks of messages."""

    role_key = "role"
    example_roles: ClassVar[Mapping[str, str]] = {"user": "user", "assistant": "assistant"}
    instructions_at: tuple[str, ...] = ()
    """The keys of the list of system texts beside the messages. Empty if a system text is a message."""

    def write_example(self, example: "ExampleBuilder") -> dict[str, Any]:
        more: dict[str, Any] = {}
        for line in example.lines:
            if line.kind == "system" and self.instructions_at:
                self._add_instruction(example, line, more)
            elif line.kind in self.example_roles:
                blocks = [self._text_block(line.text)] if line.text else []
                example.add(line, {self.role_key: self.example_roles[line.kind], self.blocks_key: blocks})
            else:
                if line.kind == "result" and not (
                    example.messages and self._takes_results(example.messages[-1])
                ):
                    example.messages.append({**self.result_message_keys, self.blocks_key: []})
                blocks = example.messages[-1][self.blocks_key]
                blocks.append(self._example_block(example, line))
                example.expect(line, self.blocks_key, len(blocks) - 1)
        return self._example_settings(example, more)

    def _text_block(self, text: str) -> dict[str, Any]:
        return {"type": "text", "text": text}

    @abstractmethod
    def _example_block(self, example: "ExampleBuilder", line: "NotationLine") -> dict[str, Any]:
        """Return the block of a call, a result or a thought."""

    @abstractmethod
    def _takes_results(self, message: dict[str, Any]) -> bool:
        """Whether another result may be added to a message."""

    def _add_instruction(self, example: "ExampleBuilder", line: "NotationLine", more: dict[str, Any]) -> None:
        """Add a system text beside the messages."""
        *outer, key = self.instructions_at
        for one in outer:
            more = more.setdefault(one, {})
        texts = more.setdefault(key, [])
        example.expect_at(line, *self.instructions_at, len(texts))
        texts.append(self._text_block(line.text))

    def _example_settings(self, example: "ExampleBuilder", more: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - for formats to override
        """Return the keys of a record beside its messages, with those of its instructions."""
        return more


def one_or_parts(texts: Sequence[str]) -> Any:
    """Return one text by itself, several as parts, and none as null."""
    if len(texts) > 1:
        return [{"type": "text", "text": text} for text in texts]
    return texts[0] if texts else None


def present(**values: Any) -> dict[str, Any]:
    """Return an object without the absent values."""
    return {key: value for key, value in values.items() if value is not ABSENT}


def declared_functions(example: "ExampleBuilder") -> dict[str, Any]:
    """Declare the called tools as functions of Chat Completions."""
    tools = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
        for name in example.called_names()
    ]
    return {"tools": tools} if tools else {}


def put_first(message: dict[str, Any], part: dict[str, Any]) -> None:
    """Add a part at the start of the content of a message."""
    content = message.get("content") or []
    message["content"] = [
        part,
        *([{"type": "text", "text": content}] if isinstance(content, str) else content),
    ]


CHAT_WRITER = ChatWriter()
