"""Faults of the path that a turn took in a log: its model changes, its batch is split, its results are late.

The names of the tests are the sentences of the requirement.
"""

import gzip
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from settings import found, put, turnlint
from turnlint import compiled
from turnlint.documents.source import Source, find
from turnlint.engine import Book, Options, Tally, lint
from turnlint.rows import Row

CORPUS = Path(os.environ.get("TURNLINT_CORPUS", Path(__file__).parent.parent.parent / "shared" / "corpus"))
CODES = ("ST119", "ST120", "PA210")
SIGNED = {"type": "thinking", "thinking": "so", "signature": "c2ln"}


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def claude(*messages: tuple[str, str | None, str | None, list[Any]]) -> str:
    """A Claude Code session of (type, response, model, content)."""
    return lines(*(
        {
            "type": kind, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": "s",
            "message": {"role": kind, "id": response, "model": model, "content": content},
        }
        for number, (kind, response, model, content) in enumerate(messages)
    ))  # fmt: skip


def use(number: int) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "run", "input": {"n": number}}


def done(number: int) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": f"done {number}"}


def says(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def pi(*messages: dict[str, Any]) -> str:
    head = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-06-02T14:11:20.000Z", "cwd": "/p"}
    return lines(head, *(
        {
            "type": "message", "id": f"e{number}", "parentId": f"e{number - 1}" if number else None,
            "timestamp": "2026-06-02T14:11:21.000Z", "message": {**message, "timestamp": 1780409481000},
        }
        for number, message in enumerate(messages)
    ))  # fmt: skip


def of_pi(content: list[Any], provider: str, model: str, **more: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": content,
        "provider": provider,
        "model": model,
        "stopReason": "stop",
        **more,
    }


def pi_call(number: int) -> dict[str, Any]:
    return {"type": "toolCall", "id": f"toolu_{number}", "name": "run", "arguments": {"n": number}}


def pi_result(number: int) -> dict[str, Any]:
    return {
        "role": "toolResult", "toolCallId": f"toolu_{number}", "toolName": "run", "content": [says("done")],
        "isError": False,
    }  # fmt: skip


def gemini_cli(*models: str) -> str:
    """A Gemini CLI session with a call by each model but the last, which answers."""
    head = {"sessionId": "s", "projectHash": "p", "startTime": "2026-04-23T16:12:00.000Z"}
    answers = [
        {
            "id": f"a{number}", "timestamp": "2026-04-23T16:12:01.000Z", "type": "gemini", "content": "", "model": model,
            "toolCalls": [{
                "id": f"run_{number}", "name": "run", "args": {"n": number}, "status": "success",
                "result": [{"functionResponse": {"id": f"run_{number}", "name": "run", "response": {"output": "ok"}}}],
            }],
        }
        for number, model in enumerate(models[:-1])
    ]  # fmt: skip
    last = {
        "id": "z",
        "timestamp": "2026-04-23T16:12:09.000Z",
        "type": "gemini",
        "content": "It ran.",
        "model": models[-1],
    }
    ask = {
        "id": "u",
        "timestamp": "2026-04-23T16:12:00.000Z",
        "type": "user",
        "content": [{"text": "Run it."}],
    }
    return lines(head, ask, *answers, last)


def codex(*records: tuple[str, dict[str, Any]]) -> str:
    head = ("session_meta", {"id": "s", "model_provider": "openai"})
    return lines(*(
        {"timestamp": f"2026-08-10T20:00:{number:02}.000Z", "type": kind, "payload": payload}
        for number, (kind, payload) in enumerate((head, *records))
    ))  # fmt: skip


def item(**payload: Any) -> tuple[str, dict[str, Any]]:
    return "response_item", payload


def codex_message(role: str, text: str) -> tuple[str, dict[str, Any]]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item(type="message", role=role, content=[{"type": kind, "text": text}])


def codex_call(number: int) -> tuple[str, dict[str, Any]]:
    return item(type="function_call", name="run", arguments="{}", call_id=f"c{number}")


def codex_output(number: int, text: str = "ok") -> tuple[str, dict[str, Any]]:
    return item(type="function_call_output", call_id=f"c{number}", output=text)


def model_of(name: str) -> tuple[str, dict[str, Any]]:
    return "turn_context", {"cwd": "/p", "model": name}


def langchain(*messages: tuple[str, dict[str, Any]]) -> str:
    """A LangChain history of (type, data)."""
    return lines([{"type": kind, "data": {"content": "", "type": kind, **data}} for kind, data in messages])


def of_langchain(number: int, provider: str, model: str, response: str = "") -> tuple[str, dict[str, Any]]:
    said: dict[str, Any] = {
        "response_metadata": {"model_name": model, "model_provider": provider, "id": response}
    }
    if number:
        said["tool_calls"] = [
            {"name": "run", "args": {"n": number}, "id": f"call_{number}", "type": "tool_call"}
        ]
    return "ai", said if number else {**said, "content": "It ran."}


def langchain_result(number: int) -> tuple[str, dict[str, Any]]:
    return "tool", {"content": "ok", "name": "run", "tool_call_id": f"call_{number}"}


OPUS, SONNET = "claude-opus-4-7", "claude-sonnet-4-6"
ASK = ("user", None, None, [says("Run it.")])


def of_messages(model: str, content: Any) -> dict[str, Any]:
    """A response of Anthropic's API that a program stored as it was."""
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content}


