"""Issue 17, spec 003 §2, §4 and §10: `inspect` names the parser of calls and the schema style of tools."""

import json
from pathlib import Path
from typing import Any

import pytest

from commands import run_cli

SCHEMA = {"type": "object", "properties": {"upto": {"type": "integer"}}}
FUNCTION = {"name": "count", "description": "Counts.", "parameters": SCHEMA}
USER = {"role": "user", "content": "Count."}
CHAT = {"model": "m", "messages": [USER]}

STYLES: dict[str, tuple[dict[str, Any], str]] = {
    "chat": ({**CHAT, "tools": [{"type": "function", "function": FUNCTION}]}, "openai-function"),
    "chat-custom": ({**CHAT, "tools": [{"type": "custom", "custom": {"name": "count"}}]}, "openai-custom"),
    "chat-legacy": ({**CHAT, "functions": [FUNCTION]}, "openai-legacy-function"),
    "responses": ({"model": "m", "input": "Count.", "tools": [{"type": "function", **FUNCTION}]}, "flat-function"),
    "responses-own": ({"model": "m", "input": "Count.", "tools": [{"type": "web_search"}]}, "provider-tool"),
    "anthropic": (
        {**CHAT, "model": "claude-sonnet-4-5", "max_tokens": 9, "tools": [{"name": "count", "input_schema": SCHEMA}]},
        "anthropic-input-schema",
    ),
    "anthropic-own": (
        {**CHAT, "model": "claude-sonnet-4-5", "max_tokens": 9, "tools": [{"type": "bash_20250124", "name": "bash"}]},
        "provider-tool",
    ),
    "mcp": (
        {**CHAT, "model": "claude-sonnet-4-5", "max_tokens": 9, "tools": [{"name": "count", "inputSchema": SCHEMA}]},
        "mcp-input-schema",
    ),
    "gemini": (
        {"contents": [{"role": "user", "parts": [{"text": "Count."}]}], "tools": [{"functionDeclarations": [FUNCTION]}]},
        "gemini-function-declaration",
    ),
    "bedrock": (
        {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "Count."}]}],
         "toolConfig": {"tools": [{"toolSpec": {"name": "count", "inputSchema": {"json": SCHEMA}}}]}},
        "bedrock-tool-spec",
    ),
    "cohere-v1": (
        {"model": "command-r-08-2024", "message": "Count.", "chat_history": [],
         "tools": [{"name": "count", "description": "Counts.", "parameter_definitions": {"upto": {"type": "int"}}}]},
        "cohere-parameter-definitions",
    ),
    "bare": ({**CHAT, "tools": [{"type": "function", "name": "count"}]}, "no-schema"),
}  # fmt: skip


def files_of(folder: Path, **bodies: Any) -> dict[str, Any]:
    """The content of each file, as `inspect` describes it."""
    for name, body in bodies.items():
        (folder / f"{name}.json").write_text(json.dumps(body))
    run = run_cli("inspect", ".", "--output-format", "json", cwd=folder, text=True)
    return {Path(one["path"]).stem: one["content"] for one in json.loads(run.stdout)["files"]}


def test_inspect_names_the_schema_style_of_declared_tools(tmp_path: Path) -> None:
    found = files_of(tmp_path, **{name: body for name, (body, _) in STYLES.items()})
    styles = {name: content["tooling"]["schema_styles"] for name, content in found.items()}
    assert styles == {name: {style: 1} for name, (_, style) in STYLES.items()}


def chat(**message: Any) -> Any:
    return {"messages": [USER, {"role": "assistant", "content": None, **message}]}


def call(arguments: str) -> Any:
    return [{"id": "c1", "type": "function", "function": {"name": "count", "arguments": arguments}}]


