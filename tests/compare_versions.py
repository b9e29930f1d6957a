"""Compare two installed versions of turnlint: findings, exit codes, repaired bytes and repair reports.

    python tests/compare_versions.py ORACLE_TURNLINT NEW_TURNLINT [--corpus FOLDER] [--mutated N] [--seed N] [--quick]

Both commands run on the fixtures, the recorded exchanges and session logs of the corpus, broken records and six large
logs. The table lists each set with the numbers of its records and differences; below it are the first differences of
each kind in full. The exit code is 1 if there is a difference. `--only TEXT` runs the sets whose names contain the
text.
"""

import argparse
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compared_logs import Builder, Group, Options

SHOWN = 3
"""Differences of a kind that are printed in full."""
MAX_SHOWN_CHARS = 900
MAX_KEPT = 5_000
"""Different lines of a run that are kept to be paired and shown; all are counted."""
MAX_RUN_SECONDS = 1800
OLD, NEW = "oracle", "new"


@dataclass
class Tally:
    """Counts of one set."""

    records: int = 0
    runs: int = 0
    findings: int = 0
    differences: int = 0
    cpu: dict[str, float] = field(default_factory=lambda: {OLD: 0.0, NEW: 0.0})


@dataclass
class Result:
    """One finished command: its status, and the files that it wrote."""

    status: int
    cpu: float
    stdout: Path
    stderr: Path


