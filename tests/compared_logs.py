"""The logs on which `compare_versions.py` runs two versions, written one group at a time.

A group is a folder of logs and the command lines to run on it. Records come from the fixtures and, if present, from
the corpus; everything is the same in every run of the same seed.
"""

import gzip
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from broken_records import (
    Pick,
    Record,
    break_record,
    break_text,
    choose,
    dump_record,
    encode_text,
    find_messages,
    find_values,
)  # fmt: skip

FIXTURES = Path(__file__).parent.parent / "fixtures"
FORMATS = (
    "anthropic", "bedrock", "canonical", "claude-code", "codex", "cohere", "gemini", "gemini-cli", "langchain",
    "mistral", "ollama", "openai-chat", "openai-responses", "pi", "sharegpt",
)  # fmt: skip
SESSION_FORMATS = ("claude-code", "codex", "pi", "gemini-cli")
WIRES = {
    "openai-chat": "openai-chat", "openai-responses": "openai-responses", "anthropic": "anthropic",
    "gemini": "gemini", "bedrock-converse": "bedrock", "mistral": "mistral", "cohere-v2": "cohere",
    "cohere-v1": "cohere", "ollama": "ollama",
}  # fmt: skip
"""The name in turnlint of each wire of the recordings."""
PROVIDERS = {
    "openai-chat": "openai", "anthropic": "anthropic", "openai-responses": "openai-responses", "gemini": "gemini",
    "vertex-gemini": "vertex", "bedrock-converse": "bedrock", "bedrock-invoke": "anthropic",
    "vertex-anthropic": "anthropic", "mistral": "mistral", "deepseek": "deepseek", "xai": "xai", "groq": "groq",
    "cohere": "cohere", "zai": "glm", "ollama": "ollama", "fireworks": "fireworks", "together": "together",
    "minimax": "minimax",
}  # fmt: skip
"""The name in turnlint of each provider of the recordings."""
ALL_PROVIDERS = (
    "anthropic", "azure-openai", "bedrock", "cohere", "deepseek", "fireworks", "gemini", "gemini@2", "glm", "groq",
    "kimi", "minimax", "mistral", "mistral@v7", "ollama", "openai", "openai@40", "openai-responses", "qwen", "shared",
    "together", "vertex", "vllm", "xai", "none",
)  # fmt: skip
PROVIDER_OF_WIRE = {
    "openai-chat": "openai", "openai-responses": "openai-responses", "anthropic": "anthropic", "gemini": "gemini",
    "bedrock": "bedrock", "mistral": "mistral", "cohere": "cohere", "ollama": "ollama",
}  # fmt: skip
SHARES = {
    "openai-chat": 5, "anthropic": 4, "openai-responses": 3, "gemini": 2, "bedrock": 2, "mistral": 1, "cohere": 1,
    "ollama": 1, "canonical": 1, "langchain": 1, "sharegpt": 1, "messages": 2, "sessions": 3,
}  # fmt: skip
"""The number of broken records of each wire; `messages` are lines of one message each."""
REPEATS = 3
"""Copies of a broken record in its file: a cache that the first copy fills serves the others."""
MAX_BROKEN_CHARS = 6_000
MAX_RECORDS_OF_WIRE = 500

