"""Run a native scanner, compiled with memory sanitizers, on many broken lines; print the number of accepted lines.

Called in a process of its own: `watched.py MODULE ROUNDS`.
"""

import importlib.util
import json
import random
import sys
from functools import cache
from pathlib import Path
from typing import Any

from turnlint import carriers, compiled, reading
from turnlint.carrying.examples import NotationLine
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, lint
from turnlint.fastpath.choice import choose_scanner
from turnlint.fastpath.facts_reader import FactsReader
from turnlint.fastpath.gate import REQUEST_FORMATS, FactGate
from turnlint.model import Record
from turnlint.notation import render_example

PIECES = [
    b"",
    b'"',
    b"\\",
    b"\\u12",
    b"\\ud800",
    b"\xe2\x9c",
    b"\xf0",
    b"{",
    b"[",
    b"]}",
    b",",
    b":",
    b"1e9",
    b"\n",
    b"\0",
]


def notation_of(count: int) -> list[NotationLine]:
    notation = [NotationLine("user", "go")]
    for number in range(count):
        name = f"call_{number:012}"
        notation += [
            NotationLine("call", "", name, "read", '{"a": "\\u00e9"}'),
            NotationLine("result", "", name, body="done é"),
        ]
    return [*notation, NotationLine("assistant", "so [it] is"), NotationLine("user", "go on")]


def break_up(line: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.choice([0, 0, 1, 1, 2, 5])):
        at = chance.randrange(len(line) + 1)
        line = line[:at] + chance.choice(PIECES) + line[at + chance.choice([0, 0, 1, 9, 400]) :]
    return line


def scan_broken(wire: str, chance: random.Random, folder: Path) -> int:
    record = render_example(notation_of(chance.choice([0, 1, 3, 200])), wire).record
    line = json.dumps({"model": "m", **record}, ensure_ascii=chance.random() < 0.5).encode()
    carrier = carriers.carrier(wire)
    book = Book(Options(format=wire))
    first = choose_scanner(carrier, carrier.open(), [Record(1, 0, line)], book, Source("-", None), told=True)
    assert first
    passed = first.scan(b"\n".join(break_up(line, chance) for _ in range(4)), 1, 0).passed
    read_natively([break_up(line, chance) for _ in range(4)], chance)
    path = folder / "talks.jsonl"
    messages: list[Any] = record["messages"]
    lines = [
        json.dumps({"session_id": f"s{n % 3}", **message}).encode() for n in range(6) for message in messages
    ]
    path.write_bytes(b"\n".join(break_up(line, chance) if chance.random() < 0.1 else line for line in lines))
    list(lint(Source("talks.jsonl", str(path)), Options(format=wire), book))
    return passed


@cache
def gate_of(name: str) -> FactGate:
    return FactGate(compiled.loaded(), carriers.carrier(name), Book(Options(format=name)), told=True)


def scan_requests(name: str, chance: random.Random) -> None:
    """Scan broken requests of a format by its tables."""
    gate = gate_of(name)
    record = render_example(notation_of(chance.choice([0, 1, 3])), name).record
    line = json.dumps(record, ensure_ascii=chance.random() < 0.5).encode()
    lines = [break_up(line, chance) for _ in range(4)]
    gate.scan(b"\n".join(lines))
    for item in lines:
        gate.native.is_plain(item)


SESSIONS = ("claude-code", "pi", "codex")


def scan_sessions(name: str, chance: random.Random, folder: Path) -> None:
    """Lint a session with broken lines, some of which repeat others."""
    logs = sorted((Path(__file__).parent.parent / "fixtures" / "formats" / name).glob("*.jsonl"))
    lines = chance.choice(logs).read_bytes().splitlines()
    lines += [chance.choice(lines) for _ in range(3)]
    path = folder / "session.jsonl"
    path.write_bytes(b"\n".join(break_up(line, chance) if chance.random() < 0.2 else line for line in lines))
    options = Options(format=name)
    list(lint(Source("session.jsonl", str(path)), options, Book(options)))


@cache
def session_of(name: str) -> tuple[FactsReader, int]:
    lines = carriers.carrier(name).open().lines  # type: ignore[attr-defined]
    return FactsReader(compiled.loaded(), lines.syntax), len(lines.syntax.columns)


def join_messages(name: str, chance: random.Random) -> None:
    """Scan a broken window of a session, and join some of its messages, and some that do not exist."""
    reader, columns = session_of(name)
    tables = reader.decoder.tables
    logs = sorted((Path(__file__).parent.parent / "fixtures" / "formats" / name).glob("*.jsonl"))
    window = break_up(chance.choice(logs).read_bytes(), chance)
    if chance.random() < 0.5:
        reader.scanner.release()
    line, is_kept = chance.choice([tables.line, tables.line, -1]), chance.random() < 0.8
    rows = reader.scanner.scan_session(window, line, tables.message, chance.choice([0, columns]), is_kept)
    numbers = [row[3] for row in rows if len(row) > 2 and row[3] >= 0]
    numbers = [~one if chance.random() < 0.1 else one for one in numbers]
    numbers += [chance.randrange(-(1 << 40), 1 << 40)] * (chance.random() < 0.1)
    chance.shuffle(numbers)
    reader.scanner.join(numbers, tables.message)


def read_natively(lines: list[bytes], chance: random.Random) -> None:
    """Locate pointers in lines that may be broken, and count characters."""
    native = compiled.loaded()
    assert native
    for line in lines:
        native.places(
            line, [("messages", chance.randrange(9), "content"), ("messages", 1, "x", 0), (), ("model",)]
        )
        native.measure(line, chance.randrange(-3, 50), chance.randrange(len(line) + 9))


def main() -> None:
    from tempfile import TemporaryDirectory

    spec = importlib.util.spec_from_file_location("turnlint.fastpath._native", sys.argv[1])
    assert spec
    assert spec.loader
    native = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(native)
    sys.modules[spec.name] = native
    reading.FEW = 1
    chance = random.Random(3)  # noqa: S311 - the same lines every time
    with TemporaryDirectory() as folder:
        for _ in range(int(sys.argv[2])):
            scan_requests(chance.choice(REQUEST_FORMATS), chance)
            scan_sessions(chance.choice(SESSIONS), chance, Path(folder))
            for name in SESSIONS:
                join_messages(name, chance)
        passed = sum(
            scan_broken(wire, chance, Path(folder))
            for _ in range(int(sys.argv[2]))
            for wire in ("openai-chat", "anthropic")
        )
    sys.stdout.write(f"{passed}\n")


if __name__ == "__main__":
    main()
