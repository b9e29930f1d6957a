"""Edits in bytes: values replaced, removed, added and moved in a text.

The result parses as the same edits of Python values would. Values without an edit keep their bytes. New values have
the style of the text around them.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitrary_json import ANYTHING, MANY, SPELLINGS, VALUES, places
from edit_model import Kept, Model, draw_edits, plain
from turnlint.documents.edit import Built, Edits, Moved, Piece, Style, apply, encode, part, style_of
from turnlint.model import Pointer

Inserted = list[tuple[int, Piece]]


@MANY
@given(st.lists(st.tuples(VALUES, SPELLINGS), min_size=1, max_size=2), st.data())
def test_the_text_parses_as_the_edited_value_and_unedited_values_keep_their_bytes(
    written: list[tuple[Any, Any]], data: st.DataObject
) -> None:
    texts = [spell(value).encode() for value, spell in written]
    edits = data.draw(draw_edits(texts))
    model = Model(texts, edits)
    try:
        for piece in model.all_moves():
            model.moved(piece, ())
    except ValueError:
        with pytest.raises(ValueError, match="moved into itself"):
            apply(texts, edits)
        return
    changed = apply(texts, edits)
    assert all(changed[record] != texts[record] for record in changed)
    for record, text in enumerate(texts):
        expected = model.after(record, ())
        result = changed.get(record, text)
        assert json.dumps(json.loads(result)) == json.dumps(plain(expected))
        assert all(part(result, at) == kept.raw for at, kept in places(expected) if isinstance(kept, Kept))


Spell = Callable[[Any], str]


def spelling(**more: Any) -> Spell:
    return lambda value: json.dumps(value, **more)


def on_windows(value: Any) -> str:
    return json.dumps(value, indent=2).replace("\n", "\r\n")


@MANY
@given(
    VALUES,
    st.sampled_from([
        spelling(), spelling(separators=(",", ":")), spelling(ensure_ascii=False), spelling(indent=2),
        spelling(indent=4, ensure_ascii=False), spelling(indent="\t"), spelling(indent=0), on_windows,
        spelling(indent=2, separators=(",", ":")),
    ]),
    st.data(),
)  # fmt: skip
def test_a_text_of_an_encoder_equals_the_encoding_of_the_edited_value(
    value: Any, spell: Spell, data: st.DataObject
) -> None:
    text = spell({"é": [0, 0], "below": value}).encode()
    edits = data.draw(draw_edits([text], ("below",), moves=False))
    edits[0].erase.discard(("below",))
    expected = plain(Model([text], edits).after(0, ()))
    assert apply([text], edits).get(0, text).decode() == spell(expected)


@MANY
@given(ANYTHING, st.data())
def test_no_edits_and_edits_of_missing_places_change_nothing_and_damage_is_no_error(
    text: bytes, data: st.DataObject
) -> None:
    assert not Edits()
    assert apply([text], {0: Edits()}) == {}
    assert apply([text], {}) == {}
    nowhere = Edits(
        {("no", "such"): b"1"}, {(), ("no",), (77,)}, {("no",): [(0, b"1"), (0, Moved(0, ("no",)))]}
    )
    assert apply([text], {0: nowhere}) == {}
    pointer = data.draw(st.sampled_from([("a",), (0,), (0, "a"), ("a", 0)]))
    apply([text], {0: Edits({pointer: b"1"}, {(*pointer, 0)}, {pointer: [(0, b"2")]})})


def edits(
    write: dict[Pointer, bytes] | None = None,
    erase: set[Pointer] | None = None,
    insert: dict[Pointer, Inserted] | None = None,
) -> Edits:
    return Edits(write or {}, erase or set(), insert or {})


ARRAYS = {
    "erase the first": (b"[1, 2,3 ]", edits(erase={(0,)}), b"[2,3 ]"),
    "erase the middle": (b"[1, 2,3 ]", edits(erase={(1,)}), b"[1,3 ]"),
    "erase the last": (b"[1, 2,3 ]", edits(erase={(2,)}), b"[1, 2 ]"),
    "erase the only one": (b"[ 1 ]", edits(erase={(0,)}), b"[]"),
    "erase all": (b" [\n 1,\n 2\n]\n", edits(erase={(0,), (1,)}), b" []\n"),
    "erase all and insert": (b"[1,2]", edits(None, {(0,), (1,)}, {(): [(1, b"3"), (0, b"4")]}), b"[4,3]"),
    "insert first": (b"[1, 2]", edits(insert={(): [(0, b"0")]}), b"[0, 1, 2]"),
    "insert between": (b"[1,2]", edits(insert={(): [(1, b"0"), (1, b"9")]}), b"[1,0,9,2]"),
    "insert last": (b"[ 1, 2 ]", edits(insert={(): [(2, b"0")]}), b"[ 1, 2, 0 ]"),
    "insert after one": (b'{"a":[1]}', edits(insert={("a",): [(1, b"0")]}), b'{"a":[1,0]}'),
    "insert after one, wide": (b'{"a": [1]}', edits(insert={("a",): [(1, b"0")]}), b'{"a": [1, 0]}'),
    "insert into nothing": (b'{"a":[]}', edits(insert={("a",): [(0, b"1"), (0, b"2")]}), b'{"a":[1,2]}'),
    "insert into space": (b"[ ]", edits(insert={(): [(0, b"1"), (0, b"2")]}), b"[ 1, 2 ]"),
    "insert out of range": (b"[1]", edits(insert={(): [(2, b"1"), (-1, b"2")]}), None),
    "insert into an object": (b'{"a": 1}', edits(insert={(): [(0, b"1")]}), None),
    "replace in place": (b"[1e400 , -0.0]", edits({(1,): b"7"}), b"[1e400 , 7]"),
    "replace wins over below": (b"[[1]]", edits({(0,): b"7", (0, 0): b"8"}, {(0, 0)}), b"[7]"),
    "below a removed value": (b"[[1],2]", edits({(0, 0): b"8"}, {(0,)}), b"[2]"),
    "erase the whole": (b"[1]", edits(erase={()}), None),
    "replace the whole": (b"\r\n [1] ", edits({(): b'{"a":[1]}'}), b'\r\n {"a":[1]} '),
    "a comma too many": (b"[[1], [2,],]", edits(None, {(0,), (1, 0)}, {(): [(2, b"3")]}), b"[[], 3,]"),
    "no comma": (b"[[1 2], 3]", edits(None, {(0, 0), (1,)}), b"[[1 2]]"),
    "no value": (b"[[,1], 3]", edits({(0, 1): b"2"}, {(1,)}), b"[[,1]]"),
    "never closed": (b"[[1, 3]", edits({(0, 1): b"2"}), None),
    "no BOM, no UTF-8": (b'["\xff\\ud800", 1]', edits(erase={(1,)}), b'["\xff\\ud800"]'),
}
OBJECTS = {
    "erase the first": (b'{"a": 1, "b": 2}', edits(erase={("a",)}), b'{"b": 2}'),
    "erase the last": (b'{"a": 1 , "b": 2 }', edits(erase={("b",)}), b'{"a": 1 }'),
    "erase the only one": (b'[{ "a": 1 }]', edits(erase={(0, "a")}), b"[{}]"),
    "add": (b'{"a":1}', edits({("b",): b"2"}), b'{"a":1,"b":2}'),
    "add to two": (b'{"a" : 1 ,"b" : 2}', edits({("c",): b"3"}), b'{"a" : 1 ,"b" : 2 ,"c" : 3}'),
    "add to none": (b"[1, {}]", edits({(1, "c"): b"3", (1, "d"): b"4"}), b'[1, {"c": 3, "d": 4}]'),
    "add where all goes": (b'{"a":1}', edits({("b",): b"2"}, {("a",)}), b'{"b":2}'),
    "add in order": (b"{}", edits({("b", "x"): b"0", ("a",): b"1", ("b",): b"2"}), b'{"a": 1, "b": 2}'),
    "no parent": (b'{"a":1}', edits({("b", "c"): b"2", ("a", "c"): b"2", (0,): b"2"}), None),
    "escaped key": (b'{"\\u0061": 1, "b": 2}', edits({("a",): b"3"}, {("b",)}), b'{"\\u0061": 3}'),
    "new key escaped": (b"{}", edits({("\u00e9\n",): b"1"}), b'{"\\u00e9\\n": 1}'),
    "new key as it is": (b'{"\xc3\xa9":1}', edits({("\u00fc",): b"1"}), b'{"\xc3\xa9":1,"\xc3\xbc":1}'),
    "key of half a pair": (b'{"\\ud800":1}', edits(erase={("\ud800",)}), b"{}"),
    "new key of half a pair": (b'{"\xc3\xa9":1}', edits({("\ud800",): b"1"}), b'{"\xc3\xa9":1,"\\ud800":1}'),
    "write a key twice there": (b'{"a":1,"b":2,"a":3}', edits({("a",): b"4"}), b'{"a":1,"b":2,"a":4}'),
    "write below one": (b'{"a":[1],"a":[1]}', edits({("a", 0): b"4"}), b'{"a":[1],"a":[4]}'),
    "write below none": (b'{"a":[1],"a":2}', edits({("a", 0): b"4"}), None),
    "erase a key twice there": (b'{"a":1,"b":2,"\\u0061":3}', edits(erase={("a",)}), b'{"b":2}'),
}
PRETTY = {
    "a member in lines": (
        b'{\r\n  "a": 1\r\n}\r\n',
        edits({("b",): b'{"c":[1, "x, [y]"],"d":{}, "e":[ ]}'}),
        (b'{\r\n  "a": 1,\r\n  "b": {\r\n    "c": [\r\n      1,\r\n      "x, [y]"\r\n    ],\r\n'
        b'    "d": {},\r\n    "e": []\r\n  }\r\n}\r\n'),
    ),
    "an element in tabs": (
        b'{\n\t"a": [\n\t\t{\n\t\t\t"b": 1\n\t\t}\n\t]\n}',
        edits(insert={("a",): [(0, b'{"c":1}')]}),
        b'{\n\t"a": [\n\t\t{\n\t\t\t"c": 1\n\t\t},\n\t\t{\n\t\t\t"b": 1\n\t\t}\n\t]\n}',
    ),
    "into an empty array": (
        b'{\n    "a": []\n}',
        edits(insert={("a",): [(0, b"1"), (0, b"[2]")]}),
        b'{\n    "a": [\n        1,\n        [\n            2\n        ]\n    ]\n}',
    ),
    "one record a line": (
        b'[\n  {"a": 1},\n  {"a": []}\n]',
        edits({(1, "b"): b'{"c": 1}'}, None, {(): [(2, b'{"a": [2]}')], (1, "a"): [(0, b"[3]")]}),
        b'[\n  {"a": 1},\n  {"a": [[3]], "b": {"c": 1}},\n  {"a": [2]}\n]',
    ),
    "commas first": (
        b"[ 1\n, 2\n]", edits({(1,): b"3"}, None, {(): [(1, b"5")]}), b"[ 1\n, 5\n, 3\n]",
    ),
    "steps of its own": (
        b'{\n "a": [\n     1\n ]\n}', edits(insert={("a",): [(0, b"[2]")]}),
        b'{\n "a": [\n     [\n         2\n     ],\n     1\n ]\n}',
    ),
    "the whole": (b'{\n  "a": 1\n}', edits({(): b"[1,2]"}), b"[\n  1,\n  2\n]"),
    "the last one goes": (b"[\n  1,\n  2\n]", edits(erase={(1,)}), b"[\n  1\n]"),
    "the first one goes": (b"[\n  1,\n  2\n]", edits(erase={(0,)}), b"[\n  2\n]"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("before", "wanted", "after"), [*ARRAYS.values(), *OBJECTS.values(), *PRETTY.values()],
    ids=[*(f"array: {name}" for name in ARRAYS), *(f"object: {name}" for name in OBJECTS), *PRETTY],
)  # fmt: skip
def test_every_position_and_style(before: bytes, wanted: Edits, after: bytes | None) -> None:
    assert apply([before], {0: wanted}) == ({} if after is None else {0: after})


def test_a_move_between_texts_carries_the_bytes_and_the_edits_below() -> None:
    texts = [b'{"m": [{"id":"a" , "n": 1.50}, 2]}', b"[\n  1\n]", b'{"x": 1}']
    there = Edits()
    there.add((), 1, Moved(0, ("m", 0)))
    here = Edits()
    assert here.take(("m", 0))
    assert not here.take(("m", 0))
    assert here.put(("m", 0, "id"), b'"b"')
    assert not here.put(("m", 0, "id"), b'"c"')
    assert here
    assert there
    assert apply(texts, {0: here, 1: there}) == {
        0: b'{"m": [2]}',
        1: b'[\n  1,\n  {"id":"b" , "n": 1.50}\n]',
    }
    assert apply(texts, {1: there}) == {1: b'[\n  1,\n  {"id":"a" , "n": 1.50}\n]'}


def test_a_new_value_may_include_values_that_move() -> None:
    moving = Built((b'{"c":[', Moved(0, ("a", 0)), b",", Built((Moved(1, (0,)), b",2")), b"]}"))
    nowhere = Built((b"[", Moved(1, (7,)), b"]"))
    wanted = edits(None, {("a", 0)}, {("b",): [(0, moving), (0, nowhere), (1, b'"\\u0000"')]})
    lines = b'{\n "a": [ { "x" :1} ],\n "b": [\n  0\n ]\n}'
    assert apply([lines, b"[[ 5 ]]"], {0: wanted, 1: edits(erase={(0,)})}) == {
        0: b'{\n "a": [],\n "b": [\n  {\n   "c": [\n    { "x" :1},\n    [ 5 ],\n    2\n   ]\n  },'
        b'\n  0,\n  "\\u0000"\n ]\n}',
        1: b"[]",
    }
    assert apply([b'{"a":[1],"b":[]}', b"[[ 5 ]]"], {0: wanted}) == {0: b'{"a":[],"b":[{"c":[1,[ 5 ],2]}]}'}
    own = edits(insert={("a",): [(0, Built((b"[", Moved(0, ("a",)), b"]")))]})
    with pytest.raises(ValueError, match="into itself"):
        apply([b'{"a":[]}'], {0: own})


def test_values_that_move_within_an_array_change_places_and_nothing_else() -> None:
    text = b'[ "a", "b",  "c" ]'
    moved = edits(None, {(2,)}, {(): [(0, Moved(0, (2,)))]})
    assert apply([text], {0: moved}) == {0: b'[ "c", "a", "b" ]'}


def test_a_value_moves_out_of_a_replaced_value_and_from_its_new_position() -> None:
    text = b'{"a": {"b": [1]}, "c": [], "d": {}}'
    moved = edits(
        {("a",): b"0", ("a", "b", 0): b"2", ("d", "e"): b"3"},
        {("d", "e")},
        {("c",): [(0, Moved(0, ("a", "b"))), (0, Moved(0, ("d", "e")))]},
    )
    assert apply([text], {0: moved}) == {0: b'{"a": 0, "c": [[2], 3], "d": {}}'}


@pytest.mark.parametrize("erase", [set(), {(0,)}, {(0,), (1,)}])
def test_a_value_cannot_move_into_itself(erase: set[Pointer]) -> None:
    own = edits(None, erase, {(0,): [(0, Moved(0, (0,)))]})
    with pytest.raises(ValueError, match="into itself"):
        apply([b"[[], []]"], {0: own})
    each_other = edits(None, erase, {(0,): [(0, Moved(0, (1,)))], (1,): [(0, Moved(0, (0,)))]})
    with pytest.raises(ValueError, match="into itself"):
        apply([b"[[], []]"], {0: each_other})


def test_ten_thousand_edits_beside_a_value_of_any_depth() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    text = b"[" + b",".join([b'{"a":[1]}'] * 10_000) + b"," + deep + b"]"
    many = Edits()
    for index in range(10_000):
        many.put((index, "a", 0), b"2")
        many.take((index,))
        many.add((), 10_000 - index, Moved(0, (index,)))
        many.add((), 10_001, Moved(0, (index, "a")))
    assert apply([text], {0: many}) == {
        0: b"[" + b",".join([b'{"a":[2]}'] * 10_000) + b"," + deep + b",[2]" * 10_000 + b"]"
    }


@MANY
@given(VALUES, SPELLINGS)
def test_every_part_is_found_and_a_new_value_reads_as_itself(value: Any, spell: Any) -> None:
    text = spell(value).encode()
    for at, expected in places(value):
        found = part(text, at)
        assert found is not None
        assert json.dumps(json.loads(found)) == json.dumps(expected)
    assert part(text, ("no such", 0)) is None
    assert part(text, (99,)) is None
    again = encode(value, text)
    assert json.dumps(json.loads(again)) == json.dumps(value)
    assert b"\n" not in again
    assert again == encode(value, style_of(text))
    assert again.isascii() or not text.isascii()


@pytest.mark.parametrize(
    ("near", "expected"),
    [
        (b'{"a":[1,2]}', b'{"x":[1,"\\u00e9"]}'),
        (b'{"a": [1, 2]}', b'{"x": [1, "\\u00e9"]}'),
        (b'["\xc3\xa9, b\\": ",1]', b'{"x":[1,"\xc3\xa9"]}'),
        (b'{\n  "a": 1,\n  "b": 2\n}', b'{"x": [1, "\\u00e9"]}'),
        (b'{\n  "a":1,\n  "b":2\n}', b'{"x":[1,"\\u00e9"]}'),
        (b'["a:b,c"]', b'{"x": [1, "\\u00e9"]}'),
        (b"", b'{"x": [1, "\\u00e9"]}'),
        (Style(b",", b": ", False, b"\n", None), b'{"x": [1,"\xc3\xa9"]}'),
    ],
)
def test_a_new_value_is_spelled_as_the_text_around_it(near: bytes | Style, expected: bytes) -> None:
    assert encode({"x": [1, "é"]}, near) == expected