TEXT = '{"name": "count", "arguments": {"upto": 3}}'
CALLS: dict[str, tuple[Any, str, str]] = {
    "function": (chat(tool_calls=call('{"upto": 3}')), "openai-chat/function", "json"),
    "xml": (chat(tool_calls=call("<upto>3</upto>")), "openai-chat/function", "xml"),
    "custom": (
        chat(tool_calls=[{"id": "c1", "type": "custom", "custom": {"name": "count", "input": "up to 3"}}]),
        "openai-chat/custom", "custom",
    ),
    "legacy": (chat(function_call={"name": "count", "arguments": "{}"}), "openai-chat/function_call", "json"),
    "anthropic": ({"content": [{"type": "tool_use", "id": "t1", "name": "count", "input": {}}]}, "anthropic/tool_use", "json"),
    "responses": (
        {"output": [{"type": "function_call", "call_id": "c1", "name": "count", "arguments": "{}"}]},
        "openai-responses/function_call", "json",
    ),
    "gemini": (
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "count", "args": {}}}]}}]}, "gemini/functionCall", "json",
    ),
    "bedrock": (
        {"output": {"message": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "n", "input": {}}}]}}},
        "bedrock/toolUse", "json",
    ),
    "hermes": (chat(content=f"<tool_call>\n{TEXT}\n</tool_call>"), "text/hermes", "json"),
    "qwen-coder": (chat(content="<tool_call>\n<function=count>\n</function>\n</tool_call>"), "text/qwen-coder", "xml"),
    "glm": (chat(content="<tool_call>count\n<arg_key>upto</arg_key>\n<arg_value>3</arg_value></tool_call>"), "text/glm", "xml"),
    "granite": (chat(content=f"<tool_call>[{TEXT}]"), "text/granite", "json"),
    "mistral": (chat(content=f"[TOOL_CALLS][{TEXT}]"), "text/mistral", "json"),
    "invoke": (chat(content='<function_calls>\n<invoke name="count"></invoke>\n</function_calls>'), "text/invoke", "xml"),
    "gemma": (chat(content="<|tool_call>call:count{upto:3}<tool_call|>"), "text/gemma", "custom"),
    "deepseek": (chat(content="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function"), "text/deepseek", "json"),
    "shared-tag": (chat(content="<tool_call>?"), "text/tool-call", "custom"),
}  # fmt: skip


def test_inspect_names_the_parser_of_each_call(tmp_path: Path) -> None:
    found = files_of(tmp_path, **{name: body for name, (body, _, _) in CALLS.items()})
    told = {name: content["tooling"] for name, content in found.items()}
    assert {name: (one["parsers"], one["formats"]) for name, one in told.items()} == {
        name: ({parser: 1}, {syntax: 1}) for name, (_, parser, syntax) in CALLS.items()
    }


def test_the_text_of_inspect_names_parser_and_schema_style(tmp_path: Path) -> None:
    body = {**chat(tool_calls=call("<upto>3</upto>")), "tools": STYLES["chat"][0]["tools"]}
    (tmp_path / "log.json").write_text(json.dumps(body))
    shown = run_cli("inspect", "log.json", cwd=tmp_path, text=True).stdout
    for line in (
        "arguments    XML 1",
        "parsers      openai-chat/function 1",
        "schema style openai-function 1",
    ):
        assert f"\n  {line}\n" in shown, shown


@pytest.mark.parametrize("name", ["\x1b[2J", "::error::x", "n" * 9000])
def test_a_hostile_type_of_a_call_is_shown_without_effect(tmp_path: Path, name: str) -> None:
    calls = [
        {"id": f"c{number}", "type": f"{name}{number}", "function": {"name": "f"}} for number in range(150)
    ]
    (tmp_path / "log.json").write_text(json.dumps(chat(tool_calls=calls)))
    shown = run_cli("inspect", "log.json", cwd=tmp_path, text=True)
    assert (shown.returncode, "\x1b" in shown.stdout) == (0, False)
    assert not any(line.startswith("::") for line in shown.stdout.splitlines())
    report = run_cli("inspect", "log.json", "--output-format", "json", cwd=tmp_path, text=True).stdout
    assert len(report) < 60_000
