"""Requests whose messages are made natively, where that was compiled.

This module owns what the native reader needs to make a wire's messages, and the conversation around them: what stands
there says the same in one record as in the next, so it is read once, without messages, the way every record is. It
refuses to know a wire. Whatever is not plain it leaves to that way; messages of unusual shapes are read by the wire's
own reader.
"""

from typing import TYPE_CHECKING, Any, TypeGuard

from turnlint.bounded_cache import BoundedCache
from turnlint.carrying.carrier import Stray
from turnlint.carrying.contents import marker_in
from turnlint.carrying.draft import WHOLE, WHOLE_TRAILING
from turnlint.carrying.lines import Lines
from turnlint.carrying.naming import mask
from turnlint.carrying.stored import may_be_stored
from turnlint.documents.decode import Shape
from turnlint.lifecycle import PLACEHOLDERS, ending, is_placeholder
from turnlint.model import (
    Call,
    Content,
    Message,
    Misfit,
    Outline,
    Record,
    Request,
    Result,
    Text,
    Transcript,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from turnlint.carrying.envelope import Spelling, Swift

MOST_IDLE = 1 << 6
"""After so many in a row that had to be read as any other, nobody looks any more."""
SPEAKERS = ("system", "developer", "user", "assistant", "tool")
CONTENTS: tuple[Content, ...] = ("text", "absent", "null", "parts")
"""In the order of `native/messages.c`."""
MOST_SHELLS = 1 << 10
MOST_HELD = 1 << 20
"""Bytes of them: one may hold all the tools of an agent."""


def _kit(swift: "Swift") -> tuple[Any, ...]:
    """In the order of `native/messages.c`."""
    opens = bytes(any(one[0] == letter for one in (*PLACEHOLDERS, b"aborted")) for letter in range(256))
    call_keys, how, call_kind = swift.call
    result_keys, result_kind = swift.result
    return (
        Message, Call, Result, Text,
        ("user", (), (), None, "user", None, None, (), None, None, (), False, "text"),
        ((), call_keys, None, None, b"", "object", False, True, None, how, call_kind),
        ((), result_keys, None, None, b"", False, True, None, None, None, None, "complete", False, "text", (), result_kind),
        ((), None, True),
        WHOLE, WHOLE_TRAILING,
        tuple((swift.roles.get(said, "other"), said) for said in SPEAKERS),
        [], [], [], ("messages", swift.key),
        CONTENTS,
        marker_in, is_placeholder, opens, _failed,
    )  # fmt: skip


def _failed(body: bytes) -> str:
    return ending(body, failed=True)


class SwiftReader:
    """Reads the records of one source, as far as they are requests with plain messages."""

    def __init__(self, native: "ModuleType", swift: "Swift", spelling: "Spelling", shape: Shape[Any]) -> None:
        self.messages = native.messages
        self.spelling = spelling
        self.wire = spelling.dialect.wire.name
        self.kit = _kit(swift)
        self.samples = swift.samples
        self.roles = frozenset(sample["role"] for sample in swift.samples)
        self.shape = shape
        self.around: BoundedCache[bytes, Transcript | None] = BoundedCache(MOST_SHELLS, MOST_HELD)
        self.owns: Callable[[bytes], bool] | None = None
        """Whether a shell leaves a record in this format; nothing where the user names the format."""
        self.idle = 0
        """So many records came by that were of no use."""

    def read(self, record: Record, number: int = 0) -> Transcript | None:
        """A conversation; nothing where the record has to be read as any other."""
        found = self.messages(record.data, self.wire, self.kit, record) if self.idle < MOST_IDLE else None
        self.idle += 1
        if found is None:
            return None
        shell, messages, odd, letters = found
        masked = mask(shell)
        shell = masked.envelope
        around = self.around[shell] if shell in self.around else self._learn(shell)
        if around is None:
            return None
        if odd and (self.owns or may_be_stored(record.data)):
            return None
        if self.owns and self._may_be_other(messages):
            return None
        misfits: list[Misfit] = []
        if odd and not self._read_odd(record, messages, odd, misfits):
            return None
        request = around.request
        assert request is not None, "there is none but of a request"
        record.plain = True
        self.idle = 0
        return Transcript(
            around.wire, tuple(messages), number, masked.original(around.id), around.headless, around.open_end,
            tuple((record, misfit) for misfit in misfits), _of(request, record), bound=around.bound,
            outline=Outline(self.samples) if letters else None,
        )  # fmt: skip

    def _may_be_other(self, messages: list[Any]) -> bool:
        """Whether a role in plain messages could make the record another wire's."""
        return "system" not in self.roles and any(one.role == "system" for one in messages)

    def _read_odd(self, record: Record, messages: list[Any], odd: list[int], misfits: list[Misfit]) -> bool:
        """Read those messages that are handed over as they are written."""
        decode, read_turn = self.spelling.turn.decoder.decode, self.spelling.dialect.read_turn
        try:
            for index in odd:
                messages[index], wrong = read_turn(decode(messages[index]), ("messages", index), record)
                misfits += wrong
        except (ValueError, RecursionError):
            return False
        return True

    def _learn(self, shell: bytes) -> Transcript | None:
        """What a record says around its messages; nothing where there is more in it than one request."""
        decoded = self.shape.read(Record(1, 0, shell))
        fine = not (decoded.troubles or decoded.rest or decoded.misfits)
        found = self.spelling.read(decoded, lambda: Lines(self.spelling.dialect.wire)) if fine else []
        around = next((one for one in found if _is_request(one)), None) if len(found) == 1 else None
        if around is not None and self.owns and not self.owns(shell):
            around = None
        return self.around.put(shell, around, len(shell))


def _is_request(found: Transcript | Stray) -> TypeGuard[Transcript]:
    """Whether there is a request without messages, of which nothing else is to be said."""
    if not isinstance(found, Transcript) or found.messages or found.misfits or found.request is None:
        return False
    return found.request.key == "messages" and not found.request.at


def _of(request: Request, record: Record) -> Request:
    """The same request in another record."""
    return Request(
        record, (), request.key, request.whole, request.answered, request.model, request.host, request.tools,
        request.tools_at, request.thinking, request.forced, request.store,
    )  # fmt: skip
