"""Summarize identifiers, to decide whether all of them match a pattern.

The native scanner computes the same summary from bytes: `CLASS_OF` is the one definition of the classes.
"""

import re
from collections.abc import Collection
from functools import lru_cache

from msgspec import Struct

_CLASSES = (
    "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "_", "-", ".", ":", "$", "/", " ",
)  # fmt: skip
_OTHER, _NOT_ASCII = len(_CLASSES), len(_CLASSES) + 1
_NUMBERS = {letter: number for number, letters in enumerate(_CLASSES) for letter in letters}
CLASS_OF = bytes(_NUMBERS.get(chr(byte), _OTHER if byte < 128 else _NOT_ASCII) for byte in range(256))
"""The class of each byte of UTF-8, by number. Bit `1 << number` is the class in a summary."""


class Names(Struct, frozen=True):
    """The characters and lengths of some names."""

    first: int = 0
    """Classes of first characters, as bits."""
    letters: int = 0
    """Classes of all characters, as bits."""
    shortest: int = 0
    """In characters; a lower bound if a name has more than ASCII."""
    longest: int = 0
    """In characters; an upper bound if a name has more than ASCII."""
    count: int = 0
    """0 for no name at all, else 1."""

    def match(self, pattern: str) -> bool:
        """Whether each name certainly matches a pattern as a whole; False if the summary cannot decide."""
        if not self.count:
            return True
        form = _form_of(pattern)
        return (
            form is not None
            and not self.first & ~form.first
            and not self.letters & ~form.letters
            and form.least <= self.shortest
            and (form.most is None or self.longest <= form.most)
        )

    def match_before_number(self, pattern: str) -> bool:
        """Whether each name matches a pattern, if each is known to be characters without `:`, then `:` and a number."""
        found = _NUMBERED.fullmatch(pattern)
        form = _form_of(found[1]) if found is not None else None
        return not self.count or (form is not None and not self.letters & ~(form.letters | _COLON))


NO_NAMES = Names()


def names_of(names: Collection[str]) -> Names:
    """Return the summary of some names."""
    if not names:
        return NO_NAMES
    lengths = [len(name) for name in names]
    first = _classes_in("".join([name[:1] for name in names]))
    return Names(first, _classes_in("".join(names)), min(lengths), max(lengths), 1)


MAX_KEPT_NAMES = 64
MAX_KEPT_CHARACTERS = 2048
"""The summary of more or longer names together is not cached."""
_kept = lru_cache(maxsize=512)(names_of)


def tool_names_of(names: Collection[str]) -> Names:
    """Return the summary of the names of tools, which are the same in most conversations of a log."""
    if not names:
        return NO_NAMES
    if len(names) > MAX_KEPT_NAMES or sum(map(len, names)) > MAX_KEPT_CHARACTERS:
        return names_of(names)
    return _kept(frozenset(names))


_USUAL = 5
"""Number of the classes that are common in names: letters, digits, `_` and `-`."""
_USUAL_BYTES = bytes(range(_USUAL))


def _classes_in(text: str) -> int:
    found = text.encode("utf-8", "surrogatepass").translate(CLASS_OF)
    bits = (0 in found) | (1 in found) << 1 | (2 in found) << 2 | (3 in found) << 3 | (4 in found) << 4
    for number in found.translate(None, _USUAL_BYTES):
        bits |= 1 << number
    return bits


class _Form(Struct, frozen=True):
    """A pattern as bounds of a summary."""

    first: int
    letters: int
    least: int
    most: int | None


_SET = r"(\[(?:\\.|[^\]\\^\[])(?:\\.|[^\]\\\[])*\])"
_COLON = 1 << CLASS_OF[ord(":")]
_NUMBERED = re.compile(r"(?:\([^()\[\]|]*\)\?)?" + _SET[:-1] + r"\+):\\d\+")
"""An optional group does not matter: names without it match too."""
_PATTERN = re.compile(_SET + _SET + r"?(?:([*+])|\{(\d+)(?:(,)(\d*))?\})")


@lru_cache(maxsize=1024)
def _form_of(pattern: str) -> _Form | None:
    """Return bounds as strict as the pattern or stricter; nothing for a pattern of another form."""
    found = _PATTERN.fullmatch(pattern)
    if found is None:
        return None
    head, tail, sign, least, comma, most = found.groups()
    extra = 0 if tail is None else 1
    first, rest = _classes_of(head), _classes_of(tail or head)
    if sign:
        return _Form(first, rest, extra + (sign == "+"), None)
    upper = int(most) if most else None if comma else int(least)
    return _Form(first, rest, extra + int(least), None if upper is None else extra + upper)


def _classes_of(written: str) -> int:
    """Return the classes of which a set contains every character. It may contain more than those."""
    takes = re.compile(written).fullmatch
    taken = [bool(takes(chr(one))) for one in range(128)]
    return sum(
        1 << number
        for number in range(_NOT_ASCII)
        if all(taken[one] for one in range(128) if CLASS_OF[one] == number)
    )


_ALTERNATIVE = re.compile(r"([A-Za-z0-9]+_)(\[[^|]*)")


@lru_cache(maxsize=256)
def heads_of(pattern: str) -> dict[str, str] | None:
    """Return patterns for the rest of an id, by its start up to the first `_`; nothing for other patterns."""
    found = [_ALTERNATIVE.fullmatch(one) for one in pattern.split("|")]
    return None if None in found else {one[1]: one[2] for one in found if one}
