"""Check the examples of rules and the pictures of fixtures.

Every rule passes these checks, built-in or not, so that an author writes only examples. Errors are returned
as sentences.
"""

import os
import tempfile
from collections.abc import Iterator

from turnlint.api import Close, Example, Finding, Raw
from turnlint.carrying.examples import Written
from turnlint.documents.locate import locate
from turnlint.documents.source import Source
from turnlint.engine import Book, Crash, Event, Options, Tally, lint
from turnlint.notation import write
from turnlint.packages import GROUP, packages
from turnlint.rows import Row
from turnlint.rulebook import Entry, everything, load, removed
from turnlint.text import quote_name

HEADINGS = ("What it does", "Why it matters", "How it happens", "What fix does", "Evidence")
WIDTH = 100


def events_of(path: str, name: str, options: Options) -> list[Event]:
    """Lint one file under another name."""
    return list(lint(Source(name, path), options, Book(options)))


def rows_of(data: bytes, format_name: str | None, provider: str = "none") -> list[Row]:
    """Return the findings of some bytes. Raises `AssertionError` if a rule crashes."""
    providers = () if provider == "none" else (provider,)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "example.jsonl")
        with open(path, "wb") as file:
            file.write(data)
        options = Options(format=format_name, providers=providers, preview=True)
        events = events_of(path, "example.jsonl", options)
    crashes = [event for event in events if isinstance(event, Crash)]
    if crashes:
        raise AssertionError(f"rule {crashes[0].rule} crashed: {crashes[0].reason}")
    return [event for event in events if isinstance(event, Row)]


def fixed(data: bytes, format_name: str | None, provider: str = "none", name: str = "example.jsonl") -> bytes:
    """Return the result of `fix --level lossy` for some bytes.

    Raises `AssertionError` if a repair cannot be verified.
    """
    from turnlint.keeping.patches import patched
    from turnlint.repair.choosing import Policy
    from turnlint.repair.passes import fix

    providers = () if provider == "none" else (provider,)
    options = Options(format=format_name, providers=providers, preview=True)
    named = frozenset(one.partition("@")[0] for one in providers if one != "auto")
    policy = Policy(level="lossy", named=named)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, os.path.basename(name))
        with open(path, "wb") as file:
            file.write(data)
        source = Source(name, path)
        done = fix(source, options, Book(options), policy)
        if done.failures:
            raise AssertionError(f"not repaired: {done.failures[0].reason}")
        return b"".join(patched(source, done.patches))


def problems_in(package: str) -> Iterator[str]:
    """Yield the errors of the rules of a package, for the tests of its author."""
    if package not in packages():
        yield f"{package}: not installed, or not named in the entry-point group {GROUP}"
        return
    entries = load(package)
    if not entries:
        yield f"{package}: no module of it has a RULE"
    yield from _shared(entries)
    for entry in entries:
        yield from problems(entry)


def _shared(entries: list[Entry]) -> Iterator[str]:
    """Yield names, including former ones, that do not identify one rule."""
    owners: dict[str, set[str]] = {}
    for entry in (*everything(), *entries):
        for name in (entry.rule.code, entry.rule.name, *entry.rule.aliases):
            owners.setdefault(name, set()).add(entry.rule.name)
    mine = {name for entry in entries for name in (entry.rule.code, entry.rule.name, *entry.rule.aliases)}
    for name in sorted(mine & removed().keys()):
        yield f"{name} is a rule, and stands among those that are gone"
    for name in sorted(mine):
        if len(owners[name]) > 1:
            yield f"{name} means several rules: {', '.join(sorted(owners[name]))}"


def problems(entry: Entry) -> Iterator[str]:
    """Yield the errors of a rule: in its docs, its examples and its findings."""
    yield from _docs(entry)
    for title in ("BAD", "GOOD"):
        examples = getattr(entry.module, title, ())
        if not examples:
            yield f"{entry.rule.name}: no {title} example"
        for number, example in enumerate(examples, 1):
            for problem in _example(entry, example, bad=title == "BAD"):
                yield f"{entry.rule.name}, {title} {number}: {problem}"


def _docs(entry: Entry) -> Iterator[str]:
    if not entry.headline or not entry.headline[0].islower() or entry.headline.endswith("."):
        yield f"{entry.rule.name}: a headline is lower case and has no full stop: {entry.headline!r}"
    places = [f"\n{entry.docs}\n".find(f"\n{heading}\n") for heading in HEADINGS]
    if min(places) < 0 or places != sorted(places):
        yield f"{entry.rule.name}: the headings are {', '.join(HEADINGS)}, in this order"


