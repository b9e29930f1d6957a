"""The documents layer: bytes to records to values, and back to the byte where something stands.

This module owns what is promised of framing, exact reading, the census, locating, decoding and
compressed sources, on arbitrary JSON and on JSON broken in one place. The oracle is Python's json.
"""

import gzip
import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from turnlint.carriers import carrier
from turnlint.documents import census, exact, framing
from turnlint.documents.fit import kind_of
from turnlint.documents.locate import locate, locate_all
from turnlint.model import Pointer, Record

MANY = settings(max_examples=400, deadline=None)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4)


VALUES = st.recursive(SCALARS, _containers, max_leaves=12)
CONTAINERS = _containers(VALUES)


def _with_escaped_keys(value: Any) -> str:
    """JSON whose keys are spelled in escapes to the last letter: nobody writes so, anybody may."""
    if isinstance(value, dict):
        members = (f"{_escaped(key)} :{_with_escaped_keys(item)}" for key, item in value.items())
        return "{ " + " , ".join(members) + "\t}"
    if isinstance(value, list):
        return "[" + ",\n".join(map(_with_escaped_keys, value)) + " ]"
    return json.dumps(value)


def _escaped(key: str) -> str:
    units = key.encode("utf-16-be")
    return '"' + "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)) + '"'


SPELLINGS = st.sampled_from([
    json.dumps,
    _with_escaped_keys,
    lambda value: json.dumps(value, ensure_ascii=False),
    lambda value: json.dumps(value, indent=2),
    lambda value: json.dumps(value, ensure_ascii=False, indent="\t", separators=(",", ": ")),
    lambda value: json.dumps(value, separators=(",", ":")),
    lambda value: f"\r\n {json.dumps(value)}\t ",
])  # fmt: skip
DOCUMENTS = st.builds(lambda spell, value: spell(value).encode(), SPELLINGS, VALUES)
SHREDS = st.lists(
    st.sampled_from([
        b"{", b"}", b"[", b"]", b",", b":", b'"', b'"a"', b'"a":', b"'", b"\\", b"\\u", b"\\ud83d", b"\\ude00",
        b"00e9", b"1", b"-", b"01", b"1.5e3", b"1e999", b"9" * 30, b"true", b"tru", b"None", b"NaN", b"-Infinity",
        b" ", b"\n", b"\r", b"\t", b"\x00", b"\xff", b"\xc3", b"\xc3\xa9", b"\xef\xbb\xbf", b"\x0b",
    ]),
    max_size=24,
).map(b"".join)  # fmt: skip
"""Bytes that almost are JSON: what random bytes never come near."""
DAMAGED = st.builds(
    lambda data, at, cut, shred: data[:at] + shred + data[at + cut :],
    DOCUMENTS, st.integers(0, 60), st.integers(0, 3), SHREDS,
)  # fmt: skip
ANYTHING = st.binary(max_size=60) | SHREDS | DAMAGED | DOCUMENTS


def test_exact_reading_agrees_with_json_on_every_valid_text() -> None:
    @MANY
    @given(DOCUMENTS)
    @example(b"-0")
    @example(b"[1E+2, 0.10e-3, 1e-999, -9223372036854775808, 18446744073709551615]")
    @example(b'"\\/\\b\\f\\u00e9\\ud83d\\ude00\x7f"')
    def check(data: bytes) -> None:
        reading = exact.read(data)
        assert (reading.whole, reading.troubles) == (True, [])
        assert json.dumps(reading.value) == json.dumps(json.loads(data))
        assert not data[reading.end :].strip()

    check()


