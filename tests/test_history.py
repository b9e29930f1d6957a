"""Add calls again that a compaction removed (spec 001, section 8).

1. "Compression or history reduction must not create invalid outbound tool interaction state."
2. "Compression may reduce textual/tool payload verbosity."
3. "Compression must preserve sufficient canonical interaction information for provider-valid transcript rendering."
4. "If one side of pair is omitted from textual history, renderer still has canonical interaction truth to emit valid
   pairing."

The calls come from the replaced part of the same session, from a session file beside it, or from a file of `--history`.
"""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from turnlint.cli.fix import command as fix_command
from turnlint.cli.lint import command as lint_command
from turnlint.lifecycle import UNKNOWN
from turnlint.notation import example_formats, write
from turnlint.repair.history import is_random

Value = dict[str, Any]
FIRST, SECOND = "call_a1B2c3D4e5F6g7H8", "call_Zz81yXw72Vu63Ts5"
ARGUMENTS = '{"of": "x\\u00e9", "n": 1.50, "big": 12345678901234567890123, "z": 1, "a": [true, null]}'
FULL = f"""
    user       Go.
    assistant
      call     {FIRST} look {ARGUMENTS}
      result   {FIRST} (look) r1
    assistant
      call     {SECOND} see {{"of": "y"}}
      result   {SECOND} (see) r2
    assistant  Done.
    user       More.
"""
CUT = f"""
    user       A summary.
      result   {FIRST} (look) r1
      result   {SECOND} (see) r2
    assistant  Done.
    user       More.
"""


def fix(log: Path, *options: object) -> Result:
    return CliRunner().invoke(fix_command, [str(log), "--no-journal", *map(str, options)])


def placed(folder: Path, name: str, value: Any) -> Path:
    path = folder / name
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return path


def lines(*records: Value) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


def report(path: Path) -> list[Value]:
    changes: list[Value] = json.loads(path.read_bytes())["changes"]
    return changes


def chat_call(identifier: str, name: str = "look", arguments: str = '{"of": "x"}') -> Value:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def chat_result(identifier: str, text: str = "r1") -> Value:
    return {"role": "tool", "tool_call_id": identifier, "content": text}


def asking(*calls: Value) -> Value:
    return {"role": "assistant", "content": None, "tool_calls": [*calls]}


