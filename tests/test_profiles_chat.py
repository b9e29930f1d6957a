"""Profiles of providers with OpenAI's wire or a similar one.

Their texts match only their own patterns; their keys are those of the SDKs; the profiles agree with executable
validators; and recorded refusals have findings.
"""

import gzip
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any, get_type_hints

import pytest

from turnlint import testing
from turnlint.clauses import UnknownKey
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, lint
from turnlint.model import Record, Request, Transcript, Wire
from turnlint.profiles import Known, Profile
from turnlint.providers import Chosen, Providers
from turnlint.rows import Row
from turnlint.wording import FIELDS

NAMES = (
    "openai", "azure-openai", "mistral", "kimi", "deepseek", "xai", "qwen", "groq", "cohere", "minimax", "glm",
    "fireworks", "together", "ollama", "vllm", "shared",
)  # fmt: skip
PROVIDERS = Providers(["turnlint_rules"])
BOOK = Book(Options())
PROFILES = [profile for name in NAMES for profile in PROVIDERS.versions(name)]
KNOWN = {name: PROVIDERS.versions(name)[0].known for name in NAMES}
TEXTS = [(name, known) for name in NAMES for known in KNOWN[name]]
TWINS = {"azure-openai": {"openai"}, "openai": {"azure-openai"}}
"""Providers that run the same validators."""
SAME_TEXT = {"Invalid 'tools[12].function.name': string does not match pattern."}
"""Texts that two providers share letter by letter."""

USER = {"role": "user", "content": "hi"}
Message = dict[str, Any]


def call(
    identifier: str | None = "aaaaaaaaa", name: str = "f", arguments: Any = "{}", **more: Any
) -> Message:
    given = {"id": identifier} if identifier is not None else {}
    return {**given, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def calls(*each: Message, content: Any = None, **more: Any) -> Message:
    return {"role": "assistant", "content": content, "tool_calls": list(each), **more}


def result(identifier: str | None = "aaaaaaaaa", content: Any = "done", **more: Any) -> Message:
    given = {"tool_call_id": identifier} if identifier is not None else {}
    return {"role": "tool", **given, "content": content, **more}


def judged(messages: list[Message], provider: str, **body: Any) -> list[Row]:
    request = {"model": "m", "temperature": 0, "messages": messages, **body}
    return testing.rows_of(json.dumps(request).encode() + b"\n", "openai-chat", provider)


def auto(model: str, host: str | None = None) -> Chosen:
    request = Request(Record(1, 0, b"{}"), model=model, host=host)
    chosen = PROVIDERS.auto(Transcript(Wire("openai-chat"), (), request=request))
    assert chosen is not None
    return chosen


def senders(text: str) -> set[str]:
    return {name for name in NAMES if any(re.search(item.pattern, text, re.DOTALL) for item in KNOWN[name])}


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.label)
def test_placeholders_of_texts_are_fields_of_a_finding(profile: Profile) -> None:
    for row in (*profile.clauses, *profile.weights):
        fields = {field for _, field, _, _ in Formatter().parse(row.says) if field is not None}
        assert fields <= FIELDS, row
        assert row.source, row
        assert re.fullmatch(r"20\d\d-\d\d", row.date), row
        for name in ("models", "other_models", "pattern"):
            re.compile(getattr(row, name, ""))
    assert len(
        {
            (weight.rule, weight.when, weight.at, weight.found, weight.role, weight.wires)
            for weight in profile.weights
        }
    ) == len(profile.weights)


