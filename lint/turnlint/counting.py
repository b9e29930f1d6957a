"""Count the conversations of a run, parsed or only scanned."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from turnlint.events import Tally
from turnlint.harmless import (
    FOREIGN_NAMES,
    KEPT_CALLS,
    MODEL_LAST,
    ends_with_model,
    foreign_names,
    is_kept_elsewhere,
)
from turnlint.ledger import Ledger
from turnlint.model import Transcript
from turnlint.neighbours import Near
from turnlint.providers import Chosen

if TYPE_CHECKING:
    from turnlint.fastpath.passed import Passed


BOOKKEEPING = "bookkeeping"
UNREAD = "unread "
"""The start of the name of a count of conversations in an unsupported format."""


def count(tally: Tally, transcript: Transcript, pairs: Ledger, *, named: bool = False) -> None:
    """Count a parsed conversation. `named`: the user named a provider, whose clauses then apply in doubt too."""
    tally.conversations += 1
    tally.messages += len(transcript.messages)
    tally.calls += len(pairs.interactions)
    if transcript.unread is not None:
        tally.messages += transcript.unread.messages
        tally.calls += transcript.unread.calls
        tally.results += transcript.unread.results
    answered = sum([interaction.answer is not None for interaction in pairs.interactions])
    tally.results += answered + len(pairs.duplicates) + len(pairs.orphans)
    for what, times in transcript.noted:
        _note(tally, what, times)
    if pairs.orphans and is_kept_elsewhere(transcript):
        _note(tally, KEPT_CALLS, sum(not one.result.server for one in pairs.orphans))
    if "renamed" in pairs.odd:
        _note(tally, FOREIGN_NAMES, foreign_names(transcript, pairs))
    if not named and ends_with_model(transcript):
        _note(tally, MODEL_LAST, 1)


def count_unread(tally: Tally, unread: Mapping[Near, int]) -> None:
    """Count conversations of unsupported formats, by the name of the format that they resemble."""
    for near, times in unread.items():
        _note(tally, f"{UNREAD}{near.name}", times)


def count_skipped(tally: Tally, records: int) -> None:
    """Count records that hold only bookkeeping of their format."""
    _note(tally, BOOKKEEPING, records)


def _note(tally: Tally, what: str, times: int) -> None:
    if times:
        tally.noted[what] = tally.noted.get(what, 0) + times


def count_providers(tally: Tally, wire: str, chosen: tuple[Chosen, ...], times: int = 1) -> None:
    """Count the providers whose rules apply, and those of them that have another wire."""
    for one in chosen:
        name = one.profile.label
        tally.providers[name] = tally.providers.get(name, 0) + times
        if one.named and wire not in one.profile.wires:
            key = f"{name} on {wire}"
            tally.across[key] = tally.across.get(key, 0) + times


def count_passed(tally: Tally, passed: "Passed") -> None:
    """Count conversations that the scanner accepted without parsing."""
    tally.conversations += passed.conversations
    tally.messages += passed.messages
    tally.calls += passed.calls
    tally.results += passed.results
    _note(tally, KEPT_CALLS, passed.kept_calls)
    _note(tally, MODEL_LAST, passed.model_last)
    for (wire, chosen), times in passed.kinds.items():
        count_providers(tally, wire, chosen, times)
