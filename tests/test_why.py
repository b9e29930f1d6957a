"""`turnlint why`: a refusal, however wrapped, finds its provider, its rules, and its place in a transcript.

The texts are the samples that stand in the profiles, and those of a reference file beside the checkout, or where
`TURNLINT_REFERENCE` says; without it that test is skipped.
"""

import html
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hostile import POISONS, assert_ended_well, assert_safe
from turnlint.profiles import Known
from turnlint.providers import Providers
from turnlint.rulebook import BUILTIN
from turnlint.why import Recognised, heard, recognise
from turnlint.why.peeling import LONGEST, MOST_PIECES, pieces
from turnlint.why.specific import literals

ROOT = Path(__file__).parent.parent
REFERENCE = Path(
    os.environ.get("TURNLINT_REFERENCE", ROOT.parent / "shared" / "reference" / "provider_profiles.yaml")
)
PROVIDERS = Providers([BUILTIN])
KNOWN = [
    (name, known)
    for name in PROVIDERS.names()
    for profile in PROVIDERS.versions(name)[:1]
    for known in profile.known
]
UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: call_b07"
)


def body(text: str) -> dict[str, Any]:
    return {"error": {"message": text, "type": "invalid_request_error", "param": None, "code": None}}


def nested(text: str, depth: int) -> str:
    for _ in range(depth):
        text = json.dumps({"error": {"message": text, "code": 400}})
    return text


def in_javascript(text: str) -> str:
    quoted = "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
    return (
        "APICallError [AI_APICallError]: Bad Request\n    at postToApi (/app/node_modules/sdk/index.js:12:3) {\n"
        "  cause: undefined,\n  url: 'https://gateway.example/v1',\n  requestBodyValues: { model: 'm' },\n"
        f"  statusCode: 400,\n  data: {{ error: {{ message: {quoted}, code: null }} }},\n  isRetryable: false\n}}"
    )