@pytest.mark.parametrize(("name", "known"), TEXTS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_text_is_recognized_by_its_own_provider_only(name: str, known: Known) -> None:
    assert re.search(known.pattern, known.sample, re.DOTALL)
    assert all(re.fullmatch(r"(ST1|PA2|PR3|CO4)\d\d", code) for code in known.rules)
    assert known.rules or known.about
    if any(known.sample.startswith(text) for text in SAME_TEXT):
        return
    assert senders(known.sample) <= {name} | TWINS.get(name, set())


WRAPPED = {
    "openai": "Error code: 400 - {'error': {'message': \"Invalid parameter: messages with role 'tool' must be a response "
    "to a preceeding message with 'tool_calls'.\", 'param': 'messages.[4].role'}}",
    "deepseek": '{"error":{"message":"Messages with role \'tool\' must be a response to a preceding message with '
    '\'tool_calls\'","type":"invalid_request_error"}}',
    "qwen": '{"error":{"message":"<400> InternalError.Algo.InvalidParameter: messages with role \\"tool\\" must be a '
    'response to a preceeding message with \\"tool_calls\\"."}}',
    "kimi": "400 an assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: Shell:58",
    "cohere": "status_code: 400, body: {'message': \"invalid request: An assistant message with 'tool_calls' must be "
    "followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response "
    'messages: call_x"}',
}


@pytest.mark.parametrize("name", WRAPPED)
def test_a_text_is_recognized_inside_the_wrappers_of_clients(name: str) -> None:
    assert senders(WRAPPED[name]) == {name} | TWINS.get(name, set())


def test_ids_and_positions_are_read_from_a_text() -> None:
    def read(name: str, text: str) -> dict[str, Any]:
        matches = (re.search(item.pattern, text, re.DOTALL) for item in KNOWN[name])
        return next(match for match in matches if match).groupdict()

    ids = read("openai", f"{KNOWN['openai'][0].sample}, call_b. (request id: 2)")["ids"]
    assert ids == "call_PhKwFaRyuF54ysE7rufWae9v, call_b"
    place = read("openai", "Missing required parameter: 'messages[2].tool_calls[0].type'.")
    assert place == {"path": "messages[2].tool_calls[0].type", "index": "2"}
    assert read("kimi", KNOWN["kimi"][0].sample)["ids"] == "Agent:0"
    assert read("qwen", KNOWN["qwen"][0].sample)["index"] == "532"
    assert read("mistral", KNOWN["mistral"][0].sample)["ids"] == "call_123"
    assert read("minimax", "tool result's tool id(call_x) not found (2013)")["ids"] == "call_x"


def allowed(profile: Profile, place: str, role: str = "") -> set[str]:
    lists = [clause for clause in profile.clauses if isinstance(clause, UnknownKey) and clause.place == place]
    return {key for item in lists if not role or role in item.roles for key in item.known}


OPENAI_TYPES = {
    "system": "ChatCompletionSystemMessageParam", "user": "ChatCompletionUserMessageParam",
    "assistant": "ChatCompletionAssistantMessageParam", "tool": "ChatCompletionToolMessageParam",
    "function": "ChatCompletionFunctionMessageParam",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "module"), [("groq", "groq.types.chat"), ("fireworks", "openai.types.chat")]
)
def test_the_keys_of_a_strict_schema_are_those_of_its_sdk(name: str, module: str) -> None:
    types = pytest.importorskip(module)
    profile = PROVIDERS.versions(name)[0]
    for role, kind in OPENAI_TYPES.items():
        assert set(get_type_hints(getattr(types, kind))) <= allowed(profile, "message", role)
    assert set(get_type_hints(types.ChatCompletionMessageToolCallParam)) <= allowed(profile, "call")
    assert {"name", "arguments"} == allowed(profile, "function")


