"""Was everything read?

This module owns one proof: what a lean decoder made of a JSON text, written again, is as long as the text without
its white space. The decoder forgets a key that it does not declare, and a key that comes twice; so where nothing
is missing nothing was skipped, and texts need not be looked into. It refuses to say what is missing.

The proof is sound because writing never makes anything longer: values are kept raw, names are declared, and a
text that is built anew is at most as long as it was.
"""

import re
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

from msgspec import Meta, Raw, json

from turnlint.documents import census

if TYPE_CHECKING:
    from collections.abc import Callable

Failed = (ValueError, RecursionError)
encode = json.Encoder().encode
_any = json.Decoder(list[dict[str, Any]]).decode
_Small = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_flat = json.Decoder(list[dict[str, str | _Small | float | bool | None]]).decode
"""Most objects hold no others, and need not be searched for long numbers."""
_LONG_NUMBER = re.compile(rb"\d{19}")


compact = cast("Callable[[bytes], bytes]", partial(json.format, indent=-1))
"""The text without white space between its tokens. Raises where it is no JSON."""


def is_utf8(text: bytes) -> bool:
    """Asked of a line at a time: a whole window would be built outside of the caches."""
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def are_plain(values: list[Raw]) -> bool:
    """Whether some values are objects that hold no key twice and no number that is out of range."""
    text = encode(values)
    try:
        if encode(_flat(text)) == text:
            return True
    except Failed:
        pass
    try:
        if encode(_any(text)) == text and not _LONG_NUMBER.search(text):
            return True
    except Failed:
        return False
    return census.is_plain(text)
