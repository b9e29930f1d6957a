"""Check records against user-defined rules.

Each rule visits each value of a decoded record at most once, so the work grows with the record alone. Findings are kept
until their conversation is complete.
"""

from collections.abc import Callable, Iterator
from typing import Any

from turnlint.documents.decode import value_of
from turnlint.globs import States, Steps, advance, begin, is_plain
from turnlint.model import Finding, Location, Pointer, Record, Transcript
from turnlint.own_rules.placing import within
from turnlint.own_rules.rules import OwnRule
from turnlint.rulebook import OWN, Entry

MOST = 1000
"""The maximum number of findings of one rule in one record."""


class Watch:
    """The user-defined rules of a run, with their pending findings."""

    def __init__(self, rules: tuple[OwnRule, ...], told: Callable[[list[Finding]], list[Finding]]) -> None:
        self.rules = rules
        self.told = told
        self.heard: dict[int, list[Finding]] = {}
        """Findings in records whose conversation is not complete yet, by the offset of the record."""

    def hear(self, record: Record) -> None:
        """Check a record while its bytes are in memory."""
        value = value_of(record.data)
        found = [one for rule in self.rules for one in self.found(rule, record, value)]
        if found := self.told(found):
            self.heard[record.offset] = found

    def found(self, rule: OwnRule, record: Record, value: Any) -> list[Finding]:
        """Return the findings of one rule in a record."""
        places_of_it = zip(range(MOST), places(rule, value), strict=False)
        return [_finding(rule, record, at) for _, at in places_of_it]

    def within(self, transcript: Transcript) -> list[Finding]:
        """Return the findings in a conversation, and remove them."""
        return within(transcript, self.heard) if self.heard else []

    def left(self) -> list[Finding]:
        """Return the findings that belong to no conversation."""
        return [finding for findings in self.heard.values() for finding in findings]


def open_watch(
    rules: tuple[OwnRule, ...], chosen: list[Entry] | None, told: Callable[[list[Finding]], list[Finding]]
) -> Watch | None:
    """Return a watch for the selected rules of a run, or none if no rule is selected."""
    names = None if chosen is None else {entry.rule.name for entry in chosen}
    mine = tuple(rule for rule in rules if names is None or OWN + rule.name in names)
    return Watch(mine, told) if mine else None


def _finding(rule: OwnRule, record: Record, at: Pointer) -> Finding:
    name = OWN + rule.name
    return Finding(name, name, "state", rule.severity, rule.message, Location(record, at))


def places(rule: OwnRule, value: Any) -> Iterator[Pointer]:
    """Yield the places of a rule's findings."""
    for at, piece in find(value, rule.each):
        if all(_is_so(piece, steps, condition) for steps, condition in rule.where):
            for below, found in find(piece, rule.pointer[:-1] if rule.when.absent else rule.pointer):
                if rule.when.absent:
                    if isinstance(found, dict) and rule.pointer[-1] not in found:
                        yield (*at, *below)
                elif rule.when.holds(found):
                    yield (*at, *below)


def _is_so(piece: Any, steps: Steps, condition: Any) -> bool:
    if condition.absent:
        return next(find(piece, steps), None) is None
    return any(condition.holds(found) for _, found in find(piece, steps))


def find(value: Any, steps: Steps) -> Iterator[tuple[Pointer, Any]]:
    """Yield every place that matches a pattern with its value, in the order of the record."""
    waiting: list[tuple[Pointer, Any, States]] = [((), value, begin(steps))]
    while waiting:
        at, here, states = waiting.pop()
        if len(steps) in states:
            yield at, here
        below = [
            ((*at, name), child, passed)
            for name, child in _children(here, steps, states)
            if (passed := advance(steps, states, str(name)))
        ]
        waiting.extend(reversed(below))


def _children(value: Any, steps: Steps, states: States) -> Iterator[tuple[str | int, Any]]:
    """Yield the children of a value that a pattern may match."""
    wanted = [steps[state] for state in states if state < len(steps)]
    if isinstance(value, dict):
        if all(map(is_plain, wanted)):
            yield from ((name, value[name]) for name in wanted if name in value)
        else:
            yield from value.items()
    elif isinstance(value, list) and wanted:
        yield from enumerate(value)
