"""What the page asks about a transcript, and what it is told: findings, the report, and what `fix` would write.

This module owns the shape of these answers, and how much of them there is. It refuses to know that it runs in a
browser, and to read or write files.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from msgspec import Struct, structs, to_builtins

from turnlint import __version__
from turnlint.aggregation import aggregate
from turnlint.carriers import NAMES
from turnlint.documents.source import Source, packed_as
from turnlint.engine import Book, Options, Skipped, Tally
from turnlint.engine import lint as events_of
from turnlint.errors import TurnlintError
from turnlint.keeping.patches import patched
from turnlint.library.running import options_of, policy_of
from turnlint.neighbours import Near
from turnlint.packages import packages
from turnlint.providers import Providers
from turnlint.repair.choosing import LEVELS
from turnlint.repair.passes import fix as fix_of
from turnlint.report import open_sink
from turnlint.report.accepted import Terms
from turnlint.report.changes import changes as diff_of
from turnlint.report.escape import visible
from turnlint.report.machine import reported, summary_of
from turnlint.report.repair_text import last_lines, lines_of
from turnlint.report.repaired import Done, document
from turnlint.report.words import found
from turnlint.rows import Row

MOST_BYTES = 5_000_000
"""What a page can hold several times over, with all that is said of it."""
MOST = 1_000
"""So many findings and changes are listed; the rest is counted."""
MOST_TEXT = 500_000
"""The characters of a report or a diff that are shown."""
CONTENTS = ("none", "excerpt", "full")
CHOOSE = "choose a format, if you know which it is"
UNKNOWN = f"unrecognized format; {CHOOSE}"


class _Look(Struct, frozen=True):
    """The report as on a terminal of a usual width."""

    width: int = 100
    color: bool = False
    statistics: str = ""
    folds: bool = True
    infos: bool = True
    fails: Mapping[str, tuple[str, ...]] = {}
    own: tuple[Any, ...] = ()


class _Refused(Exception):  # noqa: N818 - it is what was given, and the sentence says so
    """What nothing can be said of."""


def offers() -> str:
    """What can be chosen, as JSON."""
    return json.dumps({
        "version": __version__,
        "format": ["auto", *NAMES],
        "provider": ["auto", "none", *Providers(packages()).names()],
        "level": LEVELS,
        "content": CONTENTS,
        "most_bytes": MOST_BYTES,
    })  # fmt: skip


def lint(data: bytes | memoryview, name: str, asked: str) -> str:
    """What `turnlint lint` says, as JSON: `problem` alone where it is nothing that can be read."""
    try:
        return json.dumps(_lint(bytes(data), name, json.loads(asked)))
    except _REFUSALS as error:
        return _problem(error)


def fix(data: bytes | memoryview, name: str, asked: str) -> tuple[str, bytes]:
    """What `turnlint fix` says, as JSON, and what it would write."""
    data = bytes(data)
    try:
        told, repaired = _fix(data, name, json.loads(asked))
    except _REFUSALS as error:
        return _problem(error), data
    return json.dumps(told), repaired


_REFUSALS = (_Refused, TurnlintError)


def _problem(error: Exception) -> str:
    return json.dumps({"problem": visible(str(error))})


def _asked(data: bytes, name: str, asked: dict[str, str], content: str) -> tuple[Source, Options]:
    if len(data) > MOST_BYTES:
        raise _Refused(f"this page reads {MOST_BYTES:,} bytes at most; `turnlint lint` reads any number")
    if packed_as(data[:4].ljust(4, b" ")):
        raise _Refused("it is compressed; this page reads it unpacked, `turnlint lint` as it is")
    if content not in CONTENTS:
        raise _Refused(f"unknown amount {content!r}")
    options = options_of(asked["provider"], asked["format"], (), ())
    return Source(name, None, data=data), structs.replace(
        options, view=True, fingerprints=True, content=cast("Any", content)
    )


def _lint(data: bytes, name: str, asked: dict[str, str]) -> dict[str, Any]:
    source, options = _asked(data, name, asked, asked["content"])
    pieces: list[str] = []
    sink = open_sink("text", pieces.append, _Look())
    findings: list[dict[str, Any]] = []
    tally = Tally()
    for event in aggregate(events_of(source, options, Book(options))):
        if isinstance(event, Tally):
            tally = event
            continue
        if isinstance(event, Skipped):
            raise _Refused(_refusal(event.near))
        if isinstance(event, Row) and len(findings) < MOST:
            findings.append(to_builtins(reported(event)))
        sink.take(event)
    sink.finish(tally, complete=not tally.crashes)
    return {
        "findings": findings,
        "summary": summary_of(tally),
        "said": visible(found(tally)),
        "report": _cut("".join(pieces)),
    }


def _fix(data: bytes, name: str, asked: dict[str, str]) -> tuple[dict[str, Any], bytes]:
    source, options = _asked(data, name, asked, "none")
    policy = policy_of(options, cast("Any", asked["level"]), {}, close_pending=False, canonical=False)
    fixed = fix_of(source, options, Book(options), policy)
    if fixed.problem:
        raise fixed.problem
    if fixed.foreign:
        raise _Refused(_refusal(fixed.near))
    repaired = b"".join(patched(source, fixed.patches)) if fixed.patches else data
    done = Done(name, fixed, changed=bool(fixed.patches), wrote=True, to="-")
    report = json.loads("".join(document([done], complete=not fixed.failures, dry=False)))
    look = _Look()
    terms = Terms(providers=tuple(name for name in options.providers if name != "auto"))
    return {
        "changed": done.changed,
        "changes": report["changes"][:MOST],
        "summary": report["summary"],
        "bound": visible(fixed.bound),
        "words": _cut(_lines((*lines_of(done, look, dry=False), *last_lines([done], look, terms)))),
        "diff": _cut(_lines(diff_of(fixed, look))),
    }, repaired


def _refusal(near: Near | None) -> str:
    if near is None:
        return UNKNOWN
    return f"it {near.likeness}; {CHOOSE}" if near.is_format else f"it {near.sentence}"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _cut(text: str) -> str:
    if len(text) <= MOST_TEXT:
        return text
    return f"{text[:MOST_TEXT]}\n… {len(text) - MOST_TEXT:,} more characters\n"