def _example(entry: Entry, example: Example | Raw, *, bad: bool) -> Iterator[str]:
    if isinstance(example, Raw):
        rows = rows_of(example.data, example.format, example.provider)
        found = sorted((row.finding.code, row.place.line) for row in rows)
        if found != sorted(example.expect):
            yield f"found {found}, expected {sorted(example.expect)}"
        yield from _findings(entry, rows, example.data)
        yield from _repair(entry, rows, example.data, example.format, example.provider)
        codes = {code for code, _ in example.expect}
    else:
        codes = set()
        for wire in example.wires:
            written = write(example.text, wire)
            rows = rows_of(written.data, wire, example.provider)
            yield from (f"{wire}: {problem}" for problem in _marks(written, rows))
            yield from (f"{wire}: {problem}" for problem in _findings(entry, rows, written.data))
            repair = _repair(entry, rows, written.data, wire, example.provider)
            yield from (f"{wire}: {problem}" for problem in repair)
            codes = {expected.code for expected in written.expected}
    if bad is not (entry.rule.code in codes):
        yield f"a bad example expects {entry.rule.code}, a good one does not"


def _marks(written: Written, rows: list[Row]) -> Iterator[str]:
    """Yield findings without a mark, and marks without a finding."""
    open_marks = list(written.expected)
    for row in rows:
        at = row.finding.where.at
        match = next(
            (mark for mark in open_marks if mark.code == row.finding.code and at[: len(mark.at)] == mark.at),
            None,
        )
        if match is None:
            yield f"not marked: {row.finding.code} at {row.place.pointer}: {row.finding.message}"
        else:
            open_marks.remove(match)
    for mark in open_marks:
        yield f"marked but not found: {mark.code} at {mark.at}"


def _findings(entry: Entry, rows: list[Row], data: bytes) -> Iterator[str]:
    lines = data.split(b"\n")
    for row in rows:
        finding = row.finding
        if finding.code != entry.rule.code:
            continue
        if not finding.message or finding.message[0].isupper() or finding.message.endswith("."):
            yield f"a message is lower case and has no full stop: {finding.message!r}"
        if finding.call_id and quote_name(finding.call_id).rstrip("`") not in finding.message:
            yield f"the message does not name call {finding.call_id!r}: {finding.message!r}"
        if finding.fix and entry.rule.fix is None:
            yield "the finding has a fix, the rule says it has none"
        line = lines[row.place.line - 1]
        parts = finding.where.at
        if finding.where.start is None and locate(line, parts)[0] != parts and len(parts) > 1:
            deepest = locate(line, parts)[0]
            if len(parts) - len(deepest) > 2:
                yield f"pointer {parts} does not resolve, only {deepest}"


def _repair(entry: Entry, rows: list[Row], data: bytes, wire: str, provider: str) -> Iterator[str]:
    """Yield repairs that `fix` does not complete, or that change the result again on a second run."""
    own = [row.finding for row in rows if row.finding.code == entry.rule.code]
    stays = sum(not (one.fix and one.fix.steps) or one.severity == "info" or _waits(one) for one in own)
    try:
        after = fixed(data, wire, provider)
        left = [row for row in rows_of(after, wire, provider) if row.finding.code == entry.rule.code]
        if len(left) > stays:
            yield f"fix leaves {left[0].finding.message!r} in {after!r}"
        if fixed(after, wire, provider) != after:
            yield f"fixed once more, it changes again: {after!r}"
    except AssertionError as error:
        yield str(error)


def _waits(finding: Finding) -> bool:
    """Whether it is repaired only on request of the user."""
    steps = finding.fix.steps if finding.fix else ()
    return any(isinstance(step, Close) and step.pending for step in steps)


def picture(path: str, name: str, format_name: str | None = None) -> str:
    """Return the text report of a file for a terminal of 100 columns, without color and without folding."""
    from msgspec import Struct

    from turnlint.report import open_sink

    class Look(Struct):
        width: int = WIDTH
        color: bool = False
        statistics: str = ""
        fails: dict[str, tuple[str, ...]] = {}
        own: tuple[Entry, ...] = ()
        folds: bool = False
        infos: bool = True

    drawn: list[str] = []
    sink = open_sink("text", drawn.append, Look())
    total = Tally()
    for event in events_of(path, name, Options(format=format_name, view=True, content="excerpt")):
        if isinstance(event, Tally):
            total.add(event)
        else:
            sink.take(event)
    sink.finish(total, complete=not total.crashes)
    return "".join(drawn)
