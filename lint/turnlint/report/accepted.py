"""Decide whether the named providers accept the result of a repair."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from turnlint.report.repaired import Done


class Terms(Struct, frozen=True):
    """The facts about a run for its summary."""

    dry: bool = False
    """Nothing was written."""
    keeps: bool = False
    """A journal keeps what a repair removes."""
    providers: tuple[str, ...] = ()
    """The providers that the user named."""
    narrowed: bool = False
    """Rules were selected or ignored."""
    lossless: bool = False
    """The level of a source is lossless, so that the run adds no placeholders."""
    canonical: bool = False
    """The run gives every call its canonical id."""
    unknown: frozenset[str] = frozenset()
    """Those of the named providers that have no profile."""


class Acceptance(Struct, frozen=True):
    """Whether a provider accepts the result."""

    provider: str
    accepted: bool | None
    """None where that is unknown."""
    missing: dict[str, int] = {}
    """Errors that remain, by code and rule name."""
    reason: str = ""
    """Why it is unknown."""


def acceptances(done: list[Done], terms: Terms) -> Iterator[Acceptance]:
    """Yield the answer for each named provider; nothing where no source was read."""
    if any(one.fixed and not one.fixed.foreign for one in done):
        yield from (_of(provider, done, terms) for provider in terms.providers)


def _of(provider: str, done: list[Done], terms: Terms) -> Acceptance:
    name = provider.partition("@")[0]
    missing: dict[str, int] = {}
    for one in done:
        for refuser, rules in (one.fixed.refused if one.fixed else {}).items():
            for rule, count in rules.items() if refuser in ("", name) else ():
                missing[rule] = missing.get(rule, 0) + count
    if missing:
        return Acceptance(provider, accepted=False, missing=dict(sorted(missing.items())))
    reason = _unknown(name, done, terms)
    return Acceptance(provider, accepted=None if reason else True, reason=reason)


def _unknown(name: str, done: list[Done], terms: Terms) -> str:
    """Why nothing can be said about a provider, if that is so."""
    if name in terms.unknown:
        return "its rules are not known"
    if terms.narrowed:
        return "not all rules were applied"
    if any(one.problem for one in done):
        return "not every file was read and written"
    wires = {
        key.partition(" on ")[2]
        for one in done
        for key in (one.fixed.across if one.fixed else {})
        if key.partition(" on ")[0].partition("@")[0] == name
    }
    return f"conversations are in the format {', '.join(sorted(wires))}" if wires else ""


def as_json(one: Acceptance) -> dict[str, Any]:
    """The answer as the repair report has it."""
    codes: dict[str, int] = {}
    for name, count in one.missing.items():
        code = name.partition(" ")[0]
        codes[code] = codes.get(code, 0) + count
    return {
        "provider": one.provider,
        "accepted": one.accepted,
        "missing": codes,
        "reason": one.reason or None,
    }
