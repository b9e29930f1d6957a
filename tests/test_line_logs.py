"""Sound conversations with one message per line are accepted unread, and others are read a second time."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from turnlint import compiled
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, Tally, lint
from turnlint.errors import SourceError
from turnlint.report.words import noted
from turnlint.rows import Row

ROOT = Path(__file__).parent.parent
MANY_CONVERSATIONS = 30
"""More lines than a sample has."""
CALL = {"id": "call_aaaaaaaaaaaa", "type": "function", "function": {"name": "read", "arguments": "{}"}}
KEPT = {"type": "file-history-snapshot", "messageId": "m-1", "snapshot": {}, "sessionId": "s-1"}
needs_native = pytest.mark.skipif(compiled.load() is None, reason="the native scanner is not compiled")


def conversation(name: str, *, sound: bool = True) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": CALL["id"], "content": "done"},
        {"role": "assistant", "content": "so it is"},
    ]
    if not sound:
        del messages[2]
    return [{"conversation_id": name, "ts": 1.5, **message} for message in messages]


def log_of(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def broken_log(folder: Path) -> Source:
    lines = [
        item
        for n in range(MANY_CONVERSATIONS)
        for item in conversation(f"c{n}", sound=n != MANY_CONVERSATIONS - 2)
    ]
    path = folder / "log.jsonl"
    path.write_bytes(log_of(*lines))
    return Source(path.name, str(path))


def run(source: Source) -> tuple[list[Row], Tally]:
    *events, tally = lint(source, Options(), Book(Options()))
    assert isinstance(tally, Tally)
    return [event for event in events if isinstance(event, Row)], tally


def test_a_fault_in_a_conversation_on_many_lines_is_placed(tmp_path: Path) -> None:
    rows, tally = run(broken_log(tmp_path))
    line = 4 * (MANY_CONVERSATIONS - 2) + 2
    assert [(row.finding.rule, row.place.line) for row in rows] == [("unanswered-call", line)]
    assert (tally.conversations, tally.messages) == (MANY_CONVERSATIONS, 4 * MANY_CONVERSATIONS - 1)
    assert (tally.calls, tally.results) == (MANY_CONVERSATIONS, MANY_CONVERSATIONS - 1)


@needs_native
def test_a_log_that_cannot_be_opened_again_is_no_sound_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = broken_log(tmp_path)

    def refuse(*_: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("turnlint.documents.reread.open_named", refuse)
    with pytest.raises(SourceError, match="permission denied"):
        run(source)


@needs_native
@pytest.mark.parametrize(
    ("was", "now"), [(b'"so it', b'"\xff it'), (b'is"}\n', b'is"]\n'), (b'"role"', b'"role ')]
)
def test_a_log_that_changes_between_two_readings_is_named(
    was: bytes, now: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = broken_log(tmp_path)
    data = (tmp_path / "log.jsonl").read_bytes().replace(was, now)
    monkeypatch.setattr("turnlint.documents.reread.open_named", lambda *_: BytesIO(data))
    with pytest.raises(SourceError, match="changed while it was read"):
        run(source)


@pytest.mark.parametrize("extra", [{"usage": {"total": 5}}, {"parent_id": "m-1"}, {"other_key": "x"}])
def test_a_line_with_another_key_does_not_hide_a_fault(extra: dict[str, Any], tmp_path: Path) -> None:
    source = broken_log(tmp_path)
    path = tmp_path / "log.jsonl"
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    lines[4 * (MANY_CONVERSATIONS - 2)] |= extra
    path.write_bytes(log_of(*lines))
    rows, _ = run(source)
    assert [row.finding.rule for row in rows] == ["unanswered-call"]


def test_a_key_of_messages_has_its_meaning_in_all_lines(tmp_path: Path) -> None:
    """The name of the model is in the first line, so that it is known as a key beside those of a message."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}
    messages = [
        {"role": "user", "content": "go", "model": "claude-opus-4-1"},
        {"role": "assistant", "model": "claude-opus-4-1", "content": [call]},
        {"role": "user", "content": [result]},
        {
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": "so it is"}],
        },
    ]
    path = tmp_path / "log.jsonl"
    path.write_bytes(log_of(*({"session_id": f"c{n}", **one} for n in range(10) for one in messages)))
    rows, _ = run(Source(path.name, str(path)))
    assert [row.finding.rule for row in rows] == ["model-switch"] * 10


@pytest.mark.parametrize("fault", [False, True], ids=["sound", "faulty"])
def test_bookkeeping_records_of_a_session_are_counted(fault: bool, tmp_path: Path) -> None:
    path = ROOT / "fixtures/formats/claude-code/a-session-and-its-resumed-copy.jsonl"
    lines = [
        line for line in path.read_bytes().splitlines() if json.loads(line)["type"] in ("user", "assistant")
    ]
    kept = json.dumps(KEPT).encode()
    log = tmp_path / "log.jsonl"
    log.write_bytes(
        b"\n".join(line for item in (lines[:-1] if fault else lines) for line in (item, kept, kept)) + b"\n"
    )
    _, tally = run(Source("log.jsonl", str(log)))
    assert tally.noted == {"bookkeeping": log.read_bytes().count(b'snapshot": {}')}
    assert noted("bookkeeping", 1200) == "1,200 bookkeeping records skipped"
