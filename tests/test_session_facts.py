"""Sessions whose lines are scanned give the same findings and counts as sessions whose lines are read."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from test_fastpath import compare_facts
from turnlint import compiled, evaluation, reading
from turnlint.carrying.sessions import Entry, Replay
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, lint
from turnlint.fastpath import sessions
from turnlint.fastpath.sessions import SessionGate
from turnlint.rows import Row

ROOT = Path(__file__).parent.parent
FORMATS = ("claude-code", "codex", "pi")
LOGS = {name: sorted((ROOT / "fixtures" / "formats" / name).glob("*.jsonl")) for name in FORMATS}
PROVIDERS = ("auto", "anthropic", "openai")
VALUES = (None, True, 1, "x", "", [], {}, "assistant", "user")


@pytest.fixture(autouse=True)
def _scans_every_log(monkeypatch: pytest.MonkeyPatch) -> None:
    if compiled.load() is None:
        pytest.skip("the native scanner is not compiled")
    monkeypatch.setattr(reading, "FEW", 0)


def events(path: Path, provider: str) -> list[Any]:
    """Return all findings with their places, and the counts."""
    options = Options(providers=(provider,), fingerprints=True, view=True)
    found: list[Any] = []
    for event in lint(Source("session.jsonl", str(path)), options, Book(options)):
        if isinstance(event, Row):
            finding = event.finding
            found.append((finding.code, finding.severity, finding.message, finding.label, finding.fix))
            found.append((event.place, event.related, event.view, event.fingerprint))
        else:
            found.append(event)
    return found


def is_equal_when_read(path: Path, provider: str) -> bool:
    """Whether a session has the same findings and counts if each of its lines is read."""
    scanned = events(path, provider)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation.Evaluator, "_open_scanner", lambda *_: None)
        return scanned == events(path, provider)


def counting(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    """Return a list that gets the results of a method of the gate."""
    found: list[Any] = []
    method: Callable[..., Any] = getattr(SessionGate, name)

    def note(gate: SessionGate, *args: Any) -> Any:
        found.append(method(gate, *args))
        return found[-1]

    monkeypatch.setattr(SessionGate, name, note)
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_recorded_sessions_have_the_same_findings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    accepted = counting(monkeypatch, "accepts")
    for path in LOGS[name]:
        for provider in PROVIDERS:
            assert is_equal_when_read(path, provider), (path.name, provider)
    assert any(accepted)
    assert not all(accepted)


def changed(lines: list[bytes], chance: random.Random) -> list[bytes]:
    """Return the lines of a session after some random changes."""
    lines = [*lines]
    for _ in range(chance.choice((1, 1, 2, 3))):
        one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        kind = chance.randrange(6)
        if kind == 0:
            lines.insert(other, lines[one])
        elif kind == 1:
            lines[one], lines[other] = lines[other], lines[one]
        elif kind == 2 and len(lines) > 1:
            del lines[one]
        elif kind == 3:
            at = chance.randrange(len(lines[one]) + 1)
            lines[one] = (
                lines[one][:at] + chance.choice((b'"', b"}", b"\\u0041", b"", b"\xff")) + lines[one][at:]
            )
        else:
            lines[one] = with_other_value(lines[one], lines[other], chance)
    return lines


def with_other_value(line: bytes, other: bytes, chance: random.Random) -> bytes:
    """Return a line with another value of a key, or with the value of this key in another line."""
    try:
        record, rival = json.loads(line), json.loads(other)
    except ValueError:
        return line
    place, beside = record, rival
    while isinstance(place, dict) and place:
        key = chance.choice(sorted(place))
        inner = place[key]
        inner = inner[0] if isinstance(inner, list) and inner else inner
        if not isinstance(inner, dict) or chance.random() < 0.4:
            is_shared = isinstance(beside, dict) and key in beside and chance.random() < 0.5
            place[key] = beside[key] if is_shared else chance.choice(VALUES)
            if chance.random() < 0.2:
                del place[key]
            break
        place, beside = inner, beside.get(key) if isinstance(beside, dict) else None
    return json.dumps(record, ensure_ascii=chance.random() < 0.3).encode()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FORMATS)
def test_changed_sessions_have_the_same_findings(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)  # noqa: S311 - the same changes every time
    path = tmp_path / "session.jsonl"
    for number in range(120):
        log = chance.choice(LOGS[name])
        lines = changed(log.read_bytes().splitlines(), chance)
        path.write_bytes(b"\n".join(lines) + b"\n")
        provider = PROVIDERS[number % len(PROVIDERS)]
        assert is_equal_when_read(path, provider), (
            log.name,
            number,
            b"\n".join(lines).decode(errors="replace"),
        )


@pytest.mark.parametrize("name", FORMATS)
def test_facts_of_sessions_cover_the_extracted_ones(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    accepts = SessionGate.accepts

    def compare(gate: SessionGate, replay: Replay, unread: Sequence[Entry]) -> bool:
        nonlocal compared
        row = gate._join(unread)
        is_whole = not replay.misfits and not any(one.said or one.misfits for one in replay.entries)
        if row is not None and is_whole:
            read = {id(entry): fresh for entry, fresh in gate.read(unread)}
            entries = [read.get(id(entry), entry) for entry in replay.entries]
            if not any(entry.hollow for entry in unread):
                transcript = structs.replace(replay, entries=entries, beside=()).read()
                around = structs.replace(gate.caches.around.facts, headless=replay.headless)
                native = gate.facts.decoder.decode(row[0], around)
                orphans = frozenset({"orphan"}) if row[6] else frozenset()
                of_lines = {"link", "dead"}
                of_lines |= {"switch"} if sessions.changes_origin(unread) else set()
                of_lines |= {"split"} if sessions.splits_response(unread) else set()
                compare_facts(native, transcript, orphans | of_lines)
                compared += 1
        return accepts(gate, replay, unread)

    monkeypatch.setattr(SessionGate, "accepts", compare)
    for path in LOGS[name]:
        events(path, "auto")
    assert compared > len(LOGS[name]) / 4


def calls(count: int) -> Iterator[tuple[str, str]]:
    """Yield the roles and ids of messages with calls and their results."""
    for number in range(count):
        yield "assistant", f"toolu_{number:04}"
        yield "user", f"toolu_{number:04}"


def claude_line(number: int, parent: int | None, message: dict[str, Any]) -> str:
    above = None if parent is None else f"u{parent}"
    known = {"sessionId": "s", "isSidechain": False, "timestamp": f"2026-11-20T10:00:{number:02}.000Z"}
    return json.dumps(
        {"type": message["role"], "uuid": f"u{number}", "parentUuid": above, **known, "message": message}
    )


def claude_session(count: int, *, lost: int | None = None) -> list[str]:
    """Return a session whose first branch was abandoned; one of its results may be lost."""
    lines = [claude_line(0, None, {"role": "user", "content": "go"})]
    for number, (role, name) in enumerate(calls(count), 1):
        call = {"type": "tool_use", "id": name, "name": "read", "input": {}}
        result = {"type": "tool_result", "tool_use_id": name, "content": "done"}
        if number != lost:
            message = {"role": role, "content": [call if role == "assistant" else result]}
            lines.append(claude_line(number, number - 1 - (number - 1 == lost), message))
    answer = {"role": "assistant", "id": "m", "content": [{"type": "text", "text": "so it is"}]}
    return [*lines, claude_line(50, 0, {"role": "user", "content": "again"}), claude_line(51, 50, answer)]


@pytest.mark.parametrize(("lost", "is_short"), [(None, True), (4, False), (40, False)])
def test_an_abandoned_branch_is_counted_and_hardly_read(
    lost: int | None, is_short: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shortened = counting(monkeypatch, "shorten")
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(claude_session(20, lost=lost)) + "\n")
    assert is_equal_when_read(path, "auto")
    assert [one is not None for one in shortened if one is not None] == [True] * is_short


@pytest.mark.parametrize("limit", [0, 300, 2000, 4000])
def test_a_session_that_is_too_long_to_be_kept_is_read(
    limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MAX_SESSION_BYTES", limit)
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(claude_session(20)) + "\n")
    assert is_equal_when_read(path, "auto")


def test_a_change_of_a_session_while_it_is_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(claude_session(2, lost=2)) + "\n")
    read = SessionGate.read

    def change(gate: SessionGate, entries: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
        path.write_text("x" * path.stat().st_size)
        return read(gate, entries)

    monkeypatch.setattr(SessionGate, "read", change)
    with pytest.raises(reading.SourceError, match="changed while it was read"):
        events(path, "auto")
