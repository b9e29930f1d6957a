"""Test `turnlint inspect` and `turnlint formats`."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from arbitrary_json import ANYTHING, CONTAINERS, MANY
from budgets import examples
from hostile import POISONS, assert_safe
from turnlint.carriers import NAMES, carrier
from turnlint.cli import cli
from turnlint.inspecting.quirks import QUIRKS
from turnlint.inspecting.tells import TELLS
from turnlint.neighbours.families import FAMILIES, SIMILAR

FIXTURES = Path(__file__).parent.parent / "fixtures"
PLACES = sorted(
    path
    for folder in ("formats", "hostile")
    for path in (FIXTURES / folder).rglob("*.*")
    if path.suffix != ".txt"
)
ROOT = Path(__file__).parent.parent
SAMPLES = Path(os.environ.get("TURNLINT_CORPUS", ROOT.parent / "shared" / "corpus")) / "format_samples"
SCHEMA = json.loads(
    (Path(__file__).parent.parent / "lint" / "turnlint" / "schemas" / "inspect-v1.json").read_text()
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
WORDS = "a secret that nobody may see"
CALL = {
    "id": "call_1", "type": "function",
    "function": {"name": "find", "arguments": json.dumps({"query": WORDS, "most": 3, "deep": [WORDS]})},
}  # fmt: skip
MESSAGES = [
    {"role": "user", "content": WORDS},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": WORDS},
]


def inspect(*arguments: Any, stdin: bytes = b"", columns: str = "100") -> Result:
    done = CliRunner().invoke(
        cli, ["inspect", *map(str, arguments)], input=stdin, env={"COLUMNS": columns, "NO_COLOR": "1"}
    )
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return done


def facts(*arguments: Any, stdin: bytes = b"", code: int = 0) -> dict[str, Any]:
    done = inspect(*arguments, "--output-format", "json", stdin=stdin)
    assert done.exit_code == code, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    VALIDATOR.validate(report)
    return report


def facts_of(*records: Any, code: int = 0) -> dict[str, Any]:
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    (file,) = facts("-", "--stdin-filename", "log.jsonl", stdin=data, code=code)["files"]
    assert isinstance(file, dict)
    return file


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


REQUESTS = """\
requests.jsonl
  file         one record per line: 900 bytes, 2 records
  format       openai-chat (OpenAI Chat Completions)
  evidence     keys of this format only in 2 records; records examined: 2
               next, mistral: keys of this format only in 1 record
  mixed        mistral 1, openai-chat 1
  wire         mistral, openai-chat
  grouping     2 conversations: 2 within one record
  provider     mistral@hosted (host api.mistral.ai, wire mistral): 1 conversation
  provider     openai (model gpt-4o, wire openai-chat): 1 conversation; only the model name suggests
               it, so findings are warnings
  models       gpt-4o 1, mistral-small 1
  messages     6: 2 assistant, 2 tool, 2 user
  calls        2
  results      2
  tools        find 2
  ids          call_… 2; longest: 6 characters
  arguments    JSON in a string 2
  parsers      mistral/function 1, openai-chat/function 1
  example      a call of find at line 1 /messages/1/tool_calls/0
               its id: call_…, 6 characters
               its arguments, JSON in a string: query string, most number, deep array
               its result at line 1 /messages/2 (complete)
  quirks       arguments-as-text 2: arguments are JSON in a string; first at line 1
               /messages/1/tool_calls/0
  lint         checks: records, calls and results, provider rules
  fix          in place; results can be added
  render       not yet
"""
UNKNOWN = """\
unknown.json
  file         one JSON document: 88 bytes, 1 record
  format       unrecognized format: it looks like messages of another chat format; not supported yet
  looks like   messages of another chat format ([].role, [].content) in 1 record, not supported yet
  nearest      openai-chat: has [].role, [].content; missing [].tool_calls[].function
  records      line 1: array of objects with role string, content object, \\u{202e}x number
