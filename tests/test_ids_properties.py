"""Properties of the ids of any conversation, for profiles of the tests and for all built-in profiles."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

import turnlint
from budgets import examples
from id_conversations import (
    CANONICAL_FORM,
    DEGENERATE,
    EVERY_NEEDING,
    FREE,
    GEMINI,
    MISTRAL,
    OPENAI,
    Turn,
    accepted,
    call_ids,
    conversation,
    pairs_of,
)
from ledger_oracle import BLOCKS, CHAT, ITEMS, JOINED, Conversation, built, outcome_of
from turnlint import ledger
from turnlint.clauses import IdForm
from turnlint.ids import Projection, canonicalize, is_canonical, project, project_ids
from turnlint.ledger import usable
from turnlint.model import Call, Result, Transcript, Wire
from turnlint.profiles import Profile
from turnlint.providers import Providers

ADVERSE = st.one_of(
    st.sampled_from(
        [*DEGENERATE, "callABCDE1", "callABCDE2", "callABCDE", "functions.f:0", "functions.f:1", "f:0", "a|b"]
    ),
    st.sampled_from(
        ["c1", "call_1", "toolu_1", "hist_tool_1", "aaaaaaaaa", "aaaaaaaab", "a.b", "a:b", "a_b", "x" * 41]
    ),
    st.builds("hist_tool_{}".format, st.text("ab", min_size=24, max_size=24)),
    st.text("ab", min_size=9, max_size=9),
    st.text(max_size=12),
    st.text("\u202e\ud800東é\n|", max_size=4),
)
TOOLS = st.sampled_from(["f", "f", "g", "", None, "a b", "東"])
TURNS = st.lists(
    st.lists(st.tuples(ADVERSE, TOOLS, st.sampled_from([b"{}", b"1", b"x" * 80])), max_size=3), max_size=6
)
SOME = settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@EVERY_NEEDING
@SOME
@given(
    turns=TURNS,
    wire=st.sampled_from(["openai-chat", "anthropic", "canonical", "mistral"]),
    anew=st.booleans(),
)
def test_no_two_calls_get_one_id_and_each_fits(
    target: Profile, turns: list[Turn], wire: str, anew: bool
) -> None:
    transcript = conversation(*turns, wire=wire)
    found = project(transcript, None, target, canonical=anew)
    ids = call_ids(found)
    assert len(set(ids)) == len(ids) == sum(map(len, turns))
    assert all(accepted(identifier, target) for identifier in ids)
    assert all(one == [call] * len(one) for call, one in pairs_of(found))
    assert [entry.old for entry in found.entries if entry.piece == "call"] == [
        item[0] for turn in turns for item in turn
    ]
    assert project(conversation(*turns, wire=wire), None, target, canonical=anew) == found
    stored = canonicalize(transcript)
    assert len(set(call_ids(stored))) == len(ids)
    assert all(is_canonical(entry.new) for entry in stored.entries)
    renamed = (entry.new or "" for entry in stored.entries if not is_canonical(entry.old))
    assert all(map(CANONICAL_FORM.match, renamed))


@pytest.mark.parametrize("target", FREE, ids=lambda item: str(item.wires[0]))
@SOME
@given(turns=TURNS)
def test_an_accepted_id_stays_with_its_first_call(target: Profile, turns: list[Turn]) -> None:
    transcript = conversation(*turns, wire=target.wires[0])
    met: set[str | None] = set()
    for entry in project(transcript, None, target).entries:
        if entry.piece == "call":
            good = usable(entry.old) and accepted(entry.old, target) and entry.old not in met
            assert entry.changed is not good
            met.add(entry.old)


@pytest.mark.parametrize("target", FREE, ids=lambda item: str(item.wires[0]))
@SOME
@given(turns=TURNS)
def test_a_second_projection_changes_nothing(target: Profile, turns: list[Turn]) -> None:
    ids = iter(call_ids(project(conversation(*turns, wire=target.wires[0]), None, target)))
    again = conversation(
        *([(next(ids), name, body) for _, name, body in turn] for turn in turns), wire=target.wires[0]
    )
    assert not [*project(again, None, target).changed]


def rewritten(transcript: Transcript, found: Projection) -> Transcript:
    """The conversation under its new ids."""
    new = iter(found.entries)
    messages = [
        structs.replace(
            message,
            blocks=tuple(
                structs.replace(block, id=next(new).new) if isinstance(block, Call | Result) else block
                for block in message.blocks
            ),
        )
        for message in transcript.messages
    ]
    return structs.replace(transcript, messages=tuple(messages))


def partners(book: ledger.Ledger) -> dict[int, str]:
    """The pairs, without their evidence: ids are better evidence afterwards.

    A second result under the id that a call lost has no call before, and is a duplicate afterwards.
    """
    return {
        seq: re.sub(
            r"^repeats .*", "orphan", re.sub(r"^(in-place|late|early|by-position)", "answered by", outcome)
        )
        for seq, outcome in outcome_of(book).items()
    }


IDS = st.sampled_from(["a", "a", "b", "x.y", None, "", "null", "REDACTED", "call_1"])
ITEM = st.tuples(
    st.sampled_from(["call", "call", "result", "result", "text"]),
    IDS,
    st.sampled_from([None, "f", "g"]),
    st.booleans(),
)
CONVERSATIONS = st.lists(
    st.tuples(st.sampled_from(["assistant", "assistant", "tool", "user"]), st.lists(ITEM, max_size=4)),
    max_size=8,
)


@pytest.mark.parametrize("wire", [CHAT, JOINED, BLOCKS, ITEMS], ids=lambda wire: wire.name)
@EVERY_NEEDING
@settings(SOME, max_examples=examples(120))
@given(conversation=CONVERSATIONS)
def test_every_result_keeps_its_call(wire: Wire, target: Profile, conversation: Conversation) -> None:
    transcript = Transcript(wire, tuple(built(conversation)))
    before = ledger.read(transcript.messages, wire)
    for found in (project(transcript, before, target), canonicalize(transcript, before)):
        after = ledger.read(rewritten(transcript, found).messages, wire)
        assert partners(after) == partners(before)


@pytest.mark.slow
@EVERY_NEEDING
def test_ten_thousand_ids_that_differ_only_after_a_length_limit(target: Profile) -> None:
    many = [(f"toolu_01Abc{'x' * 30}.{n}", "f") for n in range(10_000)]
    found = project_ids(many, target)
    assert len(set(found)) == 10_000
    assert all(accepted(item, target) for item in found)
    one_turn: Turn = [("call_0", "f", b"{}")] * 10_000
    assert len(set(call_ids(project(conversation(one_turn), None, target)))) == 10_000


def test_ids_are_the_same_in_every_run() -> None:
    program = (
        "from id_conversations import *\n"
        "from turnlint.ids import *\n"
        "turns = [[(i, 'f', b'{}'), (i, 'g', b'1')] for i in [*DEGENERATE, 'a.b', 'call_1', 'aaaaaaaaa', 'call_1']]\n"
        "said = conversation(*turns)\n"
        "for target in NEEDING: print(project(said, None, target).entries)\n"
        "print(canonicalize(said).entries, turn_keys(said), canonicalize(said).by_id)\n"
    )
    roots = [Path(__file__).parent, Path(turnlint.__file__).parent.parent]
    runs = {
        subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, text=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(map(str, roots))},
        ).stdout
        for seed in ("0", "1", "4711")
    }  # fmt: skip
    assert len(runs) == 1
    assert len(runs.pop()) > 1000


def test_plain_lists_are_projected_like_turns() -> None:
    assert project_ids([("call_1", "f"), ("call_2", "f"), ("call_1", "g")], OPENAI)[:2] == [
        "call_1",
        "call_2",
    ]
    assert project_ids([("callABCDE1", "f"), ("callABCDE2", "f")], MISTRAL) == project_ids(
        [("callABCDE1", "f"), ("callABCDE2", "f")], MISTRAL
    )
    assert project_ids([(None, "f")], GEMINI) == [None]


SHIPPED = Providers(["turnlint_rules"])


@pytest.mark.parametrize("name", SHIPPED.names())
@settings(SOME, max_examples=examples(60))
@given(
    turns=TURNS, wire=st.sampled_from(["own", "openai-chat", "anthropic", "canonical"]), anew=st.booleans()
)
def test_every_built_in_profile_gets_valid_ids(name: str, turns: list[Turn], wire: str, anew: bool) -> None:
    for target in SHIPPED.versions(name):
        transcript = conversation(*turns, wire=target.wires[0] if wire == "own" else wire)
        found = call_ids(project(transcript, None, target, canonical=anew))
        ids = [item for item in found if usable(item)]
        # A provider may take the id of an earlier turn again: then calls keep it, and no other call gets it.
        changed = project(transcript, None, target, canonical=anew).changed
        made = [entry.new for entry in changed if entry.piece == "call"]
        assert all(ids.count(item) == 1 for item in made)
        assert not anew or len(set(ids)) == len(ids)
        assert len(ids) == len(found) or target.wires[0] in ("gemini", "ollama")
        here = transcript.wire.name if transcript.wire.name in target.wires else target.wires[0]
        holding = [
            clause
            for clause in target.clauses
            if not clause.models and (not clause.wires or here in clause.wires)
        ]
        assert all(
            accepted(identifier, structs.replace(target, clauses=tuple(holding))) for identifier in ids
        )
        forms = (item for item in holding if isinstance(item, IdForm) and item.of == "call")
        if any(form.global_count for form in forms):
            # A history that was cut at its start continues to count from its position.
            numbers = [int((identifier or "").rpartition(":")[2]) for identifier in ids]
            assert numbers == [*range(numbers[0], numbers[0] + len(numbers))] if numbers else True
