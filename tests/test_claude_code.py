"""Claude Code sessions: the replayed part is that of the vendor's own session reader, also after a repair."""

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from test_corpus import CORPUS, judged
from turnlint import carriers
from turnlint.carrying.lines import long_digest
from turnlint.documents.source import Source
from turnlint.engine import Book, Options
from turnlint.keeping.patches import patched
from turnlint.model import Record, Transcript
from turnlint.repair import lines
from turnlint.repair.choosing import Policy
from turnlint.repair.fixing import fix
from turnlint.testing import fixed, rows_of

ROOT = Path(__file__).parent.parent
OWN = sorted(
    path
    for path in (ROOT / "fixtures" / "formats" / "claude-code").glob("*.jsonl")
    if ".fixed" not in path.name
)
REAL = sorted(
    [
        *(CORPUS / "format_samples").glob("claude_code*.jsonl"),
        *(CORPUS / "logs" / "claude-code-viewer").glob("*.jsonl"),
    ]
)
REAL = [path for path in REAL if "stream_json" not in path.name]
SEEDS = range(8)


@pytest.fixture(scope="module")
def reader() -> Any:
    """The session reader of the vendor's agent SDK."""
    return pytest.importorskip("claude_agent_sdk._internal.sessions", reason="the SDK is not here")


def mutated(path: Path, seed: int) -> bytes:
    """A session with one to three lines removed or moved."""
    rng = random.Random(f"{path.name} {seed}")  # noqa: S311 - chance, not secrecy
    lines = path.read_bytes().splitlines()
    for _ in range(rng.choice((1, 1, 2, 3))):
        line = lines.pop(rng.randrange(len(lines)))
        if rng.random() < 0.3:
            lines.insert(rng.randrange(len(lines) + 1), line)
    return b"\n".join(lines) + b"\n"


def closed(data: bytes) -> bytes:
    """The session repaired, with results for its last calls too."""
    options = Options(format="claude-code", providers=())
    with TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        path.write_bytes(data)
        source = Source(path.name, str(path))
        done = fix(source, options, Book(options), Policy(level="lossy", close_pending=True))
        assert done.failures == []
        return b"".join(patched(source, done.patches))


def replayed(data: bytes) -> list[Transcript]:
    carrier = carriers.carrier("claude-code")
    records = []
    for number, line in enumerate(data.splitlines(), 1):
        record = Record(number, number, line, kept=True)
        records.append(carrier.shape.read(record))
    return [item for item in carrier.read(records) if isinstance(item, Transcript) and not item.dead]


def chain_of(reader: Any, data: bytes) -> list[dict[str, Any]]:
    entries = reader._parse_transcript_entries(data.decode())
    chain: list[dict[str, Any]] = reader._build_conversation_chain(entries)
    return [
        item for item in chain if item["type"] in ("user", "assistant") and not item.get("isApiErrorMessage")
    ]


def one_session(data: bytes) -> bool:
    """Whether the SDK can read the file: a single session, without nested agents."""
    lines = [json.loads(line) for line in data.splitlines() if line.endswith(b"}")]
    own = [line for line in lines if line.get("uuid")]
    apart = {(line.get("sessionId"), bool(line.get("isSidechain"))) for line in own}
    return len(apart) == 1 and any(line.get("parentUuid") for line in own)


def faults(chain: list[dict[str, Any]]) -> list[str]:
    """Violations of a chain that Anthropic's API would refuse, computed independently."""
    turns: list[tuple[str, list[Any]]] = []
    for line in chain:
        content = line["message"]["content"]
        blocks = content if isinstance(content, list) else [content]
        if turns and turns[-1][0] == line["type"]:
            turns[-1][1].extend(blocks)
        else:
            turns.append((line["type"], list(blocks)))

    def ids(blocks: list[Any], kind: str, key: str) -> list[str]:
        return sorted(block[key] for block in blocks if isinstance(block, dict) and block.get("type") == kind)

    found = []
    for number, (_, blocks) in enumerate(turns):
        results = ids(blocks, "tool_result", "tool_use_id")
        open_ids = ids(turns[number - 1][1], "tool_use", "id") if number else []
        if results != open_ids and (number or results):
            found.append(f"turn {number}: asked {open_ids}, answered {results}")
    return found


@pytest.mark.parametrize("path", [*OWN, *REAL], ids=lambda path: path.name)
def test_the_replayed_messages_are_those_of_the_sdk(path: Path, reader: Any) -> None:
    compared = 0
    for data in (path.read_bytes(), *(mutated(path, seed) for seed in SEEDS)):
        if not one_session(data):
            continue
        compared += 1
        messages = [message.id for item in replayed(data) for message in item.messages]
        assert messages == [line["uuid"] for line in chain_of(reader, data)]
    assert compared or not one_session(path.read_bytes())


