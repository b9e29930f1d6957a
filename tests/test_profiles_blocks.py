"""The profiles of Anthropic, Bedrock, Gemini, Vertex and OpenAI Responses agree with their evidence.

The vendors' own types are checked if their packages are installed, and the recorded requests if the corpus is
present.
"""

import gzip
import importlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any, get_args

import pytest

from turnlint import rulebook, wording
from turnlint.api import (
    EmptyContent,
    IdCharset,
    IdForm,
    IdLength,
    NameForm,
    Profile,
    ResultContent,
    RoleOrder,
    ThoughtSignature,
    UnknownKey,
)
from turnlint.clause import Clause
from turnlint.profiles import Known, Weight

MODULES = ("anthropic", "bedrock", "gemini", "vertex", "openai_responses")
PROFILES: list[Profile] = [
    profile
    for name in MODULES
    for profile in importlib.import_module(f"turnlint_rules.profiles.{name}").PROFILES
]
VERSIONS = {profile.label: profile for profile in PROFILES}
NAMES = [profile.label for profile in PROFILES if not profile.version]
CODES = {entry.rule.name: entry.rule.code for entry in rulebook.load(rulebook.BUILTIN)}
TEXTS = [(name, known) for name in NAMES for known in VERSIONS[name].known]


def of(label: str, kind: type[Any], **fields: object) -> list[Any]:
    """The clauses of a kind, with these fields."""
    clauses = [clause for clause in VERSIONS[label].clauses if isinstance(clause, kind)]
    return [
        clause for clause in clauses if all(getattr(clause, name) == value for name, value in fields.items())
    ]


def found(known: Known, text: str) -> re.Match[str] | None:
    return re.search(known.pattern, text, re.DOTALL)


@pytest.mark.parametrize(("name", "known"), TEXTS, ids=[f"{name}-{one.sample[:40]}" for name, one in TEXTS])
def test_a_known_text_is_recognised_and_distinguished_from_the_others(name: str, known: Known) -> None:
    assert found(known, known.sample)
    assert found(known, re.sub("[`'\"]", "", known.sample)), "a terminal or a log took the quotes"
    assert [other.sample for other in VERSIONS[name].known if found(other, known.sample)] == [known.sample]
    assert set(known.rules) <= set(CODES.values())
    assert known.rules or known.about, "a text that no rule explains is explained in words"


@pytest.mark.parametrize("name", NAMES)
def test_the_text_of_a_finding_leads_back_to_its_rule(name: str) -> None:
    count = 0
    for profile in (profile for profile in PROFILES if profile.name == name):
        for item in (*profile.clauses, *profile.weights):
            if not item.says:
                continue
            count += 1
            names = {field for _, field, _, _ in Formatter().parse(item.says) if field is not None}
            assert names <= wording.FIELDS, item.says
            code = CODES[item.rule] if isinstance(item, Weight) else item.code
            kind = "web_search_tool_result" if code == CODES["unpaired-server-tool"] else FIELDS["kind"]
            filled = {**FIELDS, "path": place(name, code, item), "kind": kind}
            text = (wording.told(item.says, filled) or "").replace("…", "2")
            texts = (*profile.known, *VERSIONS["anthropic"].known) if BEHIND in text else profile.known
            assert code in {rule for known in texts if found(known, text) for rule in known.rules}, text
    assert count > 20


BEHIND = "The model returned the following errors: "
"""The text after this is that of a model's own server, which its own profile has."""
FIELDS = {"place": "messages[2]",
    "index": 1, "next": 2, "block": 0, "id": "call_1", "ids": "call_1, call_2", "name": "run", "role": "tool",
    "kind": "text", "key": "odd", "length": 70, "most": 64, "count": 0,
}  # fmt: skip
CALL = {
    "anthropic": "messages.1.content.0.tool_use.{}",
    "bedrock": "messages.2.member.content.1.member.toolUse.{}",
    "openai-responses": "input[1].{}",
    "gemini": "* GenerateContentRequest.contents[1].parts[0].function_response.{}",
    "vertex": "contents[1].parts[0].function_response.{}",
}
KEYS = {
    "PR302": "call_id", "PR305": "id", "PR306": "name", "ST105": "name", "PR307": "arguments", "PR317": "odd",
    "PR318": "name", "PR319": "output",
}  # fmt: skip


