"""Samples without ids: several calls under one value, observations by position, and LLaMA-Factory's converter.

The module repeats its converter, from its source: user and tool turns alternate with model turns, the first is a user
turn, and samples that do not alternate are skipped.
"""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, takewhile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from kin import CORPUS, NEEDS_CORPUS, battered, exchanges, judged, sniffed, transcripts
from turnlint import carriers, fix, ledger, testing
from turnlint.cli.fix import command
from turnlint.cli.inspect import command as inspect
from turnlint.cli.lint import command as lint
from turnlint.lifecycle import UNKNOWN
from turnlint.model import Call, Message, Other, Record, Result, Text

HUMAN = {"from": "human", "value": "go"}
GPT = {"from": "gpt", "value": "so it is"}


def calling(*names: str, **more: Any) -> dict[str, Any]:
    calls = [{"name": name, "arguments": more} for name in names or ("run",)]
    return {"from": "function_call", "value": json.dumps(calls if len(calls) > 1 else calls[0])}


def seen(value: Any = "done") -> dict[str, Any]:
    return {"from": "observation", "value": value}


def sample(*turns: Any, **more: Any) -> dict[str, Any]:
    return {"conversations": list(turns), "tools": "[]", **more}


def messages(*turns: Any) -> tuple[Message, ...]:
    (transcript,) = transcripts("sharegpt", sample(*turns))
    return transcript.messages


def codes(*turns: Any, folder: Path) -> list[tuple[str, str]]:
    rows, _ = judged([sample(*turns)], "sharegpt", folder)
    return [(row.finding.code, row.finding.severity) for row in rows]


def repaired(record: Any) -> Any:
    return json.loads(testing.fixed(json.dumps(record).encode() + b"\n", "sharegpt"))


def is_accepted(record: dict[str, Any]) -> bool:
    """Whether LLaMA-Factory trains on a sample."""
    turns = [conversation["from"] for conversation in record["conversations"]]
    turns = turns[1:] if turns[:1] == ["system"] else turns
    sides = ({"human", "observation"}, {"gpt", "function_call"})
    return len(turns) % 2 == 0 and all(turn in sides[place % 2] for place, turn in enumerate(turns))


def test_calls_are_read_from_the_json_of_a_value() -> None:
    _, calling_message, answered, _ = messages(HUMAN, calling("read", path="a"), seen(), GPT)
    (call,) = calling_message.blocks
    assert isinstance(call, Call)
    assert (call.name, call.id, call.arguments, call.needs_id) == ("read", None, "object", False)
    assert json.loads(call.body) == {"path": "a"}
    (result,) = answered.blocks
    assert isinstance(result, Result)
    assert (result.id, result.needs_id, result.at) == (None, False, ())


@pytest.mark.parametrize(("calls", "observations"), [(1, 1), (2, 1), (3, 1), (2, 2), (3, 3)])
def test_one_observation_belongs_to_all_calls_of_a_value_or_each_has_its_own(
    calls: int, observations: int, tmp_path: Path
) -> None:
    turns = (HUMAN, calling(*["run"] * calls), *[seen(str(n)) for n in range(observations)], GPT)
    (transcript,) = transcripts("sharegpt", sample(*turns))
    pairs = ledger.read(transcript.messages, transcript.wire)
    answers = [pair.answer.message if pair.answer else None for pair in pairs.interactions]
    assert answers == ([2] * calls if observations == 1 else [*range(2, 2 + calls)])
    assert codes(*turns, folder=tmp_path) == []


def test_an_observation_after_prose_has_no_call(tmp_path: Path) -> None:
    prose = {"from": "gpt", "value": "I calculate the price for you."}
    assert codes(HUMAN, prose, seen(), GPT, folder=tmp_path) == [("PA202", "warning")]
    rows, _ = judged([sample(HUMAN, prose, seen(), GPT)] * 40, "sharegpt", tmp_path)
    assert [row.finding.code for row in rows] == ["PA202"] * 40


