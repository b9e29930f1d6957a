"""Is a JSON text free of what a typed decoder skips over?

This module owns one question, asked of every record: no key twice in one object, no number a double
cannot hold, no byte that is not UTF-8. It refuses to say where; `exact` does that, and only for the
records that answer no. Kept apart so that a faster answer can stand behind the same question.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import json, msgpack

if TYPE_CHECKING:
    from json import JSONDecoder

_PIECE = 1 << 20
_SHORT = 1 << 16


def is_plain(data: bytes) -> bool:
    """True where a decoder that skips what it does not need misses nothing."""
    if len(data) <= _SHORT and b"\\u" not in data and _comes_back(data):
        return True
    if not data.isascii() and not _is_utf8(data):
        return False
    # One byte a character whatever they are, where that keeps equal keys equal: with escapes beside raw
    # characters it does not.
    raw = data.isascii() or b"\\u" not in data
    text = data.decode("latin-1" if raw else "utf-8")
    try:
        _, end = _listening().raw_decode(text, len(text) - len(text.lstrip(" \t\n\r")))
    except (_Odd, ValueError, RecursionError):
        return False
    return not text[end:].strip(" \t\n\r")


def _comes_back(data: bytes) -> bool:
    """Whether a text that was decoded and written again is the same, so that nothing of it was lost.

    All of it is built for that, so only short ones are asked. Others may be plain too: most spell a number or a
    character in a way of their own.
    """
    try:
        value = json.decode(data)
        msgpack.encode(value)  # which takes no integer beyond 64 bits
        return json.encode(value) == json.format(data, indent=-1)
    except (ValueError, RecursionError, OverflowError):
        return False


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


@cache
def _listening() -> "JSONDecoder":
    """A decoder that builds nothing and hears of everything. Most small runs do without it, and without its module."""
    from json import JSONDecoder

    return JSONDecoder(
        object_pairs_hook=_pairs, parse_int=_integer, parse_float=_float, parse_constant=_constant
    )


def _is_utf8(data: bytes) -> bool:
    """Piece by piece, so that a long record is not built a second time, four bytes a character."""
    try:
        if len(data) <= _PIECE:
            data.decode()
            return True
        from codecs import getincrementaldecoder

        decode = getincrementaldecoder("utf-8")().decode
        view = memoryview(data)
        for start in range(0, len(data), _PIECE):
            decode(view[start : start + _PIECE], start + _PIECE >= len(data))
    except UnicodeDecodeError:
        return False
    return True
