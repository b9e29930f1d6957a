"""Check whether a JSON text is free of faults that a typed decoder skips.

The check runs for every record: no duplicate key in an object, no number that a double cannot hold, no invalid UTF-8.
It does not locate a fault: `exact` does that, only for the records that fail. The check has a module of its own so that
a faster implementation can replace it.
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
    """Whether a decoder that skips unneeded values misses no fault."""
    native = compiled.load_for(len(data))
    if native is not None and native.is_plain(data):
        return True
    if len(data) < _PIECE and not _is_escaped(data[:_LOOKED_AT]) and _comes_back(data):
        return True
    return _is_plain_by_parts(data)


@lru_cache(maxsize=1)
def _is_plain_by_parts(data: bytes) -> bool:
    """Whether every part of a text parses.

    The last result is cached: each format that checks a large record calls this.
    """
    if not data.isascii() and not _is_utf8(data):
        return False
    # Decode one byte as one character where equal keys stay equal. Where a text has both escapes and raw characters,
    # they do not.
    raw = data.isascii() or b"\\u" not in data
    text = data.decode("latin-1" if raw else "utf-8")
    try:
        _, end = _listening().raw_decode(text, len(text) - len(text.lstrip(" \t\n\r")))
    except (_Odd, ValueError, RecursionError):
        return False
    return not text[end:].strip(" \t\n\r")


def _is_escaped(start: bytes) -> bool:
    """Whether the text seems to escape its characters. Encoding it again then never gives the same bytes."""
    return b"\\u" in start and b"\\\\u" not in start


def _comes_back(data: bytes) -> bool:
    """Whether decoding and encoding again gives the same bytes, apart from white space between tokens.

    Then decoding lost nothing. The JSON encoder would also keep integers that are too long; the MessagePack encoder
    rejects them. A plain text may fail this check: most writers spell some number or character differently.
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
    """Return a decoder that builds no values and checks all of them.

    Most small runs need neither the decoder nor its module.
    """
    from json import JSONDecoder

    return JSONDecoder(
        object_pairs_hook=_pairs, parse_int=_integer, parse_float=_float, parse_constant=_constant
    )


def _is_utf8(data: bytes) -> bool:
    """Decode in pieces, so that a long record is not copied with four bytes per character."""
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