WRITTEN = {
    "Hermes": ('<tool_call>{"name": "run"}</tool_call>' * 2, 2),
    "Glaive": ('<functioncall> {"name": "run", "arguments": {}} <|endoftext|>', 1),
    "ToolACE": ("[run(a=1), Get Weather(city='Rome')]", 2),
    "ReAct": ("Thought: I run it.\nAction: run\nAction Input: 1", 1),
    "JSON": ('{"name": "run", "arguments": {}}', 1),
}


@pytest.mark.parametrize(("value", "count"), WRITTEN.values(), ids=WRITTEN)
def test_calls_written_as_text_are_counted_and_named(value: str, count: int, tmp_path: Path) -> None:
    turns = (HUMAN, {"from": "gpt", "value": value}, {"from": "tool", "value": "1"}, GPT)
    log = tmp_path / "sample.json"
    log.write_text(json.dumps(sample(*turns)))
    text = CliRunner().invoke(lint, [str(log)])
    words = f"{count} {'call' if count == 1 else 'calls'} written as text, not checked."
    assert (text.exit_code, words in text.output.replace("\n", " ")) == (0, True)
    report = json.loads(CliRunner().invoke(lint, [str(log), "--output-format", "json"]).output)
    assert report["summary"]["noted"] == {"text-calls": count}
    for told in ((inspect, []), (command, ["--check"]), (command, [])):
        done = CliRunner().invoke(told[0], [*told[1], str(log)])
        assert (done.exit_code, words.rstrip(".") in done.output) == (0, True)


def test_prose_and_data_are_no_calls(tmp_path: Path) -> None:
    log = tmp_path / "sample.json"
    log.write_text(
        json.dumps(sample(HUMAN, {"from": "gpt", "value": '{"name": "John"} [see f(x), g(y)] <b>'}))
    )
    assert "written as text" not in CliRunner().invoke(lint, [str(log)]).output


def test_calls_in_a_row_are_one_turn(tmp_path: Path) -> None:
    assert codes(HUMAN, calling("a"), calling("b"), seen("1"), seen("2"), GPT, folder=tmp_path) == []
    assert codes(HUMAN, calling("a"), calling("b"), seen("b's"), GPT, folder=tmp_path) == [("PA201", "error")]
    assert codes(HUMAN, calling("a"), calling("b"), GPT, folder=tmp_path) == [("PA201", "error")] * 2


def test_a_missing_observation_is_one_for_all_calls_of_a_value() -> None:
    fixed = repaired(sample(HUMAN, calling("a", "b", "c"), GPT))
    assert fixed["conversations"] == [HUMAN, calling("a", "b", "c"), seen(UNKNOWN), GPT]
    assert is_accepted(fixed)


def test_a_sample_may_end_on_the_call_it_teaches(tmp_path: Path) -> None:
    assert codes(HUMAN, calling(), folder=tmp_path) == []
    assert codes(HUMAN, calling("a", "b"), folder=tmp_path) == []
    assert codes(HUMAN, calling(), seen(), folder=tmp_path) == []


CALL = '<tool_call>\n{"name": "run", "arguments": {}}\n</tool_call>'
TEXTS: dict[str, list[Any]] = {
    "Hermes": [{"from": "gpt", "value": CALL}, {"from": "tool", "value": "<tool_response>\n1\n</tool_response>"}],
    "several answers": [{"from": "gpt", "value": CALL + CALL}, {"from": "tool", "value": "1"}, {"from": "tool", "value": "2"}],
    "ToolACE": [{"from": "assistant", "value": "[run(a=1)]"}, {"from": "tool", "value": "1"}],
    "a value that is no JSON": [{"from": "function_call", "value": "I run it. <function=run></function>"}, seen()],
}  # fmt: skip


@pytest.mark.parametrize("turns", TEXTS.values(), ids=TEXTS)
def test_calls_that_a_sample_writes_as_text_are_no_calls_and_no_faults(
    turns: list[Any], tmp_path: Path
) -> None:
    assert codes(HUMAN, *turns, GPT, folder=tmp_path) == []
    blocks = [block for message in messages(HUMAN, *turns, GPT) for block in message.blocks]
    assert {type(block) for block in blocks} == {Text, Other}
    assert testing.fixed(line := json.dumps(sample(HUMAN, *turns, GPT)).encode(), None) == line