class Comparison:
    """Runs both commands on every group and counts differences."""

    def __init__(self, commands: dict[str, str], work: Path) -> None:
        self.commands = commands
        self.work = work
        self.tallies: dict[str, Tally] = {}
        self.shown: dict[str, list[str]] = defaultdict(list)
        self.kinds: Counter[str] = Counter()
        self.environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("TURNLINT_", "PYTHON", "VIRTUAL"))
        }
        self.environment |= {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}

    def compare(self, group: Group) -> None:
        tally = self.tallies.setdefault(group.name, Tally())
        tally.records += group.records
        for options in group.lints:
            jobs = () if "-j" in options else ("-j", "1")
            self._compare_lint(group, tally, (*options, *jobs))
        for options in group.fixes:
            self._compare_fix(group, tally, options)

    def _compare_lint(self, group: Group, tally: Tally, options: Options) -> None:
        arguments = [
            "lint",
            group.folder.name,
            "--no-config",
            "--no-gitignore",
            "--output-format",
            "jsonl",
            *options,
        ]
        results = self._run(arguments, dict.fromkeys(self.commands, group.folder.parent), tally)
        run = " ".join(["lint", *options])
        tally.findings += count_lines(results[OLD].stdout) - 1
        self._compare_status(group, tally, run, results)
        self._compare_lines(group, tally, run, "findings", results[OLD].stdout, results[NEW].stdout)

    def _compare_fix(self, group: Group, tally: Tally, options: Options) -> None:
        folders: dict[str, Path] = {}
        for side in self.commands:
            folders[side] = self.work / side
            shutil.copytree(group.folder, folders[side] / group.folder.name)
        logs = [path for path in group.folder.rglob("*") if path.is_file()]
        target = ["--no-journal"]
        if len(logs) == 1:  # a new file instead of the file in place: both ways to write are compared
            target += ["-o", "written" + "".join(logs[0].suffixes[-2:])]
        path = str(logs[0].relative_to(group.folder.parent)) if len(logs) == 1 else group.folder.name
        arguments = [
            "fix",
            path,
            "--no-config",
            "--no-gitignore",
            "--report",
            "report.json",
            *target,
            *options,
        ]
        results = self._run(arguments, folders, tally)
        run = " ".join(["fix", *options])
        self._compare_status(group, tally, run, results)
        self._compare_lines(group, tally, run, "summary of fix", results[OLD].stdout, results[NEW].stdout)
        names = {
            path.relative_to(folders[side])
            for side in folders
            for path in folders[side].rglob("*")
            if path.is_file()
        }
        for name in sorted(names):
            kind = "repair report" if name.name == "report.json" else "repaired bytes"
            old, new = folders[OLD] / name, folders[NEW] / name
            self._compare_lines(group, tally, f"{run} {name}", kind, old, new)
        for folder in folders.values():
            shutil.rmtree(folder)

    def _run(self, arguments: list[str], folders: dict[str, Path], tally: Tally) -> dict[str, Result]:
        """Run both commands at the same time, each in its folder."""
        started: dict[str, tuple[subprocess.Popen[bytes], Path, Path]] = {}
        for side, command in self.commands.items():
            stdout, stderr = self.work / f"{side}.stdout", self.work / f"{side}.stderr"
            state = {
                f"XDG_{kind}_HOME": str(self.work / f"{side}.{kind}") for kind in ("STATE", "CACHE", "CONFIG")
            }
            with stdout.open("wb") as out, stderr.open("wb") as err:
                process = subprocess.Popen(
                    [command, *arguments], cwd=folders[side], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                    env={**self.environment, **state},
                )  # fmt: skip
            started[side] = (process, stdout, stderr)
        results = {}
        for side, (process, stdout, stderr) in started.items():
            status, cpu = wait(process)
            results[side] = Result(status, cpu, stdout, stderr)
            tally.cpu[side] += cpu
        tally.runs += 1
        return results

    def _compare_status(self, group: Group, tally: Tally, run: str, results: dict[str, Result]) -> None:
        old, new = results[OLD], results[NEW]
        if old.status != new.status:
            self._note(group, tally, "exit code", run, f"{OLD} {old.status}, {NEW} {new.status}")
        for side, result in results.items():
            if result.status not in range(5) or b"Traceback" in result.stderr.read_bytes():
                self._note(group, tally, "crash", run, f"{side}: {tail(result.stderr)}")
        self._compare_lines(group, tally, run, "standard error", old.stderr, new.stderr)

    def _compare_lines(self, group: Group, tally: Tally, run: str, kind: str, old: Path, new: Path) -> None:
        if not (old.exists() and new.exists()):
            side = OLD if old.exists() else NEW
            if old.exists() or new.exists():
                self._note(group, tally, f"{kind}: only the {side} wrote it", run, "")
            return
        if filecmp.cmp(old, new, shallow=False):
            return
        removed, added = find_different_lines(old, new)
        if not (removed.count or added.count):
            self._note(group, tally, f"{kind}: order", run, "the same lines in another order")
            return
        for name, text, weight in pair_lines(kind, removed, added):
            self._note(group, tally, name, run, text, weight)

    def _note(self, group: Group, tally: Tally, kind: str, run: str, text: str, weight: int = 1) -> None:
        tally.differences += weight
        self.kinds[kind] += weight
        if len(self.shown[kind]) < SHOWN:
            self.shown[kind].append(f"{group.name}: {run}\n      {text}")

    def print_table(self) -> bool:
        width = max((len(name) for name in self.tallies), default=10)
        print_progress(
            f"{'set':{width}} {'records':>9} {'runs':>5} {'findings':>9} {'differences':>12} {'CPU s':>14}"
        )
        total = Tally()
        for name, tally in [*self.tallies.items(), ("all", total)]:
            cpu = f"{tally.cpu[OLD]:.1f} {tally.cpu[NEW]:.1f}"
            print_progress(
                f"{name:{width}} {tally.records:9,} {tally.runs:5} {tally.findings:9,} {tally.differences:12,} {cpu:>14}"
            )
            total.records += tally.records
            total.runs += tally.runs
            total.findings += tally.findings
            total.differences += tally.differences
            for side in tally.cpu:
                total.cpu[side] += tally.cpu[side] if tally is not total else 0
        for kind, texts in sorted(self.shown.items()):
            print_progress(f"\n{kind}: {self.kinds[kind]:,}")
            for text in texts:
                print_progress(f"    {text}")
        return bool(self.kinds)


@dataclass
class Lines:
    """Lines that only one of two files has: their number, and the first of them with their line numbers."""

    count: int = 0
    first: list[tuple[int, str]] = field(default_factory=list)


def find_different_lines(old: Path, new: Path) -> tuple[Lines, Lines]:
    """The lines of each file that the other lacks, at any position; only hashes are held in memory."""
    surplus: Counter[int] = Counter()
    for path, weight in ((old, 1), (new, -1)):
        for _, line in read_lines(path):
            surplus[hash(line)] += weight
    found = []
    for path, weight in ((old, 1), (new, -1)):
        left = {key: count * weight for key, count in surplus.items() if count * weight > 0}
        lines = Lines(count=sum(left.values()))
        for number, line in read_lines(path):
            if left.get(hash(line), 0) > 0:
                left[hash(line)] -= 1
                if len(lines.first) < MAX_KEPT:
                    lines.first.append((number, line.decode("utf-8", "replace")))
        found.append(lines)
    return found[0], found[1]


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            yield number, line.rstrip(b"\r\n").removesuffix(b",")


