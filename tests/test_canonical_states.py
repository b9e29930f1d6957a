"""Broken canonical states and every profile: after `fix --level lossy` the five conditions of 001 section 12 hold.

The check reads plain JSON and uses nothing of `turnlint`. It takes consecutive contents of the model as one message.
"""

import copy
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, islice, permutations
from typing import Any

import pytest

from fuzz_pairs import PROVIDERS
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, lint
from turnlint.keeping.patches import patched
from turnlint.packages import packages
from turnlint.providers import Providers
from turnlint.repair.choosing import Policy
from turnlint.repair.passes import fix
from turnlint.rows import Row

Value = dict[str, Any]
History = list[Value]
Break = Callable[[History], None]


def text(words: str) -> Value:
    return {"type": "text", "text": words}


def thought(words: str) -> Value:
    return {"type": "thinking", "thought": words}


def call(number: int) -> Value:
    return {"type": "tool_call", "id": f"hist_tool_{number}", "name": "look", "parameters": {"of": number}}


def response(number: int) -> Value:
    return {
        "type": "tool_response", "callId": f"hist_tool_{number}", "toolName": "look", "result": f"seen {number}",
        "isComplete": True,
    }  # fmt: skip


def said(speaker: str, *blocks: Value) -> Value:
    return {"speaker": speaker, "blocks": [*blocks]}


def sequence() -> History:
    """Return the sequence of 001 section 7: a call, five calls at once, and a text."""
    return [
        said("human", text("go")),
        said("ai", thought("one"), call(1)),
        said("tool", response(1)),
        said("ai", thought("two"), *map(call, range(2, 7))),
        said("tool", *map(response, range(2, 7))),
        said("ai", thought("three"), text("done")),
        said("human", text("again")),
        said("ai", text("now"), call(7)),
        said("tool", response(7)),
        said("ai", text("end")),
    ]


# What breaks it. The first turn has the contents 1 and 2, the turn of five calls 3 and 4, the last turn 7 and 8.

BREAKS: dict[str, Break] = {}


def breaks(function: Break) -> Break:
    BREAKS[function.__name__] = function
    return function


@breaks
def nothing(_: History) -> None: ...


@breaks
def drop_call(history: History) -> None:
    del history[3]["blocks"][2]


@breaks
def drop_turn_of_calls(history: History) -> None:
    del history[1]


@breaks
def drop_result(history: History) -> None:
    del history[4]["blocks"][1]


@breaks
def drop_four_results(history: History) -> None:
    """001 section 7.3: one of five calls has a result."""
    history[4]["blocks"] = history[4]["blocks"][1:2]


@breaks
def drop_all_results(history: History) -> None:
    del history[4]


@breaks
def drop_last_results(history: History) -> None:
    del history[8:]


@breaks
def duplicate_call(history: History) -> None:
    history[3]["blocks"].append(copy.deepcopy(history[3]["blocks"][1]))


@breaks
def duplicate_result(history: History) -> None:
    history[4]["blocks"].append(copy.deepcopy(history[4]["blocks"][0]))


@breaks
def duplicate_result_later(history: History) -> None:
    history[8]["blocks"].append(copy.deepcopy(history[4]["blocks"][0]))


@breaks
def duplicate_result_in_other_words(history: History) -> None:
    history[4]["blocks"].append({**history[4]["blocks"][0], "result": [text("seen 2")]})


@breaks
def conflicting_results(history: History) -> None:
    history[4]["blocks"].append({**history[4]["blocks"][0], "result": "seen else"})


@breaks
def reverse_results(history: History) -> None:
    history[4]["blocks"].reverse()


@breaks
def result_before_call(history: History) -> None:
    history[3], history[4] = history[4], history[3]


@breaks
def result_far_behind(history: History) -> None:
    history[8]["blocks"].append(history[4]["blocks"].pop(2))


@breaks
def result_of_the_user(history: History) -> None:
    history[4]["speaker"] = "human"


@breaks
def results_among_calls(history: History) -> None:
    """001 section 7.1: a content with calls, results and texts."""
    ai, tool = history[3]["blocks"], history.pop(4)["blocks"]
    history[3]["blocks"] = [ai[0], ai[1], tool[0], text("between"), ai[2], tool[1], *ai[3:], *tool[2:]]


