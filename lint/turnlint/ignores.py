"""Findings that a team has decided to live with.

This module owns what such a decision names: rules, files, conversations, calls, places, fingerprints; why it was
taken, and until when it holds. It refuses to read a clock: what day it is, is said by who runs it.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from turnlint.documents.locate import locate
from turnlint.globs import file_steps, is_like, matches, pointer_steps
from turnlint.model import Finding, Pointer, Severity
from turnlint.rows import Said
from turnlint.rulebook import selects


class Ignore(Struct, frozen=True):
    """What is left out of a report. All that it names must be so; what it does not name may be anything."""

    reason: str
    rules: tuple[str, ...] = ()
    """Codes, beginnings of codes, names or families."""
    paths: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    before: str = ""
    """The day, as `YYYY-MM-DD`, that records it is about are earlier than."""
    after: str = ""
    """The one that they are later than."""
    until: str = ""
    """The last day on which it holds, as `YYYY-MM-DD`."""
    origin: str = ""
    """Where it is written."""

    def is_over(self, today: str) -> bool:
        """Whether its time is up, on a day that somebody named."""
        return bool(self.until and today) and self.until < today

    def is_about(self, path: tuple[str, ...]) -> bool:
        """Whether it holds for a file."""
        return not self.paths or any(matches(file_steps(one), path) for one in self.paths)

    @property
    def asks_records(self) -> bool:
        """Whether it goes by what a record says of itself."""
        return bool(self.models or self.before or self.after)

    def covers(
        self, finding: Finding, pointers: Iterable[Pointer], fingerprint: str = "", said: Said | None = None
    ) -> bool:
        """Whether it names a finding, in a file that it holds for, of whose record is known what it says."""
        return (
            (
                not self.rules
                or any(selects(one, finding.code, finding.rule, finding.fault) for one in self.rules)
            )
            and _has(self.conversations, finding.conversation)
            and _has(self.calls, finding.call_id)
            and (not self.fingerprints or fingerprint in self.fingerprints)
            and (not self.asks_records or (said is not None and self._is_of(said)))
            and (not self.pointers or any(self._is_at(one) for one in pointers))
        )

    def _is_of(self, said: Said) -> bool:
        if self.models and not any(_has(self.models, one) for one in said.models):
            return False
        if (self.before or self.after) and not said.day:
            return False
        return (not self.before or said.day < self.before) and (not self.after or said.day > self.after)

    def _is_at(self, pointer: Pointer) -> bool:
        names = tuple(map(str, pointer))
        return any(matches(pointer_steps(one), names) for one in self.pointers)


def _has(patterns: tuple[str, ...], name: str | None) -> bool:
    return not patterns or (name is not None and any(is_like(one, name) for one in patterns))


def pointers_of(finding: Finding) -> Iterator[Pointer]:
    """Where a finding stands, as it was meant, and as far as that exists."""
    where = finding.where
    yield (*where.record.prefix, *where.at)
    if where.record.data:
        yield (*where.record.prefix, *locate(where.record.data, where.at)[0])


def regraded(finding: Finding, severities: tuple[tuple[str, Severity], ...]) -> Finding:
    """The finding, as grave as the user says; the last word holds."""
    for selector, severity in reversed(severities):
        if selects(selector, finding.code, finding.rule, finding.fault):
            return finding if severity == finding.severity else structs.replace(finding, severity=severity)
    return finding
