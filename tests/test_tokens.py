"""The tokens of JSON texts, compared with Python's json, and walks over damaged texts."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arbitrary_json import ANYTHING, DOCUMENTS, MANY, SPELLINGS, VALUES
from turnlint.documents import tokens
from turnlint.documents.columns import Position
from turnlint.documents.tokens import Grammar, Items, Skipper, find_value_end, tokenize

SPACE = b" \t\n\r"


def is_accepted(data: bytes) -> bool:
    """Whether the order of the tokens of a text conforms to the grammar."""
    grammar = Grammar()
    found = list(tokenize(data))
    return (
        all(grammar.accept(kind, data[start]) for kind, start, _ in found[:-1])
        and grammar.expects == tokens.NOTHING
    )


@MANY
@given(ANYTHING)
def test_the_tokens_are_all_bytes_except_white_space(data: bytes) -> None:
    at = 0
    *found, (last, *end) = tokenize(data)
    for _, start, after in found:
        assert not data[at:start].strip(SPACE)
        assert at <= start < after
        at = after
    assert (last, end) == (tokens.END, [len(data)] * 2)
    assert not data[at:].strip(SPACE)


@MANY
@given(DOCUMENTS)
def test_the_tokens_of_a_valid_text_are_its_strings_scalars_and_marks(data: bytes) -> None:
    assert is_accepted(data)
    for kind, start, end in list(tokenize(data))[:-1]:
        token = data[start:end]
        if kind == tokens.MARK:
            assert token in b"{}[],:"
            continue
        value = json.loads(token)
        assert isinstance(value, str) == (kind in (tokens.PLAIN_STRING, tokens.OTHER_STRING))
        assert (kind == tokens.PLAIN_STRING) == (isinstance(value, str) and value.encode() == token[1:-1])


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@MANY
@given(st.lists(st.sampled_from(["{", "}", "[", "]", ",", ":", '"a"', "1", " "]), max_size=12).map("".join))
@example('{"a":[{},[]]}')
@example('{"a":1,"a"}')
def test_the_grammar_is_json_plus_a_comma_before_a_closing_bracket(text: str) -> None:
    marks = [text[start:end] for kind, start, end in tokenize(text.encode()) if kind != tokens.END]
    lax = any(one == "," and other in "]}" for one, other in pairwise(marks))
    if not lax:
        assert is_accepted(text.encode()) == is_json(text)


@pytest.mark.parametrize("text", [b"[1,]", b'{"a":1,}', b'[{"a":[],},]'])
def test_the_grammar_has_a_comma_before_a_closing_bracket(text: bytes) -> None:
    assert is_accepted(text)
    assert not is_accepted(text.replace(b",", b",,"))


@MANY
@given(DOCUMENTS, ANYTHING)
def test_a_value_ends_where_the_json_module_finds_its_end(data: bytes, after: bytes) -> None:
    start = len(data) - len(data.lstrip(SPACE))
    text = data.decode()
    _, end = json.JSONDecoder().raw_decode(text, start)
    length = len(text[:end].encode())
    assert find_value_end(data, start) == length
    assert find_value_end(data.rstrip(SPACE) + b", " + after, start) == length


@MANY
@given(ANYTHING, ANYTHING, st.integers(1, 7))
@example(b'{"a": "\\\\', b'"}', 1)
def test_an_end_is_found_for_any_split_of_the_bytes(data: bytes, more: bytes, size: int) -> None:
    data = b"[" + data + more
    skipper, at, held = Skipper(), 0, 0
    while held < len(data) and not skipper.is_done:
        held += size
        at = skipper.skip(data[:held], at)
    assert (at if skipper.is_done else len(data)) == find_value_end(data, 0)


@MANY
@given(VALUES, SPELLINGS, st.booleans())
def test_the_items_of_a_container_are_those_of_its_value(
    value: Any, spell: Any, ends_are_known: bool
) -> None:
    data = spell([value, {"a": value, "b\n": value}]).encode()
    walks = [Items(data, data.index(b"["))]
    for items in walks:
        parsed = json.loads(data[items.start : find_value_end(data, items.start)])
        expected = list(parsed.items() if isinstance(parsed, dict) else enumerate(parsed))
        found = []
        for name, start, at in items:
            end = find_value_end(data, at)
            assert data[start : start + 1] == (b'"' if items.is_object else data[at : at + 1])
            found.append((name, json.loads(data[at:end])))
            if data[at : at + 1] in (b"{", b"["):
                walks.append(Items(data, at))
            if ends_are_known:
                items.known_end = end
        assert json.dumps(found) == json.dumps(expected)
        assert (items.end, items.is_sound) == (find_value_end(data, items.start), True)


@MANY
@given(ANYTHING)
def test_a_walk_over_damaged_items_stays_inside(data: bytes) -> None:
    for head in (b"{", b"[", b'{"a": '):
        items = Items(head + data, 0)
        starts = [start for _, start, _ in items]
        assert starts == sorted(starts)
        assert 0 < items.end <= len(head + data)
        if items.is_sound:
            assert (head + data)[items.end - 1 : items.end] == (b"}" if items.is_object else b"]")


@pytest.mark.parametrize(
    "data", [b"{", b"[", b'{"a"', b'{"a"}', b'{"a":1', b"[1 2]", b"[1}", b'{"a":1 "b":2}', b"{,}", b"{1:2}"]
)
def test_damaged_containers_are_not_sound(data: bytes) -> None:
    items = Items(data, 0)
    assert len(list(items)) <= 1
    assert not items.is_sound


@MANY
@given(st.lists(st.text("a\né😀\r", max_size=4).map(str.encode) | st.just(b"\xff"), max_size=8))
def test_positions_count_every_piece_once(pieces: list[bytes]) -> None:
    position = Position(3, 5, (1, 2))
    for piece in pieces:
        position.advance(piece)
    text = b"".join(pieces)
    last = text[text.rfind(b"\n") + 1 :]
    shown = last.decode(errors="replace")
    width, wide = len(shown), sum(ord(item) > 0xFFFF for item in shown)
    if b"\n" in text:
        expected = (3 + text.count(b"\n"), 1 + width, (len(last) - width, wide))
    else:
        expected = (3, 5 + width, (1 + len(last) - width, 2 + wide))
    assert (position.line, position.column, position.extra) == expected