def test_a_text_is_reported_if_others_are_calls(tmp_path: Path) -> None:
    turns = (HUMAN, calling(), seen(), GPT, HUMAN, *TEXTS["Hermes"], GPT)
    assert codes(*turns, folder=tmp_path) == [("ST117", "warning")]


STRAYS: dict[str, tuple[list[Any], list[tuple[str, str]], list[Any]]] = {
    "away from its call": (
        [HUMAN, calling(), GPT, seen(), GPT], [("PA203", "error")], [HUMAN, calling(), seen(), GPT, GPT],
    ),
    "before its call": (  # a lost call may have been before it
        [HUMAN, seen(), calling(), GPT], [("PA202", "info"), ("PA201", "error")],
        [HUMAN, seen(), calling(), seen(UNKNOWN), GPT],
    ),
    "behind the user": ([HUMAN, seen(), GPT], [("PA202", "error")], [HUMAN, GPT]),
    "one too many": (
        [HUMAN, calling(), seen("1"), seen("2"), GPT], [("PA201", "error"), *[("PA202", "error")] * 2],
        [HUMAN, calling(), seen(UNKNOWN), GPT],
    ),
    "behind words": (
        [HUMAN, calling(), seen(), GPT, HUMAN, GPT, seen(), GPT], [("PA202", "info")],
        [HUMAN, calling(), seen(), GPT, HUMAN, GPT, seen(), GPT],
    ),
    "two that could be either's": (
        [HUMAN, calling(), GPT, seen("1"), HUMAN, seen("2"), GPT], [("PA201", "error")],
        [HUMAN, calling(), seen(UNKNOWN), GPT, seen("1"), HUMAN, seen("2"), GPT],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("turns", "expected", "fixed"), STRAYS.values(), ids=STRAYS)
def test_an_observation_out_of_its_place(
    turns: list[Any], expected: list[tuple[str, str]], fixed: list[Any], tmp_path: Path
) -> None:
    assert codes(*turns, folder=tmp_path) == expected
    assert repaired(sample(*turns))["conversations"] == fixed


VALUES: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "a thought before": ('<think>hm</think>\n{"name": "run", "arguments": {}}', []),
    "arguments in a text": ('{"name": "run", "arguments": "{}"}', []),
    "no arguments": ('{"name": "run"}', []),
    "a key twice": ('{"name": "run", "arguments": {}, "name": "run"}', []),
    "not a number": ('{"name": "run", "arguments": {"a": NaN}}', []),
    "an end that is missing": ('{"name": "run", "arguments": {"a": 1', [("ST115", "warning")]),
    "a comma too many": ('{"name": "run", "arguments": {},}', [("ST106", "warning")]),
    "single quotes": ("{'name': 'run', 'arguments': {}}", [("ST106", "warning")]),
    "something behind": ('{"name": "run", "arguments": {}} now', [("ST106", "warning")]),
    "an array for arguments": ('{"name": "run", "arguments": []}', [("ST106", "warning")]),
    "no name": ('{"arguments": {}}', [("ST105", "error")]),
    "words": ("I run it", [("ST103", "error")]),
    "nothing in a list": ("[]", [("ST103", "error")]),
    "an object": ({"name": "run", "arguments": {}}, [("ST103", "error")]),
    "a number": (5, [("ST103", "error")]),
}  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), VALUES.values(), ids=VALUES)
def test_the_allowed_values_of_a_call(value: Any, expected: list[tuple[str, str]], tmp_path: Path) -> None:
    turns = (HUMAN, {"from": "function_call", "value": value}, seen(), GPT)
    assert codes(*turns, folder=tmp_path) == expected
    assert repaired(sample(*turns)) == sample(*turns)


def test_preferences_are_two_conversations() -> None:
    found = transcripts("sharegpt", {**sample(HUMAN), "chosen": calling(), "rejected": GPT})
    assert [[message.written_role for message in transcript.messages] for transcript in found] == [
        ["human", "function_call"], ["human", "gpt"],
    ]  # fmt: skip
    assert all(transcript.open_end for transcript in found)


