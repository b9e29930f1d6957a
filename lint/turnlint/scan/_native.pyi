# What `native/` compiles to.

from collections.abc import Callable
from typing import Any, final

# Of the sources that it was made from.
DIGEST: str

def find_words(texts: list[bytes], words: tuple[bytes, ...], /) -> list[bool]: ...

# Of each word, whether it stands in some of the texts.

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
