"""The first look at a log in C, where it was compiled.

This module owns handing a profile's terms to the native scanner, and answering what that asks: texts, names and ids
of which a few are not settled by a glance. It is held to the same promise as the scanners beside it. It refuses to
know files.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from turnlint.carrying.contents import call_marker
from turnlint.carrying.lines import Glanced, Lines, Open
from turnlint.documents.gate import Ended, Scan, Span
from turnlint.ledger import usable
from turnlint.scan.saying import says_something
from turnlint.scan.terms import NO_LIMIT, Terms

if TYPE_CHECKING:
    from turnlint.scan.talks import Keys
    from turnlint.scan.wires import Wire

_BITS = {"system": 1, "developer": 2, "user": 4, "assistant": 8, "tool": 16}
_NOBODY = 32
"""What no message is."""
_LAX = (
    "absent", "blank", "blank-result", "parts", "media", "list-result", "cache", "author", "null", "extras", "thought",
    "odd-thought", "keys", "shown-result", "apart",
)  # fmt: skip
"""Bits of what some providers mind, in this order."""
_READ, _FULL = 1, 2


def _bits(roles: Iterable[str]) -> int:
    return sum(_BITS[role] for role in roles if role in _BITS)


def _demand(roles: Iterable[str]) -> int:
    """One of these is wanted. Where none of them is known here nobody can be it."""
    wanted = frozenset(roles)
    return (_bits(wanted) or _NOBODY) if wanted else 0


def _lax_bits(terms: Terms) -> int:
    more = (("null", terms.null_beside_calls), ("extras", terms.extras))
    lax = terms.lax.union(name for name, taken in more if taken)
    return sum(1 << bit for bit, name in enumerate(_LAX) if name in lax)


_LETTERS = r"\[(?:\w-\w|\w|-(?=\]))+\]\+"


@lru_cache(maxsize=256)
def _letters_of(pattern: str) -> bytes | None:
    """The letters of a pattern that asks no more than which ones a name is made of."""
    if not re.fullmatch(_LETTERS, pattern, re.ASCII):
        return None
    takes = re.compile(pattern).fullmatch
    return bytes(one for one in range(128) if takes(chr(one)))


def _letters(terms: Terms) -> bytes | None:
    """The letters that ids may be made of; nothing where more is asked of them."""
    patterns = [getattr(getattr(takes, "__self__", None), "pattern", "") for takes in terms.ids]
    taken = [_letters_of(pattern) for pattern in patterns]
    return None if None in taken else bytes(set(range(128)).intersection(*(one or b"" for one in taken)))


def _takes_id(terms: Terms) -> Callable[[str], bool]:
    return lambda one: usable(one) and terms.take_ids([one])


def _holds_call(text: bytes) -> bool:
    return call_marker(Raw(text), "assistant") is not None


def bounds_of(native: Any, terms: Terms) -> Any:
    return native.Terms(
        roles=_bits(terms.roles),
        first=_demand(terms.first),
        last=_demand(terms.last),
        needs=_demand(terms.needs),
        lax=_lax_bits(terms),
        flags=(terms.calls, terms.hollow_results, terms.spaced_end),
        bounds=tuple(
            min(most, NO_LIMIT)
            for most in (terms.most_messages, terms.most_calls, terms.longest_id, terms.longest_result)
        ),
        letters=_letters(terms),
        asked=(
            _takes_id(terms),
            lambda name: terms.take_names({name}),
            lambda name: bool(name) and all(takes(name) for takes in terms.authors),
            says_something,
            _holds_call,
        ),
    )


class NativeTake:
    """Takes the lines of a log of messages."""

    def __init__(self, native: Any, name: str, terms: Terms, keys: "Keys", lines: Lines) -> None:
        self.bounds = bounds_of(native, terms)
        self.lines = lines
        names = keys.spare if keys.group is None else (*keys.spare, keys.group)
        self.look = native.Talks(name, self.bounds, names, keys.group, lines, _open).scan

    def spans(self, window: bytes, line: int, offset: int, scan: Scan) -> Iterator[Span | Ended]:
        at = number = 0
        while True:
            state, at, end, number = self.look(window, at, number, line, offset)
            if state == _READ:
                yield Span(at, end, number, 0)
                number, at = number + 1, end + 1
            elif state == _FULL:
                yield Ended([*self.lines.overflow()])
            else:
                break
        scan.lines = number


def _open(unread: Glanced) -> Open:
    return Open(unread=unread)


def takes(native: Any, name: str) -> "Callable[[Wire, Terms, Keys, Lines], NativeTake]":
    return lambda _, terms, keys, lines: NativeTake(native, name, terms, keys, lines)
