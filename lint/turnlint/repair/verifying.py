"""Is a repair what it should be?

This module owns the checks between a repair that was worked out and one that is written: it came to rest, it
brought nothing new, every real result still answers its call, and what was said is still said. It refuses to
know how the repair was made.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import json

from turnlint.documents import exact
from turnlint.documents.locate import locate_all
from turnlint.model import Call, Finding, Level, Pointer, Text, Thinking
from turnlint.repair.mending import Mended, State

Pair = tuple[Any, bytes]


def fault_of(mended: Mended, level: Level) -> str | None:
    """Why a repair may not be written, if there is a reason."""
    if not mended.settled:
        return "it does not come to rest: each round finds something else to do"
    return _new(mended, level) or _lost_results(mended) or _lost_words(mended)


def _new(mended: Mended, level: Level) -> str | None:
    """What was not found before. Where not all may be repaired, what is left may go by another name."""
    before, after = _counts(mended.base.findings, "error"), _counts(mended.end.findings, "error")
    new = sorted(code for code, count in after.items() if count > before[code])
    renamed = level != "lossy" and sum(after.values()) <= sum(before.values())
    milder = _counts(mended.end.findings, "warning") - _counts(mended.base.findings, "warning", "error")
    if not new and milder and sum(after.values()) >= sum(before.values()):
        new = sorted(milder)  # a warning may take the place of errors, never of warnings
    return f"it would bring new findings: {', '.join(new)}" if new and not renamed else None


def _counts(findings: Iterator[Finding], *severities: str) -> Counter[str]:
    return Counter(_known_as(one) for one in findings if one.severity in severities)


def _known_as(finding: Finding) -> str:
    """A call without a result is told of in other words once nothing stands behind it any more."""
    ends = finding.code == "PA206" or (finding.code == "PR311" and bool(finding.call_id or finding.tool))
    return "PA201" if ends else finding.code


def _lost_results(mended: Mended) -> str | None:
    """Every real result that answered a call answers it still. Copies may go, one for each that is told of."""
    removed = sum(one.what == "removed" for one in mended.changes)
    before, after = _pairs(mended.base), _pairs(mended.end)
    if sum(after.values()) < sum(before.values()) - removed:
        return "it would lose a result that answers a call"
    calls = {called for called, _ in after}
    was, now = _only_call(before), _only_call(after)
    for body, called in was.items():
        # A call whose arguments were written anew is known by its result alone.
        if body in now and now[body] != called and called in calls:
            return "it would give a result to another call"
    return None


def _only_call(pairs: Counter[Pair]) -> dict[bytes, Any]:
    """The calls of results that say what no other says."""
    calls: dict[bytes, list[Any]] = {}
    for (called, body), count in pairs.items():
        calls.setdefault(body, []).extend([called] * count)
    return {body: some[0] for body, some in calls.items() if len(some) == 1}


def _pairs(state: State) -> Counter[Pair]:
    found: Counter[Pair] = Counter()
    for judged in state.judged:
        for one in judged.pairs.interactions:
            if one.answer is not None and not one.answer.result.synthetic:
                found[_called(one.asked.call), one.answer.result.body] += 1
    return found


def _called(call: Call) -> Any:
    return call.name, call.body


def _lost_words(mended: Mended) -> str | None:
    """No text goes but with a message or a piece that is told of."""
    told = sum(one.what in ("removed", "rewritten") for one in mended.changes)
    lost = _words(mended.base) - _words(mended.end)
    return "it would lose something that was said" if sum(lost.values()) > told else None


def _words(state: State) -> Counter[bytes]:
    """The texts and the thoughts of all conversations, as written; those of a record that several share are counted once."""
    places: dict[int, dict[Pointer, None]] = {}
    for judged in state.judged:
        for message in judged.transcript.messages:
            for block in message.blocks:
                if isinstance(block, Text) or (isinstance(block, Thinking) and block.words):
                    places.setdefault(message.record.offset, {})[*message.at, *block.at] = None
    found: Counter[bytes] = Counter()
    for cell, pointers in places.items():
        data = state.unit.cells[cell].data
        for at, start, end in locate_all(data, pointers).values():
            found[_said(data[start:end])] += bool(at)
    return found


def _said(raw: bytes) -> bytes:
    """A text whatever stands around it: its part may go from one wire's spelling to another's."""
    if raw[:1] != b"{":
        return raw.strip()
    try:
        value = json.decode(raw)
    except (ValueError, RecursionError):
        return raw
    return json.encode(value["text"]) if isinstance(value, dict) and "text" in value else raw


def is_better(before: bytes, after: bytes) -> bool:
    """Whether a damaged record reads better than it did. One that stays unreadable is not touched at all."""
    was, now = exact.read(before), exact.read(after)
    return now.whole and len(now.troubles) < len(was.troubles)
