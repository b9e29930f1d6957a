"""Describe a conversation by the ids of its calls and results, and by the decisions about them.

The module names no content: only ids, names of tools, and the words of findings.
"""

from collections.abc import Iterator
from functools import cached_property

from turnlint.events import Completion, Decision, Diagnosis, Told
from turnlint.ids import canonicalize
from turnlint.judging import Judged
from turnlint.model import Finding, Pointer
from turnlint.placing import as_pointer

DEDUPE = frozenset({"duplicate-result", "conflicting-results", "replayed-call", "reused-call-id"})
"""Rules that decide which of several calls or results stays, or that all stay."""
COMPLETED = frozenset({"unanswered-call", "pending-call"})
"""Rules whose repairs write a result for a call."""
PLACEHOLDER = "the result in the log is a placeholder"


class ToolNames:
    """The tools of the results of a conversation: on most wires only a call names its tool."""

    def __init__(self, judged: Judged) -> None:
        self.messages = judged.transcript.messages
        self.pairs = judged.pairs

    @cached_property
    def _by_place(self) -> dict[tuple[int, Pointer], str | None]:
        answers = [(one.answer, one.asked) for one in self.pairs.interactions if one.answer is not None]
        copies = [(answered, interaction.asked) for answered, interaction in self.pairs.duplicates]
        return {
            (answered.message, answered.result.at): asked.call.name for answered, asked in (*answers, *copies)
        }

    def of(self, finding: Finding) -> str | None:
        """Return the tool of a finding: its own, or that of the call whose result is at its place."""
        index = finding.message_index
        if finding.tool is not None or index is None:
            return finding.tool
        below = finding.where.at[len(self.messages[index].at) :]
        places = ((index, below[:end]) for end in range(len(below), -1, -1))
        return next((self._by_place[one] for one in places if one in self._by_place), None)


def told_of(was: Judged, now: Judged, index: int) -> Told:
    """Return the ids of a conversation before and after a repair. An abandoned part of a session is never sent."""
    transcript = was.transcript
    line = transcript.messages[0].record.line if transcript.messages else 1
    seen = (one.new for one in canonicalize(transcript, was.pairs).entries if one.piece == "call")
    sent = () if transcript.dead else now.pairs.interactions
    answers = (one.answer for one in sent if one.answer is not None)
    return Told(
        transcript.id, index, line, transcript.wire.name,
        tuple(case.profile.label for case in now.cases if case.profile),
        tuple(one for one in seen if one),
        tuple(one.asked.call.id or "" for one in sent),
        tuple(one.result.id or "" for one in answers),
    )  # fmt: skip


def diagnose(judged: Judged, path: str) -> Diagnosis:
    """Return the ids of a conversation, and the decisions that its findings propose."""
    faults: dict[str, int] = {}
    for finding in judged.findings:
        faults[finding.fault] = faults.get(finding.fault, 0) + 1
    tools = ToolNames(judged)
    return Diagnosis(
        path,
        told_of(judged, judged, judged.transcript.index),
        tuple(sorted(faults.items())),
        tuple(_decision(one, tools.of(one)) for one in judged.findings if one.rule in DEDUPE),
        tuple(_completions(judged)),
    )


def _decision(finding: Finding, tool: str | None) -> Decision:
    fix = finding.fix if finding.fix and finding.fix.is_done_here else None
    return Decision(
        finding.rule, finding.call_id, tool, fix.title if fix else None, fix.level if fix else None,
        finding.message, finding.where.record.line, _pointer(finding),
    )  # fmt: skip


def _completions(judged: Judged) -> Iterator[Completion]:
    """Yield the calls with a placeholder in the log, and those that `fix` would complete."""
    for one in judged.pairs.interactions:
        if one.answer is not None and one.answer.result.synthetic:
            message, call = judged.transcript.messages[one.asked.message], one.asked.call
            place = as_pointer((*message.record.prefix, *message.at, *call.at))
            yield Completion(call.id, call.name, None, PLACEHOLDER, message.record.line, place)
    for finding in judged.findings:
        if finding.rule in COMPLETED and finding.fix and finding.fix.is_done_here:
            line = finding.where.record.line
            yield Completion(
                finding.call_id, finding.tool, finding.rule, finding.message, line, _pointer(finding)
            )


def _pointer(finding: Finding) -> str:
    return as_pointer((*finding.where.record.prefix, *finding.where.at))
