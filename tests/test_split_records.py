"""Records that line breaks split over lines are joined before any other step.

The logs are sessions of every agent, and one message per line of every wire.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import process_time

import pytest
from click.testing import CliRunner

import turnlint.cli.lint
from broken_logs import fix_by_default, settle
from damaged_logs import FORMS, MANY, findings, lines_with, log, place_in, repair
from turnlint.documents import joining
from turnlint.documents.source import Part
from turnlint.repair.choosing import LEVELS
from turnlint.spread.cutting import next_record


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


def split(data: bytes, *places: int, end: bytes = b"\n") -> bytes:
    out, last = b"", 0
    for place in sorted(places):
        out += data[last:place] + end
        last = place
    return out + data[last:]


def bare(data: bytes) -> bytes:
    """The bytes without escaped line breaks."""
    return re.sub(rb"\\+r|\\+n", b"", data)


@pytest.mark.covering(1)
@pytest.mark.parametrize("rounds", [2, MANY], ids=["short", "long"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("form", FORMS)
def test_a_line_break_in_a_text_becomes_an_escape(form: str, end: bytes, rounds: int) -> None:
    data = log(form, rounds)
    place = place_in(data, 0, b"result-of-1")
    escape = end.replace(b"\r", rb"\r").replace(b"\n", rb"\n")
    assert repair(split(data, place, end=end))[1] == split(data, place, end=escape)


@pytest.mark.covering(2)
@pytest.mark.parametrize("rounds", [2, MANY], ids=["short", "long"])
@pytest.mark.parametrize("where", ["first", "call", "result", "last"])
@pytest.mark.parametrize("form", FORMS)
def test_a_line_break_between_members_is_removed(form: str, where: str, rounds: int) -> None:
    data = log(form, rounds)
    results = lines_with(data, b"result-of-")
    line = {"first": 0, "call": results[1] - 1, "result": results[1], "last": data.count(b"\n") - 1}[where]
    once = split(data, place_in(data, line, b", "))
    twice = split(data, place_in(data, line, b", "), place_in(data, line, b": "))
    for broken in (once, twice):
        (row,) = findings(broken)
        assert (row.finding.rule, row.place.line) == ("unreadable-record", line + 1)
        fixed, out = repair(broken, "lossless")
        assert out == data
        assert fixed.after["error"] == 0


@pytest.mark.covering(1)
@pytest.mark.parametrize("rounds", [2, MANY], ids=["short", "long"])
@pytest.mark.parametrize("form", FORMS)
def test_no_result_is_lost_for_any_split_of_a_line(form: str, rounds: int) -> None:
    chance = Random(f"{form} {rounds}")  # noqa: S311 - the same in every run
    data = log(form, rounds)
    for _ in range(25 if rounds == MANY else 60):
        places = chance.sample(range(1, len(data) - 1), chance.choice([1, 1, 2, 3]))
        places = [place for place in places if b"\n" not in data[place - 1 : place + 1]]
        level = chance.choice(LEVELS)
        broken = split(data, *places, end=chance.choice([b"\n", b"\r\n"]))
        fixed, out = repair(broken, level)
        around = [data[max(0, place - 20) : place + 20] for place in places]
        assert bare(out) == data, around
        assert repair(out, level)[1] == out, around
        errors = sum(row.finding.severity == "error" for row in findings(out))
        assert errors == fixed.after["error"], around


def wrap(data: bytes, width: int, indentation: bytes) -> bytes:
    """Break the lines of a log at a column, as an editor does, and indent the rest."""
    lines = []
    for line in data.splitlines():
        lines.append(line[:width])
        step = width - len(indentation)
        lines += [indentation + line[at : at + step] for at in range(width, len(line), step)]
    return b"\n".join(lines) + b"\n"


def squashed(data: bytes) -> bytes:
    """The bytes without white space, escaped or not."""
    return re.sub(rb"\s|\\", b"", re.sub(rb"\\+[rnt]", b"", data))


@pytest.mark.covering(2)
@pytest.mark.parametrize("indentation", [b"", b"  ", b"\t"], ids=["none", "spaces", "tab"])
@pytest.mark.parametrize("width", [60, 72, 80, 120])
@pytest.mark.parametrize("form", FORMS)
def test_lines_wrapped_at_a_column_are_joined(form: str, width: int, indentation: bytes) -> None:
    data = log(form, 2)
    _, out = repair(wrap(data, width, indentation), "lossy")
    assert squashed(out) == squashed(data)
    assert len(out.splitlines()) == len(data.splitlines())


@pytest.mark.covering(1)
@pytest.mark.parametrize("indentation", [b"  ", b"    ", b"\t"], ids=["two", "four", "tab"])
@pytest.mark.parametrize("form", FORMS)
def test_an_indentation_after_a_break_loses_no_result(form: str, indentation: bytes) -> None:
    chance = Random(f"{form} {indentation!r}")  # noqa: S311 - the same in every run
    data = log(form, 2)
    for _ in range(30):
        places = chance.sample(range(1, len(data) - 1), chance.choice([1, 1, 2]))
        places = [place for place in places if b"\n" not in data[place - 1 : place + 1]]
        _, out = repair(split(data, *places, end=b"\n" + indentation), "lossy")
        assert squashed(out) == squashed(data), [data[max(0, place - 20) : place + 20] for place in places]


@pytest.mark.parametrize(
    ("record", "before", "after"),
    [
        ({"role": "user", "content": "a b", "name": "Ann Lee"}, b"Ann", b"Ann Lee"),
        ({"role": "user", "content": "a b"}, b'": "a', b"a\\n b"),
    ],
)
def test_one_space_after_a_break_stays(record: dict[str, str], before: bytes, after: bytes) -> None:
    line = json.dumps({"conversation_id": "c", **record}).encode()
    data = line + b"\n" + line + b"\n"
    assert after in repair(split(data, data.index(before, len(line)) + len(before)))[1].splitlines()[1]


def test_a_break_in_a_name_an_escape_a_number_or_a_character_is_removed() -> None:
    record = {
        "role": "user",
        "content": "caf\u00e9 \\ end",
        "conversation_id": "abc",
        "n": 1234,
        "from": "observation",
    }
    for is_ascii in (True, False):
        line = json.dumps(record, ensure_ascii=is_ascii).encode()
        data = line + b"\n" + line + b"\n"
        foreign = (b'"ro', b'"us', b"obser", b"ab", b"12", b"caf\\u0", b"caf\xc3", b"\\")
        for text in (item for item in foreign if item in line):
            assert repair(split(data, data.index(text, len(line)) + len(text)))[1] == data, text


def test_lint_names_the_line_the_byte_and_all_lines(folder: Path) -> None:
    data = log("claude-code")
    place = place_in(data, 0, b"result-of-0")
    (folder / "a.jsonl").write_bytes(split(data, place, place + 3))
    run = CliRunner().invoke(turnlint.cli.lint.command, ["a.jsonl", "--output-format", "json"])
    (found,) = json.loads(run.stdout)["findings"]
    assert (found["line"], found["byte_offset"]) == (3, place)
    assert found["message"] == "line breaks split this record over 3 lines; a record needs a line of its own"
    assert found["fix"] == {
        "level": "lossless",
        "title": r"join the lines, with `\n` for line breaks in texts",
    }


def test_parts_of_a_log_that_are_read_in_parallel_word_a_split_record_as_the_whole(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnlint.spread.worth.is_worth_it", lambda _: True)
    monkeypatch.setattr("turnlint.spread.cutting.STRETCH", 10_000)
    record = {"messages": [{"role": "user", "content": "x" * 200}]}
    lines = [json.dumps({"id": str(number), **record}).encode() + b"\n" for number in range(300)]
    lines[250] = lines[250].replace(b", ", b",\n", 1)
    (folder / "a.jsonl").write_bytes(b"".join(lines))
    arguments = ["a.jsonl", "--output-format", "concise", "-j"]
    alone, apart = (CliRunner().invoke(turnlint.cli.lint.command, [*arguments, item]).stdout for item in "12")
    assert alone.startswith("a.jsonl:251:")
    assert apart == alone


def test_positions_after_a_break_are_those_of_the_file() -> None:
    lines = log("openai-chat").splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"tool_call_id": "', b'"tool_call_id": "none')
    data = b"".join(lines)
    broken = split(data, place_in(data, 2, b'"role": "to'), place_in(data, 2, b'"conversation_id"'))
    (row,) = [finding for finding in findings(broken) if finding.finding.rule == "orphan-result"]
    assert broken[row.place.offset :].startswith(b'"none')
    line = broken[: row.place.offset].count(b"\n") + 1
    assert (row.place.line, row.place.column) == (line, broken.splitlines()[line - 1].index(b'"none') + 1)


@pytest.mark.parametrize("form", FORMS)
def test_standard_input_equals_the_file(form: str, folder: Path) -> None:
    data = log(form)
    for place in (place_in(data, 0, b", "), place_in(data, 2, b", ")):
        broken = split(data, place)
        (folder / "a.jsonl").write_bytes(broken)
        assert fix_by_default("-", stdin=broken).stdout_bytes == data
        assert fix_by_default("a.jsonl").exit_code == 0
        assert (folder / "a.jsonl").read_bytes() == data


def test_lines_that_are_no_record_together_stay_apart() -> None:
    """A line that is an object by itself is never a part of another."""
    data = log("openai-chat")
    lines = data.splitlines()
    for torn in (b'{"messages": [', b'{"role": "user", "content": "a', b'{"a": '):
        broken = b"\n".join([lines[0], torn, *lines[1:]]) + b"\n"
        damaged = [row.place.line for row in findings(broken) if row.finding.rule == "unreadable-record"]
        assert damaged == [2]
        assert repair(broken)[1] == broken


def test_a_torn_line_before_a_split_record_does_not_hide_it() -> None:
    lines = log("openai-chat").splitlines(keepends=True)
    lines[2:2] = [b'{"role": \n']
    data = b"".join(lines)
    assert repair(split(data, place_in(data, 3, b", ")))[1] == data


def test_a_document_over_lines_is_no_split_log() -> None:
    document = json.dumps([json.loads(line) for line in log("openai-chat").splitlines()], indent=1)
    pretty = json.dumps({"messages": json.loads(document)}, indent=1).encode() + b"\n"
    for data in (document.encode(), pretty, pretty * 3):
        assert findings(data) == []


def test_a_record_in_a_file_of_pretty_records_stays_as_it_is() -> None:
    pretty = json.dumps({"messages": [{"role": "user", "content": "x y"}]}, indent=1).encode() + b"\n"
    assert repair(pretty.replace(b"x y", b"x\ny"))[1] == pretty.replace(b"x y", rb"x\ny")


def test_a_record_of_too_many_lines_or_bytes_is_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    data = log("openai-chat")
    place = place_in(data, 2, b"result-of-0")
    broken = split(data, *range(place, place + 5))
    assert bare(repair(broken)[1]) == data
    for name, bound in (("MAX_LINES", 5), ("MAX_BYTES", 50)):
        with monkeypatch.context() as patch:
            patch.setattr(joining, name, bound)
            assert repair(broken, "lossless")[1] == broken


@pytest.mark.parametrize("line", [b'{"a":', b'{"a": "', b'{"a": ["', b'{"a": {"b": [1,', b'{"a":"}'])
def test_hostile_lines_are_read_in_linear_time(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    parse = joining._Text.feed

    def feed(self: joining._Text, piece: bytes) -> bool:
        nonlocal read
        read += len(piece)
        return parse(self, piece)

    monkeypatch.setattr(joining._Text, "feed", feed)
    monkeypatch.setattr("turnlint.documents.framing.CHUNK", 1 << 10)
    first = log("openai-chat").splitlines()[0] + b"\n"
    data = first + b"".join(line.replace(b"a", b"a%d" % number) + b"\n" for number in range(3000))
    findings(data)
    assert 0 < read < 12 * len(data)


GROWING = {
    "number": (b'{"a": [1', b"1" * 3000, 1500),
    "number in arguments": (rb'{"a": "{\"a\": 1', b"1" * 3000, 1500),
    "cut escape": (b'{"a": "', b"x y" * 1000 + rb"\u12", 5000),
    "long key": (b'{"%b": "' % (b"a" * 1_000_000), b"x y", 1000),
}


@pytest.mark.parametrize("name", GROWING)
def test_long_pieces_of_a_split_record_are_read_once(name: str) -> None:
    """Each took from 10 to 30 seconds when the piece was read again for each of its lines."""
    start, line, count = GROWING[name]
    data = log("openai-chat").splitlines()[0] + b"\n" + start + b"\n" + (line + b"\n") * count
    before = process_time()
    findings(data)
    assert process_time() - before < 3


def parts(data: bytes, path: Path) -> Iterator[Part]:
    start = 0
    with path.open("rb") as file:
        while start < len(data):
            end = next_record(file, start + 1) or len(data)
            yield Part(start, end, len(data), "openai-chat", data[:start].count(b"\n") + 1)
            start = end


def test_a_part_of_a_file_starts_with_a_record(tmp_path: Path) -> None:
    record = {"messages": [{"role": "user", "content": "some } {words"}]}
    data = b"".join(json.dumps({"n": number, **record}).encode() + b"\n" for number in range(50))
    places = [item.end() for item in re.finditer(rb"} |: |some", data)]
    broken = split(data, *places[::7])
    path = tmp_path / "a.jsonl"
    path.write_bytes(broken)
    starts = [part.start for part in parts(broken, path)]
    assert len(starts) > 20
    assert all(broken[at:].startswith(b'{"n"') for at in starts)


def test_a_line_break_in_arguments_is_written_for_the_json_in_the_string() -> None:
    arguments = json.dumps({"path": "a.txt", "text": "one two"})
    message = {"id": "c1", "type": "function", "function": {"name": "write", "arguments": arguments}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [message]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "user", "content": "go on"},
    ]
    data = b"".join(json.dumps({"conversation_id": "a", **message}).encode() + b"\n" for message in messages)
    for text, escape in ((rb"{\"pa", b""), (rb"\"a.txt\", ", b""), (rb"one ", rb"\\n")):
        place = place_in(data, 1, text)
        assert repair(split(data, place))[1] == split(data, place, end=escape), text


def test_the_semantic_diff_names_the_joined_lines(folder: Path) -> None:
    data = log("openai-chat")
    (folder / "a.jsonl").write_bytes(split(data, place_in(data, 2, b"result-of-0")))
    run = fix_by_default("a.jsonl", "--check", "--diff=semantic")
    assert "@@ line 3 @@\n  2 lines joined\n" in run.stdout
