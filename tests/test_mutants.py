"""Faults that a provider refuses have findings, and accepted requests have no error.

Sound requests are broken in every way that some provider is known to refuse. Each must then have one of the findings
that report the fault. This module has small requests; recorded ones come from the corpus beside the checkout, or from
`TURNLINT_CORPUS`.
"""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import mutators
from mutators import MUTATORS, TARGETS, Judged, Requests, Target
from small_requests import ANTHROPIC, BEDROCK, CHAT, GEMINI, RESPONSES
from spelling import BLOCKS, ITEMS, SPELLINGS, EditableRequest

CORPUS = Path(os.environ.get("TURNLINT_CORPUS", Path(__file__).parent.parent.parent / "shared" / "corpus"))
SEED = 1
PER_PROVIDER = 60

WRITTEN = {"anthropic": ANTHROPIC, "bedrock": BEDROCK, "gemini": GEMINI, "openai-responses": RESPONSES}
MODELS = {"openai": "gpt-4.1", "azure-openai": "gpt-4.1", "deepseek": "deepseek-chat", "mistral": "mistral-large-latest",
          "xai": "grok-4", "groq": "llama-3.3-70b-versatile", "glm": "glm-4.6", "cohere": "command-a-03-2025",
          "ollama": "qwen3"}  # fmt: skip


def small(target: Target) -> Requests:
    """A request that ends with the user, and two that end with results."""
    done: dict[str, Any] = json.loads(WRITTEN.get(target.wire, CHAT))
    if target.wire not in (*BLOCKS, *ITEMS):
        done["model"] = target.model or MODELS[target.provider.partition("@")[0]]
    if target.wire == "ollama":
        _as_ollama(done)
    key = SPELLINGS[target.wire].turns
    first, last = (
        max(pair.result.turn for pair in item) for item in EditableRequest(target.wire, done).rounds
    )
    requests = [("done", done)]
    requests += [
        (name, {**done, key: done[key][: end + 1]}) for name, end in (("first", first), ("last", last))
    ]
    if target.wire == "gemini":
        requests += [(f"plain {name}", _plain(request)) for name, request in requests]
    return requests


def _plain(request: dict[str, Any]) -> dict[str, Any]:
    """Without ids, and with the single tool outside of a list, as Gemini also has it."""
    draft = EditableRequest("gemini", request)
    for piece in (*draft.calls, *draft.results):
        del piece.thing["id"]
    draft.request["tools"] = draft.request["tools"][0]
    return draft.request


def _as_ollama(request: dict[str, Any]) -> None:
    for message in request["messages"]:
        if isinstance(message["content"], list):
            message["content"] = message["content"][0]["text"]
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])


GAPS: dict[str, str] = {}
"""Faults that a provider refuses and that no finding reports, at least in some requests, with the names of the
providers.
"""


def wrong(judged: list[Judged]) -> Counter[str]:
    """Missed faults and unnecessary errors, by fault."""
    return Counter(
        f"{item.fault}: {sorted(item.found)}"
        for item in judged
        if not item.right and item.target.provider not in GAPS.get(item.fault, "").split()
    )


def test_every_listed_gap_is_a_gap() -> None:
    judged = (item for target in TARGETS for item in mutators.judge(target, small(target), SEED))
    missed = {(item.fault, item.target.provider) for item in judged if not item.right}
    assert missed == {(fault, provider) for fault, names in GAPS.items() for provider in names.split()}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: f"{target.provider}-{target.wire}")
def test_every_fault_of_a_small_request_is_found(target: Target) -> None:
    requests = small(target)
    sound = mutators.findings(target, [request for _, request in requests])
    assert not [item for found in sound.values() for item in found if item.endswith(":error")]
    judged = mutators.judge(target, requests, SEED)
    assert len(judged) > 20
    assert wrong(judged) == {}


def test_every_fault_fits_some_small_request() -> None:
    tried = {
        (item.fault, target.wire)
        for target in TARGETS
        for item in mutators.judge(target, small(target), SEED)
    }
    judgeable = {
        (mutator.name, target.wire)
        for target in TARGETS
        for mutator in MUTATORS
        if target.wire in mutator.wires and mutator.verdict(target.provider)
    }
    assert judgeable - tried == set()


@pytest.fixture(scope="module")
def exchanges() -> dict[tuple[str, str], list[dict[str, Any]]]:
    return mutators.recorded(str(CORPUS / "exchanges_dev.jsonl.gz"))


@pytest.mark.sampled(3)
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: f"{target.provider}-{target.wire}")
def test_every_fault_of_an_accepted_request_is_found(
    target: Target, exchanges: dict[tuple[str, str], list[dict[str, Any]]]
) -> None:
    requests = mutators.sample(exchanges, target, PER_PROVIDER)
    judged = [
        item
        for half in (0, 1)  # each request gets every second fault, and each fault every second request
        for item in mutators.judge(target, requests[half::2], SEED, MUTATORS[half::2])
    ]
    assert len(requests) >= 8
    assert len(judged) > 50
    assert wrong(judged) == {}
