"""A diff of a repair shows the changes, in full where possible, and as little as necessary of the file.

Tests the rendered diff and the comparison behind it.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broken_logs import BROKEN, DONE, GAP, LATE, STRAY, USER, call, calling, fix, fixed, log, result, settle
from budgets import examples
from turnlint.documents.source import Source
from turnlint.keeping.patches import Patch, patched
from turnlint.repair.outcome import Fixed
from turnlint.report.aligning import differences
from turnlint.report.changes import MOST, changes
from turnlint.report.escape import columns
from turnlint.report.sequence_diff import find_gaps
from turnlint.report.stretches import stretches


class Look:
    color = False
    statistics = ""
    folds = True

    def __init__(self, width: int = 100) -> None:
        self.width = width


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


def shown(folder: Path, old: bytes, *patches: Patch, width: int = 100) -> list[str]:
    (folder / "x").write_bytes(old)
    return list(changes(Fixed(Source("x", str(folder / "x")), list(patches)), Look(width)))


def diff(folder: Path, old: bytes, new: bytes, width: int = 100) -> list[str]:
    return shown(folder, old, Patch(0, len(old), new), width=width)


# The comparison.


def applied(old: bytes, new: bytes) -> bytes:
    out, at = [], 0
    for a, b, c, d in differences(old, new):
        assert at <= a <= b, "in order"
        assert a < b or c < d, "something differs"
        out += [old[at:a], new[c:d]]
        at = b
    return b"".join((*out, old[at:]))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 9)
    | st.text(max_size=5)
    | st.sampled_from(["x" * 100, 'a"\\é']),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, VALUES, st.sampled_from([None, 2]), st.booleans())
def test_the_differences_turn_one_text_into_the_other(
    old: Any, new: Any, indent: int | None, plain: bool
) -> None:
    texts = [json.dumps([item, 1, old], indent=indent, ensure_ascii=plain).encode() for item in (old, new)]
    assert applied(*texts) == texts[1]


@given(st.text('{}[]",:\\ \nax', max_size=60), st.text('{}[]",:\\ \nax', max_size=60))
def test_the_differences_also_work_for_texts_that_are_no_json(old: str, new: str) -> None:
    assert applied(old.encode(), new.encode()) == new.encode()


@given(
    st.lists(st.sampled_from([b"a", b"b", b"c", b"d"])), st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]))
)
def test_text_between_gaps_is_the_same(one: list[bytes], other: list[bytes]) -> None:
    kept: list[bytes] = []
    i = j = 0
    for a, b, c, d in [*find_gaps(one, other), (len(one), len(one), len(other), len(other))]:
        assert one[i:a] == other[j:c]
        kept += one[i:a]
        i, j = b, d
    assert bool(kept) >= bool({*one[:1]} & {*other[:1]})


def test_an_added_or_removed_piece_is_shown_whole() -> None:
    messages = [{"role": "user", "content": f"m{number}"} for number in range(5)]
    piece = {"role": "user", "content": "new"}
    for at in range(6):
        old = json.dumps({"messages": messages}).encode()
        new = json.dumps({"messages": [*messages[:at], piece, *messages[at:]]}).encode()
        for one, other, data in ((old, new, new), (new, old, new)):
            ((a, b, c, d),) = differences(one, other)
            changed = data[c:d] if data is other else data[a:b]
            assert json.loads(changed.strip(b", ")) == piece
            assert min(b - a, d - c) == 0


def test_a_small_change_to_a_large_record_is_a_small_difference() -> None:
    messages = [{"role": "user", "content": f"{number} " + "words " * 50} for number in range(5_000)]
    old = json.dumps({"messages": messages}).encode()
    del messages[4_000]
    messages.insert(3, {"role": "tool", "content": "it"})
    messages[2_000]["content"] += "!"
    new = json.dumps({"messages": messages}).encode()
    spans = differences(old, new)
    assert len(spans) == 3
    assert sum(b - a + d - c for a, b, c, d in spans) < 500
    assert applied(old, new) == new


WORST = {
    "deep": (b"[" * 20_000 + b"1" + b"]" * 20_000, b"[" * 20_000 + b"2" + b"]" * 20_000),
    "torn": (b'{"a":' * 10_000, b'{"a":' * 10_001),
    "alike": (json.dumps([1] * 20_000).encode(), json.dumps([2] * 20_001).encode()),
    "turned": (json.dumps([*range(9_000)]).encode(), json.dumps([*range(9_000, 0, -1)]).encode()),
    "mixed": (
        json.dumps([n * n % 7 % 2 for n in range(20_000)]).encode(),
        json.dumps([0, 1, 1] * 7_000).encode(),
    ),
    "quotes": (b'"' * 50_001, b'"' * 50_000),
    "backslashes": (b"\\" * 50_001, b"\\" * 50_000),
    "one text": (b'"' + b"x" * 500_000 + b'y"', b'"' + b"x" * 500_000 + b'zy"'),
}


@pytest.mark.parametrize("name", WORST)
def test_no_text_takes_quadratic_time(name: str) -> None:
    assert applied(*WORST[name]) == WORST[name][1]


# The rendered diff.


def test_short_lines_are_shown_with_their_neighbours(folder: Path) -> None:
    old = b"".join(b'{"role": "user", "content": "%d"}\n' % number for number in range(9))
    start = old.index(b'{"role": "user", "content": "4"')
    gone = shown(folder, old, Patch(start, start + 33, b""))
    assert gone == [
        "--- x",
        "+++ x (repaired)",
        "@@ line 5, byte 132 @@",
        ' {"role": "user", "content": "2"}',
        ' {"role": "user", "content": "3"}',
        '-{"role": "user", "content": "4"}',
        ' {"role": "user", "content": "5"}',
        ' {"role": "user", "content": "6"}',
    ]
    changed = shown(folder, old, Patch(start, start + 32, b'{"role": "tool", "content": "4"}'))
    assert changed[5:7] == ['-{"role": "user", "content": "4"}', '+{"role": "tool", "content": "4"}']


def test_only_the_changes_of_a_long_line_are_shown(folder: Path) -> None:
    (folder / "long.jsonl").write_bytes(log([{"role": "user", "content": "word " * 50}] * 3 + GAP[1:]))
    lines = fix("long.jsonl", "--diff").stdout.splitlines()
    head, before, added, *more, after = lines[2:]
    assert re.fullmatch(r"@@ line 1, byte 1,?\d+ @@", head)
    assert before.startswith(" …")
    assert before.endswith("]}, ")
    assert added.startswith('+{"role": "tool", "tool_call_id": "c1", ')
    assert all(line.startswith("+") for line in more)
    assert more[-1].endswith("}, ")
    assert after == ' {"role": "user", "content": "go hunter2"}, {"role": "assistant", "content": "done"}]}'
    assert all(len(line) <= 100 for line in lines)


def test_only_the_renamed_id_of_a_line_is_shown(folder: Path) -> None:
    record = {"messages": [USER, calling(call("c" * 60)), result("c" * 60, "long " * 40), DONE, USER]}
    (folder / "ids.jsonl").write_text(json.dumps(record) + "\n")
    lines = fix("ids.jsonl", "--diff", "--provider", "mistral").stdout.splitlines()
    assert [line for line in lines if line.startswith("-")] == ["--- ids.jsonl", *['-"' + "c" * 60 + '"'] * 2]
    assert sum(bool(re.fullmatch(r'\+"[A-Za-z0-9]{9}"', line)) for line in lines) == 2
    assert sum(line.startswith("@@ line 1, byte ") for line in lines) == 2


def test_pretty_printed_json_is_shown_line_by_line(folder: Path) -> None:
    (folder / "p.json").write_text(json.dumps({"messages": STRAY}, indent=2))
    lines = fix("p.json", "--diff").stdout.splitlines()
    assert lines[2:] == [
        "@@ line 7, byte 83 @@",
        '       "content": "go hunter2"',
        "     },",
        "-    {",
        '-      "role": "tool",',
        '-      "tool_call_id": "c9",',
        '-      "content": "ok"',
        "-    },",
        "     {",
        '       "role": "assistant",',
    ]


def test_added_and_moved_lines_of_a_log_are_lines(folder: Path) -> None:
    data = b"".join(json.dumps({"id": "k", "message": item}).encode() + b"\n" for item in LATE)
    (folder / "l.jsonl").write_bytes(data)
    lines = fix("l.jsonl", "--diff").stdout.splitlines()
    moved = '{"id": "k", "message": {"role": "tool", "tool_call_id": "c2", "content": "ok"}}'
    assert lines.count(f"+{moved}") == lines.count(f"-{moved}") == 1
    assert not [line for line in lines[2:] if line[0] in "+-" and moved not in line]


def test_line_ends_of_another_system_are_not_shown(folder: Path) -> None:
    old = b'{"a": 1}\r\n{"b": 2}\r\n{"c": 3}\r\n'
    lines = shown(folder, old, Patch(0, 8, b'{"a": 1}\r\n{"x": 9}'), Patch(20, 30, b""))
    assert lines[2:] == ["@@ line 2, byte 10 @@", ' {"a": 1}', '+{"x": 9}', ' {"b": 2}', '-{"c": 3}']


def test_a_long_text_that_changes_inside_is_shown_there(folder: Path) -> None:
    old = json.dumps({"messages": [{"content": "a" * 300 + "\u00e9\ud83d" + "b" * 300}]}).encode()
    lines = diff(folder, old, old.replace(b"\\ud83d", b"\\ufffd"))
    assert [line for line in lines[2:] if line[0] in "+-"] == ["-\\ud83d", "+\\ufffd"]


def test_long_changes_are_cut_and_show_their_length(folder: Path) -> None:
    lines = diff(folder, b'{"a": "' + b"x" * 5_000 + b'"}\n', b'{"b": 1}\n')
    assert "-… 5,010 bytes in all" in lines
    assert len(lines) < 30


def test_many_changes_are_counted_not_shown(folder: Path) -> None:
    data = log(*[[{"role": "user", "content": "word " * 40}, *GAP]] * 200)
    (folder / "many.jsonl").write_bytes(data)
    lines = fix("many.jsonl", "--diff").stdout.splitlines()
    assert sum(line.startswith("@@") for line in lines) == MOST
    assert lines[-1] == f"… {200 - MOST} more changes; --report FILE lists all"


def test_a_diff_of_packed_files_and_standard_input_is_the_same(folder: Path) -> None:
    from gzip import compress

    (folder / "z.jsonl.gz").write_bytes(compress(BROKEN))
    plain = fix("broken.jsonl", "--diff").stdout
    assert fix("z.jsonl.gz", "--diff").stdout.replace("z.jsonl.gz", "broken.jsonl") == plain
    assert fix("-", "--diff", "--stdin-filename", "broken.jsonl", stdin=BROKEN).stdout == plain


@pytest.mark.parametrize("width", [1, 40, 79, 200])
def test_no_line_is_wider_than_requested(folder: Path, width: int) -> None:
    wide = [{"role": "user", "content": "漢字 é" * 60}, *LATE[1:]]
    for indent in (None, 2):
        text = json.dumps({"messages": wide}, indent=indent, ensure_ascii=False).encode()
        (folder / "w.json").write_bytes(text)
        new = fixed(text)
        for line in diff(folder, text, new, width=width):
            assert columns(line) <= max(width, 40), line


@settings(max_examples=examples(60))
@given(st.data())
def test_stretches_are_the_changed_parts(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """For any patches at any distance, stretches and the text around them are parts of the file."""
    line = st.sampled_from(
        [b'{"a": 1}\n', b"\n", b'{"long": "' + b"x" * 5_000 + b'"}\n', b"[1, 2,\r\n 3]\r\n"]
    )
    old = b"".join(data.draw(st.lists(line, max_size=8)))
    cuts = sorted(
        data.draw(st.lists(st.integers(0, len(old)), max_size=6).filter(lambda some: len(some) % 2 == 0))
    )
    new = st.sampled_from([b"", b'{"a": 2}\n', b'\n{"b": 1}', b"x"])
    patches = [Patch(a, b, data.draw(new)) for a, b in zip(cuts[::2], cuts[1::2], strict=True)]
    path = tmp_path_factory.mktemp("s") / "x"
    path.write_bytes(old)
    out: list[bytes] = []
    at = 0
    for stretch in stretches(Source("x", str(path)), patches):
        assert (stretch.start >= at, old[stretch.start : stretch.end]) == (True, stretch.old)
        assert old[: stretch.start].endswith(stretch.before)
        assert old[stretch.end :].startswith(stretch.after)
        assert stretch.line == 1 + old.count(b"\n", 0, stretch.start)
        out += [old[at : stretch.start], stretch.new]
        at = stretch.end
    assert b"".join((*out, old[at:])) == b"".join(patched(Source("x", str(path)), patches))
