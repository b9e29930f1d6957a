"""Records with keys that request to ignore their own findings.

These apply only if the settings allow them; they are counted, reported if useless, and never break a run.
"""

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from settings import USER, cached, found, put, turnlint, unanswered

ROOT = Path(__file__).parent.parent
SETTINGS = "ignores-in-records: /metadata/turnlint\n"
BODY = json.loads(unanswered(None, "c1"))["messages"]
EMPTY = {"role": "assistant", "content": ""}


def record_with(value: Any, name: str = "s-1", messages: list[Any] = BODY) -> str:
    return json.dumps({"id": name, "metadata": {"turnlint": value}, "messages": messages}) + "\n"


def folder_with(tmp_path: Path, *values: Any, settings: str = SETTINGS) -> Path:
    put(tmp_path, **{"a.jsonl": "".join(record_with(value, f"s-{number}") for number, value in enumerate(values)),
                     "turnlint.yaml": settings})  # fmt: skip
    return tmp_path


def test_no_record_hides_a_finding_unless_the_settings_allow_it(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ["PA201"], ["all"], settings="")
    assert found(folder) == ["a.jsonl:PA201:error"] * 2
    put(folder, **{"turnlint.yaml": "ignores-in-records: /metadata/other\n"})
    done = turnlint(folder, "lint")
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    "value",
    [
        ["PA201"], ["unanswered-call"], ["pairing"], ["PA"], ["all"], ["ST110", "PA201"],
        [{"rules": "PA201", "reason": "cut on purpose"}], [{"rules": ["PA201"]}], {"rules": ["PA201"], "reason": "known"},
        ["ST110", {"rules": ["PA2"]}],
    ],
)  # fmt: skip
def test_findings_that_a_record_ignores_are_hidden_and_counted(tmp_path: Path, value: Any) -> None:
    folder = folder_with(tmp_path, value)
    put(folder, **{"b.jsonl": unanswered("t", "c1") + "\n"})
    assert found(folder) == ["b.jsonl:PA201:error"]
    done = turnlint(folder, "lint", "a.jsonl")
    assert done.returncode == 0
    assert done.stdout.endswith("Not shown: 1 ignored in records.\n")
    report = json.loads(turnlint(folder, "lint", "--output-format", "json").stdout)
    assert report["summary"]["ignored"] == {"ignore in records": 1}
    schema = json.loads((ROOT / "lint" / "turnlint" / "schemas" / "report-v1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(report)


def test_every_output_hides_them(tmp_path: Path) -> None:
    from turnlint.report import FORMATS

    folder = folder_with(tmp_path, ["PA201"])
    for name in FORMATS:
        done = turnlint(folder, "lint", "--output-format", name)
        assert (done.returncode, "call `c1`" in done.stdout) == (0, False), name


def test_a_record_ignores_only_its_own_findings(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ["PA201"], [], ["PA202"])
    rows = [
        json.loads(line)
        for line in turnlint(folder, "lint", "--output-format", "jsonl").stdout.splitlines()[:-1]
    ]
    assert [row["line"] for row in rows] == [2, 3]


def test_a_key_inside_of_a_list_applies_to_its_element(tmp_path: Path) -> None:
    quiet = {**EMPTY, "metadata": {"turnlint": ["ST110"]}}
    messages = [USER, quiet, USER, EMPTY, USER]
    settings = "ignores-in-records: /messages/*/metadata/turnlint\n"
    put(tmp_path, **{"a.jsonl": json.dumps({"messages": messages}) + "\n", "turnlint.yaml": settings})
    rows = [
        json.loads(line)
        for line in turnlint(tmp_path, "lint", "--output-format", "jsonl").stdout.splitlines()[:-1]
    ]
    assert [row["pointer"] for row in rows] == ["/messages/3"]
    turnlint(tmp_path, "fix", "a.jsonl")
    assert json.loads((tmp_path / "a.jsonl").read_text())["messages"] == [USER, quiet, USER, USER]


def test_records_in_one_document_are_records(tmp_path: Path) -> None:
    records = [
        json.loads(record_with(["PA201"], "s-1")),
        json.loads(record_with([], "s-2")),
        json.loads(record_with(["PA20"], "s-3")),
    ]
    put(tmp_path, **{"a.json": json.dumps(records, indent=1), "turnlint.yaml": SETTINGS})
    rows = json.loads(turnlint(tmp_path, "lint", "--output-format", "json").stdout)["findings"]
    assert [row["conversation"]["id"] for row in rows] == ["s-2"]


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_useless_keys_are_reported(tmp_path: Path, jobs: str) -> None:
    folder = folder_with(tmp_path, ["PA201", "ST110"], [{"rules": ["PA202"], "reason": "known"}])
    assert turnlint(folder, "lint", "-j", jobs).stderr == (
        "turnlint: a.jsonl:1: /metadata/turnlint/1: unused ignore of ST110: it matches no finding here; remove it\n"
        "turnlint: a.jsonl:2: /metadata/turnlint/0: unused ignore of PA202: it matches no finding here; remove it\n"
    )
    assert turnlint(folder, "lint", "--select", "PA201").stderr == ""


def test_many_useless_keys_are_counted(tmp_path: Path) -> None:
    sound = [USER, {"role": "assistant", "content": "Hello."}]
    put(tmp_path, **{"a.jsonl": "".join(record_with(["ST110"], f"s-{number}", sound) for number in range(250)),
                     "turnlint.yaml": SETTINGS})  # fmt: skip
    lines = turnlint(tmp_path, "lint").stderr.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "turnlint: and 230 more ignores in records that match no finding"
    put(tmp_path, **{"a.jsonl": "".join(record_with([f"no-{number}"]) for number in range(250))})
    for jobs in ("1", "2"):
        lines = turnlint(tmp_path, "lint", "-j", jobs).stderr.splitlines()
        assert len(lines) == 21
        assert lines[-1] == "turnlint: and 230 more ignores in records that are not valid"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("PA201", ": expected a list of rules, got a string"),
        (True, ": expected a list of rules, got true or false"),
        (None, ": expected a list of rules, got nothing"),
        (7, ": expected a list of rules, got a number"),
        ([7], ": expected rules, or mappings with `rules` and `reason`, got a number"),
        ([["PA201"]], ": expected rules, or mappings with `rules` and `reason`, got a list"),
        ({}, ": `rules`: expected a rule or a list of rules"),
        ({"rules": []}, ": `rules`: expected a rule or a list of rules"),
        ({"rules": [1]}, ": `rules`: expected a rule or a list of rules"),
        (
            {"rules": ["PA201"], "until": "2030-01-01"},
            ": a mapping may only have the keys `rules` and `reason`",
        ),
        ({"rules": ["PA201"], "reason": 1}, ": `reason`: expected a string, got a number"),
        (["PA201"] * 101, ": names more than 100 rules"),
        pytest.param(["ST110"] * 1_000_000, ": names more than 100 rules", marks=pytest.mark.slow),
        (["PA999"], "/0: unknown rule 'PA999'"),
        ([""], "/0: unknown rule ''"),
        (["x" * 5000], "/0: unknown rule '" + "x" * 60 + "…'"),
    ],
    ids=range(16),
)
def test_invalid_values_have_no_effect_and_are_reported(tmp_path: Path, value: Any, expected: str) -> None:
    folder = folder_with(tmp_path, value)
    done = turnlint(folder, "lint", "--output-format", "concise")
    assert (done.returncode, done.stdout.count("PA201[error]")) == (1, 1)
    assert done.stderr == f"turnlint: a.jsonl:1: /metadata/turnlint{expected}\n"
    assert turnlint(folder, "fix", "a.jsonl").returncode == 0
    after = json.loads((folder / "a.jsonl").read_text())
    assert (after["metadata"]["turnlint"], len(after["messages"])) == (value, 4)


