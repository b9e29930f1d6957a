"""Choose the steps of a repair, and their order.

The choice depends on the level of the run, on severities, and on whether a provider was only guessed. It also defines
the phases of a round.
"""

from collections.abc import Container

from msgspec import Struct, structs

from turnlint.engine import Judged
from turnlint.model import Finding, Fix, Level, Reach
from turnlint.rulebook import selects
from turnlint.steps import Close, Patch, Recall, Relink, Rename, Restore, Split, Step, Take, Translate, Unmix

LEVELS: tuple[Level, ...] = ("lossless", "placeholder", "lossy")
REACHES: tuple[Reach, ...] = ("never", *LEVELS)


class Policy(Struct, frozen=True):
    """The options of a `fix` run."""

    level: Level = "placeholder"
    levels: tuple[tuple[str, Reach], ...] = ()
    """The level for some rules, by selector. The last matching selector applies, regardless of `level`."""
    close_pending: bool = False
    canonical: bool = False
    named: frozenset[str] = frozenset()
    """Providers that the user named."""
    select: bool = False
    """Whether the user selected rules, so that their info findings are repaired too."""
    keeps_ids: bool = False
    """Whether calls keep their ids, because the canonical form gives each of them its own."""


Chosen = tuple[Finding, Step]


def wanted(finding: Finding, policy: Policy) -> bool:
    """Whether a finding is to be repaired."""
    fix = finding.fix
    if fix is None or not fix.steps:
        return False
    if policy.keeps_ids and all(isinstance(step, Rename) for step in fix.steps):
        return False
    if REACHES.index(fix.level) > REACHES.index(reach(finding, policy) or policy.level):
        return False
    if finding.severity == "info" and not policy.select:
        return False
    guessed = finding.fault == "projection" and finding.provider not in policy.named
    return finding.severity == "error" or not guessed


def completes_last_call(step: Step) -> bool:
    """Whether a step completes a call at the end of a conversation."""
    return isinstance(step, Close) and step.pending


def is_left_open(step: Step, policy: Policy) -> bool:
    """Whether a run omits a step, because the user did not ask to complete last calls."""
    return completes_last_call(step) and not (policy.close_pending or policy.named)


def reach(finding: Finding, policy: Policy) -> Reach | None:
    """Return the level that the settings give the rule of a finding, if any."""
    for selector, level in reversed(policy.levels):
        if selects(selector, finding.code, finding.rule, finding.fault):
            return level
    return None


def choose(judged: Judged, policy: Policy, overruled: Container[str | None] = ()) -> dict[int, list[Chosen]]:
    """Return the steps of a conversation's findings by phase, in the order of the phases.

    Of several providers one after another gets its ids. The findings of an overruled provider get no further ids.
    """
    first = next(
        (
            one.provider
            for one in judged.findings
            if _renames(one) and wanted(one, policy) and one.provider not in overruled
        ),
        None,
    )
    phases: dict[int, list[Chosen]] = {}
    for finding in judged.findings:
        if not wanted(finding, policy) or (_renames(finding) and finding.provider != first):
            continue
        assert finding.fix is not None
        for step in finding.fix.steps:
            if not is_left_open(step, policy):
                phases.setdefault(phase(finding, step), []).append((finding, step))
    return dict(sorted(phases.items()))


def _renames(finding: Finding) -> bool:
    steps = finding.fix.steps if finding.fix else ()
    return finding.fault == "projection" and any(isinstance(step, Rename) for step in steps)


def phase(finding: Finding, step: Step) -> int:
    """Return the phase of a step: bytes, readability, mixed turns, pairing, shapes, ids.

    Ids come last, because they may count earlier calls. Lossless steps precede lossy ones: a result that can be moved
    is moved before another result is removed.
    """
    assert finding.fix is not None
    if isinstance(step, Patch):
        return 0
    if isinstance(step, Translate | Relink):
        return 1
    if isinstance(step, Split | Unmix):
        return 2
    if isinstance(step, Recall | Restore):
        return 4
    if finding.fault != "projection":
        return 3 + (finding.fix.level != "lossless")
    return 6 if isinstance(step, Rename) else 5


def is_pending(fix: Fix) -> bool:
    """Whether a repair only completes the last calls of a conversation."""
    return all(map(completes_last_call, fix.steps))


def held_back(finding: Finding, policy: Policy) -> str | None:
    """Return the option or level that the user did not allow and that the repair of a finding needs."""
    fix = finding.fix
    if fix is None or not wanted(finding, structs.replace(policy, level="lossy", levels=())):
        return None
    left_open = all(is_left_open(step, policy) for step in fix.steps)
    if left_open and finding.fault == "projection":  # another finding reports the same call
        return None
    if not wanted(finding, policy) and reach(finding, policy) is not None:
        return "levels"
    if left_open:
        return "close-pending"
    return None if wanted(finding, policy) else fix.level


def as_read(finding: Finding) -> Finding:
    """Return the finding as it may be with its record in memory: some rules define their fix only from the bytes."""
    record, fix = finding.where.record, finding.fix
    if (fix is not None and (fix.steps or fix.blocked)) or record.data or not record.size:
        return finding
    return structs.replace(finding, fix=Fix(fix.level if fix else "lossless", "", (Take(()),)))