def chat(*messages: Value) -> Value:
    return {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Go."}, *messages]}


def roles(log: Path) -> list[str]:
    return [one["role"] for one in json.loads(log.read_bytes())["messages"]]


# "If one side of pair is omitted from textual history, renderer still has canonical interaction truth to emit valid
# pairing."


@pytest.mark.covering(1)
@pytest.mark.parametrize("source", example_formats())
@pytest.mark.parametrize("target", example_formats())
def test_a_call_of_any_format_is_added_to_any_format(target: str, source: str, tmp_path: Path) -> None:
    history = placed(tmp_path, "backup.json", write(FULL, source).data)
    log = placed(tmp_path, "log.json", write(CUT, target).data)
    options = ("--format", target, "--provider", "none", "--history", history)
    done = fix(log, *options, "--level", "lossless", "--report", tmp_path / "report.json")
    assert done.exit_code == 0, done.output
    assert "added 2 calls that the history omitted" in done.output
    changes = report(tmp_path / "report.json")
    assert [(one["what"], one["call_id"], one["level"]) for one in changes] == [
        ("added", FIRST, "lossless"),
        ("added", SECOND, "lossless"),
    ]
    assert {one["source"]["path"] for one in changes} == {str(history)}
    text = log.read_text(encoding="utf-8").replace("\\\\", "\\").replace('\\"', '"')
    given = write(FULL, source).data.decode().replace("\\\\", "\\").replace('\\"', '"')
    assert "12345678901234567890123" in text
    assert ("1.50" in text) == ("1.50" in given), "a number was written in other digits"
    after = log.read_bytes()
    assert fix(log, *options).exit_code == 0
    assert log.read_bytes() == after, "a second run changed the file"


def test_without_a_source_the_result_is_removed_at_level_lossy_only(tmp_path: Path) -> None:
    cut = chat(
        {"role": "user", "content": "A summary."}, chat_result(FIRST), {"role": "user", "content": "More."}
    )
    log, other = placed(tmp_path, "log.json", cut), placed(tmp_path, "other.json", chat())
    before = log.read_bytes()
    assert fix(log, "--history", other).exit_code == 1
    assert log.read_bytes() == before
    assert fix(log, "--history", other, "--level", "lossy").exit_code == 0
    assert roles(log) == ["user", "user", "user"]


# "Compression or history reduction must not create invalid outbound tool interaction state."

PARALLEL = chat(asking(chat_call(FIRST), chat_call(SECOND)), chat_result(FIRST), chat_result(SECOND, "r2"))


def test_a_call_joins_the_calls_of_its_turn(tmp_path: Path) -> None:
    history = placed(tmp_path, "h.json", PARALLEL)
    log = placed(tmp_path, "log.json", chat(asking(chat_call(FIRST)), *PARALLEL["messages"][2:]))
    assert fix(log, "--history", history).exit_code == 0
    assert json.loads(log.read_bytes()) == PARALLEL


def test_calls_of_one_message_become_one_message(tmp_path: Path) -> None:
    history = placed(tmp_path, "h.json", PARALLEL)
    log = placed(tmp_path, "log.json", chat(*PARALLEL["messages"][2:]))
    assert fix(log, "--history", history).exit_code == 0
    assert json.loads(log.read_bytes()) == PARALLEL


def test_calls_of_two_messages_become_two_messages(tmp_path: Path) -> None:
    whole = chat(
        asking(chat_call(FIRST)), chat_result(FIRST), asking(chat_call(SECOND)), chat_result(SECOND, "r2")
    )
    history = placed(tmp_path, "h.json", whole)
    log = placed(tmp_path, "log.json", chat(chat_result(FIRST), chat_result(SECOND, "r2")))
    assert fix(log, "--history", history).exit_code == 0
    assert json.loads(log.read_bytes()) == whole


def test_a_result_between_others_of_its_message_gets_its_call_in_their_turn(tmp_path: Path) -> None:
    def block(name: str) -> Value:
        return {"type": "tool_use", "id": f"toolu_{name}a1B2c3D4e5F6", "name": "look", "input": {"of": name}}

    def result(name: str) -> Value:
        return {"type": "tool_result", "tool_use_id": f"toolu_{name}a1B2c3D4e5F6", "content": name}

    def log_with(*calls: str) -> Value:
        said = [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": [*map(block, calls)]},
            {"role": "user", "content": [*map(result, "123")]},
        ]
        return {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": said}

    history = placed(tmp_path, "h.json", log_with(*"123"))
    log = placed(tmp_path, "log.json", log_with("1", "3"))
    assert fix(log, "--history", history).exit_code == 0
    assert json.loads(log.read_bytes()) == log_with(*"132")


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini", "bedrock", "mistral", "shared"])
def test_the_result_follows_the_rules_of_a_provider(provider: str, tmp_path: Path) -> None:
    wires = {"openai": "openai-chat", "shared": "canonical"}
    target = wires.get(provider, provider)
    history = placed(tmp_path, "h.json", write(FULL, "canonical").data)
    tools = [
        {"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in ("look", "see")
    ]
    more = {"toolConfig": {"tools": tools}} if provider == "bedrock" else {}
    log = placed(tmp_path, "log.json", {**json.loads(write(CUT, target).data), **more})
    options = ("--history", history, "--provider", provider, "--level", "lossy")
    assert fix(log, *options).exit_code == 0
    after = log.read_bytes()
    assert b"look" in after, "the call is gone"
    assert CliRunner().invoke(lint_command, [str(log), "--provider", provider]).exit_code == 0
    assert fix(log, *options).exit_code == 0
    assert log.read_bytes() == after


def test_canonical_ids_and_a_history_go_together(tmp_path: Path) -> None:
    history = placed(tmp_path, "h.json", PARALLEL)
    log = placed(tmp_path, "log.json", chat(*PARALLEL["messages"][2:]))
    assert fix(log, "--history", history, "--canonical", "--provider", "none").exit_code == 0
    said = json.loads(log.read_bytes())["messages"]
    ids = [one["id"] for one in said[1]["tool_calls"]]
    assert all(one.startswith("hist_tool_") for one in ids)
    assert [one["tool_call_id"] for one in said[2:]] == ids


# "Compression may reduce textual/tool payload verbosity."


def test_a_shortened_result_still_names_its_call(tmp_path: Path) -> None:
    history = placed(tmp_path, "h.json", PARALLEL)
    log = placed(tmp_path, "log.json", chat(chat_result(FIRST, "[cut]"), chat_result(SECOND, "[cut]")))
    assert fix(log, "--history", history).exit_code == 0
    assert roles(log) == ["user", "assistant", "tool", "tool"]


# Only what is certain: an id that names one call.


def _unchanged(tmp_path: Path, cut: Value, *histories: Value) -> None:
    log = placed(tmp_path, "log.json", cut)
    before = log.read_bytes()
    named = [placed(tmp_path, f"h{number}.json", one) for number, one in enumerate(histories)]
    done = fix(log, *(part for one in named for part in ("--history", one)))
    assert done.exit_code == 1
    assert log.read_bytes() == before


def test_an_id_of_two_calls_identifies_none(tmp_path: Path) -> None:
    one, other = (
        chat(asking(chat_call(FIRST, arguments=text)), chat_result(FIRST, "x")) for text in ("{}", '{"a":1}')
    )
    _unchanged(tmp_path, chat(chat_result(FIRST)), one, other)


def test_a_counted_id_needs_the_same_result(tmp_path: Path) -> None:
    """Each conversation has its own `call_1`."""
    history = chat(asking(chat_call("call_1")), chat_result("call_1", "the sun shines"))
    _unchanged(tmp_path, chat(chat_result("call_1", "it rains")), history)
    log = placed(tmp_path, "same.json", chat(chat_result("call_1", "the sun shines")))
    assert fix(log, "--history", placed(tmp_path, "h.json", history)).exit_code == 0
    assert json.loads(log.read_bytes()) == history


def test_a_result_of_another_tool_is_no_result_of_the_call(tmp_path: Path) -> None:
    named = {**chat_result(FIRST), "name": "see"}
    _unchanged(tmp_path, chat(named), chat(asking(chat_call(FIRST, "look")), chat_result(FIRST)))


def test_broken_arguments_are_not_copied(tmp_path: Path) -> None:
    history = chat(asking(chat_call(FIRST, arguments='{"of": ')), chat_result(FIRST))
    log = placed(
        tmp_path, "log.json", write(CUT.replace(f"      result   {SECOND} (see) r2\n", ""), "anthropic").data
    )
    before = log.read_bytes()
    assert fix(log, "--history", placed(tmp_path, "h.json", history)).exit_code == 1
    assert log.read_bytes() == before


def test_behind_an_unreadable_record_nothing_is_added(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Go."}, chat_result(FIRST), {"role": "user", "content": "More."}]
    first, *rest = lines(*said).splitlines(keepends=True)
    log = placed(tmp_path, "log.jsonl", first + b'{"role": "assistant", "tool_ca\n' + b"".join(rest))
    before = log.read_bytes()
    fix(log, "--history", placed(tmp_path, "h.json", PARALLEL), "--level", "lossy")
    assert log.read_bytes() == before


def test_random_and_counted_ids() -> None:
    random = (
        FIRST, "toolu_01T9xK2mPq4vWz", "D681PevKs", "550e8400-e29b-41d4-a716-446655440000",
        "hist_tool_i28Av8WZWc6WyCrqdAsvx4Bu", "chatcmpl-tool-3f9a8c21d04e4b7a",
    )  # fmt: skip
    counted = (
        "call_1",
        "functions.get_weather:0",
        "hist_tool_12",
        "1",
        "toolu_a",
        "weather01",
        "call_2_read_file_3",
        "",
    )
    assert [one for one in random if not is_random(one)] == []
    assert [one for one in counted if is_random(one)] == []


# Messages on lines.


@pytest.mark.parametrize("wire", ["openai-chat", "canonical", "anthropic"])
def test_messages_on_lines_get_their_calls(wire: str, tmp_path: Path) -> None:
    key = {"canonical": "history"}.get(wire, "messages")
    said = json.loads(write(CUT, wire).data)[key]
    log = placed(tmp_path, "log.jsonl", lines(*said))
    history = placed(tmp_path, "h.json", write(FULL, "openai-chat").data)
    options = ("--format", wire, "--provider", "none", "--history", history)
    assert fix(log, *options).exit_code == 0
    assert len(log.read_bytes().splitlines()) > len(said)
    after = log.read_bytes()
    assert fix(log, *options).exit_code == 0
    assert log.read_bytes() == after


# Hostile files of history: one sentence, the present behaviour, and no crash.

HOSTILE = {
    "empty": (b"", "no format"),
    "text": (b"Dear diary,\n" * 9, ""),
    "binary": (bytes(range(256)) * 99, ""),
    "cut": (json.dumps(PARALLEL).encode()[:150], ""),
    "deep": (b'{"messages": ' + b"[" * 100_000, ""),
    "numbers": (b"[1, 2, 3]", ""),
    "torn gzip": (gzip.compress(json.dumps(PARALLEL).encode())[:60], ""),
    "sqlite": (b"SQLite format 3\0" + bytes(100), "SQLite"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_history_is_one_sentence(name: str, tmp_path: Path) -> None:
    data, _ = HOSTILE[name]
    log, history = placed(tmp_path, "log.json", chat(chat_result(FIRST))), placed(tmp_path, "h.jsonl", data)
    before = log.read_bytes()
    done = fix(log, "--history", history)
    assert done.exit_code == 1, done.output
    assert log.read_bytes() == before
    told = [line for line in done.stderr.splitlines() if "--history" in line]
    assert len(told) == (name != "empty"), done.output
    assert "Traceback" not in done.output


def test_a_long_record_of_a_history_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from turnlint.cli import fix as module
    from turnlint.documents.source import Source

    monkeypatch.setattr(module, "_history_at", lambda path: Source(path, path, limit=1000))
    long = chat({"role": "user", "content": "x" * 5000})
    history = placed(tmp_path, "h.jsonl", lines(long, PARALLEL))
    log = placed(tmp_path, "log.json", chat(*PARALLEL["messages"][2:]))
    done = fix(log, "--history", history)
    assert done.exit_code == 0
    assert "1 record cannot be read; calls in them are not found" in done.stderr
    assert json.loads(log.read_bytes()) == PARALLEL


@pytest.mark.skipif(os.name != "posix", reason="named pipes are those of POSIX")
def test_names_that_are_no_files_are_refused_before_any_change(tmp_path: Path) -> None:
    log = placed(tmp_path, "log.json", chat(chat_result(FIRST)))
    os.mkfifo(tmp_path / "pipe")
    for name, words in (
        (tmp_path, "is a folder, not a file"), (tmp_path / "pipe", "is a named pipe, not a file"),
        ("/dev/zero", "is a device, not a file"), (tmp_path / "none.json", "no such file"), ("-", "needs the name of a file"),
    ):  # fmt: skip
        done = fix(log, "--history", name)
        assert done.exit_code == 2
        assert words in done.output.replace("\n", " ")


def test_a_history_is_read_only_for_a_result_without_a_call(tmp_path: Path) -> None:
    log, history = placed(tmp_path, "log.json", PARALLEL), placed(tmp_path, "h.jsonl", b"Dear diary,\n")
    done = fix(log, "--history", history)
    assert done.exit_code == 0
    assert done.stderr == ""


def test_a_compressed_history_is_read(tmp_path: Path) -> None:
    history = placed(tmp_path, "h.jsonl.gz", gzip.compress(lines(chat(), PARALLEL)))
    log = placed(tmp_path, "log.json", chat(*PARALLEL["messages"][2:]))
    assert fix(log, "--history", history, "--report", tmp_path / "r.json").exit_code == 0
    assert json.loads(log.read_bytes()) == PARALLEL
    assert report(tmp_path / "r.json")[0]["source"] == {"path": str(history), "line": 2}


def test_the_same_history_gives_the_same_bytes_for_each_file_of_a_run(tmp_path: Path) -> None:
    history = placed(tmp_path, "h.json", PARALLEL)
    (tmp_path / "logs").mkdir()
    cut = chat(*PARALLEL["messages"][2:])
    logs = [placed(tmp_path / "logs", f"{number}.json", cut) for number in range(3)]
    assert fix(tmp_path / "logs", "--history", history).exit_code == 0
    assert [json.loads(one.read_bytes()) for one in logs] == [PARALLEL] * 3


# The other side: a result that a compaction removed.

NO_RESULTS = f"""
    user       A summary.
    assistant
      call     {FIRST} look {ARGUMENTS}
      call     {SECOND} see {{"of": "y"}}
    user       More.
"""


@pytest.mark.covering(1)
@pytest.mark.parametrize("source", example_formats())
@pytest.mark.parametrize("target", example_formats())
def test_a_result_of_any_format_is_added_to_any_format(target: str, source: str, tmp_path: Path) -> None:
    history = placed(tmp_path, "backup.json", write(FULL, source).data)
    log = placed(tmp_path, "log.json", write(NO_RESULTS, target).data)
    options = ("--format", target, "--provider", "none", "--history", history)
    done = fix(log, *options, "--level", "lossless", "--report", tmp_path / "report.json")
    assert done.exit_code == 0, done.output
    assert "added 2 results that the history omitted" in done.output
    changes = report(tmp_path / "report.json")
    assert {(one["what"], one["call_id"], one["source"]["path"]) for one in changes} == {
        ("added", FIRST, str(history)),
        ("added", SECOND, str(history)),
    }
    assert (
        json.loads((tmp_path / "report.json").read_bytes())["conversations"][0]["synthetic_completions"] == []
    )
    text = log.read_text(encoding="utf-8")
    assert text.index("r1") < text.index("r2") < text.index("More.")
    after = log.read_bytes()
    assert fix(log, *options).exit_code == 0
    assert log.read_bytes() == after


def test_an_equal_result_of_another_call_is_no_reason_to_refuse(tmp_path: Path) -> None:
    whole = chat(asking(chat_call(FIRST), chat_call(SECOND)), chat_result(FIRST, "ok"), chat_result(SECOND, "ok"), {"role": "user", "content": "More."})  # fmt: skip
    history = placed(tmp_path, "h.json", whole)
    log = placed(tmp_path, "log.json", {**whole, "messages": whole["messages"][:3] + whole["messages"][4:]})
    assert fix(log, "--history", history).exit_code == 0
    assert json.loads(log.read_bytes()) == whole


@pytest.mark.parametrize("other", ["another result", "another tool", "counted id"])
def test_a_doubtful_result_is_a_placeholder(other: str, tmp_path: Path) -> None:
    name = "call_1" if other == "counted id" else FIRST
    log = placed(tmp_path, "log.json", chat(asking(chat_call(name)), {"role": "user", "content": "More."}))
    results = [chat_result(name, "the sun shines")]
    call = chat_call(name, "see" if other == "another tool" else "look")
    histories = [chat(asking(call), *results)]
    if other == "another result":
        histories.append(chat(asking(call), chat_result(name, "it rains")))
    named = [placed(tmp_path, f"h{number}.json", one) for number, one in enumerate(histories)]
    assert fix(log, *(part for one in named for part in ("--history", one))).exit_code == 0
    said = json.loads(log.read_bytes())["messages"]
    assert said[2]["content"] == UNKNOWN


def test_a_call_that_brings_a_new_error_is_not_added(tmp_path: Path) -> None:
    """Bedrock rejects a call in a request that declares no tools. Then the levels decide as for a lost call."""
    history = placed(tmp_path, "h.json", write(FULL, "bedrock").data)
    log = placed(tmp_path, "log.json", write(CUT, "bedrock").data)
    before = log.read_bytes()
    options = ("--history", history, "--provider", "bedrock")
    assert fix(log, *options).exit_code == 1
    assert log.read_bytes() == before
    assert fix(log, *options, "--level", "lossy").exit_code == 0
    assert FIRST.encode() not in log.read_bytes()
