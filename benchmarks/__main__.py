"""`python benchmarks`: every figure of speed and memory, in one run.

    python benchmarks [--mb 40] [--rounds 5] [--only NAME …] [--peers FOLDER]

All figures are ratios within this run. `orjson` must be installed.
"""

import argparse
import compileall
import gzip
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import corpora
import measuring
import peers
import turnlint
import turnlint_rules
from measuring import lint, peak, processor, ratios, read, wall

Table = Callable[["Bench"], None]


class Bench(argparse.Namespace):
    """The options, and the folder for logs."""

    mb: int
    rounds: int
    only: list[str]
    peers: str | None
    folder: Path

    @property
    def size(self) -> int:
        return self.mb * 1_000_000

    def path(self, name: str) -> Path:
        return self.folder / name


def row(name: str, found: tuple[float, float, float], digits: int = 2) -> None:
    middle, least, most = (f"{item:.{digits}f}" for item in found)
    print(f"  {name:44} {middle:>6}   ({least} to {most})", flush=True)


def speed(bench: Bench) -> None:
    """Lines of a log read with orjson.loads or json.loads, over the cost of linting them, without the starts."""
    logs = [
        (
            f"{kind}, {share:.0%} faulty",
            kind,
            corpora.requests(bench.path(f"{kind}-{share}.jsonl"), kind, bench.size, faulty=share),
        )
        for kind in corpora.KINDS
        for share in (0.0, 0.01, 0.1, 1.0)
    ]
    logs += [
        (
            f"{kind}, a message a line",
            kind,
            corpora.sessions(bench.path(f"{kind}-lines.jsonl"), kind, bench.size),
        )
        for kind in corpora.KINDS
    ]
    logs += [
        ("a session of Claude Code", "claude-code", corpora.agent(bench.path("agent.jsonl"), bench.size)),
        ("a session of Codex", "codex", corpora.rollout(bench.path("rollout.jsonl"), bench.size)),
    ]
    for name, kind, path in logs:
        small = _head(path, bench.path("small.jsonl"))
        cost = lambda kind=kind, path=path, small=small: max(
            processor(lint(path, kind, "-j", "1")) - processor(lint(small, kind, "-j", "1")), 1e-9
        )
        for module in ("orjson", "json"):
            base = lambda module=module, path=path, small=small: (
                processor(read(path, module)) - processor(read(small, module))
            )
            row(f"{name}: {module}", ratios(base, cost, bench.rounds))


def cores(bench: Bench) -> None:
    """One process over two, by the clock; a log of lines, and many files."""
    path = corpora.requests(bench.path("cores.jsonl"), "openai-chat", 5 * bench.size)
    many = bench.path("many")
    many.mkdir()
    lines = path.read_bytes().split(b"\n")[: 50 * bench.mb]
    for number, line in enumerate(lines):
        (many / f"{number:06}.jsonl").write_bytes(line + b"\n")
    for name, there in (("one log", path), (f"{len(lines):,} files", many)):
        one, two = (lint(there, "openai-chat", "-j", count) for count in ("1", "2"))
        row(name, ratios(lambda one=one: wall(one), lambda two=two: wall(two), bench.rounds))


def packed(bench: Bench) -> None:
    """A plain log over the same one compressed, by the clock, on two cores, and over unpacking it alone, on one."""
    path = corpora.requests(bench.path("plain.jsonl"), "openai-chat", bench.size)
    data = path.read_bytes()
    kinds = {".gz": lambda data: gzip.compress(data, 6)}
    try:
        import zstandard

        kinds[".zst"] = lambda data: zstandard.compress(data, 3)
    except ImportError:
        print("  no zstandard here")
    plain = lambda: wall(lint(path, "openai-chat", "-j", "1"))
    for suffix, pack in kinds.items():
        other = path.with_name(path.name + suffix)
        other.write_bytes(pack(data))
        cost = lambda other=other: wall(lint(other, "openai-chat", "-j", "2"))
        row(suffix, ratios(plain, cost, bench.rounds))
        alone = lambda suffix=suffix, other=other: wall(measuring.unpack(other, suffix))
        row(f"{suffix}, unpacking alone", ratios(plain, alone, bench.rounds))


def memory(bench: Bench) -> None:
    """The peak memory of one process, over the length of a log and of its longest line."""
    for factor in (1, 4):
        for share in (0.0, 0.1):
            path = corpora.requests(
                bench.path("memory.jsonl"), "openai-chat", factor * bench.size, faulty=share
            )
            held = peak(lint(path, "openai-chat", "-j", "1"))
            print(f"  {factor * bench.mb:5} MB, {share:.0%} faulty {held / 1024:31.0f} MiB", flush=True)
    for count in (50_000, 200_000):
        path = corpora.long_conversation(bench.path("line.jsonl"), count)
        held, length = peak(lint(path, "openai-chat", "-j", "1")) / 1024, path.stat().st_size / (1 << 20)
        print(f"  a line of {length:4.0f} MiB {held:37.0f} MiB", flush=True)


