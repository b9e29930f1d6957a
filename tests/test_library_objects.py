"""`lint` and `fix` accept the objects of any class and any SDK."""

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, ClassVar

import msgspec
import pytest

from histories import APART, USER, answer, call, calling, codes
from turnlint import fix, lint


class Role(Enum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass
class DataclassMessage:
    role: Role
    content: str | None = None
    tool_calls: list[Any] | None = None
    tool_call_id: str | None = None
    seen: ClassVar[int] = 0
    extra: dict[str, Any] | None = field(default=None, repr=False)


class StructMessage(msgspec.Struct, rename={"call_id": "tool_call_id"}, omit_defaults=True):
    role: str
    content: str | None = None
    tool_calls: list[Any] | None = None
    call_id: str | msgspec.UnsetType = msgspec.UNSET


class MessageWithToDict:
    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def to_dict(self) -> dict[str, Any]:
        return self.fields


KINDS: dict[str, Callable[..., Any]] = {
    "dict": dict,
    "mapping": lambda **fields: MappingProxyType(OrderedDict(fields)),
    "dataclass": lambda role, **fields: DataclassMessage(Role(role), **fields),
    "struct": lambda tool_call_id=msgspec.UNSET, **fields: StructMessage(call_id=tool_call_id, **fields),
    "to_dict": MessageWithToDict,
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("hold", [list, tuple, deque])
def test_messages_may_be_of_any_class(make: Callable[..., Any], hold: Callable[..., Any]) -> None:
    given = hold([make(**{k: v for k, v in item.items() if v is not None}) for item in APART])
    assert codes(lint(given)) == ["PA203"]
    roles = [item["role"] for item in fix(given).value]
    assert roles == ["user", "assistant", "tool", "user"]
    assert all(None not in item.values() for item in fix(given).value)


def test_fields_of_attrs_classes_are_read() -> None:
    attrs = pytest.importorskip("attrs")
    message = attrs.make_class(
        "Message", {"role": attrs.field(), "content": attrs.field(), "name": attrs.field(default=None)}
    )
    assert fix([message("user", "hi")]).value == [{"role": "user", "content": "hi"}]


def test_the_tag_of_a_tagged_struct_is_read() -> None:
    class ToolUse(msgspec.Struct, tag_field="type", tag="tool_use"):
        id: str
        name: str
        input: dict[str, Any]

    given = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [ToolUse("t1", "f", {})]},
        {"role": "user", "content": "so?"},
    ]
    assert codes(lint(given)) == ["PA201"]


def test_pydantic_models_keep_their_roles_and_omit_unset_fields() -> None:
    pydantic = pytest.importorskip("pydantic")
    Message = pydantic.create_model(  # noqa: N806 - it is a class
        "Message", role=(str, "user"), content=(str | None, None), calls=(list | None, pydantic.Field(None, alias="tool_calls"))
    )  # fmt: skip
    given = [Message(content="hi"), Message(role="assistant", content=None, tool_calls=[call("c1")])]
    assert fix(given).value == [{"role": "user", "content": "hi"}, calling("c1")]


def test_an_answer_of_the_anthropic_sdk_goes_into_the_history() -> None:
    types = pytest.importorskip("anthropic.types")
    block = types.ToolUseBlock(type="tool_use", id="toolu_1", name="f", input={"a": None})
    text = types.TextBlock(type="text", text="Let me see.")
    history = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [text, block]},
        {"role": "user", "content": "still there?"},
    ]
    (finding,) = lint(history, provider="anthropic")
    assert (finding.code, finding.pointer) == ("PA201", "/1/content/1/id")
    fixed = fix(history, provider="anthropic")
    assert fixed.value[1]["content"] == [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": None}},
    ]
    assert fixed.value[2]["content"][0]["type"] == "tool_result"
    assert fixed.left == ()


def test_an_answer_of_the_openai_sdk_goes_into_the_history() -> None:
    types = pytest.importorskip("openai.types.chat")
    reply = types.ChatCompletionMessage(
        role="assistant", content=None,
        tool_calls=[{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    )  # fmt: skip
    assert lint([USER, reply, answer("call_1")], provider="openai") == ()
    fixed = fix([USER, reply, USER, answer("call_1")], provider="openai")
    assert fixed.value[1] == {
        "role": "assistant", "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }  # fmt: skip
    assert [item["role"] for item in fixed.value] == ["user", "assistant", "tool", "user"]


def test_response_items_of_the_openai_sdk_go_into_the_input() -> None:
    types = pytest.importorskip("openai.types.responses")
    call = types.ResponseFunctionToolCall(
        type="function_call", call_id="call_1", name="f", arguments="{}", id="fc_1"
    )
    history = [{"role": "user", "content": "hi"}, call, {"role": "user", "content": "and?"}]
    assert codes(lint(history)) == ["PA201"]
    assert [item.get("type") for item in fix(history).value] == [
        None, "function_call", "function_call_output", None,
    ]  # fmt: skip


def test_google_s_contents_keep_their_bytes() -> None:
    types = pytest.importorskip("google.genai.types")
    signature = b"\xff\xfeproof"
    function_call = types.Part(
        function_call=types.FunctionCall(name="f", args={"a": None}), thought_signature=signature
    )
    history = [
        types.Content(role="user", parts=[types.Part(text="hi")]),
        types.Content(role="model", parts=[function_call]),
        types.Content(role="user", parts=[types.Part(text="so?")]),
    ]
    assert "PA201" in codes(lint(history))
    fixed = fix(history, provider="gemini")
    assert fixed.value[1] == {
        "role": "model",
        "parts": [{"functionCall": {"name": "f", "args": {"a": None}}, "thoughtSignature": signature}],
    }
    assert any("functionResponse" in part for part in fixed.value[2]["parts"])


def test_messages_of_the_mistral_sdk_have_their_roles() -> None:
    models = pytest.importorskip("mistralai.client.models")
    message = models.AssistantMessage(
        content="", tool_calls=[models.ToolCall(id="abcdefghi", function=models.FunctionCall(name="f", arguments="{}"))]
    )  # fmt: skip
    history = [
        models.UserMessage(content="hi"),
        message,
        models.ToolMessage(content="1", tool_call_id="abcdefghi"),
    ]
    assert lint(history, provider="mistral") == ()
    assert "PA201" in codes(lint([*history[:2], models.UserMessage(content="so?")], provider="mistral"))


def test_messages_of_the_cohere_sdk_have_their_roles() -> None:
    cohere = pytest.importorskip("cohere")
    history = [
        cohere.UserChatMessageV2(content="hi"),
        cohere.AssistantChatMessageV2(
            tool_calls=[{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
        ),
        cohere.UserChatMessageV2(content="so?"),
    ]
    assert "PA201" in codes(lint(history, provider="cohere"))
