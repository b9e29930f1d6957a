"""Count the findings of a file before and after its repair."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from turnlint.model import Finding, Severity
from turnlint.repair.choosing import Policy, held_back
from turnlint.repair.outcome import Fixed
from turnlint.rows import PER_FILE


class Counted(Struct, frozen=True):
    """The data of a finding that the counts of a run need."""

    severity: Severity
    rule: str
    held: str | None
    """The level or the option that the repair of the finding needs beyond those of the run."""
    once: tuple[str | None, str] | None = None
    """The provider and the message, where findings that share both are counted once."""


Findings = Iterable[Finding] | Counter[Counted]


class FindingCounter:
    """The counts of one source, from its findings."""

    def __init__(self, out: Fixed, policy: Policy) -> None:
        self.out = out
        self.policy = policy
        self.known: set[tuple[str, str | None, str]] = set()
        """The findings that are counted once per file."""

    def counted(self, findings: Findings) -> Counter[Counted]:
        """Return the counts of some findings, which need less memory than the findings."""
        return findings if isinstance(findings, Counter) else Counter(map(self._as_counted, findings))

    def _as_counted(self, finding: Finding) -> Counted:
        held = held_back(finding, self.policy)
        once = (finding.provider, finding.message) if held and finding.rule in PER_FILE else None
        return Counted(finding.severity, finding.rule, held, once)

    def count(self, before: Findings, after: Findings | None = None) -> None:
        """Count findings before and after the repair. Without `after`, the repair changes none of them."""
        out, found = self.out, self.counted(before)
        for one, count in found.items():
            out.before[one.severity] += count
        for one, count in (found if after is None else self.counted(after)).items():
            out.after[one.severity] += count
            if one.severity != "info":
                out.left[one.rule] = out.left.get(one.rule, 0) + count
            if one.severity == "error":
                out.errors_left[one.rule] = out.errors_left.get(one.rule, 0) + count
            if one.held and not self._is_known(one):
                held = 1 if one.once else count
                out.held[one.held] = out.held.get(one.held, 0) + held
                counts = out.needs.setdefault(one.held, {})
                counts[one.severity] = counts.get(one.severity, 0) + held

    def _is_known(self, one: Counted) -> bool:
        """Whether a finding is already counted: `lint` reports some rules once per file."""
        if one.once is None:
            return False
        key = one.severity, *one.once
        is_known = key in self.known
        self.known.add(key)
        return is_known
