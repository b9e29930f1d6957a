"""Canonical ids, their prefixes, and the names of turns that they are made of."""

import hashlib
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from id_conversations import (
    CANONICAL_FORM,
    KEYS,
    RECORD,
    Turn,
    call_ids,
    conversation,
)
from turnlint.ids import (
    canonical_id,
    canonicalize,
    is_canonical,
    to_history,
    to_openai,
    turn_keys,
)
from turnlint.model import Call, Message, Transcript, Wire

VECTORS = [
    (("anthropic", "toolu_01A09q90qw90lq917835lq9", "get_weather", "turn-1", 0), "1jLsWxsaeJm9V59uesYxZ41T"),
    (("kimi", "functions.get_weather:0", "get_weather", "turn-1", 0), "HjLQbsgcaV00uTjqMftDJu2O"),
    (("kimi", "functions.get_weather:0", "get_weather", "turn-1", 1), "09_-kFqeq0-p_d2GdFZQ7asZ"),
    (("gemini", None, "get_weather", "turn-1", 0), "MBmBWUVWMIhAWBl89r3g9lNG"),
    (("gemini", "", "get_weather", "turn-1", 0), "MBmBWUVWMIhAWBl89r3g9lNG"),
    ((None, None, None, None, 0), "iSYmLwZQig4mS8E9NA_Y-rkp"),
    ((None, None, None, None, None), "RcoxwzFaWXj0BDiqtGBA116Z"),
    (("openai", "cäll", "東京", "\U0001f30d", 7), "saFJazy87i5WqHqJhMZQWohQ"),
    (("openai", "\ud800", "f", "t", 0), "g8mAK0ve8d7PaKUXe9dvcvTW"),
    (("a", "b", "c", "d", 0), "7mW0en-ECQwJrM7NBBQGSOIv"),
]
"""Made with `openssl dgst -sha256 -binary | basenc --base64url | cut -c1-24`."""


@pytest.mark.parametrize(("parts", "suffix"), VECTORS)
def test_canonical_ids_are_those_of_the_published_vectors(parts: Any, suffix: str) -> None:
    joined = "|".join("" if part is None else str(part) for part in parts).encode("utf-8", "surrogatepass")
    assert urlsafe_b64encode(hashlib.sha256(joined).digest())[:24].decode() == suffix
    assert canonical_id(*parts) == f"hist_tool_{suffix}"
    assert CANONICAL_FORM.match(canonical_id(*parts))
    assert len(canonical_id(*parts)) == len("hist_tool_") + 24


def test_canonical_id_is_idempotent_and_recognizes_its_own_form() -> None:
    once = canonical_id("openai", "call_1", "f", "t", 0)
    assert canonical_id("anthropic", once, "g", "other", 5) == once
    for safe in ("hist_tool_1", once[:-1], once + "x"):  # 001 section 7 has ids such as `hist_tool_1`
        assert is_canonical(safe)
        assert canonical_id("openai", safe, "f", "t", 0) == safe
    for almost in (
        "hist_tool_",
        "hist_tool",
        once + "\n",
        once[:-1] + "é",
        once[:-1] + ".",
    ):
        assert not is_canonical(almost)
        assert canonical_id("openai", almost, "f", "t", 0) not in (almost, once)


PART = st.text(st.characters(exclude_characters="|"), max_size=6)
PARTS = st.tuples(PART, PART, PART, PART, st.integers(0, 9))


@given(PARTS, PARTS)
def test_canonicalizer_is_deterministic_and_differing_inputs_do_not_collide(one: Any, other: Any) -> None:
    assert canonical_id(*one) == canonical_id(*one)
    assert (canonical_id(*one) == canonical_id(*other)) is (one == other)


@pytest.mark.parametrize(
    ("identifier", "openai", "history"),
    [
        ("", "call_", "hist_tool_"),
        ("hist_tool_", "call_", "hist_tool_"),
        ("call_", "call_", "hist_tool_"),
        ("toolu_", "call_", "hist_tool_"),
        ("hist_tool_abc_123_def", "call_abc_123_def", "hist_tool_abc_123_def"),
        ("call_abc_123_def", "call_abc_123_def", "hist_tool_abc_123_def"),
        ("toolu_01Ab", "call_01Ab", "hist_tool_01Ab"),
        ("functions.f:0", "call_functions.f:0", "hist_tool_functions.f:0"),
        ("hist_tool_call_x", "call_call_x", "hist_tool_call_x"),
        ("call_toolu_x", "call_toolu_x", "hist_tool_toolu_x"),
        ("CALL_x", "call_CALL_x", "hist_tool_CALL_x"),
        (" call_x ", "call_ call_x ", "hist_tool_ call_x "),
    ],
)
def test_prefixes_change_and_nothing_else(identifier: str, openai: str, history: str) -> None:
    assert (to_openai(identifier), to_history(identifier)) == (openai, history)


