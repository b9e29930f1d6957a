"""Findings that a user lives with, and that a repair leaves alone.

This module owns that choice, also when what stands around such a finding was moved or renamed since it was made: it is
known again by its call, its result or the words of its message. It refuses to know where ignores come from.
"""

from typing import Any

from turnlint.documents.locate import locate
from turnlint.engine import Judged
from turnlint.ignores import Ignore, pointers_of
from turnlint.model import Call, Finding, Result, Transcript


class Spared:
    """What is left alone in one unit, from the first look at it on."""

    def __init__(self, ignores: tuple[Ignore, ...]) -> None:
        self.ignores = ignores
        self.known: set[Any] = set()

    def sift(self, judged: list[Judged]) -> None:
        """Take out of what was found what is not to be repaired."""
        now: set[Any] = set()
        for one in judged if self.ignores else ():
            kept = []
            for finding in one.findings:
                key = _key(finding, one.transcript)
                if is_ignored(finding, self.ignores) or key in self.known:
                    now.add(key)
                else:
                    kept.append(finding)
            one.findings = kept
        self.known |= now


def is_ignored(finding: Finding, ignores: tuple[Ignore, ...]) -> bool:
    return bool(ignores) and any(one.covers(finding, pointers_of(finding)) for one in ignores)


def _key(finding: Finding, transcript: Transcript) -> Any:
    """What a finding is about, whatever it is called and wherever it stands."""
    if finding.message_index is None:
        return finding.code, finding.provider, finding.message
    message = transcript.messages[finding.message_index]
    below = finding.where.at[len(message.at) :]
    for block in message.blocks:
        if isinstance(block, Call | Result) and below[: len(block.at)] == block.at:
            return finding.code, finding.provider, type(block), block.name, block.body
    data = message.record.data
    _, start, end = locate(data, message.at) if data else ((), 0, 0)
    return finding.code, finding.provider, message.written_role, data[start:end]
