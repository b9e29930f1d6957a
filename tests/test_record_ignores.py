"""Ignores by the model and the date in a record, at any key of a log. The clock is not read."""

import json
from pathlib import Path
from typing import Any

import pytest

from settings import cached, found, put, turnlint, unanswered
from turnlint.provenance import day_of, said_in

BODY = json.loads(unanswered(None, "c1"))


def log(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def record(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, **BODY, **more}


MODELS = log(
    record("old", model="gpt-3.5-turbo-0125", created_at="2024-03-01T23:59:59Z"),
    record("new", model="gpt-4o", created=1_700_000_000),
    record("bare"),
    {"request": {"model": "gpt-3.5-turbo", "messages": BODY["messages"]}, "timestamp": "2025-07-01 10:00:00"},
    {"request": {"messages": BODY["messages"]}, "response": {"model": "gpt-4o-2024-08-06", "created": 1_719_792_000_000}},
)  # fmt: skip
"""2024-03-01, 2023-11-14, nothing, 2025-07-01, 2024-07-01."""


def lines(folder: Path, *arguments: str) -> list[int]:
    rows = turnlint(folder, "lint", "a.jsonl", "--output-format", "jsonl", *arguments).stdout.splitlines()[
        :-1
    ]
    return [json.loads(row)["line"] for row in rows]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path, **{"a.jsonl": MODELS})
    assert lines(tmp_path) == [1, 2, 3, 4, 5]
    return tmp_path


@pytest.mark.parametrize(
    ("selector", "left"),
    [
        ("model: gpt-3.5*", [2, 3, 5]),
        ("model: gpt-3.5-turbo", [1, 2, 3, 5]),
        ("model: [gpt-3.5*, 'gpt-4o*']", [3]),
        ("model: '*'", [3]),
        ("before: 2024-03-01", [1, 3, 4, 5]),
        ("before: 2024-03-02", [3, 4, 5]),
        ("after: 2024-03-01", [1, 2, 3]),
        ("after: 2024-02-29", [2, 3]),
        ("after: 2024-02-29, before: 2024-03-02", [2, 3, 4, 5]),
        ("after: 1900-01-01", [3]),
        ("model: gpt-4o*, before: 2024-01-01", [1, 3, 4, 5]),
        ("model: gpt-4o*, rule: ST110", [1, 2, 3, 4, 5]),
    ],
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_ignore_selects_by_the_data_of_a_record(
    folder: Path, selector: str, left: list[int], jobs: str
) -> None:
    put(folder, **{"turnlint.yaml": f"ignore: [{{{selector}, reason: known}}]\n"})
    assert lines(folder, "-j", jobs) == left


def test_fix_leaves_the_same_findings(folder: Path) -> None:
    put(folder, **{"turnlint.yaml": "ignore: [{model: gpt-3.5*, before: 2025-01-01, reason: known}]\n"})
    turnlint(folder, "fix", "a.jsonl")
    before, after = MODELS.splitlines(), (folder / "a.jsonl").read_text().splitlines()
    assert [number for number, (was, now) in enumerate(zip(before, after, strict=True), 1) if was == now] == [
        1
    ]


def test_a_cached_run_is_the_same(folder: Path) -> None:
    put(folder, **{"turnlint.yaml": "ignore: [{model: gpt-3.5*, before: 2025-01-01, reason: known}]\n"})
    runs = [cached(folder) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    assert json.loads(runs[0].stdout)["summary"]["ignored"] == {"ignore": 1}
    assert list((folder / "cache").iterdir())


def test_sessions_and_messages_on_lines_use_the_record_of_the_finding(tmp_path: Path) -> None:
    messages = [
        {"conversation_id": "s", "model": model, "timestamp": day, **message}
        for model, day, message in (
            ("m-1", "2026-01-01", BODY["messages"][0]),
            ("m-2", "2026-01-02", BODY["messages"][1]),
            ("m-3", "2026-01-03", BODY["messages"][2]),
        )
    ]
    put(tmp_path, **{"a.jsonl": log(*messages)})
    assert lines(tmp_path) == [2]
    for selector, left in (
        ("model: m-2", []),
        ("model: m-1", [2]),
        ("after: 2026-01-01, before: 2026-01-03", []),
    ):
        put(tmp_path, **{"turnlint.yaml": f"ignore: [{{{selector}, reason: known}}]\n"})
        assert lines(tmp_path) == left
        before = (tmp_path / "a.jsonl").read_text()
        turnlint(tmp_path, "fix", "a.jsonl", "-o", "out.jsonl")
        assert ((tmp_path / "out.jsonl").read_text() == before) is not left


def test_an_ignore_that_matches_nothing_is_reported(folder: Path) -> None:
    put(folder, **{"turnlint.yaml": "ignore:\n- {model: claude-*, reason: a}\n- {before: 2020-01-01, reason: b}\n"
                                    "- {model: gpt-4o, reason: c}\n"})  # fmt: skip
    words = "unused ignore: it matches no finding; remove it\n"
    assert (
        turnlint(folder, "lint").stderr
        == f"turnlint: turnlint.yaml:2:3: {words}turnlint: turnlint.yaml:3:3: {words}"
    )


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("before: 2026-02-30", "ignore[0].before: not a date: '2026-02-30'"),
        ("after: yesterday", "ignore[0].after: 'yesterday' is not a date: expected YYYY-MM-DD"),
        ("model: [1]", ""),
        ("modl: x", "unknown key 'modl'; did you mean 'model'?"),
    ],
)
def test_an_invalid_selector_is_reported(folder: Path, selector: str, expected: str) -> None:
    put(folder, **{"turnlint.yaml": f"ignore: [{{{selector}, reason: known}}]\n"})
    done = turnlint(folder, "lint")
    assert (done.returncode == 2, expected in done.stderr) == (bool(expected), True), done.stderr


