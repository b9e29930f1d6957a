"""Records that differ in names and times only share one entry of the envelope cache."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporting import conversation, lines
from turnlint.carrying.naming import NAMES, mask
from turnlint.carrying.saying import TIMES
from turnlint.testing import rows_of

TEXTS = st.text(st.sampled_from('ab09-_.:+ "\\{}é'), min_size=1, max_size=8)
VALUES = st.recursive(
    TEXTS | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*sorted(NAMES | TIMES), "model", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from([*sorted(NAMES | TIMES), "model", "key"])


def unmasked(value: Any, found: Any) -> Any:
    """Put the values of names back; a time stays out of the comparison."""
    if isinstance(value, dict):
        return {
            key: 0 if key in TIMES and not isinstance(inner, dict | list) else unmasked(inner, found)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [unmasked(inner, found) for inner in value]
    return found.original(value) if isinstance(value, str) else value


@given(st.dictionaries(KEYS, VALUES, max_size=6), st.booleans())
def test_nothing_but_names_and_times_is_masked(record: dict[str, Any], spaced: bool) -> None:
    data = json.dumps(record, separators=(", ", " : ") if spaced else (",", ":")).encode()
    found = mask(data)
    assert unmasked(json.loads(found.envelope), found) == unmasked(record, mask(b""))


def test_a_text_that_looks_like_a_mask_keeps_its_name() -> None:
    data = b'{"key":"turnlint masks name 0","id":"a"}'
    assert mask(data).envelope == data


OFTEN = 40
"""More records than `reading.FEW`, so that the scanner looks at the log."""


@pytest.mark.parametrize("name", ["id", "custom_id", "session_id", "requestId"])
def test_a_finding_names_its_own_record(name: str) -> None:
    records = [
        {name: f"s-{at}", "timestamp": f"2026-01-01 00:00:{at:02}", **conversation(None, sound=at % 10 > 0)}
        for at in range(OFTEN)
    ]
    found = rows_of(lines(*records).encode(), None)
    assert {row.finding.conversation for row in found} == {"s-0", "s-10", "s-20", "s-30"}


@pytest.mark.parametrize("name", [*sorted(NAMES | TIMES)])
def test_records_with_other_names_share_an_envelope(name: str) -> None:
    found = {
        mask(json.dumps({"model": "m", name: f"n-{at}", "messages": []}).encode()).envelope for at in range(5)
    }
    assert len(found) == 1
