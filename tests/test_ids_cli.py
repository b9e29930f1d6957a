"""The command `turnlint ids`, and its reading of a source."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hostile import POISON_NAMES, POISONS, WIRES, assert_safe
from turnlint.cli import cli
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, Tally, lint
from turnlint.ids import canonical_id
from turnlint.model import Transcript
from turnlint.reading import Foreign, read, transcripts

FIXTURES = Path(__file__).parent.parent / "fixtures"
PLACES = sorted(
    path
    for folder in ("formats", "hostile")
    for path in (FIXTURES / folder).rglob("*.*")
    if path.suffix != ".txt"
)


def call(identifier: str | None, name: str = "f", arguments: str = "{}") -> dict[str, Any]:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(identifier: str | None) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identifier, "content": "done"}


USER = {"role": "user", "content": "go"}
MESSAGES = [
    USER,
    {"role": "assistant", "content": None, "tool_calls": [call("functions.f:0"), call("call_2", "g")]},
    result("functions.f:0"),
    result("call_2"),
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("functions.f:0", arguments=json.dumps("x" * 99))],
    },
    result("functions.f:0"),
    result("nobody:s"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "talk.jsonl").write_text(json.dumps({"id": "s-1", "messages": MESSAGES}) + "\n")
    (tmp_path / "talk.json").write_text(json.dumps({"id": "s-1", "messages": MESSAGES}, indent=1))
    lines = (json.dumps({**message, "session_id": "s-1"}) for message in MESSAGES)
    (tmp_path / "lines.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "package.json").write_text('{"name": "left-pad"}')
    (tmp_path / "silent.jsonl").write_text(json.dumps({"messages": [USER]}) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ids(*arguments: Any, stdin: bytes = b"") -> Result:
    done = CliRunner().invoke(cli, ["ids", *map(str, arguments)], input=stdin)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return done


def rows(*arguments: Any, stdin: bytes = b"") -> list[dict[str, Any]]:
    done = ids(*arguments, "--output-format", "json", stdin=stdin)
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["talk.jsonl", "--provider", "anthropic"], 0, ""),
        (["talk.jsonl", "--canonical"], 0, ""),
        (["talk.jsonl", "--canonical", "--provider", "anthropic"], 0, ""),
        (["silent.jsonl", "--canonical"], 0, ""),
        ([".", "--canonical"], 0, ""),
        (["talk.jsonl"], 2, "--provider"),
        ([], 2, "PATH"),
        (["talk.jsonl", "--provider", "antropic"], 2, "did you mean 'anthropic'"),
        (["talk.jsonl", "--provider", "anthropic@nine"], 2, "unknown version 'nine' of anthropic"),
        (
            ["talk.jsonl", "--provider", "anthropic", "--format", "openai_chat"],
            2,
            "did you mean 'openai-chat'",
        ),
        (["talk.jsonl", "--canonical", "--output-format", "jsn"], 2, "did you mean 'json'"),
        (["gone.jsonl", "--canonical"], 2, "no such file"),
        (["package.json", "--canonical"], 3, "unrecognized format"),
        (["none*.jsonl", "--canonical"], 3, "nothing to show"),
    ],
)
def test_exit_codes(arguments: list[str], code: int, words: str) -> None:
    done = ids(*arguments)
    assert done.exit_code == code, done.stderr
    assert words in " ".join(done.stderr.split())


def test_a_map_lists_the_position_and_the_new_value_of_each_id(folder: Path) -> None:
    found = rows("talk.jsonl", "--provider", "anthropic")
    record = json.loads((folder / "talk.jsonl").read_text())
    for row in found:
        value = record
        for part in row["pointer"].split("/")[1:]:
            value = value[int(part) if isinstance(value, list) else part]
        assert value == row["old"]
        assert row["changed"] is (row["old"] != row["new"])
        assert re.fullmatch("[a-zA-Z0-9_-]+", row["new"])
        assert (row["path"], row["line"], row["for"]) == ("talk.jsonl", 1, "anthropic")
        assert row["conversation"] == {"id": "s-1", "index": 0}
    assert [(row["piece"], row["call"], row["tool"], row["changed"]) for row in found] == [
        ("call", 0, "f", True), ("call", 1, "g", False), ("result", 0, "f", True), ("result", 1, "g", False),
        ("call", 2, "f", True), ("result", 2, "f", True), ("result", None, None, True),
    ]  # fmt: skip
    new = [row["new"] for row in found]
    assert (new[0], new[4]) == (new[2], new[5])
    assert len(set(new)) == 4


@pytest.mark.usefixtures("folder")
def test_lines_are_those_of_the_ids() -> None:
    pretty = Path("talk.json").read_text().splitlines()
    for row in rows("talk.json", "--canonical"):
        assert json.dumps(row["old"]) in pretty[row["line"] - 1]
    assert [row["line"] for row in rows("lines.jsonl", "--canonical")] == [2, 2, 3, 4, 5, 6, 7]


def test_a_conversation_has_the_same_ids_in_any_wrapping(folder: Path) -> None:
    """Also where long arguments are stored as digests, and where the file is read a second time or cannot be."""
    (folder / "lines.jsonl.gz").write_bytes(gzip.compress((folder / "lines.jsonl").read_bytes()))
    maps = [
        [(row["old"], row["new"], row["tool"], row["conversation"]) for row in rows(name, "--canonical", stdin=stdin)]
        for name, stdin in (
            ("talk.jsonl", b""), ("talk.json", b""), ("lines.jsonl", b""), ("lines.jsonl.gz", b""),
            ("-", (folder / "lines.jsonl").read_bytes()),
        )
    ]  # fmt: skip
    assert len(maps[0]) == 7
    assert all(item == maps[0] for item in maps)


@pytest.mark.usefixtures("folder")
def test_canonical_ids_alone_and_as_the_source_of_others() -> None:
    stored = rows("talk.jsonl", "--canonical")
    assert {row["for"] for row in stored} == {"canonical"}
    assert all(re.fullmatch("hist_tool_[A-Za-z0-9_-]{24}", row["new"]) for row in stored)
    whole = rows("talk.jsonl", "--canonical", "--provider", "anthropic")
    assert [row["new"] for row in whole] == [row["new"].replace("hist_tool_", "toolu_") for row in stored]
    known = canonical_id("x", "x", "x", "x", 0)
    line = json.dumps([USER, {"role": "assistant", "tool_calls": [call(known)]}, result(known)]).encode()
    assert [row["changed"] for row in rows("-", "--canonical", stdin=line)] == [False, False]


def test_the_model_of_the_provider_can_be_named(folder: Path) -> None:
    record = {"model": "gpt-4o", "messages": MESSAGES}
    (folder / "model.jsonl").write_text(json.dumps(record))
    logged = rows("model.jsonl", "--provider", "vllm")
    named = rows("model.jsonl", "--provider", "vllm", "--model", "kimi-k2")
    assert [row["new"] for row in named if row["piece"] == "call"] == [
        "functions.f:0",
        "functions.g:1",
        "functions.f:2",
    ]
    assert [row["new"] for row in logged if row["piece"] == "call"][1] == "call_2"


@pytest.mark.usefixtures("folder")
def test_text_is_a_table_per_file_and_a_total() -> None:
    shown = ids("talk.jsonl", "silent.jsonl", "--provider", "anthropic").stdout
    head, titles, first, *_ = shown.splitlines()
    assert head == "talk.jsonl: ids for anthropic"
    assert titles.split() == ["line", "conversation", "pointer", "of", "tool", "id", "becomes"]
    assert re.search(
        r"1 +s-1 +/messages/1/tool_calls/0/id +call +f +functions\.f:0 +toolu_\S{24} +changed", first
    )
    assert re.search(r"/tool_calls/1/id +call +g +call_2 +call_2 +kept\n", shown)
    assert re.search(r"/messages/6/tool_call_id +result +\(none\) +nobody:s +toolu_\S{24} +changed\n", shown)
    assert shown.endswith("7 ids in 2 conversations: 5 changed, 2 kept.\n")


@pytest.mark.usefixtures("folder")
def test_damage_is_reported() -> None:
    torn = json.dumps({"messages": MESSAGES}).encode()[:-30]
    done = ids("-", "--canonical", stdin=torn + b"\n" + json.dumps({"messages": MESSAGES}).encode())
    assert done.exit_code == 0
    assert "damaged; run `turnlint lint` for details" in done.stderr
    assert ids("talk.jsonl", "--canonical").stderr == ""
    damaged = gzip.compress(json.dumps({"messages": MESSAGES}).encode())[:-40]
    assert "damaged" in ids("-", "--canonical", stdin=damaged).stderr


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file here that opens and cannot be read")
def test_one_unreadable_source_does_not_hide_the_others(folder: Path) -> None:
    (folder / "bad.jsonl").symlink_to("/proc/self/mem")
    done = ids("bad.jsonl", "talk.jsonl", "--canonical")
    assert done.exit_code == 2
    assert "bad.jsonl: " in done.stderr
    assert "hist_tool_" in done.stdout


@pytest.mark.sampled(5)
@pytest.mark.parametrize("poison", POISON_NAMES)
def test_ids_and_names_cannot_steer_a_terminal_or_a_runner(poison: str, tmp_path: Path) -> None:
    x = POISONS[poison]
    name = tmp_path / re.sub(r"[/\0]", "", x[:40].encode(errors="ignore").decode() + ".jsonl")
    written = [json.dumps(record).encode() for records in WIRES.values() for record in records(x)]
    for path in (tmp_path / "plain.jsonl", name):
        path.write_bytes(b"\n".join(written) + b"\n")
        for kind in ("text", "json"):
            done = ids(path, "--provider", "anthropic", "--output-format", kind)
            assert done.exit_code == 0, done.stderr
            assert_safe(done.stdout_bytes, kind, poison)
            assert_safe(done.stderr_bytes, "stderr", poison)
            for line in done.stdout.splitlines() if kind == "json" else ():
                json.loads(line)


@pytest.mark.parametrize("path", PLACES, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_reading_and_linting_agree(path: Path) -> None:
    """Both commands read the same number of conversations, messages and damaged places from the bytes."""
    source = Source(path.name, str(path))
    options = Options(providers=())
    tally = next(event for event in lint(source, options, Book(options)) if isinstance(event, Tally))
    found = list(read(source))
    linted = [item for item in found if isinstance(item, Transcript)]
    assert (len(linted), sum(len(item.messages) for item in linted)) == (tally.conversations, tally.messages)
    assert [item.index for item in linted] == list(range(len(linted)))
    assert any(isinstance(item, Foreign) for item in found) is bool(tally.skipped)
    assert [transcript.messages for transcript in transcripts(source)] == [item.messages for item in linted]
