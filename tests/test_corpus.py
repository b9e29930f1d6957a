"""Accepted requests have no error, and reported faults have findings.

The corpus lies in a folder beside the checkout, or at `TURNLINT_CORPUS`; without it these tests are skipped.
"""

import gzip
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from turnlint import testing
from turnlint.documents.source import Source
from turnlint.engine import Book, Crash, Options, Skipped, Tally, lint
from turnlint.model import Transcript
from turnlint.reading import read
from turnlint.rows import Row

ROOT = Path(__file__).parent.parent
CORPUS = Path(os.environ.get("TURNLINT_CORPUS", ROOT.parent / "shared" / "corpus"))
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
WIRES = ("openai-chat", "anthropic")


def exchanges() -> Iterator[dict[str, Any]]:
    with gzip.open(CORPUS / "exchanges_dev.jsonl.gz", "rt", encoding="utf-8", errors="surrogatepass") as file:
        yield from map(json.loads, file)


FORMATS = {
    "openai-chat": "openai-chat", "openai-responses": "openai-responses", "anthropic": "anthropic", "gemini": "gemini",
    "bedrock-converse": "bedrock", "ollama": "ollama", "cohere-v1": "cohere", "cohere-v2": "cohere",
}  # fmt: skip
PROVIDERS = {
    "openai-chat": "openai", "anthropic": "anthropic", "openai-responses": "openai-responses", "gemini": "gemini",
    "vertex-gemini": "vertex", "bedrock-converse": "bedrock", "bedrock-invoke": "anthropic",
    "vertex-anthropic": "anthropic", "mistral": "mistral", "deepseek": "deepseek", "xai": "xai", "groq": "groq",
    "cohere": "cohere", "zai": "glm", "ollama": "ollama", "fireworks": "fireworks", "together": "together",
    "minimax": "minimax",
}  # fmt: skip
"""Recorded endpoints, with the provider whose rules apply. The others are gateways."""


def errors_in(
    requests: list[dict[str, Any]], format_name: str | None, provider: str, folder: Path
) -> dict[str, set[str]]:
    """The errors found in recorded requests, by recording."""
    path = folder / "requests.jsonl"
    path.write_text("".join(json.dumps(request["request"]) + "\n" for request in requests))
    options = Options(format=format_name, providers=() if provider == "none" else (provider,))
    found: dict[str, set[str]] = {}
    for event in lint(Source("requests", str(path)), options, Book(options)):
        assert not isinstance(event, Crash)
        if isinstance(event, Row) and event.finding.severity == "error":
            found.setdefault(requests[event.place.line - 1]["id"], set()).add(event.finding.code)
    return found


def test_no_request_that_its_provider_accepted_carries_an_error(tmp_path: Path) -> None:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for exchange in exchanges():
        if (
            exchange["expect"] == "clean"
            and exchange["provider"] in PROVIDERS
            and not exchange.get("ids_scrubbed")
        ):
            groups.setdefault((FORMATS[exchange["wire"]], PROVIDERS[exchange["provider"]]), []).append(
                exchange
            )
    assert sum(map(len, groups.values())) > 12_000
    wrong = {key: errors_in(some, *key, tmp_path) for key, some in groups.items()}
    assert {key: found for key, found in wrong.items() if found} == {}


@pytest.mark.parametrize("provider", ["none", pytest.param("auto", marks=pytest.mark.slow)])
def test_no_accepted_request_carries_an_error_for_its_apparent_provider(
    provider: str, tmp_path: Path
) -> None:
    groups: dict[str, list[dict[str, Any]]] = {}
    for exchange in exchanges():
        if exchange["expect"] == "clean" and exchange.get("wire"):
            groups.setdefault(FORMATS[exchange["wire"]], []).append(exchange)
    for wire, some in groups.items():
        assert errors_in(some, wire, provider, tmp_path) == {}, wire
        if provider == "auto":
            assert errors_in(some, None, provider, tmp_path) == {}, wire


PROTOCOL = ("tool-error",)
CLASSES = ("history_order", "reasoning_pairing", "empty_content")


def test_no_refusal_about_calls_results_or_order_is_missed(tmp_path: Path) -> None:
    refused = [
        exchange for exchange in exchanges()
        if (exchange["expect"] in PROTOCOL or exchange.get("error_class") in CLASSES) and exchange["provider"] in PROVIDERS
    ]  # fmt: skip
    assert len(refused) == 7
    for item in refused:
        assert errors_in([item], FORMATS[item["wire"]], PROVIDERS[item["provider"]], tmp_path), item["id"]


MESSAGE_SHAPE = {"malformed-message"}
REFUSED = {
    "640045b2ab2a78f1": {"pending-call"},
    "8ce17577974dac49": {"misplaced-result"},
    "c0e5c02f0158bb42": {"missing-tool-name", "orphan-result"},
}
"""Refusals about calls and results that hold for every provider, by recording, and the rules that report them."""


def test_refused_requests_are_explained() -> None:
    seen = 0
    for exchange in exchanges():
        if exchange.get("wire") not in WIRES or exchange["expect"] in ("clean", "no-verdict"):
            continue
        rows = testing.rows_of(json.dumps(exchange["request"]).encode() + b"\n", exchange["wire"])
        rules = {row.finding.rule for row in rows}
        if exchange["id"] in REFUSED:
            seen += 1
            assert rules == REFUSED[exchange["id"]], exchange["id"]
        elif (
            exchange.get("error_class") == "message_shape"
            and exchange.get("error") != "invalid message format"
        ):
            seen += 1
            assert rules == MESSAGE_SHAPE, exchange["id"]
    assert seen >= 12


