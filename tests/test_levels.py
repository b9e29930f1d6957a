"""The level of `fix` per rule: in settings, in the library, and in every command that repairs."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from settings import USER, call, put, turnlint
from turnlint import fix
from turnlint.library import TurnlintError
from turnlint.repair.verifying import UNSETTLED

ROOT = Path(__file__).parent.parent
EMPTY = {"role": "assistant", "content": ""}
ORPHAN = {"role": "tool", "tool_call_id": "gone", "content": "18"}
OPEN = {"role": "assistant", "content": None, "tool_calls": [call("c1")]}
MESSAGES: list[dict[str, Any]] = [USER, EMPTY, {"role": "user", "content": "on"}, ORPHAN, OPEN, USER]
"""An empty turn (ST110, lossless), an orphan (PA202, lossy), a call without a result (PA201, placeholder)."""


def folder_with(tmp_path: Path, text: str) -> Path:
    put(tmp_path, **{"a.jsonl": json.dumps({"messages": MESSAGES}) + "\n", "turnlint.yaml": text})
    return tmp_path


def state(messages: list[dict[str, Any]]) -> tuple[bool, bool, bool]:
    """Whether the empty turn is removed, the orphan is removed, the call has a result."""
    roles = [message["role"] for message in messages]
    answered = any(message.get("tool_call_id") == "c1" for message in messages)
    assert roles[0] == "user"
    return EMPTY not in messages, ORPHAN not in messages, answered


def fixed(folder: Path, *arguments: str) -> tuple[bool, bool, bool]:
    done = turnlint(folder, "fix", "a.jsonl", *arguments)
    assert done.returncode in (0, 1), done.stderr
    return state(json.loads((folder / "a.jsonl").read_text())["messages"])


CASES = [
    ("", (True, False, True)),
    ("level: lossy\n", (True, True, True)),
    ("levels: {empty-turn: never}\n", (False, False, True)),
    ("level: lossy\nlevels: {ST: never}\n", (False, True, True)),
    ("level: lossy\nlevels: {PA201: lossless}\n", (True, True, False)),
    ("level: lossless\n", (True, False, False)),
    ("level: lossless\nlevels: {orphan-result: lossy}\n", (True, True, False)),
    ("level: lossless\nlevels: {pairing: lossy, PA202: never}\n", (True, False, True)),
    ("level: lossless\nlevels: {PA202: never, pairing: lossy}\n", (True, True, True)),
    ("levels: {all: never}\n", (False, False, False)),
    ("levels: {ST110: never}\npaths: [{path: a.jsonl, levels: {PA202: never}}]\n", (False, False, True)),
    ("levels: {ST110: never}\npaths: [{path: b.jsonl, levels: {PA202: never}}]\n", (False, False, True)),
]


@pytest.mark.parametrize(("text", "done"), CASES)
def test_settings_limit_the_level_of_a_rule(tmp_path: Path, text: str, done: tuple[bool, bool, bool]) -> None:
    folder = folder_with(tmp_path, text)
    diff = turnlint(folder, "fix", "a.jsonl", "--diff").stdout.splitlines()
    assert any(line.startswith("-") and "gone" in line for line in diff) is done[1]
    checked = turnlint(folder, "fix", "a.jsonl", "--check")
    assert ("would be repaired" in checked.stdout) is any(done)
    through = turnlint(
        folder, "fix", "-", "--stdin-filename", "a.jsonl", stdin=(folder / "a.jsonl").read_text()
    )
    assert state(json.loads(through.stdout)["messages"]) == done
    assert fixed(folder) == done
    assert fixed(folder) == done


def test_the_level_of_a_rule_applies_under_any_requested_level(tmp_path: Path) -> None:
    text = "levels: {orphan-result: lossy, empty-turn: never}\n"
    assert fixed(folder_with(tmp_path, text), "--level", "lossless") == (False, True, False)


def test_the_hook_applies_it(tmp_path: Path) -> None:
    from ruamel.yaml import YAML

    hooks = YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text())
    hook = next(hook for hook in hooks if hook["id"] == "turnlint-fix")
    folder = folder_with(tmp_path, "levels: {orphan-result: lossy, ST110: never}\n")
    command = [*hook["entry"].split()[1:], *hook["args"], "a.jsonl"]
    turnlint(folder, *command)
    assert state(json.loads((folder / "a.jsonl").read_text())["messages"]) == (False, True, False)


def test_the_command_line_can_set_it_for_one_run(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "levels: {PA202: never}\n")
    assert fixed(folder, "--set", "levels.PA202=lossy", "--set", "levels={ST110: never}", "--level", "lossless") == (
        False, False, False,
    )  # fmt: skip
    assert fixed(folder, "--set", "levels.PA202=lossy", "--level", "lossless") == (True, True, False)


def test_findings_left_by_a_level_are_reported(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "levels: {ST110: never, PA202: lossless}\n")
    done = turnlint(folder, "fix", "a.jsonl", "--check", "--report", "report.json", "--level", "lossless")
    assert "2 findings left alone, as `levels` says of their rules\n" in done.stdout
    assert "1 error needs --level placeholder: it would add" in done.stdout
    report = json.loads((folder / "report.json").read_text())
    schema = json.loads((ROOT / "lint" / "turnlint" / "schemas" / "repair-v1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(report)
    assert report["summary"]["held_back"] == {"levels": 2, "placeholder": 1}
    assert report["files"][0]["held_back"] == {"levels": 2, "placeholder": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("levels: {PA999: never}\n", "levels.PA999: unknown rule 'PA999'; did you mean"),
        ("levels: {PA201: nevr}\n", "levels.PA201: unknown value 'nevr'; did you mean 'never'?"),
        ("levels: never\n", "levels: expected a mapping, got a string"),
    ],
)
def test_an_invalid_level_is_reported_with_its_position(tmp_path: Path, text: str, expected: str) -> None:
    done = turnlint(folder_with(tmp_path, text), "fix", "a.jsonl")
    assert (done.returncode, "turnlint.yaml:1:" in done.stderr, expected in done.stderr) == (2, True, True), (
        done.stderr
    )


def test_config_show_prints_its_origin(tmp_path: Path) -> None:
    shown = turnlint(
        folder_with(tmp_path, "levels: {ST110: never}\n"), "config", "show", "--set", "levels.PA=lossy"
    )
    assert "levels    ST110: never  turnlint.yaml:1:10\n" in shown.stdout
    assert "levels    PA: lossy     the command line (--set)\n" in shown.stdout


def test_the_library_accepts_it_as_an_argument() -> None:
    def left(**options: Any) -> tuple[bool, bool, bool]:
        return state(fix(MESSAGES, **options).value)

    assert left() == (True, False, True)
    assert left(level="lossy") == (True, True, True)
    assert left(levels={"empty-turn": "never"}) == (False, False, True)
    assert left(level="lossless", levels={"PA202": "lossy"}) == (True, True, False)
    with pytest.raises(TurnlintError, match="unknown level 'nevr'; did you mean 'never'"):
        fix(MESSAGES, levels={"PA202": "nevr"})  # type: ignore[dict-item]
    with pytest.raises(TurnlintError, match=r"unknown rule 'PA999'"):
        fix(MESSAGES, levels={"PA999": "never"})


LINKS = "ST111"
RULES = ["ST", "PA201", "PA20"]
FIXTURES = sorted((ROOT / "fixtures" / "rules").glob("*/*.jsonl"))


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_is_never_repaired_hinders_no_other_repair_for_good(rule: str) -> None:
    """With any rule disabled a repair reaches a fixed point, and changes nothing for that rule except links."""
    from turnlint.documents.source import Source
    from turnlint.engine import Book, Options
    from turnlint.repair.choosing import Policy
    from turnlint.repair.fixing import fix as repair

    options = Options()
    book = Book(options)
    policy = Policy(level="lossy", levels=((rule, "never"),))
    changed = 0
    for path in FIXTURES:
        if ".fixed" in path.suffixes:
            continue
        done = repair(Source(path.name, str(path)), options, book, policy)
        changed += len(done.changes)
        assert not [
            change for change in done.changes if change.code.startswith(rule) and change.code != LINKS
        ], path
        assert not [failure for failure in done.failures if failure.reason == UNSETTLED], path
    assert changed


def test_by_default_nothing_is_removed(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "")
    assert fixed(folder) == (True, False, True)
    assert "default: placeholder" in " ".join(turnlint(folder, "fix", "--help").stdout.split())