@breaks
def all_in_one(history: History) -> None:
    blocks = [block for content in history[1:6] for block in content["blocks"]]
    history[1:6] = [said("ai", *blocks)]


@breaks
def calls_in_the_content_of_results(history: History) -> None:
    history[2]["blocks"].insert(0, history[1]["blocks"].pop())


@breaks
def calls_of_the_user(history: History) -> None:
    history[0]["blocks"].append(history[1]["blocks"].pop())


@breaks
def words_between(history: History) -> None:
    history.insert(4, said("human", text("wait")))


@breaks
def model_between(history: History) -> None:
    history.insert(4, said("ai", text("hm")))


@breaks
def partial_result(history: History) -> None:
    history[4]["blocks"][0]["isComplete"] = False


@breaks
def null_result(history: History) -> None:
    history[4]["blocks"][0]["result"] = None


@breaks
def result_of_nothing(history: History) -> None:
    del history[4]["blocks"][0]["result"]
    del history[4]["blocks"][0]["isComplete"]


@breaks
def cancelled_result(history: History) -> None:
    history[4]["blocks"][0] |= {"result": None, "error": "[Operation Cancelled] by the user"}


@breaks
def cancelled_twice(history: History) -> None:
    cancelled_result(history)
    history[4]["blocks"].append({**history[4]["blocks"][0], "error": "Tool call was cancelled."})


@breaks
def failed_result(history: History) -> None:
    history[4]["blocks"][0] |= {"result": None, "error": "no such file", "isComplete": False}


@breaks
def empty_ids(history: History) -> None:
    rename(history, dict.fromkeys(range(1, 8), ""))


@breaks
def empty_id(history: History) -> None:
    rename(history, {3: ""})


@breaks
def bare_prefixes(history: History) -> None:
    rename(history, {1: "hist_tool_", 2: "call_", 3: "toolu_", 4: "hist_tool_call_", 5: ""})


@breaks
def ids_that_meet_under_a_prefix(history: History) -> None:
    rename(history, {1: "hist_tool_a", 2: "call_a", 3: "toolu_a", 4: "tooluse_a", 5: "functions.look:0"})


@breaks
def reused_id_in_a_turn(history: History) -> None:
    rename(history, {3: "hist_tool_2"})


@breaks
def reused_id_in_a_later_turn(history: History) -> None:
    rename(history, {7: "hist_tool_1"})


@breaks
def odd_ids(history: History) -> None:
    rename(history, {1: "a b", 2: "a/b", 3: "é" * 9, 4: "x" * 300, 5: "a|b", 6: "functions.look:9"})


@breaks
def other_id_in_the_result(history: History) -> None:
    history[2]["blocks"][0]["callId"] = "hist_tool_x"


@breaks
def no_id_in_the_result(history: History) -> None:
    del history[2]["blocks"][0]["callId"]


@breaks
def no_name_in_the_results(history: History) -> None:
    for block in history[4]["blocks"]:
        del block["toolName"]


@breaks
def other_name_in_a_result(history: History) -> None:
    history[4]["blocks"][0]["toolName"] = "find"


@breaks
def pruned_start(history: History) -> None:
    del history[:2]


@breaks
def marked_pending(history: History) -> None:
    history[4]["blocks"][0]["metadata"] = {"state": "pending"}


@breaks
def no_texts(history: History) -> None:
    for content in history:
        content["blocks"] = [one for one in content["blocks"] if one["type"].startswith("tool_")]


@breaks
def repeated_turn(history: History) -> None:
    history[5:5] = copy.deepcopy(history[3:5])


def rename(history: History, names: dict[int, str]) -> None:
    wanted = {f"hist_tool_{number}": name for number, name in names.items()}
    for block in (block for content in history for block in content["blocks"]):
        for key in {"id", "callId"} & block.keys():
            block[key] = wanted.get(block[key], block[key])


# The five conditions of 001 section 12, and the check.

FORMS: dict[str, str] = {
    "anthropic": r"[A-Za-z0-9_-]+", "bedrock": r"[A-Za-z0-9_.:-]{1,64}", "bedrock@2024": r"[A-Za-z0-9_-]{1,64}",
    "kimi@k2": r"functions\.look:\d+", "openai@40": r".{1,40}", "openai": r".{1,64}",
    **dict.fromkeys(("mistral@hosted", "mistral@v3", "mistral@v7", "mistral@v11", "bedrock@mistral"), r"[A-Za-z0-9]{9}"),
}  # fmt: skip
"""Ids that a provider accepts, from 000 and 001 section 6 and the public references of the providers."""
LOSING = {
    "drop_call", "drop_turn_of_calls", "pruned_start", "conflicting_results", "other_id_in_the_result",
    "duplicate_result_in_other_words",
}  # fmt: skip
"""What leaves a result that no call has, or two different results of a call: level lossy removes it."""


