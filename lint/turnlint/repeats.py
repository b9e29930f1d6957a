"""Calls that bear an id which another call bore before.

This module owns the comparison of two occurrences under one id. It refuses to say which of them a
result belongs to; the ledger has said that.
"""

from collections.abc import Iterator

from msgspec import Struct

from turnlint.ledger import Interaction, Ledger, usable
from turnlint.ledger.alike import is_same_call


class Repeat(Struct, frozen=True):
    """A call whose id was taken."""

    first: Interaction
    again: Interaction
    same: bool
    """The same tool with the same arguments, in whatever spelling: a copy rather than another call."""
    same_turn: bool


def repeats(ledger: Ledger) -> Iterator[Repeat]:
    """Each call whose id stands on an earlier call, with the first such call of its own turn, else of all."""
    if "taken" not in ledger.odd:
        return
    firsts: dict[tuple[str | None, bool], Interaction] = {}
    latest: dict[tuple[str | None, bool], Interaction] = {}
    for interaction in ledger.interactions:
        call = interaction.asked.call
        if not usable(call.id):
            continue
        key = call.id, call.server
        first = firsts.setdefault(key, interaction)
        near = latest.setdefault(key, interaction)
        if near.asked.turn != interaction.asked.turn:
            latest[key] = interaction
        elif near is not interaction:
            first = near
        if first is not interaction:
            other = first.asked.call
            same = is_same_call(call, other)
            yield Repeat(first, interaction, same, first.asked.turn == interaction.asked.turn)
