"""Repair one document, as edits of its text.

Patches of bytes become edits between positions. The edited text equals the output of `turnlint fix`, byte for
byte.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from turnlint.documents.source import Source
from turnlint.keeping.ends import common_end, common_start
from turnlint.keeping.patches import Patch
from turnlint.lsp.looking import Span
from turnlint.lsp.terms import Terms
from turnlint.lsp.text import Text
from turnlint.repair.passes import fix

NEAR = 8
"""Patches that are nearer to each other are merged, so that none grows into the next."""


class Mended(Struct, frozen=True):
    """The edits of a repair, and the reason where something is unchanged."""

    edits: tuple[tuple[Span, str], ...] = ()
    reason: str = ""


def mend(text: Text, source: Source, terms: Terms) -> Mended:
    """Return the repair of a document."""
    if not text.is_whole:
        return Mended(reason="it contains half of a surrogate pair, which cannot be encoded")
    fixed = fix(source, terms.options, terms.book, terms.policy)
    if fixed.problem:
        return Mended(reason=fixed.problem.reason)
    if fixed.bound and fixed.patches:
        return Mended(reason=fixed.bound)
    reason = "a repair could not be verified" if fixed.failures else ""
    return Mended(tuple(edits_of(text, fixed.patches)), reason)


def edits_of(text: Text, patches: Sequence[Patch]) -> Iterator[tuple[Span, str]]:
    """Convert sorted patches that do not overlap to edits that do not overlap."""
    small = (_small(text.data, patch) for patch in patches)
    whole = [_whole(text.data, patch) for patch in _apart(text.data, small)]
    at = text.positions(offset for patch in whole for offset in (patch.start, patch.end))
    for patch in whole:
        yield (at[patch.start], at[patch.end]), patch.data.decode()


def _small(data: bytes, patch: Patch) -> Patch:
    """Reduce a patch to the changed bytes, so that selections and folds in an editor stay."""
    old, new = data[patch.start : patch.end], patch.data
    front = common_start(old, new)
    back = common_end(old, new, min(len(old), len(new)) - front)
    return Patch(patch.start + front, patch.end - back, new[front : len(new) - back])


def _apart(data: bytes, patches: Iterable[Patch]) -> Iterator[Patch]:
    """Merge patches that are close to each other."""
    waiting: Patch | None = None
    for patch in patches:
        if waiting is not None and patch.start - waiting.end < NEAR:
            between = data[waiting.end : patch.start]
            waiting = Patch(waiting.start, patch.end, waiting.data + between + patch.data)
            continue
        if waiting is not None:
            yield waiting
        waiting = patch
    if waiting is not None:
        yield waiting


def _whole(data: bytes, patch: Patch) -> Patch:
    """Extend a patch so that its ends are positions of an editor: between characters, and not in a line end."""
    start, end = patch.start, patch.end
    while _is_inside(data, start):
        start -= 1
    while _is_inside(data, end):
        end += 1
    return Patch(start, end, data[start : patch.start] + patch.data + data[patch.end : end])


def _is_inside(data: bytes, offset: int) -> bool:
    if not 0 < offset < len(data):
        return False
    return data[offset] & 0xC0 == 0x80 or data[offset - 1 : offset + 1] == b"\r\n"