def linear(bench: Bench) -> None:
    """The cost of an amount of items, over the cost of a quarter of it: 4 is linear."""
    makers = {
        "messages in one conversation": (corpora.long_conversation, 150_000),
        "messages in a faulty one": (partial(corpora.long_conversation, faulty=True), 50_000),
        "calls in one turn": (corpora.wide_turn, 12_500),
        "results of one call": (corpora.repeated_results, 2_500),
    }
    for name, (make, count) in makers.items():
        few, most = make(bench.path("few.jsonl"), count), make(bench.path("most.jsonl"), 4 * count)
        start = min(
            processor(lint(corpora.long_conversation(bench.path("none.jsonl"), 1), "openai-chat"))
            for _ in range(3)
        )
        found = ratios(
            lambda: processor(lint(most, "openai-chat")) - start,
            lambda: processor(lint(few, "openai-chat")) - start,
            bench.rounds,
        )
        row(f"{4 * count:,} {name}", found)


def start(bench: Bench) -> None:
    """A whole run over `python -c pass`, by the clock, of a program that is compiled like an installed one."""
    for package in (turnlint, turnlint_rules):
        compileall.compile_dir(package.__path__[0], quiet=2)
    path = corpora.requests(bench.path("tiny.jsonl"), "openai-chat", 1)
    nothing = (sys.executable, "-c", "pass")
    for name, command in {
        "--help": (*measuring.TURNLINT, "--help"),
        "lint, one small file": (*measuring.TURNLINT, "lint", str(path)),
        "import click, msgspec": (sys.executable, "-c", "import click, msgspec"),
    }.items():
        row(name, ratios(lambda command=command: wall(command), lambda: wall(nothing), 3 * bench.rounds))


def counted(bench: Bench) -> None:
    """Instructions for each byte, over those of orjson.loads."""
    if not measuring.has_valgrind():
        print("  no valgrind here")
        return
    faulty = partial(corpora.requests, faulty=1.0)
    makers = {"requests": corpora.requests, "faulty requests": faulty, "a message a line": corpora.sessions}
    for kind in corpora.KINDS:
        for name, make in makers.items():
            short, long = (
                make(bench.path("short.jsonl"), kind, 1_000_000),
                make(bench.path("long.jsonl"), kind, 4_000_000),
            )
            mine = measuring.per_byte(lambda path, kind=kind: lint(path, kind, "-j", "1"), short, long)
            base = measuring.per_byte(read, short, long)
            print(f"  {kind + ', ' + name:44} {mine / base:6.2f}   ({mine:.1f} to {base:.1f})", flush=True)


def beside(bench: Bench) -> None:
    """Lines of a log read with orjson.loads or json.loads, over the cost of linting them; missing peers are left out."""
    there = list(peers.found(bench.peers, bench.folder))
    if not there:
        print("  no peer here: install tracelint and toolcall-linter, and name their folder with --peers")
        return
    logs = {
        True: corpora.requests(bench.path("requests.jsonl"), "openai-chat", bench.size, faulty=0.01),
        False: corpora.sessions(bench.path("messages.jsonl"), "openai-chat", bench.size, faulty=0.01),
    }
    names = {True: "requests", False: "a message a line"}
    small = {whole: _head(path, bench.path(f"small-{path.name}")) for whole, path in logs.items()}
    readers = [*there, peers.turnlint(), peers.turnlint()._replace(whole=False)]
    for whole, one in ((reader.whole, reader) for reader in readers):
        cost = lambda whole=whole, one=one: max(
            processor(one.command(logs[whole]), check=False)
            - processor(one.command(small[whole]), check=False),
            1e-9,
        )
        for module in ("orjson", "json"):
            base = lambda module=module, whole=whole: (
                processor(read(logs[whole], module)) - processor(read(small[whole], module))
            )
            row(f"{one.name}, {names[whole]}: {module}", ratios(base, cost, bench.rounds), 4)
    print(f"  {'findings':44} " + " ".join(f"{reader.name:>16}" for reader in readers[:-1]))
    for name, messages in peers.faults():
        counts = [
            reader.count(
                peers.written(bench.path("one.jsonl"), messages, whole=reader.whole), bench.path("out.json")
            )
            for reader in readers[:-1]
        ]
        print(f"  {name:44} " + " ".join(f"{count:16}" for count in counts), flush=True)


def _head(path: Path, small: Path) -> Path:
    with path.open("rb") as file:
        small.write_bytes(b"".join(file.readline() for _ in range(25)))
    return small


TABLES: dict[str, Table] = {
    "speed": speed, "cores": cores, "packed": packed, "memory": memory, "linear": linear, "start": start,
    "instructions": counted, "peers": beside,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mb", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=TABLES, default=list(TABLES))
    parser.add_argument(
        "--peers", metavar="FOLDER", help="where the programs of peers are, if not on the path"
    )
    bench = parser.parse_args(namespace=Bench())
    for name in bench.only:
        print(f"{name}: {(TABLES[name].__doc__ or '').splitlines()[0]}")
        with tempfile.TemporaryDirectory() as folder:
            bench.folder = Path(folder)
            TABLES[name](bench)


main()
