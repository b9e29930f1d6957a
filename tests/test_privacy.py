"""Content stays out of every report, unless it is requested.

Tested for each wire and each kind of report, also with faults inside the content.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hostile import WIRES, lint_in_all_formats

CONTENT = "hunter2"
KEY = "correct horse"
"""A key that is no name, and may be content."""
NAMES = frozenset({
    "role", "speaker", "type", "id", "name", "tool_call_id", "tool_use_id", "callId", "toolName", "turnId", "model",
    "custom_id", "conversation_id", "session_id", "uuid", "parentUuid",
})  # fmt: skip
"""Keys whose values are names: a report may quote these."""


def _filled_with_content(value: Any, key: str = "") -> Any:
    """The same faults, with a secret at every position of content."""
    if isinstance(value, list):
        return [_filled_with_content(item) for item in value]
    if isinstance(value, dict):
        filled = {name: _filled_with_content(item, name) for name, item in value.items()}
        has_parts = {"role", "speaker", "type"} & set(value)
        return {**filled, "unknown": {"deep": [CONTENT]}, KEY: 1} if has_parts else filled
    return value if key in NAMES or not isinstance(value, str) or not value else f"{value} {CONTENT}"


def _with_faults_in_content(wire: str) -> Iterator[bytes]:
    """Records that are cut inside the content, malformed inside it, and joined inside it."""
    content = CONTENT.encode()
    for record in WIRES[wire]("c1"):
        line = json.dumps(_filled_with_content(record)).encode()
        yield line
        if content not in line:
            continue
        yield from (line[: line.index(content) + cut] for cut in (3, len(content)))
        yield from (
            line.replace(content, content + bad + content) for bad in (b"\x01", b"\xff", b"\\q", b"\\ud800")
        )
        yield line.replace(b'["' + content + b'"]', b"[" + content + b"]")
        yield from (line.replace(b'"', b"'"), line + content, line + b'{"messages": "' + content + b'"}')


@pytest.mark.parametrize("wire", WIRES)
def test_no_report_has_content_unless_requested(wire: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(_with_faults_in_content(wire)) + b"\n")
    silent = lint_in_all_formats(path, "--format", wire, folder=tmp_path)
    assert len(json.loads(silent["json"])["summary"]["rules"]) >= 10
    for kind, report in silent.items():
        for secret in (CONTENT.encode(), KEY.encode()):
            assert secret not in report, (kind, report[: report.find(secret) + 200][-500:])
    for amount in ("excerpt", "full"):
        shown = lint_in_all_formats(path, "--format", wire, "--show-content", amount, folder=tmp_path)
        assert {kind for kind, report in shown.items() if CONTENT.encode() in report} == {"text"}