def place(provider: str, code: str, one: Clause | Weight) -> str:
    """A position in a request where such a fault may be, as the provider spells it."""
    if getattr(one, "of", "") == "tool":
        return {"anthropic": "tools.0.custom.name", "bedrock": "toolConfig.tools.1.member.toolSpec.name"}.get(
            provider, "tools[0].name"
        )
    if isinstance(one, IdForm) and one.of == "server":
        return "messages.1.content.0.server_tool_use.id"
    if provider == "openai-responses" and (code == "PR303" or getattr(one, "of", "") == "item"):
        return "input[1].id"
    if provider == "openai-responses" and code == "PR318":
        return "input[1]" if "content" in one.says else "input[1].content"
    key = (
        {"anthropic": "id", "bedrock": "toolUseId"}.get(provider)
        if code in ("PR301", "PR302", "ST104")
        else None
    )
    key = key or ("input" if provider == "anthropic" and code == "PR307" else KEYS.get(code, "call_id"))
    return CALL[provider].format(key)


def kind_of(typed: Any) -> str:
    """The value of `type` of one of the SDK's dictionaries."""
    annotation = typed.__annotations__["type"]
    return re.findall(r"'([a-z_]+)'", getattr(annotation, "__forward_arg__", str(annotation)))[0]


def is_accepted(clauses: list[UnknownKey], place: str, keys: set[str], role: str = "") -> None:
    known = [
        set(clause.known)
        for clause in clauses
        if clause.place == place and (not role or role in clause.roles)
    ]
    assert known, f"no list of keys for {place} {role}"
    assert all(keys <= item for item in known), (place, role, [keys - item for item in known])


def test_anthropic_accepts_all_keys_of_its_sdk() -> None:
    types = pytest.importorskip("anthropic.types")
    beta = pytest.importorskip("anthropic.types.beta")
    clauses = of("anthropic", UnknownKey)
    blocks = [*get_args(types.ContentBlockParam), *get_args(beta.BetaContentBlockParam)]
    seen = [block for block in blocks if hasattr(block, "__total__")]
    assert len(seen) > 35
    for block in seen:
        is_accepted(clauses, kind_of(block), set(block.__annotations__))
    for message in (*get_args(types.MessageParam), *get_args(beta.BetaMessageParam)):
        role = re.findall("'([a-z]+)'", str(message.__annotations__["role"]))[0]
        is_accepted(clauses, "message", set(message.__annotations__), role)
    inside = {kind_of(part) for part in get_args(types.tool_result_block_param.Content)}
    assert inside == set(of("anthropic", ResultContent)[0].parts)


def test_responses_accept_all_keys_of_their_sdk() -> None:
    types = pytest.importorskip("openai.types.responses")
    clauses = of("openai-responses", UnknownKey)
    items = get_args(types.ResponseInputItemParam)
    assert len(items) > 30
    for item in items:
        keys = set(item.__annotations__)
        roles = re.findall("'([a-z]+)'", str(item.__annotations__["role"])) if "role" in keys else []
        roles = [role for role in roles if role in ("user", "assistant", "system", "developer")]
        for role in roles if item.__name__ != "EasyInputMessageParam" else ["assistant"]:
            is_accepted(clauses, "message", keys, role)
        if not roles:
            is_accepted(clauses, kind_of(item), keys)
    for part in (
        types.ResponseInputTextParam,
        types.ResponseInputImageParam,
        types.ResponseInputFileParam,
        types.ResponseOutputTextParam,
        types.ResponseOutputRefusalParam,
    ):
        is_accepted(clauses, kind_of(part), set(part.__annotations__))


@pytest.fixture(scope="module")
def converse() -> dict[str, Any]:
    loaders = pytest.importorskip("botocore.loaders")
    shapes: dict[str, Any] = loaders.Loader().load_service_model("bedrock-runtime", "service-2")["shapes"]
    return shapes


