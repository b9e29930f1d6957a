"""Is a JSON text free of what a typed decoder skips over?

This module owns one question, asked of every record: no key twice in one object, no number a double
cannot hold, no byte that is not UTF-8. It refuses to say where; `exact` does that, and only for the
records that answer no. Kept apart so that a faster answer can stand behind the same question.
"""

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import json, msgpack

from turnlint import compiled

if TYPE_CHECKING:
    from json import JSONDecoder

_PIECE = 1 << 20
_LOOKED_AT = 1 << 12
_decode = json.Decoder().decode
_encode = json.Encoder().encode
_encode_short = msgpack.Encoder().encode


def is_plain(data: bytes) -> bool:
    """Whether a decoder that skips the values it does not need misses nothing."""
    native = compiled.load_for(len(data))
    if native is not None and native.is_plain(data):
        return True
    if len(data) < _PIECE and not _is_escaped(data[:_LOOKED_AT]) and _comes_back(data):
        return True
    return _is_plain_by_parts(data)


@lru_cache(maxsize=1)
def _is_plain_by_parts(data: bytes) -> bool:
    """Parse every part of a text. Each format that looks at a large record asks, so the last answer is kept."""
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


def _is_escaped(start: bytes) -> bool:
    """Whether characters seem to be written as escapes: then it never comes back as it was."""
    return b"\\u" in start and b"\\\\u" not in start


def _comes_back(data: bytes) -> bool:
    """Whether it is what it becomes when it is decoded and encoded again, but for white space between its pieces.

    Then nothing in it was lost. Integers that are too long would be kept by this, but not by the other encoding. Others
    may be plain too: most spell a number or a character in a way of their own.
    """
    try:
        value = _decode(data)
        again = _encode(value)
        if again != data and (len(again) > len(data) or again != json.format(data, indent=-1)):
            return False
        _encode_short(value)
    except (ValueError, RecursionError, OverflowError):
        return False
    return True


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
