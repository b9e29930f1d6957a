"""`turnlint why`: the explanation of a refusal, and its position in a transcript."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commands import run_cli
from hostile import POISONS, assert_ended_well, assert_safe
from refused import KNOWN, UNANSWERED, WRAPPERS, body, nested

ROOT = Path(__file__).parent.parent


def why(*arguments: str, cwd: Path, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CI", "COLUMNS", "NO_COLOR"))
    }
    return run_cli("why", *arguments, cwd=cwd, input=stdin, env={**clean, "PYTHONIOENCODING": "utf-8", **env})


def why_here(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """The same without a new process."""
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


def test_the_provider_of_a_text_and_its_rules_are_named(folder: Path) -> None:
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
    report = json.loads(why(UNANSWERED, "--output-format", "json", cwd=folder).stdout)
    assert (report["provider"], report["rules"][0]["code"]) == ("openai", "PA201")
    elsewhere = why(
        "Tool call id was x but must be a-z, A-Z, 0-9, with a length of 9.",
        "--provider",
        "openai",
        cwd=folder,
    )
    assert "not a known text of openai" in elsewhere.stdout.decode()
    assert report["rules"][0]["headline"]
    assert report["rules"][0]["why"].endswith(".")


def test_the_finding_that_the_text_names_comes_first(folder: Path) -> None:
    for identifier, index in (("call_a91", 1), ("call_b07", 3), ("call_c11", 5)):
        text = UNANSWERED.replace("call_b07", identifier)
        report = json.loads(why(text, "broken.jsonl", "--output-format", "json", cwd=folder).stdout)
        first = report["findings"][0]
        assert (first["call_id"], first["message_index"], first["agrees"]["id"]) == (identifier, index, True)
        assert report["count"] == 3
        shown = why(text, "broken.jsonl", cwd=folder).stdout.decode()
        assert shown.index(f"`{identifier}`") < min(
            shown.index(f"`{other}`") for other in ("call_a91", "call_b07", "call_c11") if other != identifier
        )
        (line,) = [line for line in shown.splitlines() if "of them match" in line]
        assert ", the first by " in line
        assert "the call id" in line


def test_a_position_identifies_the_finding(folder: Path) -> None:
    calls = [{"role": "assistant", "content": [{"type": "tool_use", "id": "a b", "name": "f", "input": {}}]},
             {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a b", "content": "1"}]}]  # fmt: skip
    (folder / "ids.jsonl").write_text(
        json.dumps({"model": "claude-x", "messages": [USER, *calls, *calls]}) + "\n"
    )
    text = "messages.3.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    report = json.loads(why(text, "ids.jsonl", "--output-format", "json", cwd=folder).stdout)
    assert report["provider"] == "anthropic"
    first = report["findings"][0]
    assert (first["code"], first["message_index"]) == ("PR301", 3)
    assert first["agrees"]["words"]
    assert report["findings"][-1]["message_index"] != 3


def test_a_fault_that_the_transcript_does_not_show_is_listed_with_a_check(folder: Path) -> None:
    text = UNANSWERED.replace("call_b07", "call_elsewhere")
    shown = why(text, "sound.jsonl", cwd=folder).stdout.decode()
    assert "sound.jsonl does not contain the cause, checked for openai" in shown
    assert "call_elsewhere, which is not in the file" in shown
    other = why(text, "broken.jsonl", cwd=folder).stdout.decode()
    assert "call_elsewhere, which is not in the file" in other
    assert "Found 3 errors" in other
    text = "Invalid 'messages[900].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead."  # fmt: skip
    far = why(text, "broken.jsonl", cwd=folder).stdout.decode()
    assert "mentions message 900, but no file has more than 7 messages" in far
    assert "findings of other rules: unanswered-call (3)" in far


def test_a_transcript_of_any_wire_is_read_as_the_provider_reads_it(folder: Path) -> None:
    messages = [USER, {"role": "assistant", "content": "Autumn moonlight \n"}]
    (folder / "plain.jsonl").write_text(json.dumps({"model": "m", "messages": messages}) + "\n")
    text = "messages: final assistant content cannot end with trailing whitespace"
    report = json.loads(why(text, "plain.jsonl", "--output-format", "json", cwd=folder).stdout)
    assert [finding["code"] for finding in report["findings"]] == ["PR313"]


def test_many_findings_are_counted_and_some_are_shown(folder: Path) -> None:
    line = json.dumps({"model": "gpt-4o", "messages": BROKEN}) + "\n"
    (folder / "many.jsonl").write_text(line * 700 + line.replace("call_b07", "call_one"))
    text = UNANSWERED.replace("call_b07", "call_one")
    run = why(text, "many.jsonl", "--output-format", "json", cwd=folder)
    report = json.loads(run.stdout)
    assert (report["count"], len(report["findings"])) == (2103, 20)
    assert report["findings"][0]["call_id"] == "call_one"
    assert "Found 2,103 errors in 1 file" in why(text, "many.jsonl", cwd=folder).stdout.decode()


def test_an_unknown_text_names_the_nearest_three(folder: Path) -> None:
    text = "An assistant message with tool_calls has to be followed by messages that respond to each tool_call_id"
    report = json.loads(why(text, "--output-format", "json", cwd=folder).stdout)
    assert not report["recognised"]
    assert len(report["nearest"]) == 3
    assert "must be followed by tool messages" in report["nearest"][0]["sample"]
    likeness = [near["likeness"] for near in report["nearest"]]
    assert likeness == sorted(likeness, reverse=True)
    shown = why(text, cwd=folder).stdout.decode()
    assert shown.startswith("Unknown error text.")
    assert "turnlint explain PA201" in shown
    assert "no known text is similar" in why("zzz qqq", cwd=folder).stdout.decode()


@pytest.mark.parametrize(
    ("text", "provider", "code"),
    [
        ("ids were found without `tool_result` blocks", "anthropic", "PA201"),
        ("ids were found without tool_result blo", "anthropic", "PA201"),
        ("string with maximum length 52", "openai-responses", "PR302"),
        ("2026 worker-7: MESSAGES.71 TOOL_USE ids were found without TOOL_RESULT", "", ""),
    ],
)
def test_a_part_of_a_known_text_is_probably_that_text(
    folder: Path, text: str, provider: str, code: str
) -> None:
    report = json.loads(why(text, "--output-format", "json", cwd=folder).stdout)
    shown = why(text, cwd=folder).stdout.decode()
    if not provider:
        assert (report["recognised"], report["certain"]) == (False, False)
        return
    assert (report["recognised"], report["certain"], report["provider"]) == (True, False, provider)
    assert report["rules"][0]["code"] == code
    assert shown.startswith("Probably: ")
    assert shown.count("turnlint explain") == 1
    assert len([line for line in shown.splitlines() if line.startswith(("  P", "  S"))]) <= 3


def test_numbers_and_ids_of_a_text_do_not_matter(folder: Path) -> None:
    text = "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}"
    for index, identifier in ((1, "toolu_01Abc"), (70_000, "toolu_9zzzzzzzzzzzzzzzzzzzzz")):
        report = json.loads(why(text.format(index, identifier), "--output-format", "json", cwd=folder).stdout)
        assert (report["provider"], report["certain"]) == ("anthropic", True)


def test_the_fault_comes_first_and_the_rules_after_it(folder: Path) -> None:
    for text in (UNANSWERED, "must be followed by tool messages responding to"):
        shown = why(text, "broken.jsonl", cwd=folder).stdout.decode()
        assert shown.startswith("In broken.jsonl, checked for ")
        assert shown.index("PA201[error]") < shown.index("returns ") < shown.index("Possible causes")


def test_a_file_in_place_of_a_text_is_detected(folder: Path) -> None:
    run = why("notes.txt", cwd=folder)
    assert b"notes.txt is a file; to read the error text from it, run: turnlint why - < FILE" in run.stderr
    assert b"is a file" not in why("no such thing", cwd=folder).stderr


def test_a_text_of_an_own_profile_is_recognized_and_its_clause_is_found(folder: Path) -> None:
    (folder / "own.yaml").write_bytes(
        (ROOT / "fixtures" / "profiles" / "extends-a-provider.yaml").read_bytes()
    )
    block = {"type": "tool_use", "id": "a" * 22, "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "a" * 22, "content": "1"}
    messages = [USER, {"role": "assistant", "content": [block]}, {"role": "user", "content": [result]}]
    (folder / "long.jsonl").write_text(json.dumps({"model": "m", "messages": messages}) + "\n")
    text = f"id of call {'a' * 22} has 22 characters, at most 16 are allowed"
    arguments = (text, "long.jsonl", "--profile", "own.yaml", "--output-format", "json")
    report = json.loads(why(*arguments, cwd=folder).stdout)
    assert (report["provider"], report["findings"][0]["code"]) == ("gateway", "PR302")
    assert report["findings"][0]["agrees"]["words"]
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
def test_any_text_gives_an_answer(kind: str) -> None:
    for output in ("text", "json"):
        run = why_here("--output-format", output, stdin=HOSTILE[kind].encode("utf-8", "surrogatepass"))
        assert_ended_well(run)
        assert_safe(run.stdout, output)
        assert run.returncode == (1 if kind in ("long", "dots") else 0), run.stdout[:500]
        assert len(run.stdout) < 50_000


def test_the_relevant_text_is_found_in_a_long_one(tmp_path: Path) -> None:
    run = why("--output-format", "json", cwd=tmp_path, stdin=HOSTILE["long, with the text inside"].encode())
    report = json.loads(run.stdout)
    assert (report["provider"], "call_b07" in report["text"]) == ("openai", True)


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


def test_no_content_of_a_transcript_is_in_the_answer(folder: Path) -> None:
    messages = [{**message, "content": "hunter2"} for message in BROKEN]
    (folder / "said.jsonl").write_text(json.dumps({"messages": messages}) + "\n")
    for kind in ("text", "json"):
        run = why(UNANSWERED, "said.jsonl", "--output-format", kind, cwd=folder)
        assert run.returncode == 0
        assert b"hunter2" not in run.stdout


def test_only_rules_with_a_page_are_named(folder: Path) -> None:
    """Profiles reserve codes of rules that do not exist yet."""
    shown = why("invalid params, function parameters is empty (2013)", cwd=folder).stdout.decode()
    assert "Meaning: a declared tool has no parameters" in shown
    assert "turnlint has no rule for this error." in shown
    assert "CO406" not in shown


WORDS = [
    ("thought_signature", "PR320"),
    ("`thoughtSignature`", "PR320"),
    ("reasoning_content", "PR315"),
    ("encrypted_content", "PR326"),
    ("prefill", "PR311"),
    ("orphan", "PA202"),
    ("tool_use", "PR305"),
    ("orphan-result", "PA202"),
    ("pr305", "PR305"),
]


@pytest.mark.parametrize(("word", "code"), WORDS)
def test_a_word_selects_at_most_three_rules(word: str, code: str) -> None:
    done = why_here(word, "--output-format", "json")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert not found["recognised"]
    codes = [rule["code"] for rule in found["rules"]]
    assert code in codes
    assert len(codes) <= 3
    assert f"turnlint explain {codes[0]}".encode() in why_here(word).stdout


@pytest.mark.parametrize("word", ["zebra", "the", "400", "", "\x1b[31m", "a" * 500, "zebra crossing"])
def test_another_word_stays_unknown(word: str) -> None:
    done = why_here(word, stdin=b"")
    assert done.returncode in (1, 2)
    assert b"turnlint explain" not in done.stdout


def test_a_word_leads_to_the_findings_of_its_rules(folder: Path) -> None:
    done = why_here("unanswered-call", str(folder / "broken.jsonl"))
    assert done.returncode == 0
    assert done.stdout.startswith(b"In ")
    assert b"PA201" in done.stdout
    assert why_here("unanswered-call", str(folder / "sound.jsonl")).returncode == 1
    assert why_here("unanswered-call", str(folder / "missing.jsonl")).returncode == 2


FRAGMENTS = [
    ("did not have response messages: {}", "PA201"),
    ("were found without tool_result blocks immediately after: {}", "PA201"),
    ("for function call {}", "PA201"),
    ("toolResult blocks at messages.2.content for the following Ids: {}", "PA201"),
    ("with id '{}' not found", "PR326"),
    ("tool call id {} is duplicated", "PR305"),
    ("Function name was {} but must be", "PR306"),
    ("property '{}' is unsupported", "PR317"),
    ("unknown field: parameter '{}' is not", "PR317"),
    ("tool result's tool id({}) not found", "PA202"),
    ("Duplicate tool call id {} in assistant", "PR305"),
    ("The following tool_call_ids did not have response messages: {}, {}", "PA201"),
]
VALUES = [
    "call_ZZZ",
    "functions.read_file:0",
    "chatcmpl-tool-abc",
    "my.tool",
    "timestamp",
    "Ω-id",
    "42",
    "a",
    "fc|x=/+",
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(("text", "code"), FRAGMENTS)
def test_a_fragment_may_have_any_id_name_key_or_number(text: str, code: str, value: str) -> None:
    done = why_here(text.replace("{}", value), "--output-format", "json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["recognised"]) == (0, True)
    assert told["rules"][0]["code"] == code


@pytest.mark.parametrize(
    ("text", "code"),
    [("string too long", "PR302"), ("The final block", "PR324"), ("Duplicate item", "PR305"),
     ("but found multiple 'tool' roles in", "PR310")],
)  # fmt: skip
def test_a_short_fragment_of_the_words_that_distinguish_a_text_is_enough(text: str, code: str) -> None:
    done = why_here(text, "--output-format", "json")
    assert (done.returncode, json.loads(done.stdout)["rules"][0]["code"]) == (0, code)


@pytest.mark.parametrize("value", ["call_b07", "call_ZZZ", "functions.read_file:0"])
def test_a_fragment_with_an_id_is_looked_up_in_the_file(value: str) -> None:
    path = ROOT / "fixtures" / "examples" / "session.jsonl"
    done = why_here(f"tool_call_ids did not have response messages: {value}", str(path))
    shown = done.stdout.decode()
    assert done.returncode == 0
    assert shown.index("PA201[error] unanswered-call") < shown.index("Possible causes")
    rules = shown.partition("Possible causes")[2].splitlines()
    assert 1 <= len([line for line in rules if line.startswith(("  PA", "  ST", "  PR"))]) <= 3
    assert ("which is not in the file" in shown) == (value != "call_b07")


UNRELATED = [
    "the weather is fine today", "Please try again", "not found", "must be", "It must not be empty",
    "The book was found without a cover", "Your order could not be verified", "The parcel is too long for the van",
    "An answer is required in the next message", "We did not have a response from the office",
    "All guests must have a ticket", "The final score was close", "The first and the last one",
    "This item is no longer available", "Each person may have at most two pieces", "I called the function twice",
    "Roles in the theatre alternate every evening", "She expected a string quartet", "There is a duplicate key in the door",
    "The user found the content boring", "assistant message", "tool call", "a value", "with id 17", "in messages 3",
    "The minutes of the meeting must be approved by all members, with a length of at most 4 pages",
    "KeyError: 'messages'", "IndexError: list index out of range", "ENOENT: no such file or directory, open 'a.json'",
    "ModuleNotFoundError: No module named 'tools'", "TypeError: run() missing 1 required positional argument: 'content'",
    "AttributeError: 'list' object has no attribute 'role'", "ValueError: invalid literal for int() with base 10: 'x'",
    "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", "error: 'content' undeclared (first use in this function)",
    "TypeError: Cannot read properties of undefined (reading 'content')", "fatal: not a git repository",
    "Segmentation fault (core dumped)", "error[E0308]: mismatched types expected `String`, found `&str`",
    'duplicate key value violates unique constraint "users_pkey"', "ValueError: string too long",
    ('Traceback (most recent call last):\n  File "/app/agent.py", line 12, in run\n    reply = messages[index]["content"]\n'
    "            ~~~~~~~~^^^^^^^\nIndexError: list index out of range"),
    ('Traceback (most recent call last):\n  File "/app/tools.py", line 3, in call\n    raise ValueError("tool was not found")\n'
    "ValueError: tool was not found"),
    "java.lang.IllegalArgumentException: name must not be null\n\tat com.example.Tool.<init>(Tool.java:17)",
]  # fmt: skip


@pytest.mark.parametrize("text", UNRELATED)
def test_sentences_and_texts_of_other_programs_stay_unknown(text: str) -> None:
    done = why_here(text, "--output-format", "json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["recognised"], told["rules"]) == (1, False, [])
