"""Count the refused faults that the linter finds, and the accepted changes that it reports as errors.

Selects sound requests from recorded exchanges, breaks them by every fault that fits, and counts the findings. As a
program it prints the figures:

    python tests/mutators.py EXCHANGES.jsonl.gz [--limit N] [--seed S] [--provider NAME]
"""

import argparse
import gzip
import json
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

import faults
import faults_pieces
import faults_turns
from faults import Ban, Mutator
from spelling import CHAT, ITEMS, EditableRequest
from turnlint import testing
from turnlint.engine import Crash, Options
from turnlint.model import SEVERITIES
from turnlint.rows import Row

MUTATORS = (*faults.MUTATORS, *faults_pieces.MUTATORS, *faults_turns.MUTATORS)
Requests = list[tuple[str, dict[str, Any]]]
"""Requests with the ids by which they can be found again."""
LARGEST = 12_000
"""Longer requests have no other parts to break, and take longer."""


class Target(NamedTuple):
    """A provider, the wire of its requests, and the providers of the recorded requests that serve."""

    provider: str
    wire: str
    sources: tuple[str, ...]
    model: str = ""
    """Written instead of the recorded model, if the requests are another provider's."""


_CHAT = ("openai-chat",)
TARGETS = (
    Target("openai", "openai-chat", _CHAT),
    Target("openai@40", "openai-chat", _CHAT),
    Target("azure-openai", "openai-chat", ("azure-foundry",)),
    Target("deepseek", "openai-chat", ("deepseek",)),
    Target("mistral", "openai-chat", ("mistral",)),
    Target("mistral", "mistral", ("mistral",)),
    Target("mistral@v13", "mistral", ("mistral",)),
    Target("xai", "openai-chat", ("xai",)),
    Target("groq", "openai-chat", ("groq",)),
    Target("glm", "openai-chat", ("zai",)),
    Target("qwen", "openai-chat", _CHAT, "qwen3-coder-plus"),
    Target("kimi", "openai-chat", _CHAT, "kimi-k2-0905-preview"),
    Target("minimax", "openai-chat", _CHAT, "MiniMax-M2"),
    Target("fireworks", "openai-chat", _CHAT, "accounts/fireworks/models/llama-v3p3-70b-instruct"),
    Target("anthropic", "anthropic", ("anthropic", "bedrock-invoke", "vertex-anthropic")),
    Target("bedrock", "bedrock", ("bedrock-converse",)),
    Target("gemini", "gemini", ("gemini",)),
    Target("vertex", "gemini", ("vertex-gemini",)),
    Target("openai-responses", "openai-responses", ("openai-responses",)),
    Target("cohere", "cohere", ("cohere",)),
    Target("ollama", "ollama", ("ollama", "ollama-cloud")),
)
RECORDED_AS = {"bedrock": "bedrock-converse", "cohere": "cohere-v2", "mistral": "openai-chat"}
"""The recordings' name of a wire, where it differs."""


class Judged(NamedTuple):
    """One broken request, and its findings."""

    target: Target
    fault: str
    ban: Ban
    base: str
    found: frozenset[str]
    """Codes with their severities, without those of the sound request."""

    @property
    def right(self) -> bool:
        if not self.ban.codes:
            return not any(item.endswith(":error") for item in self.found)
        grave = SEVERITIES[: SEVERITIES.index(self.ban.severity) + 1]  # type: ignore[arg-type]
        return any(
            f"{code}:{severity}" in self.found for code in self.ban.codes.split() for severity in grave
        )


def recorded(path: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Accepted requests with tools in their history, by wire and provider, in the order of their ids."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8", errors="surrogatepass") as file:
        for line in file:
            one = json.loads(line)
            if one["expect"] == "clean" and one.get("tool_history"):
                found[one["wire"], one["provider"]].append(one)
    for group_rows in found.values():
        group_rows.sort(key=lambda row: str(row["id"]))
    return found


def sample(exchanges: Mapping[tuple[str, str], list[dict[str, Any]]], target: Target, limit: int) -> Requests:
    """Requests of a target in as many shapes of history as possible, the same in every run."""
    wire = RECORDED_AS.get(target.wire, target.wire)
    by_shape: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for entry in (item for source in target.sources for item in exchanges.get((wire, source), ())):
        if (
            len(json.dumps(entry["request"])) <= LARGEST
            and EditableRequest(target.wire, entry["request"]).pairs
        ):
            history = entry["history"]
            by_shape[entry["source_repo"], history["calls"], history["n_items"]].append(entry)
    chosen: list[dict[str, Any]] = []
    depth = 0
    while len(chosen) < limit and any(len(group_rows) > depth for group_rows in by_shape.values()):
        chosen += [group_rows[depth] for group_rows in by_shape.values() if len(group_rows) > depth]
        depth += 1
    return [(str(item["id"]), _with_model(item, target)) for item in chosen[:limit]]


