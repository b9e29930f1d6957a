"""The text that a finding predicts is the text with which the provider refused the recorded request.

The recordings are data that is not part of the project: without them the test is skipped.
"""

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from test_corpus import CORPUS
from turnlint import testing

if TYPE_CHECKING:
    from turnlint.model import Finding

FORMATS = {
    "openai-chat": "openai-chat", "openai-responses": "openai-responses", "anthropic": "anthropic", "gemini": "gemini",
    "bedrock-converse": "bedrock", "mistral": "mistral", "cohere": "cohere", "ollama": "ollama",
}  # fmt: skip
PROVIDERS = {
    "openai-chat": "openai", "anthropic": "anthropic", "openai-responses": "openai-responses", "gemini": "gemini",
    "vertex-gemini": "vertex", "bedrock-converse": "bedrock", "bedrock-invoke": "anthropic",
    "vertex-anthropic": "anthropic", "mistral": "mistral", "deepseek": "deepseek", "xai": "xai", "groq": "groq",
    "cohere": "cohere", "zai": "glm", "ollama": "ollama", "fireworks": "fireworks", "together": "together",
    "minimax": "minimax",
}  # fmt: skip
SETS = [CORPUS / name for name in ("exchanges_dev.jsonl.gz", "exchanges_dev2.jsonl.gz")]
ABOUT_REQUESTS = frozenset({
    "tool_protocol", "history_order", "empty_content", "message_shape", "tool_content", "reasoning_pairing",
})  # fmt: skip
"""Classes of recorded errors that are about the conversation; the others are about keys, quota or models."""
VERBATIM = {"exchanges_dev": 18, "exchanges_dev2": 29}
"""The number of refusals that are predicted letter by letter."""
MARKED = {
    "7b121690ce894e73": "the column of the bytes that were sent",
    "c0ca61a23ba9361e": "the content",
    "3661fa5d99ebe47d": "the content",
    "9dc3c6e390bff38e": "the content",
}
"""Parts that a predicted text replaces by `…`: the record does not have them, or a report does not repeat them."""


def refusals(path: Path) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """The refused requests of one set, with their format and provider."""
    with gzip.open(path, "rt", encoding="utf-8", errors="surrogatepass") as file:
        for line in file:
            one = json.loads(line)
            key = FORMATS.get(one.get("wire")), PROVIDERS.get(one["provider"])
            if one.get("error_class") in ABOUT_REQUESTS and all(key) and not one.get("ids_scrubbed"):
                yield key, one  # type: ignore[misc]


def text_of(error: Any) -> str:
    """The message inside the JSON envelope of a recorded error."""
    if isinstance(error, str):
        found = re.search(r'"message": ("[^\n]*")', error)
        return json.loads(found[1]) if found and error.lstrip().startswith("[") else error
    return text_of(error.get("message") or error.get("error") or json.dumps(error))


def as_logged(one: dict[str, Any]) -> bytes:
    """A record in the spelling of a gateway: the address beside the request."""
    record = {"url": f"https://{one['host']}{one['endpoint']}", "request": one["request"]}
    return json.dumps(record).encode() + b"\n"


def is_marked(predicted: str, recorded: str) -> bool:
    """Whether both are one text, except for the parts that `…` replaces."""
    parts = map(re.escape, predicted.split("…"))
    return re.fullmatch(".+".join(parts), recorded, re.DOTALL) is not None


@pytest.mark.skipif(not all(path.exists() for path in SETS), reason="the recorded exchanges are not here")
@pytest.mark.parametrize("path", SETS, ids=lambda path: path.name.partition(".")[0])
def test_a_refusal_is_predicted_in_the_recorded_words(path: Path) -> None:
    groups = defaultdict(list)
    for key, one in refusals(path):
        groups[key].append(one)
    wrong, verbatim, marked = [], 0, set()
    for (name, provider), some in groups.items():
        found: dict[int, list[Finding]] = defaultdict(list)
        for row in testing.rows_of(b"".join(map(as_logged, some)), name, provider):
            if row.finding.severity != "info":
                found[row.finding.where.record.line].append(row.finding)
        for line, one in enumerate(some, 1):
            recorded = text_of(one["error"]).strip()
            texts = [(finding.provider_error or "").strip() for finding in found[line]]
            if recorded in texts:
                verbatim += 1
            elif any(is_marked(text, recorded) for text in texts if "…" in text):
                marked.add(one["id"])
            else:
                wrong.append((one["id"], provider, recorded, texts))
    assert wrong == []
    assert marked <= MARKED.keys()
    assert verbatim >= VERBATIM[path.name.partition(".")[0]]
