"""`turnlint fix` and `turnlint undo` under hostile input and failures of the system.

Inputs that once lost data, or might: texts under keys of other wires, torn or joined lines, journals that were
overwritten or edited, other programs that write at the same time.
"""

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner, Result

from broken_logs import BROKEN, GAP, GOOD, SOUND, STRAY, call, calling, fix, fixed, log, result, settle
from hostile import ENVIRONMENT, assert_safe
from turnlint.cli.undo import command as undo_command
from turnlint.keeping import last_run

Value = dict[str, Any]
TEXT_TO_KEEP = "do not lose me"
FIX = (sys.executable, "-m", "turnlint", "fix")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


def undo(*arguments: str) -> Result:
    run = CliRunner().invoke(undo_command, arguments)
    assert run.exception is None or isinstance(run.exception, SystemExit), run.exception
    return run


def line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def report_of(folder: Path, data: bytes, *arguments: str) -> tuple[bytes, Value]:
    """The file after its repair, and the report."""
    path = folder / "case.jsonl"
    path.write_bytes(data)
    run = fix("case.jsonl", "--report", "report.json", *arguments)
    report = (folder / "report.json").read_bytes()
    assert_safe(report, "report")
    assert_safe(run.output.encode(), "summary")
    return path.read_bytes(), json.loads(report)


# Content under a key that this wire does not have.

CHAT = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}
HI, YO = [{"text": "hi"}], [{"text": "yo"}]
WIRES: dict[str, tuple[str, Value, Value]] = {
    **dict.fromkeys(("openai-chat", "anthropic", "mistral", "cohere", "ollama"), ("messages", *CHAT)),
    "openai-responses": ("input", *CHAT),
    "gemini": ("contents", {"role": "user", "parts": HI}, {"role": "model", "parts": YO}),
    "bedrock": ("messages", {"role": "user", "content": HI}, {"role": "assistant", "content": YO}),
    "canonical": (
        "history",
        {"speaker": "human", "blocks": [{"type": "text", "text": "hi"}]},
        {"speaker": "ai", "blocks": [{"type": "text", "text": "yo"}]},
    ),
}
"""By wire: the key of the messages, and one of the user and of the assistant."""
ELSEWHERE: tuple[Value, ...] = (
    {"parts": [{"text": TEXT_TO_KEEP}]},
    {"parts": [{"inlineData": {"mimeType": "image/png", "data": TEXT_TO_KEEP}}]},
    {"parts": [{"functionCall": {"name": "f", "args": {"a": TEXT_TO_KEEP}}}]},
    {"blocks": [{"type": "text", "text": TEXT_TO_KEEP}]},
    {"text": TEXT_TO_KEEP},
    {"message": TEXT_TO_KEEP},
    {"content": None, "refusal": TEXT_TO_KEEP},
    {"content": None, "reasoning": TEXT_TO_KEEP},
    {"content": "", "reasoning_content": TEXT_TO_KEEP},
    {"content": [], "reasoning_details": [{"type": "reasoning.text", "text": TEXT_TO_KEEP}]},
    {"content": "", "thinking": TEXT_TO_KEEP},
    {"content": None, "audio": {"id": TEXT_TO_KEEP}},
    {"content": "", "images": [TEXT_TO_KEEP]},
    {"content": "", "function_call": {"name": "f", "arguments": TEXT_TO_KEEP}},
    {"content": [{"type": "text", "text": "", "citations": [TEXT_TO_KEEP]}]},
    {"content": [{"type": "thinking", "thinking": TEXT_TO_KEEP}]},
    {"content": [[TEXT_TO_KEEP]]},
    {"content": {"text": TEXT_TO_KEEP}},
)


@pytest.mark.parametrize("wire", WIRES)
def test_content_under_a_key_of_another_wire_is_not_empty(wire: str, folder: Path) -> None:
    """No level that keeps all content may treat such a message as empty, or rewrite it without that content."""
    key, user, assistant = WIRES[wire]
    messages = [{"role": role, **words} for words in ELSEWHERE for role in ("user", "assistant", "model")]
    data = b"".join(line({key: [user, assistant, user, message, assistant, user]}) for message in messages)
    after, report = report_of(folder, data, "--format", wire, "--level", "lossless")
    assert [
        one for one, now in zip(messages, after.splitlines(), strict=True) if TEXT_TO_KEEP.encode() not in now
    ] == []
    assert report["complete"]


