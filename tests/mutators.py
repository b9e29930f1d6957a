"""How many faults that a provider refuses are found, and how many changes that it takes are complained of.

This module owns the choice of sound requests from recorded exchanges, the breaking of them by every fault that
fits, and the counting. As a program it prints the figures:

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
from spelling import CHAT, ITEMS, Talk
from turnlint import testing
from turnlint.engine import Crash, Options
from turnlint.model import SEVERITIES
from turnlint.rows import Row

MUTATORS = (*faults.MUTATORS, *faults_pieces.MUTATORS, *faults_turns.MUTATORS)
Requests = list[tuple[str, dict[str, Any]]]
"""Requests with the ids by which they can be found again."""
LARGEST = 12_000
"""Longer requests hold nothing more to break, and take longer."""


class Target(NamedTuple):
    """A provider, the wire it is spoken to on, and whose recorded requests serve."""

    provider: str
    wire: str
    sources: tuple[str, ...]
    model: str = ""
    """Named instead of the recorded one, where the requests were another provider's."""


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
"""What the recordings call a wire, where they call it otherwise."""


class Judged(NamedTuple):
    """One broken request, and what was said of it."""

    target: Target
    fault: str
    ban: Ban
    base: str
    found: frozenset[str]
    """Codes with their severities, those that the sound request had too left out."""

    @property
    def right(self) -> bool:
        if not self.ban.codes:
            return not any(one.endswith(":error") for one in self.found)
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
    for ones in found.values():
        ones.sort(key=lambda one: str(one["id"]))
    return found


def sample(exchanges: Mapping[tuple[str, str], list[dict[str, Any]]], target: Target, limit: int) -> Requests:
    """Requests of a target, as many different shapes of history as there are, the same in every run."""
    wire = RECORDED_AS.get(target.wire, target.wire)
    by_shape: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for one in (one for source in target.sources for one in exchanges.get((wire, source), ())):
        if len(json.dumps(one["request"])) <= LARGEST and Talk(target.wire, one["request"]).pairs:
            history = one["history"]
            by_shape[one["source_repo"], history["calls"], history["n_items"]].append(one)
    chosen: list[dict[str, Any]] = []
    depth = 0
    while len(chosen) < limit and any(len(ones) > depth for ones in by_shape.values()):
        chosen += [ones[depth] for ones in by_shape.values() if len(ones) > depth]
        depth += 1
    return [(str(one["id"]), _with_model(one, target)) for one in chosen[:limit]]


def _with_model(one: dict[str, Any], target: Target) -> dict[str, Any]:
    """Wires that name the model in their address say it in the request here.

    A setting is added, which tells a request from a conversation that somebody kept.
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
    said = findings(target, lines)
    judged = []
    for line, (number, fault, ban, _) in enumerate(made, len(requests) + 1):
        before, after = said[number + 1], said[line]
        if not any(one.partition(":")[0] in ban.codes.split() for one in before):
            found = frozenset(after - before)
            judged.append(Judged(target, fault, ban, requests[number][0], found))
    return judged


def chance(*parts: object) -> Random:
    """The same choices in every run."""
    return Random(" ".join(map(str, parts)))  # noqa: S311


def findings(target: Target, requests: Iterable[dict[str, Any]]) -> dict[int, set[str]]:
    """Codes with their severities, by line."""
    options = Options(format=target.wire, providers=(target.provider,))
    said: dict[int, set[str]] = defaultdict(set)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "requests.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(request) + "\n" for request in requests)
        for event in testing.events_of(path, "requests.jsonl", options):
            assert not isinstance(event, Crash), event
            if isinstance(event, Row):
                said[event.place.line].add(f"{event.finding.code}:{event.finding.severity}")
    return said


def table(judged: Iterable[Judged]) -> Iterator[str]:
    """What was found of each fault, by provider, and at the end of each provider."""
    by_provider: dict[str, dict[tuple[str, Ban], list[Judged]]] = defaultdict(lambda: defaultdict(list))
    for one in judged:
        by_provider[f"{one.target.provider} on {one.target.wire}"][one.fault, one.ban].append(one)
    for provider, by_fault in by_provider.items():
        yield f"\n{provider}"
        for (fault, ban), ones in sorted(by_fault.items()):
            missed = [one for one in ones if not one.right]
            wanted = f"{ban.codes} {ban.severity}" if ban.codes else "no error"
            names = " ".join(one.base for one in missed[:4])
            also = " ".join(sorted(missed[0].found)) if missed else ""
            more = f"  {names}  found: {also or 'nothing'}" if missed else ""
            yield f"  {fault:34} {_share(ones)}  {wanted}{more}"
        for title, banned in (("refused", True), ("taken", False)):
            ones = [one for group in by_fault.values() for one in group if bool(one.ban.codes) is banned]
            if ones:
                yield f"  all that is {title:22} {_share(ones)}"


def _share(ones: list[Judged]) -> str:
    right = sum(one.right for one in ones)
    return f"{len(ones):6,} {right:6,} {100 * right / len(ones):6.1f}%"


def main() -> None:
    parser = argparse.ArgumentParser(description="How many faults that a provider refuses are found.")
    parser.add_argument("exchanges", help="recorded exchanges, one a line, gzipped")
    parser.add_argument("--limit", type=int, default=60, help="requests of each provider")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--provider", help="only this one")
    said = parser.parse_args()
    exchanges = recorded(said.exchanges)
    for target in TARGETS:
        if said.provider in (None, target.provider):
            judged = judge(target, sample(exchanges, target, said.limit), said.seed)
            sys.stdout.write("\n".join(table(judged)) + "\n")


if __name__ == "__main__":
    main()
