"""Distinguish calls that a compaction removed from calls that are lost.

Evidence: the agents' session formats have a record where a compaction replaced earlier messages; Anthropic Messages and
OpenAI Responses have a block of the type `compaction` (API references, read 2026-11).
"""

from turnlint.model import Call, Location, Omitted, Other, Related, Transcript
from turnlint.text import quote_name

COMPACTION = "compaction"
"""The type of a block that a provider writes in place of earlier messages."""


def find_compaction(transcript: Transcript) -> tuple[int, str]:
    """Return the first message behind a compaction, and a sentence about it; an empty one if there is none."""
    if transcript.compaction is not None:
        return 0, f"the compaction at line {transcript.compaction.line:,} may have replaced its call"
    for index, message in enumerate(transcript.messages):
        if any(isinstance(block, Other) and block.kind == COMPACTION for block in message.blocks):
            return index, f"the compaction in message {index:,} may have replaced its call"
    return len(transcript.messages), ""


def place_of(kept: Omitted) -> str:
    """Return the place of a call that is still known, in words."""
    line = f"line {kept.record.line:,}"
    return line if kept.path is None else f"line {kept.record.line:,} of {quote_name(kept.path)}"


def related_piece(kept: Omitted, transcript: Transcript) -> tuple[Related, ...]:
    """Return the piece in its file; nothing if that is another file."""
    if kept.path is not None:
        return ()
    cut = transcript.compaction
    noun = "the call" if isinstance(kept.piece, Call) else "the result"
    note = noun if cut is None else f"{noun}, before the compaction at line {cut.line:,}"
    return (Related(note, Location(kept.record, kept.place)),)
