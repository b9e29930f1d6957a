"""Arbitrary JSON in every valid spelling, and damaged JSON.

Strategies for the tests of the documents layer: values, their spellings, bytes that almost are JSON, and the list of
every position in a value.
"""

import json
from itertools import cycle
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from budgets import examples
from turnlint.model import Pointer

MANY = settings(max_examples=examples(400), deadline=None)
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
    """JSON with every letter of the keys escaped: valid, but rare."""
    if isinstance(value, dict):
        members = (f"{_escaped(key)} :{_with_escaped_keys(item)}" for key, item in value.items())
        return "{ " + " , ".join(members) + "\t}"
    if isinstance(value, list):
        return "[" + ",\n".join(map(_with_escaped_keys, value)) + " ]"
    return json.dumps(value)


def _escaped(key: str) -> str:
    units = key.encode("utf-16-be")
    return '"' + "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)) + '"'


def _with_uneven_gaps(value: Any) -> str:
    """JSON with a different gap between each two elements."""
    gaps = cycle(("", "", " ", "   ", "", "\t", "  \n"))
    if isinstance(value, dict):
        members = (f"{next(gaps)}{json.dumps(key)}:{_with_uneven_gaps(item)}" for key, item in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(next(gaps) + _with_uneven_gaps(item) for item in value) + "]"
    return json.dumps(value)


SPELLINGS = st.sampled_from([
    json.dumps,
    _with_escaped_keys,
    _with_uneven_gaps,
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
"""Bytes that almost are JSON, which random bytes never resemble."""
DAMAGED = st.builds(
    lambda data, at, cut, shred: data[:at] + shred + data[at + cut :],
    DOCUMENTS, st.integers(0, 60), st.integers(0, 3), SHREDS,
)  # fmt: skip
ANYTHING = st.binary(max_size=60) | SHREDS | DAMAGED | DOCUMENTS


def places(value: Any, at: Pointer = ()) -> list[tuple[Pointer, Any]]:
    found = [(at, value)]
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, item in children:
        found += places(item, (*at, key))
    return found