@pytest.mark.parametrize("wire", ["anthropic", "gemini", "bedrock"])
def test_a_message_is_not_rewritten_for_this_wire_without_its_content(wire: str, folder: Path) -> None:
    key, user, assistant = WIRES[wire]
    keys = ("reasoning_content", "refusal", "thinking", "tool_plan", "name", "id", "extra")
    data = b"".join(
        line({
            "model": "claude-3" if wire == "anthropic" else "m",
            key: [user, assistant, user, {**calling(call("c1")), "content": "so", item: TEXT_TO_KEEP}, result("c1"), user],
        })
        for item in keys
    )  # fmt: skip
    after, _ = report_of(folder, data, "--format", wire, "--level", "lossless")
    assert [
        one for one, now in zip(keys, after.splitlines(), strict=True) if TEXT_TO_KEEP.encode() not in now
    ] == []


def test_numbers_of_a_foreign_call_keep_their_digits(folder: Path) -> None:
    number = b"12345678901234567890123"
    foreign = line({"role": "assistant", "content": None, "tool_calls": [call("c1")]}).strip()
    foreign = foreign.replace(b'"arguments": "{}"', b'"arguments": {"n": ' + number + b"}")
    assert number in foreign
    known = (
        b'{"role": "user", "content": "hi"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name":'
        b' "f", "input": {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content":'
        b' "ok"}]}'
    )
    answer = line(result("c1")).strip()
    data = b'{"max_tokens": 5, "messages": [' + b", ".join((known, foreign, answer)) + b"]}\n"
    assert number in report_of(folder, data, "--format", "anthropic")[0]


# Torn or joined lines.

TORN = b'{"messages": [{"role": "user", "content": "he'
LENIENT: dict[str, Callable[[bytes], bytes]] = {
    "sound": lambda data: data,
    "a comma too many": lambda data: data.replace(b"}]}", b"},]}"),
    "a number that is none": lambda data: data.replace(b'"hi"', b"NaN"),
    "a raw control": lambda data: data.replace(b"hi", b"h\x01i"),
    "bytes that are no text": lambda data: data.replace(b"hi", b"h\xffi"),
    "a key twice": lambda data: data.replace(b'"role"', b'"role": "user", "role"', 1),
    "half a pair": lambda data: data.replace(b"hi", b"h\\ud800"),
    "torn as well": lambda _: TORN,
}


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n"])
@pytest.mark.parametrize("kind", LENIENT)
def test_a_torn_first_line_removes_no_other_line(kind: str, end: bytes, folder: Path) -> None:
    second = LENIENT[kind](b'{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant"}]}')
    after, _ = report_of(folder, TORN + end + second + end + SOUND)
    assert after.startswith(TORN + end)
    assert after.endswith(SOUND)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_joined_lines_of_a_packed_log_are_read_at_their_position(
    pack: Callable[[bytes], bytes], folder: Path
) -> None:
    """A stream that cannot seek once gave the next bytes as those of the second record of a line."""
    done = b'{"session_id": "s0", "role": "model", "parts": [{"text": "done"}]}'
    lines = [
        done + b"\t" + done,
        b'{"session_id": "s1", "role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {}}}]}',
        b'{"n": NaN, "session_id": "s1", "role": "user", "parts": [{"text": "more"}]}',
        b'{"session_id": "s0", "role": "user", "parts": [{"te\\ud800xt": "more"}]}',
        b'{"session_id": "s1", "role": "model", "parts": [{"text": "last"}]}',
    ]
    data = b"\n".join(lines) + b"\n"
    (folder / "packed").write_bytes(pack(data))
    (folder / "plain").write_bytes(data)
    for name in ("packed", "plain"):
        fix(name, "-o", f"{name}.jsonl")
    after = (folder / "packed.jsonl").read_bytes()
    assert after == (folder / "plain.jsonl").read_bytes()
    assert [item for item in (lines[1], lines[4]) if item not in after.splitlines()] == []
    assert after.startswith(done + b"\t\n" + done + b"\n")


