"""Repairs of recorded requests and of real logs.

The corpus lies where `test_corpus` looks for it; without it these tests are skipped.
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from test_corpus import CORPUS, FORMATS, PROVIDERS, exchanges, judged
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, Tally, lint
from turnlint.keeping.patches import patched
from turnlint.repair.choosing import Policy
from turnlint.repair.fixing import fix
from turnlint.repair.outcome import Fixed

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
MAX_REQUESTS = 300
"""Requests of one endpoint that are tried; all of them take a few seconds more and give the same result."""

WARNINGS = {
    "anthropic": {"PR311", "PR312"},
    "bedrock": {"PR311", "PR314"},
    "mistral": {"PR310"},
    "ollama": {"ST110"},
    "openai": {"ST109", "ST110"},
    "openai-responses": {"PR309", "ST110"},
}
"""Repairs in accepted requests, by provider: each of these is a warning there."""


def repaired(path: Path, options: Options, policy: Policy) -> tuple[Fixed, bytes]:
    source = Source(path.name, str(path))
    fixed = fix(source, options, Book(options), policy)
    return fixed, b"".join(patched(source, fixed.patches))


def lines_of(data: bytes) -> list[bytes]:
    return data.split(b"\n")


def test_an_accepted_request_is_changed_only_for_warnings(tmp_path: Path) -> None:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for exchange in exchanges():
        if (
            exchange["expect"] == "clean"
            and exchange["provider"] in PROVIDERS
            and not exchange.get("ids_scrubbed")
        ):
            groups[FORMATS[exchange["wire"]], PROVIDERS[exchange["provider"]]].append(exchange["request"])
    assert sum(map(len, groups.values())) > 12_000
    path = tmp_path / "requests.jsonl"
    for (wire, provider), requests in groups.items():
        some = requests[:: -(-len(requests) // MAX_REQUESTS)]
        path.write_text("".join(json.dumps(item) + "\n" for item in some))
        options = Options(format=wire, providers=(provider,))
        fixed, after = repaired(path, options, Policy(level="lossy", named=frozenset({provider})))
        assert fixed.failures == [], (wire, provider)
        assert {change.code for change in fixed.changes} <= WARNINGS.get(provider, set()), (wire, provider)
        assert fixed.before["error"] == 0, (wire, provider)
        touched = {change.line for change in fixed.changes}
        for number, (was, now) in enumerate(
            zip(lines_of(path.read_bytes()), lines_of(after), strict=True), 1
        ):
            assert (was == now) is (number not in touched), (wire, provider, number)


def kept_logs() -> list[Path]:
    folders = (CORPUS / "logs", CORPUS / "format_samples")
    return sorted(
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in {".json", ".jsonl", ".ndjson"}
    )


def sound(tally: Tally) -> bool:
    return bool(tally.messages) and not (tally.findings["error"] or tally.findings["warning"])


@pytest.mark.slow
def test_a_sound_log_keeps_every_byte(tmp_path: Path) -> None:
    seen = 0
    for path in kept_logs():
        _, tally, skipped = judged(path)
        if skipped or not sound(tally):
            continue
        seen += 1
        copy = tmp_path / path.name
        copy.write_bytes(path.read_bytes())
        fixed, after = repaired(copy, Options(), Policy(level="lossy"))
        assert [*fixed.changes] == [], path
        assert after == copy.read_bytes(), path
    assert seen >= 20


IDS = (b'"tool_call_id":', b'"tool_use_id":', b'"call_id":', b'"toolUseId":', b'"callId":')


def broken(data: bytes) -> bytes | None:
    """The log without the id in its last result that names the call."""
    places = [(data.rfind(key), key) for key in IDS if key in data]
    if not places:
        return None
    at, key = max(places)
    start = data.index(b'"', at + len(key))
    end = data.index(b'"', start + 1)
    return data[: start + 1] + b"of_nobody" + data[end:]


@pytest.mark.slow
def test_a_log_with_one_fault_is_changed_in_no_other_record(tmp_path: Path) -> None:
    seen = 0
    for path in kept_logs():
        _, tally, skipped = judged(path)
        if skipped or not sound(tally) or path.suffix == ".json":
            continue
        was = path.read_bytes()
        data = broken(was)
        copy = tmp_path / path.name
        if data is None:
            continue
        copy.write_bytes(data)
        options = Options()
        fixed, after = repaired(copy, options, Policy(level="lossy"))
        assert fixed.failures == [], path
        touched = {change.line for change in fixed.changes}
        if not touched:
            continue
        seen += 1
        whole = [line for number, line in enumerate(lines_of(data), 1) if number not in touched]
        assert [line for line in lines_of(after) if line in whole] == whole, path
        copy.write_bytes(after)
        events = list(lint(Source(copy.name, str(copy)), options, Book(options)))
        assert isinstance(events[-1], Tally)
        assert events[-1].findings["error"] == 0, path
    assert seen >= 5
