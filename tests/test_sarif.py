"""SARIF matches the requirements of GitHub's code scanning, and agrees with the JSON report."""

import json
from pathlib import Path

import pytest

from read_outputs import ROOT, sarif
from reporting import findings, logs_in, output, row, written
from turnlint import rulebook
from turnlint.model import SEVERITIES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return logs_in(tmp_path)


def test_sarif_agrees_with_the_json_report(folder: Path) -> None:
    document = sarif(output(folder, "sarif", "."))
    (run,) = document["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["invocations"][0]["executionSuccessful"] is True
    assert ROOT in run["originalUriBaseIds"]
    expected = sorted(findings(folder), key=lambda finding: SEVERITIES.index(finding["severity"]))
    for result, finding in zip(run["results"], expected, strict=True):
        place = result["locations"][0]
        assert result["ruleId"] == finding["code"]
        assert (
            result["level"] == {"error": "error", "warning": "warning", "info": "note"}[finding["severity"]]
        )
        assert result["message"]["text"].startswith(finding["message"])
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "logs/a%20b%231.jsonl"
        assert place["physicalLocation"]["region"]["startLine"] == finding["line"]
        assert place["physicalLocation"]["region"]["startColumn"] == finding["column"]
        assert place["logicalLocations"][0]["fullyQualifiedName"] == finding["pointer"]
        assert result["partialFingerprints"]["turnlint/v1"] == finding["fingerprint"]
        assert len(result["relatedLocations"]) == len(finding["related"])


def test_sarif_lists_every_rule_with_its_help_also_without_findings(folder: Path) -> None:
    (run,) = sarif(output(folder, "sarif", "sound.jsonl"))["runs"]
    assert run["results"] == []
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    entries = rulebook.everything()
    assert set(rules) == {entry.rule.code for entry in entries}
    for entry in entries:
        described = rules[entry.rule.code]
        assert described["name"] == entry.rule.name
        assert described["help"]["text"] == entry.docs
        assert "### Why it matters" in described["help"]["markdown"]
        assert described["properties"]["problem.severity"] in ("error", "warning", "recommendation")


def test_a_file_outside_of_the_folder_has_an_absolute_address_and_a_link_is_followed(folder: Path) -> None:
    below = folder / "below"
    below.mkdir()
    (below / "link.jsonl").symlink_to(folder / "logs" / "a b#1.jsonl")
    (run,) = json.loads(output(below, "sarif", "../logs"))["runs"]
    outside = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert outside == {"uri": (folder / "logs" / "a b#1.jsonl").as_uri()}
    (run,) = json.loads(output(folder, "sarif", "below/link.jsonl"))["runs"]
    linked = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert linked == {"uri": "logs/a%20b%231.jsonl", "uriBaseId": ROOT}


@pytest.mark.slow
def test_sarif_keeps_the_worst_5000_and_counts_the_others() -> None:
    rows = [row(("info", "warning", "error")[number % 3], number) for number in range(1, 9001)]
    (run,) = sarif(written("sarif", *rows))["runs"]
    levels = [result["level"] for result in run["results"]]
    assert levels == ["error"] * 3000 + ["warning"] * 2000
    assert [result["locations"][0]["physicalLocation"]["region"]["startLine"] for result in run["results"]] == [
        *range(2, 9001, 3), *range(1, 6000, 3)]  # fmt: skip
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["level"] == "warning"
    assert note["message"]["text"].startswith("1,000 warnings, 3,000 info left out")
    assert "PA201 4,000" in note["message"]["text"]


def test_sarif_describes_a_rule_of_no_package() -> None:
    (run,) = sarif(written("sarif", row("warning", 1, "XX900", "our-own")))["runs"]
    assert run["tool"]["driver"]["rules"][-1]["id"] == "XX900"