DEFECTS = [
    (b"NaN", "not-a-number"),
    (b"-Infinity", "not-a-number"),
    (b"None", "python-literal"),
    (b"True", "python-literal"),
    (b"01", "bad-number"),
    (b"-012.5", "bad-number"),
    (b"+1", "bad-number"),
    (b".5", "bad-number"),
    (b"1.", "bad-number"),
    (b"9" * 30, "big-integer"),
    (b"-" + b"9" * 5000, "big-integer"),
    (b"18446744073709551616", "big-integer"),
    (b"1e999", "big-integer"),
]
INSIDE_STRINGS = [
    (b"\n", "control-character"),
    (b"\x00", "control-character"),
    (b"\\q", "bad-escape"),
    (b"\\ud83d", "lone-surrogate"),
    (b"\\uDE00", "lone-surrogate"),
    (b"\xff", "invalid-utf-8"),
    (b"\xed\xa0\x80", "invalid-utf-8"),
]


@MANY
@given(VALUES, VALUES, st.sampled_from(DEFECTS))
def test_a_bad_value_is_named_at_its_bytes_and_the_rest_is_read(
    before: Any, after: Any, defect: tuple[bytes, str]
) -> None:
    text, kind = defect
    head = b'{"x": ' + json.dumps(before).encode() + b', "here": ['
    data = head + text + b'], "y": ' + json.dumps(after).encode() + b"}"
    reading = exact.read(data)
    found = [(one.kind, one.start, one.end, one.at) for one in reading.troubles]
    assert found == [(kind, len(head), len(head) + len(text), ("here", 0))]
    assert reading.whole
    assert json.dumps([reading.value["x"], reading.value["y"]]) == json.dumps([before, after])


@MANY
@given(st.text("aé😀", max_size=5), st.text("aé😀", max_size=5), st.sampled_from(INSIDE_STRINGS))
def test_a_bad_byte_in_a_string_is_named_where_it_stands(
    before: str, after: str, defect: tuple[bytes, str]
) -> None:
    text, kind = defect
    head = b'{"a": 1, "here": "' + before.encode()
    reading = exact.read(head + text + after.encode() + b'", "y": 2}')
    (one,) = reading.troubles
    assert (one.kind, one.start, one.at) == (kind, len(head), ("here",))
    assert one.start < one.end <= len(head) + len(text)
    assert reading.value["here"].startswith(before)
    assert reading.value["here"].endswith(after)
    assert reading.value["y"] == 2


@pytest.mark.parametrize(
    ("data", "kind", "span", "at"),
    [
        (b'{"a": [1, 2, ]}', "trailing-comma", b",", ("a", 1)),
        (b'{"a": 1,\n}', "trailing-comma", b",", ("a",)),
        (b'{"a": 1, "\\u0061": 2}', "duplicate-key", b'"\\u0061"', ("a",)),
        (b"{'a': 1}", "python-literal", b"'", ()),
        (b"{\"a\": 'b'}", "python-literal", b"'", ("a",)),
        (b'{"a": 1} \n{"b": 2}', "joined-records", b"{", ()),
        (b'{"a": 1}}', "joined-records", b"}", ()),
        (b'{"a": 1 "b": 2}', "syntax", b'"', ("a",)),
        (b'{"a" 1}', "syntax", b"1", ("a",)),
        (b'{"a": [1, oops]}', "syntax", b"o", ("a", 1)),
        (b"\xef\xbb\xbf{}", "syntax", b"\xef", ()),
    ],
)
def test_a_defect_of_structure_is_named_where_it_stands(
    data: bytes, kind: str, span: bytes, at: Pointer
) -> None:
    (one,) = exact.read(data).troubles
    assert (one.kind, data[one.start : one.end], one.at) == (kind, span, at)


def test_a_duplicate_key_tells_of_the_first_one_and_the_last_value_stays() -> None:
    data = b'{"a": 1, "b": {"a": 3}, "a": 2, "a": 4}'
    reading = exact.read(data)
    spans = [(one.first, (one.start, one.end)) for one in reading.troubles]
    first, second, third = (at for at in range(len(data)) if data[at : at + 3] == b'"a"' and at != 15)
    assert spans == [((first, first + 3), (second, second + 3)), ((second, second + 3), (third, third + 3))]
    assert reading.value == {"a": 4, "b": {"a": 3}}


