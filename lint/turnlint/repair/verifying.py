"""Is a repair what it should be?

This module owns the checks between a repair that was worked out and one that is written: it came to rest, it
brought nothing new, and every real result still answers its call. That nothing goes untold is seen to in every
round. It refuses to know how the repair was made.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from turnlint.documents import exact
from turnlint.model import Call, Finding, Level, Result
from turnlint.repair.evidence import untied
from turnlint.repair.mending import Mended, State

BRINGS_NEW = "it would cause new findings"
UNTIED = "no evidence ties a result to the call it would stand under"
Pair = tuple[Any, bytes]


def fault_of(mended: Mended, level: Level) -> str | None:
    """Why a repair may not be written, if there is a reason."""
    if not mended.settled:
        return "repeated repairs do not converge"
    new = _new(mended, partly=level != "lossy") or _lost_results(mended)
    return new or (UNTIED if untied_pair(mended) else None)


def untied_pair(mended: Mended) -> tuple[Call, Result] | None:
    """Return a call and a result that the repair would pair without evidence, if there are such."""
    # Steps of an early phase may move evidence away; damaged bytes show none before they are repaired.
    first = mended.base if mended.start.damaged else mended.start
    before, after = ((one.transcript for one in state.judged) for state in (first, mended.end))
    return untied(before, after)


def _new(mended: Mended, *, partly: bool) -> str | None:
    """What was not found before. Where the settings exclude rules, what is left may have another code."""
    before, after = _counts(mended.read.findings, "error"), _counts(mended.end.findings, "error")
    known = _counts(mended.read.findings, "warning", "error")
    grown = _counts(mended.end.findings, "warning", "error") - known
    # A warning that becomes an error because the repair puts something after it is not a new finding.
    new = sorted(code for code, count in after.items() if count > before[code] and code in grown)
    renamed = partly and sum(after.values()) <= sum(before.values())
    milder = _counts(mended.end.findings, "warning") - known
    if not new and milder and sum(after.values()) >= sum(before.values()):
        new = sorted(milder)  # a warning may take the place of errors, never of warnings
    return f"{BRINGS_NEW}: {', '.join(new)}" if new and not renamed else None


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
        return "it would lose the result of a call"
    calls = {called for called, _ in after}
    was, now = _only_call(before), _only_call(after)
    for body, called in was.items():
        # A call whose arguments were written anew is known by its result alone.
        if body in now and now[body] != called and called in calls:
            return "it would attach a result to another call"
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


def is_better(before: bytes, after: bytes) -> bool:
    """Whether a damaged record reads better than it did. One that stays unreadable is not touched at all."""
    was, now = exact.read(before), exact.read(after)
    return now.whole and len(now.troubles) < len(was.troubles)
