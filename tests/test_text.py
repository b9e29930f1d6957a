"""Names in sentences are clipped, counted and corrected consistently."""

import pytest

from turnlint.text import MAX_LISTED, did_you_mean, pluralize, quote_name, truncate


def test_only_a_longer_text_is_cut() -> None:
    assert [truncate(text, 3) for text in (None, "", "abc", "abcd")] == [None, "", "abc", "abc…"]


@pytest.mark.parametrize(
    ("count", "nouns", "expected"),
    [
        (1, ("file",), "1 file"),
        (0, ("file",), "0 files"),
        (12_000, ("file",), "12,000 files"),
        (2, ("info",), "2 info"),
        (2, ("entry", "entries"), "2 entries"),
        (1, ("entry", "entries"), "1 entry"),
    ],
)
def test_counts_have_their_plural(count: int, nouns: tuple[str, ...], expected: str) -> None:
    assert pluralize(count, *nouns) == expected


def test_a_quoted_name_is_no_longer_than_a_line() -> None:
    assert quote_name("x" * 64) == f"`{'x' * 64}`"
    assert quote_name("x" * 65) == f"`{'x' * 63}…` (65 characters)"


@pytest.mark.parametrize("wrong", ["leve", "LEVEL", "lvel"])
def test_the_nearest_name_is_suggested(wrong: str) -> None:
    assert did_you_mean(wrong, ["format", "level", "PA201"]) == f"{wrong!r}; did you mean 'level'?"
    assert did_you_mean("pa2o1", ["format", "level", "PA201"]) == "'pa2o1'; did you mean 'PA201'?"


def test_without_a_near_name_some_known_ones_are_listed() -> None:
    assert did_you_mean("\x1b", ["a", "b"]) == r"'\x1b'; expected one of a, b"
    names = [f"name-{number}" for number in range(MAX_LISTED + 2)]
    assert (
        did_you_mean("x" * 99, names)
        == f"'{'x' * 60}…'; expected one of {', '.join(names[:MAX_LISTED])} and 2 more"
    )