def test_invalid_values_do_not_affect_their_neighbours(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ["PA999", "PA201"])
    done = turnlint(folder, "lint")
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)


def test_texts_of_a_record_cannot_control_a_terminal_or_a_log(tmp_path: Path) -> None:
    evil = "\x1b[31m\n::error::pwned\u202e"
    folder = folder_with(tmp_path, [evil], [{"rules": ["PA201"], "reason": evil}], {evil: 1})
    for name in ("text", "github", "json", "junit", "sarif"):
        done = turnlint(folder, "lint", "--output-format", name)
        for stream in (done.stdout, done.stderr):
            assert "\x1b" not in stream
            assert "\u202e" not in stream
            assert "\n::error::pwned" not in stream


@pytest.mark.slow
def test_odd_values_never_break_a_run(tmp_path: Path) -> None:
    chance = random.Random(7)  # noqa: S311 - the same values in every run

    def odd(depth: int) -> Any:
        pieces: list[Any] = [
            None,
            True,
            -1,
            1e300,
            "",
            "PA201",
            "all",
            "own/x",
            "\ud800",
            "ST",
            "rules",
            "reason",
            [],
            {},
        ]
        kind = chance.randrange(4) if depth else 0
        if kind == 1:
            return [odd(depth - 1) for _ in range(chance.randrange(4))]
        if kind == 2:
            return {str(odd(0)): odd(depth - 1) for _ in range(chance.randrange(4))}
        return {"rules": odd(depth - 1), "reason": odd(0)} if kind == 3 else chance.choice(pieces)

    values = [odd(3) for _ in range(400)]
    folder = folder_with(tmp_path, *values)
    for command in (["lint"], ["lint", "-j", "2"], ["fix", "--check", "a.jsonl"], ["baseline", "write"]):
        done = turnlint(folder, *command, TURNLINT_TRACEBACK="1")
        assert done.returncode in (0, 1), done.stderr[-800:]
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "pattern", ["", "/**", "/*/*", "/**/turnlint", "/messages/*/**", "/metadata/turnlint/**", "/a~1b/c~0"]
)
def test_a_pattern_with_any_target_breaks_nothing(tmp_path: Path, pattern: str) -> None:
    folder = folder_with(tmp_path, ["PA201"], settings=f"ignores-in-records: '{pattern}'\n")
    done = turnlint(folder, "lint", TURNLINT_TRACEBACK="1")
    assert done.returncode in (0, 1), done.stderr[-800:]
    assert len(done.stderr.splitlines()) <= 42


