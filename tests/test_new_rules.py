"""A new rule reports every conversation that it applies to, at any length of the log.

Long logs go through a scanner, which skips lines that concern no rule.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import turnlint_rules
from turnlint.engine import Book, Options

RULE = '''"""a call to a tool that nobody has any more

What it does
    Reports it.
"""

from turnlint.api import Rule

RULE = Rule("ST190", "gone-tool", "warning"{triggers})


def check(case):
    for interaction in case.ledger.interactions:
        if {condition}:
            yield RULE.at_call(case, interaction.asked, "a call to a tool that is gone", key="name")
'''
SOUND, OPEN = 'interaction.asked.call.name == "deploy"', "interaction.answer is None"
CASES = {
    "no triggers": ("", SOUND, True),
    "an unknown trigger": (', triggers=frozenset({"deploy"})', SOUND, True),
    "a trigger": (', triggers=frozenset({"open"})', OPEN, False),
    "a trigger, over several lines": (',\n    triggers=frozenset({"late", "open"}),\n', OPEN, False),
    "a computed trigger": (', triggers=frozenset("open".split())', OPEN, False),
}


def put(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def reports(folder: Path, site: Path, *arguments: str) -> int:
    """The number of findings of the rule in a run; in a separate process, since it may replace the built-in package."""
    run = subprocess.run(
        [sys.executable, "-m", "turnlint", "lint", *arguments, "-j", "1", "--output-format", "jsonl"],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode in (0, 1), run.stderr
    return [json.loads(line).get("code") for line in run.stdout.splitlines()].count("ST190")


def log(count: int, *, is_answered: bool) -> str:
    lines = []
    for number in range(count):
        call = {"id": f"call_{number}", "type": "function", "function": {"name": "deploy", "arguments": "{}"}}
        result = {"role": "tool", "tool_call_id": f"call_{number}", "content": "done"}
        messages = [
            {"role": "user", "content": f"Go {number}."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            *([result] if is_answered else []),
            {"role": "user", "content": "Thanks."},
            {"role": "assistant", "content": "It is done."},
        ]
        lines.append(json.dumps({"id": f"s-{number}", "messages": messages}) + "\n")
    return "".join(lines)


def installed(folder: Path, text: str, *, is_built_in: bool) -> Path:
    """A folder for modules that has the rule, in a copy of the built-in package or in a package of its own."""
    site = folder / "site"
    if is_built_in:
        shutil.copytree(turnlint_rules.__path__[0], site / "turnlint_rules")
        put(site / "turnlint_rules" / "state", **{"gone_tool.py": text})
        return site
    put(site / "new_rules-1.0.dist-info",
        METADATA="Metadata-Version: 2.1\nName: new-rules\nVersion: 1.0\n",
        **{"entry_points.txt": "[turnlint.rules]\nnew = new_rules\n"})  # fmt: skip
    put(site / "new_rules", **{"__init__.py": '"""Rules."""\n', "gone_tool.py": text})
    return site


@pytest.mark.parametrize("is_built_in", [True, False], ids=["built in", "another package"])
@pytest.mark.parametrize("case", CASES)
def test_a_new_rule_reports_each_conversation(case: str, is_built_in: bool, tmp_path: Path) -> None:
    triggers, condition, is_answered = CASES[case]
    text = RULE.format(triggers=triggers, condition=condition)
    site = installed(tmp_path, text, is_built_in=is_built_in)
    put(tmp_path, **{f"{count}.jsonl": log(count, is_answered=is_answered) for count in (1, 40)})
    assert [reports(tmp_path, site, f"{count}.jsonl") for count in (1, 40)] == [1, 40]


def test_a_rule_in_preview_without_triggers_runs_if_selected(tmp_path: Path) -> None:
    text = RULE.format(triggers=', state="preview"', condition=SOUND)
    site = installed(tmp_path, text, is_built_in=True)
    put(tmp_path, **{"40.jsonl": log(40, is_answered=True)})
    assert reports(tmp_path, site, "40.jsonl") == 0
    assert reports(tmp_path, site, "40.jsonl", "--preview") == 40


@pytest.mark.parametrize(
    ("triggers", "is_open"), [("", False), (', triggers=frozenset({"open"})', True)], ids=["none", "some"]
)
def test_other_packages_keep_the_fast_path_if_their_rules_have_triggers(
    triggers: str, is_open: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"new_rules_{is_open}".lower()
    put(
        tmp_path / name,
        **{"__init__.py": '"""Rules."""\n', "gone.py": RULE.format(triggers=triggers, condition=OPEN)},
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("turnlint.judging.packages", lambda: ["turnlint_rules", name])
    assert Book(Options()).has_triggers is is_open
    assert Book(Options(ignore=("ST190",))).has_triggers
    assert Book(Options(select=("ST190",))).has_triggers is is_open
