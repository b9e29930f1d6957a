"""Repairs that the language server offers: the bytes of `fix`, within the limits of the settings."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from editor import LATE_RESULT, ORPHAN, ROOT, SOUND, Editor, edited, span
from settings import put, turnlint
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, lint
from turnlint.repair.choosing import Policy
from turnlint.repair.fixing import fix
from turnlint.rows import Row

FIXTURES = sorted(
    path
    for folder in ("rules", "formats", "provider_switch")
    for path in (ROOT / "fixtures" / folder).rglob("*")
    if path.suffix in {".jsonl", ".json", ".ndjson"} and ".fixed" not in path.suffixes
)
BOM = b"\xef\xbb\xbf"
LOSSY = {"turnlint.yaml": "level: lossy\n"}


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """One editor for all fixtures, in a project that allows repairs at the highest level."""
    folder = tmp_path_factory.mktemp("project")
    put(folder, **LOSSY)
    with Editor(folder) as editor:
        yield editor


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: str(path.relative_to(ROOT / "fixtures")))
def test_a_fixture_is_shown_and_repaired_as_expected(path: Path, lossy: Editor) -> None:
    """Positions are those of the reports for GitHub, and the edits give the bytes that `fix` writes."""
    data = path.read_bytes().removeprefix(BOM)  # an editor does not show these
    try:
        text = data.decode()
    except UnicodeDecodeError:
        pytest.skip("no editor gives these bytes: it shows other characters for them")
    name = path.name
    source = Source(name, name, data=data)
    options = Options(spans=True)
    rows = [row for row in lint(source, options, Book(options)) if isinstance(row, Row)]
    shown = lossy.open(name, text)
    if b"\r" not in data.replace(b"\r\n", b""):  # a carriage return alone ends a line for an editor only
        assert sorted(map(_spot, rows)) == sorted(
            (item["code"], *(n for end in ("start", "end") for n in item["range"][end].values()))
            for item in shown
        )
    fixed = fix(source, options, Book(options), Policy(level="lossy"))
    twin = path.with_suffix(".fixed" + path.suffix)
    wanted = text if fixed.bound or not twin.exists() else twin.read_bytes().removeprefix(BOM).decode()
    assert lossy.repaired(name) == wanted
    assert bool(lossy.said and "unchanged" in lossy.said[-1]) == bool(fixed.patches and fixed.bound)
    lossy.said.clear()
    lossy.close_document(name)


def _spot(row: Row) -> tuple[Any, ...]:
    assert row.place.span
    ends = (n for point in row.place.span for n in (max(point.line - 1, 0), point.unit - 1))
    return row.finding.code, *ends


def test_fixtures_of_every_kind_were_tried() -> None:
    assert sum(path.with_suffix(".fixed" + path.suffix).exists() for path in FIXTURES) >= 100


BOTH = LATE_RESULT + ORPHAN


def test_no_content_is_removed_unless_the_settings_allow_it(tmp_path: Path) -> None:
    put(tmp_path, **{"a.jsonl": BOTH})
    lossless = turnlint(tmp_path, "fix", "a.jsonl", "--level", "lossless", "-o", "-").stdout
    with Editor(tmp_path) as editor:
        editor.open("a.jsonl", BOTH)
        actions = {action["kind"]: action["title"] for action in editor.actions("a.jsonl")}
        assert actions["source.fixAll.turnlint"] == "turnlint: repair this file [lossless]"
        assert editor.repaired("a.jsonl") == lossless != BOTH
        assert ORPHAN in lossless
        editor.open("b.jsonl", ORPHAN)
        assert editor.actions("b.jsonl") == []
        put(tmp_path, **{"turnlint.yaml": "paths: [{path: a.jsonl, level: lossy}]\n"})
        editor.save("a.jsonl")
        editor.diagnostics("a.jsonl")
        assert editor.repaired("a.jsonl") == turnlint(tmp_path, "fix", "a.jsonl", "-o", "-").stdout
        assert editor.repaired("b.jsonl") == ORPHAN


def test_one_rule_can_be_repaired_alone(tmp_path: Path) -> None:
    put(tmp_path, **{**LOSSY, "a.jsonl": BOTH})
    with Editor(tmp_path) as editor:
        findings = {item["code"]: item for item in editor.open("a.jsonl", BOTH)}
        for code in ("PA202", "PA203"):
            where = findings[code]["range"]
            (action,) = [
                action for action in editor.actions("a.jsonl", where, ["quickfix"])
                if action["data"]["rule"] == code
            ]  # fmt: skip
            assert [diagnostic["code"] for diagnostic in action["diagnostics"]] == [code]
            assert "edit" not in action
            wanted = turnlint(tmp_path, "fix", "a.jsonl", "--select", code, "-o", "-").stdout
            assert editor.applied("a.jsonl", action) == wanted != BOTH


def test_a_repair_counts_its_findings(lossy: Editor) -> None:
    lossy.open("three.jsonl", ORPHAN * 3)
    (action,) = lossy.actions("three.jsonl", only=["quickfix"])
    assert action["title"] == "remove the result: all 3 PA202 of this file [lossy]"
    lossy.open("one.jsonl", ORPHAN)
    (action,) = lossy.actions("one.jsonl", only=["quickfix"])
    assert action["title"] == "remove the result [lossy]"


@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        (["quickfix"], {"quickfix"}),
        (["source"], {"source.fixAll.turnlint"}),
        (["source.fixAll.turnlint"], {"source.fixAll.turnlint"}),
        (["source.fixAll.ruff", "source.organizeImports", "refactor"], set()),
        (None, {"quickfix", "source.fixAll.turnlint"}),
    ],
)
def test_an_editor_gets_the_requested_kinds(lossy: Editor, only: list[str] | None, kinds: set[str]) -> None:
    lossy.open("kinds.jsonl", ORPHAN)
    assert {action["kind"] for action in lossy.actions("kinds.jsonl", only=only)} == kinds


def test_repairs_are_offered_at_their_findings(lossy: Editor) -> None:
    lossy.open("where.jsonl", SOUND + ORPHAN)
    assert [action["kind"] for action in lossy.actions("where.jsonl", span(0, 10))] == [
        "source.fixAll.turnlint"
    ]


def test_an_old_editor_gets_complete_actions(tmp_path: Path) -> None:
    put(tmp_path, **LOSSY)
    with Editor(tmp_path, capabilities={}) as editor:
        (finding,) = editor.open("a.jsonl", ORPHAN)
        assert not {"relatedInformation", "codeDescription"} & set(finding)
        actions = editor.actions("a.jsonl")
        assert len(actions) == 2
        for action in actions:
            (edits,) = action["edit"]["changes"].values()
            assert edited(ORPHAN, edits) == '{"messages": []}\n'
        assert editor.asked == []


def test_a_repair_applies_to_the_document_at_the_time_of_the_request(lossy: Editor) -> None:
    lossy.open("later.jsonl", ORPHAN)
    (action,) = lossy.actions("later.jsonl", only=["source"])
    lossy.type("later.jsonl", {"text": SOUND + ORPHAN})
    assert lossy.applied("later.jsonl", action) == SOUND + '{"messages": []}\n'


def test_a_placeholder_for_an_unanswered_call_is_offered_beside_lossless_repairs(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}]},
        {"role": "user", "content": "on"},
    ]  # fmt: skip
    text = json.dumps({"messages": messages}) + "\n"
    put(tmp_path, **{"a.jsonl": text})
    with Editor(tmp_path) as editor:
        editor.open("a.jsonl", text)
        (action,) = editor.actions("a.jsonl", only=["quickfix"])
        assert action["title"].endswith("[placeholder]")
        wanted = turnlint(tmp_path, "fix", "a.jsonl", "--select", "PA201", "-o", "-").stdout
        assert editor.applied("a.jsonl", action) == wanted != text
        editor.open("b.jsonl", waiting := json.dumps({"messages": messages[:2]}) + "\n")
        assert editor.actions("b.jsonl", only=["quickfix"]) == []
        assert editor.repaired("b.jsonl") == waiting
