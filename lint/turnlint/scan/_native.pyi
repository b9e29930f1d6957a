# What `native/` compiles to.

from collections.abc import Callable
from typing import Any, final

# Of the sources that it was made from.
DIGEST: str
LONGEST_WORD: int

def find_words(texts: list[bytes], words: tuple[bytes, ...], /) -> list[bool]: ...

# Of each word, whether it stands in some of the texts.
# The messages of a plain request, as the kit of `turnlint.carrying.swift` has them made: what stands around them, they
# themselves or their bytes, the numbers of those that are bytes, and the outline. Nothing for any other record.
def messages(
    data: bytes, wire: str, kit: tuple[Any, ...], record: Any, /
) -> tuple[bytes, list[Any], list[int], bytes] | None: ...

# How much of each pointer exists in a text known to be plain, and the bytes of what is there; or nothing.
def places(data: bytes, pointers: list[tuple[str | int, ...]], /) -> list[tuple[int, int, int]] | None: ...

# How many lines end between two bytes of well-formed UTF-8, and how many characters stand in the last.
def measure(data: bytes, start: int, end: int, /) -> tuple[int, int]: ...

# The walk of `turnlint.ledger`, with what it needs for it, into the parts of its working state: the last message of the
# last turn, and whether something was said in a window before its last result.
def walk(
    messages: tuple[Any, ...],
    window: frozenset[str],
    joins: bool,
    kit: tuple[Any, ...],
    work: Any,
    end_window: Callable[..., None],
    parts: tuple[Any, ...],
    /,
) -> tuple[int, bool]: ...

@final
class Terms:
    # The bounds of `turnlint.scan.terms`, and whom to ask where they do not settle it.
    def __new__(
        cls,
        *,
        roles: int,
        first: int,
        last: int,
        needs: int,
        lax: int,
        flags: tuple[bool, bool, bool],
        bounds: tuple[int, int, int, int],
        letters: bytes | None,
        asked: tuple[
            Callable[[str], bool],
            Callable[[str], bool],
            Callable[[str], bool],
            Callable[[bytes], bool],
            Callable[[bytes], bool],
        ],
    ) -> Terms: ...
    def take_counts(self) -> tuple[int, int, int]: ...

@final
class Requests:
    def __new__(cls, wire: str, look_up: Callable[[bytes], Terms | None], /) -> Requests: ...
    def scan(self, window: bytes, /) -> tuple[list[tuple[int, int, int, int]], int, int]: ...
    # The spans to read (start, end, line, vouched for before), all lines, and all that are vouched for.

@final
class Talks:
    def __new__(
        cls,
        wire: str,
        terms: Terms,
        keys: tuple[str, ...],
        group: str | None,
        lines: Any,
        begin: Callable[[Unread], Any],
        /,
    ) -> Talks: ...
    def scan(
        self, window: bytes, at: int, number: int, line: int, offset: int, /
    ) -> tuple[int, int, int, int]: ...
    # What stopped it (0 the end, 1 a line to read, 2 that too much is held), start, end, and number.

@final
class Unread:
    @property
    def places(self) -> list[tuple[int, int, int]]: ...
    @property
    def start(self) -> int: ...
    @property
    def count(self) -> int: ...
    @property
    def calls(self) -> int: ...
    def is_whole(self) -> bool: ...

@final
class Sessions:
    def __new__(cls, name: str, terms: Terms, /) -> Sessions: ...
    def scan(self, window: bytes, line: int, offset: int, /) -> tuple[list[tuple[int, int, int]], int]: ...
    # The spans to read (start, end, line), and all lines.
    def may_hold(self, identifier: bytes, /) -> bool: ...
    @property
    def tangled(self) -> bool: ...
    @property
    def threads(self) -> dict[tuple[bytes, bytes], Unheard]: ...

@final
class Unheard:
    @property
    def places(self) -> list[tuple[int, int, int]]: ...
    @property
    def start(self) -> int: ...
    @property
    def messages(self) -> int: ...
    @property
    def calls(self) -> int: ...
    def is_sound(self) -> bool: ...
