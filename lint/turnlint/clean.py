"""Has anything here a chance to be wrong, and what?

This module owns one look over a paired conversation, and with it the fast path: it names what there is that a rule
could speak of, so that no other rule about state or pairing need be loaded or asked. It may name what turns out to
be nothing, never miss what a rule would report; tests hold it to that on arbitrary input.
"""

from collections.abc import Iterable

from turnlint.harmless import has_only_foreign_names, is_kept_elsewhere
from turnlint.ledger import MISSING, Interaction, Ledger, is_missing
from turnlint.model import SILENT, SPEAKERS, Other, Result, Text, Transcript

_SOUND = frozenset({"object", "nothing", "free"})
_EMPTY = frozenset(
    letter for letter in range(256) if letter & SILENT and SPEAKERS[letter % 8 % 5] in ("user", "assistant")
)
Named = tuple[str | None, str | None]
"""A record's id, and that of the one before it."""


def is_clean(transcript: Transcript, ledger: Ledger) -> bool:
    """True where no rule has anything to say."""
    return not concerns(transcript, ledger)


def concerns(transcript: Transcript, ledger: Ledger) -> set[str]:
    """What there is to look at: the ledger's `Odd`, and what is damaged whoever answers it."""
    found: set[str] = set(ledger.odd)
    if "orphan" in found and is_kept_elsewhere(transcript):
        found.discard("orphan")
    if "renamed" in found and has_only_foreign_names(transcript, ledger):
        found.discard("renamed")
    if transcript.dead:
        found.add("dead")
    if transcript.misfits:
        found.add("misfit")
    linked = False
    outline = transcript.outline
    if outline is not None and not _EMPTY.isdisjoint(outline.letters):
        found.add("empty")
    for message in transcript.messages if outline is None else ():
        if message.empty:
            found.add("empty")
        if message.dialect:
            found.add("dialect")
        if message.inner_calls:
            found.add("echo")
        if message.parent_at:
            linked = True
        if message.role == "other":
            found.add("role")
        for block in message.blocks:
            kind = type(block)
            if kind is Text:
                if block.call_marker is not None:  # type: ignore[union-attr]
                    found.add("marker")
            elif kind is Other and block.dialect is not None:  # type: ignore[union-attr]
                found.add("dialect")
    if transcript.links or linked:
        links = transcript.links or transcript.messages
        if not _is_linked((one.id, one.parent) for one in links):
            found.add("link")
    if outline is not None:
        _look_at_names(ledger, found)
        return found
    _look_at_pairs(ledger.interactions, found)
    for orphan in ledger.orphans:
        _look_at_result(orphan.result, found)
    for again, _ in ledger.duplicates:
        _look_at_result(again.result, found)
    return found


def _look_at_names(ledger: Ledger, found: set[str]) -> None:
    """All that can be amiss with the pieces of an outlined conversation."""
    calls = [one.asked.call for one in ledger.interactions]
    ids = [call.id for call in calls]
    ids += [one.answer.result.id for one in ledger.interactions if one.answer is not None]
    ids += [one.result.id for one in ledger.orphans]
    ids += [again.result.id for again, _ in ledger.duplicates]
    if not MISSING.isdisjoint(ids):
        found.add("id")
    if not all(call.name for call in calls):
        found.add("name")


def _look_at_pairs(interactions: Iterable[Interaction], found: set[str]) -> None:
    for interaction in interactions:
        call, answer = interaction.asked.call, interaction.answer
        if call.arguments not in _SOUND:
            found.add("arguments")
        if not call.name:
            found.add("name")
        if is_missing(call.id):
            found.add("id")
        if call.dialect is not None:
            found.add("dialect")
        if answer is not None:
            _look_at_result(answer.result, found)


def _look_at_result(result: Result, found: set[str]) -> None:
    if is_missing(result.id):
        found.add("id")
    if result.dialect is not None:
        found.add("dialect")
    if result.kind == "function" and not result.name:
        found.add("name")
    if result.value is not None and (
        result.complete is False or bool(result.value) is bool(result.error) or result.state == "pending"
    ):
        found.add("lifecycle")


def _is_linked(links: Iterable[Named]) -> bool:
    """Whether each record has an id of its own and names another before it."""
    known: set[str] = set()
    for name, parent in links:
        if name is None:
            continue
        if name in known or (parent is not None and parent not in known):
            return False
        known.add(name)
    return True