@pytest.mark.parametrize("depth", [900, 100_000])
def test_nesting_beside_and_inside_of_repaired_values_keeps_its_bytes(depth: int, folder: Path) -> None:
    deep = b"[" * depth + b"]" * depth
    beside = log(GAP).replace(b"{", b'{"deep": ' + deep + b", ", 1)
    inside = log(GAP).replace(b'"content": null', b'"content": null, "deep": ' + deep, 1)
    after, _ = report_of(folder, beside + inside + log(GAP))
    assert all(deep in line for line in after.splitlines()[:2])
    assert after.endswith(fixed(log(GAP)))


ORPHANS: dict[str, Value] = {
    "gemini": {"role": "user", "parts": [{"functionResponse": {"id": "z", "name": "f", "response": {}}}]},
    "canonical": {"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "z", "toolName": "f", "result": 1}]},
    "openai-chat": result("z"),
    "openai-responses": {"type": "function_call_output", "call_id": "z", "output": "r"},
}  # fmt: skip


@pytest.mark.parametrize("wires", [*permutations(ORPHANS, 2)])
def test_a_file_of_two_wires_is_repaired_in_one_run(wires: tuple[str, str], folder: Path) -> None:
    data = b""
    for wire in wires:
        key, user, assistant = WIRES[wire]
        # Messages under `input` are a request only beside a model.
        model = {"model": "gpt-5.1"} if wire == "openai-responses" else {}
        data += line({**model, key: [user, ORPHANS[wire], assistant, user]})
    after, report = report_of(folder, data)
    assert [(change["rule"], change["line"]) for change in report["changes"]] == [
        ("orphan-result", n) for n in (1, 2)
    ]
    assert fixed(after) == after


# Journals.


def test_two_fixes_that_end_in_the_same_bytes_have_two_journals(folder: Path) -> None:
    path = folder / "log.jsonl"
    records = [{"session": "s", **item} for item in (STRAY[0], STRAY[1], STRAY[2])]
    path.write_bytes(first := b"".join(map(line, records)))
    fix("log.jsonl")
    between = path.read_bytes()
    path.write_bytes(second := between + line({"session": "s", **result("c8", "another")}))
    fix("log.jsonl")
    assert path.read_bytes() == between
    assert undo("log.jsonl").exit_code == 0
    assert path.read_bytes() == second
    path.write_bytes(between)
    assert undo("log.jsonl").exit_code == 0
    assert path.read_bytes() == first


def test_an_edit_between_two_fixes_stops_only_the_first_undo(folder: Path) -> None:
    path = folder / "log.jsonl"
    path.write_bytes(first := log(GAP))
    fix("log.jsonl")
    path.write_bytes(edited := (between := path.read_bytes()) + log(STRAY))
    fix("log.jsonl")
    assert (undo("log.jsonl").exit_code, path.read_bytes()) == (0, edited)
    assert (undo("log.jsonl").exit_code, path.read_bytes()) == (2, edited)
    path.write_bytes(between)
    assert (undo("log.jsonl").exit_code, path.read_bytes()) == (0, first)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_for_any_journal_undo_restores_the_old_bytes_or_changes_nothing(
    pack: Callable[[bytes], bytes], folder: Path, tmp_path: Path
) -> None:
    path = folder / "log.jsonl"
    path.write_bytes(old := pack(log(GAP, STRAY)))
    fix("log.jsonl")
    new = path.read_bytes()
    (journal,) = (path for path in (tmp_path / "state").iterdir() if path.name != last_run.NAME)
    sound = journal.read_bytes()
    rng = Random(4)  # noqa: S311 - the same ones in every run
    codes = set()
    for _ in range(120):
        at = rng.randrange(len(data := bytearray(sound)))
        match rng.randrange(4):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at : at + rng.randrange(1, 60)]
            case 2:
                data[at:at] = rng.randbytes(4)
            case _:
                document = json.loads(data)
                place = rng.choice([document, *document["edits"]])
                place[rng.choice(sorted(place))] = rng.choice(
                    [None, [], {}, -1, 10**30, "x", True, 1.5, "\ud800"]
                )
                data = bytearray(json.dumps(document).encode())
        path.write_bytes(new)
        journal.write_bytes(data)
        run = undo("log.jsonl")
        codes.add(run.exit_code)
        assert_safe(run.output.encode(), "undo")
        assert path.read_bytes() == (old if run.exit_code == 0 else new)
    assert codes == {0, 2, 4}


