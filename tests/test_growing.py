"""The findings during the growth of a log are those of the complete log, for any kind of growth."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from damaged_logs import FORMS as FORMS_OF_LINES
from damaged_logs import log, place_in
from reporting import conversation, lines
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, Tally, lint
from turnlint.rows import Row
from turnlint.spread import growing
from turnlint.spread.growing import Growing, Note
from turnlint.spread.here import Question

FORMATS = Path(__file__).parent.parent / "fixtures" / "formats"
OPTIONS = Options(fingerprints=True, view=True, content="excerpt")
QUESTION = Question(OPTIONS, Book(OPTIONS))
MIXED = "records-of-two-wires-in-one-file.jsonl"
"""The first twenty records determine the format, and some of them are missing at first."""
LOGS = sorted(path for path in FORMATS.rglob("*.jsonl") if ".fixed." not in path.name and path.name != MIXED)


class Watched:
    """A log that is read while it grows."""

    def __init__(self, path: Path) -> None:
        self.growing = Growing(Source(path.name, str(path)), QUESTION)
        self.rows: list[Row] = []
        self.notes: list[str] = []
        self.tally = Tally()

    def look(self, *, last: bool = False) -> None:
        for event in self.growing.look(last=last):
            if isinstance(event, Row):
                self.rows.append(event)
            elif isinstance(event, Note):
                self.notes.append(event.words)
            elif isinstance(event, Tally):
                self.tally.add(event)


def whole(path: Path) -> tuple[list[Row], Tally]:
    *events, tally = lint(Source(path.name, str(path)), OPTIONS, QUESTION.book)
    assert isinstance(tally, Tally)
    return [event for event in events if isinstance(event, Row)], tally


def shown(rows: list[Row]) -> set[tuple[str, str]]:
    """Findings by the parts that are equal in two runs: the number of messages of a finding may change as a log grows."""
    return {(row.finding.code, row.fingerprint) for row in rows}


def grow(path: Path, data: bytes, cuts: list[int]) -> Watched:
    path.write_bytes(b"")
    watched = Watched(path)
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    with path.open("ab") as file:
        for start, end in pairwise(places):
            file.write(data[start:end])
            file.flush()
            watched.look()
    watched.look(last=True)
    return watched


def assert_same(watched: Watched, path: Path) -> None:
    rows, tally = whole(path)
    gone = sum(int(words.split()[0]) for words in watched.notes if words.endswith("gone"))
    assert shown(rows) <= shown(watched.rows)
    assert len(watched.rows) == len(rows) + gone
    counted = ("files", "conversations", "messages", "calls", "results", "skipped", "crashes")
    assert [getattr(watched.tally, name) for name in counted] == [getattr(tally, name) for name in counted]
    counts: dict[str, int] = {}
    for row in watched.rows:
        counts[row.finding.rule] = counts.get(row.finding.rule, 0) + 1
    assert watched.tally.rules == counts
    assert {key: count for key, count in watched.tally.providers.items() if count} == tally.providers


@pytest.mark.sampled(4)
@pytest.mark.parametrize("log", LOGS, ids=lambda path: f"{path.parent.name}: {path.name}")
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 1 << 16), max_size=8))
def test_a_log_of_any_format_in_pieces_of_any_size(tmp_path: Path, log: Path, cuts: list[int]) -> None:
    path = tmp_path / "a.jsonl"
    assert_same(grow(path, log.read_bytes(), cuts), path)


def broken(name: str, **more: Any) -> dict[str, Any]:
    return {**more, "messages": [{"role": "tool", "tool_call_id": name, "content": "x"}]}


def test_lines_with_whole_conversations_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[int, int]] = []
    packed = growing.pack

    def pack(source: Source, question: Question) -> Any:
        assert source.part
        read.append((source.part.start, source.part.end))
        return packed(source, question)

    monkeypatch.setattr(growing, "pack", pack)
    monkeypatch.setattr(growing, "STRETCH", 1000)
    records = [lines(conversation(str(number), sound=number % 5 > 0)).encode() for number in range(60)]
    path = tmp_path / "a.jsonl"
    assert_same(grow(path, b"".join(records), [900 * number for number in range(40)]), path)
    size = path.stat().st_size
    assert [start for start, _ in read[1:]] == [end for _, end in read[:-1]]
    assert (read[0][0], read[-1][1]) == (0, size)
    assert max(end - start for start, end in read) < 1000 + max(map(len, records))


def test_a_log_whose_lines_become_one_conversation_is_read_as_one(tmp_path: Path) -> None:
    alone = [broken(f"c{number}") for number in range(3)]
    keyed = [
        {"conversation_id": "k", "role": "tool", "tool_call_id": f"k{number}", "content": "x"}
        for number in range(3)
    ]
    path = tmp_path / "a.jsonl"
    data = lines(*alone, *keyed).encode()
    at = [len(lines(*alone[:1])), len(lines(*alone)), len(lines(*alone, *keyed[:1]))]
    watched = grow(path, data, at)
    assert_same(watched, path)
    assert watched.growing.whole
    assert [row.finding.call_id for row in watched.rows] == ["c0", "c1", "c2", "k0", "k1", "k2"]


def test_windows_line_ends_are_reported_once(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    data = lines(*[broken(f"c{number}") for number in range(4)]).replace("\n", "\r\n").encode()
    assert_same(grow(path, data, [70, 130, 200]), path)


def test_a_rewrite_in_place_is_detected_even_at_equal_length(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(lines(broken("c1"), broken("c2")), encoding="utf-8")
    watched = Watched(path)
    watched.look()
    path.write_text(lines(broken("d1"), broken("d2"), broken("d3")), encoding="utf-8")
    watched.look()
    assert [row.finding.call_id for row in watched.rows] == ["c1", "c2", "d1", "d2", "d3"]
    assert watched.notes == ["rewritten; read from the start"]


def test_missing_parts_of_a_moved_log_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "a.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps(broken("c1")) + "\n", encoding="utf-8")
    watched = Watched(path)
    watched.look()
    path.rename(tmp_path / "elsewhere.jsonl")
    watched.look()
    watched.look()
    assert watched.notes == ["deleted; it will be read from the start if it appears again"]
    path.write_text(lines(broken("c3"), broken("c4")), encoding="utf-8")
    watched.look()
    assert [row.finding.call_id for row in watched.rows] == ["c1", "c3", "c4"]


@pytest.mark.parametrize("form", FORMS_OF_LINES)
def test_a_split_record_is_one_finding_when_its_lines_come_one_by_one(tmp_path: Path, form: str) -> None:
    data = log(form)
    path = tmp_path / "a.jsonl"
    for line in (0, 2, data.count(b"\n") - 1):
        at = place_in(data, line, b", ")
        broken = data[:at] + b"\n" + data[at:]
        ends = [item.end() for item in re.finditer(rb"\n", broken)]
        watched = grow(path, broken, ends)
        assert watched.notes == []
        assert [(row.place.line, row.finding.message) for row in watched.rows] == [
            (line + 1, "line breaks split this record over 2 lines; a record needs a line of its own")
        ]
        assert_same(watched, path)


def test_a_torn_line_is_reported_with_the_next_record_or_at_the_end(tmp_path: Path) -> None:
    sound = [lines(conversation(str(number))).encode() for number in range(3)]
    torn = sound[1][:60] + b"\n"
    path = tmp_path / "a.jsonl"
    path.write_bytes(sound[0] + torn)
    watched = Watched(path)
    watched.look()
    assert watched.rows == []
    with path.open("ab") as file:
        file.write(sound[2] + torn)
    watched.look()
    assert [row.place.line for row in watched.rows] == [2]
    watched.look(last=True)
    assert [row.place.line for row in watched.rows] == [2, 4]
    assert_same(watched, path)
