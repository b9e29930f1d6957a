"""`lint --statistics=BY` counts findings, independently of the way of reading."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hostile import POISONS, assert_safe, lint
from reporting import call, conversation, lines, row
from test_report import SCHEMA
from turnlint.documents.source import Source
from turnlint.engine import Book, Options
from turnlint.engine import lint as events_of
from turnlint.report.statistics import Count, table_of
from turnlint.rows import Row, Said

UNKNOWN = "(unknown)"


def broken(name: str, **more: Any) -> dict[str, Any]:
    return {**conversation(name, sound=False), **more}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    first = [
        broken("a", model="gpt-5", created=1_767_225_599),
        broken("b", model="gpt-5", timestamp="2026-01-01T00:00:00+09:00"),
        broken("c", created_at="2026-01-02 03:04:05"),
        conversation("d"),
    ]
    (folder / "a.jsonl").write_text(lines(*first), encoding="utf-8")
    second = broken("e", request={"model": "kimi-k2"}, metadata={"created_at": 1_767_225_600_000})
    (folder / "b.jsonl").write_text(lines(second), encoding="utf-8")
    empty = {"id": "f", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": ""}]}
    (folder / "c.jsonl").write_text(lines(empty, conversation("g")), encoding="utf-8")
    return tmp_path


def statistics(folder: Path, by: str, *more: str) -> dict[str, Any]:
    done = lint("logs", f"--statistics={by}", "--output-format", "json", *more, cwd=folder)
    document = json.loads(done.stdout)
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(document)] == []
    found: dict[str, Any] = document["summary"]["statistics"]
    assert (found["schema"], found["by"]) == ("turnlint/statistics-v1", by)
    for level, count in document["summary"]["findings"].items():
        listed = sum(count["findings"][level] for count in found["counts"])
        assert listed + found["others"]["findings"][level] == count
    return found


def counted(folder: Path, by: str, *more: str) -> list[tuple[str | None, int]]:
    found = statistics(folder, by, *more)
    assert found["others"]["keys"] == 0
    return [(count["key"], sum(count["findings"].values())) for count in found["counts"]]


def test_findings_are_counted_by_each_property(logs: Path) -> None:
    assert counted(logs, "file") == [("logs/a.jsonl", 6), ("logs/b.jsonl", 2), ("logs/c.jsonl", 1)]
    assert counted(logs, "model") == [("gpt-5", 4), (None, 3), ("kimi-k2", 2)]
    days = [("2025-12-31", 2), ("2026-01-01", 4), ("2026-01-02", 2), (None, 1)]
    assert counted(logs, "day") == days
    assert counted(logs, "provider") == [(None, 5), ("openai", 4)]
    rules = json.loads(lint("logs", "--output-format", "json", cwd=logs).stdout)["summary"]["rules"]
    assert dict(counted(logs, "rule")) == rules


def test_the_table_has_the_same_counts(logs: Path) -> None:
    for by in ("file", "model", "provider", "day"):
        header, *rows = (
            lint("logs", f"--statistics={by}", cwd=logs).stdout.decode().split("\n\n")[-2].split("\n")
        )
        assert header.split() == [by, "findings", "errors", "warnings", "info"]
        sums = [(line.split("  ")[0], sum(map(int, line.split()[-3:]))) for line in rows]
        unsaid = "(no provider)" if by == "provider" else UNKNOWN
        assert sums == [(key or unsaid, count) for key, count in counted(logs, by)]


def test_without_a_value_it_counts_by_rule_and_takes_no_path_as_its_value(logs: Path) -> None:
    bare = lint("--statistics", "logs", cwd=logs)
    assert bare.returncode == 1
    assert bare.stdout == lint("logs", "--statistics=rule", cwd=logs).stdout
    assert b"\norphan-result    4\n" in bare.stdout
    assert b"statistics" not in lint("logs", "--output-format", "json", cwd=logs).stdout
    wrong = lint("logs", "--statistics=dya", cwd=logs)
    assert (wrong.returncode, wrong.stderr.count(b"did you mean 'day'?")) == (2, 1)


def test_findings_in_the_baseline_are_not_counted(logs: Path) -> None:
    (logs / "turnlint.yaml").write_text("ignore:\n  - {rule: orphan-result, reason: old}\n", encoding="utf-8")
    assert counted(logs, "model") == [("gpt-5", 2), (None, 2), ("kimi-k2", 1)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("by", ["file", "model", "day"])
def test_counts_are_the_same_with_more_processes_and_from_a_cache(tmp_path: Path, by: str) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(520):  # enough files for a second process
        record = broken(f"s{number}", model=f"m{number % 7}", created=1_767_225_600 + 40_000 * (number % 11))
        (folder / f"{number}.jsonl").write_text(lines(record), encoding="utf-8")
    options = ("logs", f"--statistics={by}", "--output", "json:out.json")
    one = lint(*options, "-j", "1", cwd=tmp_path)
    report = (tmp_path / "out.json").read_bytes()
    env = {"TURNLINT_CACHE": str(tmp_path / "kept")}
    for more in (("-j", "2"), ("--cache", "-j", "2"), ("--cache",)):
        assert lint(*options, *more, cwd=tmp_path, env=env).stdout == one.stdout
        assert (tmp_path / "out.json").read_bytes() == report
    assert len(list((tmp_path / "kept").iterdir())) == 520


def found_in(tmp_path: Path, *records: Any) -> set[tuple[str, str]]:
    path = tmp_path / "a.jsonl"
    path.write_text(lines(*records), encoding="utf-8")
    options = Options(says=True)
    rows = [
        item for item in events_of(Source("a", str(path)), options, Book(options)) if isinstance(item, Row)
    ]
    assert rows
    data_of_rows = [row.said for row in rows if row.said]
    return {(next(iter(row.models), ""), row.day) for row in data_of_rows}


def test_data_of_a_session_are_read_line_by_line(tmp_path: Path) -> None:
    def line(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
        return {
            "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "type": role, "sessionId": "s",
            "timestamp": f"2026-03-0{number + 1}T23:59:59.000Z", "message": {"role": role, "content": content, **more},
        }  # fmt: skip

    use = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}
    records = [
        line(0, "user", "hi"),
        line(1, "assistant", [use], model="claude-sonnet-4-5", id="msg_1", type="message"),
        line(2, "user", "and?"),
        line(3, "user", "well?"),
    ]
    assert ("claude-sonnet-4-5", "2026-03-02") in found_in(tmp_path, *records)


def test_data_of_messages_on_lines_are_read_from_the_message_or_its_conversation(tmp_path: Path) -> None:
    ask = {
        "conversation_id": "c",
        "role": "assistant",
        "content": None,
        "tool_calls": [call("c1")],
        "model": "m1",
    }
    result = {
        "conversation_id": "c",
        "role": "tool",
        "tool_call_id": "c1",
        "content": "x",
        "created_at": "2026-02-03",
    }
    between = {"conversation_id": "c", "role": "user", "content": "well?"}
    assert found_in(tmp_path, ask, between, result) == {("m1", "2026-02-03")}


@pytest.mark.parametrize(
    ("written", "day"),
    [
        (1_767_225_600, "2026-01-01"), (1_767_225_600.5, "2026-01-01"), (1_767_225_600_000, "2026-01-01"),
        (1_767_225_600_000_000_000, "2026-01-01"), ("2026-01-01T00:00:00Z", "2026-01-01"), ("2026-01-01", "2026-01-01"),
        ("2026-13-01", ""), ("2026-01-011", ""), ("yesterday", ""), (0, ""), (-1, ""), (True, ""), (None, ""), (1e300, ""),
        ([], ""), ("٢٠٢٦-01-01", ""),
    ],
)  # fmt: skip
def test_a_date_must_exist_and_the_clock_is_not_read(tmp_path: Path, written: Any, day: str) -> None:
    assert found_in(tmp_path, broken("a", timestamp=written)) == {("", day)}


def of(model: str, times: int) -> list[Row]:
    base = row("error", 1)
    return [Row(base.finding, base.path, base.place, said=Said((model,))) for _ in range(times)]


def test_the_number_of_rows_is_bounded_and_the_rest_is_summed() -> None:
    count = Count("model", most=3)
    names = [f"m{number:03}" for number in range(100)]
    for number, name in enumerate(names):
        for item in of(name, 5 if number in (10, 50, 90) else 1):
            count.take(item)
        assert len(count.counts) <= 6
    kept, others = count.listed(3)
    assert [(key, counts["error"]) for key, counts in kept] == [("m010", 5), ("m050", 5), ("m090", 5)]
    assert (others.keys, others.findings["error"]) == (97, 97)
    _, rows = table_of(count)
    assert rows[-1][:2] == [f"({100 - len(rows) + 1} more)", str(112 - 15 - (len(rows) - 4))]


def test_names_are_plain_text(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    records = [
        broken(str(number), model=poison, date=poison) for number, poison in enumerate(POISONS.values())
    ]
    (folder / "a.jsonl").write_bytes(
        "".join(json.dumps(record) + "\n" for record in records).encode("utf-8", "surrogatepass")
    )
    for by in ("model", "day", "file"):
        for kind in ("text", "json", "jsonl"):
            done = lint("logs", f"--statistics={by}", "--output-format", kind, cwd=tmp_path)
            assert done.returncode == 1
            assert_safe(done.stdout, kind)
    keys = [count["key"] for count in statistics(tmp_path, "model")["counts"]]
    assert len(keys) > 15
    assert max(map(len, filter(None, keys))) <= 501


def test_a_run_without_statistics_does_not_load_the_module(logs: Path) -> None:
    for arguments, loaded in (((), False), (("--statistics=day",), True)):
        program = (
            "import sys, os; os._exit = lambda code: None\n"
            f"sys.argv = ['turnlint', 'lint', 'logs', *{arguments!r}]\n"
            "from turnlint.cli import main\nmain()\nprint('\\n'.join(sys.modules), file=sys.stderr)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=logs, capture_output=True, text=True, check=False
        )
        names = set(done.stderr.split())
        assert ({"turnlint.provenance", "turnlint.report.statistics", "tabulate"} <= names) is loaded
        assert loaded or not {"turnlint.provenance", "turnlint.report.statistics", "tabulate"} & names
