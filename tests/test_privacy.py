"""What was said stays out of every report, unless it was asked for.

This module owns that promise for each wire and each kind of report, also where the fault stands inside of
what was said.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hostile import WIRES, lint_in_all_formats

SAID = "hunter2"
KEY = "correct horse"
"""A key that is no name, and may be what somebody said."""
NAMES = frozenset({
    "role", "speaker", "type", "id", "name", "tool_call_id", "tool_use_id", "callId", "toolName", "turnId", "model",
    "custom_id", "conversation_id", "session_id", "uuid", "parentUuid",
})  # fmt: skip
"""Keys whose values name things: a report may quote these."""


def _filled_with_content(value: Any, key: str = "") -> Any:
    """The same faults, and the secret wherever a conversation keeps what was said."""
    if isinstance(value, list):
        return [_filled_with_content(item) for item in value]
    if isinstance(value, dict):
        filled = {name: _filled_with_content(item, name) for name, item in value.items()}
        has_parts = {"role", "speaker", "type"} & set(value)
        return {**filled, "unknown": {"deep": [SAID]}, KEY: 1} if has_parts else filled
    return value if key in NAMES or not isinstance(value, str) or not value else f"{value} {SAID}"


def _with_faults_in_content(wire: str) -> Iterator[bytes]:
    """Cut inside what was said, written badly inside it, run together with it."""
    said = SAID.encode()
    for record in WIRES[wire]("c1"):
        line = json.dumps(_filled_with_content(record)).encode()
        yield line
        if said not in line:
            continue
        yield from (line[: line.index(said) + cut] for cut in (3, len(said)))
        yield from (line.replace(said, said + bad + said) for bad in (b"\x01", b"\xff", b"\\q", b"\\ud800"))
        yield line.replace(b'["' + said + b'"]', b"[" + said + b"]")
        yield from (line.replace(b'"', b"'"), line + said, line + b'{"messages": "' + said + b'"}')


@pytest.mark.parametrize("wire", WIRES)
def test_no_report_holds_content_unless_it_was_asked_for(wire: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(_with_faults_in_content(wire)) + b"\n")
    silent = lint_in_all_formats(path, "--format", wire, folder=tmp_path)
    assert len(json.loads(silent["json"])["summary"]["rules"]) >= 10
    for kind, report in silent.items():
        for secret in (SAID.encode(), KEY.encode()):
            assert secret not in report, (kind, report[: report.find(secret) + 200][-500:])
    for amount in ("excerpt", "full"):
        shown = lint_in_all_formats(path, "--format", wire, "--show-content", amount, folder=tmp_path)
        assert {kind for kind, report in shown.items() if SAID.encode() in report} == {"text"}
