"""Logs to report on, and reports of constructed findings.

The small logs that tests of outputs share, and sinks with constructed rows.
"""

import json
from pathlib import Path
from typing import Any, ClassVar

from hostile import lint
from turnlint.engine import Tally
from turnlint.model import Finding, Fix, Location, Record
from turnlint.report import open_sink
from turnlint.rows import Place, Point, Row

ROWS = Record(1, 0, b"")


class Look:
    width = 80
    color = False
    statistics = ""
    fails: ClassVar = {"a.jsonl": ("error",)}
    own = ()
    folds = False
    infos = True


def call(identifier: str) -> dict[str, Any]:
    return {"id": identifier, "type": "function", "function": {"name": "look", "arguments": "{}"}}


def conversation(name: str | None, *, sound: bool = True, text: str = "hi") -> dict[str, Any]:
    message = {"role": "assistant", "content": None, "tool_calls": [call("c1")]}
    answers = {"role": "tool", "tool_call_id": "c1" if sound else "c9", "content": "secret-4"}
    messages = [{"role": "user", "content": text}, message, answers, {"role": "user", "content": "more"}]
    return {**({"id": name} if name else {}), "messages": messages}


def lines(*records: Any) -> str:
    return "".join(
        (record if isinstance(record, str) else json.dumps(record, ensure_ascii=False)) + "\n"
        for record in records
    )


def output(folder: Path, kind: str, *arguments: str) -> str:
    return lint(*arguments, "--output-format", kind, cwd=folder).stdout.decode()


def logs_in(tmp_path: Path) -> Path:
    """A folder with a log with faults, a log without faults, and a file that is no log."""
    (tmp_path / "logs").mkdir()
    sound, broken = conversation("s-1"), conversation("s-2", sound=False)
    text = lines(sound, broken, '{"id": "s-3", "messages": [{"ro', conversation(None))
    (tmp_path / "logs" / "a b#1.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "sound.jsonl").write_text(lines(conversation("s-5")), encoding="utf-8")
    (tmp_path / "notes.json").write_text('{"a": 1}\n', encoding="utf-8")
    return tmp_path


def findings(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(output(folder, "json", "."))["findings"]
    assert len(found) >= 3
    return found


def row(severity: str, number: int, code: str = "PA201", name: str = "unanswered-call") -> Row:
    place = Place(number, 1, 0, 1, "/a", (Point(number, 1, 1, 1), Point(number, 2, 2, 2)))
    finding = Finding(
        code, name, "pairing", severity, f"finding {number}", Location(ROWS, ()),  # type: ignore[arg-type]
        conversation_index=number, fix=Fix("lossy", "drop it"),
    )  # fmt: skip
    return Row(finding, "a.jsonl", place, (), (), f"{number:016x}")


def written(kind: str, *events: Any, complete: bool = True) -> str:
    pieces: list[str] = []
    sink = open_sink(kind, pieces.append, Look())
    tally = Tally(files=1)
    for event in events:
        sink.take(event)
        if isinstance(event, Row):
            tally.findings[event.finding.severity] += 1
            tally.rules[event.finding.rule] = tally.rules.get(event.finding.rule, 0) + 1
    sink.finish(tally, complete=complete)
    return "".join(pieces)