@settings(max_examples=100, deadline=None)
@given(CONTAINERS, SPELLINGS)
@example([True, -5], json.dumps)
@example({"a": "\U0001f600"}, json.dumps)
def test_a_text_cut_anywhere_is_torn(value: Any, spell: Any) -> None:
    whole = spell(value).encode().strip()
    for cut in range(len(whole)):
        reading = exact.read(whole[:cut])
        assert not reading.whole, whole[:cut]
        assert reading.troubles[-1].kind == "torn", (whole[:cut], reading.troubles)


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_depth_is_bounded_and_costs_no_stack(opening: bytes) -> None:
    closing = b"]" if opening == b"[" else b"}"
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 40)
    try:
        fits = exact.read(opening * 1000 + b"1" + closing * 1000)
        too_deep = [exact.read(opening * count) for count in (1001, 1_000_000)]
    finally:
        sys.setrecursionlimit(limit)
    assert (fits.whole, fits.troubles) == (True, [])
    for reading in too_deep:
        (one,) = reading.troubles
        assert (reading.whole, one.kind, one.start) == (False, "too-deep", 1000 * len(opening))


@MANY
@given(ANYTHING)
def test_exact_reading_never_raises_and_points_into_the_data(data: bytes) -> None:
    reading = exact.read(data)
    for one in reading.troubles:
        assert 0 <= one.start <= one.end <= len(data)
    assert reading.whole or reading.troubles
    assert 0 <= reading.end <= len(data)


@MANY
@given(ANYTHING)
@example(b'{"a": {"b": 1, "b": 2}}')
@example(b"[1e999]")
def test_the_census_calls_plain_exactly_what_holds_no_trouble(data: bytes) -> None:
    # Half a character is the typed decoder's to refuse, even in text it skips: the next test holds it to that.
    kinds = {one.kind for one in exact.read(data).troubles} - {"lone-surrogate"}
    assert census.is_plain(data) == (not kinds), kinds


@MANY
@given(ANYTHING, st.sampled_from(["openai-chat", "anthropic", "canonical"]))
@example(b'{"unknown": {"\\ud83d": 1}}', "openai-chat")
@example(b'{"unknown": ["\\ude00"]}', "anthropic")
@example(b'{"messages": [{"role": "user", "content": "\\ud83d"}]}', "openai-chat")
def test_the_fast_way_hides_no_trouble(data: bytes, wire: str) -> None:
    decoded = carrier(wire).shape.read(Record(1, 0, data))
    assert list(decoded.troubles) == exact.read(data).troubles
    if decoded.rest is not None:
        rest = decoded.rest
        assert rest.data == data[rest.offset :]
        assert rest.line == 1 + data[: rest.offset].count(b"\n")


def _places(value: Any, at: Pointer = ()) -> list[tuple[Pointer, Any]]:
    found = [(at, value)]
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, item in children:
        found += _places(item, (*at, key))
    return found


@MANY
@given(VALUES, SPELLINGS)
def test_every_pointer_leads_to_its_value_and_all_at_once_do_too(value: Any, spell: Any) -> None:
    data = spell(value).encode()
    places = _places(json.loads(data))
    together = locate_all(data, [pointer for pointer, _ in places])
    assert list(together) == [pointer for pointer, _ in places]
    for pointer, expected in places:
        at, start, end = together[pointer]
        assert at == pointer
        assert json.dumps(json.loads(data[start:end])) == json.dumps(expected)
        assert data[start:end].strip() == data[start:end]
        assert locate(data, pointer) == together[pointer]