def messages_of(history: History) -> Iterator[tuple[str, list[Value]]]:
    """Yield the contents, consecutive ones of the model or of tools as one."""
    last: tuple[str, list[Value]] | None = None
    for content in history:
        if last and last[0] == content["speaker"] and last[0] in ("ai", "tool"):
            last[1].extend(content["blocks"])
            continue
        if last:
            yield last
        last = (content["speaker"], [*content["blocks"]])
    if last:
        yield last


def faults_in(
    history: History, before: History, profile: str, *, may_lose: bool = False, may_repeat: bool = False
) -> Iterator[str]:
    """Yield the conditions that do not hold.

    With `may_lose`, a result may be absent. With `may_repeat`, a copy of a turn may be removed with its texts, and an
    id may return in a later turn: OpenAI is recorded to accept that.
    """
    found: list[str] = []
    turns = [*messages_of(history)]
    for number, (speaker, blocks) in enumerate(turns):
        calls = [one["id"] for one in blocks if one["type"] == "tool_call"]
        answers = [one.get("callId", "") for one in blocks if one["type"] == "tool_response"]
        if calls and speaker != "ai":
            yield f"2: {number} has calls of another speaker"
        if answers and speaker != "tool":
            yield f"2: {number} has results of another speaker"
        found += calls
        if speaker == "ai":
            following = turns[number + 1] if number + 1 < len(turns) else ("", [])
            results = [one.get("callId", "") for one in following[1] if one["type"] == "tool_response"]
            if calls and sorted(results) != sorted(calls):
                yield f"1 and 2: {number} has the calls {calls}, and next to it the results {results}"
            if len({*calls}) != len(calls):
                yield f"3: {number} has an id twice"
        elif answers and (not number or turns[number - 1][0] != "ai"):
            yield f"2: {number} has results behind no call"
        for one in blocks:
            if one["type"] == "tool_response" and not is_ended(one):
                yield f"1: {number} has a result that is not complete"
    form = FORMS.get(profile) or FORMS.get(profile.partition("@")[0]) or r".+"
    yield from (f"3: the id {one!r}" for one in found if not re.fullmatch(form, one))
    if any(one.startswith("hist_tool_") for one in found):
        yield "3: an id has the prefix of stored histories"
    if len({*found}) != len(found) and not may_repeat:
        yield f"3: two calls have one id: {found}"
    if profile.startswith("kimi@k2"):
        numbers = [one.rpartition(":")[2] for one in found]
        if numbers and numbers != [str(number) for number in islice(count(number_in(found[0])), len(found))]:
            yield f"3: the numbers of {found}"
    yield from (f"4: {name}" for name, count in given(history).items() if count > given(before)[name])
    if (lost := {*given(before)} - {*given(history)}) and not may_lose:
        yield f"1: {lost} is lost"
    if words(history) != words(before) and (not may_repeat or {*words(history)} != {*words(before)}):
        yield f"5: {words(before) - words(history)} is lost, {words(history) - words(before)} is new"


def number_in(identifier: str) -> int:
    """Return the number at the end of a counted id."""
    number = re.search(r":(\d+)$", identifier)
    return int(number[1]) if number else 0


def is_ended(result: Value) -> bool:
    """Whether a result has an error or a value, and is not marked as partial (001 section 5.2)."""
    return bool(result.get("error")) or (
        result.get("result") is not None and result.get("isComplete") is not False
    )


def given(history: History) -> Counter[str]:
    """Return the results of tools, without errors."""
    blocks = (block for content in history for block in content["blocks"])
    return Counter(
        json.dumps(one.get("result"))
        for one in blocks
        if one["type"] == "tool_response" and is_ended(one) and not one.get("error")
    )


def words(history: History) -> Counter[str]:
    blocks = (block for content in history for block in content["blocks"])
    return Counter(
        one.get("text") or one.get("thought") for one in blocks if one["type"] in ("text", "thinking")
    )


