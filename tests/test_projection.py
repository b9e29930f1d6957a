"""Odd requests that a provider accepts, normal ones that it refuses, and the provider of a record.

Each case is a request with the codes that a provider must have, and no others of the projection.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from turnlint.api import OverLimit
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, Tally, lint
from turnlint.providers import Providers
from turnlint.rows import Row
from turnlint.rulebook import BUILTIN

USER = {"role": "user", "content": "go on"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
TOOLS = [{"name": "run", "input_schema": {"type": "object"}}]


def use(identifier: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": identifier, "name": "run", "input": {}}


def used(identifier: str) -> dict[str, Any]:
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": identifier, "content": "done"}],
    }


def openai_messages(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def claude(*messages: Any, **more: Any) -> dict[str, Any]:
    return {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9,
        "tools": TOOLS,
        "messages": [USER, *messages],
        **more,
    }


BUDGET = {"thinking": {"type": "enabled", "budget_tokens": 1024}}


def calling(identifier: str, arguments: Any = "{}") -> dict[str, Any]:
    function = {"name": "run", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": identifier, "type": "function", "function": function}],
    }


def answers(identifier: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identifier, "content": "done"}


def google(*contents: Any) -> dict[str, Any]:
    tools = [{"functionDeclarations": [{"name": "run"}]}]
    return {
        "contents": [{"role": "user", "parts": [{"text": "go"}]}, *contents],
        "tools": tools,
        "generationConfig": {},
    }


CALL = {"functionCall": {"name": "run", "args": {}}}
RESPONSE = {"role": "user", "parts": [{"functionResponse": {"name": "run", "response": {"ok": True}}}]}

CASES: dict[str, tuple[str, Any, set[str]]] = {
    "a loop whose first turn has its thought": (
        "anthropic", claude(openai_messages(THOUGHT, use("t1")), used("t1"), openai_messages(use("t2")), used("t2"), **BUDGET), set(),
    ),
    "a loop that begins without its thought": (
        "anthropic", claude(openai_messages(use("t1")), used("t1"), openai_messages(THOUGHT, use("t2")), used("t2"), **BUDGET), {"PR314"},
    ),
    "a result of nothing behind words is an orphan and not out of place": ("anthropic", claude(used("t1")), set()),
    "words, then the result, in two messages that the API joins": (
        "anthropic", claude(openai_messages(use("t1")), USER, used("t1")), {"PR308"},
    ),
    "a turn that is streamed in pieces": (
        "gemini",
        google({"role": "model", "parts": [{"text": "Let me see."}]}, {"role": "model", "parts": [CALL]},
               {"role": "model", "parts": [{"text": "", "thoughtSignature": "c2ln"}]}, RESPONSE), set(),
    ),
    "words of the model between a call and its response": (
        "gemini", google({"role": "model", "parts": [CALL]}, {"role": "model", "parts": [{"text": "so"}]}, RESPONSE), {"PR310"},
    ),
    "a second call of one step needs no signature of its own": (
        "gemini@3",
        google({"role": "model", "parts": [{**CALL, "thoughtSignature": "c2ln"}, CALL]},
               {"role": "user", "parts": [*RESPONSE["parts"], *RESPONSE["parts"]]}), set(),  # type: ignore[misc]
    ),
    "a trimmed history goes on counting": (
        "kimi", {"model": "kimi-k2", "stream": True, "messages": [USER, calling("functions.run:7"), answers("functions.run:7"),
                                                                   calling("functions.run:8"), answers("functions.run:8")]}, set(),
    ),
    "a counter that starts again": (
        "kimi", {"model": "kimi-k2", "stream": True, "messages": [USER, calling("functions.run:0"), answers("functions.run:0"),
                                                                   calling("functions.run:0"), answers("functions.run:0")]}, {"PR303"},
    ),
    "a refusal replaces the content": (
        "openai", {"model": "gpt-4.1", "stream": True, "messages": [USER, {"role": "assistant", "content": None, "refusal": "no"}, USER]}, set(),
    ),
    "an empty list of tools": ("openai", {"model": "gpt-4.1", "tools": [], "messages": [USER]}, {"PR316"}),
    "an empty list of calls": (
        "openai", {"model": "gpt-4.1", "stream": True, "messages": [USER, {"role": "assistant", "content": "x", "tool_calls": []}, USER]}, {"PR318"},
    ),
    "nothing asks, and nothing is sent": ("mistral", [{"role": "assistant", "content": "hello"}], set()),
    "a call of the provider's own at the end is a pause": (
        "anthropic", claude(openai_messages({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}})), set(),
    ),
    "a picture of the screen is an object on the Responses wire": (
        "openai-responses",
        {"model": "computer-use-preview", "input": [USER, {"type": "computer_call", "call_id": "c1", "id": "cu_1", "action": {},
                                                           "pending_safety_checks": [], "status": "completed"},
                                                    {"type": "computer_call_output", "call_id": "c1",
                                                     "output": {"type": "computer_screenshot", "image_url": "data:,"}}]}, set(),
    ),
    "line ends are one character each": (
        "openai-responses",
        {"model": "gpt-5.1", "input": [USER, {"type": "function_call", "call_id": "c1", "name": "run", "arguments": "{}"},
                                       {"type": "function_call_output", "call_id": "c1", "output": "\n" * 6_000_000}]}, set(),
    ),
}  # fmt: skip


def run(record: Any, provider: str, folder: Path, name: str = "x.jsonl") -> tuple[list[Row], Tally]:
    path = folder / name
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    options = Options(providers=(provider,))
    events = list(lint(Source(name, str(path)), options, Book(options)))
    tally = events[-1]
    assert isinstance(tally, Tally)
    return [event for event in events if isinstance(event, Row)], tally


@pytest.mark.parametrize("story", CASES)
def test_the_findings_of_a_case_agree_with_the_provider(story: str, tmp_path: Path) -> None:
    provider, record, expected = CASES[story]
    rows, _ = run(record, provider, tmp_path)
    found = {row.finding.code for row in rows if row.finding.severity != "info"}
    assert {code for code in found if code.startswith("PR")} == expected


def wires(record: Any, provider: str, folder: Path) -> dict[str, int]:
    return run(record, provider, folder)[1].providers


CHAT = [USER, calling("call_1"), answers("call_1")]


@pytest.mark.parametrize(
    ("record", "label"),
    [
        ({"messages": CHAT}, "shared"),
        ({"model": "gpt-4.1", "messages": CHAT}, "openai"),
        ({"model": "some-model", "messages": CHAT}, "shared"),
        ({"host": "api.mistral.ai", "messages": CHAT}, "mistral@hosted"),
        ({"url": "https://eu.api.openai.com/v1/chat/completions", "request": {"messages": CHAT}}, "openai"),
        ({"request": {"url": "https://api.x.ai/v1/chat/completions", "body": {"messages": CHAT}}}, "xai"),
        ({"host": "openrouter.ai", "model": "gpt-4.1", "messages": CHAT}, "shared"),
        (claude(openai_messages(use("t1")), used("t1")), "anthropic"),
        (google({"role": "model", "parts": [CALL]}, RESPONSE), "gemini"),
        ({"url": "https://aiplatform.googleapis.com/v1/models/gemini-3-pro:generateContent", "request": google()}, "vertex@3"),
        ({"host": "api.moonshot.ai", **claude(openai_messages(use("t1")), used("t1"))}, None),
    ],
)  # fmt: skip
def test_the_record_determines_its_provider(record: Any, label: str | None, tmp_path: Path) -> None:
    assert wires(record, "auto", tmp_path) == ({label: 1} if label else {})


def test_a_provider_known_by_the_model_only_gives_no_error(tmp_path: Path) -> None:
    record = {"model": "gpt-4.1", "stream": True, "messages": [USER, calling("x" * 70), answers("x" * 70)]}
    for provider, severity in (("auto", "warning"), ("openai", "error")):
        rows, _ = run(record, provider, tmp_path)
        assert [(row.finding.code, row.finding.severity) for row in rows] == [("PR302", severity)]


def test_a_request_with_an_answer_was_accepted(tmp_path: Path) -> None:
    request = claude(openai_messages(use("a.b")), used("a.b"))
    record = {
        "request": request,
        "response": {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"},
    }
    for provider, severity in (("auto", "warning"), ("anthropic", "error")):
        rows, _ = run(record, provider, tmp_path)
        assert [row.finding.severity for row in rows if row.finding.code == "PR301"] == [severity]


def test_an_ambiguous_record_is_read_on_the_wire_of_the_named_provider(tmp_path: Path) -> None:
    record = {"messages": [{"role": "system", "content": "terse"}, USER], "max_tokens": 9}
    assert [row.finding.code for row in run(record, "anthropic", tmp_path)[0]] == ["PR310"]
    assert run(record, "openai", tmp_path)[0] == []


def test_a_record_of_another_wire_is_checked_for_a_provider_as_far_as_possible(tmp_path: Path) -> None:
    record = {"model": "gpt-4.1", "messages": [USER, calling("functions.run:0"), answers("functions.run:0")]}
    rows, tally = run(record, "anthropic", tmp_path)
    assert [row.finding.code for row in rows] == ["PR301"]
    assert tally.across == {"anthropic on openai-chat": 1}
    assert "messages.1" not in str(rows[0].finding.provider_error)


def test_each_of_two_providers_has_its_own_findings(tmp_path: Path) -> None:
    record = {
        "model": "x",
        "stream": True,
        "messages": [USER, calling("functions.run:0"), answers("functions.run:0"), USER],
    }
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(record) + "\n")
    options = Options(providers=("mistral", "bedrock@2024", "openai"))
    rows = [event for event in lint(Source("x", str(path)), options, Book(options)) if isinstance(event, Row)]
    assert {(row.finding.provider, row.finding.code) for row in rows if row.finding.severity == "error"} == {
        ("mistral", "PR303"), ("bedrock", "PR301"),
    }  # fmt: skip


def test_a_finding_about_the_request_is_at_the_request(tmp_path: Path) -> None:
    tools = [{"type": "function", "function": {"name": f"f{number}"}} for number in range(129)]
    rows, _ = run({"model": "gpt-4.1", "tools": tools, "messages": [USER]}, "openai", tmp_path)
    assert [(row.finding.code, row.place.pointer, row.finding.message_index) for row in rows] == [
        ("PR319", "/tools", None)
    ]
    assert str(rows[0].finding.provider_error).startswith("Invalid 'tools': array too long")


def test_the_capability_matrix_agrees_with_the_rules() -> None:
    providers = Providers([BUILTIN])
    limits = {"calls": "max_calls", "tools": "max_tools", "messages": "max_messages"}
    for profile in (profile for name in providers.names() for profile in providers.versions(name)):
        checked = {
            limits[clause.what]: clause.most
            for clause in profile.clauses
            if isinstance(clause, OverLimit) and clause.what in limits and not clause.models
        }
        claimed = {name: getattr(profile.capabilities, name) for name in limits.values()}
        if (
            profile.name == "shared"
        ):  # The matrix assumes less of an unknown provider than its clause rejects.
            assert (claimed["max_calls"], checked["max_calls"]) == (1, 128)
            continue
        assert {name: most for name, most in claimed.items() if most is not None} == checked, profile.label
