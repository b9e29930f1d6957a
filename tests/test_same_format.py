"""A repair leaves a file in its format: wires, providers, levels and layouts of a file."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from msgspec import Raw
from msgspec.json import decode

from breaking import Maker
from breaking_wires import WIRES, Value
from fuzz_pairs import _fixed, _spelled, terms
from pairing_faults import broken
from turnlint.documents.source import Source
from turnlint.engine import Options
from turnlint.packages import packages
from turnlint.providers import Providers
from turnlint.reading import transcripts
from turnlint.repair.choosing import LEVELS

LAYOUTS = ("request", "array", "lines")
SEEDS = range(3)
_FREE = (
    "arguments",
    "input",
    "args",
    "parameters",
    "parametersRaw",
    "response",
    "result",
    "output",
    "content",
)
"""Keys whose objects are arguments or results of tools; a name inside belongs to no wire."""
PLACED = {"bedrock": {"status"}, "anthropic": {"is_error"}}
"""Keys of a wire that only a placeholder result has in these conversations."""


def spelled(wire: str, seed: object, *, faults: bool) -> list[Value]:
    """The messages of a drawn conversation."""
    rng = Random(f"{wire} {seed}")  # noqa: S311 - the same in every run
    while True:
        conversation = Maker(rng, WIRES[wire].traits(rng)).conversation()
        if faults:
            broken(conversation, rng)
        values = _spelled(wire, conversation)
        if values:
            return values


def odd(value: Any, rng: Random) -> str:
    """JSON with white space and escapes that no encoder would write again."""
    separators = rng.choice([(" ,  ", " :  "), (",", ":"), (",\t", ": ")])
    return json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=separators)


def file_of(wire: str, values: list[Value], layout: str, seed: object) -> bytes:
    rng = Random(f"{wire} {seed}")  # noqa: S311
    items = [odd(value, rng) for value in values]
    if layout == "lines":
        return "".join(item + "\n" for item in items).encode()
    array = "[" + " , ".join(items) + "]"
    if layout == "array":
        return (array + "\n").encode()
    body = json.dumps(WIRES[wire].body)[:-1] + (", " if WIRES[wire].body else "")
    return f'{body}"{WIRES[wire].key}": {array}}}\n'.encode()


def elements(data: bytes, wire: str, layout: str) -> list[bytes]:
    if layout == "lines":
        return data.splitlines()
    holder = decode(data, type=dict[str, Raw])[WIRES[wire].key] if layout == "request" else data
    return [bytes(item) for item in decode(holder, type=list[Raw])]


def keys_of(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from keys_of(one, name)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            if key not in _FREE or isinstance(one, list):
                yield from keys_of(one, key)


KEYS = {
    wire: {key for seed in range(40) for key in keys_of(spelled(wire, seed, faults=False))} for wire in WIRES
}


def wires_in(data: bytes) -> set[str]:
    return {transcript.wire.name for transcript in transcripts(Source("a.json", None, data=data))}


def providers_of(wire: str) -> list[str]:
    known = Providers(packages())
    return [
        "auto",
        *(name for name in known.names() if any(wire in version.wires for version in known.versions(name))),
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("wire", WIRES)
def test_a_repair_keeps_the_format_and_the_bytes_of_unchanged_parts(wire: str, layout: str) -> None:
    changed = 0
    foreign = (
        set().union(*(KEYS[other] for other in WIRES if other != wire)) - KEYS[wire] - PLACED.get(wire, set())
    )
    for seed in SEEDS:
        values = spelled(wire, seed, faults=True)
        data = file_of(wire, values, layout, seed)
        before = elements(data, wire, layout)
        for provider in providers_of(wire):
            for level in LEVELS:
                term = terms(wire, level, provider)
                options = Options(providers=term.options.providers)
                after, done = _fixed(data, term._replace(options=options))
                case = (wire, layout, provider, level, seed, data, after)
                assert done.near is None or after == data, case
                now = elements(after, wire, layout)
                assert wires_in(after) <= wires_in(data), case
                keys = {*keys_of([json.loads(item) for item in now])} - {*keys_of(values)}
                assert not keys & foreign, case
                again = [item for item in now if item not in before]
                same = [item for item in again if json.loads(item) in values]
                assert not same, case
                changed += after != data
    assert changed
