"""The last look at a repair: nothing that was written may be gone but what somebody told of."""

import pytest

from turnlint.repair.losses import lost, says_all


@pytest.mark.parametrize(
    ("before", "after", "told", "gone"),
    [
        (b'{"a": "x", "n": 1}', b'{"n": 1, "a": "x"}', b"", False),
        (b'{"a": "x", "b": "y"}', b'{"a": "x"}', b"", True),
        (b'{"a": "x", "b": "y"}', b'{"a": "x"}', b'"y"', False),
        (b'["x", "x"]', b'["x"]', b"", True),
        (b'["x", "x"]', b'["x"]', b'{"piece": "x"}', False),
        (b'{"n": 12345678901234567890}', b'{"n": 1.2345678901234567e19}', b"", True),
        (b'{"is_error": true}', b"{}", b"", True),
        (b'{"key": 1}', b'{"other": 1}', b"", False),
        (b'[{"role": "user", "content": []}]', b"[]", b"", False),
        (rb'["a \" b", "c"]', rb'["c"]', b"", True),
    ],
)
def test_what_is_gone_is_told(before: bytes, after: bytes, told: bytes, *, gone: bool) -> None:
    assert lost([before], [after], [told]) is gone


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        (b'{"role": "tool", "content": "r"}', [b'{"content": [{"text": "r"}]}'], True),
        (b'{"arguments": "{\\"a\\": 1}"}', [b'{"input": {"a": 1}}'], True),
        (b'{"input": {"a": 1}, "cache_control": {"ttl": "5m"}}', [b'{"input": {"a": 1}}'], False),
        (b'{"content": "r", "is_error": true}', [b'{"content": "r"}'], False),
        (b'{"n": 1e400}', [b'{"n": 1}'], False),
        (b'{"a": 1, "a": 2}', [b'{"a": 2}'], False),
        (b'{"status": "error", "content": "r"}', [b'{"content": "r"}'], False),
        (b'["x", "y"]', [b'"x"', b'"y"'], True),
        (b"[" * 100_000, [b"[]"], False),
    ],
)
def test_what_is_written_anew_says_all_that_it_said(
    before: bytes, after: list[bytes], *, whole: bool
) -> None:
    assert says_all(before, after) is whole
