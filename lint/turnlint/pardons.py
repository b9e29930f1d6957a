"""Read ignores from records, at the pointer that the settings name.

The content of a record is untrusted, so its size is limited. It can only ignore findings in the same record.
An ignore that is invalid or unused gives a remark.
"""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

from msgspec import Struct, structs

from turnlint.documents.decode import value_of
from turnlint.errors import InlineIgnoreError
from turnlint.events import Remark
from turnlint.globs import Steps, pointer_steps
from turnlint.model import Finding, Pointer, Record
from turnlint.own_rules.watching import find
from turnlint.placing import as_pointer
from turnlint.rulebook import OWN, Entry, current, everything, matches, selects, why_gone
from turnlint.text import quote_value, truncate

MOST_PLACES = 1_000
MOST_RULES = 100
MOST_REMARKS = 100
LONGEST = 200
"""Limit of the characters of a reason."""
KEYS = frozenset({"rules", "reason"})
NO_REASON = "the record says so"
_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "a mapping",
}


class Pardon(Struct, frozen=True):
    """An ignore of one rule in a record."""

    at: Pointer
    """Its pointer below the record."""
    scope: Pointer
    """The pointer to which it applies: all findings below."""
    rule: str
    reason: str = NO_REASON

    def covers(self, finding: Finding) -> bool:
        """Whether it matches a finding in its record."""
        inside = finding.where.at[: len(self.scope)] == self.scope
        return inside and selects(self.rule, finding.code, finding.rule, finding.fault)


class Pardons:
    """The ignores in the records of one source, and those that matched a finding."""

    def __init__(self, pattern: str, path: str = "", own: tuple[str, ...] = ()) -> None:
        self.steps: Steps = pointer_steps(pattern)
        last = self.steps[-1] if self.steps else ""
        self.mark = last.encode() if last.isidentifier() and last.isascii() else b""
        """A record without these bytes has no ignore, unless it has escapes."""
        self.path = path
        self.own = own
        """Names of the user's own rules."""
        self.known: dict[int, tuple[Record, tuple[Pardon, ...]]] = {}
        """Records with ignores, by offset."""
        self.met: set[tuple[int, Pardon]] = set()
        self.remarks: list[Remark] = []
        self.more = 0
        """Number of remarks that are only counted."""

    def hear(self, record: Record) -> None:
        """Read the ignores of a record while its bytes are in memory."""
        if found := self.of(record):
            bare = Record(record.line, record.offset, b"", record.prefix)
            self.known[record.offset] = bare, found

    def of(self, record: Record) -> tuple[Pardon, ...]:
        """Return the ignores of a record. An invalid one gives a remark and has no effect."""
        data = record.data
        if not data or (self.mark not in data and b"\\" not in data):
            return ()
        found: list[Pardon] = []
        for at, value in islice(find(value_of(data), self.steps), MOST_PLACES):
            try:
                said = list(read(value, at))
            except InlineIgnoreError as error:
                self._remark(record, at, str(error))
                continue
            for one in said:
                try:
                    found.append(structs.replace(one, rule=self._today(one.rule)))
                except InlineIgnoreError as error:
                    self._remark(record, one.at, str(error))
        return tuple(found)

    def covering(self, finding: Finding) -> Pardon | None:
        """Return the ignore that matches a finding, and mark it as used."""
        offset = finding.where.record.offset
        for one in self.known.get(offset, (None, ()))[1]:
            if one.covers(finding):
                self.met.add((offset, one))
                return one
        return None

    def left(self) -> Iterator[Remark]:
        """Yield all remarks about ignores after the source was read."""
        idle = [
            (record, one)
            for offset, (record, some) in self.known.items()
            for one in some
            if (offset, one) not in self.met
        ]
        yield from self.remarks
        for record, one in idle[:MOST_REMARKS]:
            yield self._said(
                record,
                one.at,
                f"unused ignore of {one.rule}: it matches no finding here; remove it",
                idle=True,
            )
        for is_idle, more in ((False, self.more), (True, len(idle) - MOST_REMARKS)):
            if more > 0:
                yield Remark(self.path, 0, "", is_idle, more)

    def _today(self, rule: str) -> str:
        """Return the current name of a rule. Raises `InlineIgnoreError`."""
        if rule in self.own or (rule == OWN[:-1] and self.own):
            return rule
        entries = _entries()
        if any(matches(entry.rule, rule) for entry in entries):
            return current(rule, entries)
        gone = why_gone(rule)
        raise InlineIgnoreError(f"unknown rule {quote_value(rule)}" + (f" any more: {gone}" if gone else ""))

    def _remark(self, record: Record, at: Pointer, why: str) -> None:
        if len(self.remarks) < MOST_REMARKS:
            self.remarks.append(self._said(record, at, why))
        else:
            self.more += 1

    def _said(self, record: Record, at: Pointer, why: str, *, idle: bool = False) -> Remark:
        return Remark(self.path, record.line, f"{as_pointer((*record.prefix, *at))}: {why}", idle)


@cache
def _entries() -> list[Entry]:
    """Return all rules, listed once: records may name thousands."""
    return everything()


def read(value: Any, at: Pointer) -> Iterator[Pardon]:
    """Yield the ignores in a value. Raises `InlineIgnoreError`."""
    entries = value if isinstance(value, list) else [value] if isinstance(value, dict) else None
    if entries is None:
        raise InlineIgnoreError(f"expected a list of rules, got {_kind(value)}")
    scope = scope_of(at)
    count = 0
    for index, one in enumerate(entries):
        here = (*at, index) if isinstance(value, list) else at
        rules, reason = ([one], NO_REASON) if isinstance(one, str) else _mapping(one)
        count += len(rules)
        if count > MOST_RULES:
            raise InlineIgnoreError(f"names more than {MOST_RULES} rules")
        yield from (Pardon(here, scope, rule, reason) for rule in rules)


def _mapping(one: Any) -> tuple[list[str], str]:
    if not isinstance(one, dict):
        raise InlineIgnoreError(f"expected rules, or mappings with `rules` and `reason`, got {_kind(one)}")
    if one.keys() - KEYS:
        raise InlineIgnoreError("a mapping may only have the keys `rules` and `reason`")
    rules = one.get("rules")
    rules = [rules] if isinstance(rules, str) else rules
    if not isinstance(rules, list) or not rules or not all(isinstance(rule, str) for rule in rules):
        raise InlineIgnoreError("`rules`: expected a rule or a list of rules")
    reason = one.get("reason", NO_REASON)
    if not isinstance(reason, str):
        raise InlineIgnoreError(f"`reason`: expected a string, got {_kind(reason)}")
    return rules, truncate(" ".join(reason[: 2 * LONGEST].split()), LONGEST)


def scope_of(at: Pointer) -> Pointer:
    """Return the innermost list element that contains a pointer, or the record if there is none."""
    last = max((index for index, part in enumerate(at) if isinstance(part, int)), default=-1)
    return at[: last + 1]


def _kind(value: Any) -> str:
    return "nothing" if value is None else _KINDS.get(type(value), "something else")
