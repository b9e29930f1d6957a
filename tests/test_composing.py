"""Patches of patched bytes equal one list of patches of the source."""

from hypothesis import given
from hypothesis import strategies as st

from turnlint.keeping.composing import composed
from turnlint.keeping.patches import Patch


@st.composite
def patches_of(draw: st.DrawFn, size: int) -> list[Patch]:
    cuts = sorted(draw(st.lists(st.integers(0, size), max_size=6)))
    spans = zip(cuts[::2], cuts[1::2], strict=False)
    return [Patch(start, end, draw(st.binary(max_size=4))) for start, end in spans]


def applied(data: bytes, patches: list[Patch]) -> bytes:
    pieces, at = [], 0
    for patch in patches:
        pieces += [data[at : patch.start], patch.data]
        at = patch.end
    return b"".join([*pieces, data[at:]])


@given(st.binary(max_size=30), st.data())
def test_two_passes_are_one(data: bytes, draw: st.DataObject) -> None:
    first = draw.draw(patches_of(len(data)))
    middle = applied(data, first)
    second = draw.draw(patches_of(len(middle)))
    assert applied(data, composed(first, second)) == applied(middle, second)