def test_damaged_records_are_read_too_and_hide_no_damage_of_others(tmp_path: Path) -> None:
    twice = record_with(["ST102", "PA201"]).replace('"id": "s-1"', '"id": "s-1", "id": "s-1"')
    put(tmp_path, **{"a.jsonl": twice + '{"metadata": {"turnlint": ["all"]}, "messages": [\n' + record_with([]),
                     "turnlint.yaml": SETTINGS})  # fmt: skip
    rows = [
        json.loads(line)
        for line in turnlint(tmp_path, "lint", "--output-format", "jsonl").stdout.splitlines()[:-1]
    ]
    assert 1 not in [row["line"] for row in rows]
    assert ("PA201", 3) in [(row["code"], row["line"]) for row in rows]


# Effects on fix.


def test_fix_leaves_ignored_findings_and_their_keys(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ["PA201"], ["ST110"], [])
    before = (folder / "a.jsonl").read_text().splitlines()
    assert "would be repaired" in turnlint(folder, "fix", "a.jsonl", "--check").stdout
    turnlint(folder, "fix", "a.jsonl")
    after = (folder / "a.jsonl").read_text().splitlines()
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert after[2] != before[2]
    words = [json.loads(line)["metadata"] for line in after]
    assert words == [{"turnlint": ["PA201"]}, {"turnlint": ["ST110"]}, {"turnlint": []}]
    put(folder, **{"turnlint.yaml": ""})
    turnlint(folder, "fix", "a.jsonl")
    assert (folder / "a.jsonl").read_text().splitlines()[0] != before[0]


