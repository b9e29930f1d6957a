"""Test the pairing of calls with results against a slow oracle.

Covers `turnlint.ledger`: agreement with a brute-force oracle, properties of every pairing, a table of named cases,
and conversations on which a quadratic algorithm would not finish. Conversations are written in the notation of
`ledger_oracle`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import turnlint
from budgets import examples
from ledger_oracle import (
    BLOCKS,
    CHAT,
    COUNTED,
    ITEMS,
    JOINED,
    TEXT,
    Conversation,
    Item,
    built,
    flatten,
    oracle,
    outcome_of,
    parse_conversation,
    pieces_of,
    read,
)
from turnlint import ledger
from turnlint.model import Call, Result, Wire

EVERY_WIRE = pytest.mark.parametrize(
    "wire", [CHAT, JOINED, BLOCKS, ITEMS, COUNTED], ids=lambda wire: wire.name
)

ANY_ID = st.sampled_from(["a", "a", "a", "b", None, "", "null", "REDACTED"])
ANY_NAME = st.sampled_from([None, "f", "g"])


def any_message(
    ids: st.SearchStrategy[str | None], names: st.SearchStrategy[str | None], own: st.SearchStrategy[bool]
) -> st.SearchStrategy[tuple[str, list[Item]]]:
    call = st.tuples(st.just("call"), ids, names, own)
    result = st.tuples(st.just("result"), ids, names, own)
    asking = st.one_of(call, call, call, result, st.just(TEXT))
    answering = st.one_of(result, result, result, result, st.just(TEXT), call)
    return st.one_of(
        st.tuples(st.just("assistant"), st.lists(asking, max_size=4)),
        st.tuples(st.sampled_from(["tool", "tool", "user"]), st.lists(answering, max_size=3)),
        st.tuples(st.sampled_from(["tool", "user"]), st.lists(result, min_size=1, max_size=3)),
        st.tuples(st.sampled_from(["user", "system"]), st.just([TEXT])),
    )


def conversations(*, server: bool) -> st.SearchStrategy[Conversation]:
    """Arbitrary items; or a single id, so that several turns have open calls of it more often than by chance."""
    own = st.booleans() if server else st.just(False)
    mixed = any_message(ANY_ID, ANY_NAME, own)
    alone = any_message(st.just("a"), st.none(), own)
    return st.one_of(st.lists(mixed, max_size=10), st.lists(alone, max_size=8))


SOME = settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
MANY = settings(SOME, max_examples=examples(1200))


def with_own_ids(conversation: Conversation) -> Conversation:
    """The conversation with an id for each call; `test_evidence` tests shared and lost ids."""
    met: dict[str, int] = {}
    found: Conversation = []
    for role, items in conversation:
        own: list[Item] = []
        for kind, identifier, name, server in items:
            flatten = identifier if identifier in ("a", "b") or kind == "text" else "c"
            if kind == "call":
                count = met[str(flatten)] = met.get(str(flatten), -1) + 1
                flatten = f"{flatten}{count}" if count else flatten
            own.append((kind, flatten, name, server))
        found.append((role, own))
    return found


@EVERY_WIRE
@pytest.mark.parametrize("server", [False, True], ids=["own-tools", "provider-tools"])
@pytest.mark.hypothesis
def test_ledger_agrees_with_the_oracle(wire: Wire, server: bool) -> None:
    @MANY
    @given(conversations(server=server).map(with_own_ids))
    def agree(conversation: Conversation) -> None:
        book = read(conversation, wire)
        assert (outcome_of(book), book.tidy) == oracle(conversation, wire)
        turns = [item.turn for item in flatten(pieces_of(conversation, wire)) if item.kind == "call"]
        assert [interaction.asked.turn for interaction in book.interactions] == turns

    agree()


@EVERY_WIRE
@SOME
@given(conversation=conversations(server=True))
def test_every_occurrence_is_in_exactly_one_place(wire: Wire, conversation: Conversation) -> None:
    messages = built(conversation)
    book = ledger.read(messages, wire)
    answers = [interaction.answer for interaction in book.interactions if interaction.answer]
    placed = [*answers, *(again for again, _ in book.duplicates), *book.orphans]
    occurrences = [interaction.asked for interaction in book.interactions]
    blocks = [block for message in messages for block in message.blocks]
    assert [occurrence.call for occurrence in occurrences] == [
        block for block in blocks if isinstance(block, Call)
    ]
    found = sorted((item.result for item in placed), key=lambda result: result.at)
    assert found == [block for block in blocks if isinstance(block, Result)]
    assert sorted(item.seq for item in (*occurrences, *placed)) == list(range(len(occurrences) + len(placed)))
    assert all((interaction.how is None) == (interaction.answer is None) for interaction in book.interactions)
    assert all(one.answer is not None for _, one in book.duplicates)
    assert not any(interaction.pending and interaction.answer for interaction in book.interactions)


@EVERY_WIRE
@SOME
@given(conversation=conversations(server=True))
def test_provider_tools_and_own_tools_never_answer_each_other(wire: Wire, conversation: Conversation) -> None:
    book = read(conversation, wire)
    zones = {item.seq: (item.turn, item.zone) for item in flatten(pieces_of(conversation, wire))}
    for one in book.interactions:
        if one.answer is None:
            continue
        assert one.answer.result.server == one.asked.call.server
        if one.asked.call.server and one.how in ("in-place", "by-position") and not wire.anywhere:
            assert zones[one.answer.seq] == zones[one.asked.seq]
            assert one.asked.seq < one.answer.seq
    assert all(again.result.server == one.asked.call.server for again, one in book.duplicates)


@st.composite
def shuffled_windows(draw: st.DrawFn) -> tuple[Conversation, Conversation]:
    """Distinct ids, results in any turn's window or missing; and the same with each window's results shuffled."""
    some_turn = st.one_of(st.none(), st.integers(0, 3))
    places = draw(st.lists(st.tuples(some_turn, some_turn), max_size=10))
    cuts = draw(st.lists(st.booleans(), min_size=10, max_size=10))
    first: Conversation = []
    second: Conversation = []
    for turn in range(4):
        calls = [
            ("call", f"c{n}", "f", False) for n, (call_turn, _) in enumerate(places) if call_turn == turn
        ]
        results = [("result", f"c{n}", "f", False) for n, (_, given_) in enumerate(places) if given_ == turn]
        for conversation, order in ((first, results), (second, draw(st.permutations(results)))):
            conversation += [("user", [TEXT]), ("assistant", calls)]
            for n, result in enumerate(order):
                if n == 0 or cuts[n]:
                    conversation.append(("tool", []))
                conversation[-1][1].append(result)
    return first, second


def by_identity(book: ledger.Ledger) -> object:
    pairs = {
        interaction.asked.call.id: (
            interaction.answer and interaction.answer.result.id,
            interaction.how,
            interaction.pending,
        )
        for interaction in book.interactions
    }
    return pairs, len(book.duplicates), {orphan.result.id for orphan in book.orphans}, book.tidy


@EVERY_WIRE
@SOME
@given(both=shuffled_windows())
def test_results_of_one_turn_may_come_in_any_order(
    wire: Wire, both: tuple[Conversation, Conversation]
) -> None:
    first, second = both
    assert by_identity(read(first, wire)) == by_identity(read(second, wire))


@st.composite
def tidy_conversations(draw: st.DrawFn, wire: Wire) -> Conversation:
    """Sound by construction: all items that a wire allows between turns, and none between a call and its result."""
    conversation: Conversation = []
    for turn in range(draw(st.integers(0, 4))):
        conversation += [("user", [TEXT])] * draw(st.integers(not turn, 2))
        names = [f"t{turn}c{n}" for n in range(draw(st.integers(0, 3)))]
        asking: list[Item] = [TEXT, *(("call", name, "f", False) for name in names)]
        if draw(st.booleans()):
            asking += [("call", f"s{turn}", "g", True), TEXT, ("result", f"s{turn}", None, True)]
        cut = draw(st.integers(0, len(asking))) if wire.joins else 0
        conversation += [("assistant", part) for part in (asking[:cut], asking[cut:]) if part]
        role = draw(st.sampled_from(sorted(wire.window)))
        for name in draw(st.permutations(names)):
            if name == names[0] or conversation[-1][0] == "assistant" or draw(st.booleans()):
                conversation.append((role, []))
            conversation[-1][1].append(("result", name, draw(st.sampled_from([None, "f"])), False))
        if names and draw(st.booleans()):
            conversation[-1][1].append(TEXT)
        conversation += [("system", [TEXT])] * draw(st.integers(0, 1))
    return conversation


@EVERY_WIRE
@pytest.mark.hypothesis
def test_a_prefix_of_a_tidy_conversation_lacks_only_later_results(wire: Wire) -> None:
    @SOME
    @given(tidy_conversations(wire))
    def check_prefixes(conversation: Conversation) -> None:
        assert read(conversation, wire).tidy
        for length in range(len(conversation)):
            book = read(conversation[:length], wire)
            open_calls = list(book.pending)
            assert book.tidy == (not open_calls)
            assert all(
                interaction.how == "in-place"
                for interaction in book.interactions
                if interaction not in open_calls
            )
            assert not book.duplicates
            assert not book.orphans

    check_prefixes()


CASES = [
    ("nothing at all", CHAT, "", "tidy"),
    ("one call, one result", CHAT, "user ~ / assistant ?a / tool !a / assistant ~", "0 in-place 1, tidy"),
    ("results in another order", CHAT, "assistant ?a ?b / tool !b / tool !a", "0 in-place 3, 1 in-place 2, tidy"),
    ("id reused in a later turn", CHAT, "assistant ?a / tool !a / assistant ?a / tool !a", "0 in-place 1, 2 in-place 3"),
    ("id reused, the last one open", CHAT, "assistant ?a / tool !a / assistant ?a", "0 in-place 1, 2 pending"),
    ("two calls with one id in a turn", CHAT, "assistant ?a ?a / tool !a / tool !a", "0 in-place 2, 1 in-place 3"),
    ("late result", CHAT, "assistant ?a ?b / tool !b / assistant ~ / tool !a", "0 late 3, 1 in-place 2"),
    ("late result in another turn's window", CHAT, "assistant ?a / assistant ?b / tool !a / tool !b", "0 late 2, 1 in-place 3"),
    ("early result", CHAT, "user ~ / tool !a / assistant ?a / assistant ~", "1 early 0"),
    ("early result beside one whose call is gone, and another turn before the call", CHAT, "tool !a !b / assistant ~ / user ~ / assistant ?c / tool !c / assistant ?a / assistant ~", "0 orphan, 1 orphan, 2 in-place 3, 4 unanswered"),
    ("early result beside one whose call is gone, directly before its call", CHAT, "tool !a !b / assistant ?a / assistant ~", "1 orphan, 2 early 0"),
    ("early result that two calls claim", CHAT, "tool !a / assistant ?a / assistant ?a", "0 orphan, 1 unanswered, 2 pending"),
    ("early result in front of a call that is answered", CHAT, "tool !a / assistant ?a / tool !a", "0 orphan, 1 in-place 2"),
    ("result that repeats an answered call", CHAT, "assistant ?a / tool !a / tool !a", "0 in-place 1, 2 repeats 0"),
    ("repeated later", CHAT, "assistant ?a / tool !a / user ~ / assistant ~ / tool !a", "0 in-place 1, 2 repeats 0"),
    ("repeats the nearer of two", CHAT, "assistant ?a / tool !a / assistant ?a / tool !a / tool !a", "0 in-place 1, 2 in-place 3, 4 repeats 2"),
    ("a copy is no early answer to a reused id", CHAT, "assistant ?a / tool !a / tool !a / assistant ?a", "0 in-place 1, 2 repeats 0, 3 pending"),
    ("no ids, in order", CHAT, "assistant ?- ?- / tool !- / tool !-", "0 by-position 2, 1 by-position 3"),
    ("no ids, by name", CHAT, "assistant ?-.f ?-.g ?-.f / tool !-.g / tool !-.f / tool !-", "0 by-position 4, 1 by-position 3, 2 by-position 5"),
    ("no ids, names that disagree", CHAT, "assistant ?-.f / tool !-.g", "0 pending, 1 orphan"),
    ("ids that a scrubber took", CHAT, "assistant ?REDACTED ?REDACTED / tool !REDACTED / tool !REDACTED", "0 by-position 2, 1 by-position 3"),
    ("only the result lost its id", CHAT, "assistant ?a ?b / tool !b / tool !-", "0 by-position 3, 1 in-place 2"),
    ("only the call lost its id", CHAT, "assistant ?- / tool !x", "0 by-position 1"),
    ("no ids, outside the window", CHAT, "assistant ?- / user ~ / tool !-", "0 late 1"),
    ("two turns wait, results after the second", CHAT, "assistant ?a / user ~ / assistant ?a / tool !a / tool !a", "0 late 2, 1 in-place 3"),
    ("two turns wait, one result after the second", CHAT, "assistant ?a / user ~ / assistant ?a / tool !a", "0 unanswered, 1 in-place 2"),
    ("two turns wait, both results outside", CHAT, "assistant ?a / assistant ?a / user ~ / tool !a / tool !a", "0 late 2, 1 late 3"),
    ("two turns wait, one result outside", CHAT, "assistant ?a / assistant ?a / user ~ / tool !a", "0 unanswered, 1 late 2"),
    ("a result has come before the second turn", CHAT, "assistant ?a / user ~ / tool !a / assistant ?a / tool !a / tool !a", "0 late 1, 2 in-place 3, 4 repeats 2"),
    ("a shared window, then a copy", CHAT, "assistant ?a / assistant ?a / tool !a !a / assistant ?a / tool !a !a", "0 late 2, 1 in-place 3, 4 in-place 5, 6 repeats 4"),
    ("early result behind a call in its own message", CHAT, "tool ?a !b / tool !a !a / assistant ?c / assistant ?b", "0 in-place 2, 3 repeats 0, 4 unanswered, 5 early 1"),
    ("orphan at the head", CHAT, "tool !x / user ~ / assistant ?a / tool !a", "0 orphan, 1 in-place 2"),
    ("a user between", CHAT, "assistant ?a / user ~ / tool !a", "0 late 1"),
    ("a user between, in the window", BLOCKS, "assistant ?a / user ~ / user !a", "0 in-place 1"),
    ("a user last in the window", BLOCKS, "assistant ?a / user ~", "0 unanswered"),
    ("a user between some results", BLOCKS, "assistant ?a ?b / user ~ / user !a", "0 in-place 2, 1 unanswered"),
    ("a user between shuts the window for siblings", CHAT, "assistant ?a ?b / tool !a / user ~ / tool !b", "0 in-place 2, 1 late 3"),
    ("a system message between", BLOCKS, "assistant ?a / system ~ / user !a", "0 late 1"),
    ("text after the results", BLOCKS, "assistant ?a / user !a ~", "0 in-place 1, tidy"),
    ("text after some results", BLOCKS, "assistant ?a ?b / user !a ~", "0 in-place 2, 1 unanswered"),
    ("some results, nothing after", BLOCKS, "assistant ?a ?b / user !a", "0 in-place 2, 1 pending"),
    ("an empty message after the call", CHAT, "assistant ?a / tool", "0 unanswered"),
    ("assistant messages apart", CHAT, "assistant ?a / assistant ?b / tool !b", "0 unanswered, 1 in-place 2"),
    ("assistant messages joined", BLOCKS, "assistant ?a / assistant ?b / user !b !a", "0 in-place 3, 1 in-place 2, tidy"),
    ("a call in a user message", CHAT, "user ~ ?a / tool !a", "0 in-place 1, tidy"),
    ("a result in the message that asks", CHAT, "assistant ?a !a", "0 late 1"),
    ("provider's tool", BLOCKS, "assistant $?s $!s ~", "0 in-place 1, tidy"),
    ("provider's tool still at work", BLOCKS, "assistant ?a $?s / user !a", "0 in-place 2, 1 pending"),
    ("provider's result under a user", BLOCKS, "assistant $?s / user $!s", "0 late 1"),
    ("provider's result before its call", BLOCKS, "assistant ?a $!s $?s / user !a", "0 in-place 3, 2 early 1"),
    ("provider's result without id before its call", BLOCKS, "assistant $?s $!- $!s $?-", "0 in-place 2, 1 orphan, 3 pending"),
    ("one id on both sides", BLOCKS, "assistant ?a $?a $!a / user !a", "0 in-place 3, 1 in-place 2"),
    ("our results for an open call of the provider's", BLOCKS, "assistant $?a / user ~ / assistant ?a / user !a !a", "0 unanswered, 1 in-place 2, 3 repeats 1"),
    ("provider's results for an open call of ours", BLOCKS, "assistant ?a / user ~ / assistant $?a $!a $!a", "0 unanswered, 1 in-place 2, 3 repeats 1"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("wire", "text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_named_case(wire: Wire, text: str, expected: str) -> None:
    outcome, tidy = (
        outcome_of(book := read(parse_conversation(text), wire)),
        oracle(parse_conversation(text), wire)[1],
    )
    shown = [f"{seq} {what}" for seq, what in sorted(outcome.items())]
    assert ", ".join(shown + ["tidy"] * book.tidy) == expected
    assert book.tidy == tidy


@EVERY_WIRE
@SOME
@given(conversation=conversations(server=True))
def test_reading_twice_gives_the_same(wire: Wire, conversation: Conversation) -> None:
    assert read(conversation, wire) == read(conversation, wire)


def outcome_of_collisions() -> str:
    """One long conversation full of collisions, with its outcome in the order of the ledger."""
    ids = ["a", "b", "c", "d", None, "", "REDACTED"]
    roles = ["assistant", "tool", "assistant", "tool", "tool", "user"]
    kinds = {"assistant": "call", "tool": "result", "user": "text"}
    conversation: Conversation = [
        (
            roles[n * n % 11 % 6],
            [(kinds[roles[n * n % 11 % 6]], ids[(n * 5 + k * n) % 7], None, k == 3) for k in range(n % 4)],
        )
        for n in range(400)
    ]
    conversation += [("assistant", [("call", None, "p", False)]), ("tool", [("result", None, "p", False)])]
    return repr(list(outcome_of(read(conversation, CHAT)).items()))


def test_the_order_of_hashes_does_not_matter() -> None:
    sources = os.pathsep.join((str(Path(turnlint.__file__).parents[1]), str(Path(__file__).parent)))
    script = "import runpy, sys; print(runpy.run_path(sys.argv[1])['outcome_of_collisions']())"
    printed = [
        subprocess.run(
            [sys.executable, "-c", script, __file__],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": sources},
            capture_output=True, check=True, text=True,
        ).stdout.strip()
        for seed in ("1", "2")
    ]  # fmt: skip
    assert printed == [outcome_of_collisions()] * 2
    assert all(
        word in printed[0] for word in ("in-place", "late", "by-position", "unanswered", "repeats", "orphan")
    )


HEAPS = [
    ("a turn of many calls", "assistant " + "".join(f"?{n} " for n in range(50_000)) + "/ tool " + "".join(f"!{n} " for n in reversed(range(50_000))), (50_000, 0, 0, 0)),
    ("many calls and results with one id", "assistant " + "?a " * 10_000 + "/ tool " + "!a " * 10_000, (10_000, 0, 0, 0)),
    ("many results for one call", "assistant ?a / tool " + "!a " * 10_000, (1, 0, 9_999, 0)),
    ("many results before their call", "tool " + "!a " * 10_000 + "/ assistant ?a", (1, 0, 0, 9_999)),
    ("many open calls", "assistant ?a / " * 10_000, (0, 10_000, 0, 0)),
    ("many open calls, one result too many", "assistant ?a / " * 10_000 + "tool !a !a", (2, 9_998, 0, 0)),
    ("many open calls, as many results", "assistant ?a / " * 10_000 + "user ~ / tool " + "!a " * 10_000, (10_000, 0, 0, 0)),
    ("many open calls, fewer results", "assistant ?a / " * 10_000 + "user ~ / tool " + "!a " * 9_999, (9_999, 1, 0, 0)),
    ("many turns with a result too many", "assistant ?a / tool !a !a / " * 20_000, (20_000, 0, 20_000, 0)),
    ("many pairs of turns that share a window", "assistant ?a / assistant ?a / tool !a !a / " * 10_000, (20_000, 0, 0, 0)),
    ("many windows among ever more open calls", "assistant ?a / assistant ?a / assistant ?a / tool !a !a / " * 7_000, (14_000, 7_000, 0, 0)),
    ("many calls without ids", "assistant " + "?- " * 10_000 + "/ tool " + "!- " * 10_000, (10_000, 0, 0, 0)),
    ("many names that disagree", "assistant " + "?-.f " * 10_000 + "?-.g " * 10_000 + "/ tool " + "!-.g " * 20_000, (0, 20_000, 0, 20_000)),
]  # fmt: skip
"""Numbers of answered calls, open calls, duplicates and orphans in conversations on which a quadratic algorithm would
not finish.
"""


@pytest.mark.parametrize(("text", "counts"), [heap[1:] for heap in HEAPS], ids=[heap[0] for heap in HEAPS])
def test_many_occurrences_are_paired(text: str, counts: tuple[int, int, int, int]) -> None:
    book = read(parse_conversation(text), CHAT)
    answered = sum(interaction.answer is not None for interaction in book.interactions)
    found = (answered, len(book.interactions) - answered, len(book.duplicates), len(book.orphans))
    assert found == counts
