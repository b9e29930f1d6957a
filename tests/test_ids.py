"""The id that each call and result gets, case by case."""

import re

import pytest
from msgspec import structs

from id_conversations import (
    ANTHROPIC,
    CANONICAL_FORM,
    DEGENERATE,
    EVERY_NEEDING,
    EVIDENCE,
    FREE,
    GEMINI,
    KEYS,
    KIMI,
    MISTRAL,
    NINE,
    OPENAI,
    RECORD,
    RESPONSES,
    SAFE,
    Turn,
    accepted,
    call_ids,
    conversation,
    pairs_of,
    profile,
)
from turnlint.clauses import IdForm
from turnlint.errors import NoFittingIdError
from turnlint.ids import canonical_id, canonicalize, is_canonical, project, project_ids, to_openai, turn_keys
from turnlint.ledger import usable
from turnlint.model import Call, Keys, Message, Request, Result, Transcript, Wire
from turnlint.profiles import Profile

A, B, C = ([(f"c{n}", "f", b'{"n": %d}' % n)] for n in range(3))


def test_kimi_to_anthropic_switch() -> None:
    """Every id of the old provider is replaced by a valid one, and every result still belongs to its call."""
    transcript = conversation(
        [("functions.read:0", "read", b"1"), ("functions.read:1", "read", b"2")],
        [("functions.write:2", "write", b"3")],
        [("functions.read:0", "read", b"4")],  # the counter started again
    )
    stored = canonicalize(transcript, provider="kimi")
    assert all(CANONICAL_FORM.match(entry.new or "") for entry in stored.entries)
    keys = turn_keys(transcript)
    assert call_ids(stored)[1] == canonical_id("kimi", "functions.read:1", "read", keys[0], 1)
    switched = project(transcript, None, ANTHROPIC)
    assert all(re.fullmatch(r"toolu_[a-zA-Z0-9_-]{24}", entry.new or "") for entry in switched.entries)
    for found in (stored, switched):
        assert len(set(call_ids(found))) == 4
        assert all(results == [call] for call, results in pairs_of(found))


def test_mistral_stability_and_collisions() -> None:
    transcript = conversation(A, B, C)
    found = project(transcript, None, MISTRAL)
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", entry.new or "") for entry in found.entries)
    assert all(results == [call] for call, results in pairs_of(found))
    assert call_ids(project(conversation(B, C), None, MISTRAL)) == call_ids(found)[1:]
    assert project(transcript, None, MISTRAL, canonical=True) == found
    wanted = call_ids(found)[1] or ""
    late = conversation(A, B, C, [(wanted, "f", b"{}")])  # another call has exactly the id that B would get
    crowded = call_ids(project(late, None, MISTRAL))
    assert crowded[3] == wanted
    assert crowded[1] != wanted
    assert (crowded[0], crowded[2]) == (call_ids(found)[0], call_ids(found)[2])
    assert len(set(crowded)) == 4
    renamed = conversation(A, B, C, [("aaaaaaaaa", "f", b"{}"), (wanted, "g", b"{}")])
    assert call_ids(project(renamed, None, MISTRAL))[4] == wanted


def test_a_new_id_is_none_of_the_old_ids() -> None:
    letter = profile("openai-chat", IdForm(pattern="[a-z]{1}", wants="a letter", **EVIDENCE))
    transcript = conversation([(item, "f", b"{}") for item in "abcdefghijklm"])
    found = project(transcript, None, letter, canonical=True)
    assert sorted(identifier or "" for identifier in call_ids(found)) == list("nopqrstuvwxyz")