def test_fix_does_not_remove_the_key_of_a_record(tmp_path: Path) -> None:
    """A provider that does not know the key would have it removed; that is reported, and not done."""
    first = {**USER, "turnlint": ["ST110"], "extra": 1}
    record = {
        "model": "m",
        "messages": [first, {"role": "assistant", "content": "Hello."}, {**USER, "extra": 1}],
    }
    put(tmp_path, **{"a.jsonl": json.dumps({**record, "tools": []}) + "\n"})

    def left(name: str) -> list[set[str]]:
        turnlint(tmp_path, "fix", "a.jsonl", "--provider", "mistral", "--level", "lossy", "-o", name)
        messages = json.loads((tmp_path / name).read_text())["messages"]
        return [item.keys() & {"turnlint", "extra"} for item in (messages[0], messages[2])]

    assert left("bare.jsonl") == [set(), set()]
    put(tmp_path, **{"turnlint.yaml": "ignores-in-records: /messages/*/turnlint\n"})
    assert left("kept.jsonl") == [{"turnlint"}, set()]
    assert "PR317" in turnlint(tmp_path, "lint", "--provider", "mistral", "--output-format", "concise").stdout


def test_a_message_with_such_a_key_is_not_dropped(tmp_path: Path) -> None:
    orphan = {"role": "tool", "tool_call_id": "x", "content": "18", "metadata": {"turnlint": ["ST110"]}}
    other = {"role": "tool", "tool_call_id": "y", "content": "19"}
    put(tmp_path, **{"a.jsonl": json.dumps({"messages": [USER, orphan, other, USER]}) + "\n",
                     "turnlint.yaml": "ignores-in-records: /messages/*/metadata/turnlint\n"})  # fmt: skip
    turnlint(tmp_path, "fix", "a.jsonl", "--level", "lossy")
    messages = json.loads((tmp_path / "a.jsonl").read_text())["messages"]
    assert orphan in messages
    assert other not in messages


def test_sessions_use_the_record_of_the_finding(tmp_path: Path) -> None:
    messages = [{"conversation_id": "s", **item} for item in BODY]
    ignoring = {**messages[1], "metadata": {"turnlint": ["PA201"]}}
    settings = {"turnlint.yaml": SETTINGS}
    put(
        tmp_path,
        **{
            "a.jsonl": "".join(json.dumps(item) + "\n" for item in (messages[0], ignoring, messages[2])),
            **settings,
        },
    )
    assert found(tmp_path) == []
    assert "nothing to repair" in turnlint(tmp_path, "fix", "a.jsonl", "--check").stdout
    first = {**messages[0], "metadata": {"turnlint": ["PA201"]}}
    put(tmp_path, **{"a.jsonl": "".join(json.dumps(item) + "\n" for item in (first, *messages[1:]))})
    assert found(tmp_path) == ["a.jsonl:PA201:error"]


def test_it_works_together_with_ignores_and_baselines(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ["PA201"], [], ["own/n"])
    put(folder, **{"turnlint.yaml": SETTINGS + "ignore: [{conversation: s-1, reason: known}]\n"
                   "rules: [{name: n, message: m, pointer: /metadata/turnlint, when: {longer-than: 0}}]\n"})  # fmt: skip
    done = turnlint(folder, "baseline", "write", "--baseline", "known.baseline")
    assert "2 entries" in done.stdout
    done = turnlint(folder, "lint", "--baseline", "known.baseline")
    assert "Not shown: 2 in the baseline, 1 ignored, 2 ignored in records." in done.stdout
    assert done.stderr == ""


def test_a_cached_run_is_the_same(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ["PA201"], [])
    runs = [cached(folder) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    assert json.loads(runs[1].stdout)["summary"]["ignored"] == {"ignore in records": 1}
    assert list((folder / "cache").iterdir())
    put(folder, **{"turnlint.yaml": ""})
    assert json.loads(cached(folder).stdout)["summary"]["findings"]["error"] == 2


def test_an_invalid_setting_is_reported(tmp_path: Path) -> None:
    for text, expected in (
        ("ignores-in-records: metadata\n", "'metadata' is not a JSON Pointer: expected a leading slash"),
        ("ignores-in-records: [/a]\n", "expected a string, got a list"),
    ):
        done = turnlint(folder_with(tmp_path, [], settings=text), "lint")
        assert (done.returncode, expected in done.stderr) == (2, True)