@MANY
@given(VALUES, SPELLINGS, st.lists(st.sampled_from(["no such key", 99, -1, ""]), min_size=1, max_size=3))
def test_a_pointer_that_leads_nowhere_gives_the_deepest_place_that_exists(
    value: Any, spell: Any, beyond: list[str | int]
) -> None:
    data = spell(value).encode()
    for pointer, parent in _places(value):
        if not (isinstance(parent, dict) and beyond[0] in parent):
            assert locate(data, (*pointer, *beyond)) == locate(data, pointer)


@MANY
@given(VALUES, VALUES, VALUES)
@example({"b": 1}, 0, {"c": 2})
@example([1, 2], 0, [3])
def test_the_last_of_two_equal_keys_is_the_one_that_is_found(lost: Any, between: Any, kept: Any) -> None:
    head = f'{{"a": {json.dumps(lost)}, "b": {json.dumps(between)}, "a": '.encode()
    data = head + json.dumps(kept).encode() + b"}"
    wanted = [("a", *pointer) for pointer, _ in _places(lost) + _places(kept)]
    expected = {("a", *pointer): item for pointer, item in _places(kept)}
    for pointer, (at, start, end) in locate_all(data, wanted).items():
        assert start >= len(head)
        assert at == pointer[: len(at)]
        assert (at == pointer) == (pointer in expected)
        assert json.dumps(json.loads(data[start:end])) == json.dumps(expected[at])


@MANY
@given(ANYTHING, VALUES)
def test_locating_in_damaged_text_never_raises_and_stays_inside(data: bytes, value: Any) -> None:
    pointers = [pointer for pointer, _ in _places(value)] + [("a",), ("a", 0, "a"), (0,), (0, "a", 1)]
    for pointer, (at, start, end) in locate_all(data, pointers).items():
        assert at == pointer[: len(at)]
        assert 0 <= start <= end <= len(data)