def test_the_keys_that_mistral_accepts_are_those_of_its_sdk() -> None:
    models = pytest.importorskip("mistralai.client.models")
    profile = PROVIDERS.versions("mistral")[0]
    for role in ("system", "user", "assistant", "tool"):
        assert set(getattr(models, f"{role.title()}Message").model_fields) == allowed(
            profile, "message", role
        )
    assert set(models.ToolCall.model_fields) == allowed(profile, "call")
    assert set(models.FunctionCall.model_fields) == allowed(profile, "function")


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
THOUGHT = {"type": "thinking", "thinking": "hm"}
TEXT = {"type": "text", "text": "hi"}
SYSTEM = {"role": "system", "content": "be brief"}
REPLY = {"role": "assistant", "content": "hello"}
TWO = calls(call("aaaaaaaaa"), call("bbbbbbbbb"))
CELLS: dict[str, list[Message]] = {
    "a sound conversation": [SYSTEM, USER, calls(call()), result(), REPLY, USER],
    "an id of another form": [USER, calls(call("call_123")), result("call_123")],
    "an id that says null": [USER, calls(call("null")), result("null")],
    "an empty id": [USER, calls(call("")), result("")],
    "a name with a dot": [USER, calls(call(name="a.b")), result()],
    "a name beside a result": [USER, calls(call()), result(name="a b")],
    "the same id twice in one message": [USER, calls(call(), call(arguments='{"x": 1}')), result(), result()],
    "an id used again later": [USER, calls(call()), result(), REPLY, USER, calls(call(arguments='{"x": 1}')), result()],
    "an unanswered call": [USER, calls(call()), REPLY, USER],
    "too few results": [USER, TWO, result(), REPLY, USER],
    "too many results": [USER, calls(call()), result(), result("bbbbbbbbb"), REPLY, USER],
    "a user after a result": [USER, calls(call()), result(), USER],
    "a system message after an assistant": [USER, REPLY, SYSTEM, USER],
    "a system message after a result": [USER, calls(call()), result(), SYSTEM, USER],
    "a result after a user": [USER, result(), USER],
    "words beside calls": [USER, calls(call(), content="let me look"), result()],
    "neither words nor calls": [USER, {"role": "assistant", "content": None}, USER],
    "an empty text and no calls": [USER, {"role": "assistant", "content": ""}, USER],
    "one role twice": [USER, USER, REPLY, REPLY, USER],
    "an assistant at the start": [REPLY, USER],
    "a result alone": [result()],
    "an assistant alone": [REPLY],
    "an assistant at the end": [USER, REPLY],
    "a prefix at the end": [USER, {**REPLY, "prefix": True}],
    "open calls at the end": [USER, calls(call())],
    "some results at the end": [USER, TWO, result()],
    "arguments that are no JSON": [USER, calls(call(arguments="{oops")), result()],
    "arguments as an object": [USER, calls(call(arguments={"x": 1})), result()],
    "a result without an id": [USER, calls(call()), result(None)],
    "a picture in a result": [USER, calls(call()), result(content=[TEXT, PICTURE])],
    "a thought": [USER, {"role": "assistant", "content": [THOUGHT, TEXT]}, USER],
}  # fmt: skip
COUNTED = {
    "one call answered twice, the other never": [USER, TWO, result(), result(), REPLY, USER],
    "a foreign id on the second result": [USER, TWO, result(), result("ccccccccc"), REPLY, USER],
}
"""Up to v7 the library counts results and accepts these; the assignment of results is lost nevertheless."""
VERSIONS = ("v1", "v2", "v3", "v7", "v11", "v13", "v15")


def refused(version: str, messages: list[Message]) -> bool:
    exceptions = pytest.importorskip("mistral_common.exceptions")
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
    from mistral_common.tokens.tokenizers.base import TokenizerVersion

    request: Any = ChatCompletionRequest(model="m", messages=messages)
    try:
        get_validator(TokenizerVersion(version), ValidationMode.serving).validate_request(request)
    except exceptions.MistralCommonException:
        return True
    return False


def errors(version: str, messages: list[Message]) -> set[str]:
    label = "mistral@v1" if version == "v2" else f"mistral@{version}"
    return {row.finding.code for row in judged(messages, label) if row.finding.severity == "error"}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("cell", CELLS)
def test_a_version_of_mistral_agrees_with_its_validator(cell: str, version: str) -> None:
    assert bool(errors(version, CELLS[cell])) is refused(version, CELLS[cell])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("cell", COUNTED)
def test_faults_that_a_counting_validator_accepts_are_still_found(cell: str, version: str) -> None:
    assert refused(version, COUNTED[cell]) is (version in {"v11", "v13", "v15"})
    assert "PA201" in errors(version, COUNTED[cell])