def test_samples_are_in_arrays_on_lines_and_bare(tmp_path: Path) -> None:
    bad = [HUMAN, calling(), GPT]
    whole = tmp_path / "samples.json"
    whole.write_text(json.dumps([sample(HUMAN, GPT), sample(*bad)], indent=1))
    assert "/1/conversations/1/value" in testing.picture(str(whole), "samples.json")
    rows, tally = judged([bad, {"items": bad}, {"messages": bad}], None, tmp_path)
    assert ([row.finding.code for row in rows], tally.conversations) == (["PA201"] * 3, 3)
    rows, tally = judged([{"conversation_id": key, **item} for item in bad for key in "ab"], None, tmp_path)
    assert ([row.finding.conversation for row in rows], tally.conversations) == (["a", "b"], 2)


SNIFFS: list[tuple[str, Any, str | None]] = [
    ("a sample", sample(HUMAN, GPT), "sharegpt"),
    ("bare turns", [HUMAN, GPT], "sharegpt"),
    ("one turn", HUMAN, "sharegpt"),
    ("roles are another's", {"conversations": [{"role": "user", "content": "go"}]}, None),
    ("an edge of a graph", {"from": "a", "value": 5}, None),
    ("edges of a graph", {"items": [{"from": "input", "to": "gpt"}]}, None),
    ("messages of Chat Completions", {"messages": [{"role": "user", "content": "go"}]}, "openai-chat"),
]


@pytest.mark.parametrize(
    ("record", "expected"), [sniff[1:] for sniff in SNIFFS], ids=[sniff[0] for sniff in SNIFFS]
)
def test_the_score_of_a_record_for_this_format(record: Any, expected: str | None) -> None:
    assert sniffed(record) == expected


def test_no_shape_crashes_the_reader(tmp_path: Path) -> None:
    whole = {
        **sample(HUMAN, calling("a", "b"), seen(), GPT, {"from": "tool"}),
        "chosen": GPT,
        "rejected": GPT,
    }
    records = [
        *battered(whole),
        *battered([HUMAN, calling()]),
        *battered({"conversation_id": "a", **calling()}),
    ]
    _, tally = judged(records, "sharegpt", tmp_path)
    assert tally.conversations > len(records) // 2