def test_ids_too_short_to_differ_by_chance_are_salted_until_they_differ() -> None:
    two = profile("openai-chat", IdForm(pattern="[a-z]{2}", wants="two", **EVIDENCE))
    found = project_ids([(f"call_{n}", "f") for n in range(300)], two)
    assert len(set(found)) == 300
    assert all(re.fullmatch("[a-z]{2}", item or "") for item in found)
    digit = profile("openai-chat", IdForm(pattern="[0-9]{1}", wants="one digit", **EVIDENCE))
    assert len(set(project_ids([(f"call_{n}", "f") for n in range(10)], digit))) == 10
    with pytest.raises(NoFittingIdError, match="more calls than ids"):
        project_ids([(f"call_{n}", "f") for n in range(11)], digit)
    nothing = profile("openai-chat", SAFE, IdForm(pattern=r"\.+", wants="dots", **EVIDENCE))
    assert project_ids([], nothing) == []
    with pytest.raises(NoFittingIdError, match="no id can be"):
        project_ids([("call_1", "f")], nothing)


def test_responses_pair() -> None:
    """A function call and its output have one `call_id`, for any length of the logged id."""
    transcript = conversation(
        [("call_" + "x" * 111, "f", b"{}"), ("call_ok", "g", b"{}")], wire="openai-responses"
    )
    found = project(transcript, None, RESPONSES)
    assert [results for _, results in pairs_of(found)] == [[call] for call in call_ids(found)]
    assert re.fullmatch("call_[A-Za-z0-9_-]{24}", call_ids(found)[0] or "")
    assert call_ids(found)[1] == "call_ok"
    stored = canonicalize(transcript)
    for entry, kept in zip(
        project(transcript, None, RESPONSES, canonical=True).entries, stored.entries, strict=True
    ):
        assert entry.new == to_openai(kept.new or "")


@pytest.mark.parametrize("target", FREE, ids=lambda item: str(item.wires[0]))
def test_replay_stability_under_compression(target: Profile) -> None:
    """After the removal of any part of a history, the other ids are unchanged."""
    names = ["f", "g"]
    turns: list[Turn] = [
        [(f"functions.{names[t % 2]}:{t}.{n}" + "x" * 60, names[t % 2], b"%d" % n) for n in range(t % 3 + 1)]
        for t in range(8)
    ]
    turns[3] = [(None, "f", b"3")]
    turns[5] = [("call_kept1", "f", b"5")]

    def by_turn(kept: list[int]) -> dict[int, list[list[str | None]]]:
        transcript = conversation(*(turns[t] for t in kept))
        found = [
            project(transcript, None, target),
            project(transcript, None, target, canonical=True),
            canonicalize(transcript),
        ]
        ids = [iter(call_ids(item)) for item in found]
        return {t: [[next(identifier) for _ in turns[t]] for identifier in ids] for t in kept}

    whole = by_turn(list(range(8)))
    for kept in ([4, 5, 6, 7], [0, 1, 7], [0, 2, 4, 6], [3], [7], [0, 1, 2, 3]):
        assert by_turn(kept) == {t: whole[t] for t in kept}


def test_ids_replayed_in_canonical_form_give_the_same_ids_as_raw_ones() -> None:
    transcript = conversation(A, B, [("c9", "f", b"{}"), (None, "f", b"{}")])
    names = call_ids(canonicalize(transcript))
    replayed = conversation(
        *(
            [(next(ids), name, body) for _, name, body in turn]
            for ids in [iter(names)]
            for turn in (A, B, [("", "f", b"{}")] * 2)
        )
    )
    assert call_ids(canonicalize(replayed)) == names
    assert not [*canonicalize(replayed).changed]
    for target in FREE:
        assert call_ids(project(replayed, None, target, canonical=True)) == call_ids(
            project(transcript, None, target, canonical=True)
        )


def test_legacy_ids_are_made_canonical_once_with_a_map_for_their_results() -> None:
    known = canonical_id("x", "x", "x", "x", 0)
    legacy = "hist_tool_functions.f:0"
    transcript = conversation(
        [(legacy, "f", b"{}"), (known, "g", b"{}"), ("hist_tool_1", "g", b"{}")], wire="canonical"
    )
    stored = canonicalize(transcript)
    once = stored.by_id[legacy]
    assert len(once) == 1
    assert is_canonical(once[0])
    assert stored.by_id[known] == (known,)
    assert stored.by_id["hist_tool_1"] == ("hist_tool_1",)
    assert [results for _, results in pairs_of(stored)] == [[once[0]], [known], ["hist_tool_1"]]
    assert {entry.old for entry in stored.changed} == {legacy}


