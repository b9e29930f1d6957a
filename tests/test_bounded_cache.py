"""A bounded cache never exceeds its limits, except for a single larger item."""

from hypothesis import given
from hypothesis import strategies as st

from turnlint.bounded_cache import BoundedCache


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 60))))
def test_the_limits_are_never_exceeded(requests: list[tuple[int, int]]) -> None:
    cache: BoundedCache[int, int] = BoundedCache(5, 100)
    sizes: dict[int, int] = {}
    for key, size in requests:
        if key not in cache:
            sizes[key] = size
            assert cache.put(key, key * key, size) == key * key
        assert cache[key] == key * key
        assert len(cache) <= 5
        assert sum(sizes[key] for key in cache) <= 100


def test_an_item_above_the_limit_is_kept_alone() -> None:
    cache: BoundedCache[str, int] = BoundedCache(5, 100)
    cache.put("small", 1, 50)
    cache.put("large", 2, 1000)
    assert dict(cache) == {"large": 2}
    cache.put("small", 3, 50)
    assert dict(cache) == {"small": 3}
