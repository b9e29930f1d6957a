"""Ignores of known findings: their selectors, their expiry, and reports of useless ones."""

import json
from pathlib import Path

import pytest

from settings import found, put, turnlint, unanswered

LOGS = ["a.jsonl:PA201:error", "a.jsonl:PA201:error", "b.jsonl:PA201:error", "b.jsonl:ST110:warning"]
EMPTY = '{"id": "t-1", "messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": ""}]}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path, **{"a.jsonl": f"{unanswered('s-1', 'c1')}\n{unanswered('s-2', 'c2')}\n",
                     "b.jsonl": f"{unanswered('t-2', 'c1')}\n{EMPTY}\n"})  # fmt: skip
    assert found(tmp_path) == LOGS
    return tmp_path


def ignoring(folder: Path, *selectors: str) -> list[str]:
    lines = "".join(f"  - {{{selector}, reason: known}}\n" for selector in selectors)
    (folder / "turnlint.yaml").write_text(f"ignore:\n{lines}")
    return found(folder)


@pytest.mark.parametrize(
    ("selector", "left"),
    [
        ("rule: unanswered-call", LOGS[3:]),
        ("rule: [PA2, ST110]", []),
        ("rule: state", LOGS[:3]),
        ("path: a.jsonl", LOGS[2:]),
        ("path: '*.jsonl', rule: PA201", LOGS[3:]),
        ("conversation: s-1", LOGS[1:]),
        ("conversation: 's-*'", LOGS[2:]),
        ("call: c1", [LOGS[1], LOGS[3]]),
        ("call: c1, path: b.jsonl", [*LOGS[:2], LOGS[3]]),
        ("pointer: /messages/1", LOGS[:3]),
        ("pointer: /messages/1/**", []),
        ("pointer: '/messages/*/tool_calls/*/id'", LOGS[3:]),
        ("pointer: /messages/2", LOGS),
        ("rule: PA201, conversation: none", LOGS),
    ],
)
def test_an_ignore_hides_the_selected_findings(folder: Path, selector: str, left: list[str]) -> None:
    assert ignoring(folder, selector) == left


def test_a_fingerprint_names_one_finding(folder: Path) -> None:
    rows = json.loads(turnlint(folder, "lint", "--output-format", "json").stdout)["findings"]
    assert ignoring(folder, f"fingerprint: {rows[1]['fingerprint']}") == [LOGS[0], *LOGS[2:]]
    assert ignoring(folder, f"fingerprint: [{rows[0]['fingerprint']}, {rows[3]['fingerprint']}]") == LOGS[1:3]


def test_a_fingerprint_is_the_same_from_every_folder_of_a_project(folder: Path) -> None:
    (folder / "sub").mkdir()
    ignoring(folder, "rule: ST110")
    prints = [
        {row["fingerprint"] for row in json.loads(run.stdout)["findings"]}
        for run in (
            turnlint(folder, "lint", "--output-format", "json"),
            turnlint(folder / "sub", "lint", "../a.jsonl", "../b.jsonl", "--output-format", "json"),
            turnlint(folder / "sub", "lint", str(folder), "--output-format", "json"),
        )
    ]
    assert prints[0] == prints[1] == prints[2]
    ignoring(folder, f"fingerprint: {sorted(prints[0])}", "rule: ST110")
    assert found(folder / "sub", "..") == []


def test_numbers_in_place_of_names_are_names(folder: Path) -> None:
    put(folder, **{"a.jsonl": unanswered("1e5", "007") + "\n"})
    assert ignoring(folder, "conversation: 1e5, call: 007, path: a.jsonl") == LOGS[2:]


def test_ignored_findings_are_counted_and_do_not_fail_a_run(folder: Path) -> None:
    (folder / "turnlint.yaml").write_text(
        "ignore:\n  - {rule: PA201, conversation: s-*, reason: known, until: 2026-05-01}\n"
        "  - {rule: PA201, path: b.jsonl, reason: known}\n"
    )
    run = turnlint(folder, "lint")
    assert run.returncode == 0
    assert run.stdout.endswith("Not shown: 1 ignored, 2 ignored until 2026-05-01.\n")
    summary = json.loads(turnlint(folder, "lint", "--output-format", "json").stdout)["summary"]
    assert summary["findings"] == {"error": 0, "warning": 1, "info": 0}
    assert summary["rules"] == {"empty-turn": 1}
    assert summary["ignored"] == {"ignore": 1, "ignore until 2026-05-01": 2}


UNTIL = "ignore: [{rule: PA201, reason: the outage, until: 2026-05-01}]\n"


@pytest.mark.parametrize(
    ("today", "count"), [("", 1), ("2026-05-01", 1), ("2026-05-02", 4), ("2025-12-31", 1), ("2027-01-01", 4)]
)
def test_an_ignore_applies_until_its_date(folder: Path, today: str, count: int) -> None:
    (folder / "turnlint.yaml").write_text(UNTIL)
    assert len(found(folder, *(["--today", today] if today else []))) == count
    assert len(found(folder, TURNLINT_TODAY=today)) == count