LONG = "x" * 51
FAULTS: list[tuple[str, list[Message], str, str]] = [
    ("openai", [USER, calls(call("y" * 83)), result("y" * 83)], "error PR302", "maximum length 64, but got a string with length 83"),
    ("openai", [USER, calls(call(LONG)), result(LONG)], "warning PR302", "maximum length 40"),
    ("openai@40", [USER, calls(call(LONG)), result(LONG)], "error PR302", "Invalid 'messages[1].tool_calls[0].id'"),
    ("azure-openai", [USER, calls(call(LONG)), result(LONG)], "error PR302", "maximum length 40"),
    ("openai", [USER, calls(call(name="a.b")), result()], "error PR306", "Invalid 'messages[1].tool_calls[0].function.name'"),
    ("openai", [USER, calls(call(arguments={})), result()], "error PR307", "expected a string, but got an object"),
    ("openai", [USER, {"role": "assistant", "content": None}, USER], "error PR318", "expected a string, got null"),
    ("openai", [USER, {**REPLY, "tool_calls": []}, USER], "error PR318", "Invalid 'messages[1].tool_calls': empty array"),
    ("kimi", [USER, calls(call("f:0")), result("")], "error ST104", "tool_call_id  is not found"),
    ("openai", [USER, result()], "error PA202", "a preceeding message"),
    ("openai", [USER, calls(call()), result(), result()], "error PA205", "Duplicate value for 'tool_call_id' of 'aaaaaaaaa'"),
    ("openai", [USER, calls(call(), reasoning_content="hm"), result()], "warning PR317", "messages[1].reasoning_content"),
    ("openai", [USER, calls(*(call(str(n)) for n in range(129))), *(result(str(n)) for n in range(129))], "error PR319", "length 129"),
    ("mistral", [USER, calls(call("call_1")), result("call_1")], "error PR303", "Tool call id was call_1 but must be"),
    ("mistral", [USER, calls(call(), reasoning_content="hm"), result()], "error PR317", '"assistant", "reasoning_content"'),
    ("mistral", [USER, calls(call()), result(), USER], "warning PR310", "Unexpected role 'user' after role 'tool'"),
    ("mistral", [USER, {"role": "assistant", "content": ""}, USER], "error PR312", "but not none"),
    ("kimi", [USER, calls(call("call_1")), result("call_1")], "warning PR303", ""),
    ("kimi", [USER, calls(call("f:0"), call("f:0")), result("f:0"), result("f:0")], "error PR305", "tool call id f:0 is duplicated"),
    ("kimi", [USER, {"role": "assistant", "content": "", "reasoning_content": "hm"}, USER], "error PR312", "at position 1"),
    ("deepseek", [{"role": "developer", "content": "x"}, USER], "error PR310", "unknown variant `developer`"),
    ("deepseek", [USER, calls(call()), USER], "error PA201", "(insufficient tool messages following"),
    ("deepseek@r1", [USER, calls(call(), reasoning_content="hm"), result()], "error PR317", ""),
    ("xai", [USER, calls(call(arguments="")), result()], "error PR307", "not a valid JSON string"),
    ("xai", [USER, calls(call()), USER], "warning PA201", ""),
    ("qwen", [USER, calls(call(arguments="[1]")), result()], "error PR307", "must be in JSON format"),
    ("qwen", [SYSTEM, REPLY], "error PR310", "do not contain elements with the role of user"),
    ("qwen", [USER, calls(call()), USER], "error PA201", "message[2].role"),
    ("groq", [USER, calls(call(), reasoning_content="hm"), result()], "error PR317", "property 'reasoning_content' is unsupported"),
    ("groq", [USER, calls(call(), call("b")), result(), result(None)], "error ST104", "('messages.3.tool_call_id'"),
    ("minimax", [USER, calls(call(arguments='{"a"')), result()], "error PR307", "tool_call_id: aaaaaaaaa (2013)"),
    ("minimax", [SYSTEM, SYSTEM, USER], "error PR310", "invalid chat setting (2013)"),
    ("minimax", [USER, REPLY, SYSTEM, USER], "warning PR310", "invalid message role: system (2013)"),
    ("xai", [USER, REPLY, {"role": "user", "content": ""}], "warning PR312", "An empty user message was provided"),
    ("vllm", [USER, calls({"id": "a", "function": {"name": "f", "arguments": "{}"}}), result("a")], "warning PR318", "Missing tool call type"),
    ("deepseek", [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}], "warning PR325", "unknown variant `image_url`"),
    ("glm", [USER, {"role": "user", "content": [{"type": "text", "text": ""}]}], "error PR312", "messages[1].content[0].text"),
    ("glm", [SYSTEM, REPLY], "error PR310", "The messages parameter is illegal"),
    ("fireworks", [USER, calls(call()), result(tool_name="f")], "error PR317", "field: 'messages[2].tool_name'"),
    ("cohere", [USER, calls(call()), USER], "error PA201", "invalid request: An assistant message"),
    ("ollama", [USER, calls(call()), USER, result("zzz")], "warning PA201", ""),
    ("together", [USER, result()], "warning PA202", ""),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "messages", "expected", "expected_words"), FAULTS)
def test_a_fault_is_reported_in_the_words_of_the_provider(
    provider: str, messages: list[Message], expected: str, expected_words: str
) -> None:
    rows = judged(messages, provider)
    texts = [
        row.finding.provider_error or ""
        for row in rows
        if f"{row.finding.severity} {row.finding.code}" == expected
    ]
    assert texts, [f"{row.finding.severity} {row.finding.code}" for row in rows]
    assert any(expected_words in text for text in texts), texts


