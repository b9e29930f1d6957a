"""Check guarantees of `fix` on broken fixtures: one run is enough, no new error, and the same counts as lint.

Each case is a fixture of any format with a few random faults in its JSON or its lines. It is repaired at one level
for one provider. As a program:

    python tests/fuzz_promises.py [--seed N] [--n N] [--show N] [--format NAME]
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from turnlint.documents.source import Source
from turnlint.engine import Book, Crash, Options, Skipped, lint
from turnlint.keeping.patches import patched
from turnlint.model import Level
from turnlint.repair.choosing import LEVELS, Policy
from turnlint.repair.fixing import fix
from turnlint.rows import Row

ROOT = Path(__file__).parent.parent
FOLDERS = ("rules", "formats", "provider_switch")
MAX_REFUSED = 0.001
"""The share of repairs that may be refused with a reason, without a change of the file."""
MAX_BYTES = 20_000
"""A larger fixture takes longer and has no other kinds of faults."""
ODD: tuple[Any, ...] = (None, 1, {}, [], "x", True, "", [None], {"type": "x"})
IDS = (
    "id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "toolUseId",
    "toolCallId",
    "callId",
    "tool_id",
    "uuid",
    "parentId",
)
PROVIDERS = (
    "auto", "auto", "none", "openai", "anthropic", "gemini", "bedrock", "mistral", "kimi", "deepseek", "cohere",
    "openai-responses", "minimax", "qwen", "glm", "groq", "xai", "fireworks", "together", "vertex", "azure-openai",
    "ollama", "vllm",
)  # fmt: skip


class Case(NamedTuple):
    """A broken file, and the options of the repair."""

    name: str
    data: bytes
    level: Level
    provider: str
    canonical: bool
    faults: tuple[str, ...]


@cache
def seeds() -> tuple[tuple[str, bytes], ...]:
    """The fixtures, sound and broken."""
    paths = (path for folder in FOLDERS for path in sorted((ROOT / "fixtures" / folder).rglob("*.*")))
    logs = (path for path in paths if path.suffix in {".jsonl", ".json", ".ndjson"})
    return tuple(
        (f"{path.parent.name}/{path.name}", path.read_bytes())
        for path in logs
        if path.stat().st_size < MAX_BYTES
    )


def case_of(seed: str, only: str = "") -> Case:
    rng = Random(seed)  # noqa: S311 - the same case in every run
    name, data = rng.choice([item for item in seeds() if only in item[0]])
    records: Any
    lines = name.endswith(("jsonl", "ndjson"))
    faults = []
    try:
        records = (
            [json.loads(line) for line in data.splitlines() if line.strip()] if lines else json.loads(data)
        )
    except ValueError:
        records = None
    if records is not None:
        faults += [broken(records, rng) for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3)))]
        texts = (
            [json.dumps(record, ensure_ascii=False) for record in records]
            if lines
            else [json.dumps(records, indent=2)]
        )
        data = "".join(f"{text}\n" for text in texts).encode("utf-8", "surrogatepass")
    if rng.random() < 0.12:
        faults.append("bytes")
        at = rng.randrange(len(data) + 1)
        data = rng.choice((
            data[:at] + b"\n" + data[at:], data[:at], data[:at] + b"\x01" + data[at:], data.replace(b"\n", b"\r\n"),
            data.replace(b"}\n{", b"}{", 1), b"\xef\xbb\xbf" + data, data + data,
        ))  # fmt: skip
    canonical = rng.random() < 0.1
    provider = "auto" if canonical else rng.choice(PROVIDERS)
    return Case(name, data, rng.choice(LEVELS), provider, canonical, tuple(faults))


def broken(records: Any, rng: Random) -> str:
    """Break decoded JSON in place. Return the name of the fault."""
    lists = [item for item in _within(records) if isinstance(item, list) and item]
    objects = [item for item in _within(records) if isinstance(item, dict)]
    fault = rng.choice([*LISTS, *LISTS, *OBJECTS])
    if fault in LISTS:
        if not lists:
            return "nothing"
        holders = [item for item in lists if any(isinstance(value, dict) for value in item)] or lists
        LISTS[fault](rng.choice(holders), rng)
    elif objects:
        OBJECTS[fault](objects, rng)
    return fault


def _within(value: Any) -> Iterator[Any]:
    yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        yield from _within(item)


def _drop(entries: list[Any], rng: Random) -> None:
    entries.pop(rng.randrange(len(entries)))


def _copy(entries: list[Any], rng: Random) -> None:
    one = json.loads(json.dumps(rng.choice(entries)))
    entries.insert(rng.randrange(len(entries) + 1), one)


def _move(entries: list[Any], rng: Random) -> None:
    one = entries.pop(rng.randrange(len(entries)))
    entries.insert(rng.randrange(len(entries) + 1), one)


def _swap(entries: list[Any], rng: Random) -> None:
    at = rng.randrange(len(entries))
    entries[at - 1], entries[at] = entries[at], entries[at - 1]


def _insert_odd(entries: list[Any], rng: Random) -> None:
    for _ in range(rng.choice((1, 1, 3))):
        entries.insert(rng.randrange(len(entries) + 1), rng.choice(ODD))


def _shuffle(entries: list[Any], rng: Random) -> None:
    rng.shuffle(entries)


def _cut(entries: list[Any], rng: Random) -> None:
    del entries[: rng.randrange(len(entries))]


def _change_id(objects: list[dict[str, Any]], rng: Random) -> None:
    places = [(item, key) for item in objects for key in item if key in IDS and isinstance(item[key], str)]
    if places:
        one, key = rng.choice(places)
        other, name = rng.choice(places)
        one[key] = rng.choice(("", other[name], f" {one[key]}", f"{one[key]}x", "call_", None, 7))


def _drop_key(objects: list[dict[str, Any]], rng: Random) -> None:
    one = rng.choice([item for item in objects if item] or [{"x": 1}])
    del one[rng.choice([*one])]


def _odd_value(objects: list[dict[str, Any]], rng: Random) -> None:
    one = rng.choice([item for item in objects if item] or [{"x": 1}])
    one[rng.choice([*one])] = rng.choice(ODD)


def _blank(objects: list[dict[str, Any]], rng: Random) -> None:
    places = [
        (item, key)
        for item in objects
        for key in item
        if key in ("content", "text") and isinstance(item[key], str)
    ]
    if places:
        one, key = rng.choice(places)
        one[key] = rng.choice(("", " ", "\n"))


def _role(objects: list[dict[str, Any]], rng: Random) -> None:
    entries = [item for item in objects if isinstance(item.get("role"), str)]
    if entries:
        rng.choice(entries)["role"] = rng.choice(
            ("user", "assistant", "tool", "system", "model", "developer", "human")
        )


LISTS: dict[str, Callable[[list[Any], Random], None]] = {
    "drop": _drop, "copy": _copy, "move": _move, "swap": _swap, "odd": _insert_odd, "shuffle": _shuffle, "cut": _cut,
}  # fmt: skip
OBJECTS: dict[str, Callable[[list[dict[str, Any]], Random], None]] = {
    "id": _change_id,
    "key": _drop_key,
    "value": _odd_value,
    "blank": _blank,
    "role": _role,
}


@cache
def rulebook_of(options: Options) -> Book:
    return Book(options)


def options_of(case: Case) -> tuple[Options, Options, Policy]:
    """The options of the lint and of the repair, and the policy, as the command builds them."""
    providers = () if case.provider == "none" else (case.provider,)
    linting = Options(providers=providers)
    named = frozenset(providers) - {"auto"}
    policy = Policy(level=case.level, named=named, canonical=case.canonical)
    return linting, Options(providers=()) if case.canonical else linting, policy


def repaired(case: Case, data: bytes) -> tuple[Any, bytes]:
    _, options, policy = options_of(case)
    source = Source(case.name, None, data=data)
    fixed = fix(source, options, rulebook_of(options), policy)
    return fixed, b"".join(patched(source, fixed.patches)) if fixed.patches else data


def found(case: Case, data: bytes, options: Options) -> tuple[Counter[str], bool]:
    rows: Counter[str] = Counter()
    skipped = False
    for event in lint(Source(case.name, None, data=data), options, rulebook_of(options)):
        assert not isinstance(event, Crash), event
        skipped |= isinstance(event, Skipped)
        if isinstance(event, Row):
            finding = event.finding
            # A call without a result has another rule if no message follows it, and a repair may move or remove one.
            is_last_call = finding.code == "PR311" and bool(finding.call_id or finding.tool)
            is_last_call = is_last_call or finding.code == "PA206"
            rows[f"{finding.severity} {'PA201' if is_last_call else finding.code}"] += 1
    return rows, skipped


def wrong(case: Case) -> Iterator[str]:
    """The guarantees that a repair violates."""
    _, options, _ = options_of(case)
    before, foreign = found(case, case.data, options)
    fixed, after = repaired(case, case.data)
    if fixed.problem:
        return
    yield from (f"refused: {failure.reason[:70]}" for failure in fixed.failures)
    now, skipped = found(case, after, options)
    if foreign and after != case.data:
        yield "an unknown format was changed"
    if skipped and not foreign:
        # A request whose last message was removed shows no format, and nothing in it can be read wrongly.
        if any(key in after for key in (b'"role"', b'"speaker"', b'"type"')):
            yield "the format is unknown afterwards"
        return
    counts = {
        name: sum(count for key, count in now.items() if key.startswith(name))
        for name in ("error", "warning")
    }
    if not foreign and counts != {name: fixed.after[name] for name in counts}:
        yield "untrue count"
    _, twice = repaired(case, after)
    if twice != after and not fixed.failures:
        yield "second change"
    if after == case.data:
        return
    for key in sorted(now):
        code = key.partition(" ")[2]
        grown = sum(now[f"{name} {code}"] - before[f"{name} {code}"] for name in ("error", "warning")) > 0
        if now[key] > before[key] and key.startswith("error") and grown:
            yield f"brought in {key}"
    if case.level != "lossy" and lost(case.data, after):
        yield f"content removed at {case.level}"


def lost(before: bytes, after: bytes) -> list[str]:
    """Long texts that the repair lost."""
    left = after.decode("utf-8", "replace")
    return [
        text
        for text in _texts(before)
        if len(text) > 12 and " " in text.strip() and "\\" not in text and text not in left
    ]


def _texts(data: bytes) -> Iterator[str]:
    for line in data.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        for item in _within(value):
            if isinstance(item, str):
                yield json.dumps(item, ensure_ascii=False)[1:-1][:60]


def main() -> None:
    parser = argparse.ArgumentParser(description="Break fixtures, repair them, and check what fix promises.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--show", type=int, default=1)
    parser.add_argument("--format", default="")
    arguments = parser.parse_args()
    faults: Counter[str] = Counter()
    shown: dict[str, list[str]] = {}
    for number in range(arguments.n):
        name = f"{arguments.seed}-{number}"
        case = case_of(name, arguments.format)
        try:
            problems = [*wrong(case)]
        except Exception as error:  # noqa: BLE001 - a crash is a finding too
            problems = [f"crash {type(error).__name__}: {error}"[:90]]
        for one in problems:
            faults[one] += 1
            shown.setdefault(one, []).append(f"{name} {case.name} {case.level} {case.provider} {case.faults}")
    for one, count in faults.most_common():
        sys.stdout.write(f"{count:6} {one}\n")
        for where in shown[one][: arguments.show]:
            sys.stdout.write(f"         {where}\n")
    refused = sum(count for one, count in faults.items() if one.startswith("refused"))
    sys.exit(sum(faults.values()) > refused or refused > arguments.n * MAX_REFUSED)


if __name__ == "__main__":
    main()