def of_cline(provider: str, model: str, content: list[Any]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "ts": 1,
        "modelInfo": {"id": model, "provider": provider},
        "content": content,
    }


SWITCHES = {
    "claude-code": (claude(ASK, ("assistant", "m1", OPUS, [use(1)]), ("user", None, None, [done(1)]),
                           ("assistant", "m2", SONNET, [says("It ran.")])), "info"),
    "claude-code-signed": (claude(ASK, ("assistant", "m1", OPUS, [SIGNED]), ("assistant", "m1", OPUS, [use(1)]),
                                  ("user", None, None, [done(1)]), ("assistant", "m2", SONNET, [says("It ran.")])), "warning"),
    "pi": (pi({"role": "user", "content": "Run it."}, of_pi([pi_call(1)], "anthropic", OPUS), pi_result(1),
              of_pi([says("It ran.")], "openai", "gpt-5.2")), "warning"),
    "gemini-cli": (gemini_cli("gemini-3-pro", "gemini-3-flash"), "info"),
    "codex": (codex(model_of("gpt-5.2"), codex_message("user", "Run it."), codex_call(1), codex_output(1), model_of("gpt-5.1"),
                    codex_message("assistant", "It ran.")), "info"),
    "langchain": (langchain(("human", {"content": "Run it."}), of_langchain(1, "openai", "gpt-5.2"), langchain_result(1),
                            of_langchain(0, "anthropic", OPUS)), "warning"),
    "responses": (lines([{"role": "user", "content": "Run it."}, of_messages(OPUS, [use(1)]),
                         {"role": "user", "content": [done(1)]}, of_messages(SONNET, "It ran.")]), "info"),
    "cline": (lines([{"role": "user", "content": "Run it."}, of_cline("anthropic", OPUS, [use(1)]),
                     {"role": "user", "content": [done(1)]}, of_cline("openai", "gpt-5.2", [says("It ran.")])]), "warning"),
}  # fmt: skip


@pytest.mark.parametrize("name", SWITCHES)
def test_a_model_or_provider_that_changes_inside_an_open_tool_turn(tmp_path: Path, name: str) -> None:
    log, severity = SWITCHES[name]
    put(tmp_path, **{"a.jsonl": log})
    assert found(tmp_path, "--provider", "none") == [f"a.jsonl:ST119:{severity}"]


@pytest.mark.parametrize(
    "log",
    [
        claude(ASK, ("assistant", "m1", OPUS, [use(1)]), ("user", None, None, [done(1)]),
               ("assistant", "m2", OPUS, [says("It ran.")]), ASK, ("assistant", "m3", SONNET, [says("Yes.")])),
        claude(ASK, ("assistant", "m1", OPUS, [use(1)]), ("user", None, None, [done(1)]),
               ("assistant", "m2", "<synthetic>", [says("It ran.")])),
        claude(ASK, ("assistant", "m1", OPUS, [use(1)]), ("user", None, None, [done(1)]),
               ("assistant", "m2", f"{OPUS}-20260301", [says("It ran.")])),
        pi({"role": "user", "content": "Hi."}, of_pi([says("Hello.")], "anthropic", OPUS),
           of_pi([says("Again.")], "openai", "gpt-5.2")),
        codex(model_of("gpt-5.2"), codex_message("user", "Run it."), codex_call(1), codex_output(1),
              codex_message("assistant", "It ran."), model_of("gpt-5.1"), codex_message("user", "Thanks."),
              codex_message("assistant", "Any time.")),
        gemini_cli("gemini-3-pro", "gemini-3-pro"),
    ],
    ids=["between-turns", "own-message", "version", "without-a-call", "codex-between-turns", "one-model"],
)  # fmt: skip
def test_a_change_between_turns_or_of_a_spelling_is_no_finding(tmp_path: Path, log: str) -> None:
    put(tmp_path, **{"a.jsonl": log})
    assert [row for row in found(tmp_path) if any(code in row for code in CODES)] == []


def one_by_one(same: bool) -> dict[str, str]:
    first, second = ("r1", "r1" if same else "r2")
    return {
        "claude-code": claude(ASK, ("assistant", first, OPUS, [use(1)]), ("user", None, None, [done(1)]),
                              ("assistant", second, OPUS, [use(2)]), ("user", None, None, [done(2)])),
        "pi": pi({"role": "user", "content": "Run both."}, of_pi([pi_call(1)], "anthropic", OPUS, responseId=first),
                 pi_result(1), of_pi([pi_call(2)], "anthropic", OPUS, responseId=second), pi_result(2)),
        "langchain": langchain(("human", {"content": "Run both."}), of_langchain(1, "openai", "gpt-5.2", first),
                               langchain_result(1), of_langchain(2, "openai", "gpt-5.2", second), langchain_result(2)),
    }  # fmt: skip


