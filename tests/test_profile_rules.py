"""`lint --profile-rules` prints the cost of each rule, and changes nothing else."""

import os
import re
from pathlib import Path

import pytest

from hostile import FORMATS, lint
from reporting import conversation, lines
from turnlint import rulebook

LINE = re.compile(r"(\S.*?) {2,}([\d,]*) +([\d,.]+) +([\d.]+) %")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    records = [*(conversation(f"s{number}") for number in range(40)), conversation("x", sound=False)]
    (tmp_path / "a.jsonl").write_text(lines(*records, '{"messages": [{"ro'), encoding="utf-8")
    return tmp_path


def profile_in(stderr: bytes) -> dict[str, tuple[int, float]]:
    first, header, *rows = stderr.decode().splitlines()
    assert "one process, no cache and no fast path" in first
    assert header.split() == ["rule", "calls", "ms", "share"]
    found = {}
    for line in rows:
        match = LINE.fullmatch(line)
        assert match, line
        name, calls, _, share = match.groups()
        found[name] = int(calls.replace(",", "") or 0), float(share)
    return found


def test_each_rule_is_listed_with_its_calls_and_its_share(log: Path) -> None:
    rows = profile_in(lint("a.jsonl", "--profile-rules", cwd=log).stderr)
    *rules, whole, rest = rows
    assert (whole, rest) == ("all rules", "other: parsing, pairing, reports")
    known = {entry.rule.name for entry in rulebook.everything()}
    assert set(rules) <= known
    assert rows[whole][0] == sum(rows[rule][0] for rule in rules)
    assert rows["id-charset"][0] == 41  # every conversation, also those that the scanner would skip
    assert rows["unreadable-record"][0] == 1
    assert abs(rows[whole][1] + rows[rest][1] - 100) < 0.2
    assert abs(sum(rows[rule][1] for rule in rules) - rows[whole][1]) < 0.1 * len(rules)


def test_only_selected_rules_are_timed_and_own_rules_too(log: Path) -> None:
    rows = profile_in(lint("a.jsonl", "--profile-rules", "--select", "PA202", cwd=log).stderr)
    assert [*rows][:-2] == ["orphan-result"]
    settings = (
        "rules:\n  - {name: no-more, pointer: /messages/*/content, when: {matches: more}, message: more}\n"
    )
    (log / "turnlint.yaml").write_text(settings, encoding="utf-8")
    done = lint("a.jsonl", "--profile-rules", "--select", "own/no-more", cwd=log)
    rows = profile_in(done.stderr)
    assert [*rows][:-2] == ["own/no-more"]
    assert rows["own/no-more"][0] == 42  # every record, also the torn one
    assert done.stdout == lint("a.jsonl", "--select", "own/no-more", cwd=log).stdout


@pytest.mark.parametrize("kind", FORMATS)
def test_reports_and_exit_codes_are_those_of_any_run(log: Path, kind: str) -> None:
    plain = lint("a.jsonl", "--output-format", kind, cwd=log)
    env = {"TURNLINT_CACHE": str(log / "kept")}
    timed = lint(
        "a.jsonl", "--output-format", kind, "--profile-rules", "-j", "2", "--cache", cwd=log, env=env
    )
    assert (timed.stdout, timed.returncode) == (plain.stdout, plain.returncode)
    assert not plain.stderr
    assert not os.path.exists(log / "kept")
