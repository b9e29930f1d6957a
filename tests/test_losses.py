"""The last check of a repair: no content may be lost without a reported change."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from turnlint.cli.fix import command
from turnlint.cli.undo import command as undo
from turnlint.repair.losses import lost, says_all


@pytest.mark.parametrize(
    ("before", "after", "reported", "gone"),
    [
        (b'{"a": "x", "n": 1}', b'{"n": 1, "a": "x"}', b"", False),
        (b'{"a": "x", "b": "y"}', b'{"a": "x"}', b"", True),
        (b'{"a": "x", "b": "y"}', b'{"a": "x"}', b'"y"', False),
        (b'["x", "x"]', b'["x"]', b"", True),
        (b'["x", "x"]', b'["x"]', b'{"piece": "x"}', False),
        (b'{"n": 12345678901234567890}', b'{"n": 1.2345678901234567e19}', b"", True),
        (b'{"is_error": true}', b"{}", b"", True),
        (b'{"key": 1}', b'{"other": 1}', b"", False),
        (b'[{"role": "user", "content": []}]', b"[]", b"", False),
        (rb'["a \" b", "c"]', rb'["c"]', b"", True),
    ],
)
def test_lost_content_is_reported(before: bytes, after: bytes, reported: bytes, *, gone: bool) -> None:
    assert lost([before], [after], [reported]) is gone


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        (b'{"role": "tool", "content": "r"}', [b'{"content": [{"text": "r"}]}'], True),
        (b'{"arguments": "{\\"a\\": 1}"}', [b'{"input": {"a": 1}}'], True),
        (b'{"input": {"a": 1}, "cache_control": {"ttl": "5m"}}', [b'{"input": {"a": 1}}'], False),
        (b'{"content": "r", "is_error": true}', [b'{"content": "r"}'], False),
        (b'{"n": 1e400}', [b'{"n": 1}'], False),
        (b'{"a": 1, "a": 2}', [b'{"a": 2}'], False),
        (b'{"status": "error", "content": "r"}', [b'{"content": "r"}'], False),
        (b'["x", "y"]', [b'"x"', b'"y"'], True),
        (b"[" * 100_000, [b"[]"], False),
    ],
)
def test_a_rewritten_message_keeps_all_content(before: bytes, after: list[bytes], *, whole: bool) -> None:
    assert says_all(before, after) is whole


def _call(identifier: str) -> dict[str, Any]:
    return {"id": identifier, "type": "function", "function": {"name": "run", "arguments": "{}"}}


def _log(*messages: dict[str, Any]) -> bytes:
    user = {"role": "user", "content": "go"}
    return json.dumps({"model": "gpt-4o", "messages": [user, *messages, user]}).encode() + b"\n"


CALLING = {"role": "assistant", "content": None, "tool_calls": [_call("c1")]}
ANSWERS = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
HOLDING = {**ANSWERS, "tool_calls": [_call("c9")]}


@pytest.mark.parametrize(
    ("messages", "words", "what"),
    [
        ([HOLDING], "remove the result and the call inside it", "1 call and 1 result"),
        ([{**HOLDING, "tool_calls": [_call("c8"), _call("c9")]}], "and the 2 calls inside it", "2 calls and 1 result"),
        ([CALLING, ANSWERS, HOLDING], "remove the second result and the call inside it", "1 call and 1 result"),
        ([CALLING, ANSWERS, {**HOLDING, "content": "no"}], "remove the other one and the call inside it", "1 call and 1 result"),
    ],
    ids=["orphan", "orphan with two calls", "copy", "conflict"],
)  # fmt: skip
def test_a_call_in_a_removed_result_is_named(
    tmp_path: Path, messages: list[dict[str, Any]], words: str, what: str
) -> None:
    """A tool message with calls is removed whole: each count and the finding name the calls, and undo restores them."""
    path, report, journal = tmp_path / "log.jsonl", tmp_path / "report.json", tmp_path / "journal.jsonl"
    path.write_bytes(before := _log(*messages))
    kept = CliRunner().invoke(command, [str(path)])
    assert path.read_bytes() == before
    size = len(json.dumps(messages[-1]))
    assert f"--level lossy: it would remove {what}, {size} bytes" in " ".join(kept.output.split())
    options = ["--level", "lossy", "--report", str(report), "--journal", str(journal)]
    done = CliRunner().invoke(command, [str(path), *options])
    assert f"--level lossy removed {what}, {size} bytes" in " ".join(done.output.split())
    texts = [change["message"] for change in json.loads(report.read_bytes())["changes"]]
    assert words in texts[0]
    assert texts[1:] == ["remove the call inside the result"] * (len(texts) - 1)
    assert b"c9" not in path.read_bytes()
    CliRunner().invoke(undo, ["--journal", str(journal), str(path)])
    assert path.read_bytes() == before


def test_level_lossless_keeps_a_copy_of_a_result_with_a_call_of_its_own(tmp_path: Path) -> None:
    """The copy is removed only if the first result holds the same call."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(before := _log(CALLING, ANSWERS, HOLDING))
    CliRunner().invoke(command, [str(path), "--level", "lossless"])
    assert path.read_bytes() == before
    path.write_bytes(_log(CALLING, HOLDING, HOLDING))
    CliRunner().invoke(command, [str(path), "--level", "lossless"])
    assert len(json.loads(path.read_bytes())["messages"]) == 4


def test_a_copy_with_a_key_of_its_own_needs_lossy(tmp_path: Path) -> None:
    """Only an exact copy is removed at level lossless."""
    path = tmp_path / "log.jsonl"
    for more, left in (({}, 1), ({"x": "hello"}, 2)):
        path.write_bytes(_log(CALLING, ANSWERS, {**ANSWERS, **more}))
        CliRunner().invoke(command, [str(path), "--level", "lossless"])
        assert path.read_bytes().count(b'"ok"') == left


@pytest.mark.parametrize("level", ["lossless", "placeholder"])
@pytest.mark.parametrize("kept", ["denied", {"stdout": "ok"}])
def test_an_empty_message_stays_if_its_record_has_the_result(
    level: str, kept: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNLINT_STATE_DIR", str(tmp_path / "state"))
    root = {
        "isSidechain": False,
        "sessionId": "s",
        "version": "2.1.0",
        "timestamp": "2026-06-02T14:11:20.000Z",
    }
    texts = [("user", "go"), ("assistant", [{"type": "text", "text": "a"}]), ("user", []), ("user", "on")]
    lines = []
    for number, (role, content) in enumerate(texts):
        link = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None}
        lines.append({**link, **root, "type": role, "message": {"role": role, "content": content}})
    path = tmp_path / "a.jsonl"
    lines[2]["toolUseResult"] = kept
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    before = path.read_bytes()
    assert CliRunner().invoke(command, [str(path), "--level", level]).exit_code == 0
    assert path.read_bytes() == before
    del lines[2]["toolUseResult"]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    CliRunner().invoke(command, [str(path), "--level", level])
    assert len(path.read_bytes().splitlines()) == 3