WRAPPERS: dict[str, Callable[[str], str]] = {
    "nothing": lambda text: text,
    "JSON body": lambda text: json.dumps(body(text)),
    "JSON body, pretty and beyond ASCII": lambda text: json.dumps(body(text), indent=2, ensure_ascii=False),
    "Anthropic body": lambda text: json.dumps(
        {"type": "error", "error": {"type": "invalid_request_error", "message": text}, "request_id": "req_011"}
    ),
    "FastAPI detail": lambda text: json.dumps({"detail": text}),
    "JSON in JSON": lambda text: nested(text, 2),
    "JSON in JSON in JSON": lambda text: nested(text, 6),
    "Python SDK": lambda text: f"Error code: 400 - {body(text)!r}",
    "Python traceback": lambda text: (
        'Traceback (most recent call last):\n  File "/app/run.py", line 3, in <module>\n    main()\n'
        f"openai.BadRequestError: Error code: 400 - {body(text)!r}\n"
    ),
    "JavaScript SDK": lambda text: f"BadRequestError: 400 {text}\n    at APIError.generate (file:///app/error.mjs:41:20)",
    "Vercel AI SDK": in_javascript,
    "AWS SDK for JavaScript": lambda text: (
        f"ValidationException: {text}\n    at de_ValidationExceptionRes (/app/node_modules/client.js:1:1) {{\n"
        "  '$fault': 'client',\n  '$metadata': { httpStatusCode: 400 }\n}"
    ),
    "OpenRouter": lambda text: json.dumps(
        {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": json.dumps(body(text))}}}
    ),
    "OpenRouter, raw text": lambda text: json.dumps(
        {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": text}}}
    ),
    "LiteLLM": lambda text: f"litellm.BadRequestError: CustomException - {text}",
    "LiteLLM, body": lambda text: f"litellm.exceptions.BadRequestError: CustomException - {json.dumps(body(text))}",
    "LiteLLM, bytes": lambda text: f"litellm.APIError: CustomException - {json.dumps(body(text)).encode()!r}",
    "botocore": lambda text: f"An error occurred (ValidationException) when calling the Converse operation: {text}",
    "Bedrock": lambda text: (
        "botocore.errorfactory.ValidationException: An error occurred (ValidationException) when calling the "
        f"InvokeModel operation: The model returned the following errors: {text}"
    ),
    "DashScope": lambda text: f"<400> InternalError.Algo.InvalidParameter: {text}",
    "LangChain": lambda text: f"langchain_core.exceptions.LangChainException: Error calling model `m`: {text}",
    "pydantic-ai": lambda text: f"status_code: 400, model_name: gpt-x, body: {body(text)['error']!r}",
    "curl -i": lambda text: (
        "HTTP/2 400 \r\ncontent-type: application/json\r\ncontent-length: 300\r\nx-request-id: req_1\r\n\r\n"
        + json.dumps(body(text))
    ),
    "log line": lambda text: (
        "2026-11-18T09:12:44.120Z INFO  agent - asking\n"
        f"2026-11-18T09:12:45.001Z ERROR agent - turn 7 failed: {json.dumps(body(text))}\n"
        "2026-11-18T09:12:45.002Z INFO  agent - giving up\n"
    ),
    "JSON log line": lambda text: json.dumps({"level": "error", "ts": 1, "err": f"Error code: 400 - {body(text)!r}"}),
    "colours": lambda text: f"\x1b[1m\x1b[31mAPI Error: 400\x1b[0m {json.dumps(body(text))}",
    "hard wraps": lambda text: "\n".join(
        textwrap.wrap(f"Error: {text}", 72, break_long_words=False, break_on_hyphens=False)
    ),
    "HTML": lambda text: f"<pre>{html.escape(text)}</pre>",
    "quoted in mail": lambda text: textwrap.indent(f"It says:\n{text}", "> ", lambda _: True),
    "shell": lambda text: f"$ curl https://gateway.example\n{json.dumps(body(text))}%",
}  # fmt: skip


def known_as(text: str, *hint: str) -> Recognised | None:
    return recognise(heard(text, PROVIDERS), PROVIDERS, hint)


def named(found: Recognised) -> list[str]:
    return [found.best.profile.name, *(one.profile.name for one in found.alike), *found.carriers]


def wrong(name: str, known: Known, text: str) -> str | None:
    """What is wrong with what becomes of a sample, if anything."""
    found = known_as(text)
    if found is None:
        return f"{name}: not known: {known.sample[:90]}"
    if name not in named(found):
        return f"{name}: taken for {named(found)}: {known.sample[:90]}"
    if known.rules and not set(known.rules) & set(found.best.known.rules):
        return f"{name}: explained by {found.best.known.rules}, not {known.rules}: {known.sample[:90]}"
    return None


def test_profiles_know_many_texts() -> None:
    assert len(KNOWN) > 150


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_every_sample_is_known_again_in_every_wrapper(wrapper: str) -> None:
    faults = [wrong(name, known, WRAPPERS[wrapper](known.sample)) for name, known in KNOWN]
    assert [fault for fault in faults if fault] == []


@pytest.mark.parametrize(
    "outer", ["JSON in JSON", "Python SDK", "OpenRouter", "log line", "curl -i", "colours"]
)
@pytest.mark.parametrize("inner", ["Python SDK", "LiteLLM, body", "JSON body", "Vercel AI SDK", "Bedrock"])
def test_wrappers_may_be_wrapped(outer: str, inner: str) -> None:
    some = KNOWN[len(outer + inner) % 3 :: 3]
    faults = [wrong(name, known, WRAPPERS[outer](WRAPPERS[inner](known.sample))) for name, known in some]
    assert [fault for fault in faults if fault] == []


FAMILIES = {
    "anthropic_messages": {"anthropic"},
    "openai_chat": {"openai"},
    "openai_responses": {"openai-responses"},
    "azure_openai": {"azure-openai"},
    "bedrock_converse": {"bedrock"},
    "gemini": {"gemini", "vertex"},
    "qwen_dashscope": {"qwen"},
    "cohere_v2": {"cohere"},
    "glm_zai": {"glm"},
    "openai_compat_misc": {"shared"},
    "self_hosted_templates": {"vllm", "shared"},
}
"""The reference's names for providers, where they are not ours."""
PASSED_ON = "bedrock.claude.passthrough"


def reference() -> list[tuple[str, dict[str, Any]]]:
    if not REFERENCE.is_file():
        return []
    from ruamel.yaml import YAML

    document = YAML(typ="safe", pure=True).load(REFERENCE.read_text(encoding="utf-8"))
    return [
        (name, error)
        for name, one in document["providers"].items()
        for error in one.get("known_errors") or ()
    ]


EXPLAINED_BY = {
    "result.missing": "PA201", "result.legacy_text": "PA201", "result.orphan": "PA202", "result.duplicate": "PA205",
    "call_id.charset": "PR301", "call_id.length": "PR302", "call_id.format": "PR303", "content.trailing_ws": "PR313",
    "args.string": "PR307", "fields.unknown": "PR317", "fields.extra": "PR317", "tools.max": "PR319",
    "signature.required": "PR320", "thinking.signature": "PR314", "tools.required": "PR316", "call_id.unique": "PR305",
    "content.empty_text": "PR312", "reasoning.required": "PR315", "reasoning.following": "PR315",
}  # fmt: skip
"""The reference's names for what is refused, without the provider, and a rule that must be among the causes."""


@pytest.mark.skipif(not REFERENCE.is_file(), reason="the reference is not here")
def test_every_text_of_the_reference_is_known_as_its_providers() -> None:
    faults = []
    texts = reference()
    for name, error in texts:
        found = known_as(error["sample"])
        family = FAMILIES.get(name, {name})
        if found is None or not family & set(named(found)):
            faults.append((error["rule"], named(found) if found else None))
            continue
        if found.best.profile.name not in family and error["rule"] != PASSED_ON:
            same = {one.profile.name: one.likeness for one in found.alike}
            if max(same.get(one, 0) for one in family) < found.best.likeness:
                faults.append((error["rule"], named(found)))
        rule = EXPLAINED_BY.get(error["rule"].partition(".")[2])
        if rule and rule not in found.best.known.rules:
            faults.append((error["rule"], found.best.known.rules))
        if not found.best.known.rules and not found.best.known.about:
            faults.append((error["rule"], "neither rules nor words"))
    assert len(texts) >= 189
    assert faults == []


def test_what_the_user_names_comes_first() -> None:
    both = known_as(UNANSWERED)
    assert both is not None
    assert both.best.profile.name == "openai"
    assert "azure-openai" in named(both)
    azure = known_as(UNANSWERED, "azure-openai")
    assert azure is not None
    assert azure.best.profile.name == "azure-openai"


def test_a_host_in_the_text_tells_who_said_it() -> None:
    found = known_as(f"POST https://x.openai.azure.com/chat 400 {UNANSWERED}")
    assert found is not None
    assert found.best.profile.name == "azure-openai"


# ---- the command


def why(*arguments: str, cwd: Path, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CI", "COLUMNS", "NO_COLOR"))
    }
    return subprocess.run(
        [sys.executable, "-m", "turnlint", "why", *arguments], cwd=cwd, input=stdin, capture_output=True, check=False,
        env={**clean, "PYTHONIOENCODING": "utf-8", **env}, timeout=60,
    )  # fmt: skip


def why_here(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """The same without a process of its own."""
    from click.testing import CliRunner

    from turnlint.cli import cli

    done = CliRunner().invoke(cli, ["why", *arguments], input=stdin)
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout_bytes, done.stderr_bytes)


def call(identifier: str) -> dict[str, Any]:
    return {"id": identifier, "type": "function", "function": {"name": "run", "arguments": "{}"}}


USER = {"role": "user", "content": "go"}
SOUND = [USER, {"role": "assistant", "content": "done"}]
BROKEN = [
    USER,
    {"role": "assistant", "content": None, "tool_calls": [call("call_a91")]},
    USER,
    {"role": "assistant", "content": None, "tool_calls": [call("call_b07")]},
    USER,
    {"role": "assistant", "content": None, "tool_calls": [call("call_c11")]},
    USER,
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, messages in {"sound": SOUND, "broken": BROKEN}.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"model": "gpt-4o", "messages": messages}) + "\n")
    (tmp_path / "notes.txt").write_text(UNANSWERED)
    (tmp_path / "package.json").write_text('{"name": "left-pad"}')
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        ((UNANSWERED,), "", 0),
        (("-",), UNANSWERED, 0),
        ((), UNANSWERED, 0),
        ((UNANSWERED, "broken.jsonl"), "", 0),
        (("-", "broken.jsonl"), UNANSWERED, 0),
        ((UNANSWERED, "broken.jsonl", "--provider", "deepseek"), "", 0),
        ((UNANSWERED, "broken.jsonl", "--format", "openai-chat"), "", 0),
        ((UNANSWERED, "."), "", 0),
        ((UNANSWERED, "--provider", "auto"), "", 0),
        ((UNANSWERED, "-"), json.dumps({"messages": BROKEN}), 0),
        ((UNANSWERED, "sound.jsonl"), "", 1),
        (("the weather is fine today",), "", 1),
        (("the weather is fine today", "broken.jsonl"), "", 1),
        (("notes.txt",), "", 1),
        (("",), "", 2),
        (("  ",), "", 2),
        ((), "", 2),
        (("-", "-"), UNANSWERED, 2),
        ((UNANSWERED, "missing.jsonl"), "", 2),
        ((UNANSWERED, "--provider", "nobody"), "", 2),
        ((UNANSWERED, "--format", "nonsense"), "", 2),
        ((UNANSWERED, "--profile", "missing.yaml"), "", 2),
        ((UNANSWERED, "broken.jsonl", "sound.jsonl"), "", 2),
        ((UNANSWERED, "package.json"), "", 3),
    ],
)
@pytest.mark.parametrize("kind", ["text", "json"])
def test_exit_codes(folder: Path, kind: str, arguments: tuple[str, ...], stdin: str, code: int) -> None:
    run = why(*arguments, "--output-format", kind, cwd=folder, stdin=stdin.encode())
    assert_ended_well(run)
    assert run.returncode == code, run.stderr
    if kind == "json" and code != 2:
        assert json.loads(run.stdout)["schema"] == "turnlint/why-v1"


