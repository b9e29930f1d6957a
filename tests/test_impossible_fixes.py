"""A finding states whether a repair is possible, and the reason if none is."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from turnlint.cli import cli

NO_RESULT = "none; a repair cannot write a result for this kind of call: write the result"
PLACEHOLDER = "add a placeholder result that says the outcome is unknown"
USER = {"role": "user", "content": "go"}
CALL = {"name": "get_tide", "parameters": {"port": "Oban"}}
COHERE_FIRST = {
    "model": "command-r",
    "message": "and now?",
    "chat_history": [
        {"role": "USER", "message": "Tide?"},
        {"role": "CHATBOT", "message": "I look.", "tool_calls": [CALL]},
    ],
}
EMPTY = {"role": "assistant", "content": "", "tool_call_id": "eKp7ETcvQ", "name": "report", "result": "ok"}


def fixes(path: Path, body: dict[str, Any], *options: str) -> dict[str, list[str]]:
    """Return the titles of all fixes by code."""
    path.write_text(json.dumps(body) + "\n")
    done = CliRunner().invoke(cli, ["lint", str(path), "--output-format", "json", *options])
    found: dict[str, list[str]] = {}
    for finding in json.loads(done.stdout)["findings"]:
        found.setdefault(finding["code"], []).append((finding.get("fix") or {}).get("title", ""))
    return found


def responses(*items: dict[str, Any]) -> dict[str, Any]:
    return {"model": "gpt-5", "store": False, "input": [USER, *items]}


@pytest.mark.parametrize(
    ("call", "title"),
    [
        ({"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}, PLACEHOLDER),
        ({"type": "computer_call", "call_id": "c1", "actions": [{"type": "screenshot"}]}, NO_RESULT),
        (
            {"type": "mcp_approval_request", "id": "c1", "name": "f", "arguments": "{}", "server_label": "s"},
            NO_RESULT,
        ),
    ],
)
def test_a_call_whose_result_is_no_text_gets_no_placeholder(
    tmp_path: Path, call: dict[str, Any], title: str
) -> None:
    path = tmp_path / "a.jsonl"
    assert fixes(path, responses(call, USER))["PA201"] == [title]
    later = fixes(path, responses(call))
    open_title = title if title == NO_RESULT else f"with --close-pending: {title}"
    assert {item for code in later.keys() & {"PA206", "PR311"} for item in later[code]} == {open_title}
    done = CliRunner().invoke(cli, ["fix", str(path), "--close-pending"])
    written = [item.get("type") for item in json.loads(path.read_text())["input"]]
    assert ("function_call_output" in written) is (title == PLACEHOLDER), done.output
    assert "no repair of" not in done.output


def test_a_call_of_the_first_api_of_cohere_gets_no_placeholder(tmp_path: Path) -> None:
    assert fixes(tmp_path / "a.jsonl", COHERE_FIRST)["PA201"] == [NO_RESULT]
    done = CliRunner().invoke(cli, ["fix", str(tmp_path / "a.jsonl"), "--close-pending"])
    assert json.loads((tmp_path / "a.jsonl").read_text()) == COHERE_FIRST
    assert "no repair of" not in done.output


def test_an_empty_message_with_other_keys_says_why_it_stays(tmp_path: Path) -> None:
    options = ("--format", "openai-chat", "--provider", "mistral")
    found = fixes(tmp_path / "a.jsonl", {"messages": [USER, EMPTY]}, *options)
    kept = "none; the message has other keys that may hold its content: remove them, or write the text"
    assert found["ST110"] == found["PR312"] == [kept]
    assert found["PR311"] == ["none while the last message is empty: remove it, or write its text"]
    assert all(found["PR317"])


def test_an_empty_first_message_says_why_it_stays(tmp_path: Path) -> None:
    body = {"messages": [{"role": "user", "content": ""}, {"role": "assistant", "content": "hi"}]}
    [title] = fixes(tmp_path / "a.jsonl", body)["ST110"]
    assert title == "none; write the text of the message"


TEXT = {"type": "text", "text": "I count."}
USE = {"type": "tool_use", "id": "c1", "name": "count", "input": {"n": 1}}
OF_CHAT = {
    "role": "assistant",
    "content": "I count.",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "count", "arguments": '{"n": 1}'}}],
}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "37"}


@pytest.mark.parametrize("message", [OF_CHAT, {"role": "assistant", "content": [TEXT, USE]}])
def test_a_call_in_a_message_becomes_an_item_of_responses(tmp_path: Path, message: dict[str, Any]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(responses(message, OUTPUT, USER)) + "\n")
    done = CliRunner().invoke(cli, ["fix", str(path), "--level", "lossless", "--no-journal"])
    assert done.exit_code == 0, done.output
    _, message_item, call, output, _ = json.loads(path.read_text())["input"]
    assert (message_item["role"], message_item["content"][0]["text"]) == ("assistant", "I count.")
    assert {**call, "arguments": json.loads(call["arguments"])} == {
        "type": "function_call",
        "call_id": "c1",
        "name": "count",
        "arguments": {"n": 1},
    }
    assert output == OUTPUT
    again = CliRunner().invoke(cli, ["lint", str(path), "--provider", "openai-responses"])
    assert again.exit_code == 0, again.output


def test_a_message_with_an_id_of_its_own_is_not_made_a_call(tmp_path: Path) -> None:
    """An item of a call has an id of another form, so the id would be lost."""
    path = tmp_path / "a.jsonl"
    text = json.dumps(responses({"id": "msg_1", "role": "assistant", "content": [USE]}, OUTPUT, USER)) + "\n"
    path.write_text(text)
    done = CliRunner().invoke(cli, ["fix", str(path), "--level", "lossless", "--no-journal"])
    assert path.read_text() == text
    assert "no repair of ST116: the message has a part, a key or arguments" in " ".join(done.output.split())