def test_config_show_shows_it(folder: Path) -> None:
    put(
        folder,
        **{
            "pyproject.toml": "[tool.turnlint]\nignore = [{model = 'gpt-3*', before = 2025-01-01, reason = 'x'}]\n"
        },
    )
    assert (
        "ignore    model: gpt-3*; before: 2025-01-01; reason: x" in turnlint(folder, "config", "show").stdout
    )
    assert found(folder) == ["a.jsonl:PA201:error"] * 4


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2026-11-18", "2026-11-18"), ("2026-11-18T23:59:59.999+09:00", "2026-11-18"), ("2026-11-18 01:02", "2026-11-18"),
        (1_763_424_000, "2025-11-18"), (1_763_424_000.5, "2025-11-18"), (1_763_424_000_000, "2025-11-18"),
        (1_763_424_000_000_000, "2025-11-18"), (1_763_424_000_000_000_000, "2025-11-18"),
        ("2026-13-18", ""), ("2026-1-18", ""), ("20261118", ""), ("2026-11-188", ""), ("yesterday", ""), ("", ""),
        (0, ""), (-5, ""), (12, ""), (1e300, ""), (float("nan"), ""), (float("inf"), ""), (10**400, ""), (True, ""), (None, ""),
        ([], ""), ({}, ""), ("٢٠٢٦-١١-١٨", ""),
    ],
)  # fmt: skip
def test_a_date_is_read_in_the_spellings_of_logs(value: Any, day: str) -> None:
    assert day_of(value) == day


@pytest.mark.parametrize(
    "data",
    [
        b"", b"[]", b"null", b"1", b'"x"', b"{", b'{"model": 1, "created": "x"}', b'{"request": [1], "response": 2}',
        b'{"model": "' + b"m" * 1000 + b'"}', b'{"request": ' * 500 + b"1" + b"}" * 500, b'\xff\xfe{"model": 1}',
        b'{"created": 1' + b"0" * 5000 + b"}",
    ],
)  # fmt: skip
def test_odd_records_have_no_model_and_no_date(data: bytes) -> None:
    facts = said_in(data)
    assert (facts.models, facts.day) == ((), "")
