"""Run one conversation in memory through the engine.

The module converts the options of the library to those of the engine, and rows and changes to results.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from msgspec import structs

from turnlint import carriers
from turnlint.carriers import NAMES
from turnlint.documents.source import Source
from turnlint.engine import Book, Crash, Event, Options, Skipped, Tally, lint
from turnlint.errors import InputError
from turnlint.library.logs import Written, written
from turnlint.library.plain import Plain, read_back
from turnlint.library.results import Change, Finding, Fixed, Related, Repair
from turnlint.model import Level, Reach
from turnlint.repair.choosing import LEVELS, REACHES, Policy
from turnlint.report.escape import visible
from turnlint.rows import Row
from turnlint.text import did_you_mean

NAME = "transcript"
NO_MESSAGES = b"[]"


def options_of(
    provider: str | Sequence[str], format_name: str, select: str | Sequence[str], ignore: str | Sequence[str],
    *, preview: bool = False,
) -> Options:  # fmt: skip
    if format_name not in ("auto", *NAMES):
        raise InputError(none("format", format_name, NAMES))
    providers = _words(provider)
    if "none" in providers and len(providers) > 1:
        raise InputError("provider 'none' cannot be combined with other providers")
    return Options(
        format=None if format_name == "auto" else format_name,
        providers=() if "none" in providers else providers or ("auto",),
        select=_words(select),
        ignore=_words(ignore),
        preview=preview,
    )


def policy_of(
    options: Options, level: Level, levels: Mapping[str, Reach], *, close_pending: bool, canonical: bool
) -> Policy:
    if level not in LEVELS:
        raise InputError(none("level", str(level), LEVELS))
    if canonical and any(name != "auto" for name in options.providers):
        raise InputError("canonical and provider cannot be combined")
    return Policy(
        level=level,
        levels=tuple(_levels(levels)) if levels else (),
        close_pending=close_pending,
        canonical=canonical,
        named=frozenset(name.partition("@")[0] for name in options.providers if name != "auto"),
        select=bool(options.select),
    )


def _levels(levels: Mapping[str, Reach]) -> Iterator[tuple[str, Reach]]:
    """Yield the levels of single rules, under their current names."""
    from turnlint.rulebook import current, everything, matches, unknown

    entries = everything()
    for selector, level in levels.items():
        if level not in REACHES:
            raise InputError(none("level", str(level), REACHES))
        if not any(matches(entry.rule, selector) for entry in entries):
            raise InputError(visible(str(unknown(selector, entries))))
        yield current(selector, entries), level


def findings(given: Written, options: Options) -> tuple[Finding, ...]:
    return tuple(_finding(event) for event in events(given, options) if isinstance(event, Row))


def events(given: Written, options: Options) -> list[Event]:
    """Return all events of the engine for a conversation; an unrecognized format raises `InputError`."""
    found = _events(given, options)
    for event in found:
        if isinstance(event, Skipped):
            start = f"the transcript {event.near.likeness}" if event.near else "unrecognized format"
            raise InputError(f"{start}; pass format= with one of {', '.join(NAMES)}")
    return found


def _events(given: Written, options: Options) -> list[Event]:
    if given.data == NO_MESSAGES:  # every history begins so; its format cannot be recognized, and need not be
        return [Tally(files=1)]
    source = Source(NAME, None, data=given.data)
    found = [given.placed(event) for event in lint(source, options, _book(options))]
    for event in found:
        if isinstance(event, Crash):
            raise InputError(f"{event.rule} crashed: {visible(event.reason)}")
    return found


def fixed(given: Plain, options: Options, policy: Policy) -> Fixed[Any]:
    from turnlint.keeping.patches import patched
    from turnlint.repair.passes import fix

    before = written(given, options)
    source = Source(NAME, None, data=before.data)
    done = fix(source, options, _book(options), policy)
    after = b"".join(patched(source, done.patches)) if done.patches else before.data
    left = _left(Written(after, before.lines), options, [one.wire for one in islice(done.told, 1)])
    unverified = tuple(visible(one.reason) for one in (*done.failures, *done.notes))
    changes = tuple(_change(one, before) for one in done.changes)
    return Fixed(read_back(after, given, several=before.lines), changes, left, unverified)


def canonical(given: Plain, options: Options, policy: Policy) -> Fixed[tuple[dict[str, Any], ...]]:
    """Return the conversations in the canonical form; an unrecognized format raises `InputError`."""
    from json import loads

    from turnlint.canonical_form.conversion import converted, repair_options, repair_policy
    from turnlint.repair.passes import fix

    options, policy = repair_options(options), repair_policy(policy)
    before = written(given, options)
    if before.data != NO_MESSAGES:
        events(before, options)
    source = Source(NAME, None, data=before.data)
    done = fix(source, options, _book(options), policy)
    with converted(source, done, options, policy) as (pieces, conversion):
        data = b"".join(pieces)
    value = tuple(loads(line) for line in data.splitlines())
    own = structs.replace(options, format="canonical")
    left = findings(Written(data, lines=True), own) if value else ()
    unverified = tuple(visible(one.reason) for one in (*done.failures, *done.notes, *conversion.failures))
    changes = [_change(one, before) for one in done.changes]
    changes += [_change(one, Written(b"", lines=True)) for one in conversion.changes]
    return Fixed(value, tuple(changes), left, unverified)


def _left(given: Written, options: Options, wires: list[str]) -> tuple[Finding, ...]:
    """Return the remaining findings. If the format is no longer recognized, use that of the repair."""
    found = carriers.of_wire(wires[0]) if wires else None
    if found and any(isinstance(event, Skipped) for event in _events(given, options)):
        options = structs.replace(options, format=found.name)
    return findings(given, options)


@lru_cache(maxsize=32)
def _book(options: Options) -> Book:
    """Return the rules for the options, cached: programs call often with the same options."""
    from turnlint.errors import BrokenRulesError, UnknownProviderError, UnknownRuleError

    try:
        book = Book(options)
        if len(book.packages) > 1:
            book.rules()
    except (UnknownRuleError, UnknownProviderError, BrokenRulesError) as error:
        raise InputError(visible(str(error))) from None
    return book


def warn_of_unknown(options: Options) -> None:
    """Warn the caller of the library about names of unknown providers."""
    if options.providers in ((), ("auto",)):
        return
    for remark in _book(options).providers.remarks:
        from warnings import warn

        warn(visible(remark), stacklevel=3)


def _finding(row: Row) -> Finding:
    one = row.finding
    return Finding(
        one.code, one.rule, one.fault, one.severity, one.message, row.place.pointer, one.message_index,
        one.conversation_index, one.call_id, one.tool, one.provider, one.provider_error,
        Repair(one.fix.level, one.fix.title) if one.fix else None,
        tuple(Related(note, place.pointer) for note, place in row.related),
    )  # fmt: skip


def _change(change: Any, given: Written) -> Change:
    said = {name: getattr(change, name) for name in Change.__struct_fields__}
    return Change(**{**said, "pointer": given.pointer(change.line, change.pointer)})


def _words(names: str | Sequence[str]) -> tuple[str, ...]:
    given = (names,) if isinstance(names, str) else tuple(names)
    if not all(isinstance(name, str) for name in given):
        raise InputError("names of providers and rules must be strings")
    return tuple(word.strip() for name in given for word in name.split(",") if word.strip())


def none(what: str, name: str, known: Sequence[str]) -> str:
    return f"unknown {what} {did_you_mean(name, known)}"
