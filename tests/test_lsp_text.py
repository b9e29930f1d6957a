"""Positions in editor units, and patches as edits, compared with another implementation on any text."""

from hypothesis import given
from hypothesis import strategies as st

from editor import edited
from turnlint.keeping.patches import Patch
from turnlint.lsp.mending import edits_of
from turnlint.lsp.text import Position, Text

TEXTS = st.text(st.sampled_from("ab\n\r\u2028é€𐐀\ufeff\x0b"), max_size=40)
ANY = st.text(max_size=30)
PLACES = st.tuples(st.integers(0, 12), st.integers(0, 30))


def where(start: Position, end: Position) -> dict[str, dict[str, int]]:
    return {
        name: {"line": line, "character": unit} for name, (line, unit) in (("start", start), ("end", end))
    }


def counted(text: str, offset: int) -> Position:
    """A position, counted character by character."""
    line = unit = 0
    for number, char in enumerate(text[:offset]):
        if char == "\n" or (char == "\r" and text[number + 1 : number + 2] != "\n"):
            line, unit = line + 1, 0
        else:
            unit += 2 if char > "\uffff" else 1
    return line, unit


@given(TEXTS)
def test_every_position_of_a_text_agrees_with_counting(words: str) -> None:
    text = Text(words)
    offsets = {len(words[:number].encode()): number for number in range(len(words) + 1)}
    assert text.positions(offsets) == {place: counted(words, number) for place, number in offsets.items()}
    for place, number in offsets.items():
        assert text.positions([place]) == {place: counted(words, number)}


@given(TEXTS | ANY, PLACES, PLACES, TEXTS)
def test_a_change_is_applied_as_by_an_editor(words: str, one: Position, other: Position, new: str) -> None:
    start, end = sorted((one, other))
    lines = words.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start, end = (
        (line, min(unit, _units(lines[line]) if line < len(lines) else 0)) for line, unit in (start, end)
    )
    if _is_half(lines, start) or _is_half(lines, end):
        return
    changed = Text(words).changed(start, end, new)
    assert changed.text == edited(words, [{"range": where(start, end), "newText": new}])
    assert changed.data == changed.text.encode()


def _units(line: str) -> int:
    return len(line.encode("utf-16-le")) // 2


def _is_half(lines: list[str], place: Position) -> bool:
    """Whether a position is inside a surrogate pair, where no editor has its cursor."""
    line, unit = place
    words = lines[line].encode("utf-16-le")[: 2 * unit] if line < len(lines) else b""
    return words.decode("utf-16-le", "ignore").encode("utf-16-le") != words


@given(TEXTS, st.data())
def test_edits_give_the_same_text_as_patches(words: str, data: st.DataObject) -> None:
    old = words.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(words)), max_size=8)))
    patches, at, made = [], 0, b""
    for start, end in zip(cuts[::2], cuts[1::2], strict=False):
        first, last = (len(words[:cut].encode()) for cut in (start, end))
        new = data.draw(TEXTS).encode()
        patches.append(Patch(first, last, new))
        made += old[at:first] + new
        at = last
    made += old[at:]
    edits = [{"range": where(*span), "newText": new} for span, new in edits_of(Text(words), patches)]
    assert edited(words, edits).encode() == made


@given(st.text(st.characters() | st.characters(categories=["Cs"]), max_size=20))
def test_half_a_character_keeps_its_column(words: str) -> None:
    text = Text(words)
    whole = words.encode("utf-16-le", "surrogatepass")
    assert len(text.data.decode().encode("utf-16-le")) == len(whole)
    assert text.is_whole == (text.data.decode().encode("utf-16-le") == whole)