@given(st.text())
def test_prefixes_survive_a_round_trip(rest: str) -> None:
    assert to_history(to_openai(f"hist_tool_{rest}")) == f"hist_tool_{rest}"
    assert to_openai(to_history(f"call_{rest}")) == f"call_{rest}"
    assert to_openai(rest).startswith("call_")
    assert to_history(rest).startswith("hist_tool_")


A, B, C = ([(f"c{n}", "f", b'{"n": %d}' % n)] for n in range(3))


def test_a_turn_has_the_id_from_the_log() -> None:
    transcript = conversation(A, B, C)
    named = [
        structs.replace(message, turn_id="t-7" if index == 2 else None)
        for index, message in enumerate(transcript.messages)
    ]
    keys = turn_keys(structs.replace(transcript, messages=tuple(named)))
    assert keys[1] == "t-7"
    assert (keys[0], keys[2]) == (turn_keys(transcript)[0], turn_keys(transcript)[2])


def test_turn_keys_differ_in_every_part_of_a_call() -> None:
    turns: list[Turn] = [
        [("a", "f", b"{}")], [("b", "f", b"{}")], [("a", "g", b"{}")], [("a", "f", b'{"x":1}')], [(None, "f", b"{}")],
        [("", "f", b"{}")], [("a", None, b"{}")], [("a", "f", b"{}"), ("b", "f", b"{}")],
        [("b", "f", b"{}"), ("a", "f", b"{}")], [("af", "", b"{}")], [("a", "f", b"x" * 65)], [("a", "f", b"x" * 66)],
    ]  # fmt: skip
    assert len(set(turn_keys(conversation(*turns)))) == len(turns)
    server = Call((), KEYS, "a", "f", b"{}", "object", server=True)
    transcript = Transcript(Wire("anthropic"), (Message("assistant", (), (server,), RECORD),))
    assert turn_keys(transcript) != turn_keys(conversation([("a", "f", b"{}")]))


def test_turn_keys_do_not_depend_on_results_or_positions() -> None:
    transcript = conversation(A, B, C)
    keys = turn_keys(transcript)
    assert len(set(keys)) == 3
    cleared = [
        structs.replace(
            message, blocks=tuple(structs.replace(block, body=b'"[cleared]"') for block in message.blocks)
        )
        if message.role == "tool"
        else message
        for message in transcript.messages
    ]
    assert turn_keys(structs.replace(transcript, messages=tuple(cleared))) == keys
    pending = structs.replace(transcript, messages=transcript.messages[:-1])
    assert turn_keys(pending) == keys
    assert turn_keys(conversation(B, C)) == keys[1:]
    assert turn_keys(conversation(A, C)) == (keys[0], keys[2])
    assert turn_keys(conversation(C, B, A)) == keys[::-1]


def test_equal_turns_are_numbered_from_the_first_and_that_is_the_limit() -> None:
    again: Turn = [(None, "poll", b"{}")]
    first, second, third = turn_keys(conversation(again, A, again, B, again))[::2]
    assert len({first, second, third}) == 3
    assert turn_keys(conversation(again, A, again))[::2] == (
        first,
        second,
    )  # appended turns change nothing
    assert turn_keys(conversation(again, again, again)) == (
        first,
        second,
        third,
    )  # neither does the removal of other turns
    assert turn_keys(conversation(again, B, again))[::2] == (
        first,
        second,
    )  # but the removal of an equal turn does
    with_ids = [[(f"c{n}", "poll", b"{}")] for n in range(3)]
    assert turn_keys(conversation(*with_ids[1:])) == turn_keys(conversation(*with_ids))[1:]


def test_calls_under_one_turn_id_are_distinguished_by_their_content() -> None:
    """Some logs give a whole loop of turns one id. The removal of one turn changes the keys of none but the first."""

    def stored(*turns: Turn) -> list[str | None]:
        transcript = conversation(*turns)
        messages = tuple(structs.replace(message, turn_id="loop") for message in transcript.messages)
        return call_ids(canonicalize(structs.replace(transcript, messages=messages)))

    turns: list[Turn] = [[(None, "f", b"%d" % n)] for n in range(4)]
    whole = stored(*turns)
    assert len(set(whole)) == 4
    assert stored(turns[0], turns[2], turns[3]) == [whole[0], *whole[2:]]
    assert stored(turns[0], turns[3]) == [whole[0], whole[3]]
