"""Write the results of `turnlint why` for people and for programs.

All quoted text passes through `escape`.
"""

from collections.abc import Callable, Iterator
from json import dumps
from typing import Any

from msgspec import structs, to_builtins

from turnlint.cli.look import Look, colors, line_limit, width
from turnlint.cli.why_found import AUTO, MOST_SHOWN, Explained, Looked, Reason
from turnlint.neighbours import sentence_of
from turnlint.profiles import Known, Profile
from turnlint.report import Batched, open_sink
from turnlint.report.escape import clip, fold, visible
from turnlint.report.escape import in_json as without_commands
from turnlint.report.machine import reported
from turnlint.text import pluralize
from turnlint.why import Near, Recognised

SCHEMA = "turnlint/why-v1"
LONGEST = 600
NARROW = 96
MOST_ALIKE = 8
MOST_REASONS = 3
"""Number of reasons that are shown; JSON has all."""
LEAST_WIDTH = 40


def in_words(
    explained: Explained, looked: Looked | None, write: Callable[[str], object], path: str | None
) -> None:
    """Write the results for people: the findings first, then the provider and the rules that explain the text."""
    if (explained.recognised or explained.word) and path is not None:
        if looked is None:
            _write(f"No rule checks this, so {visible(path)} was not checked.", write)
        else:
            _findings(looked, write, visible(path))
        write("\n")
    found = explained.recognised
    lines = (
        _known(explained, found) if found else _of_word(explained) if explained.word else _unknown(explained)
    )
    for line in lines:
        _write(line, write)


def _write(line: str, write: Callable[[str], object]) -> None:
    """Write a line, broken at the width of the terminal if there is one."""
    start = line[: len(line) - len(line.lstrip(" |"))]
    indent = " " * (len(start) + (0 if "|" in start else 2))
    limit = line_limit()
    for piece in fold(line, max(LEAST_WIDTH, limit), indent) if limit else [line]:
        write(piece + "\n")


def _known(explained: Explained, found: Recognised) -> Iterator[str]:
    best = found.best
    whose = f"{visible(best.profile.title)} ({visible(best.profile.name)})"
    if found.is_certain:
        yield f"{whose} returns this error."
        yield f"  | {clip(_line(best.line), LONGEST)}"
    else:
        yield f"Probably: {whose} returns an error with these words."
        yield f"  | {clip(_line(best.known.sample), LONGEST)}"
    if best.piece.peeled:
        yield f"  extracted from: {', '.join(best.piece.peeled)}"
    asked = [name.partition("@")[0] for name in explained.providers]
    if best.profile.name not in asked and AUTO not in asked:
        yield f"  not a known text of {', '.join(map(visible, asked))}, whose rules are applied anyway"
    carriers = [name for name in found.carriers if name != best.profile.name]
    if carriers:
        yield f"  passed on by: {', '.join(carriers)}"
    if found.alike:
        names = [visible(one.profile.name) for one in found.alike]
        more = f" and {len(names) - MOST_ALIKE} more" if len(names) > MOST_ALIKE else ""
        yield f"  similar texts: {', '.join(names[:MOST_ALIKE])}{more}"
    yield f"  evidence: {visible(_evidence(best.known))}"
    if best.known.about:
        yield ""
        yield f"Meaning: {visible(best.known.about)}"
    if not explained.reasons:
        yield ""
        yield "turnlint has no rule for this error."
        return
    yield ""
    yield from _causes(explained)


def _of_word(explained: Explained) -> Iterator[str]:
    order = ", most likely first" if len(explained.reasons) > 1 else ""
    yield f"`{visible(explained.word)}` is a single word, not an error text. Rules about it{order}:"
    yield from _rules(explained)
    yield "  give the whole error text to find its provider and its cause"


def _causes(explained: Explained) -> Iterator[str]:
    yield "Possible causes, most likely first:" if len(explained.reasons) > 1 else "Cause:"
    yield from _rules(explained)


def _rules(explained: Explained) -> Iterator[str]:
    for reason in explained.reasons[:MOST_REASONS]:
        yield from _reason(reason)
    yield f"  turnlint explain {visible(explained.reasons[0].code)} shows details{', and likewise for the other rules' if len(explained.reasons) > 1 else ''}"


def _reason(reason: Reason) -> Iterator[str]:
    yield f"  {visible(reason.code)} {visible(reason.name)}: {visible(reason.headline)}"
    if reason.why:
        yield f"    {clip(visible(reason.why), 2 * NARROW)}"


def _unknown(explained: Explained) -> Iterator[str]:
    yield "Unknown error text."
    if explained.dialects:
        yield f"  its wording resembles: {', '.join(explained.dialects[:3])}"
    if explained.near:
        yield ""
        yield "Most similar known texts:"
        for near in explained.near:
            yield from _near(near)
    else:
        yield "  no known text is similar; `turnlint profiles NAME` prints the known texts of a provider"


def _near(near: Near) -> Iterator[str]:
    yield f"  {visible(near.profile.name)}: {clip(_line(near.known.sample), 2 * NARROW)}"
    if near.known.rules:
        yield f"    turnlint explain {visible(near.known.rules[0])}"


