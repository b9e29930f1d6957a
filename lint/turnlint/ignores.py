"""Define ignores: rules, files, conversations, calls, pointers and fingerprints whose findings are not reported.

An ignore has a reason, and may have a last day. No clock is read: the caller supplies the date.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from turnlint.documents.locate import locate
from turnlint.globs import file_steps, is_like, matches, pointer_steps
from turnlint.model import Finding, Pointer, Severity
from turnlint.rows import Said
from turnlint.rulebook import selects


class Ignore(Struct, frozen=True):
    """An ignore. A finding must match all fields that are set."""

    reason: str
    rules: tuple[str, ...] = ()
    """Codes, prefixes of codes, names or families."""
    paths: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    before: str = ""
    """Day as `YYYY-MM-DD`: the record must be earlier."""
    after: str = ""
    """Day as `YYYY-MM-DD`: the record must be later."""
    until: str = ""
    """The last day on which the ignore applies, as `YYYY-MM-DD`."""
    origin: str = ""
    """Position of the ignore in its file."""

    def is_over(self, today: str) -> bool:
        """Whether the ignore expired before a given day."""
        return bool(self.until and today) and self.until < today

    def is_about(self, path: tuple[str, ...]) -> bool:
        """Whether it applies to a file."""
        return not self.paths or any(matches(file_steps(one), path) for one in self.paths)

    @property
    def asks_records(self) -> bool:
        """Whether it depends on fields of the record."""
        return bool(self.models or self.before or self.after)

    def covers(
        self, finding: Finding, pointers: Iterable[Pointer], fingerprint: str = "", said: Said | None = None
    ) -> bool:
        """Whether it matches a finding in a file to which it applies. `said` has the fields of the record."""
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
    """Yield the pointer of a finding, and its longest existing part."""
    where = finding.where
    yield (*where.record.prefix, *where.at)
    if where.record.data:
        yield (*where.record.prefix, *locate(where.record.data, where.at)[0])


def regraded(finding: Finding, severities: tuple[tuple[str, Severity], ...]) -> Finding:
    """Return the finding with the severity of the settings; the last matching selector applies."""
    for selector, severity in reversed(severities):
        if selects(selector, finding.code, finding.rule, finding.fault):
            return finding if severity == finding.severity else structs.replace(finding, severity=severity)
    return finding
