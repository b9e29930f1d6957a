"""Write the conversations of a source in the canonical form, one on each line."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from turnlint.canonical_form.form import Form, write_form
from turnlint.documents.reread import reread
from turnlint.documents.source import Source
from turnlint.errors import FormError
from turnlint.ledger import read as paired
from turnlint.model import Transcript
from turnlint.reading import Reading


class Refusal(Struct, frozen=True):
    """A conversation that is not written."""

    line: int
    conversation: str | None
    reason: str


Prepare = Callable[[Transcript], Transcript]
"""Completes a conversation with what the user said about it."""


def write_forms(source: Source, format_name: str | None, prepare: Prepare) -> Iterator[Form | Refusal]:
    """Yield the form of each conversation, or why it has none.

    Conversations in a record of their own come first, in the order of the source; those over several records follow,
    since their records are read again. The unreadable records are last: each may have been a conversation, or a part.
    The parts that a session left behind are no conversations.
    """
    released: list[Transcript] = []
    reading = Reading(source, format_name, ())
    for transcript in reading.items():
        if not isinstance(transcript, Transcript) or transcript.dead or not transcript.messages:
            continue
        if all(record.data for record in transcript.records):
            yield _written(prepare(transcript))
        else:
            released.append(transcript)
    if released:
        for group in reread(source, released, lambda one: one.records):
            for transcript in group:
                yield _written(prepare(transcript))
    for gap in reading.gaps:
        many = gap.until != gap.offset
        yield Refusal(
            gap.line, None, f"{'this and later records are' if many else 'the record is'} unreadable"
        )


def _written(transcript: Transcript) -> Form | Refusal:
    try:
        pairs = paired(transcript.messages, transcript.wire, transcript.answer_at, transcript.gaps)
        return write_form(transcript, pairs)
    except FormError as error:
        return Refusal(transcript.messages[0].record.line, transcript.id, str(error))