def test_it_says_whose_text_it_is_and_which_rules_explain_it(folder: Path) -> None:
    shown = why(f"Error code: 400 - {body(UNANSWERED)!r}", cwd=folder).stdout.decode()
    for part in (
        "(openai)",
        "azure-openai",
        "PA201 unanswered-call: ",
        "turnlint explain PA201",
        "call_b07",
        "SDK",
    ):
        assert part in shown, part
    told = json.loads(why(UNANSWERED, "--output-format", "json", cwd=folder).stdout)
    assert (told["provider"], told["rules"][0]["code"]) == ("openai", "PA201")
    elsewhere = why(
        "Tool call id was x but must be a-z, A-Z, 0-9, with a length of 9.",
        "--provider",
        "openai",
        cwd=folder,
    )
    assert "not known to be said by openai" in elsewhere.stdout.decode()
    assert told["rules"][0]["headline"]
    assert told["rules"][0]["why"].endswith(".")


def test_the_finding_that_the_text_names_comes_first(folder: Path) -> None:
    for identifier, index in (("call_a91", 1), ("call_b07", 3), ("call_c11", 5)):
        text = UNANSWERED.replace("call_b07", identifier)
        told = json.loads(why(text, "broken.jsonl", "--output-format", "json", cwd=folder).stdout)
        first = told["findings"][0]
        assert (first["call_id"], first["message_index"], first["agrees"]["id"]) == (identifier, index, True)
        assert told["count"] == 3
        shown = why(text, "broken.jsonl", cwd=folder).stdout.decode()
        assert shown.index(f"`{identifier}`") < min(
            shown.index(f"`{other}`") for other in ("call_a91", "call_b07", "call_c11") if other != identifier
        )
        (line,) = [line for line in shown.splitlines() if "agree" in line]
        assert ", the first in " in line
        assert "the call id" in line