Options = tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Logs in one folder, and the options of each run of `lint` and of `fix` on them."""

    name: str
    folder: Path
    records: int
    lints: tuple[Options, ...] = ()
    fixes: tuple[Options, ...] = ()


BOTH_LEVELS: tuple[Options, ...] = ((), ("--level", "lossy"))
FIXED_SUFFIXES = frozenset({".json", ".jsonl", ".gz", ".zst", ".ndjson"})


class Builder:
    """Writes the groups into a work folder, each at its step of the loop."""

    def __init__(self, work: Path, corpus: Path, broken: int, seed: int, quick: bool) -> None:
        self.work = work
        self.corpus = corpus
        self.broken = broken
        self.seed = seed
        self.quick = quick
        self.recordings = sorted(corpus.glob("exchanges_*.jsonl.gz"))
        self.pools: dict[str, list[str]] = defaultdict(list)
        """Records of each format as JSON text."""
        self.accepted: dict[str, list[str]] = defaultdict(list)
        """Recorded requests that the provider accepted."""
        self.with_calls: dict[str, list[str]] = defaultdict(list)
        """Those of them with calls in their history."""
        self._read_pools()

    def groups(self) -> Iterator[Group]:
        for build in (
            self._fixtures, self._exchanges, self._gateway_logs, self._samples, self._session_logs, self._broken_records,
            self._broken_sessions, self._large_logs,
        ):  # fmt: skip
            yield from build()

    def _folder(self, name: str) -> Path:
        folder = self.work / name.replace(" ", "-").replace("/", "-")
        folder.mkdir(parents=True)
        return folder

    # ------------------------------------------------------------------------------------------------ as they are

    def _fixtures(self) -> Iterator[Group]:
        folder = self._folder("fixtures")
        count = copy_logs(FIXTURES, folder)
        names = ("mistral", "none") if self.quick else ALL_PROVIDERS
        lints: list[Options] = [(), *(("--provider", name) for name in names)]
        if not self.quick:
            lints += [("--preview",), ("--select", "pairing"), ("--select", "state"), ("--ignore", "state")]
            lints += [("--format", name) for name in FORMATS]
        fixes = BOTH_LEVELS[1:] if self.quick else (*BOTH_LEVELS, ("--canonical",), ("--provider", "mistral"))
        yield Group("fixtures", folder, count, tuple(lints), fixes)
        for name in FORMATS:
            folder = self._folder(f"fixtures/{name}")
            count = copy_logs(FIXTURES / "formats" / name, folder)
            forced = (("--format", name),)
            yield Group(f"fixtures of {name}", folder, count, forced, () if self.quick else forced)

    def _exchanges(self) -> Iterator[Group]:
        """Recorded requests as their provider got them, by wire and provider."""
        if not self.recordings:
            return
        every = self._folder("exchanges")
        folders: dict[tuple[str, str], Path] = {}
        counts: dict[tuple[str, str], int] = defaultdict(int)
        for record in self._read_exchanges(12 if self.quick else 1):
            key = (str(record.get("wire")), str(record["provider"]))
            name = f"{key[0]}.{re.sub('[^a-z0-9]+', '-', key[1])}"
            path = every / f"{name}.jsonl"
            with path.open("ab") as file:
                file.write(dump_line(record["request"]))
            if key not in folders:
                folders[key] = self._folder(f"exchanges.{name}")
                (folders[key] / path.name).hardlink_to(path)
            counts[key] += 1
        yield Group("exchanges, auto", every, sum(counts.values()), ((),))
        for (wire, provider), count in sorted(counts.items()):
            if wire not in WIRES or (self.quick and WIRES[wire] not in (provider, PROVIDERS.get(provider))):
                continue
            forced = ("--format", WIRES[wire], "--provider", PROVIDERS.get(provider, "auto"))
            fixes = () if self.quick else tuple((*forced, *level) for level in BOTH_LEVELS)
            yield Group(f"exchanges, {wire} {provider}", folders[wire, provider], count, (forced,), fixes)

    def _gateway_logs(self) -> Iterator[Group]:
        """All recorded requests in one log as proxies write them, and as pairs with their responses."""
        if not self.recordings:
            return
        folder = self._folder("gateway")
        paths = folder / "requests.jsonl", folder / "pairs.jsonl"
        number = 0
        with paths[0].open("wb") as requests, paths[1].open("wb") as pairs:
            for number, record in enumerate(self._read_exchanges(24 if self.quick else 1), 1):
                line = {"id": f"rec-{number}", "timestamp": format_time(number), "request": record["request"]}
                requests.write(dump_line(line))
                pairs.write(dump_line({**line, "response": record.get("response")}))
        for path in paths:
            shuffle_lines(path, choose(self.seed, path.name))
        levels = BOTH_LEVELS[:1] if self.quick else BOTH_LEVELS
        yield Group("exchanges, one mixed log", folder, 2 * number, ((),), levels)

    def _samples(self) -> Iterator[Group]:
        samples = self.corpus / "format_samples"
        if not samples.is_dir():
            return
        folder = self._folder("samples")
        count = copy_logs(samples, folder)
        forced = () if self.quick else tuple(("--format", name) for name in FORMATS)
        yield Group("format samples", folder, count, ((), *forced), BOTH_LEVELS)

    def _session_logs(self) -> Iterator[Group]:
        logs = self.corpus / "logs"
        if not logs.is_dir():
            return
        folder = self._folder("logs")
        count = copy_logs(logs, folder, max_bytes=200_000 if self.quick else 1 << 30)
        lints: tuple[Options, ...] = ((),) if self.quick else ((), ("-j", "2"))
        yield Group("session logs", folder, count, lints, BOTH_LEVELS[1:])

    # ---------------------------------------------------------------------------------------------------- broken

    def _broken_records(self) -> Iterator[Group]:
        """Broken records by wire, each repeated with other names, and all wires in one log."""
        total = sum(SHARES.values())
        mixed = self._folder("broken mixed") / "mixed.jsonl"
        count = 0
        for wire, share in SHARES.items():
            if wire == "sessions" or not self.pools.get("openai-chat" if wire == "messages" else wire):
                continue
            size = max(1, self.broken * share // total)
            folder = self._folder(f"broken {wire}")
            with (folder / f"{wire}.jsonl").open("wb") as file, mixed.open("ab") as every:
                for copy in range(REPEATS):
                    for number in range(size):
                        for line in self._broken_lines(wire, number, copy):
                            file.write(line)
                            if copy == number % REPEATS:
                                every.write(line)
            count += size
            lints: list[Options] = [()]
            if wire in PROVIDER_OF_WIRE:
                lints.append(("--format", wire, "--provider", PROVIDER_OF_WIRE[wire]))
            fixes = BOTH_LEVELS[1:] if self.quick else BOTH_LEVELS
            yield Group(f"broken, {wire}", folder, size, tuple(lints), fixes)
        shuffle_lines(mixed, choose(self.seed, "mixed"))
        yield Group("broken, one mixed log", mixed.parent, count, ((), ("-j", "2")), BOTH_LEVELS[:1])

    def _broken_lines(self, wire: str, number: int, copy: int) -> Iterator[bytes]:
        """The lines of a broken record: one, or a line for each message."""
        pick = choose(self.seed, wire, number)
        source = "openai-chat" if wire == "messages" else wire
        pools = [pool[source] for pool in (self.with_calls, self.accepted, self.pools) if pool.get(source)]
        record = json.loads(pick.choice(pools[0] if pick.random() < 0.55 else pick.choice(pools)))
        broken = break_record(record, pick, pick.choice([0, 1, 1, 1, 1, 1, 1, 2, 2, 3]))
        name = f"{wire[:3]}-{number}-{copy}"
        if wire == "messages":
            for message in find_messages(broken):
                line = {"conversation_id": name, **message} if isinstance(message, dict) else message
                text = dump_record({"line": line}, choose(self.seed, wire, number))[len('{"line":') :][:-1]
                yield encode_text(text.strip()) + b"\n"
            return
        text = dump_record(broken, pick)
        body = break_text(text, pick) if pick.random() < 0.2 else encode_text(text)
        before, after = pick.choice(WRAPPINGS)
        second = number * REPEATS + copy
        head = (
            before.replace("ID", name)
            .replace("TIME", format_time(second))
            .replace("SECONDS", str(1770000000 + second))
        )
        if head.endswith((",{", ", {")):
            head, body = head[:-1], body.removeprefix(b"{")
        yield encode_text(head) + body.replace(b"\n", b" ") + encode_text(after) + b"\n"

    def _broken_sessions(self) -> Iterator[Group]:
        """Sessions of agents with lines dropped, repeated, swapped and changed, each alone and three in one file."""
        total = sum(SHARES.values())
        wanted = max(40, self.broken * SHARES["sessions"] // total)
        for form in SESSION_FORMATS:
            paths = [path for path in self._find_sessions(form) if path.stat().st_size < 60_000]
            sessions = [lines for path in paths if 2 < len(lines := path.read_bytes().splitlines()) < 80]
            folder = self._folder(f"broken {form}")
            count = number = 0
            while count < wanted // len(SESSION_FORMATS) and sessions:
                pick = choose(self.seed, form, number)
                broken = break_session(pick.choice(sessions), pick)
                (folder / f"{number}-alone.jsonl").write_bytes(b"".join(rename_session(broken, "k0")))
                copies = [rename_session(broken, f"k{copy}") for copy in range(REPEATS)]
                (folder / f"{number}-thrice.jsonl").write_bytes(
                    b"".join(line for copy in copies for line in copy)
                )
                count += len(broken)
                number += 1
            fixes = BOTH_LEVELS[1:] if self.quick else BOTH_LEVELS
            yield Group(f"broken, {form}", folder, count, ((), ("--format", form)), fixes)

    def _find_sessions(self, form: str) -> list[Path]:
        found = sorted((FIXTURES / "formats" / form).glob("*.jsonl"))
        found = [path for path in found if ".fixed" not in path.suffixes]
        sources = {
            "claude-code": "claude-code*",
            "codex": "codex",
            "pi": "pi-mono",
            "gemini-cli": "gemini-cli",
        }
        found += sorted(self.corpus.glob(f"logs/{sources[form]}/**/*.jsonl"))
        return found + sorted(self.corpus.glob(f"format_samples/{form.replace('-', '_')}*.jsonl"))

    # ----------------------------------------------------------------------------------------------------- large

    def _large_logs(self) -> Iterator[Group]:
        size = 1_500_000 if self.quick else 16_000_000
        makers: dict[str, Callable[[Path, int], int]] = {
            "sound": lambda path, size: self._write_large(path, size, ("openai-chat", "anthropic"), 0),
            "1 % faulty": lambda path, size: self._write_large(
                path, size, ("openai-chat", "anthropic"), 0.01
            ),
            "sessions": self._write_large_session,
            "gz": lambda path, size: self._write_large(path, size, tuple(PROVIDER_OF_WIRE), 0.01),
            "one message a line": self._write_large_messages,
            "mixed": lambda path, size: self._write_large(path, size, tuple(PROVIDER_OF_WIRE), 0.05),
        }
        for name, write in makers.items():
            folder = self._folder(f"large {name.replace('%', 'percent')}")
            path = folder / ("log.jsonl.gz" if name == "gz" else "log.jsonl")
            count = write(path, size)
            lints: tuple[Options, ...] = (("-j", "1"),) if self.quick else (("-j", "1"), ("-j", "2"))
            yield Group(f"large, {name}", folder, count, lints, BOTH_LEVELS[:1])

    def _write_large(self, path: Path, size: int, wires: tuple[str, ...], faulty: float) -> int:
        """Requests as proxies log them, an id and a time in each line, until the log is large enough."""
        pick = choose(self.seed, path.parent.name)
        pools = [pool for wire in wires if (pool := self.accepted.get(wire))]
        written = count = 0
        opened: Any = gzip.GzipFile(path, "wb", mtime=0) if path.suffix == ".gz" else path.open("wb")
        with opened as file:
            while written < size:
                request = json.loads(pick.choice(pick.choice(pools)))
                if pick.random() < faulty:
                    drop_result(request)
                line = dump_line({"id": f"rec-{count}", "timestamp": format_time(count), "request": request})
                file.write(line)
                written += len(line)
                count += 1
        return count

    def _write_large_messages(self, path: Path, size: int) -> int:
        pick = choose(self.seed, path.parent.name)
        count = 0
        with path.open("wb") as file:
            while file.tell() < size:
                messages = find_messages(json.loads(pick.choice(self.accepted["openai-chat"])))
                for number, message in enumerate(messages):
                    if isinstance(message, dict) and not (
                        message.get("role") == "tool" and pick.random() < 0.01
                    ):
                        head = {"conversation_id": f"c-{count}", "id": f"m-{count}-{number}"}
                        file.write(dump_line({**head, "timestamp": format_time(count), **message}))
                count += 1
        return count

    def _write_large_session(self, path: Path, size: int) -> int:
        """Sessions of Claude Code, whole and with a line lost, each with its own names."""
        sessions = [path.read_bytes().splitlines() for path in self._find_sessions("claude-code")]
        pick = choose(self.seed, path.parent.name)
        count = 0
        with path.open("wb") as file:
            while file.tell() < size:
                lines = list(pick.choice(sessions))
                if len(lines) > 2 and pick.random() < 0.05:
                    del lines[pick.randrange(len(lines))]
                file.writelines(rename_session(lines, f"s{count}"))
                count += len(lines)
        return count

    # ---------------------------------------------------------------------------------------------------- sources

    def _read_exchanges(self, step: int) -> Iterator[Record]:
        for path in self.recordings:
            with gzip.open(path, "rt", encoding="utf-8", errors="surrogatepass") as file:
                yield from map(json.loads, islice(file, 0, None, step))

    def _read_pools(self) -> None:
        """Records of the fixtures, and recorded requests of many shapes."""
        for form in set(FORMATS) - set(SESSION_FORMATS):
            for path in sorted((FIXTURES / "formats" / form).glob("*.jsonl")):
                for line in path.read_bytes().splitlines()[:8]:
                    record = decode_record(line)
                    if record and find_messages(record) and len(line) < MAX_BROKEN_CHARS:
                        self.pools[form].append(json.dumps(record))
                        if ".fixed" in path.suffixes and not self.recordings:
                            self.accepted[form].append(json.dumps(record))
        shapes: set[tuple[object, ...]] = set()
        for record in self._read_exchanges(12 if self.quick else 2):
            wire, provider, request = (
                WIRES.get(str(record.get("wire"))),
                record["provider"],
                record["request"],
            )
            if not (wire and isinstance(request, dict)):
                continue
            wire = "mistral" if provider == "mistral" else wire
            history = record.get("history") or {}
            shape = (wire, provider, record["source_repo"], history.get("calls"), history.get("n_items"))
            text = json.dumps(request)
            if shape in shapes or len(text) > MAX_BROKEN_CHARS or len(self.pools[wire]) > MAX_RECORDS_OF_WIRE:
                continue
            shapes.add(shape)
            self.pools[wire].append(text)
            if record["expect"] == "clean":
                self.accepted[wire].append(text)
                if record.get("tool_history"):
                    self.with_calls[wire].append(text)


WRAPPINGS = (
    ("", ""),
    ("", ""),
    ('{"id": "ID", "timestamp": "TIME", {', ""),
    ('{"id":"ID","timestamp":"TIME",{', ""),
    ('{"custom_id": "ID", "created": SECONDS, {', ""),
    ('{"conversation_id": "ID", {', ""),
    ('{"id": "ID", "timestamp": "TIME", "request": ', "}"),
    ('{"id":"ID","timestamp":"TIME","request":', "}"),
    ('{"id": "ID", "timestamp": "TIME", "request": ', ', "response": null}'),
    ('{"custom_id": "ID", "method": "POST", "url": "/v1/chat/completions", "body": ', "}"),
    ('{"request_id": "ID", "created": SECONDS, "request": ', ', "latency_ms": 12.5}'),
    ('{"request": ', ', "id": "ID", "timestamp": "TIME"}'),
)
"""Text before and after a request in logs. Names and times differ from line to line; a `{` at the end is the opening
brace of the request, whose keys follow the names then.
"""


def copy_logs(source: Path, target: Path, max_bytes: int = 1 << 30) -> int:
    """Copy the files that hold logs, and return the number of their records, counted as lines."""
    count = 0
    for path in sorted(source.rglob("*")):
        if path.is_file() and path.suffix in FIXED_SUFFIXES and path.stat().st_size <= max_bytes:
            copied = target / path.relative_to(source)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copied)
            count += 1 if path.suffix == ".json" else path.read_bytes().count(b"\n")
    return count


def dump_line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def decode_record(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def format_time(second: int) -> str:
    return f"2026-11-{1 + second // 86400 % 28:02}T{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}.5Z"


def shuffle_lines(path: Path, pick: Pick) -> None:
    """Put the lines of a file in random order; only their positions are held in memory."""
    spans: list[tuple[int, int]] = []
    with path.open("rb") as source:
        start = 0
        for line in source:
            spans.append((start, len(line)))
            start += len(line)
        pick.shuffle(spans)
        shuffled = path.with_suffix(".shuffled")
        with shuffled.open("wb") as target:
            for start, length in spans:
                source.seek(start)
                target.write(source.read(length))
    shuffled.replace(path)


def break_session(lines: list[bytes], pick: Pick) -> list[bytes]:
    """The lines of a session with one to three faults."""
    broken = [line + b"\n" for line in lines]
    for _ in range(pick.choice([1, 1, 2, 3])):
        at = pick.randrange(len(broken))
        kind = pick.choice(["drop", "drop", "repeat", "swap", "change", "change", "change", "text", "cut"])
        record = decode_record(broken[at])
        if kind == "drop" and len(broken) > 2:
            del broken[at]
        elif kind == "repeat":
            broken.insert(pick.randrange(at, len(broken)), broken[at])
        elif kind == "swap":
            other = min(len(broken) - 1, at + pick.choice([1, 2, 3]))
            broken[at], broken[other] = broken[other], broken[at]
        elif kind == "cut":
            del broken[pick.randrange(1, len(broken) + 1) :]
        elif record and kind == "change":
            broken[at] = encode_text(dump_record(break_record(record, pick, 1), pick)) + b"\n"
        elif record:
            broken[at] = break_text(dump_record(record, pick), pick).replace(b"\n", b" ") + b"\n"
    return broken


NAMED = re.compile(rb'("[A-Za-z_]*(?:id|Id|ID|Uuid|UUID)"\s*:\s*"[^"\\]{6,})"')


def rename_session(lines: Iterable[bytes], suffix: str) -> list[bytes]:
    """The same lines with other names: every id gets the suffix."""
    return [NAMED.sub(rb"\1" + suffix.encode() + b'"', line).rstrip(b"\n") + b"\n" for line in lines]


def drop_result(request: Record) -> None:
    """Remove the first result of a call, for any spelling of results."""
    for value in find_values(request):
        if not isinstance(value, list):
            continue
        for at, item in enumerate(value):
            if isinstance(item, dict) and (
                item.get("role") == "tool"
                or item.get("type") in ("tool_result", "function_call_output")
                or {"toolResult", "functionResponse"} & item.keys()
            ):
                del value[at]
                return
