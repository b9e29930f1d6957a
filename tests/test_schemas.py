"""`jsonschema` checks what it is for: transcripts of the canonical form, configuration, reports in tests.

The validator knows nothing of the reader, the settings and the writers, so that each schema is a second opinion.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from test_docs import FILE, PAGES
from turnlint import rulebook, testing
from turnlint.api import Example
from turnlint.cli import cli
from turnlint.library import lint
from turnlint.notation import write

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"


def validator(name: str) -> Draft202012Validator:
    """The validator of a schema as the command prints it."""
    schema = json.loads(CliRunner().invoke(cli, ["schema", name]).stdout)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def faults(name: str, value: Any) -> list[str]:
    return [f"{error.json_path}: {error.message[:200]}" for error in validator(name).iter_errors(value)]


# Transcripts of the canonical form.

EXAMPLES = [
    (f"{entry.rule.name}-{kind}-{number}", kind, write(example.text, "canonical").data)
    for entry in rulebook.load(rulebook.BUILTIN)
    for kind in ("BAD", "GOOD")
    for number, example in enumerate(getattr(entry.module, kind))
    if isinstance(example, Example) and "canonical" in example.wires
]


@pytest.mark.parametrize(("kind", "data"), [one[1:] for one in EXAMPLES], ids=[one[0] for one in EXAMPLES])
def test_sound_and_repaired_transcripts_of_the_canonical_form_are_valid(kind: str, data: bytes) -> None:
    assert kind == "BAD" or faults("transcript", json.loads(data)) == []
    assert faults("transcript", json.loads(testing.fixed(data, "canonical"))) == []


@pytest.mark.parametrize("name", ["state", "pairing"])
def test_repaired_histories_among_the_fixtures_are_valid(name: str) -> None:
    family = {entry.rule.name for entry in rulebook.load(rulebook.BUILTIN) if entry.rule.fault == name}
    paths = [path for rule in family for path in (FIXTURES / "rules" / rule).glob("*.fixed.jsonl")]
    records = [
        json.loads(line) for path in sorted(paths) for line in path.read_text(encoding="utf-8").splitlines()
    ]
    histories = [one for one in records if isinstance(one, dict) and "history" in one]
    assert len(histories) > 5
    for one in histories:
        if not lint(one, format="canonical", provider="none"):
            assert faults("transcript", one) == []


TRANSCRIPT = {
    "id": "s1",
    "history": [
        {"speaker": "system", "blocks": [{"type": "text", "text": "Be brief."}]},
        {"speaker": "human", "blocks": [{"type": "text", "text": "Look."}, {"type": "image", "data": "AA=="}]},
        {
            "speaker": "ai",
            "blocks": [
                {"type": "thinking", "thought": "so"},
                {"type": "text", "text": "I look."},
                {"type": "tool_call", "id": "hist_tool_1", "name": "look", "parameters": {"at": 1}},
                {"type": "tool_call", "id": "hist_tool_2", "name": "look", "parameters": {}},
            ],
        },
        {
            "speaker": "tool",
            "blocks": [
                {"type": "tool_response", "callId": "hist_tool_1", "toolName": "look", "result": {"output": "a"}},
                {"type": "tool_response", "callId": "hist_tool_2", "toolName": "look", "error": "failed"},
            ],
        },
        {"speaker": "ai", "blocks": [{"type": "text", "text": "Done."}]},
    ],
}  # fmt: skip
READ_AS_ABSENT = {
    ("history", 0, "blocks"),
    ("history", 3, "blocks", 0, "toolName"),
    ("history", 3, "blocks", 1, "toolName"),
}
"""Values that may be null, and a message of the system without blocks."""
ANY_VALUE = {("id",), ("history", 3, "blocks", 1, "error")}
"""Names and errors of other kinds: the reader takes any error, and an id only if it is a text."""


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if at:
        yield at
    for key, below in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from places(below, (*at, key))


def broken() -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The transcript with another value at one place, or without that place."""
    for at in places(TRANSCRIPT):
        for other in (None, 1, True, "", [], {}, ...):
            value: Any = deepcopy(TRANSCRIPT)
            holder = value
            for key in at[:-1]:
                holder = holder[key]
            if other is ...:
                del holder[at[-1]]
            else:
                holder[at[-1]] = other
            yield at, value


def test_what_the_schema_refuses_has_a_finding() -> None:
    assert faults("transcript", TRANSCRIPT) == []
    assert lint(TRANSCRIPT, format="canonical", provider="none") == ()
    check, refused, silent = validator("transcript"), 0, set()
    for at, value in broken():
        if not check.is_valid(value):
            refused += 1
            if not lint(value, format="canonical", provider="none"):
                silent.add(at)
    assert silent == READ_AS_ABSENT | ANY_VALUE
    assert refused > 250


# Configuration.


def loaded(text: str) -> Any:
    """The settings in a text. Dates are texts, as in JSON."""
    return json.loads(json.dumps(YAML(typ="safe").load(text), default=str))


def test_settings_on_the_pages_are_valid() -> None:
    shown = [
        (name, text) for page in PAGES.values() for name, text in FILE.findall(page) if name.endswith(".yaml")
    ]
    assert {name for name, _ in shown} >= {"team.yaml"}
    for name, text in shown:
        assert faults("config", loaded(text)) == [], name


def test_the_settings_that_init_writes_are_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"messages": [{"role": "tool", "tool_call_id": "c", "content": "1"}]})
    )
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(cli, ["config", "init"])
    assert run.exit_code == 0, run.output
    assert faults("config", loaded((tmp_path / "turnlint.yaml").read_text(encoding="utf-8")) or {}) == []


# Reports.


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param("formats", marks=pytest.mark.slow),
        pytest.param("rules", marks=pytest.mark.slow),
        "provider_switch",
        "hostile",
    ],
)
def test_reports_on_all_fixtures_are_valid(folder: str, tmp_path: Path) -> None:
    path = str(FIXTURES / folder)
    run = CliRunner().invoke(cli, ["lint", path, "--output-format", "json", "--statistics"])
    assert faults("report", json.loads(run.stdout)) == []
    report = tmp_path / "repair.json"
    CliRunner().invoke(cli, ["fix", path, "--check", "-q", "--level", "lossy", "--report", str(report)])
    assert faults("repair", json.loads(report.read_text())) == []


def test_descriptions_of_fixtures_are_valid() -> None:
    for path in sorted((FIXTURES / "formats").glob("*/*.jsonl"))[::40]:
        run = CliRunner().invoke(cli, ["inspect", str(path), "--output-format", "json"])
        assert faults("inspect", json.loads(run.stdout)) == [], path.name
