"""Hostile input, linted for providers.

No value at any position of any provider's wire breaks a run. No name controls a terminal or discloses content. A
crowd costs linear time. Profiles and texts of users are as safe as transcripts.
"""

import copy
import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from arbitrary_json import places
from commands import run_cli
from hostile import (
    ENVIRONMENT,
    POISONS,
    assert_ended_well,
    assert_safe,
    lint,
    lint_in_all_formats,
    reported,
)
from hostile_wires import CROWDS, PROVIDER_WIRES, WIRE_SPELLINGS, Turns, WireSpelling, crowd
from kin import ODD
from turnlint import compiled
from turnlint.documents.source import Source
from turnlint.engine import Book, Crash, Options
from turnlint.engine import lint as lint_source
from turnlint.providers import Providers
from turnlint.rows import Row

PACKAGES = ["turnlint_rules"]


@cache
def _every_provider() -> tuple[str, ...]:
    """Every version of every provider."""
    known = Providers(PACKAGES)
    return tuple(profile.label for name in known.names() for profile in known.versions(name))


def _all_of_them() -> list[str]:
    return ["--provider", ",".join(_every_provider())]


def _write(folder: Path, x: str) -> list[Path]:
    paths = []
    for wire, records in PROVIDER_WIRES.items():
        path = folder / f"{wire}.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records(x)))
        paths.append(path)
    return paths


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("poison", ["line ends", "lone surrogates", "markup"])
def test_no_name_on_a_providers_wire_controls_a_terminal_or_a_runner(poison: str, tmp_path: Path) -> None:
    paths = _write(tmp_path, POISONS[poison])
    reports = lint_in_all_formats(*paths, *_all_of_them(), folder=tmp_path)
    document = json.loads(reports["json"])
    assert document["complete"]
    assert len(document["summary"]["rules"]) >= 25


@pytest.mark.slow
def test_no_id_in_a_map_of_ids_controls_a_terminal_or_a_runner(tmp_path: Path) -> None:
    paths = _write(tmp_path, POISONS["line ends"] + POISONS["lone surrogates"])
    for kind in ("text", "json"):
        done = run_cli(
            "ids", "--provider", "kimi", "--output-format", kind, *map(str, paths), env=ENVIRONMENT
        )
        assert_ended_well(done)
        assert_safe(done.stdout, kind)
        assert done.returncode == 0


def test_a_name_is_never_read_as_a_template(tmp_path: Path) -> None:
    name = "{0} {path.__class__} {id!r:>9} %s {{"
    (tmp_path / "a.jsonl").write_text(json.dumps(PROVIDER_WIRES["openai-chat"](name)[0]))
    done = lint(tmp_path / "a.jsonl", "--provider", "mistral,openai,anthropic", "--output-format", "jsonl")
    assert_ended_well(done)
    texts = [row["provider_error"] or "" for row in reported(done)[:-1]]
    assert any(name in text for text in texts)


CONTENT, KEY = "hunter2", "correct horse"
NAMING = frozenset({"role", "id", "name", "tool_call_id", "toolUseId", "call_id", "type", "model", "modelId", "tool_name",
                    "url", "host", "conversation"})  # fmt: skip


def _with_secrets(value: Any, key: str = "") -> Any:
    """Keep names; put a secret at all other positions, also into keys."""
    if isinstance(value, list):
        return [_with_secrets(item, key) for item in value]
    if isinstance(value, dict):
        return {name.replace("x1", KEY): _with_secrets(item, name) for name, item in value.items()}
    return value.replace("x1", CONTENT) if isinstance(value, str) and key not in NAMING else value


def test_content_for_a_provider_stays_out_of_every_report(tmp_path: Path) -> None:
    paths = []
    for wire, records in PROVIDER_WIRES.items():
        paths.append(tmp_path / f"{wire}.jsonl")
        paths[-1].write_text("".join(json.dumps(_with_secrets(record)) + "\n" for record in records("x1")))
    reports = lint_in_all_formats(*paths, *_all_of_them(), folder=tmp_path)
    assert len(json.loads(reports["json"])["summary"]["rules"]) >= 25
    for kind, report in reports.items():
        for secret in (CONTENT.encode(), KEY.encode()):
            assert secret not in report, (kind, report[: report.find(secret) + 100][-400:])


def test_reports_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    _write(tmp_path, "x1 é")
    arguments = (tmp_path, *_all_of_them(), "--output-format", "json")
    first, second = (lint(*arguments, env={"PYTHONHASHSEED": seed}) for seed in ("1", "2"))
    assert_ended_well(first)
    assert first.stdout == second.stdout


EMPTY = {
    "gemini": {"contents": [], "generationConfig": {}, "tools": [{"functionDeclarations": [{"name": "é"}] * 200}]},
    "anthropic": {"messages": [], "model": "claude-3", "max_tokens": 9, "tools": [{"name": "é"}] * 200},
    "openai-chat": {"messages": [], "model": "m", "tools": [{"type": "function", "function": {"name": "é"}}] * 200},
    "openai-responses": {"input": [], "model": "gpt-5", "tools": [{"type": "function", "name": "é"}] * 200},
    "bedrock": {"messages": [], "modelId": "anthropic.claude-3", "toolConfig": {"tools": []}},
}  # fmt: skip