@pytest.mark.parametrize("label", ["bedrock", "bedrock@mistral", "bedrock@writer"])
def test_bedrock_has_the_limits_of_its_service_model(converse: dict[str, Any], label: str) -> None:
    identifier, name = converse["ToolUseId"], converse["ToolName"]
    assert [item.pattern for item in of(label, IdCharset)] == [identifier["pattern"]]
    assert [item.most for item in of(label, IdLength)] == [identifier["max"]]
    for where in ("call", "tool"):
        names = of(label, NameForm, of=where)
        assert {name.pattern for name in names} - {""} == {name["pattern"]}
        assert max(name.most for name in names) == name["max"]
    roles = next(item for item in of(label, RoleOrder) if item.roles)
    assert list(roles.roles) == converse["ConversationRole"]["enum"]


def test_bedrock_accepts_all_keys_of_its_service_model(converse: dict[str, Any]) -> None:
    clauses = of("bedrock", UnknownKey)
    blocks = converse["ContentBlock"]["members"]
    is_accepted(clauses, "message", set(converse["Message"]["members"]))
    is_accepted(clauses, "part", set(blocks))
    for name, member in blocks.items():
        shape = converse[member["shape"]]
        if shape["type"] == "structure":
            is_accepted(clauses, name, set(shape["members"]))
    inside = set(converse["ToolResultContentBlock"]["members"])
    assert set(of("bedrock", ResultContent)[0].parts) == inside | {"json-other"}


@pytest.mark.parametrize(
    ("model", "label"),
    [
        ("us.anthropic.claude-sonnet-5", "bedrock"),
        ("us.amazon.nova-2-lite-v1:0", "bedrock"),
        ("mistral.voxtral-mini-3b-2507", "bedrock@mistral"),
        ("us.writer.palmyra-x5-v1:0", "bedrock@writer"),
        ("gemini-3.5-flash", "gemini@3"),
        ("models/gemini-2.0-flash", "gemini@2"),
        ("gemini-1.5-flash-latest", "gemini@2"),
        ("gemini-flash-latest", "gemini"),
        ("gemini-3-pro-preview", "vertex@3"),
        ("claude-3-7-sonnet@20250219", "anthropic"),
        ("gpt-5.6-sol", "openai-responses"),
    ],
)
def test_a_model_belongs_to_one_version(model: str, label: str) -> None:
    versions = [profile for profile in PROFILES if profile.name == label.partition("@")[0]]
    assert [version.label for version in versions if version.models and re.search(version.models, model)] == [
        label
    ]


def test_signatures_are_required_from_gemini_3_on() -> None:
    for name in ("gemini", "vertex"):
        clauses = [item for item in of(f"{name}@3", ThoughtSignature, what="missing") if not item.wires]
        assert [clause.severity for clause in clauses] == ["error"]
        assert (
            of(name, ThoughtSignature, what="missing")
            == of(f"{name}@2", ThoughtSignature, what="missing")
            == []
        )


ROOT = Path(__file__).parent.parent
CORPUS = Path(os.environ.get("TURNLINT_CORPUS", ROOT.parent / "shared" / "corpus"))
recorded = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
LISTS = {
    "anthropic": "messages",
    "bedrock-converse": "messages",
    "gemini": "contents",
    "openai-responses": "input",
}


def accepted(wire: str) -> Iterator[tuple[str, str, list[Any]]]:
    """The turns of each accepted request, with the recording's id and the host."""
    with gzip.open(CORPUS / "exchanges_dev.jsonl.gz", "rt", encoding="utf-8", errors="surrogatepass") as file:
        for line in file:
            one = json.loads(line)
            turns = one["request"].get(LISTS[wire]) if one["wire"] == wire else None
            if one["expect"] == "clean" and isinstance(turns, list):
                yield one["id"], one["host"], turns


def listed(value: Any) -> list[Any]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def keys_taken(clauses: list[UnknownKey], place: str, thing: dict[str, Any], role: str = "") -> bool:
    holding = [
        clause for clause in clauses if clause.place == place and (not clause.roles or role in clause.roles)
    ]
    return all(set(thing) <= set(item.known) for item in holding if item.known)