def test_no_ids_are_added(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(before := json.dumps(sample(HUMAN, calling("a", "b"), seen(), GPT)) + "\n")
    run = CliRunner().invoke(command, ["--canonical", "--no-journal", str(path)])
    assert (run.exit_code, path.read_text()) == (0, before)


def drawn(rng: Random) -> list[Any]:
    """A sample as LLaMA-Factory takes it."""
    turns: list[Any] = [{"from": "system", "value": "terse"}] if rng.random() < 0.3 else []
    for number in range(rng.randint(1, 4)):
        turns.append({"from": "human", "value": f"question {number}"})
        for step in range(rng.choice((0, 1, 1, 2))):
            names = [rng.choice(("read", "write")) for _ in range(rng.choice((1, 1, 2, 3)))]
            turns += [calling(*names, at=f"{number}.{step}"), seen(f"seen {number}.{step}")]
        turns.append({"from": "gpt", "value": f"answer {number}"})
    return turns


def broken(turns: list[Any], rng: Random) -> list[Any]:
    """One to three turns with calls are removed, doubled, or swapped with a neighbour."""
    turns = list(turns)
    for _ in range(rng.randint(1, 3)):
        places = [n for n, turn in enumerate(turns) if turn["from"] in ("function_call", "observation")]
        if not places:
            break
        place, how = rng.choice(places), rng.choice(("lose", "lose", "double", "swap"))
        if how == "lose":
            del turns[place]
        elif how == "double":
            turns.insert(place, turns[place])
        elif place + 1 < len(turns):
            turns[place : place + 2] = turns[place + 1], turns[place]
    return turns


def values(turns: list[Any], roles: str) -> Counter[str]:
    return Counter(turn["value"] for turn in turns if turn["from"] == roles)


def few(turns: list[Any]) -> Iterator[bool]:
    """Whether calls of one value have several observations, but not one each: their assignment is unknown."""
    for place, turn in enumerate(turns):
        calls_of_value = json.loads(turn["value"]) if turn["from"] == "function_call" else {}
        behind = [*takewhile(lambda other: other["from"] == "observation", turns[place + 1 :])]
        yield isinstance(calls_of_value, list) and 1 < len(behind) < len(calls_of_value)


@pytest.mark.slow
def test_repairs_of_broken_samples_converge_and_lose_no_possible_result() -> None:
    for number in range(150):
        rng = Random(number)  # noqa: S311 - the same ones in every run
        turns = drawn(rng)
        assert is_accepted(sample(*turns))
        hurt = broken(turns, rng)
        line = json.dumps(sample(*hurt)).encode() + b"\n"
        after = testing.fixed(line, "sharegpt")
        assert testing.fixed(after, "sharegpt") == after, number
        fixed = json.loads(after)["conversations"]
        left = [row for row in testing.rows_of(after, "sharegpt") if row.finding.severity == "error"]
        assert not left or any(few(fixed)), (number, fixed)
        for roles in ("system", "human", "gpt", "function_call"):
            assert values(fixed, roles) == values(hurt, roles), number
        kept = fix(sample(*hurt), format="sharegpt", level="placeholder").value["conversations"]
        assert not values(hurt, "observation") - values(kept, "observation"), (number, hurt, kept)


def test_a_sample_without_one_observation_is_accepted_again() -> None:
    for number in range(100):
        rng = Random(number)  # noqa: S311 - the same ones in every run
        turns = drawn(rng)
        places = [n for n, turn in enumerate(turns) if turn["from"] == "observation"]
        if places:
            del turns[rng.choice(places)]
            assert not is_accepted(sample(*turns))
            assert is_accepted(repaired(sample(*turns))), number


def samples() -> Iterator[tuple[str, list[Any]]]:
    for path in sorted((CORPUS / "logs" / "llama-factory").glob("data_glaive*.json")):
        yield path.name, json.loads(path.read_text(encoding="utf-8"))


@NEEDS_CORPUS
def test_published_samples_are_read_whole_and_carry_no_finding(tmp_path: Path) -> None:
    found = dict(samples())
    assert [len(some) for some in found.values()] == [2, 300, 300]
    for name, some in found.items():
        path = tmp_path / name
        path.write_text(json.dumps(some, ensure_ascii=False, indent=2), encoding="utf-8")
        counts = Counter(conversation["from"] for record in some for conversation in record["conversations"])
        read = Counter(
            type(block)
            for item in some
            for m in transcripts("sharegpt", item)[0].messages
            for block in m.blocks
        )
        texts = sum(
            (a["from"], b["from"]) == ("gpt", "observation") for item in some for a, b in pairwise(item["conversations"])
        )  # fmt: skip
        assert read[Call] == counts["function_call"] > 0
        assert (read[Result], read[Other]) == (counts["observation"], 0)
        rows = [row.finding for row in judged(some, "sharegpt", tmp_path)[0]]
        assert [(row.code, row.severity) for row in rows] == [("PA202", "warning")] * texts
        assert all(map(is_accepted, some))


@NEEDS_CORPUS
@pytest.mark.parametrize("name", ["sharegpt_llamafactory", "hermes_function_calling", "toolace"])
def test_the_samples_of_the_family_are_recognized_and_sound(name: str) -> None:
    data = (CORPUS / "format_samples" / f"{name}.jsonl").read_bytes()
    assert sniffed(json.loads(data)) == "sharegpt"
    assert testing.rows_of(data, None) == []


@NEEDS_CORPUS
@pytest.mark.parametrize("name", ["sharegpt", "langchain"])
def test_accepted_requests_are_no_records_of_frameworks_and_trainers(name: str) -> None:
    carrier = carriers.carrier(name)
    accepted = exchanges(lambda item: int(item["id"], 16) % 8 == 0)
    assert len(accepted) > 1000
    lines = (json.dumps(item["request"]).encode() for item in accepted)
    assert not [line[:200] for line in lines if carriers.score(carrier, Record(1, 0, line)) > 0]