@pytest.mark.parametrize("wire", EMPTY)
def test_a_request_without_messages_is_survived_with_any_declarations(wire: str) -> None:
    stdin = json.dumps(EMPTY[wire]).encode()
    done = lint("-", "--format", wire, *_all_of_them(), "--output-format", "json", stdin=stdin)
    assert_ended_well(done)
    assert json.loads(done.stdout)["complete"]


def _battered(record: Any, step: int) -> Iterator[str]:
    """Records with an odd value at one position each, or without it."""
    spots = [at for at, _ in places(record) if at]
    for number, (at, odd) in enumerate((at, odd) for at in spots for odd in (*ODD, 10**400, "absent")):
        if number % step:
            continue
        other = copy.deepcopy(record)
        holder = other
        for part in at[:-1]:
            holder = holder[part]
        holder[at[-1]] = odd
        if odd == "absent":
            del holder[at[-1]]
        yield json.dumps(other)


def _resolves(pointer: str, value: Any) -> bool:
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return True


@pytest.mark.parametrize("wire", PROVIDER_WIRES)
def test_every_position_may_have_any_value(wire: str, tmp_path: Path) -> None:
    lines = [line for item in PROVIDER_WIRES[wire]("x1") for line in _battered(item, 97)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines))
    options = Options(format=wire, providers=_every_provider(), view=True, fingerprints=True)
    events = list(lint_source(Source(path.name, str(path)), options, Book(options)))
    assert not [event for event in events if isinstance(event, Crash)]
    rows = [event for event in events if isinstance(event, Row)]
    assert len(rows) > len(lines)
    for row in rows:
        assert 0 <= row.place.offset <= row.place.end <= path.stat().st_size
        assert _resolves(row.place.pointer, json.loads(lines[row.place.line - 1]))


def _steps(
    speech: WireSpelling, shape: Callable[[WireSpelling, int], Turns], count: int, folder: Path
) -> int:
    """The number of the project's own lines that a run executes, which is deterministic."""
    path = folder / "a.jsonl"
    path.write_text(json.dumps(crowd(speech, shape, count)))
    options = Options(format=speech.format, providers=speech.providers)
    book = Book(options)
    book.rules()
    steps = 0

    def trace(frame: FrameType, _: object, __: object) -> Any:
        nonlocal steps
        if "turnlint" not in frame.f_code.co_filename:
            return None
        steps += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        events = list(lint_source(Source(path.name, str(path)), options, book))
    finally:
        sys.settrace(before)
    assert not [event for event in events if isinstance(event, Crash)]
    return steps


CROWD = 16


@pytest.mark.covering(1)
@pytest.mark.parametrize("speech", WIRE_SPELLINGS, ids=lambda speech: speech.format)
@pytest.mark.parametrize("shape", CROWDS, ids=lambda shape: shape.__name__)
def test_a_crowd_costs_no_more_than_its_size(
    speech: WireSpelling,
    shape: Callable[[WireSpelling, int], Turns],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, compiled.NAME, None)  # native code runs fewer lines, up to some number
    _steps(speech, shape, CROWD, tmp_path)  # values that are computed once
    one, two, three = (_steps(speech, shape, CROWD * times, tmp_path) for times in (3, 4, 5))
    # Linear cost grows by equal steps. If each item reads all items, or half of them, in as few lines as possible, the
    # difference is three of CROWD squared; a constant number of extra lines is less than two.
    assert three - 2 * two + one < 2 * CROWD * CROWD, (one, two, three)


UNCLOSED = (*('{"%s' % (f"\\{quote}" * 32_000) for quote in "\"'`"), "a:HTTP/1.1 400\n" * 4_000)
PEEL = """
import json, sys
from turnlint.why.peeling import pieces
for text in json.load(sys.stdin):
    pieces(text)
"""


@pytest.mark.slow
def test_a_refusal_that_opens_and_never_closes_costs_no_more_than_its_size() -> None:
    texts = json.dumps(
        [*UNCLOSED, "litellm." * 8_000, "x calling y: " * 5_000, "status code: 400 " * 3_800]
    ).encode()
    done = run_cli(program=PEEL, input=texts)
    assert done.stderr == b""


REPLACEMENTS = {
    "a group that is none": r"keep: '[a-z]', replace: '\1'",
    "an escape that is none": r"keep: '[a-z]', replace: '\q'",
    "flags": "keep: '(?i)[a-z]'",
    "a comment": "keep: '(?x)[a-z] # letters'",
}


@pytest.mark.parametrize("replacement", REPLACEMENTS)
def test_an_own_profile_is_refused_or_works(replacement: str, tmp_path: Path) -> None:
    rules = f"- {{rule: id-charset, pattern: '[a-z]+', wants: letters}}\n- {{rule: id-collision, {REPLACEMENTS[replacement]}}}\n"
    (tmp_path / "own.yaml").write_text(f"name: own\nclauses:\n{rules}")
    speech = WIRE_SPELLINGS[-1]
    stdin = json.dumps(crowd(speech, CROWDS[0], 3)).encode()
    done = lint("-", "--profile", tmp_path / "own.yaml", "--provider", "own", stdin=stdin)
    assert_ended_well(done)
