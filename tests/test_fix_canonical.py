"""`fix --canonical` where the provider of a conversation accepts its ids and refuses canonical ids."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import turnlint
from broken_logs import DONE, USER, fix, settle
from turnlint.cli.lint import command


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


def lint(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def mistral(*ids: str, model: str = "mistral-large-latest", name: str = "f") -> dict[str, Any]:
    """A sound request with calls of these ids, each in a turn of its own."""
    messages: list[dict[str, Any]] = [USER]
    for identifier in ids:
        call = {"id": identifier, "type": "function", "function": {"name": name, "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": identifier, "name": name, "content": "r"},
        ]
    return {"model": model, "messages": [*messages, DONE, USER]}


def jsonl(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_a_provider_that_refuses_canonical_ids_keeps_its_valid_ids(folder: Path) -> None:
    data = jsonl(mistral("abcdefghi"))
    (folder / "m.jsonl").write_bytes(data)
    for more in ((), ("--check",), ("--level", "lossy"), ("--format", "mistral")):
        run = fix("m.jsonl", "--canonical", *more)
        assert (run.exit_code, (folder / "m.jsonl").read_bytes()) == (1, data)
        printed = " ".join(run.stdout.split())
        assert "line 1: no canonical ids: mistral would refuse them (id-form)" in printed
        assert "1 file: nothing repaired" in printed
        advice = "mistral would refuse them; `--canonical --provider none` writes them anyway"
        assert f"1 conversation gets no canonical ids: {advice}" in printed
    assert lint("m.jsonl").exit_code == 0
    run = fix("m.jsonl", "--canonical", "--provider", "none")
    assert run.exit_code == 0
    assert b"hist_tool_" in (folder / "m.jsonl").read_bytes()


def test_conversations_of_other_providers_get_canonical_ids_beside_it(folder: Path) -> None:
    other = mistral("call_1", model="gpt-5.1")
    # The second call of one id gets an id that this provider accepts.
    again = mistral("abcdefghi", "abcdefghi")
    again["messages"][4]["content"] = "other"
    again["messages"][3]["tool_calls"][0]["function"]["arguments"] = '{"a": 1}'
    (folder / "m.jsonl").write_bytes(jsonl(mistral("abcdefghi"), other, again))
    run = fix("m.jsonl", "--canonical", "--report", "r.json")
    assert run.exit_code == 1
    first, second, third = (folder / "m.jsonl").read_bytes().splitlines()
    assert first == jsonl(mistral("abcdefghi")).strip()
    assert second.count(b"hist_tool_") == 2
    assert b"hist_tool_" not in third
    assert "2 conversations get no canonical ids" in " ".join(run.stdout.split())
    (file,) = json.loads((folder / "r.json").read_bytes())["files"]
    assert [note["line"] for note in file["notes"]] == [1, 3]
    assert lint("m.jsonl").exit_code == 0
    assert "repaired:" not in fix("m.jsonl", "--canonical").stdout


@pytest.mark.parametrize("identifier", ["call_too_long", "hist_tool_HrtGRx9UAepQKHnB4A0uAsp0"])
def test_canonical_ids_in_place_of_refused_ids_are_written_and_the_errors_are_counted(
    folder: Path, identifier: str
) -> None:
    (folder / "m.jsonl").write_bytes(jsonl(mistral(identifier)))
    run = fix("m.jsonl", "--canonical")
    assert run.exit_code == lint("m.jsonl").exit_code == 1
    assert b"hist_tool_" in (folder / "m.jsonl").read_bytes()
    assert "rejects canonical ids; use `turnlint fix --provider NAME`" in " ".join(run.stdout.split())


def test_the_library_gives_no_canonical_ids_that_the_provider_refuses() -> None:
    found = turnlint.fix(mistral("abcdefghi"), canonical=True)
    assert found.value == mistral("abcdefghi")
    assert found.unverified == ("no canonical ids: mistral would refuse them (id-form)",)
    assert turnlint.fix(mistral("abcdefghi"), canonical=True, provider="none").changes
