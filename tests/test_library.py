"""`from turnlint import lint, fix`: Python objects in, values out."""

import json
import subprocess
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import turnlint
from turnlint import fix, lint, testing
from turnlint.carriers import NAMES
from turnlint.library import TurnlintError
from turnlint.notation import write

FIXTURES = Path(__file__).parent.parent / "fixtures"


def call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}


def asked(*call_ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [call(one) for one in call_ids]}


def answer(call_id: str, content: Any = "18 °C") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


USER = {"role": "user", "content": "How is the weather?"}
SOUND = [USER, asked("c1"), answer("c1"), {"role": "assistant", "content": "Fine."}]
APART = [USER, asked("c1"), USER, answer("c1")]
ORPHAN = [USER, answer("c9")]
UNANSWERED = [USER, asked("c1"), USER]


def codes(found: Any) -> list[str]:
    return [one.code for one in found]


# What is public.


def test_two_functions_are_public_and_are_loaded_when_they_are_asked_for() -> None:
    assert turnlint.__all__ == ["fix", "lint"]
    program = (
        "import sys, turnlint; print([n for n in sys.modules if n.startswith(('turnlint.', 'msgspec'))])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'lnit'"):
        turnlint.lnit  # noqa: B018


SESSIONS = [
    path
    for name in ("claude-code", "codex", "gemini-cli", "pi")
    for path in sorted((Path(__file__).parent.parent / "fixtures" / "formats" / name).glob("*.fixed.jsonl"))
]


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: f"{path.parent.name}: {path.name}")
def test_the_events_of_a_session_are_read_and_repaired_as_its_file_is(path: Path) -> None:
    broken = [
        json.loads(line)
        for line in path.with_name(path.name.replace(".fixed", "")).read_text().splitlines()
        if line
    ]
    fixed = fix(broken)
    assert fixed.changes
    assert fixed.value == [json.loads(line) for line in path.read_text().splitlines() if line]
    for finding in lint(broken):
        at: Any = broken
        for part in finding.pointer.split("/")[1:]:
            at = at[int(part) if isinstance(at, list) else part]


def test_a_list_of_one_record_comes_back_as_a_list() -> None:
    only = [
        {
            "custom_id": "r1",
            "response": {"status_code": 200, "body": {"choices": [{"index": 0, "message": asked("c1")}]}},
        }
    ]
    assert lint(only) == lint(only[0])
    assert fix(only).value == only


def test_findings_are_frozen_values_that_read_as_a_line() -> None:
    (finding,) = lint(APART)
    assert (finding.code, finding.rule, finding.severity) == ("PA203", "misplaced-result", "error")
    assert (finding.pointer, finding.message_index, finding.call_id) == ("/3/tool_call_id", 3, "c1")
    assert finding.fix is not None
    assert finding.fix.level == "lossless"
    assert [one.pointer for one in finding.related] == ["/1/tool_calls/0/id"]
    assert str(finding) == (
        "PA203[error] misplaced-result: result for `c1` stands away from its call (/3/tool_call_id)"
    )
    with pytest.raises(AttributeError):
        finding.code = "PA999"  # type: ignore[misc]
    assert len({finding, *lint(APART)}) == 1


def test_names_are_those_of_the_json_report(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"messages": [*ORPHAN, asked("c1"), USER]}))
    shown = subprocess.run(
        [sys.executable, "-m", "turnlint", "lint", str(path), "--output-format", "json"],
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    rows = json.loads(shown)["findings"]
    found = [msgspec.to_builtins(one) for one in lint({"messages": [*ORPHAN, asked("c1"), USER]})]
    assert len(rows) == len(found) == 2
    for row, one in zip(rows, found, strict=True):
        one.pop("conversation_index")
        one["related"] = [{**related, "line": 1} for related in one["related"]]
        assert one.items() <= row.items()


# Options.


def test_a_provider_a_format_and_rules_can_be_named() -> None:
    assert codes(lint(SOUND)) == []
    assert "PR303" in codes(lint(SOUND, provider="mistral"))
    assert {one.provider for one in lint(SOUND, provider=["mistral", "kimi"])} <= {"mistral", "kimi"}
    assert codes(lint(ORPHAN, ignore="PA202")) == []
    assert codes(lint([*ORPHAN, asked("c1"), USER], select=["unanswered-call"])) == ["PA201"]
    assert lint([], format="anthropic") == ()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"provider": "anthropc"}, "there is no provider called 'anthropc'; did you mean anthropic?"),
        ({"provider": "mistral@v0"}, "there is no version of mistral called 'v0'"),
        ({"provider": ("none", "openai")}, "it cannot stand beside others"),
        ({"provider": (1,)}, "names of providers and rules are texts"),
        ({"format": "openai_chat"}, "there is no format 'openai_chat'; did you mean 'openai-chat'?"),
        ({"select": "PA999"}, "no rule, code or family is called 'PA999'"),
        ({"ignore": "orphan-reslt"}, "did you mean orphan-result?"),
    ],
)
def test_a_name_that_does_not_exist_is_an_error_with_the_nearest(options: Any, said: str) -> None:
    for verb in (lint, fix):
        with pytest.raises(TurnlintError, match=said.replace("?", r"\?")):
            verb(SOUND, **options)


