"""Profiles agree with validators and data that providers publish, on the same conversations.

For each difference a table names the reason, with a condition that holds in exactly these cases and an example.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any, NamedTuple

import pytest

from mutators import Target, findings
from small_requests import BEDROCK
from transcripts import Messages, conversations

COUNT, SEED = 1500, 7
COUNTING = ("v1", "v3", "v7")
"""Versions that count results and ignore their ids."""
VERSIONS = (*COUNTING, "v11", "v13", "v15")


def _ids_differ(messages: Messages) -> bool:
    """Whether some turn has as many results as calls, but not one for each."""
    call_ids: list[str] = []
    given: list[str] = []
    for message in [*messages, {"role": "assistant"}]:
        if message["role"] == "tool":
            given.append(str(message.get("tool_call_id")))
        elif message["role"] == "assistant":
            unlike = sorted(call_ids) != sorted(given) or len({*call_ids}) < len(call_ids)
            if unlike and len(call_ids) == len(given):
                return True
            call_ids = [str(call.get("id")) for call in message.get("tool_calls") or ()]
            given = []
    return False


class Difference(NamedTuple):
    """The reason for which a validator and a profile differ, its condition, and an example."""

    reason: str
    holds: Callable[[Messages], bool]
    example: Messages
    refused: bool
    """Refused by the validator only; else by the profile only."""
    versions: tuple[str, ...] = VERSIONS


def _turns(words: str) -> Messages:
    """`u` user, `a` assistant, `p` assistant with a prefix, `c` with a call, `cc` with two, `t` and `o` results."""
    made: list[dict[str, Any]] = []
    for word in words.split():
        calls = [
            {"id": f"aB3dE6gH{n}", "function": {"name": "f", "arguments": "{}"}}
            for n in range(word.count("c"))
        ]
        role = {"u": "user", "t": "tool", "o": "tool"}.get(word[0], "assistant")
        message: dict[str, Any] = {"role": role, "content": None if calls else "hm"}
        if calls:
            message["tool_calls"] = calls
        elif role == "tool":
            message["tool_call_id"] = "aB3dE6gH0" if word == "t" else "zB3dE6gH9"
        elif word == "p":
            message["prefix"] = True
        made.append(message)
    return made


DIFFERENCES = (
    Difference(
        "a message alone is the user's or the system's, even where the model shall go on from it",
        lambda messages: len(messages) == 1 and messages[0]["role"] == "assistant",
        _turns("p"),
        refused=True,
    ),
    Difference(
        "a first message is not looked at, and its calls may stay unanswered",
        lambda messages: bool(messages[0].get("tool_calls")),
        _turns("c a u"),
        refused=False,
    ),
    Difference(
        "a first message is not looked at, and a result in it may answer nothing",
        lambda messages: messages[0]["role"] == "tool",
        _turns("t u"),
        refused=False,
    ),
    Difference(
        "results are counted, whichever ids they have",
        _ids_differ,
        _turns("u c o a u"),
        refused=False,
        versions=COUNTING,
    ),
)


def _refusal(version: str, messages: Messages) -> str:
    from mistral_common.exceptions import MistralCommonException
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
    from mistral_common.tokens.tokenizers.base import TokenizerVersion

    validator = get_validator(TokenizerVersion(version), mode=ValidationMode.serving)
    try:
        request: Any = ChatCompletionRequest(model="mistral-large-latest", messages=deepcopy(messages))
        validator.validate_request(request)
    except (MistralCommonException, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _both(version: str, samples: list[Messages]) -> Iterator[tuple[Messages, str, list[str]]]:
    """Each conversation, the reason of the validator to refuse it, and its errors here."""
    requests = [{"model": "mistral-large-latest", "messages": messages} for messages in samples]
    codes_by_line = findings(Target(f"mistral@{version}", "mistral", ()), requests)
    for line, messages in enumerate(samples, 1):
        errors = sorted(item for item in codes_by_line[line] if item.endswith(":error"))
        yield messages, _refusal(version, messages), errors


@pytest.mark.parametrize("version", VERSIONS)
def test_mistral_common_refuses_exactly_the_requests_with_an_error_here(version: str) -> None:
    pytest.importorskip("mistral_common", minversion="1.13")
    agreed: Counter[bool] = Counter()
    unexplained = []
    for messages, refusal, errors in _both(version, conversations(COUNT, SEED)):
        if bool(refusal) is bool(errors):
            agreed[bool(refusal)] += 1
        elif not any(
            difference.refused is bool(refusal)
            and version in difference.versions
            and difference.holds(messages)
            for difference in DIFFERENCES
        ):
            unexplained.append((refusal, errors, messages))
    assert unexplained == []
    assert min(agreed.values()) > COUNT / 6
    assert agreed.total() > COUNT * 0.96


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.reason)
def test_mistral_common_differs_as_in_the_table(version: str, difference: Difference) -> None:
    pytest.importorskip("mistral_common", minversion="1.13")
    [(messages, refusal, errors)] = _both(version, [difference.example])
    assert difference.holds(messages)
    if version in difference.versions:
        assert (bool(refusal), bool(errors)) == (difference.refused, not difference.refused)
    else:
        assert refusal
        assert errors


class Damage(NamedTuple):
    """A request to Bedrock with one change, and its position."""

    how: str
    path: tuple[str | int, ...]
    request: dict[str, Any]

    @property
    def place(self) -> str:
        return ".".join("N" if isinstance(part, int) else part for part in self.path)


ODD_VALUES: tuple[Any, ...] = ("", [], {}, None, 5, True, "x", ["x"], {"x": 1})
SECOND = {"text": "also", "toolUse": {"toolUseId": "x", "name": "n", "input": {}}}

Excuse = tuple[str, Callable[[Damage, set[str]], bool]]
EXCUSES: tuple[Excuse, ...] = (
    ("how tools are declared is not looked at, but for their names", lambda item, _: item.path[0] == "toolConfig"),
    ("a strange key is a warning, because the service itself took one", lambda _, codes: "PR317:warning" in codes),
    ("another kind of content is a warning", lambda _, said: "ST103:warning" in said),
    (
        "two kinds of content in one piece: the first is read",
        lambda item, _: item.how == "second" and item.place.endswith("content.N"),
    ),
    ("pieces of a result are not looked into", lambda item, _: ".toolResult.content.N" in item.place),
    ("a status of null is none", lambda item, _: item.place.endswith(".toolResult.status")),
)  # fmt: skip
"""The reason for which boto3 refuses a request without an error here."""


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from _places(one, (*path, key))


def _damaged(request: dict[str, Any], rng: Random) -> Damage | None:
    broken = deepcopy(request)
    path = rng.choice(list(_places({key: broken[key] for key in ("messages", "toolConfig")})))
    holder: Any = broken
    for part in path[:-1]:
        holder = holder[part]
    here = holder[path[-1]]
    how = rng.choice(["left out", "odd", "odd", "odd", "strange key", "second"])
    if how == "left out":
        del holder[path[-1]]
    elif how == "odd":
        holder[path[-1]] = deepcopy(rng.choice(ODD_VALUES))
    elif not isinstance(here, dict):
        return None
    elif how == "strange key":
        here["foo"] = 1
    else:
        key = rng.choice(list(SECOND))
        here[key] = deepcopy(SECOND[key])
    return Damage(how, path, broken)


def _bedrock_request() -> dict[str, Any]:
    request: dict[str, Any] = json.loads(BEDROCK)
    results = [piece["toolResult"] for piece in request["messages"][2]["content"]]
    results[0]["content"] = [{"json": {"degrees": 18}}]
    results[1]["status"] = "success"
    return request


@pytest.mark.slow
def test_every_request_that_boto3_refuses_has_an_error_here() -> None:
    pytest.importorskip("botocore", minversion="1.43")
    from botocore.loaders import Loader
    from botocore.model import ServiceModel
    from botocore.validate import ParamValidator

    service = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"), "bedrock-runtime")
    shape = service.operation_model("Converse").input_shape

    def refusal(request: dict[str, Any]) -> str:
        return str(ParamValidator().validate(request, shape).generate_report())

    sound = _bedrock_request()
    assert refusal(sound) == ""
    rng = Random(SEED)  # noqa: S311 - the same ones in every run
    damages = [item for item in (_damaged(sound, rng) for _ in range(2 * COUNT)) if item]
    codes_by_line = findings(
        Target("bedrock", "bedrock", ()), [sound, *(damage.request for damage in damages)]
    )
    assert not any(item.endswith(":error") for item in codes_by_line[1])
    outcomes: Counter[str] = Counter()
    unexplained = []
    for line, damage in enumerate(damages, 2):
        refused = refusal(damage.request)
        if not refused or any(item.endswith(":error") for item in codes_by_line[line]):
            outcomes["refused by both" if refused else "taken by boto3"] += 1
            continue
        reason = next((reason for reason, holds in EXCUSES if holds(damage, codes_by_line[line])), "")
        outcomes[reason] += 1
        if not reason:
            unexplained.append((damage.how, damage.path, refused, codes_by_line[line]))
    assert unexplained == []
    assert outcomes["refused by both"] > COUNT / 4
    assert {reason for reason, _ in EXCUSES} <= set(outcomes)


@pytest.mark.parametrize(("name", "key"), [("ToolUseId", "toolUseId"), ("ToolName", "name")])
def test_the_patterns_of_the_service_agree_with_the_profile_on_ids_and_names(name: str, key: str) -> None:
    pytest.importorskip("botocore", minversion="1.43")
    from botocore.loaders import Loader

    shape = Loader().load_service_model("bedrock-runtime", "service-2")["shapes"][name]
    rng = Random(SEED)  # noqa: S311 - the same ones in every run
    alphabet = "abcXYZ0189" * 8 + "_-.:|/ é\n"
    words = ["".join(rng.choices(alphabet, k=rng.choice([1, 2, 9, 30, 63, 64, 65, 90]))) for _ in range(300)]
    requests = []
    for word in words:
        request = _bedrock_request()
        request["messages"][5]["content"][-1]["toolUse"][key] = word
        if key == "toolUseId":
            request["messages"][6]["content"][0]["toolResult"][key] = word
        requests.append(request)
    codes_by_line = findings(Target("bedrock", "bedrock", ()), requests)
    fits = re.compile(shape["pattern"]).fullmatch
    judged = {
        word: any(item.endswith(":error") for item in codes_by_line[line])
        for line, word in enumerate(words, 1)
    }
    assert judged == {word: not (fits(word) and shape["min"] <= len(word) <= shape["max"]) for word in words}
    assert set(judged.values()) == {True, False}