@pytest.mark.parametrize("wire", ["claude-code", "pi", "langchain"])
def test_calls_of_one_turn_that_were_executed_and_written_one_by_one_where_the_turn_had_them_in_a_batch(
    tmp_path: Path, wire: str
) -> None:
    put(tmp_path, **{"a.jsonl": one_by_one(same=True)[wire]})
    assert found(tmp_path) == ["a.jsonl:ST120:info"]
    put(tmp_path, **{"a.jsonl": one_by_one(same=False)[wire]})
    assert found(tmp_path) == []


@pytest.mark.parametrize("name", ["", "null", "REDACTED"])
def test_a_response_without_an_id_is_no_batch(tmp_path: Path, name: str) -> None:
    put(tmp_path, **{"a.jsonl": one_by_one(same=True)["pi"].replace('"r1"', f'"{name}"')})
    assert found(tmp_path) == []


@pytest.mark.parametrize("text", ["ok", "aborted"], ids=["result", "cancellation"])
def test_results_or_cancellations_written_outside_the_turns_boundary(tmp_path: Path, text: str) -> None:
    ask, other = codex_message("user", "Run it."), codex_message("user", "Or not.")
    put(tmp_path, **{"a.jsonl": codex(ask, codex_call(1), other, codex_output(1, text))})
    assert found(tmp_path) == ["a.jsonl:PA210:info"]
    put(tmp_path, **{"a.jsonl": codex(ask, codex_call(1), codex_output(1, text), other)})
    assert found(tmp_path) == []


def request(*items: dict[str, Any]) -> str:
    tools = [{"type": "function", "name": "run", "parameters": {"type": "object"}}]
    return lines({"model": "gpt-5.2", "input": [{"role": "user", "content": "Run."}, *items], "tools": tools})


def test_the_fast_path_leaves_results_of_other_turns_to_the_rule(tmp_path: Path) -> None:
    if compiled.load() is None:
        pytest.skip("the native scanner is not compiled")
    first, second, third = (codex_call(number)[1] for number in (1, 2, 3))
    sound = request(first, second, codex_output(2)[1], codex_output(1)[1])
    late = request(first, second, codex_output(1)[1], third, codex_output(2)[1], codex_output(3)[1])
    put(tmp_path, **{"a.jsonl": sound * 200 + late + sound * 200})
    assert found(tmp_path) == ["a.jsonl:PA210:info"]


def test_what_they_mean_for_the_next_request_is_explained() -> None:
    from turnlint import rulebook

    entries = {entry.rule.code: entry for entry in rulebook.load(rulebook.BUILTIN)}
    for code in CODES:
        why = entries[code].docs.partition("Why it matters")[2].partition("How it happens")[0]
        assert "next request" in why
        assert entries[code].rule.severity in ("warning", "info")


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
def test_agents_and_accepted_requests_have_none_of_these_findings(tmp_path: Path) -> None:
    accepted = tmp_path / "accepted.jsonl"
    with gzip.open(CORPUS / "exchanges_dev.jsonl.gz", "rt", encoding="utf-8", errors="surrogatepass") as file:
        rows = [json.loads(line) for line in file if '"wire": "openai-responses"' in line]
    bodies = [row["request"] for row in rows if row["status"] and row["status"] < 300]
    accepted.write_text(lines(*bodies))
    options = Options(providers=(), select=CODES)
    book, counts = Book(options), Counter[str]()
    agents = [
        str(CORPUS / "logs" / name) for name in ("pi-mono", "claude-code-viewer", "claude-code-log", "codex")
    ]
    for source in (Source("accepted", str(accepted)), *find(agents)):
        for event in lint(source, options, book):
            assert not isinstance(event, Row), event
            if isinstance(event, Tally):
                counts["conversations"] += event.conversations
                counts["calls"] += event.calls
    assert counts["conversations"] > 1000
    assert counts["calls"] > 1000


@pytest.mark.parametrize("name", [*SWITCHES, "batch"])
def test_the_canonical_form_keeps_the_path(tmp_path: Path, name: str) -> None:
    log, severity = SWITCHES[name] if name in SWITCHES else (one_by_one(same=True)["pi"], "info")
    put(tmp_path, **{"a.jsonl": log})
    done = turnlint(tmp_path, "fix", "a.jsonl", "--to", "canonical", "-o", "form.jsonl")
    assert done.returncode == 0, done.stderr
    (tmp_path / "a.jsonl").unlink()
    code = "ST119" if name in SWITCHES else "ST120"
    assert found(tmp_path) == [f"form.jsonl:{code}:{severity}"]
