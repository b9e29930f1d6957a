"""The output does not depend on the number of processes, and the death of one is reported.

Stretches are short, so that small logs are split often and at every kind of position.
"""

import gzip
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from turnlint.cli import cli
from turnlint.documents.source import Source
from turnlint.engine import Book, Crash, Options, Tally
from turnlint.rows import Row
from turnlint.spread import cutting, running
from turnlint.spread.here import Done, Of, Question, here
from turnlint.spread.keeping import kept, restored
from turnlint.spread.running import spread

OPTIONS = Options(fingerprints=True, view=True, content="excerpt")


def conversation_of(number: int, *, broken: bool = False, keyed: bool = False) -> list[bytes]:
    name = f"call_{number:012}"
    call = {"id": name, "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "go " * (number % 7 + 1)},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        *([] if broken else [{"role": "tool", "tool_call_id": name, "content": "done"}]),
        {"role": "assistant", "content": "so it is"},
    ]
    if keyed:
        return [json.dumps({"conversation_id": f"c{number}", **message}).encode() for message in messages]
    return [json.dumps({"model": "gpt-4.1", "messages": messages}).encode()]


def rows_and_counts(events: Any) -> tuple[list[Any], dict[str, Any]]:
    """The shown rows of a report in order, and the counts."""
    total, shown = Tally(), []
    for event in events:
        if isinstance(event, Tally):
            total.add(event)
        elif isinstance(event, Row):
            shown.append(kept(event))
        elif not isinstance(event, Done):
            shown.append(event)
    return shown, {name: getattr(total, name) for name in total.__struct_fields__}


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "STRETCH", 900)
    monkeypatch.setattr(cutting, "BUNDLE", 2000)


def asking(options: Options = OPTIONS) -> Of:
    """The same options for each source."""
    question = Question(options, Book(options))
    return lambda _: question


def both(paths: list[Path], options: Options = OPTIONS) -> tuple[Any, Any, int]:
    sources = [Source(path.name, str(path)) for path in paths]
    tasks = list(cutting.cut(sources, cutting.Questions(asking(options)), 2))
    one = rows_and_counts(here(sources, asking(options), None))
    two = rows_and_counts(spread(sources, asking(options), 2, None))
    return one, two, len(tasks)


LINES = st.one_of(
    st.builds(conversation_of, st.integers(0, 99), broken=st.booleans()),
    st.builds(conversation_of, st.integers(0, 99), broken=st.booleans()),
    st.builds(conversation_of, st.integers(0, 99), broken=st.booleans(), keyed=st.just(True)),
    st.sampled_from([[b""], [b"  "], [b'{"messages": ['], [b"{}\r"], [b'{"x": 1}'], [b"\xff"], [b"[1]"], [conversation_of(1)[0] + b"\r"]]),
)  # fmt: skip


@pytest.mark.slow
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    head=st.integers(0, 30),
    some=st.lists(LINES, min_size=1, max_size=40),
    end=st.sampled_from([b"", b"\n", b"\n\n"]),
)
@example(  # drawing selects in another order than the output
    head=1,
    some=[
        conversation_of(0),
        conversation_of(0, broken=True),
        *(conversation_of(number, broken=True, keyed=True) for number in (1, 0, 1)),
    ],
    end=b"",
)
@pytest.mark.usefixtures("short")
def test_splits_do_not_change_the_report(
    tmp_path: Path, head: int, some: list[list[bytes]], end: bytes
) -> None:
    path = tmp_path / "log.jsonl"
    first = [line for number in range(head) for line in conversation_of(number)]
    path.write_bytes(b"\n".join([*first, *(line for lines in some for line in lines)]) + end)
    one, two, _ = both([path])
    assert two == one


@pytest.mark.usefixtures("short")
def test_a_long_log_is_split_and_small_files_are_combined(tmp_path: Path) -> None:
    long = tmp_path / "long.jsonl"
    long.write_bytes(
        b"\n".join(line for number in range(60) for line in conversation_of(number, broken=number % 5 == 0))
    )
    small = [tmp_path / f"{number}.jsonl" for number in range(9)]
    for number, path in enumerate(small):
        path.write_bytes(conversation_of(number, broken=number == 4)[0])
    one, two, tasks = both([*small[:5], long, *small[5:]])
    assert two == one
    assert 10 < tasks < 40
    assert len(one[0]) == 13
    assert sum(bool(row.view) for row in one[0]) == 3 + 1  # three of each shape in a file


@pytest.mark.usefixtures("short")
def test_a_log_with_a_message_per_line_is_not_split(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join(line for number in range(60) for line in conversation_of(number, keyed=True)))
    one, two, tasks = both([path])
    assert two == one
    assert tasks == 1


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_packed_log_of_any_name_is_not_split(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path, plain = tmp_path / "log.jsonl", tmp_path / "plain.jsonl"
    plain.write_bytes(
        b"\n".join(line for number in range(900) for line in conversation_of(number, broken=number % 90 == 0))
    )
    path.write_bytes(pack(plain.read_bytes()))
    assert path.stat().st_size > 2 * cutting.STRETCH
    one, two, tasks = both([path])
    assert two == one
    assert tasks == 1
    assert len(one[0]) == len(both([plain])[0][0])


@pytest.mark.usefixtures("short")
def test_a_process_that_dies_is_reported_with_its_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join(line for number in range(60) for line in conversation_of(number)))
    sources = [Source(path.name, str(path))]
    parts = [task.sources[0].part for task in cutting.cut(sources, cutting.Questions(asking()), 2)]
    victim = parts[2]
    assert victim

    def dying(source: Source, question: Question) -> Any:
        if source.part == victim:
            os.kill(os.getpid(), signal.SIGKILL)
        return pack(source, question)

    pack = running.pack
    monkeypatch.setattr(running, "pack", dying)
    shown, total = rows_and_counts(spread(sources, asking(), 2, None))
    (crash,) = shown
    assert isinstance(crash, Crash)
    assert f"bytes {victim.start:,} to {victim.end:,}" in crash.rule
    assert crash.reason == "stopped by signal 9"
    assert crash.line == path.read_bytes()[: victim.start].count(b"\n") + 1
    assert total["crashes"] == 1
    data = path.read_bytes()
    assert total["conversations"] == 60 - len(data[victim.start : victim.end].split(b"\n")[:-1])


def test_a_stored_row_shows_the_same_text(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(conversation_of(1, broken=True)[0])
    rows = [
        event for event in here([Source("log.jsonl", str(path))], asking(), None) if isinstance(event, Row)
    ]
    assert rows
    assert [kept(restored(kept(row))) for row in rows] == [kept(row) for row in rows]


@pytest.mark.usefixtures("short")
def test_the_parts_of_a_file_are_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnlint.spread.worth.is_worth_it", lambda _: True)
    record = {"messages": [{"role": "user", "content": "hi", "own_key": 5}], "model": "mistral-large"}
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n" * 2000 + (json.dumps(record) + "\n").encode() * 100)
    runs = [
        CliRunner().invoke(
            cli,
            ["lint", str(path), "-j", jobs, "--provider", "mistral", "--ignore", "unreadable-record", *more],
        )
        for jobs in ("1", "2")
        for more in ([], ["--output-format", "json"], ["--fail-on-skipped", "--exit-zero"])
    ]
    assert [(run.exit_code, run.output) for run in runs[:3]] == [
        (run.exit_code, run.output) for run in runs[3:]
    ]
    assert "(100 times in this file)" in runs[0].stdout
    assert "no conversation" not in runs[0].stderr