@pytest.mark.parametrize("path", [*OWN, *REAL], ids=lambda path: path.name)
def test_a_mutated_session_is_fixed_so_that_the_sdk_replays_it_and_the_api_accepts_it(
    path: Path, reader: Any
) -> None:
    for seed in SEEDS:
        data = mutated(path, seed)
        after = closed(data)
        left = [row.finding for row in rows_of(after, "claude-code") if row.finding.severity == "error"]
        assert [item for item in left if item.code != "ST101"] == [], seed
        assert closed(after) == after, seed
        added = Counter(uuids_of(after)) - Counter(uuids_of(data))
        assert set(added.values()) <= {1}, seed
        assert added.keys().isdisjoint(uuids_of(data)), seed
        if one_session(after):
            assert faults(chain_of(reader, after)) == [], seed


def uuids_of(data: bytes) -> list[str]:
    uuids = [json.loads(line).get("uuid") for line in data.splitlines() if line.endswith(b"}")]
    return [uuid for uuid in uuids if uuid]


def test_other_lines_keep_all_bytes_except_links() -> None:
    for path in OWN:
        for seed in SEEDS:
            data = mutated(path, seed)
            have = {without_links(line) for line in fixed(data, "claude-code", "none").splitlines()}
            lost = [line for line in data.splitlines() if without_links(line) not in have]
            # Only a result without a call may be removed.
            assert all(b'"tool_result"' in line for line in lost), (path.name, seed)


def without_links(line: bytes) -> str:
    try:
        value = json.loads(line)
    except ValueError:
        return repr(line)
    for key in ("parentUuid", "leafUuid"):
        value.pop(key, None)
    return json.dumps(value)


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_calls_and_results_are_those_of_the_lines(path: Path) -> None:
    calls = results = 0
    for line in path.read_bytes().splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        content = (value.get("message") or {}).get("content")
        for block in content if isinstance(content, list) and value.get("uuid") else ():
            calls += block["type"] == "tool_use"
            results += block["type"] == "tool_result"
    _, tally, skipped = judged(path)
    assert not skipped
    assert (tally.calls, tally.results) == (calls, results)


def line(number: int, parent: int | None, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": None if parent is None else f"u{parent}", "isSidechain": False, "type": "user", "uuid": f"u{number}",
        "sessionId": "s", "message": {"role": "user", "content": "hi"}, **more,
    }  # fmt: skip


def written(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


SHAPES: dict[str, Callable[[int], int | None]] = {
    "a chain": lambda number: number - 1 if number else None,
    "a star": lambda number: 0 if number else None,
    "a circle": lambda number: number - 1 if number else 19_999,
    "a comb": lambda number: (number - 1 if number % 2 else number - 2) if number > 1 else None,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_tree_of_any_shape_is_walked_without_recursion(shape: str) -> None:
    data = written([line(number, SHAPES[shape](number)) for number in range(20_000)])
    assert replayed(data)


def test_bookkeeping_of_a_later_version_does_not_hide_a_session() -> None:
    later = [{"type": f"news-{number}", "sessionId": "s", "what": {}} for number in range(60)]
    data = written([*later, line(0, None), line(1, 0)])
    assert [row.finding.code for row in rows_of(data, None)] == []
    found, _ = carriers.best_for([Record(1, 0, line) for line in data.splitlines()[-20:]])
    assert found is not None
    assert found.name == "claude-code"


ODD_VALUES: list[Any] = [None, 7, "", "x", [], [1], {}, {"content": 5}, True]


@pytest.mark.parametrize(
    "key",
    ["uuid", "parentUuid", "sessionId", "message", "type", "isSidechain", "agentId", "leafUuid", "timestamp"],
)
def test_a_key_may_have_any_value(key: str) -> None:
    for value in ODD_VALUES:
        data = written([line(0, None), line(1, 0, **{key: value}), line(2, 1)])
        rows_of(data, "claude-code")
        fixed(data, "claude-code", "none")


def test_a_session_that_continues_another_is_reported_with_it_and_once() -> None:
    data = written([line(n, n - 1 if n else None, sessionId=f"s{n // 2}") for n in range(3_000)])
    (one,) = replayed(data)
    assert (len(one.messages), one.id) == (3_000, "s1499")


def test_new_ids_beside_one_line_are_found_without_trying_all_ids(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(lines, "long_digest", lambda data: tried.append("") or long_digest(data))
    calls = [
        line(n, n - 1, type="assistant", message={"role": "assistant", "id": "m", "content": [call]})
        for n in range(1, 301)
        for call in [{"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {}}]
    ]
    after = fixed(written([line(0, None), *calls, line(301, 300)]), "claude-code", "none")
    assert after.count(b'"tool_result"') == 300
    assert len(tried) < 1_000


def test_a_parent_is_never_searched_among_later_lines() -> None:
    """A log without times, in a constructed order."""
    shuffled = [line(0, None), line(3, 2), line(2, 1), line(4, 3)]
    after = fixed(written(shuffled), "claude-code", "none")
    (one,) = replayed(after)
    assert [message.id for message in one.messages] == ["u0", "u2", "u3", "u4"]