def test_what_fix_alone_takes_is_looked_at_too() -> None:
    with pytest.raises(TurnlintError, match="there is no level 'lossles'; did you mean 'lossless'"):
        fix(SOUND, level="lossles")  # type: ignore[call-overload]
    with pytest.raises(TurnlintError, match="canonical ids are no provider's"):
        fix(SOUND, canonical=True, provider="openai")


# Fix.


def test_fix_gives_the_repaired_messages_and_what_it_changed() -> None:
    given = deepcopy(APART)
    fixed = fix(given)
    assert fixed.value == [USER, asked("c1"), answer("c1"), USER]
    (change,) = fixed.changes
    assert (change.what, change.code, change.level, change.pointer) == ("moved", "PA203", "lossless", "/3")
    assert fixed.left == ()
    assert given == APART


def test_a_whole_request_comes_back_as_one() -> None:
    request = {"model": "gpt-5", "messages": APART, "tools": []}
    assert fix(request).value == {**request, "messages": [USER, asked("c1"), answer("c1"), USER]}


def test_what_is_sound_comes_back_as_it_was_and_is_nobody_elses() -> None:
    fixed = fix(SOUND)
    assert fixed.value == SOUND
    assert fixed.changes == fixed.left == fixed.unverified == ()
    fixed.value[0]["content"] = "changed"
    assert USER["content"] == "How is the weather?"


def test_what_stays_unrepaired_is_left_and_says_so() -> None:
    assert codes(fix(ORPHAN, level="lossless").left) == ["PA202"]
    assert fix(ORPHAN).value == [USER]
    pending = [USER, asked("c1")]
    assert fix(pending).value == pending
    closed = fix(pending, close_pending=True)
    assert [one["role"] for one in closed.value] == ["user", "assistant", "tool"]
    assert fix(SOUND, canonical=True).value[1]["tool_calls"][0]["id"] != "c1"


@pytest.mark.parametrize(
    "wire", [name for name in NAMES if find_spec(f"turnlint.writing.{name.replace('-', '_')}")]
)
def test_every_wire_is_repaired_as_the_command_repairs_it(wire: str) -> None:
    text = """
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
        user       Never mind.
        assistant  As you wish.
    """
    record = write(text, wire).record
    fixed = fix(record, format=wire, provider="none")
    assert codes(lint(record, format=wire, provider="none")) == ["PA201"]
    assert [one.what for one in fixed.changes] == ["added"]
    assert fixed.left == ()
    assert fix(fixed.value, format=wire, provider="none").changes == ()


def test_several_conversations_are_told_apart() -> None:
    found = lint([{"messages": SOUND}, {"messages": ORPHAN}])
    assert [(one.conversation_index, one.pointer) for one in found] == [(1, "/1/messages/1/tool_call_id")]
    assert fix([{"messages": SOUND}, {"messages": ORPHAN}]).value[1] == {"messages": [USER]}


# Objects of every kind.