def test_an_expired_ignore_is_reported(folder: Path) -> None:
    (folder / "turnlint.yaml").write_text(UNTIL)
    run = turnlint(folder, "lint", "--today", "2026-06-01")
    assert run.returncode == 1
    assert (
        run.stderr
        == "turnlint: turnlint.yaml:1:10: this ignore expired after 2026-05-01; 3 findings are reported again\n"
    )
    assert turnlint(folder, "lint", "b.jsonl", "--today", "2026-06-01").stderr.endswith(
        "1 finding is reported again\n"
    )


@pytest.mark.parametrize("today", ["tomorrow", "2026-5-1", "2026-02-30", "20260501"])
def test_a_date_has_the_format_of_a_date(folder: Path, today: str) -> None:
    run = turnlint(folder, "lint", "--today", today)
    assert run.returncode == 2
    assert "is not a date; expected YYYY-MM-DD" in run.stderr
    assert turnlint(folder, "lint", TURNLINT_TODAY=today).returncode == 2


def test_an_ignore_that_matches_nothing_is_reported_if_that_is_certain(folder: Path) -> None:
    (folder / "turnlint.yaml").write_text(
        "ignore:\n  - {rule: PA201, reason: known}\n  - {rule: ST109, reason: known}\n"
        "  - {rule: PA205, path: a.jsonl, reason: known}\n"
    )
    words = "unused ignore: it matches no finding; remove it"
    both = f"turnlint: turnlint.yaml:3:5: {words}\nturnlint: turnlint.yaml:4:5: {words}\n"
    assert turnlint(folder, "lint").stderr == both
    assert turnlint(folder, "lint", str(folder)).stderr == both
    assert turnlint(folder, "lint", "a.jsonl").stderr == f"turnlint: turnlint.yaml:4:5: {words}\n"
    assert turnlint(folder, "lint", "b.jsonl").stderr == ""
    assert turnlint(folder, "lint", "--select", "ST110").stderr == ""
    assert turnlint(folder, "lint", "--provider", "none").stderr == ""


def test_ignored_findings_are_not_repaired(folder: Path) -> None:
    before = (folder / "a.jsonl").read_text()
    ignoring(folder, "rule: PA201, conversation: s-1", "rule: PA201, path: b.jsonl")
    run = turnlint(folder, "fix", "a.jsonl", "b.jsonl")
    assert run.returncode == 0
    after = (folder / "a.jsonl").read_text()
    assert after.splitlines()[0] == before.splitlines()[0]
    assert after.splitlines()[1] != before.splitlines()[1]
    turnlint(folder, "fix", "a.jsonl", "--no-config")
    assert (folder / "a.jsonl").read_text().splitlines()[0] != before.splitlines()[0]


def test_fix_has_the_current_date_as_an_option(folder: Path) -> None:
    (folder / "turnlint.yaml").write_text(UNTIL)
    assert turnlint(folder, "fix", "--check", "a.jsonl").returncode == 0
    assert turnlint(folder, "fix", "--check", "a.jsonl", "--today", "2026-05-02").returncode == 1


def test_remaining_findings_have_their_picture(tmp_path: Path) -> None:
    """The first few findings of each kind are drawn, not counting ignored ones."""
    lines = [unanswered(f"s-{number}", f"c{number}") for number in range(20)]
    put(tmp_path, **{"a.jsonl": "\n".join(lines) + "\n",
                     "turnlint.yaml": "ignore: [{conversation: 's-?', reason: known}]\n"})  # fmt: skip
    text = turnlint(tmp_path, "lint").stdout
    assert text.count("^^^ no result follows") == 3
    assert "call `c10`" in text
    assert "= 7 more" in text


@pytest.mark.parametrize(
    "selector", ["pointer: /messages/3/**", "call: c2", "pointer: '/**', call: c2", "call: 'c2'"]
)
@pytest.mark.parametrize("options", [[], ["--canonical"], ["--provider", "mistral"]])
def test_an_ignored_finding_stays_while_its_surroundings_move(
    tmp_path: Path, selector: str, options: list[str]
) -> None:
    """A result is added before the finding, and ids change: the finding is still the same."""
    first, second = (json.loads(unanswered(None, item))["messages"] for item in ("c1", "c2"))
    second[1]["tool_calls"][0]["function"]["arguments"] = '{"n": 2}'
    put(tmp_path, **{"a.jsonl": json.dumps({"messages": first[:2] + second}) + "\n",
                     "turnlint.yaml": f"ignore: [{{rule: PA201, {selector}, reason: known}}]\n"})  # fmt: skip
    turnlint(tmp_path, "fix", "a.jsonl", *options)
    messages = json.loads((tmp_path / "a.jsonl").read_text())["messages"]
    answered = {message["tool_call_id"] for message in messages if message["role"] == "tool"}
    call_ids = [message["tool_calls"][0]["id"] for message in messages if message.get("tool_calls")]
    assert [identifier in answered for identifier in call_ids] == [True, False]
