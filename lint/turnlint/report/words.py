"""What several reports say in the same words.

This module owns those sentences: what was found in how much, what a finding is, what a crash was. It refuses to
know any format; what it gives is not yet escaped.
"""

from collections.abc import Mapping

from turnlint.engine import Crash, Tally
from turnlint.model import Finding
from turnlint.text import pluralize

_KNOWN = {"baseline": "in the baseline"}
LEFT_OUT = "a file could not be read, or a rule crashed: the report is incomplete"


def seen(tally: Tally) -> str:
    inside = f"{pluralize(tally.conversations, 'conversation')}, {pluralize(tally.messages, 'message')}"
    return f"{pluralize(tally.files, 'file')} ({inside})"


def counted(findings: dict[str, int]) -> str:
    """Findings by severity; nothing where there is none."""
    return ", ".join(pluralize(count, name) for name, count in findings.items() if count)


def found(tally: Tally) -> str:
    counts = counted(tally.findings)
    summed = f"Found {counts} in {seen(tally)}." if counts else f"No findings in {seen(tally)}."
    return f"{summed} Not shown: {known(tally)}." if tally.ignored else summed


UNREAD = "unread "
NOTED = {
    "kept-calls": ("result", "for calls that the provider keeps"),
    "foreign-names": ("result", "with a name that no tool has"),
    "model-last": ("request", "ending with a model message, which Gemini 3.5 and later refuse"),
    "text-calls": ("call", "written as text, not checked"),
    "bookkeeping": ("bookkeeping record", "skipped"),
}
"""How a summary names what is only counted: the noun, and the words behind it."""


def noted(what: str, count: int) -> str:
    """A count that is no finding, as a sentence without its full stop."""
    if what.startswith(UNREAD):
        return f"{pluralize(count, 'conversation')} not read, similar to {what.removeprefix(UNREAD)}"
    noun, words = NOTED[what]
    return f"{pluralize(count, noun)} {words}"


def skipped(reasons: Mapping[str, int]) -> str:
    """How many files were not read, and why."""
    ranked = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    why = [name if len(ranked) == 1 else f"{name} ({count:,})" for name, count in ranked]
    return f"{pluralize(sum(reasons.values()), 'file')} skipped: {', '.join(why)}"


def known(tally: Tally) -> str:
    """What was found and is not told of; nothing where all is."""
    return ", ".join(
        f"{count:,} {_KNOWN.get(by, by.replace('ignore', 'ignored'))}"
        for by, count in sorted(tally.ignored.items())
    )


def title(finding: Finding) -> str:
    """The rule, and the provider where it is the provider that minds."""
    here = f" at {finding.provider}" if finding.fault == "projection" and finding.provider else ""
    return finding.rule + here


def behind(finding: Finding) -> str:
    """The title to stand behind the code; nothing where that says it already, as with rules of the user's own."""
    return "" if finding.code == finding.rule else f" {title(finding)}"


def answer(finding: Finding) -> str | None:
    """What the provider says to it, where that is known and worth a line."""
    if not finding.provider_error or finding.severity == "info":
        return None
    verb = "would" if finding.severity == "error" else "may"
    return f"{finding.provider} {verb} answer: {' '.join(finding.provider_error.split())}"


def repair(finding: Finding) -> str | None:
    return f"fix: {finding.fix.title} [{finding.fix.level}]" if finding.fix else None


def crashed(crash: Crash) -> str:
    """What failed and how, without what was said: an exception's words may quote a transcript."""
    return f"{crash.rule} crashed: {crash.reason.partition(':')[0]}"
