"""Locating: from a pointer to the bytes of its value.

Tests positions in valid text, pointers to missing values, and damaged text. The oracle is Python's json on the bytes
found.
"""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from arbitrary_json import ANYTHING, MANY, SPELLINGS, VALUES, places
from turnlint.documents.locate import locate, locate_all


@MANY
@given(VALUES, SPELLINGS)
def test_every_pointer_leads_to_its_value_and_all_at_once_do_too(value: Any, spell: Any) -> None:
    data = spell(value).encode()
    every = places(json.loads(data))
    together = locate_all(data, [pointer for pointer, _ in every])
    assert list(together) == [pointer for pointer, _ in every]
    for pointer, expected in every:
        at, start, end = together[pointer]
        assert at == pointer
        assert json.dumps(json.loads(data[start:end])) == json.dumps(expected)
        assert data[start:end].strip() == data[start:end]
        assert locate(data, pointer) == together[pointer]
    assert locate_all(data, [pointer for pointer, _ in every], plain=True) == together


@MANY
@given(VALUES, SPELLINGS, st.lists(st.sampled_from(["no such key", 99, -1, ""]), min_size=1, max_size=3))
def test_a_pointer_to_a_missing_value_gives_the_deepest_existing_position(
    value: Any, spell: Any, beyond: list[str | int]
) -> None:
    data = spell(value).encode()
    for pointer, parent in places(value):
        if not (isinstance(parent, dict) and beyond[0] in parent):
            assert locate(data, (*pointer, *beyond)) == locate(data, pointer)


@MANY
@given(VALUES, VALUES, VALUES)
@example({"b": 1}, 0, {"c": 2})
@example([1, 2], 0, [3])
def test_the_last_of_two_equal_keys_is_found(lost: Any, between: Any, kept: Any) -> None:
    head = f'{{"a": {json.dumps(lost)}, "b": {json.dumps(between)}, "a": '.encode()
    data = head + json.dumps(kept).encode() + b"}"
    wanted = [("a", *pointer) for pointer, _ in places(lost) + places(kept)]
    expected = {("a", *pointer): item for pointer, item in places(kept)}
    for pointer, (at, start, end) in locate_all(data, wanted).items():
        assert start >= len(head)
        assert at == pointer[: len(at)]
        assert (at == pointer) == (pointer in expected)
        assert json.dumps(json.loads(data[start:end])) == json.dumps(expected[at])


@MANY
@given(ANYTHING, VALUES)
def test_locating_in_damaged_text_never_raises_and_stays_inside(data: bytes, value: Any) -> None:
    pointers = [pointer for pointer, _ in places(value)] + [("a",), ("a", 0, "a"), (0,), (0, "a", 1)]
    for pointer, (at, start, end) in locate_all(data, pointers).items():
        assert at == pointer[: len(at)]
        assert 0 <= start <= end <= len(data)
