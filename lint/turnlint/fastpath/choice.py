"""Choose the native scanner for a log: it accepts what concerns no rule, and names the lines to read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from turnlint import compiled
from turnlint.carrying.carrier import Carrier, Reader
from turnlint.carrying.envelope import Enveloped
from turnlint.carrying.sessions import Sessions
from turnlint.documents.source import Source, packing_of
from turnlint.model import Record
from turnlint.packages import GRAMMARS, additions

if TYPE_CHECKING:
    from turnlint.fastpath.passed import Counting
    from turnlint.judging import Book


def choose_scanner(
    carrier: Carrier,
    reader: Reader,
    records: Sequence[Record],
    book: "Book",
    source: Source,
    *,
    told: bool = False,
    may_shorten: bool = False,
) -> "Counting | None":
    """Choose the scanner for a log of this format, whose first records are these.

    `told`: the user names the format, so that each record is of it. `may_shorten`: the caller needs only the first messages of
    the abandoned parts of sessions.
    """
    syntax = carrier.syntax
    native = compiled.load()  # the plain reader of a long log uses its functions, too
    # The native reader knows the marks of the built-in grammars only.
    if native is None or additions(GRAMMARS):
        return None
    if isinstance(reader, Sessions) and reader.lines is not None:
        from turnlint.fastpath.sessions import open_session_gate

        if not _is_file(source):
            return None
        return open_session_gate(native, carrier, reader, book, source, may_shorten=may_shorten)
    if syntax is None:
        return None
    # Only logs with a conversation on each line are cut. A mixed log may begin with a request in another format.
    key = b'"%b"' % syntax.messages.encode()
    has_requests = not records or source.part is not None or any(key in record.data for record in records)
    if has_requests or not isinstance(reader, Enveloped):
        from turnlint.fastpath.gate import FactGate

        return FactGate(native, carrier, book, told=told)
    if not _is_file(source):
        return None
    from turnlint.fastpath.lines import open_line_gate

    return open_line_gate(native, carrier, reader, book, source, records[0])


def _is_file(source: Source) -> bool:
    """Whether a source is a whole file whose lines can be read again at their places."""
    return source.again and not source.part and not source.edits and packing_of(source) is None
