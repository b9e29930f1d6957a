"""Properties of the escape layer, on any text: visible text, clipping, widths and starts of lines."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from budgets import examples
from hostile import DRAWS_NOTHING, hidden_in
from turnlint.report.escape import clip, columns, fold, line_start, visible

PIECES = (
    *map(chr, range(32)),
    *"#:[]v o{\\",
    "u{",
    "##vso[",
    "::",
    "漢",
    *sorted(DRAWS_NOTHING)[:60],
    "\U000e0041",
)
TEXTS = st.text(max_size=30) | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
MANY = settings(max_examples=examples(500), deadline=None)


@MANY
@given(TEXTS)
@example("###vso[")
@example("\ud800\U0010ffff\x7f")
def test_every_escaped_character_is_visible(text: str) -> None:
    shown = visible(text)
    assert not hidden_in(shown)
    assert all(char.isprintable() or unicodedata.category(char) == "Zs" for char in shown)
    assert "##[" not in shown
    assert "##vso[" not in shown.lower()
    assert visible(shown) == shown
    assert shown == text or "\\u{" in shown
    if text.isascii() and text.isprintable() and "##" not in text:
        assert shown == text


@MANY
@given(TEXTS, st.integers(1, 40))
@example("漢漢漢", 5)
@example("e\u0301" * 9, 9)
def test_clipped_text_fits_and_is_the_beginning_of_the_text(text: str, width: int) -> None:
    shown = visible(text)
    clipped = clip(shown, width)
    assert columns(clipped) <= width
    if columns(shown) <= width:
        assert clipped == shown
    else:
        assert clipped.endswith("…")
        assert shown.startswith(clipped[:-1])
        assert columns(clipped) >= width - 1


@MANY
@given(TEXTS | st.lists(TEXTS).map(" ".join), st.integers(8, 40), st.sampled_from(["", "    "]))
@example("  --> " + "x" * 40, 20, "    ")
@example("漢" * 9, 9, "    ")
@example("e\u0301" * 9 + " " * 20, 8, "")
def test_folded_text_fits_and_loses_nothing_but_spaces(text: str, width: int, indent: str) -> None:
    shown = visible(text)
    lines = fold(shown, width, indent)
    assert all(columns(line) <= width for line in lines)
    assert all(line.startswith(indent) for line in lines[1:])
    assert "".join("".join(lines).split()) == "".join(shown.split())
    assert columns(shown) > width or lines == [shown]


WIDTHS = {"": 0, "abc": 3, "é": 1, "e\u0301": 1, "漢字": 4, "ﾊﾝ": 2, "😀": 2, "ｆｕｌｌ": 8, "…": 1}


@pytest.mark.parametrize(("text", "width"), WIDTHS.items())
def test_columns_are_those_of_a_terminal(text: str, width: int) -> None:
    assert columns(text) == width


@MANY
@given(TEXTS | st.sampled_from(["::error::x", "\u3000::x", "##[x", " ##x", "##"]))
def test_a_line_never_starts_with_a_runner_command(text: str) -> None:
    shown = line_start(text)
    assert not shown.lstrip().startswith(("::", "##"))
    assert shown in (visible(text), "./" + visible(text))