def test_a_position_is_enough_to_tell_which(folder: Path) -> None:
    calls = [{"role": "assistant", "content": [{"type": "tool_use", "id": "a b", "name": "f", "input": {}}]},
             {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a b", "content": "1"}]}]  # fmt: skip
    (folder / "ids.jsonl").write_text(
        json.dumps({"model": "claude-x", "messages": [USER, *calls, *calls]}) + "\n"
    )
    text = "messages.3.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    told = json.loads(why(text, "ids.jsonl", "--output-format", "json", cwd=folder).stdout)
    assert told["provider"] == "anthropic"
    first = told["findings"][0]
    assert (first["code"], first["message_index"]) == ("PR301", 3)
    assert first["agrees"]["words"]
    assert told["findings"][-1]["message_index"] != 3


def test_what_the_transcript_does_not_show_is_said_with_what_to_check(folder: Path) -> None:
    text = UNANSWERED.replace("call_b07", "call_elsewhere")
    shown = why(text, "sound.jsonl", cwd=folder).stdout.decode()
    assert "sound.jsonl does not show it, held against openai" in shown
    assert "call_elsewhere, which stands nowhere in it" in shown
    other = why(text, "broken.jsonl", cwd=folder).stdout.decode()
    assert "call_elsewhere, which stands nowhere in it" in other
    assert "Found 3 errors" in other
    text = "Invalid 'messages[900].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead."  # fmt: skip
    far = why(text, "broken.jsonl", cwd=folder).stdout.decode()
    assert "speaks of message 900, and no file has more than 7 messages" in far
    assert "other rules found something: unanswered-call (3)" in far


def test_a_transcript_of_any_wire_is_read_as_the_provider_reads_it(folder: Path) -> None:
    messages = [USER, {"role": "assistant", "content": "Autumn moonlight \n"}]
    (folder / "plain.jsonl").write_text(json.dumps({"model": "m", "messages": messages}) + "\n")
    text = "messages: final assistant content cannot end with trailing whitespace"
    told = json.loads(why(text, "plain.jsonl", "--output-format", "json", cwd=folder).stdout)
    assert [finding["code"] for finding in told["findings"]] == ["PR313"]


def test_many_findings_are_counted_and_some_are_shown(folder: Path) -> None:
    line = json.dumps({"model": "gpt-4o", "messages": BROKEN}) + "\n"
    (folder / "many.jsonl").write_text(line * 700 + line.replace("call_b07", "call_one"))
    text = UNANSWERED.replace("call_b07", "call_one")
    run = why(text, "many.jsonl", "--output-format", "json", cwd=folder)
    told = json.loads(run.stdout)
    assert (told["count"], len(told["findings"])) == (2103, 20)
    assert told["findings"][0]["call_id"] == "call_one"
    assert "Found 2,103 errors in 1 file" in why(text, "many.jsonl", cwd=folder).stdout.decode()


def test_an_unknown_text_names_the_nearest_three(folder: Path) -> None:
    text = "An assistant message with tool_calls has to be followed by messages that respond to each tool_call_id"
    told = json.loads(why(text, "--output-format", "json", cwd=folder).stdout)
    assert not told["recognised"]
    assert len(told["nearest"]) == 3
    assert "must be followed by tool messages" in told["nearest"][0]["sample"]
    likeness = [near["likeness"] for near in told["nearest"]]
    assert likeness == sorted(likeness, reverse=True)
    shown = why(text, cwd=folder).stdout.decode()
    assert shown.startswith("This text is not known.")
    assert "turnlint explain PA201" in shown
    assert "no known text is near it" in why("zzz qqq", cwd=folder).stdout.decode()


def test_a_file_given_for_a_text_is_noticed(folder: Path) -> None:
    run = why("notes.txt", cwd=folder)
    assert b"notes.txt is a file; to read the text from it: turnlint why - < FILE" in run.stderr
    assert b"is a file" not in why("no such thing", cwd=folder).stderr


def test_a_users_own_text_is_known_and_its_clause_is_found(folder: Path) -> None:
    (folder / "own.yaml").write_bytes(
        (ROOT / "fixtures" / "profiles" / "extends-a-provider.yaml").read_bytes()
    )
    block = {"type": "tool_use", "id": "a" * 22, "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "a" * 22, "content": "1"}
    messages = [USER, {"role": "assistant", "content": [block]}, {"role": "user", "content": [result]}]
    (folder / "long.jsonl").write_text(json.dumps({"model": "m", "messages": messages}) + "\n")
    text = f"id of call {'a' * 22} has 22 characters, at most 16 are allowed"
    arguments = (text, "long.jsonl", "--profile", "own.yaml", "--output-format", "json")
    told = json.loads(why(*arguments, cwd=folder).stdout)
    assert (told["provider"], told["findings"][0]["code"]) == ("gateway", "PR302")
    assert told["findings"][0]["agrees"]["words"]
    assert json.loads(why(text, "--output-format", "json", cwd=folder).stdout)["recognised"] is False


HOSTILE = {
    "long": "x" * (10 << 20),
    "long, with the text inside": "x " * (4 << 20) + WRAPPERS["Python SDK"](UNANSWERED) + " y" * (1 << 20),
    "many lines": "2026-11-18T09:12:45Z ERROR agent - failed: nothing\n" * 100_000 + UNANSWERED,
    "deep": '{"error":' * 100_000 + json.dumps({"message": UNANSWERED}) + "}" * 100_000,
    "deep lists": "[" * 100_000 + UNANSWERED + "]" * 100_000,
    "many escapes": "\\" * 100_000 + UNANSWERED,
    "many quotes": "'" * 50_000 + '"' * 50_000 + UNANSWERED,
    "many keys": '{"message": "a"}' * 20_000 + UNANSWERED,
    "many keys never closed": '"message": "' * 20_000 + UNANSWERED,
    "many ids": UNANSWERED + ", call_b07" * 50_000,
    "dots": "messages"
    + ".1.content" * 20_000
    + ".tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    "words of all texts": " ".join(known.sample for _, known in KNOWN) * 20,
    "timestamps": "2026-11-18T09:12:45" * 20_000 + " " + UNANSWERED,
    "a bomb": "a" * 60_000 + "!" + UNANSWERED,
    "binary": "".join(map(chr, range(256))) * 400 + " " + UNANSWERED,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_text_makes_more_than_an_answer(kind: str) -> None:
    for output in ("text", "json"):
        run = why_here("--output-format", output, stdin=HOSTILE[kind].encode("utf-8", "surrogatepass"))
        assert_ended_well(run)
        assert_safe(run.stdout, output)
        assert run.returncode == (1 if kind in ("long", "dots") else 0), run.stdout[:500]
        assert len(run.stdout) < 50_000


def test_the_one_text_that_matters_is_found_in_a_long_one(tmp_path: Path) -> None:
    run = why("--output-format", "json", cwd=tmp_path, stdin=HOSTILE["long, with the text inside"].encode())
    told = json.loads(run.stdout)
    assert (told["provider"], "call_b07" in told["text"]) == ("openai", True)


@pytest.mark.parametrize("poison", POISONS)
def test_texts_cannot_steer_a_terminal_or_a_runner(
    poison: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    x = POISONS[poison][:2000]
    for text in (x + "-", f"{x}\n{x} {UNANSWERED} {x}\n::error::{x}", nested(f"{x}{UNANSWERED}, {x}", 2)):
        for arguments in ((), ("-", "broken.jsonl"), ("-", "--output-format", "json")):
            run = why_here(*arguments, stdin=text.encode("utf-8", "surrogatepass"))
            assert_ended_well(run)
            assert run.stdout
            assert_safe(run.stdout, "stdout", poison)


def test_utf_16_from_a_shell_is_read(tmp_path: Path) -> None:
    run = why("--output-format", "json", cwd=tmp_path, stdin=UNANSWERED.encode("utf-16"))
    assert json.loads(run.stdout)["provider"] == "openai"


def test_a_transcript_is_not_written_into_the_answer(folder: Path) -> None:
    messages = [{**message, "content": "hunter2"} for message in BROKEN]
    (folder / "said.jsonl").write_text(json.dumps({"messages": messages}) + "\n")
    for kind in ("text", "json"):
        run = why(UNANSWERED, "said.jsonl", "--output-format", kind, cwd=folder)
        assert run.returncode == 0
        assert b"hunter2" not in run.stdout


# ---- the parts


def test_peeling_is_bounded_and_keeps_the_text_itself() -> None:
    found = pieces("\\" * LONGEST + nested(UNANSWERED, 9))
    assert len(found) <= MOST_PIECES
    assert all(len(piece.text) <= LONGEST for piece in found)
    assert pieces(UNANSWERED)[0].text == UNANSWERED


@pytest.mark.parametrize(
    ("pattern", "count", "run"),
    [
        ("abc", 3, "abc"),
        (r"messages\.\d+: x", 12, "messages."),
        (r"a\[b\]", 4, "a"),
        ("abc?de", 4, "ab"),
        ("abc*", 2, "ab"),
        ("ab+c", 3, "ab"),
        ("ab{0,3}cdef", 5, "cdef"),
        ("ab{2}c", 3, "ab"),
        ("one|three", 5, ""),
        ("x(?:one|three)y", 7, "x"),
        ("x(?:one)?yz", 3, "yz"),
        ("(?P<ids>one) two", 7, " two"),
        ("(?<!not )found", 5, "found"),
        ("one(?! two)", 3, "one"),
        ("[abc]def[^]x]gh", 5, "def"),
        ("(?i)one", 3, ""),
        ("'quoted' text", 13, "quoted"),
        (r"\bword\b", 4, "word"),
        ("", 0, ""),
        ("a{b}c", 5, "a"),
    ],
)
def test_how_much_an_expression_fixes(pattern: str, count: int, run: str) -> None:
    found = literals(pattern)
    assert (found.count, found.run) == (count, run)


def _unbounded(parsed: Any) -> list[Any]:
    """The bodies of repetitions without a limit, wherever in an expression."""
    found = []
    for kind, value in parsed:
        if str(kind) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            found += [value[2]] if value[1] > 1000 else []
            found += _unbounded(value[2])
        elif str(kind) == "SUBPATTERN":
            found += _unbounded(value[3])
        elif str(kind) in ("ASSERT", "ASSERT_NOT"):
            found += _unbounded(value[1])
        elif str(kind) == "BRANCH":
            found += [body for branch in value[1] for body in _unbounded(branch)]
    return found


def test_no_expression_repeats_what_repeats() -> None:
    """Unless each round begins with a mark of its own: else a text can be read in more ways than there is time for."""
    from re import _parser  # type: ignore[attr-defined]

    for name, known in KNOWN:
        for body in _unbounded(_parser.parse(known.pattern)):
            if _unbounded(body):
                kind, value = body[0]
                assert str(kind) == "LITERAL", (name, known.pattern)
                assert not re.match(r"\w", chr(value)), (name, known.pattern)


def test_every_known_text_has_the_run_that_its_expression_needs() -> None:
    for name, known in KNOWN:
        flat = " ".join(known.sample.split())
        assert literals(known.pattern).run in flat, (name, known.pattern)