def _line(text: str) -> str:
    return visible(" ".join(text[: 4 * LONGEST].split()))


def _evidence(known: Known) -> str:
    parts = [known.status, known.source, known.date]
    return ", ".join(part for part in parts if part)


def _findings(looked: Looked, write: Callable[[str], object], path: str) -> None:
    for line in _said_first(looked, path):
        _write(line, write)
    if not looked.shown and not looked.crashes:
        return
    write("\n")
    sink = open_sink("text", write, Look(width(), colors("auto"), "", folds=line_limit() is not None))
    shown = looked.shown[:MOST_SHOWN]
    for number, one in enumerate(shown):
        sink.take(one.row)
        if number == 0 and isinstance(sink, Batched):
            sink.tell()  # the finding that matches the text, before sorting it with the others
    for crash in looked.crashes:
        sink.take(crash)
    found = structs.replace(looked.tally, findings=looked.levels, rules={})
    sink.finish(found, complete=not looked.crashes)


def _said_first(looked: Looked, path: str) -> Iterator[str]:
    names = ", ".join(
        "the provider of each record" if name == AUTO else visible(name) for name in looked.providers
    )
    if looked.shown:
        best = looked.shown[0].agreed
        agree = sum(any(structs.astuple(one.agreed)) for one in looked.shown)
        yield f"In {path}, checked for {names}: {pluralize(looked.count, 'finding')} that can cause this error."
        if best.reasons:
            told = (
                "It matches" if looked.count == 1 else f"{agree:,} of them match{'es' if agree == 1 else ''}"
            )
            first = "" if looked.count == 1 else ", the first"
            yield f"  {told} the error text{first} by {' and '.join(best.reasons)}."
        elif looked.clues.any:
            yield "  None of them matches the positions in the text."
    else:
        yield f"{path} does not contain the cause, checked for {names}."
    if not looked.shown or not looked.shown[0].agreed.reasons:
        yield from (f"  {line}" for line in _to_check(looked))


def _to_check(looked: Looked) -> Iterator[str]:
    """Yield possible reasons why a conversation does not show the error."""
    for one in looked.unreadable:
        yield f"{visible(one.name)}: {visible(one.reason)}"
    for skipped in looked.skipped[:3]:
        yield f"{visible(skipped.source.name)}: {sentence_of(skipped.near)}"
    if not looked.tally.files:
        return
    if looked.absent:
        ids = ", ".join(clip(visible(one), 60) for one in looked.absent[:3])
        yield f"the text names {ids}, which is not in the file: the request was another one, or the file changed since"
    beyond = [index for index in looked.clues.indices if index >= looked.longest]
    if beyond:
        most = pluralize(looked.longest, "message")
        yield f"the text mentions message {beyond[0]:,}, but no file has more than {most}: the request was longer"
    if looked.others:
        rules = sorted(looked.others.items(), key=lambda item: -item[1])[:4]
        told = ", ".join(f"{visible(rule)} ({count:,})" for rule, count in rules)
        yield f"findings of other rules: {told}; `turnlint lint` shows them"
    yield "the log may differ from the request: check what the client added, dropped or truncated before sending"


def in_json(explained: Explained, looked: Looked | None) -> str:
    """Return the results for programs: one document in ASCII."""
    found = explained.recognised
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "recognised": found is not None,
        "certain": found is not None and found.is_certain,
    }
    if found:
        best = found.best
        document |= {
            "text": best.line[: 4 * LONGEST],
            "peeled": best.piece.peeled,
            "provider": best.profile.name,
            "version": best.profile.version or None,
            "alike": [one.profile.name for one in found.alike],
            "carriers": found.carriers,
            "known": _told_known(best.profile, best.known),
            "rules": [structs.asdict(reason) for reason in explained.reasons],
        }
    else:
        document |= {
            "word": explained.word or None,
            "rules": [structs.asdict(reason) for reason in explained.reasons],
            "dialects": explained.dialects,
            "nearest": [
                {**_told_known(near.profile, near.known), "rules": near.known.rules, "likeness": round(near.likeness, 3)}
                for near in explained.near
            ],
        }  # fmt: skip
    if looked:
        document |= _told_findings(looked)
    return without_commands(dumps(document, indent=1))


def _told_known(profile: Profile, known: Known) -> dict[str, Any]:
    return {
        "provider": profile.name, "sample": known.sample, "status": known.status, "source": known.source,
        "date": known.date, "about": known.about or None,
    }  # fmt: skip


def _told_findings(looked: Looked) -> dict[str, Any]:
    return {
        "complete": not looked.crashes and not looked.unreadable,
        "held_against": looked.providers,
        "clues": structs.asdict(looked.clues),
        "absent": looked.absent,
        "others": looked.others,
        "count": looked.count,
        "findings": [
            {**to_builtins(reported(one.row)), "agrees": structs.asdict(one.agreed)}
            for one in looked.shown[:MOST_SHOWN]
        ],
    }