def test_an_internal_id_crosses_to_a_provider_under_its_prefix() -> None:
    known = canonical_id("x", "x", "x", "x", 0)
    transcript = conversation(
        [(known, "f", b"{}"), ("hist_tool_1", "f", b"{}"), ("call_1", "f", b"{}")], wire="canonical"
    )
    rest = known.removeprefix("hist_tool_")
    assert call_ids(project(transcript, None, ANTHROPIC)) == [f"toolu_{rest}", "toolu_1", "call_1"]
    first, second, third = call_ids(project(transcript, None, OPENAI))
    assert (first, third) == (f"call_{rest}", "call_1")  # only the provider of that spelling has it
    assert second not in (None, "call_1", "hist_tool_1")
    in_place = structs.replace(transcript, wire=Wire("openai-chat"))
    assert not [*project(in_place, None, OPENAI).changed]


def test_kimi_counts_calls_through_the_request() -> None:
    transcript = conversation(
        [("functions.read:0", "read", b"1"), ("call_x", "my tool", b"2")], [("read:2", "read", b"3")],
        [("functions.read:0", "read", b"4"), (None, None, b"5")],
    )  # fmt: skip
    found = project(transcript, None, KIMI)
    assert call_ids(found) == [
        "functions.read:0",
        "functions.my_tool:1",
        "read:2",
        "functions.read:3",
        "functions.tool:4",
    ]
    assert all(results == [call] for call, results in pairs_of(found))
    assert call_ids(project(transcript, None, KIMI, canonical=True))[2] == "functions.read:2"


@EVERY_NEEDING
@pytest.mark.parametrize("wire", ["openai-chat", "anthropic", "canonical"])
def test_blank_and_redacted_ids_become_distinct_ones(target: Profile, wire: str) -> None:
    transcript = conversation(
        *([(item, "f", b"{}"), (item, "f", b"{}")] for item in DEGENERATE * 2), wire=wire
    )
    found = project(transcript, None, target)
    ids = call_ids(found)
    assert len(set(ids)) == len(DEGENERATE) * 4
    assert all(usable(identifier) and accepted(identifier, target) for identifier in ids)
    assert all(results == [call] for call, results in pairs_of(found))
    assert project(transcript, None, target) == found


def test_optional_missing_ids_stay_missing() -> None:
    transcript = conversation([(None, "f", b"{}"), ("c1", "f", b"{}"), ("", "f", b"{}")], wire="gemini")
    assert not [*project(transcript, None, GEMINI).changed]
    required = profile("gemini", IdForm(wants="an id", required=True, **EVIDENCE))
    assert len({*call_ids(project(transcript, None, required)), None}) == 4
    assert len({*call_ids(project(transcript, None, ANTHROPIC)), None}) == 4


def test_a_rewritten_result_without_an_id_gets_the_id_of_its_call() -> None:
    call = Call((0,), KEYS, "x", "f", b"{}", "object")
    result = Result((0,), KEYS, None, "f", b"", needs_id=False)
    messages = (Message("assistant", (0,), (call,), RECORD), Message("tool", (1,), (result,), RECORD))

    def becomes(wire: str, target: Profile) -> list[str | None]:
        return [entry.new for entry in project(Transcript(Wire(wire), messages), None, target).entries]

    assert becomes("gemini", GEMINI) == ["x", None]
    assert becomes("openai-chat", GEMINI) == ["x", "x"]
    assert becomes("gemini", ANTHROPIC) == ["x", "x"]


