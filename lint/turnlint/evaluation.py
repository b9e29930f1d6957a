"""Evaluate a source: read its conversations, and apply the rules of a run to each of them and to damage.

Reports and repairs use the same evaluator. They differ only in the `Ask`, which handles a failing rule.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from turnlint.documents.source import Progress, Source
from turnlint.documents.trouble import Damage
from turnlint.judging import Ask, Book, Judged, Options, judge, judge_damage
from turnlint.model import Finding, Record, Transcript
from turnlint.reading import Batch, Reading, Watch

if TYPE_CHECKING:
    from turnlint.carrying.carrier import Carrier, Reader
    from turnlint.fastpath.passed import Counting, Passed


class Evaluator:
    """Evaluates one source, or a part of one."""

    def __init__(
        self, source: Source, options: Options, book: Book, ask: Ask, *, watch: Watch | None = None,
        may_shorten: bool = False,
    ) -> None:  # fmt: skip
        """`may_shorten`: only the first messages of abandoned parts of sessions are needed, beside counts."""
        self.source = source
        self.options = options
        self.book = book
        self.ask = ask
        self.reading = Reading(source, options.format, book.wires, watch)
        self.scanner: Counting | None = None
        self.may_shorten = may_shorten

    def batches(self, progress: Progress | None, *, skip_sound: bool) -> Iterator[Batch]:
        """Yield the items of the source. `skip_sound`: a conversation without a finding is only counted."""
        # A rule without triggers may report any conversation, and a record may request an ignore.
        may_skip = skip_sound and self.book.has_triggers and not self.options.pardons
        yield from self.reading.batches(progress, self._open_scanner if may_skip else None)

    def judge(self, transcript: Transcript) -> Judged:
        """Apply the rules to a conversation."""
        known = transcript.request.record.known if transcript.request else None
        return judge(self.book, transcript, self.ask, known.rules if known else None)

    def judge_damage(self, damages: Sequence[Damage]) -> list[Finding]:
        """Apply the rules about damage."""
        return judge_damage(self.book, damages, self.ask)

    @property
    def passed(self) -> "Passed | None":
        """The count of conversations that the scanner accepted, if there is a scanner."""
        return self.scanner.passed if self.scanner else None

    def _open_scanner(self, carrier: "Carrier", reader: "Reader", records: list[Record]) -> "Counting | None":
        from turnlint.fastpath.choice import choose_scanner  # a small source needs none

        is_told = self.options.format is not None
        self.scanner = choose_scanner(
            carrier, reader, records, self.book, self.source, told=is_told, may_shorten=self.may_shorten
        )
        return self.scanner
