"""Files of formats that are not supported are named, judged by no rule, and changed by no repair."""

import gzip
import io
import json
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from neighbouring import ANSWER, CALL, CALLER, DOCUMENTS, LINES, REPLY, RESULT, USE, USER, twice
from turnlint.cli import cli


def run(folder: Path, *arguments: str) -> Result:
    """Run a command of turnlint on files of a folder, in process."""
    names = [str(folder / argument) if (folder / argument).exists() else argument for argument in arguments]
    return CliRunner().invoke(cli, names)


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("samples/1.json", '{"messages": []}\n' * 40)


def _sqlite(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("create table messages(data text)")
        base.execute('insert into messages values (\'{"role": "user"}\')')


def _tar(path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as file:
        file.addfile(tarfile.TarInfo("a.json"))
    path.write_bytes(gzip.compress(packed.getvalue()))


CONTAINERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a.eval": (_zip, "is a zip archive"),
    "a.db": (_sqlite, "is an SQLite database"),
    "a.tar.gz": (_tar, "is a tar archive"),
    "a.parquet": (
        lambda path: path.write_bytes(b"PAR1\x15\x04\x15" + bytes(40) + b"PAR1"),
        "is a Parquet file",
    ),
    "a.bin": (lambda path: path.write_bytes(bytes(range(256)) * 9), "is a binary file"),
    "a.jsonl.gz": (
        lambda path: path.write_bytes(gzip.compress(b"SQLite format 3\0" + bytes(99))),
        "is an SQLite",
    ),
}


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize(
    "command", [["lint"], ["fix"], ["fix", "--level", "lossy"], ["ids", "--canonical"], ["inspect"]]
)
def test_a_container_is_named_in_one_sentence(command: list[str], name: str, tmp_path: Path) -> None:
    make, sentence = CONTAINERS[name]
    make(tmp_path / name)
    before = (tmp_path / name).read_bytes()
    done = run(tmp_path, *command, name)
    assert sentence in " ".join((done.output).split())
    assert (done.exit_code, (tmp_path / name).read_bytes()) == (3, before)


LOGS = {
    **{f"{name}.json": json.dumps(value, indent=1) for name, value in DOCUMENTS.items()},
    **{f"{name}-x40.jsonl": f"{json.dumps(value)}\n" * 40 for name, value in DOCUMENTS.items()},
    **{f"{name}.jsonl": "".join(f"{json.dumps(line)}\n" for line in lines) for name, lines in LINES.items()},
    **{
        f"{name}-x20.jsonl": "".join(f"{json.dumps(line)}\n" for line in lines) * 20
        for name, lines in LINES.items()
    },
}


@pytest.mark.parametrize("name", LOGS)
def test_a_neighbour_has_no_finding_and_no_repair(name: str, tmp_path: Path) -> None:
    log = tmp_path / name
    log.write_text(LOGS[name])
    summary = json.loads(run(tmp_path, "lint", name, "--output-format", "json").stdout)["summary"]
    assert (summary["findings"]["error"], summary["findings"]["warning"]) == (0, 0)
    for level in ("lossless", "placeholder", "lossy"):
        run(tmp_path, "fix", name, "--level", level)
        assert log.read_text() == LOGS[name], level


NAMES = {
    "tau2.json": "a tau2 simulation",
    "mastra.json": "Mastra messages",
    "mini-swe-agent.json": "a mini-swe-agent trajectory",
    "zed.json": "a Zed thread",
    "kimi.jsonl": "a Kimi CLI context",
    "kimi-cut.jsonl": "a Kimi CLI context",
    "droid.jsonl": "a Factory Droid session",
    "codebuddy.jsonl": "a CodeBuddy session",
    "qwen.jsonl": "a Qwen Code session",
    "har.json": "a HAR file",
    "support-desk.json": "messages of another chat format",
    "k2-verifier.json": "messages of another chat format",
    "ag-ui.json": "AG-UI messages",
    "ag-ui-messages.json": "messages of another chat format",
    "ag-ui-lines.jsonl": "messages of another chat format",
    "ag2.json": "messages of another chat format",
    "lobechat.json": "messages of another chat format",
    "swe-agent-messages.json": "messages of another chat format",
    "livekit.json": "messages of another chat format",
    "a2a.json": "A2A messages",
    "mcp.jsonl": "JSON-RPC messages",
    "genkit.json": "Genkit messages",
    "gemini-interaction.json": "a Gemini interaction",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "command", [["lint"], ["fix", "--level", "lossy"], ["ids", "--canonical"], ["inspect"]]
)
def test_every_command_gives_the_same_name(command: list[str], name: str, tmp_path: Path) -> None:
    log = tmp_path / name
    log.write_text(LOGS[name])
    done = run(tmp_path, *command, name)
    printed = " ".join(done.output.split())
    assert f"looks like {NAMES[name]}" in printed
    assert "; not supported yet" in printed
    assert (done.exit_code, log.read_text()) == (3, LOGS[name])


KEPT = {
    "a call and its result": [USER, CALLER, ANSWER],
    "nothing but a call": [USER, CALLER, USER],
}


@pytest.mark.parametrize("name", KEPT)
def test_a_key_of_another_format_beside_a_pair_does_not_hide_damage(name: str, tmp_path: Path) -> None:
    """A pair by the keys of the wire determines the format, and so does a request for a model."""
    odd = {"role": "tool", "toolCallId": "c2", "content": "x"}
    (tmp_path / "a.json").write_text(
        json.dumps([*KEPT[name], odd] if name == "a call and its result" else KEPT[name])
    )
    (tmp_path / "b.json").write_text(json.dumps({"model": "gpt-4o", "messages": [USER, CALLER, odd]}))
    for log in ("a.json", "b.json"):
        assert run(tmp_path, "lint", log).exit_code == 1, log


CONFIGURATIONS = {
    "JSON with comments": '// settings\n{\n  "a": 1, // one\n  "b": [1, 2,],\n}\n',
    "a TOML file": '[tool]\nname = "a"\nlist = [1, 2]\n',
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_configuration_file_is_named_and_has_no_finding(name: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(CONFIGURATIONS[name])
    done = run(tmp_path, "lint", str(path))
    assert (done.exit_code, f"is {name}; it is a configuration file, not a transcript" in done.output) == (
        3,
        True,
    )


def test_a_log_with_bytes_of_another_file_after_its_first_record_is_read(tmp_path: Path) -> None:
    orphan = b'{"messages": [{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "c1", "content": "18"}]}\n'
    (tmp_path / "a.jsonl").write_bytes(orphan + bytes(range(256)) * 4 + b"\n" + orphan)
    done = run(tmp_path, "lint", "a.jsonl")
    assert done.exit_code == 1
    assert done.stdout.count("orphan-result: ") == 2
    assert "unreadable-record: " in done.stdout


def test_damage_with_slashes_in_a_text_is_no_configuration(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text('{"messages": [{"role": "user", "content": "code:\n// a comment\n"}\n')
    assert run(tmp_path, "lint", str(path)).exit_code == 1


def test_conversations_of_a_neighbour_in_a_mixed_log_are_counted_and_named(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    other = {"id": "c1", "name": "f", "arguments": {"a": 1}, "requestor": "assistant"}
    ends = {"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Done."}
    chat = [ends[0], {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "x"}, ends[1]]  # fmt: skip
    near = [ends[0], {"role": "assistant", "content": None, "tool_calls": [other]},
            {"role": "tool", "id": "c1", "content": "x", "requestor": "assistant"}, ends[1]]  # fmt: skip
    path = tmp_path / "mixed.jsonl"
    path.write_text("".join(json.dumps({"messages": item}) + "\n" for item in [chat] * 5 + [near] * 3))
    printed = " ".join(run(tmp_path, "lint", str(path)).output.split())
    assert "3 conversations not read, similar to messages of another chat format." in printed
    report = json.loads(run(tmp_path, "lint", str(path), "--output-format", "json").output)
    assert report["summary"]["noted"] == {"unread messages of another chat format": 3}


BROKEN: dict[str, list[object]] = {
    "a result without an id in a message with one": [
        USER,
        CALLER,
        {"role": "tool", "id": "msg_1", "content": "x"},
        REPLY,
    ],
    "two roles that differ": [
        USER,
        {"role": "usr", "content": "a"},
        CALLER,
        ANSWER,
        {"role": "assitant", "content": "b"},
        *[USER] * 8,
    ],
    "an empty message with a key of a program": [
        USER,
        CALLER,
        {"role": "user", "content": "", "tool_hints": [{"a": 1}]},
        {"role": "user", "content": ""},
    ],
    "calls that are no objects": [USER, CALLER | {"tool_calls": [None, 1, CALL]}, USER],
    "nothing but odd calls": [USER, {"role": "assistant", "tool_calls": [None, 1, {}]}],
    "a call without a name": [USER, CALLER | {"tool_calls": [CALL, {}]}, ANSWER],
    "a list for a text": [{"role": "user", "content": [[["x"]]]}],
    "a number for a text": [{"role": "user", "content": 5}],
    "a number for a role": [USER, {"role": 5, "content": "hi"}],
    "a role that is no word": [USER, {"role": "user\u202e::x", "content": "hi"}],
}
MARKED: dict[str, list[object]] = {
    "a role of its own": [USER, {"role": "exit", "content": "done"}],
    "an object for a text": [USER, {"role": "assistant", "content": {"parts": []}}],
    "an odd call beside a call without a name": [
        USER,
        CALLER | {"tool_calls": [None, {"id": "c1", "name": "ls"}]},
    ],
    "the name of a call alone": [USER, {"role": "assistant", "tool_calls": ["ls"]}],
    "calls without names": [USER, {"role": "assistant", "tool_calls": [{"id": "c1", "name": "ls"}]}],
}


REPEATED = "a result without an id in a message with one"
"""Damage if it occurs once, the spelling of a format if all conversations have it."""


@pytest.mark.parametrize(
    ("name", "count"),
    [(name, count) for name in [*BROKEN, *MARKED] for count in (1, 40) if (name, count) != (REPEATED, 40)],
)
def test_damage_is_judged_and_marks_of_another_format_are_not(name: str, count: int, tmp_path: Path) -> None:
    messages = BROKEN.get(name) or MARKED[name]
    (tmp_path / "a.jsonl").write_text((json.dumps({"messages": messages}) + "\n") * count)
    done = run(tmp_path, "lint", "a.jsonl", "--output-format", "json")
    found = {
        finding["line"] for finding in json.loads(done.stdout)["findings"] if finding["severity"] == "error"
    }
    assert (done.exit_code, len(found)) == ((1, count) if name in BROKEN else (3, 0))
    assert ("looks like messages of another chat format" in done.stderr) == (name in MARKED)


_ONE_USE: dict[str, tuple[dict[str, Any], ...]] = {
    "result without an id": (CALLER, {"role": "tool", "name": "ls", "content": "x"}),
    "results under the role tool": (
        {"role": "assistant", "content": [USE]},
        {"role": "tool", "content": [RESULT]},
    ),
    "a role of its own": ({"role": "summary", "content": "earlier"}, CALLER, ANSWER),
}
_SOUND = {
    "result without an id": (CALLER, ANSWER),
    "results under the role tool": (
        {"role": "assistant", "content": [USE]},
        {"role": "user", "content": [RESULT]},
    ),
    "a role of its own": (CALLER, ANSWER),
}


def _lines_with_errors(done: Result) -> set[int]:
    findings = json.loads(done.stdout)["findings"]
    return {finding["line"] for finding in findings if finding["severity"] == "error"}


@pytest.mark.parametrize("way", ["a file", "standard input"])
@pytest.mark.parametrize("name", _ONE_USE)
def test_a_spelling_beside_that_of_the_wire_is_damage_and_in_all_conversations_a_format(
    name: str, way: str, tmp_path: Path
) -> None:
    odd, sound = ({"messages": [USER, *item[name], REPLY]} for item in (_ONE_USE, _SOUND))
    sent = {"model": "m", **odd}
    plain = {"messages": [USER, REPLY]}
    for records, expected in (
        ([odd] * 9, set()),
        ([plain, odd, plain, odd], set()),
        ([*[sound] * 9, odd], {10}),
        ([odd, *[sound] * 30], {1}),
        ([sent, sent], {1, 2}),
    ):
        text = "".join(f"{json.dumps(record)}\n" for record in records)
        (tmp_path / "a.jsonl").write_text(text)
        if way == "a file":
            done = run(tmp_path, "lint", "a.jsonl", "--output-format", "json")
        else:
            done = CliRunner().invoke(cli, ["lint", "-", "--output-format", "json"], input=text)
        assert _lines_with_errors(done) == expected, records[0]
        if not expected:
            for level in ("lossless", "lossy"):
                run(tmp_path, "fix", "a.jsonl", "--level", level, "--no-journal")
                assert (tmp_path / "a.jsonl").read_text() == text


@pytest.mark.parametrize("id_value", [None, ""])
def test_null_or_an_empty_text_for_an_id_is_damage_in_all_conversations(
    id_value: str | None, tmp_path: Path
) -> None:
    record = twice(CALLER, {"role": "tool", "tool_call_id": id_value, "content": "x"})
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(record)}\n" * 3)
    assert _lines_with_errors(run(tmp_path, "lint", "a.jsonl", "--output-format", "json")) == {1, 2, 3}


def test_a_repair_may_remove_the_last_mark_of_a_format(tmp_path: Path) -> None:
    """A repaired file is read in its former format."""
    (tmp_path / "a.jsonl").write_text(json.dumps({"messages": [ANSWER]}) + "\n")
    done = run(tmp_path, "fix", "a.jsonl", "--level", "lossy", "--no-journal")
    assert (done.exit_code, json.loads((tmp_path / "a.jsonl").read_text())) == (0, {"messages": []})


def test_a_repair_does_not_leave_messages_of_an_unknown_format(tmp_path: Path) -> None:
    """The empty last message has the only role that identifies the format of Cohere."""
    sample = {
        "messages": [
            {"role": "System", "content": "Be brief."},
            {"role": "User", "content": "Well?"},
            {"role": "Chatbot", "content": ""},
        ]
    }
    text = json.dumps(sample) + "\n"
    (tmp_path / "a.jsonl").write_text(text)
    done = run(tmp_path, "fix", "a.jsonl", "--level", "lossy", "--no-journal")
    assert (done.exit_code, (tmp_path / "a.jsonl").read_text()) == (0, text)
    expected = "no repair of ST110: the format of the record would be unknown afterwards"
    assert expected in " ".join(done.output.split())


def test_messages_under_input_are_named_with_the_format_that_reads_them(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text(json.dumps({"input": [{"role": "user", "content": "hi"}]}) + "\n")
    before = log.read_bytes()
    for command in ("lint", "fix", "inspect"):
        printed = " ".join(run(tmp_path, command, "a.jsonl").output.split())
        assert "looks like messages under `input`; not supported yet" in printed, command
        assert "if the format is openai-responses, add --format openai-responses" in printed, command
    assert run(tmp_path, "lint", "--format", "openai-responses", "a.jsonl").exit_code == 0
    assert log.read_bytes() == before


def test_a_result_without_an_id_after_an_entry_without_a_call(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": None}]}
    log = [{"role": "user", "content": "go"}, message, {"role": "tool", "content": "x", "tool_name": "run"}]
    (tmp_path / "a.jsonl").write_text(json.dumps({"messages": log}) + "\n")
    done = run(tmp_path, "lint", "a.jsonl", "--format", "openai-chat", "--output-format", "json")
    assert (done.exit_code, done.stderr) == (1, "")
    assert "ST104" not in {finding["code"] for finding in json.loads(done.stdout)["findings"]}


def test_an_entry_without_a_call_gets_one_finding_and_no_placeholder(tmp_path: Path) -> None:
    """Null, a number and an empty object in a list of calls: a result for them would have no call."""
    odd: list[object] = [None, 1, {}]
    for calls in (odd, [*odd, CALL]):
        log = tmp_path / "a.jsonl"
        log.write_text(json.dumps({"messages": [USER, CALLER | {"tool_calls": calls}, USER]}) + "\n")
        found = json.loads(run(tmp_path, "lint", "a.jsonl", "--output-format", "json").stdout)["findings"]
        places = [item["pointer"] for item in found if "/tool_calls/3" not in item["pointer"]]
        assert sorted(places) == [f"/messages/1/tool_calls/{number}" for number in range(3)]
        assert run(tmp_path, "fix", "a.jsonl", "--no-journal").exit_code == 1
        assert log.read_text().count('"role": "tool"') == len(calls) - 3


@pytest.mark.parametrize("provider", ["openai", "deepseek", "mistral"])
@pytest.mark.parametrize("calls", [[None, 1, {}], [None, 1, {}, CALL]])
def test_no_rule_of_a_provider_repeats_the_finding_of_such_an_entry(
    provider: str, calls: list[object], tmp_path: Path
) -> None:
    body = json.dumps({"messages": [USER, CALLER | {"tool_calls": calls}]}) + "\n"
    (tmp_path / "a.jsonl").write_text(body)
    printed = run(tmp_path, "lint", "a.jsonl", "--provider", provider, "--output-format", "json").stdout
    places = [finding["pointer"] for finding in json.loads(printed)["findings"]]
    for number in range(3):
        assert places.count(f"/messages/1/tool_calls/{number}") == 1, printed


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"model": "gpt-4o", "temperature": 0, "messages": []}, "PR323"),
        ({"model": "gpt-5", "input": []}, "PR323"),
        ({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": []}, "PR323"),
        ({"contents": [], "generationConfig": {}}, "PR323"),
        ({"contents": [], "model": "gemini-3-pro"}, "PR323"),
        ({"contents": []}, "PR323"),
        ({"messages": []}, None),
        ({"id": "s1", "model": "gpt-4o", "title": "x", "messages": []}, None),
    ],
)
def test_an_empty_request_alone_is_a_request(
    tmp_path: Path, record: dict[str, Any], code: str | None
) -> None:
    """A record with an empty list of messages is read where all its other keys are settings of a request."""
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(record) + "\n")
    provider = ["--provider", "gemini"] if "contents" in record else []
    done = CliRunner().invoke(cli, ["lint", str(path), "--output-format", "jsonl", *provider])
    assert (code in done.stdout) if code else (done.exit_code == 3), done.output


@pytest.mark.parametrize(
    ("records", "key", "name"),
    [
        ([{"messages": []}], "messages", "openai-chat"),
        ([{"messages": [], "max_tokens": 5}] * 3, "messages", "openai-chat"),
        ([{"messages": None, "id": "s1", "cwd": "/"}], "messages", "openai-chat"),
        ([{"input": [], "instructions": "hi"}], "input", "openai-responses"),
    ],
)
@pytest.mark.parametrize("command", ["lint", "fix", "inspect"])
def test_an_empty_list_without_a_format_asks_for_the_format(
    command: str, records: list[dict[str, Any]], key: str, name: str, tmp_path: Path
) -> None:
    """The same keys may be of a session that has no message yet: only a user can name the format."""
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    done = run(tmp_path, command, "log.jsonl")
    assert done.exit_code == 3
    printed = " ".join(done.output.split())
    assert f"looks like a request or a session with empty `{key}`" in printed
    assert f"add --format, such as --format {name}" in printed


def test_the_named_format_finds_the_empty_request(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"messages": []}\n')
    done = run(tmp_path, "lint", "log.jsonl", "--format", "openai-chat", "--provider", "openai")
    assert (done.exit_code, "PR323[error] empty-request at openai" in done.output) == (1, True)


def test_records_with_other_lists_are_no_empty_request(tmp_path: Path) -> None:
    for text in (
        '{"messages": [], "a": 1}\n{"input": []}\n',
        '{"messages": [1]}\n',
        '{"input": ""}\n',
        "[]\n",
    ):
        (tmp_path / "log.jsonl").write_text(text)
        assert "empty `" not in run(tmp_path, "lint", "log.jsonl").output