def pair_lines(kind: str, removed: Lines, added: Lines) -> Iterator[tuple[str, str, int]]:
    """Kind, text and number of differences; lines about the same position count as one changed line."""
    before: dict[object, list[tuple[int, str]]] = defaultdict(list)
    for number, line in removed.first:
        before[identify(kind, number, line)].append((number, line))
    paired = 0
    summaries = []
    for number, line in added.first:
        key = identify(kind, number, line)
        text = f"{NEW}     {number}: {describe(line)}"
        if before.get(key):
            old_number, old_line = before[key].pop(0)
            first, second = excerpt(describe(old_line), describe(line))
            text = f"{OLD} {old_number}: {first}\n      {NEW}    {number}: {second}"
            paired += 1
            name = f"{kind}: changed {label(line)}"
        else:
            name = f"{kind}: only in {NEW} {label(line)}"
        if label(line) == "summary":
            summaries.append((name, text, 1))
        else:
            yield name, text, 1
    rest = [item for items in before.values() for item in items]
    for number, line in rest:
        yield f"{kind}: only in {OLD} {label(line)}", f"{OLD} {number}: {shorten(describe(line))}", 1
    if beyond := removed.count - len(removed.first) + added.count - len(added.first):
        yield f"{kind}: further lines", "not shown", beyond
    if removed.count + added.count <= 2 * len(summaries):  # a summary differs wherever a finding does
        yield from summaries


def parse(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def identify(kind: str, number: int, line: str) -> object:
    """The common part of two lines that differ only in their statement about a position."""
    if kind == "repaired bytes":
        return number
    value = parse(line)
    if not isinstance(value, dict):
        return line.partition(":")[0]
    return tuple(
        str(value.get(key)) for key in ("path", "line", "code", "pointer", "file", "conversation", "schema")
    )


def label(line: str) -> str:
    value = parse(line)
    if not isinstance(value, dict):
        return ""
    return str(value.get("code") or ("summary" if "summary" in value else ""))


def describe(line: str) -> str:
    value = parse(line)
    if isinstance(value, dict) and "code" in value:
        head = f"{value.get('path')}:{value.get('line')} {value['code']} {value.get('severity')} {value.get('message')}"
        return f"{head}  {line}"
    return line


def excerpt(old: str, new: str) -> tuple[str, str]:
    """Both texts; long ones start shortly before the first different character."""
    same = next(
        (n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    if max(len(old), len(new)) <= MAX_SHOWN_CHARS:
        return old, new
    start = max(0, same - MAX_SHOWN_CHARS // 3)
    head = f"… from character {start}: " if start else ""
    return head + shorten(old[start:]), head + shorten(new[start:])


def shorten(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else text[:MAX_SHOWN_CHARS] + "…"


def tail(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")[-MAX_SHOWN_CHARS:]


def count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def wait(process: subprocess.Popen[bytes]) -> tuple[int, float]:
    """The status of a process and its processor time, with that of its children."""
    deadline = time.monotonic() + MAX_RUN_SECONDS
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, used.ru_utime + used.ru_stime
        if time.monotonic() > deadline:
            process.kill()
        time.sleep(0.005)


def print_progress(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("oracle"), parser.add_argument("new")
    parser.add_argument(
        "--corpus", type=Path, help="default: TURNLINT_CORPUS, or shared/corpus beside the checkout"
    )
    parser.add_argument("--mutated", type=int, help="broken records; default 20,000, with --quick 1,000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--quick", action="store_true", help="fewer records and runs: under 90 s of processor time"
    )
    parser.add_argument("--only", default="", help="only sets whose names contain this text")
    arguments = parser.parse_args()
    beside = Path(__file__).resolve().parent.parent.parent / "shared" / "corpus"
    corpus = arguments.corpus or Path(os.environ.get("TURNLINT_CORPUS", beside))
    broken = arguments.mutated if arguments.mutated is not None else 1_000 if arguments.quick else 20_000
    with tempfile.TemporaryDirectory(prefix="turnlint-compare-") as folder:
        work = Path(folder)
        commands = {OLD: shutil.which(arguments.oracle), NEW: shutil.which(arguments.new)}
        if missing := [side for side, command in commands.items() if not command]:
            parser.error(f"no such command: {', '.join(missing)}")
        comparison = Comparison(
            {side: os.path.abspath(str(command)) for side, command in commands.items()}, work
        )
        if not corpus.is_dir():
            print_progress(f"no corpus in {corpus}: fixtures only")
        for group in Builder(work / "logs", corpus, broken, arguments.seed, arguments.quick).groups():
            if arguments.only in group.name:
                comparison.compare(group)
            shutil.rmtree(group.folder, ignore_errors=True)
        differs = comparison.print_table()
    sys.exit(differs)


if __name__ == "__main__":
    main()
