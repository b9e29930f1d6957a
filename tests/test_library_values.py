"""`lint` and `fix` accept Python values without a JSON form, and raise one exception for invalid input."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import examples
from histories import ORPHAN, SOUND, USER, answer, calling, codes
from neighbouring import LINES
from turnlint import fix, lint, testing
from turnlint.carriers import NAMES
from turnlint.library import TurnlintError

FIXTURES = Path(__file__).parent.parent / "fixtures"


def test_values_without_a_json_form_are_returned_unchanged() -> None:
    when = datetime(2026, 11, 18, tzinfo=UTC)
    mine = UUID(int=7)
    given = [
        {**USER, "at": when, "raw": b"\x00\xff", "id": mine, "cost": Decimal("0.10")},
        calling("c1"),
        USER,
        answer("c1"),
    ]
    fixed = fix(given)
    assert fixed.value[0] == given[0]
    assert [item["role"] for item in fixed.value] == ["user", "assistant", "tool", "user"]


def test_numbers_without_a_json_form_are_a_finding() -> None:
    (finding,) = lint([{**USER, "score": float("nan")}])
    assert (finding.code, finding.pointer) == ("ST101", "/0/score")
    assert fix([{**USER, "score": float("inf")}], level="lossy").value == [{**USER, "score": None}]


def test_a_lone_surrogate_is_a_finding() -> None:
    assert codes(lint([{"role": "user", "content": "a\ud83d"}])) == ["ST112"]


def cycle() -> Any:
    message: dict[str, Any] = {"role": "user"}
    message["content"] = [message]
    return [message]


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return [{"role": "user", "content": value}]


def endless() -> Any:
    class Endless:
        def to_dict(self) -> dict[str, Any]:
            return {"role": "user", "content": Endless()}

    return [Endless()]


def failing() -> Any:
    class Failing:
        def to_dict(self) -> dict[str, Any]:
            raise OSError("the \x1b[31m disk\nis gone")

    return [Failing()]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("[]", "got a value of type str; decode it first"),
        (b"[]", "got a value of type bytes; decode it first"),
        (None, "expected a list of messages or a request, got a value of type NoneType"),
        (iter([USER]), "got a value of type list_iterator"),
        (["hello"], f"unrecognized format; pass format= with one of {NAMES[0]}"),
        ({"messages": "hello"}, "unrecognized format"),
        (LINES["kimi"], f"the transcript looks like messages of another chat format; pass format= with one of {NAMES[0]}"),
        ([USER, object()], "/1: a value of type object cannot be written as JSON"),
        ([{**USER, "a/b": {1, 2}}], "/0/a~1b: a value of type set cannot be written as JSON"),
        ([{**USER, "args": {(1, 2): 3}}], "/0/args: a key is a value of type tuple"),
        ([{**USER, "args": {1: "a", "1": "b"}}], "/0/args: two keys are both encoded as '1'"),
        (cycle(), "/0/content/0: a value of type dict contains itself"),
        (deep(5_000), "nested deeper than 300 levels"),
        (endless(), "nested deeper than 300 levels"),
        (failing(), "a value of type Failing cannot be read: the .u{1b}.31m disk$"),
        ([{**USER, "n": 10**5000}], "cannot be written as JSON: Exceeds the limit"),
    ],
)  # fmt: skip
def test_invalid_input_raises_one_exception_with_a_sentence(given: Any, expected: str) -> None:
    for verb in (lint, fix):
        with pytest.raises(TurnlintError, match=expected) as caught:
            verb(given)
        assert "\n" not in str(caught.value)
        assert "\x1b" not in str(caught.value)


def test_deep_but_writable_input_is_read() -> None:
    for levels in (10, 200, 290):
        assert fix(deep(levels)).value == deep(levels)


def test_an_object_at_two_positions_is_no_cycle() -> None:
    shared = {"city": "Paris"}
    given = [{**USER, "a": shared, "b": [shared, shared]}]
    assert fix(given).value == given


def test_a_rule_that_crashes_raises_a_turnlint_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    from turnlint.library import running

    running._book.cache_clear()
    entry = next(
        rule
        for rule in running._book(running.options_of("auto", "auto", (), ())).rules()
        if rule.rule.code == "PA202"
    )

    def crash(_: object) -> Any:
        raise ZeroDivisionError("by\nzero")

    broken = msgspec.structs.replace(entry, check=crash)
    monkeypatch.setattr(running._book(running.options_of("auto", "auto", (), ())), "entries", [broken])
    with pytest.raises(TurnlintError, match=r"rule orphan-result crashed: ZeroDivisionError: by.u{a}zero"):
        lint(ORPHAN)
    fixed = fix(SOUND)
    assert fixed.unverified == ()
    running._book.cache_clear()


JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers(), inner, max_size=4),
    max_leaves=12,
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"])},
    optional={"content": JSON_LIKE, "tool_calls": JSON_LIKE, "tool_call_id": JSON_LIKE, "x": JSON_LIKE},
)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(MESSAGE | JSON_LIKE, max_size=5))
def test_any_value_gives_values_or_a_turnlint_exception_and_stays_unchanged(given: list[Any]) -> None:
    before = repr(given)
    try:
        found = lint(given)
        fixed = fix(given)
    except TurnlintError:
        assert repr(given) == before
        return
    assert repr(given) == before
    if not found:
        assert fixed.changes == ()


def records() -> Iterator[tuple[str, Any]]:
    """Every record of the fixtures that is JSON to Python too, and is a conversation by itself."""
    for path in sorted(FIXTURES.rglob("*.jsonl")):
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            try:
                value = json.loads(line)
                lint(value)
            except ValueError:
                continue
            yield f"{path.stem}:{number}", value


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize("part", range(8))
def test_fixtures_are_fixed_as_the_command_fixes_them(part: int) -> None:
    repaired = 0
    for name, value in islice(records(), part, None, 8):
        text = json.dumps(value).encode()
        found = fix(value, level="lossy")
        try:
            repaired_text = testing.fixed(text, None, "auto")
        except AssertionError:
            assert found.unverified, name
            continue
        wanted = [json.loads(line) for line in repaired_text.splitlines()]
        assert found.value == (wanted[0] if len(wanted) == 1 else wanted), name
        repaired += wanted != [value]
    assert repaired >= 13