@recorded
def test_accepted_messages_satisfy_the_profile_of_anthropic() -> None:
    ids = re.compile(of("anthropic", IdCharset)[0].pattern)
    servers = re.compile(of("anthropic", IdForm)[0].pattern)
    clauses, blocks = of("anthropic", UnknownKey), 0
    for identifier, _, turns in accepted("anthropic"):
        for turn in turns:
            assert turn["role"] in ("user", "assistant"), identifier
            assert keys_taken(clauses, "message", turn, turn["role"]), identifier
            for block in listed(turn["content"]):
                blocks += 1
                kind, name = block["type"], block.get("id") or block.get("tool_use_id")
                own = kind not in ("tool_use", "tool_result")
                assert name is None or (servers if own else ids).fullmatch(name), identifier
                assert len(block.get("name", "")) <= 200, identifier
                assert keys_taken(clauses, kind, block), identifier
    assert blocks > 10_000


@recorded
def test_accepted_messages_satisfy_the_profile_of_bedrock() -> None:
    ids, names = re.compile("[a-zA-Z0-9_.:-]{1,64}"), re.compile("[a-zA-Z0-9_-]{1,64}")
    clauses, calls = of("bedrock", UnknownKey), 0
    for identifier, _, turns in accepted("bedrock-converse"):
        for turn in turns:
            for block in listed(turn["content"]):
                assert keys_taken(clauses, "part", block), identifier
                for kind, inner in block.items():
                    assert not isinstance(inner, dict) or keys_taken(clauses, kind, inner), identifier
                if "toolUse" in block:
                    calls += 1
                    assert ids.fullmatch(block["toolUse"]["toolUseId"]), identifier
                    assert names.fullmatch(block["toolUse"]["name"]), identifier
                    assert isinstance(block["toolUse"]["input"], dict), identifier
                assert "toolResult" not in block or block["toolResult"]["content"], identifier
    assert calls > 150


@recorded
def test_accepted_contents_satisfy_the_profile_of_gemini() -> None:
    clauses, names = of("gemini", UnknownKey), re.compile(of("gemini", NameForm, of="call")[0].pattern)
    roles = next(item.roles for item in of("gemini", RoleOrder) if item.roles)
    calls = 0
    for identifier, _, turns in accepted("gemini"):
        for turn in turns:
            assert turn.get("role", "") in roles, identifier
            assert keys_taken(clauses, "message", turn), identifier
            for part in listed(turn["parts"]):
                assert keys_taken(clauses, "part", part), identifier
                call = part.get("functionCall") or part.get("function_call")
                if call is not None:
                    calls += 1
                    assert names.fullmatch(call["name"]), identifier
                    assert keys_taken(clauses, "functionCall", call), identifier
                answer = part.get("functionResponse") or part.get("function_response")
                assert answer is None or isinstance(answer["response"], dict), identifier
    assert calls > 1000


@recorded
def test_accepted_items_satisfy_the_profile_of_responses() -> None:
    clauses = of("openai-responses", UnknownKey)
    forms = {item.kinds[0]: re.compile(item.pattern) for item in of("openai-responses", IdForm)}
    calls = 0
    for identifier, host, turns in accepted("openai-responses"):
        if host != "api.openai.com":
            continue
        for item in turns:
            kind = item.get("type", "message")
            role = item.get("role", "")
            assert keys_taken(clauses, "message" if role else kind, item, role), identifier
            assert len(item.get("call_id", "")) <= 64, identifier
            assert "id" not in item or kind not in forms or forms[kind].fullmatch(item["id"]), identifier
            for part in listed(item.get("content")):
                assert keys_taken(clauses, part["type"], part), identifier
            if kind == "function_call":
                calls += 1
                assert re.fullmatch("[a-zA-Z0-9_-]{1,128}", item["name"]), identifier
                assert isinstance(item["arguments"], str), identifier
    assert calls > 300


def test_an_empty_result_is_no_separate_fault() -> None:
    for name in NAMES:
        assert not of(name, EmptyContent, what="result-list")