def _with_model(one: dict[str, Any], target: Target) -> dict[str, Any]:
    """Write the model into the request on wires that name it in their address.

    A setting is added, which distinguishes a request from a stored conversation.
    """
    request = dict(one["request"])
    if target.wire in (*CHAT, *ITEMS):
        request.setdefault("stream", False)
    key = "modelId" if target.wire == "bedrock" else "model"
    if target.model or key not in request:
        request[key] = target.model or one["model"]
    return request


def judge(
    target: Target, requests: Requests, seed: int, mutators: Iterable[Mutator] = MUTATORS
) -> list[Judged]:
    """Break each request in every way that fits, and lint all of them at once."""
    made = [
        (number, mutator.name, ban, broken)
        for number, (name, request) in enumerate(requests)
        for mutator in mutators
        if (ban := mutator.verdict(target.provider)) is not None
        and (broken := mutator.apply(target.wire, request, chance(seed, name, mutator.name)))
    ]  # fmt: skip
    lines = [request for _, request in requests] + [broken for *_, broken in made]
    codes_by_line = findings(target, lines)
    judged = []
    for line, (number, fault, ban, _) in enumerate(made, len(requests) + 1):
        before, after = codes_by_line[number + 1], codes_by_line[line]
        if not any(item.partition(":")[0] in ban.codes.split() for item in before):
            found = frozenset(after - before)
            judged.append(Judged(target, fault, ban, requests[number][0], found))
    return judged


def chance(*parts: object) -> Random:
    """The same choices in every run."""
    return Random(" ".join(map(str, parts)))  # noqa: S311


def findings(target: Target, requests: Iterable[dict[str, Any]]) -> dict[int, set[str]]:
    """Codes with their severities, by line."""
    options = Options(format=target.wire, providers=(target.provider,))
    codes_by_line: dict[int, set[str]] = defaultdict(set)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "requests.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(request) + "\n" for request in requests)
        for event in testing.events_of(path, "requests.jsonl", options):
            assert not isinstance(event, Crash), event
            if isinstance(event, Row):
                codes_by_line[event.place.line].add(f"{event.finding.code}:{event.finding.severity}")
    return codes_by_line


def table(judged: Iterable[Judged]) -> Iterator[str]:
    """Findings of each fault, by provider, with totals at the end of each provider."""
    by_provider: dict[str, dict[tuple[str, Ban], list[Judged]]] = defaultdict(lambda: defaultdict(list))
    for entry in judged:
        by_provider[f"{entry.target.provider} on {entry.target.wire}"][entry.fault, entry.ban].append(entry)
    for provider, by_fault in by_provider.items():
        yield f"\n{provider}"
        for (fault, ban), group_rows in sorted(by_fault.items()):
            missed = [row for row in group_rows if not row.right]
            wanted = f"{ban.codes} {ban.severity}" if ban.codes else "no error"
            names = " ".join(item.base for item in missed[:4])
            also = " ".join(sorted(missed[0].found)) if missed else ""
            more = f"  {names}  found: {also or 'nothing'}" if missed else ""
            yield f"  {fault:34} {_share(group_rows)}  {wanted}{more}"
        for title, banned in (("refused", True), ("taken", False)):
            group_rows = [
                item for group in by_fault.values() for item in group if bool(item.ban.codes) is banned
            ]
            if group_rows:
                yield f"  all that is {title:22} {_share(group_rows)}"


def _share(group_rows: list[Judged]) -> str:
    right = sum(row.right for row in group_rows)
    return f"{len(group_rows):6,} {right:6,} {100 * right / len(group_rows):6.1f}%"


def main() -> None:
    parser = argparse.ArgumentParser(description="How many faults that a provider refuses are found.")
    parser.add_argument("exchanges", help="recorded exchanges, one a line, gzipped")
    parser.add_argument("--limit", type=int, default=60, help="requests of each provider")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--provider", help="only this one")
    arguments = parser.parse_args()
    exchanges = recorded(arguments.exchanges)
    for target in TARGETS:
        if arguments.provider in (None, target.provider):
            judged = judge(target, sample(exchanges, target, arguments.limit), arguments.seed)
            sys.stdout.write("\n".join(table(judged)) + "\n")


if __name__ == "__main__":
    main()
