"""Hold records that a repair handles after the whole source was read."""

from collections import Counter

from msgspec import Struct

from turnlint.model import Finding, Gap, Record
from turnlint.repair.counting import Counted


class Waiting(Struct):
    """A conversation in several records, with a finding to repair."""

    records: dict[int, Record]
    carrier: str
    index: int
    findings: Counter[Counted]
    """The findings to count if the repair fails. A log may have many findings, so only counts are kept."""
    asked: bool = True
    """Whether the level of the run allows a repair; else only level lossy does."""
    gaps: tuple[Gap, ...] = ()


class Loose(Struct):
    """A damaged record, and its findings."""

    line: int
    data: bytes
    findings: list[Finding] = []


def joined_by_records(waiting: list[Waiting]) -> list[Waiting]:
    """Join conversations that share records, so that they are repaired together."""
    owner: dict[int, Waiting] = {}
    out: dict[int, Waiting] = {}
    for one in waiting:
        others = {id(owner[offset]): owner[offset] for offset in one.records if offset in owner}
        for other in others.values():
            one.records = {**other.records, **one.records}
            one.index = min(one.index, other.index)
            one.findings = other.findings + one.findings
            one.asked = one.asked or other.asked
            one.gaps = tuple(sorted({*one.gaps, *other.gaps}, key=lambda gap: gap.offset))
            del out[id(other)]
        for offset in one.records:
            owner[offset] = one
        out[id(one)] = one
    return [*out.values()]