PROJECTION = {
    "anth-013", "anth-019", "anth-021", "anth-023", "anth-025", "oai-005", "oai-015", "mis-001", "mis-009", "kimi-001",
}  # fmt: skip
"""Reported cases that are sound in themselves and wrong for one provider only: no rule of these families may report."""
OTHER_WIRES = ("resp-", "gem-", "bed-", "mis-003", "file-")


def test_reported_cases_are_flagged_without_a_provider() -> None:
    flagged: Counter[bool] = Counter()
    for text in (
        (CORPUS / "issue_cases.jsonl").read_text(encoding="utf-8", errors="surrogatepass").splitlines()
    ):
        case = json.loads(text)
        if case["id"].startswith(OTHER_WIRES) or "NEGATIVE" in case["expected_fault"]:
            continue
        blocks = case["id"].startswith(("anth-", "mm-001"))
        rows = testing.rows_of(json.dumps({"messages": case["messages"]}).encode(), WIRES[blocks])
        found = any(row.finding.severity != "info" for row in rows)
        assert found is not (case["id"].rsplit("-", 1)[0].startswith(tuple(PROJECTION))), case["id"]
        flagged[found] += 1
    assert flagged[True] >= 24


SAMPLES: dict[str, set[str]] = {
    "anthropic": {"anthropic_batch_input", "anthropic_batch_results", "anthropic_messages_pair"},
    "claude-code": {"claude_code", "claude_code_broken", "claude_code_legacy_v1", "claude_code_subagent"},
    "codex": {"codex_rollout", "codex_rollout_broken", "codex_rollout_legacy"},
    "gemini": {"gemini_cli_checkpoint", "gemini_cli_checkpoint_broken", "gemini_generate_content_pair"},
    "gemini-cli": {"gemini_cli_chat", "gemini_cli_chat_legacy"},
    "langchain": {"langchain_dumpd", "langchain_messages_to_dict"},
    "openai-chat": {
        "openai_batch_input", "openai_batch_output", "openai_chat_bare_messages", "openai_chat_broken", "openai_chat_pair",
        "openai_finetune_chat",
    },
    "openai-responses": {"openai_agents_session_items", "openai_batch_input", "openai_responses_pair"},
    "pi": {"openclaw_session_broken", "pi_session"},
    "sharegpt": {"hermes_function_calling", "sharegpt_llamafactory", "toolace"},
}  # fmt: skip
"""Samples of formats that are read, by their names; a batch may go to two APIs."""
PLAIN = {
    "anthropic": {"bedrock_invocation_log", "cline_api_conversation_history", "roo_api_conversation_history"},
    "bedrock": {"bedrock_invocation_log"},
    "gemini": {"stream_gemini_chunks"},
    "openai-chat": {
        "helicone_export", "litellm_standard_logging_payload", "mistral_finetune",
        "trl_conversational_tools", "weave_call",
    },
}  # fmt: skip
"""Samples of formats without a reader of their own that hold a plain wire. All others are unknown."""
BROKEN = {
    "claude_code_broken": ["PA202", "ST101"],
    "codex_rollout_broken": ["PA201", "PA202"],
    "gemini_cli_checkpoint_broken": ["PA201"],
    "openai_chat_broken": ["PA201", "PA202"],
    "openclaw_session_broken": ["PA201", "PA202"],
}


def judged(path: Path) -> tuple[list[Row], Tally, bool]:
    options = Options()
    events = list(lint(Source(path.name, str(path)), options, Book(options)))
    assert not [event for event in events if isinstance(event, Crash)]
    tally = events[-1]
    assert isinstance(tally, Tally)
    skipped = any(isinstance(event, Skipped) for event in events)
    return [event for event in events if isinstance(event, Row)], tally, skipped


def formats_of(path: Path) -> set[str]:
    """The formats that a file is read as; none for an unknown format."""
    items = read(Source(path.name, str(path)))
    return {item.wire.name for item in items if isinstance(item, Transcript)}


ALL_SAMPLES = sorted((CORPUS / "format_samples").glob("*.jsonl"))


def test_there_is_a_sample_for_each_name() -> None:
    known = {name for table in (SAMPLES, PLAIN) for names in table.values() for name in names}
    assert known <= {path.stem for path in ALL_SAMPLES}
    assert len(ALL_SAMPLES) >= 86


@pytest.mark.parametrize("path", ALL_SAMPLES, ids=lambda path: path.stem)
def test_a_sample_has_the_format_of_its_name_or_a_plain_wire_or_none(path: Path) -> None:
    tables = (SAMPLES, PLAIN)
    assert formats_of(path) == {
        wire for table in tables for wire, names in table.items() if path.stem in names
    }


@pytest.mark.parametrize("path", ALL_SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_sound_unless_it_is_the_broken_twin(path: Path) -> None:
    rows, _, _ = judged(path)
    errors = sorted(row.finding.code for row in rows if row.finding.severity == "error")
    assert errors == BROKEN.get(path.stem, [])


@pytest.mark.slow
def test_no_log_of_any_kind_crashes_a_rule_or_the_reader() -> None:
    paths = [path for path in (CORPUS / "logs").rglob("*") if path.suffix in {".json", ".jsonl", ".ndjson"}]
    assert len(paths) > 50
    for path in paths:
        judged(path)