def _frames(data: bytes, name: str, chunk: int) -> list[tuple[str, int, int, Pointer, bytes]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(framing, "CHUNK", chunk)
        items = list(framing.frame(io.BytesIO(data), name, lambda first: b'"messages"' in first))
    found = []
    for item in items:
        record, kind = (item, "record") if isinstance(item, Record) else (item.record, item.trouble.kind)
        assert data[record.offset : record.offset + len(record.data)] == record.data
        assert record.line == 1 + data[: record.offset].count(b"\n")
        found.append((kind, record.line, record.offset, record.prefix, record.data))
    return found


PRETTY = b'{\n  "messages": [\n    "\\"]}\\\\"\n  ]\n}'
ARRAY_OF_RECORDS = b'[\n  {"messages": ["}"]},\n  12 ,\n  {\n    "messages": []\n  }\n]\n'
ARRAY_OF_MESSAGES = b'[\n  {"role": "user"},\n  {"role": "assistant"}\n]'
FRAMINGS = {
    "lines": ("a.jsonl", b'{"a":1}\n{"a":2}\n', [("record", 1, b'{"a":1}'), ("record", 2, b'{"a":2}')]),
    "no line end at the end": ("a.json", b'{"a":1}\n[2]', [("record", 1, b'{"a":1}'), ("record", 2, b"[2]")]),
    "carriage returns": (
        "a.jsonl",
        b'{"a":1}\r\n{"a":2}\r\n',
        [("carriage-returns", 1, b'{"a":1}\r'), ("record", 1, b'{"a":1}'), ("record", 2, b'{"a":2}')],
    ),
    "blank lines": (
        "a.jsonl",
        b'\n{"a":1}\n \t\n\n{"a":2}\n\n',
        [("blank-line", 1, b""), ("record", 2, b'{"a":1}'), ("blank-line", 3, b" \t"), ("blank-line", 4, b""),
         ("record", 5, b'{"a":2}'), ("blank-line", 6, b"")],
    ),
    "byte order mark": (
        "a.jsonl",
        b'\xef\xbb\xbf{"a":1}\n{"a":2}\n',
        [("byte-order-mark", 1, b"\xef\xbb\xbf"), ("record", 1, b'{"a":1}'), ("record", 2, b'{"a":2}')],
    ),
    "a torn last line": ("a.jsonl", b'{"a":1}\n{"a":', [("record", 1, b'{"a":1}'), ("record", 2, b'{"a":')]),
    "only a torn line": ("a.jsonl", b'{"a": "b', [("record", 1, b'{"a": "b')]),
    "an array on one line": (
        "a.json",
        b'[{"messages": []}, {"messages": [1]}]\n',
        [("record", 1, b'{"messages": []}'), ("record", 1, b'{"messages": [1]}')],
    ),
    "an array on the one line of a jsonl": (
        "logs/a.JSONL.gz",
        b'[{"messages": []}, {"messages": [1]}]\n',
        [("record", 1, b'[{"messages": []}, {"messages": [1]}]')],
    ),
    "a pretty object": ("a.json", PRETTY + b"\n", [("record", 1, PRETTY)]),
    "a pretty object that is torn": ("a.json", PRETTY[:-3], [("record", 1, PRETTY[:-3])]),
    "a pretty array of records": (
        "a.json",
        ARRAY_OF_RECORDS,
        [("record", 2, b'{"messages": ["}"]}'), ("record", 3, b"12"), ("record", 4, b'{\n    "messages": []\n  }')],
    ),
    "a pretty array of messages": ("a.json", ARRAY_OF_MESSAGES, [("record", 1, ARRAY_OF_MESSAGES)]),
    "concatenated pretty documents": (
        "a.json",
        PRETTY + b"\n\n" + PRETTY + b' 12\n"}"\n' + PRETTY,
        [("record", 1, PRETTY), ("record", 7, PRETTY), ("record", 11, b"12"), ("record", 12, b'"}"'),
         ("record", 13, PRETTY)],
    ),
    "nothing": ("a.jsonl", b"", []),
    "utf-16 with a mark": ("a.jsonl", '{"a":1}\n'.encode("utf-16"), [("utf-16", 1, b"\xff\xfe")]),
    "big-endian utf-16": ("a.jsonl", "\ufeff{}".encode("utf-16-be"), [("utf-16", 1, b"\xfe\xff")]),
    "a raw nul among the first bytes": (
        "a.jsonl",
        b'{"\x00":1}\n{"a":2}\n',
        [("record", 1, b'{"\x00":1}'), ("record", 2, b'{"a":2}')],
    ),
    "utf-16 without a mark": ("a.jsonl", "{}\n".encode("utf-16-le"), [("utf-16", 1, b"{\x00}\x00")]),
}  # fmt: skip


@pytest.mark.parametrize("chunk", [1, 3, 17, 1 << 20])
@pytest.mark.parametrize("case", FRAMINGS)
def test_records_come_out_byte_for_byte_whatever_the_chunks(case: str, chunk: int) -> None:
    name, data, expected = FRAMINGS[case]
    found = _frames(data, name, chunk)
    assert [(kind, line, piece) for kind, line, _, _, piece in found] == expected


def test_elements_of_an_array_know_their_index() -> None:
    assert [prefix for _, _, _, prefix, _ in _frames(ARRAY_OF_RECORDS, "a.json", 1 << 20)] == [
        (0,),
        (1,),
        (2,),
    ]
    assert [prefix for _, _, _, prefix, _ in _frames(ARRAY_OF_MESSAGES, "a.json", 1 << 20)] == [()]


@MANY
@given(
    st.lists(
        st.tuples(DOCUMENTS | SHREDS, st.sampled_from([b"", b"\n", b" ", b"\r\n", b"\n\n"])), max_size=5
    ),
    st.sampled_from(["a.json", "a.jsonl"]),
    st.sampled_from([1, 2, 3, 7]),
)
@example([(b"{\n}", b"\n"), (b"12", b"\n"), (b"34", b"\n")], "a.json", 1)
def test_framing_is_the_same_for_any_chunk_size_and_loses_nothing(
    pieces: list[tuple[bytes, bytes]], name: str, chunk: int
) -> None:
    data = b" " * 4 + b"".join(text + end for text, end in pieces)  # past where encodings are looked for
    once = _frames(data, name, 1 << 20)
    assert _frames(data, name, chunk) == once
    kept = b"".join(piece for kind, _, _, _, piece in once if kind == "record")
    assert kept.translate(None, b" \t\r\n") == data.translate(None, b" \t\r\n")


WIRES: dict[str, Any] = {
    "openai-chat": {
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "r"},
        ]
    },
    "anthropic": {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]},
    "canonical": {"history": [{"speaker": "ai", "blocks": [{"type": "text", "text": "a"}], "metadata": {}}]},
}


