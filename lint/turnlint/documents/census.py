"""Is a JSON text free of what a typed decoder skips over?

This module owns one question, asked of every record: no key twice in one object, no number a double
cannot hold, no byte that is not UTF-8. It refuses to say where; `exact` does that, and only for the
records that answer no. Kept apart so that a faster answer can stand behind the same question.
"""

from json import JSONDecoder
from typing import Any


class _Odd(Exception):  # noqa: N818 - control flow inside this file
    pass


def _pairs(pairs: list[tuple[str, Any]]) -> None:
    if len(pairs) > 1 and len(dict(pairs)) != len(pairs):
        raise _Odd


def _integer(text: str) -> None:
    if len(text) > 18 and not -(2**63) <= int(text[:40]) < 2**64:
        raise _Odd


def _float(text: str) -> None:
    if float(text) in (float("inf"), float("-inf")):
        raise _Odd


def _constant(_: str) -> None:
    raise _Odd


_decoder = JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


def is_plain(data: bytes) -> bool:
    """True where a decoder that skips what it does not need misses nothing."""
    try:
        text = data.decode()
        _, end = _decoder.raw_decode(text, len(text) - len(text.lstrip(" \t\n\r")))
    except (_Odd, ValueError, RecursionError):
        return False
    return not text[end:].strip(" \t\n\r")
