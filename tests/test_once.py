"""What is worked out once, and how much of it is kept."""

from hypothesis import given
from hypothesis import strategies as st

from turnlint.once import Kept, once


class Counted:
    times = 0

    @once
    def answer(self) -> int:
        """All of it."""
        self.times += 1
        return 42


def test_a_property_is_computed_once() -> None:
    one = Counted()
    assert (one.answer, one.answer, one.times) == (42, 42, 1)


def test_a_class_shows_the_property_itself() -> None:
    assert Counted.answer.__doc__ == "All of it."


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 60))))
def test_no_more_is_kept_than_there_is_room_for(asked: list[tuple[int, int]]) -> None:
    kept: Kept[int, int] = Kept(5, 100)
    for key, size in asked:
        if key not in kept:
            assert kept.keep(key, key * key, size) == key * key
        assert kept[key] == key * key
        assert len(kept) <= 5
        assert kept.held <= 100


def test_one_that_is_larger_than_the_room_is_kept_alone() -> None:
    kept: Kept[str, int] = Kept(5, 100)
    kept.keep("small", 1, 50)
    kept.keep("large", 2, 1000)
    assert dict(kept) == {"large": 2}
    kept.keep("small", 3, 50)
    assert dict(kept) == {"small": 3}
