"""The cost of linting stays low: counted in instructions, which are deterministic."""

from pathlib import Path

import pytest

import corpora
import measuring
from turnlint import compiled

pytestmark = pytest.mark.slow

pytest.importorskip("orjson")
SESSIONS = {"claude-code": corpora.agent, "codex": corpora.rollout}
LOGS = {"requests": corpora.requests, "sessions": corpora.sessions}
MAX_INSTRUCTIONS = {
    ("requests", "openai-chat"): (1.05, 4.4),
    ("requests", "anthropic"): (0.85, 4.8),
    ("sessions", "openai-chat"): (4.3, 5.4),
    ("sessions", "anthropic"): (3.5, 8.4),
}
"""Over those of `orjson.loads`, with the native scanner and without; measured 0.92, 0.80, 3.86 and 3.10 with CPython
3.11, and 3.99 and 4.37 in Python alone with msgspec 0.22 on other requests than these. A scanner with its own
definition of the wire took 0.63 and 0.56 for these generated messages. For recorded ones it took 1.5 times as long as
now (2026-11).
"""


MAX_INSTRUCTIONS_OF_A_FULL_READING = {
    "openai-chat": (10.2, 18.0),
    "anthropic": (14.0, 23.0),
    "claude-code": (16.0, 16.0),
    "codex": (19.0, 19.0),
}
"""The same for logs in which each conversation has lost a result, and for sessions of an agent, which have no scanner;
measured 9.7 (14.5 without the native code), 13.3 (18.2), 14.6 (12.2) and 17.4 (13.4). A native reader of messages
gave 6.5 and 9.3 for these generated requests, but cost more than it saved for recorded ones (2026-11).
"""


@pytest.mark.skipif(not measuring.has_valgrind(), reason="valgrind is not here")
@pytest.mark.parametrize(("made", "kind"), MAX_INSTRUCTIONS)
def test_instructions_per_byte(made: str, kind: str, tmp_path: Path) -> None:
    make = LOGS[made]
    short = make(tmp_path / "short.jsonl", kind, 500_000)
    long = make(tmp_path / "long.jsonl", kind, 2_000_000)
    mine = measuring.per_byte(lambda path: measuring.lint(path, kind, "-j", "1"), short, long)
    native, python = MAX_INSTRUCTIONS[made, kind]
    assert mine / measuring.per_byte(measuring.read, short, long) < (native if compiled.load() else python)


@pytest.mark.skipif(not measuring.has_valgrind(), reason="valgrind is not here")
@pytest.mark.parametrize("kind", MAX_INSTRUCTIONS_OF_A_FULL_READING)
def test_instructions_per_byte_of_a_log_that_is_read_in_full(kind: str, tmp_path: Path) -> None:
    def make(path: Path, size: int) -> Path:
        made = SESSIONS.get(kind)
        return made(path, size) if made else corpora.requests(path, kind, size, faulty=1.0)

    short, long = make(tmp_path / "short.jsonl", 400_000), make(tmp_path / "long.jsonl", 1_200_000)
    mine = measuring.per_byte(lambda path: measuring.lint(path, kind, "-j", "1"), short, long)
    native, python = MAX_INSTRUCTIONS_OF_A_FULL_READING[kind]
    assert mine / measuring.per_byte(measuring.read, short, long) < (native if compiled.load() else python)


MAX_RATIO_OF_A_FIX = {"openai-chat": 2.1, "anthropic": 3.8}
"""The instructions of `fix` over those of `lint`, where 1 % of the conversations lost a result; measured 1.76 and 3.31.
Recorded requests take 1.9 to 2.4."""


@pytest.mark.skipif(not measuring.has_valgrind(), reason="valgrind is not here")
@pytest.mark.skipif(
    not compiled.load(), reason="without the native scanner, a lint costs as much as a repair"
)
@pytest.mark.parametrize("kind", MAX_RATIO_OF_A_FIX)
def test_instructions_of_a_fix(kind: str, tmp_path: Path) -> None:
    def make(name: str, size: int) -> Path:
        """A log of sound requests, of which each hundredth is replaced by the same one without a result."""
        sound = corpora.requests(tmp_path / "sound.jsonl", kind, size).read_bytes().splitlines(keepends=True)
        path = tmp_path / name
        path.write_bytes(b"".join(broken if number % 100 == 1 else line for number, line in enumerate(sound)))
        return path

    [broken, *_] = corpora.requests(tmp_path / "faulty.jsonl", kind, 100_000, faulty=1.0).open("rb")
    short, long = make("short.jsonl", 800_000), make("long.jsonl", 3_200_000)
    fixed = measuring.per_byte(lambda path: measuring.fix(path, kind), short, long)
    linted = measuring.per_byte(lambda path: measuring.lint(path, kind, "-j", "1"), short, long)
    assert fixed / linted < MAX_RATIO_OF_A_FIX[kind]


MAX_RATIO_OF_JOINED_RECORDS = 65.0
"""The instructions of a lint of records on one line, over those of reading them from lines; measured 50.4. Each record
has its own finding. A lint that parses each record instead of scanning it took 4.5 times the processor time."""


@pytest.mark.skipif(not measuring.has_valgrind(), reason="valgrind is not here")
@pytest.mark.skipif(not compiled.load(), reason="the scanner needs the native code")
def test_instructions_of_joined_records(tmp_path: Path) -> None:
    def make(name: str, count: int, end: bytes) -> Path:
        record = (
            b'{"messages": [{"role": "user", "content": "%06d"}, {"role": "assistant", "content": "ok"}]}%b'
        )
        path = tmp_path / name
        path.write_bytes(b"".join(record % (number, end) for number in range(count)) + b"\n")
        return path

    short, long = make("short.jsonl", 13_000, b""), make("long.jsonl", 19_000, b"")
    joined = measuring.per_byte(lambda path: measuring.lint(path, "openai-chat", "-j", "1"), short, long)
    lines = make("short-lines.jsonl", 13_000, b"\n"), make("long-lines.jsonl", 39_000, b"\n")
    ratio = joined / measuring.per_byte(measuring.read, *lines)
    assert ratio < MAX_RATIO_OF_JOINED_RECORDS, ratio