def _put(value: Any, pointer: Pointer, what: Any) -> Any:
    if not pointer:
        return what
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[pointer[0]] = _put(copy[pointer[0]], pointer[1:], what)
    return copy


@pytest.mark.parametrize("wire", WIRES)
def test_a_record_with_wrong_kinds_anywhere_still_decodes(wire: str) -> None:
    @MANY
    @given(st.lists(st.tuples(st.integers(0, 30), VALUES), min_size=1, max_size=3))
    def check(changes: list[tuple[int, Any]]) -> None:
        record = WIRES[wire]
        for index, what in changes:
            places = _places(record)
            record = _put(record, places[index % len(places)][0], what)
        decoded = carrier(wire).shape.read(Record(1, 0, json.dumps(record).encode()))
        assert decoded.value is not None
        existing = dict(_places(record))
        for misfit in decoded.misfits:
            assert misfit.at in existing or misfit.at[:-1] in existing
            assert misfit.found == kind_of(existing.get(misfit.at))

    check()


@pytest.mark.parametrize("wrong", [True, 7, "text", [], {}])
@pytest.mark.parametrize(
    ("at", "right"),
    [
        (("messages",), list),
        (("messages", 0), dict),
        (("messages", 0, "role"), str),
        (("messages", 1, "tool_calls"), list),
        (("messages", 1, "tool_calls", 0), dict),
        (("messages", 1, "tool_calls", 0, "id"), str),
        (("messages", 1, "tool_calls", 0, "function"), dict),
        (("messages", 1, "tool_calls", 0, "function", "name"), str),
        (("messages", 2, "tool_call_id"), str),
    ],
)
def test_one_wrong_kind_is_one_misfit_at_its_place(at: Pointer, right: type, wrong: Any) -> None:
    record = _put(WIRES["openai-chat"], at, wrong)
    decoded = carrier("openai-chat").shape.read(Record(1, 0, json.dumps(record).encode()))
    found = [(misfit.at, misfit.found) for misfit in decoded.misfits]
    assert found == ([] if isinstance(wrong, right) else [(at, kind_of(wrong))])
    if at != ("messages",):
        assert len(decoded.value.messages) == 3


PACKINGS = {
    "plain": (".jsonl", bytes),
    "gzip": (".jsonl.gz", gzip.compress),
    "two gzip members": (".jsonl.gz", lambda data: gzip.compress(data[:9000]) + gzip.compress(data[9000:])),
    "zstandard": (".jsonl.zst", zstandard.compress),
    "two zstandard frames": (
        ".jsonl.zst",
        lambda data: zstandard.compress(data[:9000]) + zstandard.compress(data[9000:]),
    ),
}


def _session(count: int) -> bytes:
    """One message a line, which is let go and read again; more findings than one group of that holds."""
    results = (
        {"role": "tool", "tool_call_id": f"c{index}", "content": f"r{index}"} for index in range(count)
    )
    lines = ['{"role": "user", "content": "é"}', *map(json.dumps, results)]
    return ("\n".join(lines) + "\n").encode()