def test_a_call_without_a_position_for_an_id_stays_unchanged() -> None:
    keys = Keys(("name",), ("name",), ("arguments",))
    call = Call(("function_call",), keys, None, "f", b"{}", "object", needs_id=False)
    result = Result((), KEYS, None, "f", b"done", needs_id=False)
    messages = (Message("assistant", (0,), (call,), RECORD), Message("tool", (1,), (result,), RECORD))
    transcript = Transcript(Wire("openai-chat", idless=True), messages)
    assert not [*project(transcript, None, OPENAI).changed]
    assert not [*project(transcript, None, OPENAI, canonical=True).changed]
    call_entry, answered = project(transcript, None, ANTHROPIC).entries
    assert call_entry.new == answered.new is not None
    assert (call_entry.bearing, answered.bearing) == (False, True)


def test_results_without_a_call_get_their_own_ids() -> None:
    def result(identifier: str | None, body: bytes, place: int) -> Message:
        return Message("tool", (place,), (Result((), KEYS, identifier, None, body),), RECORD)

    some = [
        ("a.b", b"1"),
        ("fine", b"2"),
        (None, b"3"),
        (None, b"4"),
        (None, b"4"),
        ("a.b", b"5"),
        ("a:b", b"6"),
    ]
    transcript = Transcript(
        Wire("openai-chat"), tuple(result(*item, place) for place, item in enumerate(some))
    )
    found = project(transcript, None, ANTHROPIC)
    ids = [entry.new for entry in found.entries]
    assert {entry.number for entry in found.entries} == {-1}
    assert ids[1] == "fine"
    assert ids[0] == ids[5]  # two results of one call that the conversation lacks
    assert len(set(ids)) == 6
    assert all(accepted(identifier, ANTHROPIC) for identifier in ids)
    first = ids[0] or ""
    both = [Result((), KEYS, "fine", None, b"", server=server) for server in (False, True)]
    alike = tuple(Message("assistant", (place,), (item,), RECORD) for place, item in enumerate(both))
    assert not [*project(Transcript(Wire("openai-chat"), alike), None, OPENAI).changed]
    called = structs.replace(
        transcript, messages=(*conversation([(first, "f", b"{}")]).messages, *transcript.messages)
    )
    assert first not in [entry.new for entry in project(called, None, ANTHROPIC).entries[2:]]


def test_server_tools_have_a_form_of_their_own() -> None:
    def server(identifier: str, place: int) -> Message:
        call = Call((0,), KEYS, identifier, "web_search", b"{}", "object", server=True, needs_id=True)
        answer = Result((1,), KEYS, identifier, "web_search", b"x", server=True)
        return Message("assistant", (place,), (call, answer), RECORD)

    ids = ["srvtoolu_1", "call_9", "functions.a:0", "srvtoolu_a-b"]
    transcript = Transcript(
        Wire("anthropic", joins=True),
        tuple(server(identifier, place) for place, identifier in enumerate(ids)),
    )
    found = project(transcript, None, ANTHROPIC)
    assert call_ids(found)[0] == "srvtoolu_1"
    assert all(re.fullmatch("srvtoolu_[a-zA-Z0-9_]+", identifier or "") for identifier in call_ids(found))
    assert all(results == [call] for call, results in pairs_of(found))
    assert not [*project(transcript, None, profile("anthropic", SAFE)).changed]
    assert all(accepted(identifier, MISTRAL) for identifier in call_ids(project(transcript, None, MISTRAL)))


def test_clauses_apply_to_their_models_only() -> None:
    some = profile("openai-chat", structs.replace(NINE, models="^mistral"), models="^(mistral|gpt)")

    def changed(logged: str | None, *, next_model: str | None = None) -> bool:
        transcript = conversation(A, request=Request(RECORD, model=logged))
        return any(project(transcript, None, some, model=next_model).changed)

    assert changed("mistral-large")
    assert not changed("gpt-4o")
    assert not changed(None)
    assert not changed("claude-mistral")  # another provider's: it does not determine the next one
    assert changed("claude-opus", next_model="mistral-large")
    assert changed("gpt-4o", next_model="mistral-large")
    assert not changed("mistral-large", next_model="gpt-4o")
