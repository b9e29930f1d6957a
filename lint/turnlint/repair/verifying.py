"""Verify a computed repair before it is written.

The checks are: the repair converged, it causes no new finding, and every real result still answers its call. A separate
check in each round covers unreported losses.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from turnlint.documents import exact
from turnlint.model import Call, Finding, Level, Result
from turnlint.repair.evidence import untied
from turnlint.repair.mending import Mended, State

UNSETTLED = "each repair causes a new fault"
BRINGS_NEW = "it would cause new findings"
UNTIED = "no evidence ties a result to the call it would stand under"
Pair = tuple[Any, bytes]


def fault_of(mended: Mended, level: Level) -> str | None:
    """Return why a repair may not be written, if there is a reason."""
    if not mended.settled:
        return UNSETTLED
    new = _new(mended, partly=level != "lossy") or _lost_results(mended)
    return new or (UNTIED if untied_pair(mended) else None)


def untied_pair(mended: Mended) -> tuple[Call, Result] | None:
    """Return a call and a result that the repair would pair without evidence, if there are any."""
    # Steps of an early phase may move evidence; damaged bytes have none before they are repaired.
    first = mended.base if mended.start.damaged else mended.start
    before, after = ((one.transcript for one in state.judged) for state in (first, mended.end))
    recalled = {one.call_id for one in mended.changes if one.source_path}
    return untied(before, after, recalled)


def _new(mended: Mended, *, partly: bool) -> str | None:
    """Return the new findings. Where the settings exclude rules, a remaining fault may have another code."""
    before, after = _counts(mended.read.findings, "error"), _counts(mended.end.findings, "error")
    known = _counts(mended.read.findings, "warning", "error")
    grown = _counts(mended.end.findings, "warning", "error") - known
    # A warning that becomes an error because the repair puts a message after it is not a new finding.
    new = sorted(code for code, count in after.items() if count > before[code] and code in grown)
    renamed = partly and sum(after.values()) <= sum(before.values())
    milder = _counts(mended.end.findings, "warning") - known
    if not new and milder and sum(after.values()) >= sum(before.values()):
        new = sorted(milder)  # a warning may take the place of errors, never of warnings
    return f"{BRINGS_NEW}: {', '.join(new)}" if new and not renamed else None


def _counts(findings: Iterator[Finding], *severities: str) -> Counter[str]:
    return Counter(_known_as(one) for one in findings if one.severity in severities)


def _known_as(finding: Finding) -> str:
    """Return the code under which a finding counts: at the end, a call without a result has another code."""
    ends = finding.code == "PA206" or (finding.code == "PR311" and bool(finding.call_id or finding.tool))
    return "PA201" if ends else finding.code


def _lost_results(mended: Mended) -> str | None:
    """Check that every real result of a call still answers it. A copy may be removed for each reported removal."""
    removed = sum(one.what == "removed" for one in mended.changes)
    before, after = _pairs(mended.base), _pairs(mended.end)
    if sum(after.values()) < sum(before.values()) - removed:
        return "it would lose the result of a call"
    calls = {called for called, _ in after}
    was, now = _only_call(before), _only_call(after)
    for body, called in was.items():
        # A call with rewritten arguments is identified by its result alone.
        if body in now and now[body] != called and called in calls:
            return "it would attach a result to another call"
    return None


def _only_call(pairs: Counter[Pair]) -> dict[bytes, Any]:
    """Return the calls of results whose text occurs once."""
    calls: dict[bytes, list[Any]] = {}
    for (called, body), count in pairs.items():
        calls.setdefault(body, []).extend([called] * count)
    return {body: some[0] for body, some in calls.items() if len(some) == 1}


def _pairs(state: State) -> Counter[Pair]:
    found: Counter[Pair] = Counter()
    for judged in state.judged:
        for one in judged.pairs.interactions:
            if one.answer is not None and not (one.is_open or one.answer.result.synthetic):
                found[_called(one.asked.call), one.answer.result.body] += 1
    return found


def _called(call: Call) -> Any:
    return call.name, call.body


def is_better(before: bytes, after: bytes) -> bool:
    """Whether a damaged record parses better than before. A record that stays unparsable is not changed."""
    was, now = exact.read(before), exact.read(after)
    return now.whole and len(now.troubles) < len(was.troubles)
