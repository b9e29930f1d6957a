"""Write the sentences that several reports share.

They describe totals, findings and crashes. The texts are not escaped.
"""

from collections.abc import Mapping

from turnlint.counting import UNREAD
from turnlint.engine import Crash, Tally
from turnlint.model import Finding
from turnlint.text import pluralize

_KNOWN = {"baseline": "in the baseline"}


MAX_REASONS = 5
"""Limit of the reasons that a summary lists for skipped files, the most frequent first."""


def left_out(tally: Tally) -> str:
    """Return why a report is incomplete."""
    cause = "a rule crashed" if tally.crashes else "a file could not be read"
    return f"{cause}: the report is incomplete"


def seen(tally: Tally) -> str:
    inside = f"{pluralize(tally.conversations, 'conversation')}, {pluralize(tally.messages, 'message')}"
    return f"{pluralize(tally.files, 'file')} ({inside})"


def counted(findings: dict[str, int]) -> str:
    """Return the number of findings by severity; empty where there is none."""
    return ", ".join(pluralize(count, name) for name, count in findings.items() if count)


def found(tally: Tally) -> str:
    counts = counted(tally.findings)
    summed = f"Found {counts} in {seen(tally)}." if counts else f"No findings in {seen(tally)}."
    return f"{summed} Not shown: {known(tally)}." if tally.ignored else summed


NOTED = {
    "kept-calls": ("result", "for calls that the provider keeps"),
    "foreign-names": ("result", "with a name that no tool has"),
    "model-last": ("request", "ending with a model message, which Gemini 3.5 and later refuse"),
    "text-calls": ("call", "written as text, not checked"),
    "bookkeeping": ("bookkeeping record", "skipped"),
}
"""Noun and description of each counted item in a summary."""


def noted(what: str, count: int) -> str:
    """Return a count that is no finding, as a sentence without its full stop."""
    if what.startswith(UNREAD):
        return f"{pluralize(count, 'conversation')} not read, similar to {what.removeprefix(UNREAD)}"
    noun, words = NOTED[what]
    return f"{pluralize(count, noun)} {words}"


def skipped(reasons: Mapping[str, int]) -> str:
    """Return how many files were not read, and why."""
    ranked = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    why = [name if len(ranked) == 1 else f"{name} ({count:,})" for name, count in ranked[:MAX_REASONS]]
    if more := sum(count for _, count in ranked[MAX_REASONS:]):
        why[-1] += f" and {pluralize(more, 'other')}"
    return f"{pluralize(sum(reasons.values()), 'file')} skipped: {', '.join(why)}"


def known(tally: Tally) -> str:
    """Return the number of findings that are not shown, by reason; empty where there is none."""
    return ", ".join(
        f"{count:,} {_KNOWN.get(by, by.replace('ignore', 'ignored'))}"
        for by, count in sorted(tally.ignored.items())
    )


def title(finding: Finding) -> str:
    """Return the rule, and the provider if the finding depends on it."""
    here = f" at {finding.provider}" if finding.fault == "projection" and finding.provider else ""
    return finding.rule + here


def behind(finding: Finding) -> str:
    """Return the title behind the code; empty where the code is the name, as with the user's own rules."""
    return "" if finding.code == finding.rule else f" {title(finding)}"


def answer(finding: Finding) -> str | None:
    """Return the error message of the provider, if it is known and the finding is no info."""
    if not finding.provider_error or finding.severity == "info":
        return None
    verb = "would" if finding.severity == "error" else "may"
    return f"{finding.provider} {verb} answer: {' '.join(finding.provider_error.split())}"


def repair(finding: Finding) -> str | None:
    return f"fix: {finding.fix.title} [{finding.fix.level}]" if finding.fix else None


def crashed(crash: Crash) -> str:
    """Return what failed and how, without content: the message of an exception may quote a conversation."""
    return f"{crash.rule} crashed: {crash.reason.partition(':')[0]}"
