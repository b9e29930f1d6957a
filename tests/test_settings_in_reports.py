"""Settings in the reports for other systems."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from settings import put, turnlint, unanswered

SETTINGS = """\
fail-on: error
ignore:
  - {rule: unanswered-call, conversation: s-2, reason: known since May}
paths:
  - {path: lax/, fail-on: never}
  - {path: strict/, fail-on: info}
rules:
  - name: no-going
    pointer: /messages/*/content
    severity: info
    when: {matches: going}
    message: a message announces a departure
    about: |
      We stay.
      Always.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("lax", "strict", "plain"):
        (tmp_path / name).mkdir()
    put(tmp_path, **{"turnlint.yaml": SETTINGS})
    put(tmp_path / "lax", **{"a.jsonl": unanswered("s-1", "c1") + "\n"})
    put(tmp_path / "strict", **{"b.jsonl": json.dumps({"messages": [{"role": "user", "content": "going"}]})})
    put(tmp_path / "plain", **{"c.jsonl": unanswered("s-2", "c1", say="going") + "\n"})
    return tmp_path


def run_of(folder: Path, *arguments: str) -> dict[str, Any]:
    done = turnlint(folder, "lint", "--output-format", "sarif", *arguments)
    (run,) = json.loads(done.stdout)["runs"]
    found: dict[str, Any] = run
    return found


@pytest.mark.parametrize(
    "paths", [["lax"], ["strict"], ["plain"], ["lax", "plain"], ["lax", "strict", "plain"]]
)
def test_a_case_fails_according_to_the_settings_of_its_file(folder: Path, paths: list[str]) -> None:
    done = turnlint(folder, "lint", *paths, "--output-format", "junit")
    suites = re.findall(r'<testsuite name="(.+?)" tests="1" failures="(\d)"', done.stdout)
    assert len(suites) == len(paths)
    failing = [name for name, failures in suites if failures != "0"]
    assert failing == (["strict/b.jsonl"] if "strict" in paths else [])
    assert done.returncode == bool(failing)


def test_sarif_describes_a_rule_of_the_settings_with_or_without_findings(folder: Path) -> None:
    for paths in (["strict"], ["lax"]):
        rule = run_of(folder, *paths)["tool"]["driver"]["rules"][-1]
        assert (rule["id"], rule["shortDescription"]["text"]) == (
            "own/no-going",
            "A message announces a departure.",
        )
        assert rule["name"] == "no-going"
        assert rule["help"]["text"].split() == ["We", "stay.", "Always."]
        assert rule["defaultConfiguration"]["level"] == "note"


def test_sarif_counts_known_findings_and_omits_them(folder: Path) -> None:
    run = run_of(folder, "plain")
    assert [result["ruleId"] for result in run["results"]] == ["own/no-going"]
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert (notification["level"], notification["message"]["text"]) == ("note", "not shown: 1 ignored.")


@pytest.mark.parametrize("kind", ["text", "concise", "github", "junit", "markdown", "github-summary"])
def test_a_rule_of_the_settings_is_named_once(folder: Path, kind: str) -> None:
    """Its name is its code."""
    text = turnlint(folder, "lint", "strict", "--output-format", kind).stdout
    assert "own/no-going" in text
    assert "own/no-going own/no-going" not in text
    assert "own/no-going[info] own" not in text


def test_a_rule_of_the_settings_is_explained(folder: Path) -> None:
    done = turnlint(folder, "explain", "own/no-going")
    assert done.stdout.splitlines() == [
        "own/no-going [info, own]", "a message announces a departure", "", "    We stay.", "    Always.", "",
        "Defined at turnlint.yaml:8:5.",
    ]  # fmt: skip
    near = turnlint(folder, "explain", "own/no-goign")
    assert (near.returncode, "did you mean 'own/no-going'?" in near.stderr) == (2, True)
    none = turnlint(folder, "explain", "own/no-going", "--no-config")
    assert (none.returncode, "the settings of this folder define no rules" in none.stderr) == (2, True)


def test_named_files_can_be_excluded(folder: Path) -> None:
    put(folder, **{"turnlint.yaml": "exclude: [lax/]\n"})
    bad, other = "lax/a.jsonl", "strict/b.jsonl"
    before = (folder / bad).read_bytes()
    assert turnlint(folder, "lint", bad).returncode == 1
    for verb in ("lint", "fix"):
        done = turnlint(folder, verb, "--force-exclude", bad)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == "turnlint: all named files are excluded\n"
        assert "1 file" in turnlint(folder, verb, "--force-exclude", bad, other).stdout
    assert (folder / bad).read_bytes() == before
    assert turnlint(folder, "lint", "--force-exclude", bad, "--no-config").returncode == 1