SOUND: list[tuple[str, list[Message]]] = [
    ("openai", [SYSTEM, USER, calls(call("1"), call("2", arguments="{oops")), result("2"), result("1"), USER]),
    ("openai", [USER, calls(call("call_aB-1_:.")), result("call_aB-1_:."), REPLY]),
    ("openai", [USER, {"role": "assistant", "content": ""}, USER, {**USER, "name": "user_1"}]),
    ("mistral", [USER, calls(call(arguments={"x": 1}, index=0), content="", prefix=False), result(name="tool")]),
    ("kimi", [USER, calls(call("functions.f:0"), call("g:1")), result("functions.f:0"), result("g:1"), REPLY]),
    ("kimi", [USER, {"role": "assistant", "content": " "}, USER]),
    ("groq", [USER, calls(call("functions.f:0"), reasoning="hm"), result("functions.f:0", name="f")]),
    ("xai", [USER, calls(call()), result(), USER]),
    ("ollama", [USER, calls(call(), content=""), result(), REPLY, SYSTEM, USER]),
    ("vllm", [USER, calls(call(), call("b")), result(), result("b"), REPLY]),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "messages"), SOUND)
def test_an_accepted_request_is_no_fault(provider: str, messages: list[Message]) -> None:
    assert [row.finding.code for row in judged(messages, provider) if row.finding.severity == "error"] == []


MODELS = {
    "gpt-4.1-nano": "openai", "o3-mini": "openai", "gpt-5": "openai", "ft:gpt-4o-mini:org::1": "openai",
    "mistral-small-latest": "mistral@hosted", "open-mistral-nemo": "mistral@hosted", "devstral-small-2507": "mistral@hosted",
    "kimi-k2-0905-preview": "kimi@k2", "moonshot-v1-8k": "kimi@k2", "kimi-k3": "kimi@k3", "deepseek-reasoner": "deepseek",
    "grok-4.3": "xai", "qwen3-coder-plus": "qwen", "qwen-max-latest": "qwen", "llama-3.3-70b-versatile": "groq",
    "command-a-03-2025": "cohere", "MiniMax-M2.1": "minimax", "glm-4.6v": "glm",
    "accounts/fireworks/models/kimi-k2": "fireworks", "llama3.2:3b": "ollama", "gpt-oss:120b-cloud": "ollama",
    "mistral-small3.1": "shared", "qwen3": "shared", "gpt-oss-120b": "shared", "anthropic/claude-haiku-4.5": "shared",
    "anthropic.claude-3-5-sonnet-20240620-v1:0": "shared", "moonshotai/kimi-k2-instruct-0905": "shared",
}  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
def test_a_model_alone_gives_its_provider_as_a_guess(model: str) -> None:
    chosen = auto(model)
    assert chosen.profile.label == MODELS[model]
    assert chosen.certain is (chosen.profile.name == "shared")


GEMINI = "generativelanguage.googleapis.com"
HOSTS = {
    "api.openai.com": "openai", "eu.api.openai.com": "openai", "example.openai.azure.com": "azure-openai",
    "api.mistral.ai": "mistral", "api.moonshot.cn": "kimi", "api.deepseek.com": "deepseek", "api.x.ai": "xai",
    "dashscope-intl.aliyuncs.com": "qwen", "api.groq.com": "groq", "api.cohere.com": "cohere",
    "api.minimaxi.com": "minimax", "open.bigmodel.cn": "glm", "api.fireworks.ai": "fireworks",
    "api.together.xyz": "together", "ollama.com": "ollama", "openrouter.ai": "shared",
    GEMINI: "gemini",
}  # fmt: skip
VERSIONED = {"kimi-k3": "kimi@k3", "kimi-k2.6": "kimi@k2", "moonshot-v1-8k": "kimi@k2"}


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_gives_its_provider_with_certainty(host: str) -> None:
    chosen = auto("some-model", host)
    assert (chosen.profile.name, chosen.certain) == (HOSTS[host], True)
    assert {model: auto(model, "api.moonshot.ai").profile.label for model in VERSIONED} == VERSIONED


def gemini_request(model: str, *, signed: bool = False) -> Message:
    more = {"extra_content": {"google": {"thought_signature": "c2ln"}}} if signed else {}
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}, **more}
    return {
        "model": model,
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        ],
    }


