"""The exact reader: bytes to values, and every defect reported at its bytes.

Also tests the census and the fast path that avoid it, and values of the wrong kind. The oracle is Python's json.
"""

import json
import sys
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arbitrary_json import ANYTHING, CONTAINERS, DOCUMENTS, MANY, SPELLINGS, VALUES, places
from budgets import examples
from turnlint.carriers import carrier
from turnlint.documents import census, exact
from turnlint.documents.fit import kind_of
from turnlint.model import Pointer, Record


@pytest.mark.hypothesis
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
def test_a_bad_value_is_reported_at_its_bytes_and_the_rest_is_read(
    before: Any, after: Any, defect: tuple[bytes, str]
) -> None:
    text, kind = defect
    head = b'{"x": ' + json.dumps(before).encode() + b', "here": ['
    data = head + text + b'], "y": ' + json.dumps(after).encode() + b"}"
    reading = exact.read(data)
    found = [(trouble.kind, trouble.start, trouble.end, trouble.at) for trouble in reading.troubles]
    assert found == [(kind, len(head), len(head) + len(text), ("here", 0))]
    assert reading.whole
    assert json.dumps([reading.value["x"], reading.value["y"]]) == json.dumps([before, after])


@MANY
@given(st.text("aé😀", max_size=5), st.text("aé😀", max_size=5), st.sampled_from(INSIDE_STRINGS))
def test_a_bad_byte_in_a_string_is_reported_at_its_position(
    before: str, after: str, defect: tuple[bytes, str]
) -> None:
    text, kind = defect
    head = b'{"a": 1, "here": "' + before.encode()
    reading = exact.read(head + text + after.encode() + b'", "y": 2}')
    (trouble,) = reading.troubles
    assert (trouble.kind, trouble.start, trouble.at) == (kind, len(head), ("here",))
    assert trouble.start < trouble.end <= len(head) + len(text)
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
def test_a_defect_of_structure_is_reported_at_its_position(
    data: bytes, kind: str, span: bytes, at: Pointer
) -> None:
    (trouble,) = exact.read(data).troubles
    assert (trouble.kind, data[trouble.start : trouble.end], trouble.at) == (kind, span, at)


def test_each_of_many_equal_defects_has_its_own_position() -> None:
    text = b'[{"x":1,"x":2},{"x":1,"x":2},{"x":1,"x":2}]'
    assert [trouble.at for trouble in exact.read(text).troubles] == [(0, "x"), (1, "x"), (2, "x")]


def test_a_duplicate_key_names_the_first_one_and_the_last_value_stays() -> None:
    data = b'{"a": 1, "b": {"a": 3}, "a": 2, "a": 4}'
    reading = exact.read(data)
    spans = [(trouble.first, (trouble.start, trouble.end)) for trouble in reading.troubles]
    first, second, third = (at for at in range(len(data)) if data[at : at + 3] == b'"a"' and at != 15)
    assert spans == [((first, first + 3), (second, second + 3)), ((second, second + 3), (third, third + 3))]
    assert reading.value == {"a": 4, "b": {"a": 3}}


@settings(max_examples=examples(100), deadline=None)
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
        (trouble,) = reading.troubles
        assert (reading.whole, trouble.kind, trouble.start) == (False, "too-deep", 1000 * len(opening))


@MANY
@given(ANYTHING)
def test_exact_reading_never_raises_and_points_into_the_data(data: bytes) -> None:
    reading = exact.read(data)
    for trouble in reading.troubles:
        assert 0 <= trouble.start <= trouble.end <= len(data)
    assert reading.whole or reading.troubles
    assert 0 <= reading.end <= len(data)


@MANY
@given(ANYTHING)
@example(b'{"a": {"b": 1, "b": 2}}')
@example(b"[1e999]")
def test_the_census_calls_a_text_plain_exactly_if_it_has_no_defect(data: bytes) -> None:
    # The typed decoder refuses half a character, even in text that it skips: see the next test.
    kinds = {trouble.kind for trouble in exact.read(data).troubles} - {"lone-surrogate"}
    assert census.is_plain(data) == (not kinds), kinds


@MANY
@given(ANYTHING, st.sampled_from(["openai-chat", "anthropic", "canonical"]))
@example(b'{"unknown": {"\\ud83d": 1}}', "openai-chat")
@example(b'{"unknown": ["\\ude00"]}', "anthropic")
@example(b'{"messages": [{"role": "user", "content": "\\ud83d"}]}', "openai-chat")
def test_the_fast_path_hides_no_defect(data: bytes, wire: str) -> None:
    decoded = carrier(wire).shape.read(Record(1, 0, data))
    assert list(decoded.troubles) == exact.read(data).troubles
    if decoded.rest is not None:
        rest = decoded.rest
        assert rest.data == data[rest.offset :]
        assert rest.line == 1 + data[: rest.offset].count(b"\n")


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
@pytest.mark.hypothesis
def test_a_record_with_wrong_kinds_anywhere_still_decodes(wire: str) -> None:
    @MANY
    @given(st.lists(st.tuples(st.integers(0, 30), VALUES), min_size=1, max_size=3))
    def check(changes: list[tuple[int, Any]]) -> None:
        record = WIRES[wire]
        for index, what in changes:
            possible = places(record)
            record = _put(record, possible[index % len(possible)][0], what)
        decoded = carrier(wire).shape.read(Record(1, 0, json.dumps(record).encode()))
        assert decoded.value is not None
        existing = dict(places(record))
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
