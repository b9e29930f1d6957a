"""Lines that are one message each, taken without reading them.

This module owns the decoder for such a line, made for the keys of one log, and what is noted of a message that was
not read. It refuses to know a wire, and when a conversation is at its end.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct, json

from turnlint.carrying.lines import Lines, Open, Unread
from turnlint.documents.gate import Ended, Scan, Span
from turnlint.scan.around import Wire
from turnlint.scan.outline import Failed, compact, encode, is_utf8
from turnlint.scan.requests import LONGEST
from turnlint.scan.terms import Terms

_LONGEST_NAME = 60
_Number = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Plain = str | _Number | float | bool | None | UnsetType


class Keys(Struct, frozen=True):
    """What the lines of a log have beside a message."""

    spare: tuple[str, ...]
    group: str | None
    """The one that names a conversation, where there is one."""


class Lean:
    """Takes the lines of one log."""

    def __init__(self, wire: Wire, terms: Terms, keys: Keys, lines: Lines) -> None:
        self.wire = wire
        self.terms = terms
        self.lines = lines
        self.decode = _decoder(wire, keys)

    def spans(self, window: bytes, line: int, offset: int, scan: Scan) -> Iterator[Span | Ended]:
        """The lines that have to be read, and between them conversations that cannot be held any longer."""
        size = len(window)
        at = number = 0
        find, lines, take = window.find, self.lines, self._take
        while at < size:
            end = find(b"\n", at)
            end = size if end < 0 else end
            if take(window[at:end], line + number, offset + at):
                if lines.held > lines.limit:
                    yield Ended([*lines.overflow()])
            else:
                yield Span(at, end, number, 0)
            number += 1
            at = end + 1
        scan.lines = number

    def _take(self, text: bytes, line: int, offset: int) -> bool:
        """Add a message to its conversation without reading it, if that can be done."""
        if len(text) >= LONGEST or text[-1:] == b"\r" or not (text.isascii() or is_utf8(text)):
            return False
        try:
            short = compact(text)
            message = self.decode(short)
        except Failed:
            return False
        if len(encode(message)) != len(short):
            return False
        lines = self.lines
        key = message.name_of_talk
        key = None if key is UNSET else key
        known = lines.open.get(key)
        if known is None:
            if key in lines.closed:
                return False
            unread = Unread(self.terms.most_messages)
        elif not isinstance(known.unread, Unread) or known.unread.lost:
            return False
        else:
            unread = known.unread
        if not self.wire.follows(message, unread, self.terms):
            unread.lost = True
            return False
        if known is None:
            lines.open[key] = Open(unread=unread)
        else:
            lines.reopen(key)
        unread.places.append((line, offset, len(text)))
        lines.held += 1
        return True


def _decoder(wire: Wire, keys: Keys) -> Callable[[bytes], Any]:
    fields: list[Any] = [(f"k{number}", _Plain, UNSET) for number, _ in enumerate(keys.spare)]
    renamed = {f"k{number}": key for number, key in enumerate(keys.spare)}
    if keys.group:
        fields.append(("name_of_talk", Annotated[str, Meta(min_length=1, max_length=_LONGEST_NAME)]))
        renamed["name_of_talk"] = keys.group
    else:
        fields.append(("name_of_talk", None | UnsetType, UNSET))
        renamed["name_of_talk"] = "name of talk"
    line = defstruct(
        "Line", fields, bases=(wire.message,), rename=renamed, omit_defaults=True, gc=False, kw_only=True
    )
    return json.Decoder(line).decode