@pytest.mark.parametrize("times", [1, 40])
@pytest.mark.parametrize(
    "outer", [{"host": GEMINI}, {"url": f"https://{GEMINI}/v1beta/openai/chat/completions"}]
)
def test_the_host_of_gemini_names_it_on_the_wire_of_chat_completions(
    outer: dict[str, str], times: int, tmp_path: Path
) -> None:
    """Gemini 3 refuses a call without its signature there (openai-python 2758); Gemini 2.5 took one (c920311aadc5cd8a)."""
    found = {}
    for model, signed in (
        ("gemini-3-pro-preview", False),
        ("gemini-3-pro-preview", True),
        ("gemini-2.5-pro", False),
    ):
        log = tmp_path / "a.jsonl"
        log.write_text(
            (json.dumps({**outer, "request": gemini_request(model, signed=signed)}) + "\n") * times
        )
        rows = [
            event for event in lint(Source("a.jsonl", str(log)), Options(), BOOK) if isinstance(event, Row)
        ]
        found[model, signed] = [
            (row.finding.code, row.finding.severity, row.finding.provider) for row in rows
        ]
    assert found == {
        ("gemini-3-pro-preview", False): [("PR320", "error", "gemini")] * times,
        ("gemini-3-pro-preview", True): [],
        ("gemini-2.5-pro", False): [],
    }


@pytest.mark.parametrize("host", [None, "openrouter.ai", "my-gateway.example"])
def test_a_model_of_gemini_at_another_host_is_checked_like_any_server(host: str | None) -> None:
    assert auto("google/gemini-3-pro-preview", host).profile.name == "shared"


ROOT = Path(__file__).parent.parent
CORPUS = Path(os.environ.get("TURNLINT_CORPUS", ROOT.parent / "shared" / "corpus"))
RECORDED = {
    "openai-chat": "openai", "mistral": "mistral", "deepseek": "deepseek", "xai": "xai", "groq": "groq", "zai": "glm",
    "ollama": "ollama", "ollama-cloud": "ollama", "fireworks": "fireworks", "together": "together", "cohere": "cohere",
    "llamacpp": "vllm", "gpustack": "vllm",
}  # fmt: skip
"""Profiles by the names of endpoints in the recordings."""
REFUSED = {
    "640045b2ab2a78f1": "PR311", "8ce17577974dac49": "PA203", "c0e5c02f0158bb42": "ST105", "df6f279d0c7a1b19": "PR321",
    "794aa3b4506cc972": "PR310", "ed7ad341dda2f362": "PR310", "f5bcf8c0b5ba82bd": "PR310", "7b121690ce894e73": "ST103",
    "c0ca61a23ba9361e": "ST103", "71b8da6ff947a852": "ST103", "4a701ec87220729f": "ST103",
}  # fmt: skip


def recorded() -> Iterator[tuple[str, Message]]:
    with gzip.open(CORPUS / "exchanges_dev.jsonl.gz", "rt", encoding="utf-8", errors="surrogatepass") as file:
        for exchange in map(json.loads, file):
            name = RECORDED.get(exchange["provider"])
            if name and exchange["wire"] in ("openai-chat", "cohere-v2"):
                yield ("azure-openai" if "azure" in (exchange["host"] or "") else name), exchange


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
def test_findings_of_recorded_requests_agree_with_their_server() -> None:
    groups: defaultdict[str, list[Message]] = defaultdict(list)
    for name, exchange in recorded():
        if exchange["expect"] == "clean" or exchange["id"] in REFUSED:
            groups[name].append(exchange)
    found: dict[str, set[str]] = {}
    for name, exchanges in groups.items():
        data = "".join(json.dumps(exchange["request"]) + "\n" for exchange in exchanges)
        for row in testing.rows_of(data.encode(errors="surrogatepass"), "openai-chat", name):
            if row.finding.severity == "error":
                found.setdefault(exchanges[row.place.line - 1]["id"], set()).add(row.finding.code)
    assert sum(map(len, groups.values())) > 6000
    assert found.keys() == REFUSED.keys()
    assert all(code in found[name] for name, code in REFUSED.items())
    for name, exchange in recorded():
        text, code = str(exchange.get("error")), REFUSED.get(exchange["id"])
        explained = [item.rules for item in KNOWN[name] if code and re.search(item.pattern, text, re.DOTALL)]
        assert code is None or any(code in rules for rules in explained), exchange["id"]