def test_o_through_a_missing_folder_replaces_nothing(folder: Path) -> None:
    """`x/..` is removed from a name only if `x` exists."""
    (path := folder / "log.jsonl").write_bytes(data := log(STRAY))
    assert fix("log.jsonl", "-o", os.path.join(".", "x", "..", "log.jsonl")).exit_code == 2
    assert path.read_bytes() == data


# Concurrent programs.


def test_two_simultaneous_runs_give_one_repair_that_can_be_undone(folder: Path) -> None:
    path = folder / "log.jsonl"
    path.write_bytes(old := log(GAP, GOOD) * 300)
    runs = [
        subprocess.Popen([*FIX, "log.jsonl"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ))
        for _ in range(2)
    ]  # fmt: skip
    errors = [run.communicate()[1] for run in runs]
    assert 0 in {run.returncode for run in runs}
    assert {run.returncode for run in runs} <= {0, 2}, errors
    assert path.read_bytes() == fixed(old)
    assert undo("log.jsonl").exit_code == 0
    assert path.read_bytes() == old


@pytest.mark.parametrize("keeps_open", [True, False])
def test_no_line_of_a_writer_is_lost(keeps_open: bool, folder: Path) -> None:
    path = folder / "log.jsonl"
    path.write_bytes(log(GAP, GOOD) * 300)
    stop = threading.Event()
    written: list[bytes] = []

    def write() -> None:
        kept = path.open("ab", buffering=0) if keeps_open else None
        while not stop.wait(0.01):
            added = line({"messages": [{"role": "user", "content": f"late {len(written)}"}]})
            if kept:
                kept.write(added)
            else:
                with path.open("ab", buffering=0) as file:
                    file.write(added)
            written.append(added)
        if kept:
            kept.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        run = subprocess.run([*FIX, "log.jsonl"], capture_output=True, check=False, env=dict(os.environ))
    finally:
        stop.set()
        writer.join()
    assert run.returncode in (0, 2), run.stderr
    after = path.read_bytes()
    assert [item for item in written if item not in after] == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
@pytest.mark.parametrize(
    "arguments", [["--report", "/dev/full"], ["--journal", "/dev/full"], ["-o", "/dev/full"]]
)
def test_a_full_disk_is_reported_and_written_changes_can_be_undone(
    arguments: list[str], folder: Path
) -> None:
    run = subprocess.run(
        [*FIX, "broken.jsonl", *arguments], capture_output=True, check=False, env=dict(os.environ)
    )
    assert run.returncode == 2
    assert_safe(run.stdout + run.stderr, "words")
    if (folder / "broken.jsonl").read_bytes() != BROKEN:
        assert undo("broken.jsonl").exit_code == 0
    assert (folder / "broken.jsonl").read_bytes() == BROKEN


def test_no_byte_depends_on_the_order_of_a_hash(folder: Path, tmp_path: Path) -> None:
    log = b"".join(line({key: [user, assistant, user]}) for key, user, assistant in WIRES.values())
    seen = set()
    for seed in ("0", "1", "4242"):
        (folder / "case.jsonl").write_bytes(BROKEN + log)
        state = tmp_path / f"state-{int(seed):04}"  # paths of equal length, because lines break at the width
        outputs = []
        for arguments in (["--diff"], ["--report", "r.json", "--provider", "mistral"]):
            run = subprocess.run(
                [*FIX, "case.jsonl", *arguments], capture_output=True, check=False,
                env={**ENVIRONMENT, **os.environ, "PYTHONHASHSEED": seed, "TURNLINT_STATE_DIR": str(state)},
            )  # fmt: skip
            outputs += [run.stdout.replace(str(state).encode(), b""), run.stderr]
        report = (folder / "r.json").read_bytes().replace(str(state).encode(), b"")
        journals = sorted((path.name, path.read_bytes()) for path in state.iterdir())
        seen.add((*outputs, report, (folder / "case.jsonl").read_bytes(), *journals))
    assert len(seen) == 1


