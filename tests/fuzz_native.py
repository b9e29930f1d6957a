"""Fuzz the native reader: facts, the check for plain JSON, and the lines that the gate accepts.

    python tests/fuzz_native.py [-runs=N] [-seed=N] [-max_total_time=SECONDS] [CORPUS]

An input is a byte that selects a format, and a line. The options are those of libFuzzer: `atheris` drives the run and
follows the coverage of the Python side. Checked for each input:

- `is_plain` is true only if the strict parser reports nothing;
- native facts cover the facts that are extracted from the messages;
- a line that the gate accepts has no finding.
"""

import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["turnlint.fastpath", "turnlint.extraction"]):
    from test_fastpath import Reader, compare
    from test_mixed_logs import records
    from turnlint import compiled
    from turnlint.documents import census
    from turnlint.documents.source import Source
    from turnlint.engine import Book, Options, lint
    from turnlint.fastpath.gate import REQUEST_FORMATS, FactGate
    from turnlint.rows import Row

READERS = [Reader(name) for name in REQUEST_FORMATS]
NATIVE: Any = compiled.load()
OPTIONS = Options()
BOOK = Book(OPTIONS)
GATES = [FactGate(NATIVE, reader.carrier, BOOK, told=False) for reader in READERS]
VALUES: tuple[Any, ...] = (
    "", " ", None, 0, 0.5, True, [], {}, "x", "call_1", "toolu_1", "<tool_call>", "null", [""], {"a": ""}, '{"a": 1}', "{", "é",
    "tool", "user", "assistant", "model", "system", "text", "tool_use", "\u3000", 10**20, [{"type": "text", "text": ""}],
)  # fmt: skip
KEYS = (
    "id", "name", "type", "role", "content", "tool_calls", "tool_call_id", "function", "arguments", "text", "input", "signature",
    "thinking", "thought", "is_error", "status", "call_id", "output", "prefix", "parts", "tools", "system", "model", "store",
)  # fmt: skip


def nodes_of(value: Any) -> list[tuple[Any, Any]]:
    """Return each container of a value with a key or an index of it."""
    found, waiting = [], [value]
    while waiting:
        one = waiting.pop()
        inner = one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ()
        for key, below in inner:
            found.append((one, key))
            waiting.append(below)
    return found


def mutate_value(value: Any, chance: random.Random) -> None:
    """Change a parsed line in one place."""
    holder, key = chance.choice(nodes_of(value))
    kind = chance.randrange(5)
    if kind == 0:
        holder[key] = chance.choice(VALUES)
    elif kind == 1:
        del holder[key]
    elif kind == 2 and isinstance(holder, list):
        holder.insert(chance.randrange(len(holder) + 1), holder[key])
    elif kind == 3 and isinstance(holder, dict):
        holder[chance.choice(KEYS)] = holder[key]
    else:
        other, place = chance.choice(nodes_of(value))
        holder[key], other[place] = other[place], holder[key]


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Mutate the value of a line, or else its bytes."""
    chance = random.Random(seed)  # noqa: S311 - draws a test
    if chance.random() < 0.8:
        try:
            line = data[1:]
            for _ in range(chance.choice([1, 1, 2, 4])):
                value = json.loads(line)
                mutate_value(value, chance)
                # A circular value raises an error here.
                line = json.dumps(value, ensure_ascii=chance.random() < 0.5).encode(errors="surrogatepass")
            if len(line) < max_size:
                return data[:1] + line
        except (ValueError, IndexError, RecursionError, TypeError):
            pass
    return bytes(atheris.Mutate(data, max_size))


def check(data: bytes) -> None:
    """Check one input."""
    number, line = data[0] % len(READERS) if data else 0, data[1:].replace(b"\n", b" ")
    if NATIVE.is_plain(line):
        assert census._is_plain_by_parts(line), "the strict parser has something to say about a plain line"
    compare(READERS[number], line)
    if line.strip() and not [*GATES[number].scan(line).spans]:
        events = lint(Source("x", None, data=line), OPTIONS, BOOK)
        found = [event.finding.code for event in events if isinstance(event, Row)]
        assert not found, f"accepted with {found}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        own = [Reader(name) for name in REQUEST_FORMATS]  # A scanner reports each set of keys once.
        for number, line in enumerate(records()):
            for place, reader in enumerate(own):
                if reader.scanner.scan(line)[0][0] is not None:
                    Path(folder, f"{number}-{place}").write_bytes(bytes([place]) + line)
        has_inputs = any(Path(item).is_file() for item in sys.argv[1:])  # to reproduce a failure
        atheris.Setup([*sys.argv, *(() if has_inputs else (folder,))], check, custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
