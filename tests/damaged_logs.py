"""Logs of every form, sessions and one message per line, and the repair of damaged ones."""

from random import Random

from breaking import Piece, Turn
from breaking_wires import WIRES
from pairing_sessions import SESSIONS, written
from turnlint.documents.source import MAX_RECORD_BYTES, Source
from turnlint.engine import Book, Options, lint
from turnlint.keeping.patches import patched
from turnlint.model import Level
from turnlint.repair.choosing import Policy
from turnlint.repair.fixing import fix
from turnlint.repair.outcome import Fixed
from turnlint.rows import Row

FORMS = (*SESSIONS, *WIRES)
MANY = 40
"""From 20 records on, a scanner checks the lines first."""


def log(form: str, rounds: int = 2) -> bytes:
    """A sound conversation: in each round a question, a call, its result and an answer."""
    wire = WIRES[SESSIONS[form].traits if form in SESSIONS else form]
    make_id = wire.traits(Random(1)).make_id  # noqa: S311 - the same in every run
    conversation = []
    for number in range(rounds):
        one = make_id(number, "read")
        conversation += [
            Turn("user", [Piece("text", f"question {number}")]),
            Turn("model", [Piece("call", "", number, one, "read")]),
            Turn("tool", [Piece("result", f"result-of-{number} in words", number, one, "read")]),
            Turn("model", [Piece("text", f"answer {number}")]),
        ]
    if form in SESSIONS:
        return written(SESSIONS[form].spell(conversation))
    return written({"conversation_id": "a", **item.value} for item in wire.spell(conversation))


def repair(data: bytes, level: Level = "lossy", limit: int = MAX_RECORD_BYTES) -> tuple[Fixed, bytes]:
    """Repair a log without a named provider."""
    options = Options()
    source = Source("log.jsonl", None, data=data, limit=limit)
    fixed = fix(source, options, Book(options), Policy(level=level))
    return fixed, b"".join(patched(source, fixed.patches)) if fixed.patches else data


def findings(data: bytes, limit: int = MAX_RECORD_BYTES) -> list[Row]:
    options = Options()
    events = lint(Source("log.jsonl", None, data=data, limit=limit), options, Book(options))
    return [event for event in events if isinstance(event, Row)]


def place_in(data: bytes, line: int, text: bytes) -> int:
    """The position after a text in a line."""
    start = sum(map(len, data.splitlines(keepends=True)[:line]))
    return data.index(text, start) + len(text)


def lines_with(data: bytes, text: bytes) -> list[int]:
    return [number for number, line in enumerate(data.splitlines()) if text in line]