def _lint(*arguments: str, stdin: bytes = b"") -> tuple[list[dict[str, Any]], dict[str, Any]]:
    command = [sys.executable, "-m", "turnlint", "lint", *arguments, "--output-format", "jsonl"]
    done = subprocess.run(command, input=stdin, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    *findings, summary = map(json.loads, done.stdout.splitlines())
    return findings, summary["summary"]


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("through_stdin", [False, True])
def test_packed_and_piped_sessions_give_the_same_report(
    packing: str, through_stdin: bool, tmp_path: Path
) -> None:
    suffix, pack = PACKINGS[packing]
    data = _session(1200)
    path, picture = tmp_path / f"a{suffix}", tmp_path / "report.txt"
    path.write_bytes(pack(data))
    arguments = ["-"] if through_stdin else [str(path)]
    arguments += ["--show-content", "excerpt", "--output", f"text:{picture}"]
    findings, summary = _lint(*arguments, stdin=path.read_bytes())
    orphans = [one for one in findings if one["rule"] == "orphan-result"]
    assert (summary["messages"], len(orphans)) == (1201, 1200)
    for index, one in enumerate(orphans):
        assert data[one["byte_offset"] : one["byte_end"]] == f'"c{index}"'.encode()
        assert (one["line"], one["pointer"]) == (index + 2, "/tool_call_id")
        assert one["column"] == len('{"role": "tool", "tool_call_id": ') + 1
    assert '"r0"' in picture.read_text()


def _requests(count: int) -> bytes:
    """A finding on each line, and texts that do not compress: what is lost shows as a line that is missing."""
    texts = (hashlib.sha256(str(index).encode()).hexdigest() for index in range(count))
    lines = ({"messages": [{"role": "tool", "tool_call_id": "c", "content": text}]} for text in texts)
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _zstd_between_blocks(data: bytes) -> bytes:
    """Cut where a writer that was killed had flushed: between two blocks, and between two lines."""
    half = data.index(b"\n", len(data) // 2) + 1
    sink = io.BytesIO()
    with zstandard.ZstdCompressor().stream_writer(sink, closefd=False) as writer:
        writer.write(data[:half])
        writer.flush(zstandard.FLUSH_BLOCK)
        size = len(sink.getvalue())
        writer.write(data[half:])
    return sink.getvalue()[:size]


def _with_checksum(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def _halved(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _flipped(data: bytes) -> bytes:
    place = len(data) // 2
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


BREAKS = {
    "a gzip cut near its end": (".gz", lambda data: gzip.compress(data)[:-300], 0.98),
    "a gzip cut in the middle": (".gz", lambda data: _halved(gzip.compress(data)), 0.45),
    "a gzip without its checksum": (".gz", lambda data: gzip.compress(data)[:-8], 0.98),
    "a zstandard cut near its end": (".zst", lambda data: zstandard.compress(data)[:-300], 0.7),
    "a zstandard cut between blocks": (".zst", _zstd_between_blocks, 0.45),
    "a gzip with a flipped byte": (".gz", lambda data: _flipped(gzip.compress(data)), 0.0),
    "a zstandard with a flipped byte": (".zst", lambda data: _flipped(_with_checksum(data)), 0.0),
}
"""Archives that break, with the share of their lines that can be had from them."""


@pytest.mark.parametrize("case", BREAKS)
def test_a_damaged_archive_gives_what_comes_before_the_break_and_one_finding(
    case: str, tmp_path: Path
) -> None:
    suffix, damage, share = BREAKS[case]
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(damage(_requests(4000)))
    findings, _ = _lint(str(path))
    broken = [one["message"] for one in findings if "compressed data" in one["message"]]
    lines = [one["line"] for one in findings if one["rule"] == "orphan-result"]
    expected = list(range(1, int(4000 * share) + 1))
    assert (len(broken), lines[: len(expected)] == expected) == (1, True), (broken, len(lines))
