"""What a run counts besides its findings.

This module owns how a conversation adds to a tally, whether it was read or only looked at. It refuses to know what
was found in it.
"""

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


def count(tally: Tally, transcript: Transcript, pairs: Ledger, *, named: bool = False) -> None:
    """A conversation that was read, and whether the user `named` a provider, whose clauses then hold in doubt too."""
    tally.conversations += 1
    tally.messages += len(transcript.messages)
    tally.calls += len(pairs.interactions)
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
    """Conversations of formats that are not supported, by the name of what they look like."""
    for near, times in unread.items():
        _note(tally, f"unread {near.name}", times)


def count_skipped(tally: Tally, records: int) -> None:
    """Records that a format keeps for its own bookkeeping."""
    _note(tally, BOOKKEEPING, records)


def _note(tally: Tally, what: str, times: int) -> None:
    if times:
        tally.noted[what] = tally.noted.get(what, 0) + times


def count_providers(tally: Tally, wire: str, chosen: tuple[Chosen, ...], times: int = 1) -> None:
    """The providers that it was held against, and those of them whose wire is another."""
    for one in chosen:
        name = one.profile.label
        tally.providers[name] = tally.providers.get(name, 0) + times
        if one.named and wire not in one.profile.wires:
            key = f"{name} on {wire}"
            tally.across[key] = tally.across.get(key, 0) + times


def count_passed(tally: Tally, passed: "Passed") -> None:
    """Conversations that nobody had to read."""
    tally.conversations += passed.conversations
    tally.messages += passed.messages
    tally.calls += passed.calls
    tally.results += passed.results
    _note(tally, KEPT_CALLS, passed.kept_calls)
    for (wire, chosen), times in passed.kinds.items():
        count_providers(tally, wire, chosen, times)