class Role(Enum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass
class Said:
    role: Role
    content: str | None = None
    tool_calls: list[Any] | None = None
    tool_call_id: str | None = None
    seen: ClassVar[int] = 0
    extra: dict[str, Any] | None = field(default=None, repr=False)


class Struck(msgspec.Struct, rename={"call_id": "tool_call_id"}, omit_defaults=True):
    role: str
    content: str | None = None
    tool_calls: list[Any] | None = None
    call_id: str | msgspec.UnsetType = msgspec.UNSET


class Given:
    def __init__(self, **said: Any) -> None:
        self.said = said

    def to_dict(self) -> dict[str, Any]:
        return self.said


KINDS: dict[str, Callable[..., Any]] = {
    "dict": dict,
    "mapping": lambda **said: MappingProxyType(OrderedDict(said)),
    "dataclass": lambda role, **said: Said(Role(role), **said),
    "struct": lambda tool_call_id=msgspec.UNSET, **said: Struck(call_id=tool_call_id, **said),
    "to_dict": Given,
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("hold", [list, tuple, deque])
def test_messages_may_be_of_any_class(make: Callable[..., Any], hold: Callable[..., Any]) -> None:
    given = hold([make(**{k: v for k, v in one.items() if v is not None}) for one in APART])
    assert codes(lint(given)) == ["PA203"]
    roles = [one["role"] for one in fix(given).value]
    assert roles == ["user", "assistant", "tool", "user"]
    assert all(None not in one.values() for one in fix(given).value)


def test_attrs_classes_say_what_they_hold() -> None:
    attrs = pytest.importorskip("attrs")
    message = attrs.make_class(
        "Message", {"role": attrs.field(), "content": attrs.field(), "name": attrs.field(default=None)}
    )
    assert fix([message("user", "hi")]).value == [{"role": "user", "content": "hi"}]


def test_a_tagged_struct_says_its_tag() -> None:
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


def test_models_of_pydantic_say_their_roles_and_not_what_they_never_set() -> None:
    pydantic = pytest.importorskip("pydantic")
    Message = pydantic.create_model(  # noqa: N806 - it is a class
        "Message", role=(str, "user"), content=(str | None, None), calls=(list | None, pydantic.Field(None, alias="tool_calls"))
    )  # fmt: skip
    given = [Message(content="hi"), Message(role="assistant", content=None, tool_calls=[call("c1")])]
    assert fix(given).value == [{"role": "user", "content": "hi"}, asked("c1")]


def test_anthropic_s_own_answer_goes_back_into_the_history() -> None:
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


def test_openai_s_own_answer_goes_back_into_the_history() -> None:
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
    assert [one["role"] for one in fixed.value] == ["user", "assistant", "tool", "user"]


def test_openai_s_response_items_go_back_into_the_input() -> None:
    types = pytest.importorskip("openai.types.responses")
    asks = types.ResponseFunctionToolCall(
        type="function_call", call_id="call_1", name="f", arguments="{}", id="fc_1"
    )
    history = [{"role": "user", "content": "hi"}, asks, {"role": "user", "content": "and?"}]
    assert codes(lint(history)) == ["PA201"]
    assert [one.get("type") for one in fix(history).value] == [
        None, "function_call", "function_call_output", None,
    ]  # fmt: skip


def test_google_s_contents_keep_their_bytes() -> None:
    types = pytest.importorskip("google.genai.types")
    signature = b"\xff\xfeproof"
    asks = types.Part(
        function_call=types.FunctionCall(name="f", args={"a": None}), thought_signature=signature
    )
    history = [
        types.Content(role="user", parts=[types.Part(text="hi")]),
        types.Content(role="model", parts=[asks]),
        types.Content(role="user", parts=[types.Part(text="so?")]),
    ]
    assert "PA201" in codes(lint(history))
    fixed = fix(history, provider="gemini")
    assert fixed.value[1] == {
        "role": "model",
        "parts": [{"functionCall": {"name": "f", "args": {"a": None}}, "thoughtSignature": signature}],
    }
    assert any("functionResponse" in part for part in fixed.value[2]["parts"])


def test_mistral_s_messages_say_their_roles() -> None:
    models = pytest.importorskip("mistralai.client.models")
    asks = models.AssistantMessage(
        content="", tool_calls=[models.ToolCall(id="abcdefghi", function=models.FunctionCall(name="f", arguments="{}"))]
    )  # fmt: skip
    history = [
        models.UserMessage(content="hi"),
        asks,
        models.ToolMessage(content="1", tool_call_id="abcdefghi"),
    ]
    assert lint(history, provider="mistral") == ()
    assert "PA201" in codes(lint([*history[:2], models.UserMessage(content="so?")], provider="mistral"))


def test_cohere_s_messages_say_their_roles() -> None:
    cohere = pytest.importorskip("cohere")
    history = [
        cohere.UserChatMessageV2(content="hi"),
        cohere.AssistantChatMessageV2(
            tool_calls=[{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
        ),
        cohere.UserChatMessageV2(content="so?"),
    ]
    assert "PA201" in codes(lint(history, provider="cohere"))


# What Python has and JSON has not.


def test_what_json_has_no_form_for_comes_back_as_it_was() -> None:
    when = datetime(2026, 11, 18, tzinfo=UTC)
    mine = UUID(int=7)
    given = [
        {**USER, "at": when, "raw": b"\x00\xff", "id": mine, "cost": Decimal("0.10")},
        asked("c1"),
        USER,
        answer("c1"),
    ]
    fixed = fix(given)
    assert fixed.value[0] == given[0]
    assert [one["role"] for one in fixed.value] == ["user", "assistant", "tool", "user"]


def test_what_json_has_no_number_for_is_a_finding() -> None:
    (finding,) = lint([{**USER, "score": float("nan")}])
    assert (finding.code, finding.pointer) == ("ST101", "/0/score")
    assert fix([{**USER, "score": float("inf")}]).value == [{**USER, "score": None}]


def test_half_a_pair_of_surrogates_is_a_finding() -> None:
    assert codes(lint([{"role": "user", "content": "a\ud83d"}])) == ["ST112"]


def cycle() -> Any:
    message: dict[str, Any] = {"role": "user"}
    message["content"] = [message]
    return [message]


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return [{"role": "user", "content": value}]


def endless() -> Any:
    class Endless:
        def to_dict(self) -> dict[str, Any]:
            return {"role": "user", "content": Endless()}

    return [Endless()]


def failing() -> Any:
    class Failing:
        def to_dict(self) -> dict[str, Any]:
            raise OSError("the \x1b[31m disk\nis gone")

    return [Failing()]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("[]", "found a value of type str; decode it first"),
        (b"[]", "found a value of type bytes; decode it first"),
        (None, "expected a list of messages or a request, found a value of type NoneType"),
        (iter([USER]), "found a value of type list_iterator"),
        (["hello"], f"no known format; there are {NAMES[0]}"),
        ({"messages": "hello"}, "no known format"),
        ([USER, object()], "/1: a value of type object cannot be written as JSON"),
        ([{**USER, "a/b": {1, 2}}], "/0/a~1b: a value of type set cannot be written as JSON"),
        ([{**USER, "args": {(1, 2): 3}}], "/0/args: a key is a value of type tuple"),
        ([{**USER, "args": {1: "a", "1": "b"}}], "/0/args: two keys are both written '1'"),
        (cycle(), "/0/content/0: a value of type dict holds itself"),
        (deep(5_000), "nested deeper than 300 levels"),
        (endless(), "nested deeper than 300 levels"),
        (failing(), "a value of type Failing cannot be read: the .u{1b}.31m disk$"),
        ([{**USER, "n": 10**5000}], "cannot be written as JSON: Exceeds the limit"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_one_exception_with_a_sentence(given: Any, said: str) -> None:
    for verb in (lint, fix):
        with pytest.raises(TurnlintError, match=said) as caught:
            verb(given)
        assert "\n" not in str(caught.value)
        assert "\x1b" not in str(caught.value)


def test_what_is_deep_but_can_be_written_is_read() -> None:
    for levels in (10, 200, 290):
        assert fix(deep(levels)).value == deep(levels)


def test_what_stands_in_two_places_is_no_cycle() -> None:
    shared = {"city": "Paris"}
    given = [{**USER, "a": shared, "b": [shared, shared]}]
    assert fix(given).value == given


def test_a_rule_that_crashes_is_an_exception_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    from turnlint.library import running

    running._book.cache_clear()
    entry = next(
        one
        for one in running._book(running.options_of("auto", "auto", (), ())).rules()
        if one.rule.code == "PA202"
    )

    def crash(_: object) -> Any:
        raise ZeroDivisionError("by\nzero")

    broken = msgspec.structs.replace(entry, check=crash)
    monkeypatch.setattr(running._book(running.options_of("auto", "auto", (), ())), "entries", [broken])
    with pytest.raises(TurnlintError, match=r"rule orphan-result crashed: ZeroDivisionError: by.u{a}zero"):
        lint(ORPHAN)
    fixed = fix(SOUND)
    assert fixed.unverified == ()
    running._book.cache_clear()


JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers(), inner, max_size=4),
    max_leaves=12,
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"])},
    optional={"content": JSON_LIKE, "tool_calls": JSON_LIKE, "tool_call_id": JSON_LIKE, "x": JSON_LIKE},
)


@settings(max_examples=60, deadline=None)
@given(st.lists(MESSAGE | JSON_LIKE, max_size=5))
def test_any_value_gives_values_or_our_exception_and_is_left_as_it_was(given: list[Any]) -> None:
    before = repr(given)
    try:
        found = lint(given)
        fixed = fix(given)
    except TurnlintError:
        assert repr(given) == before
        return
    assert repr(given) == before
    if not found:
        assert fixed.changes == ()


def records() -> Iterator[tuple[str, Any]]:
    """Every record of the fixtures that is JSON to Python too, and holds a conversation of its own."""
    for path in sorted(FIXTURES.rglob("*.jsonl")):
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            try:
                value = json.loads(line)
                lint(value)
            except ValueError:
                continue
            yield f"{path.stem}:{number}", value


def test_fixtures_are_fixed_as_the_command_fixes_them() -> None:
    repaired = 0
    for name, value in records():
        text = json.dumps(value).encode()
        wanted = [json.loads(line) for line in testing.fixed(text, None, "auto").splitlines()]
        assert fix(value).value == (wanted[0] if len(wanted) == 1 else wanted), name
        repaired += wanted != [value]
    assert repaired >= 50
