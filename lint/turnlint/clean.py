"""Has anything here a chance to be wrong?

This module owns one predicate over a paired conversation, and with it the fast path: where it says
yes, every built-in rule about conversations is silent, so none need be loaded or run. It may send a
sound conversation to the rules, never keep a faulty one from them; a test holds it to that on
arbitrary input.
"""

from turnlint.ledger import Ledger
from turnlint.model import Block, Call, Message, Other, Result, Text, Transcript

_SOUND = frozenset({"object", "nothing", "free"})


def is_clean(transcript: Transcript, ledger: Ledger) -> bool:
    """True where no rule has anything to say."""
    if transcript.dead or not _is_linked(transcript):
        return False
    return ledger.tidy and not transcript.misfits and all(map(_is_plain, transcript.messages))


def _is_linked(transcript: Transcript) -> bool:
    """Whether each record of a session has an id of its own and names another before it."""
    known: set[str] = set()
    for link in transcript.links:
        if link.id is None:
            continue
        if link.id in known or (link.parent is not None and link.parent not in known):
            return False
        known.add(link.id)
    return True


def _is_plain(message: Message) -> bool:
    if message.empty or message.dialect or message.inner_calls or message.parent_at:
        return False
    return message.role != "other" and all(map(_is_sound, message.blocks))


def _is_sound(block: Block) -> bool:
    kind = type(block)
    if kind is Text:
        return block.call_marker is None  # type: ignore[union-attr]
    if kind is Call:
        return _is_sound_call(block)  # type: ignore[arg-type]
    if kind is Result:
        return _is_sound_result(block)  # type: ignore[arg-type]
    return not (kind is Other and block.dialect)  # type: ignore[union-attr]


def _is_sound_call(call: Call) -> bool:
    return bool(call.id and call.name) and call.arguments in _SOUND and call.dialect is None


def _is_sound_result(result: Result) -> bool:
    if not result.id or result.dialect is not None:
        return False
    if result.complete is None and result.value is None:
        return True
    return result.complete is not False and result.error is not result.value
