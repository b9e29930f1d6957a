"""Remove repairs that need an id which cannot be written.

A repair writes an id into a call and into all its results, or into none of them. If one of these ids is a
list or an object, it has content of its own, so the repair writes none of them. A placeholder result needs
the id of its call, so a value of another type prevents it. The finding then has the reason.
"""

from collections.abc import Iterator

from msgspec import Struct, structs

from turnlint.ledger import Answered, Asked, Ledger
from turnlint.model import Call, Finding, Fix, Pointer, Result, Transcript
from turnlint.steps import Close, Piece, Rename

CONTAINERS = frozenset({"a list", "an object"})


class _Part(Struct, frozen=True):
    """A call or a result, with the index of its message."""

    message: int
    block: Call | Result

    @property
    def piece(self) -> Piece:
        return Piece(self.message, self.block.at)


def without_unwritable(findings: list[Finding], transcript: Transcript, pairs: Ledger) -> list[Finding]:
    """Return the findings, without repairs that need an id where a value of another type is."""
    kinds = {(id(record), misfit.at): misfit.found for record, misfit in transcript.misfits}
    renamed: dict[Piece, str] = {}
    closed: dict[Piece, str] = {}
    for group in _groups(pairs) if kinds else ():
        found = [(part, kind) for part in group if (kind := _kind(part, transcript, kinds))]
        blocking = next((one for one in found if one[1] in CONTAINERS), None)
        if blocking:
            renamed |= {part.piece: _reason(*blocking) for part in group}
        closed |= {part.piece: _reason(part, kind) for part, kind in found}
    return [_taken_back(finding, renamed, closed) for finding in findings] if closed else findings


def _groups(pairs: Ledger) -> Iterator[list[_Part]]:
    """Yield each call with all its results, and each result without a call."""
    further: dict[int, list[_Part]] = {}
    for answered, interaction in pairs.duplicates:
        further.setdefault(interaction.asked.seq, []).append(_part(answered))
    for one in pairs.interactions:
        answer = [_part(one.answer)] if one.answer else []
        yield [_part(one.asked), *answer, *further.get(one.asked.seq, ())]
    for orphan in pairs.orphans:
        yield [_part(orphan)]


def _part(one: Asked | Answered) -> _Part:
    return _Part(one.message, one.call if isinstance(one, Asked) else one.result)


def _kind(part: _Part, transcript: Transcript, kinds: dict[tuple[int, Pointer], str]) -> str:
    """Return the type of the value in place of the id, if it is not a string."""
    message, block = transcript.messages[part.message], part.block
    return kinds.get((id(message.record), (*message.at, *block.at, *block.keys.id)), "")


def _reason(part: _Part, kind: str) -> str:
    what = "call" if isinstance(part.block, Call) else "result"
    return f"none; the id of the {what} is {kind}: write a string"


def _taken_back(finding: Finding, renamed: dict[Piece, str], closed: dict[Piece, str]) -> Finding:
    fix = finding.fix
    for step in fix.steps if fix else ():
        reason = renamed.get(step.piece) if isinstance(step, Rename) else None
        reason = closed.get(step.call) if isinstance(step, Close) else reason
        if fix and reason:
            return structs.replace(finding, fix=Fix(fix.level, reason))
    return finding