@cache
def terms(profile: str) -> tuple[Options, Book, Policy]:
    options = Options(format="canonical", providers=(profile,))
    return options, Book(options), Policy(level="lossy", named=frozenset((profile.partition("@")[0],)))


def repaired(history: History, profile: str) -> tuple[History, list[str]]:
    """Return the result of `fix --provider NAME --level lossy`, and the errors of `lint --provider NAME` in it."""
    options, book, policy = terms(profile)
    source = Source("a.json", None, data=json.dumps({"history": history}).encode())
    done = fix(source, options, book, policy)
    data = b"".join(patched(source, done.patches)) if done.patches else source.data or b""
    rows = [one for one in lint(Source("a.json", None, data=data), options, book) if isinstance(one, Row)]
    errors = [f"{one.finding.code} {one.finding.rule}" for one in rows if one.finding.severity == "error"]
    return json.loads(data)["history"], errors + [one.reason for one in done.failures]


def problems(names: tuple[str, ...], profile: str) -> list[str]:
    history = sequence()
    for name in names:
        try:
            BREAKS[name](history)
        except (IndexError, KeyError, StopIteration):
            return []  # the first fault left nothing for the second
    before = copy.deepcopy(history)
    after, errors = repaired(history, profile)
    two = len(names) > 1  # a second fault may take the evidence that ties a result to its call
    may_lose = two or not LOSING.isdisjoint(names)
    return [*errors, *faults_in(after, before, profile, may_lose=may_lose, may_repeat=two)]


PROFILES = [
    profile.label for name in PROVIDERS for profile in Providers(packages()).versions(name)
]  # fmt: skip


@pytest.mark.covering(1)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_state_is_accepted_after_a_repair(name: str, profile: str) -> None:
    """001 section 12: pairs, places, ids, one result for each call, thoughts and texts."""
    assert problems((name,), profile) == []


LONELY = {
    ("result_before_call", "results_among_calls"), ("no_id_in_the_result", "calls_in_the_content_of_results"),
}  # fmt: skip
"""A call is only in a content of results, and a result there may be its own: ST114 has no repair for it."""
DOUBTFUL = {
    ("empty_ids", "duplicate_result_in_other_words"), ("duplicate_result_in_other_words", "empty_ids"),
}  # fmt: skip
"""Six results without ids follow five calls without ids: nothing shows which result is whose."""

UNCHECKED = "vllm"
"""Servers that check no pairs: a second fault may stay, since it is no error there."""


def test_a_call_without_an_id_leaves_a_content_of_results() -> None:
    """001 section 7.1: its result follows it, and no other call or result is there."""
    assert problems(("empty_ids", "calls_in_the_content_of_results"), "anthropic") == []


SHARES = 6
"""Each profile takes one of so many shares of the pairs: neighbouring profiles together take all."""


@pytest.mark.slow
@pytest.mark.parametrize(("number", "profile"), [*enumerate(PROFILES)])
def test_two_faults_in_one_state_are_accepted_after_a_repair_or_reported(number: int, profile: str) -> None:
    pairs = [*permutations(BREAKS, 2)][number % SHARES :: SHARES]
    found = {names: problems(names, profile) for names in pairs}
    if profile == UNCHECKED:
        found = {names: [one for one in faults if one[0].isupper()] for names, faults in found.items()}
    left = {names: faults for names, faults in found.items() if faults}
    assert {*left} - LONELY - DOUBTFUL == set(), left
    refused = {
        names: [one for one in faults if one.startswith(("ST", "PA"))] for names, faults in left.items()
    }
    assert all(refused.values())


WRONG: dict[str, Break] = {
    "no result": drop_result,
    "two results": duplicate_result,
    "another place": words_between,
    "a partial result": partial_result,
    "one id": reused_id_in_a_turn,
    "a call of the user": calls_of_the_user,
    "a lost text": no_texts,
}


@pytest.mark.parametrize("name", WRONG)
def test_the_check_sees_a_broken_state(name: str) -> None:
    sound = json.loads(json.dumps(sequence()).replace("hist_tool_", "call_"))
    assert [*faults_in(sound, sound, "openai")] == []
    history = sequence()
    WRONG[name](history)
    history = json.loads(json.dumps(history).replace("hist_tool_", "call_"))
    assert [*faults_in(history, sound, "openai")]