"""
HOSTILE = """\
hostile.jsonl
  file         one record per line: 244 bytes, 2 records
  damage       in 1 record: torn 1; `turnlint lint` shows where
  format       openai-chat (OpenAI Chat Completions)
  evidence     keys of this format only in 1 record; records examined: 2
  wire         openai-chat
  grouping     1 conversation: 1 within one record
  provider     shared (rules that all servers of this API share): 1 conversation
  models       none
  messages     1: 1 assistant
  calls        1, 1 at the end, still open
  results      0
  tools        \\u{1b}]0;t\\u{7}\\u{a}::error::x 1
  ids          other 1; longest: 5 characters
  arguments    JSON in a string 1
  parsers      openai-chat/function 1
  example      a call of \\u{1b}]0;t\\u{7}\\u{a}::error::x at line 1 /messages/0/tool_calls/0
               its id: other, 5 characters
               its arguments, JSON in a string: \\u{202e} number
               it has no result
  quirks       arguments-as-text 1: arguments are JSON in a string; first at line 1
               /messages/0/tool_calls/0
  lint         checks: records, calls and results, provider rules
  fix          in place; results can be added
  render       not yet
"""


def requests_log() -> str:
    bodies = (
        {"model": "gpt-4o", "messages": MESSAGES},
        {"host": "api.mistral.ai", "request": {"model": "mistral-small", "messages": MESSAGES}},
    )
    return "".join(json.dumps(body) + "\n" for body in bodies)


def test_the_text_report_of_a_log_of_requests(folder: Path) -> None:
    (folder / "requests.jsonl").write_text(requests_log())
    done = inspect("requests.jsonl")
    assert (done.stdout, done.exit_code) == (REQUESTS, 0)


def test_a_packed_file_is_reported_by_its_content(folder: Path) -> None:
    (folder / "requests.jsonl.gz").write_bytes(gzip.compress(requests_log().encode(), mtime=0))
    shown = inspect("requests.jsonl.gz").stdout.splitlines()
    assert " bytes of gzip, 900 unpacked, 2 records" in shown[1]
    assert shown[2:] == REQUESTS.splitlines()[2:]


def test_an_unknown_format_is_described_by_its_keys_and_not_guessed(folder: Path) -> None:
    messages = [{"role": "human", "content": {"secret": WORDS}, "\u202ex": 1}]
    (folder / "unknown.json").write_text(json.dumps(messages))
    done = inspect("unknown.json")
    assert (done.stdout, done.exit_code) == (UNKNOWN, 3)


def test_hostile_names_are_shown_without_effect(folder: Path) -> None:
    call = {
        "id": "\x1b[31m", "type": "function",
        "function": {"name": "\x1b]0;t\x07\n::error::x", "arguments": json.dumps({"\u202e": 1})},
    }  # fmt: skip
    messages = {"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]}
    (folder / "hostile.jsonl").write_text(
        json.dumps(messages) + '\n{"messages": [{"role": "user", "content": "x'
    )
    done = inspect("hostile.jsonl")
    assert (done.stdout, done.exit_code) == (HOSTILE, 0)


def test_a_session_lists_replayed_and_abandoned_parts() -> None:
    path = FIXTURES / "formats" / "claude-code" / "edited-prompt-leaves-a-branch.jsonl"
    content = facts(path)["files"][0]["content"]
    assert content["formats"] == {"claude-code": 1}
    assert content["wires"] == {"anthropic": 1}
    grouping = content["grouping"]
    assert (grouping["session"], grouping["record"], len(grouping["left_behind"])) == (1, 0, 1)
    assert content["able"]["projection"] == "named"
    assert not content["providers"][0]["projection"]
    shown = inspect(path).stdout
    assert f"not replayed {grouping['left_behind'][0]['messages']} message" in shown
    assert "provider rules only with --provider NAME" in " ".join(shown.split())


def test_a_session_names_its_models(folder: Path) -> None:
    def line(number: int, kind: str, **fields: Any) -> str:
        message = {"role": kind, "content": [{"type": "text", "text": "x"}], **fields}
        parent = f"u{number - 1}" if number else None
        return json.dumps(
            {"type": kind, "uuid": f"u{number}", "parentUuid": parent, "sessionId": "s", "message": message}
        )

    lines = (
        line(0, "user"), line(1, "assistant", model="claude-x"), line(2, "assistant", model="<synthetic>"),
    )  # fmt: skip
    (folder / "session.jsonl").write_text("\n".join(lines) + "\n")
    assert facts("session.jsonl")["files"][0]["content"]["models"]["names"] == [
        {"name": "claude-x", "count": 1}
    ]


def test_no_content_is_shown_by_default(folder: Path) -> None:
    (folder / "requests.jsonl").write_text(requests_log())
    for output in ("text", "json"):
        assert "secret" not in inspect("requests.jsonl", "--output-format", output).output
    assert inspect("requests.jsonl", "--show-content", "excerpt").output.count(WORDS.split()[1]) == 3
    printed = inspect("requests.jsonl", "--show-content", "excerpt", "--output-format", "json").output
    assert "secret" not in printed


def test_messages_on_lines_are_one_conversation_of_many_records() -> None:
    grouping = facts_of(*({**message, "session_id": "s-1"} for message in MESSAGES))["content"]["grouping"]
    assert (grouping["conversations"], grouping["lines"]) == (1, 1)


@pytest.mark.parametrize(
    ("quirk", "change"),
    [
        ("id-redacted", lambda messages: messages[1]["tool_calls"][0].update(id="REDACTED")),
        ("id-absent", lambda messages: messages[1]["tool_calls"][0].pop("id")),
        ("paired-by-position", lambda messages: (messages[1]["tool_calls"][0].pop("id"), messages[2].pop("tool_call_id"))),
        ("id-reused", lambda messages: messages.extend(messages[1:])),
        ("result-elsewhere", lambda messages: messages.insert(2, messages[0])),
        ("result-synthetic", lambda messages: messages[2].update(content="No result provided")),
        ("arguments-torn", lambda messages: messages[1]["tool_calls"][0]["function"].update(arguments='{"a": [1')),
        ("misfit", lambda messages: messages[0].update(role=7)),
        ("foreign-dialect", lambda messages: messages[0].update(
            content=[{"type": "tool_result", "tool_use_id": "x", "content": "y"}])),
    ],
)  # fmt: skip
def test_a_quirk_is_reported_with_its_position(quirk: str, change: Any) -> None:
    messages = json.loads(json.dumps(MESSAGES))
    sound = facts_of({"messages": messages})["content"]["quirks"]
    change(messages)
    met = {item["name"]: item for item in facts_of({"messages": messages})["content"]["quirks"]}
    assert quirk not in {item["name"] for item in sound}
    assert met[quirk]["count"] >= 1
    assert met[quirk]["first"]["line"] == 1
    assert met[quirk]["first"]["pointer"].startswith("/messages/")


def test_counts_ids_and_places_are_exact() -> None:
    calls = [{**CALL, "id": f"hist_tool_{'a' * 24}"}, {**CALL, "id": "toolu_1"}, {**CALL, "id": "call_9"}]
    messages = [
        MESSAGES[0],
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "toolu_1", "content": "x"},
        {"role": "tool", "tool_call_id": "toolu_1", "content": "again"},
        {"role": "tool", "tool_call_id": "nobody", "content": "x"},
        MESSAGES[0],
    ]
    tools = [{"type": "function", "function": {"name": name}} for name in ("find", "sing")]
    content = facts_of({"messages": MESSAGES}, {"messages": messages, "tools": tools})["content"]
    counts = content["counts"]
    expected = {
        "messages": 9, "calls": 4, "unanswered": 2, "waiting": 0, "results": 4, "orphans": 1, "duplicates": 1,
        "declared_tools": 2,
    }  # fmt: skip
    assert {name: counts[name] for name in expected} == expected
    assert content["ids"]["forms"] == {"call_…": 2, "hist_tool_…": 1, "toolu_…": 1}
    assert (content["ids"]["canonical"], content["ids"]["longest"]) == (1, 34)
    assert content["example"]["call"] == {"line": 1, "pointer": "/messages/1/tool_calls/0"}
    assert content["example"]["result"] == {"line": 1, "pointer": "/messages/2"}


def test_a_recording_is_not_rewritten_in_place() -> None:
    answer = {"choices": [{"message": {"role": "assistant", "content": "done"}}]}
    able = facts_of({"request": {"model": "gpt-4o", "messages": MESSAGES}, "response": answer})["content"][
        "able"
    ]
    assert not able["in_place"]
    assert able["bound"]


def test_a_record_of_no_particular_format_is_reported_as_read_by_default(folder: Path) -> None:
    (folder / "talk.jsonl").write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    shown = inspect("talk.jsonl").stdout
    assert "evidence     no key is unique to one format; keys shared by several formats in 1 record" in shown


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"", 3, "the file has no records"),
        (b"\n\n", 3, "the file has no records"),
        (b'{"messages": [{"role"', 3, "no JSON"),
        (b"\xff\xfe{\x00", 3, "utf-16 1"),
        (b"\x1f\x8b\x08\x00abc", 3, "compressed-badly 1"),
        (b"[" * 100_000, 3, "too-deep 1"),
        (b"data: {}\n\ndata: {}\n", 3, "server-sent events"),
    ],
)
def test_a_file_without_a_conversation_is_reported_too(data: bytes, code: int, words: str) -> None:
    done = inspect("-", stdin=data)
    assert words in done.stdout
    assert done.exit_code == code


def test_exit_codes_and_reports_of_a_folder(folder: Path) -> None:
    assert inspect("nowhere.jsonl").exit_code == 2
    assert inspect().exit_code == 2
    (folder / "logs").mkdir()
    assert inspect("logs").exit_code == 3
    (folder / "logs" / "package.json").write_text('{"name": "left-pad"}')
    assert inspect("logs").exit_code == 3
    (folder / "logs" / "talk.jsonl").write_text(json.dumps({"messages": MESSAGES}) + "\n")
    done = inspect("logs")
    assert done.exit_code == 0
    assert done.stdout.startswith("logs/package.json: unrecognized format\n\nlogs/talk.jsonl\n")
    (folder / "bad.zst").write_bytes(b"\x28\xb5")
    assert [file["path"] for file in facts("logs")["files"]] == ["logs/package.json", "logs/talk.jsonl"]


def test_standard_input_is_reported_like_the_file(folder: Path) -> None:
    (folder / "requests.jsonl").write_text(requests_log())
    packed = gzip.compress(requests_log().encode())
    here = facts("requests.jsonl")["files"][0]
    for data in (requests_log().encode(), packed):
        piped = facts("-", "--stdin-filename", "requests.jsonl", stdin=data)["files"][0]
        assert piped["content"] | {"able": here["content"]["able"]} == here["content"]
        assert not piped["content"]["able"]["in_place"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", PLACES, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_every_fixture_is_reported(path: Path) -> None:
    done = inspect(path, columns="80")
    assert_safe(done.stdout.encode(), "text", path.name)
    shown = inspect(path, "--output-format", "json")
    VALIDATOR.validate(json.loads(shown.stdout))
    assert_safe(shown.stdout.encode(), "json", path.name)
    assert done.exit_code == shown.exit_code
    if path.parent.name in NAMES and ".fixed" not in path.name:
        formats = json.loads(shown.stdout)["files"][0]["content"]["formats"]
        assert any(name.startswith(path.parent.name) for name in formats)  # `cohere-v1` is read by `cohere`


@pytest.mark.parametrize("poison", POISONS)
@pytest.mark.parametrize("columns", ["1", "70"])
def test_a_poisoned_name_does_nothing(poison: str, columns: str) -> None:
    call = {
        "id": poison,
        "type": "function",
        "function": {"name": f"a {poison}", "arguments": json.dumps({poison: 1})},
    }
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": poison},
    ]
    for record in (
        {"model": poison, "host": f"{poison}.example", "messages": messages},
        {poison: {f"x {poison}": 1}},
    ):
        data = json.dumps(record).encode()
        done = inspect(
            "-", "--stdin-filename", poison, "--show-content", "excerpt", stdin=data, columns=columns
        )
        assert_safe(done.stdout.encode(), "text")
        done = inspect("-", "--output-format", "json", stdin=data)
        assert_safe(done.stdout.encode(), "json")


LIKE_CHAT = st.fixed_dictionaries(
    {"messages": st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool"])}, optional={
        "content": CONTAINERS | st.just("x"),
        "tool_calls": CONTAINERS | st.lists(st.fixed_dictionaries({"id": CONTAINERS | st.just("a"), "function": CONTAINERS})),
        "tool_call_id": CONTAINERS | st.just("a"),
    }), max_size=4)},
    optional={"model": CONTAINERS, "tools": CONTAINERS, "type": st.just("user"), "uuid": CONTAINERS, "parentUuid": CONTAINERS},
)  # fmt: skip


@settings(MANY, max_examples=examples(150))
@given(
    st.lists(ANYTHING | LIKE_CHAT.map(lambda record: json.dumps(record).encode()), max_size=4).map(b"\n".join)
)
def test_no_content_of_a_file_breaks_inspect(data: bytes) -> None:
    for output in ("text", "json"):
        done = inspect("-", "--output-format", output, stdin=data)
        assert done.exit_code in (0, 3), done.output
        assert_safe(done.stdout.encode(), output)
        if output == "json":
            VALIDATOR.validate(json.loads(done.stdout))


@MANY
@given(data=st.binary(max_size=300))
def test_damage_after_the_magic_bytes_of_a_packing_is_reported(data: bytes) -> None:
    for magic in (b"\x1f\x8b", b"\x28\xb5\x2f\xfd"):
        assert inspect("-", stdin=magic + data).exit_code in (0, 3)


def test_the_known_keys_belong_to_existing_formats() -> None:
    assert set(TELLS) <= set(NAMES)  # a new format is one file; without a row it is only never suggested
    assert len(TELLS) >= 15
    assert all(len(name) <= 24 for name in QUIRKS)


FAMILY_OF = {
    "otlp_json_genai": "OpenTelemetry spans (OTLP)", "otel_span_openinference": "OpenTelemetry spans",
    "otel_genai_events_legacy": "OpenTelemetry events", "vercel_ai_uimessages": "Vercel AI UIMessages",
    "vercel_ai_modelmessages": "Vercel AI ModelMessages", "opencode_export": "an OpenCode export",
    "opencode_run_json": "an OpenCode run", "stream_openai_chat_chunks": "a stream of Chat Completions",
    "stream_openai_responses_events": "a stream of OpenAI Responses", "stream_anthropic_sse": "server-sent events",
    "stream_bedrock_converse": "a stream of Bedrock Converse", "codex_exec_json": "events of `codex exec --json`",
    "claude_code_stream_json": "a stream of the Claude Agent SDK", "cursor_cli_stream_json": "a stream of the Cursor CLI",
    "qwen_code_chat": "a Qwen Code session", "llxprt_session": "an llxprt session", "goose_export": "a goose session",
    "goose_session_legacy": "a goose session", "copilot_cli_events": "events of the Copilot CLI",
    "openhands_sdk_events": "events of the OpenHands SDK", "openhands_v0_events": "events of OpenHands",
    "amp_thread": "an Amp thread", "google_adk_session": "a Google ADK session",
    "pydantic_ai_messages": "pydantic-ai messages", "atif": "an ATIF trajectory", "inspect_eval_sample": "an Inspect log",
    "langfuse_observations": "Langfuse observations", "langsmith_run": "LangSmith runs", "mlflow_trace": "MLflow traces",
    "braintrust_span": "Braintrust spans", "tau_bench_result": "a tau-bench result", "tau2_simulation": "a tau2 simulation",
    "bfcl_result": "a BFCL result", "swe_agent_traj": "a SWE-agent trajectory", "anthropic_hh": "preference pairs",
    "glaive_function_calling_v2": "Glaive samples", "xlam_function_calling": "xLAM samples",
    "haystack_chatmessage": "Haystack messages",
}  # fmt: skip


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the corpus is not here")
def test_a_family_is_named_only_if_all_its_marks_are_present() -> None:
    for path in sorted(SAMPLES.glob("*.jsonl")):
        report = json.loads(inspect(path, "--output-format", "json").stdout)["files"][0]
        if report["unknown"] is None:  # supported now, which is better than a name
            continue
        names = [resemble["name"] for resemble in report["unknown"]["resembles"]]
        if path.stem in FAMILY_OF:
            assert names[:1] == [FAMILY_OF[path.stem]], path.stem
    assert {name for name, _ in (*FAMILIES, *SIMILAR)} >= set(FAMILY_OF.values()) - {"server-sent events"}


def test_formats_lists_the_supported_operations_of_each() -> None:
    listed = json.loads(CliRunner().invoke(cli, ["formats", "--output-format", "json"]).stdout)
    assert [row["format"] for row in listed] == list(NAMES)
    for row in listed:
        one = carrier(row["format"])
        assert (row["title"], row["read_as"], row["session"]) == (one.title, one.about, one.session)
        assert row["fix"] == ("yes" if one.writer else "partly")
        assert (row["read"], row["render"]) == (True, False)
    table = CliRunner().invoke(cli, ["formats"]).stdout.splitlines()
    assert table[0].split() == ["format", "what", "it", "is", "read", "fix", "render", "read", "as"]
    assert [line.split()[0] for line in table[1:]] == list(NAMES)


def test_a_damaged_record_is_read_exactly_once_for_all_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    from turnlint.documents import exact
    from turnlint.inspecting.container import recognise
    from turnlint.model import Record

    seen: list[bytes] = []
    read = exact.read
    monkeypatch.setattr(exact, "read", lambda data: seen.append(data) or read(data))
    data = b'{"messages": [{"role": "user", "content": "hi"}], "id": 1, "id": 2}'
    found = recognise([Record(1, 0, data)], None, told=False)
    assert [other.format for other in found.others if other.own or other.possible]
    assert seen == [data]
