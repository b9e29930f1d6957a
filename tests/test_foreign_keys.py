"""A program's own keys beside a message do not prevent repairs around them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from turnlint.cli.fix import command as fix


def call(number: int) -> dict[str, Any]:
    """A message of a stored task that calls, with keys of the program."""
    text = {"type": "text", "text": f"Step {number}."}
    use = {"type": "tool_use", "id": f"toolu_{number}", "name": "read_file", "input": {"line": number}}
    return {"role": "assistant", "content": [text, use], "metrics": {"cost": {"usd": number}}, "ts": number}


RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_2", "content": "two"}]}
STORED = [
    {"role": "user", "content": "Read both."},
    call(1),
    call(2),
    RESULT,
    {"role": "assistant", "content": "Done."},
]


def repair(folder: Path, *options: str) -> tuple[str, list[dict[str, Any]]]:
    log = folder / "task.json"
    log.write_text(json.dumps(STORED))
    run = CliRunner().invoke(fix, [str(log), "-o", str(folder / "out.json"), *options])
    return run.output, json.loads((folder / "out.json").read_text())


@pytest.mark.parametrize("options", [(), ("--provider", "anthropic")])
def test_a_lost_result_is_added_and_every_key_stays(options: tuple[str, ...], tmp_path: Path) -> None:
    _, after = repair(tmp_path, *options)
    assert after[:3] == STORED[:3]
    assert [block["tool_use_id"] for block in after[3]["content"]] == ["toolu_1", "toolu_2"]


def test_a_removed_key_is_named(tmp_path: Path) -> None:
    output, after = repair(tmp_path, "--provider", "anthropic", "--level", "lossy")
    assert [item["role"] for item in after] == ["user", "assistant", "user", "assistant"]
    assert [block["type"] for block in after[1]["content"]] == ["text", "text", "tool_use", "tool_use"]
    assert "removed 2 values" in " ".join(output.split())