def test_many_results_of_one_call_are_reported_one_by_one(folder: Path) -> None:
    data = log([*GOOD[:2], *(result("c1", f"text {number}") for number in range(4_000)), GOOD[-1]])
    after, report = report_of(folder, data)
    assert after.count(b'"tool_call_id"') == 1
    assert (
        len({change["digests"]["before"] for change in report["changes"]}) == len(report["changes"]) == 3_999
    )
    assert undo("case.jsonl").exit_code == 0
    assert (folder / "case.jsonl").read_bytes() == data


def test_very_long_ids_and_ids_with_names_of_objects_stay_with_their_results(folder: Path) -> None:
    ids = [
        "x" * 100_000,
        "__proto__",
        "constructor",
        "é\u202e😀",
        'a"b\\c',
        "\x1b[31m",
        "\n::error::x",
        "\u0000",
    ]
    late = [
        *GOOD[:1],
        calling(*map(call, ids)),
        GOOD[0],
        *(result(identifier, f"of {identifier}") for identifier in reversed(ids)),
    ]
    after, _ = report_of(folder, log(late))
    messages = json.loads(after)["messages"]
    assert [message["tool_call_id"] for message in messages[2:-1]] == ids
    assert [message["content"] for message in messages[2:-1]] == [f"of {identifier}" for identifier in ids]


# A call in a tool message is a copy only if it is elsewhere too.

INNER = {"id": "c1abcdefg", "type": "function", "function": {"name": "run", "arguments": "{}"}}
ANSWER = {"role": "tool", "tool_call_id": "c1abcdefg", "content": "R", "tool_calls": [INNER]}
OLLAMA_INNER = {"function": {"name": "run", "arguments": {}}}
INNER_CALLS: dict[str, list[Value]] = {
    "openai-chat": [ANSWER],
    "mistral": [ANSWER],
    "cohere": [ANSWER],
    "ollama": [{"role": "tool", "tool_name": "run", "content": "R", "tool_calls": [OLLAMA_INNER]}],
    "anthropic": [
        {"role": "user", "content": [
            {"type": "tool_use", "id": "c1abcdefg", "name": "run", "input": {}},
            {"type": "tool_result", "tool_use_id": "c1abcdefg", "content": "R"},
        ]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("level", ["lossless", "placeholder", "lossy"])
@pytest.mark.parametrize("wire", INNER_CALLS)
@pytest.mark.parametrize("provider", ["auto", "none", "openai", "cohere", "anthropic"])
def test_a_call_only_in_a_tool_message_goes_directly_before_its_result(
    folder: Path, wire: str, level: str, provider: str
) -> None:
    user = {"role": "user", "content": "go"}
    for messages in ([user, *INNER_CALLS[wire], {"role": "assistant", "content": "ok"}], INNER_CALLS[wire]):
        data = line({"model": "m", "messages": messages})
        arguments = ("--format", wire, "--level", level, "--provider", provider)
        after, report = report_of(folder, data, *arguments)
        now, place = json.loads(after)["messages"], messages.index(INNER_CALLS[wire][0])
        asking, answering = now[place : place + 2]
        assert asking["role"] == "assistant"
        assert [*(asking.get("tool_calls") or asking["content"])] == _calls(INNER_CALLS[wire][0])
        assert _calls(answering) == []
        assert "R" in json.dumps(answering)
        assert not [change for change in report["changes"] if change["what"] == "removed"]


def _calls(message: Value) -> list[Value]:
    blocks = message["content"] if isinstance(message["content"], list) else []
    return [*message.get("tool_calls", []), *(one for one in blocks if one["type"] == "tool_use")]


def test_a_copy_of_a_call_in_a_tool_message_is_removed(folder: Path) -> None:
    user = {"role": "user", "content": "go"}
    calling_message = {"role": "assistant", "content": None, "tool_calls": [INNER]}
    data = line({"model": "m", "messages": [user, calling_message, ANSWER]})
    after, _ = report_of(folder, data, "--level", "lossy")
    bare = {key: value for key, value in ANSWER.items() if key != "tool_calls"}
    assert json.loads(after)["messages"] == [user, calling_message, bare]
