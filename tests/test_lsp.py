"""The language server from the view of an editor: over standard input and output, with real documents."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from editor import LATE_RESULT, MODERN, ORPHAN, ROOT, SOUND, Editor, Message, span
from neighbouring import LINES
from settings import put, turnlint, unanswered
from turnlint.lsp import desk, looking


def codes(diagnostics: list[Message]) -> list[str]:
    return [diagnostic["code"] for diagnostic in diagnostics]


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    with Editor(tmp_path) as editor:
        yield editor


# Findings.


def test_a_finding_is_shown_with_all_that_an_editor_can_show(editor: Editor) -> None:
    assert editor.greeting["serverInfo"]["name"] == "turnlint"
    assert editor.greeting["capabilities"]["positionEncoding"] == "utf-16"
    (finding,) = [item for item in editor.open("a.jsonl", LATE_RESULT) if item["code"] == "PA203"]
    sentence, answer, repair = finding["message"].split("\n")
    assert sentence.startswith("misplaced-result: result for `")
    assert answer.startswith("anthropic would answer: ")
    assert repair == "fix: move the result to its call [lossless]"
    assert finding["severity"] == 1
    assert finding["source"] == "turnlint"
    page, _, line = finding["codeDescription"]["href"].rpartition("#L")
    pages = Path(page.removeprefix("file://")).read_text(encoding="utf-8").splitlines()
    assert pages[int(line) - 1] == "### PA203 misplaced-result"
    (related,) = finding["relatedInformation"]
    assert related["message"] == "its call"
    assert related["location"]["uri"] == editor.uri("a.jsonl")
    name = at(LATE_RESULT, related["location"]["range"])
    assert name == at(LATE_RESULT, finding["range"])
    assert name.startswith('"toolu_')


def at(text: str, where: Message) -> str:
    """The text at a range of one line."""
    line = text.split("\n")[where["start"]["line"]].encode("utf-16-le")
    assert where["start"]["line"] == where["end"]["line"]
    return line[2 * where["start"]["character"] : 2 * where["end"]["character"]].decode("utf-16-le")


def test_columns_are_counted_in_utf_16(editor: Editor) -> None:
    text = SOUND + '{"a𐐀b": "𐐀", "messages": [{"role": "tool", "tool_call_id": "c𐐀1", "content": ""}]}'
    (finding,) = editor.open("a.jsonl", text)
    assert at(text, finding["range"]) == '"c𐐀1"'
    # Before it there are 61 units, which are 65 bytes and 59 characters.
    assert finding["range"] == span(61, 67, line=1)


def test_severities_and_settings_are_those_of_the_nearest_folder(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    put(tmp_path, **{"turnlint.yaml": "severity: {orphan-result: info}\nexclude: ['raw/**']\n"})
    put(inner, **{"pyproject.toml": "[tool.turnlint]\nseverity = {PA202 = 'warning'}\n"})
    with Editor(tmp_path) as editor:
        assert [item["severity"] for item in editor.open("a.jsonl", ORPHAN)] == [3]
        assert [item["severity"] for item in editor.open("inner/a.jsonl", ORPHAN)] == [2]
        assert editor.open("raw/a.jsonl", ORPHAN) == []
        assert editor.hover("raw/a.jsonl", 0, 50) is None
        assert editor.actions("raw/a.jsonl") == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ("ignore: [PA202]\n", []),
        ("select: [state]\n", []),
        ("format: anthropic\n", ["PA202", "PR310", "ST116"]),
        ("ignore: [{rule: PA202, reason: known, until: 2026-01-31}]\n", []),
        ("provider: none\nrules: [{name: no-tool, message: a tool speaks, pointer: /messages/*/role, when: {equals: tool}}]\n",
         ["own/no-tool", "PA202"]),
        ("paths: [{path: 'a.*', ignore: [orphan-result]}]\n", []),
    ],
)  # fmt: skip
def test_settings_apply_as_for_lint(tmp_path: Path, settings: str, wanted: list[str]) -> None:
    put(tmp_path, **{"turnlint.yaml": settings, "a.jsonl": ORPHAN})
    with Editor(tmp_path) as editor:
        shown = codes(editor.open("a.jsonl", ORPHAN))
    rows = turnlint(tmp_path, "lint", "--output-format", "jsonl", "a.jsonl").stdout.splitlines()[:-1]
    assert sorted(shown) == sorted(json.loads(line)["code"] for line in rows) == sorted(wanted)


def test_the_command_line_takes_precedence_over_settings(tmp_path: Path) -> None:
    put(tmp_path, **{"turnlint.yaml": "ignore: [PA202]\n", "mild.yaml": "severity: {PA202: warning}\n"})
    with Editor(tmp_path, "--no-config") as editor:
        assert [item["severity"] for item in editor.open("a.jsonl", ORPHAN)] == [1]
    with Editor(tmp_path, "--config", "mild.yaml") as editor:
        assert [item["severity"] for item in editor.open("a.jsonl", ORPHAN)] == [2]


def test_an_expired_ignore_has_no_effect(tmp_path: Path) -> None:
    put(tmp_path, **{"turnlint.yaml": "ignore: [{rule: PA202, reason: known, until: 2026-01-31}]\n"})
    with Editor(tmp_path, "--today", "2026-02-01") as editor:
        assert codes(editor.open("a.jsonl", ORPHAN)) == ["PA202"]


def test_findings_in_the_baseline_are_not_shown(tmp_path: Path) -> None:
    old = unanswered("s-1", "call_1") + "\n"
    put(tmp_path, **{"a.jsonl": old, "turnlint.yaml": "baseline: turnlint.baseline\n"})
    assert turnlint(tmp_path, "baseline", "write", "a.jsonl").returncode == 0
    with Editor(tmp_path) as editor:
        assert editor.open("a.jsonl", old) == []
        assert codes(editor.change("a.jsonl", {"text": old + unanswered("s-2", "call_2")})) == ["PA201"]


def test_other_documents_get_no_diagnostics(editor: Editor) -> None:
    for name, text in {
        "package.json": '{"name": "x", "version": "1.0.0", "scripts": {"test": "x"}}',
        "rows.jsonl": '{"a": 1}\n{"a": 2}\n',
        "notes.md": "# Notes\n\n- {one}\n",
        "empty.jsonl": "",
    }.items():
        assert editor.open(name, text) == [], name
        assert editor.actions(name) == []
    assert editor.said == []


def test_a_document_of_an_unsupported_format_is_named_once_at_its_start(editor: Editor) -> None:
    text = "".join(json.dumps(record) + "\n" for record in LINES["kimi"])
    (shown,) = editor.open("context.jsonl", text)
    assert (shown["code"], shown["severity"], shown["range"]["start"]["line"]) == ("format", 3, 0)
    assert shown["message"] == "not checked: looks like a Kimi CLI context; not supported yet"
    assert editor.actions("context.jsonl") == []
    assert editor.said == []


def test_a_transcript_stays_one_during_typing(editor: Editor) -> None:
    """Invalid JSON that was never a transcript gets no diagnostic: the editor reports it."""
    whole = json.dumps(json.loads(ORPHAN), indent=2)
    assert editor.open("broken.json", whole[:-2]) == []
    assert codes(editor.open("a.json", whole)) == ["PA202"]
    assert codes(editor.change("a.json", {"text": whole[:-2]})) == ["ST101"]
    assert codes(editor.change("a.json", {"text": whole})) == ["PA202"]
    put(editor.folder, **{"turnlint.yaml": "exclude: [a.json]\n"})
    editor.save("a.json")
    assert editor.diagnostics("a.json") == []


def test_a_document_without_a_file_has_the_settings_of_the_folder(tmp_path: Path) -> None:
    put(tmp_path, **{"turnlint.yaml": "severity: {PA202: info}\n"})
    with Editor(tmp_path) as editor:
        assert [item["severity"] for item in editor.open("untitled:Untitled-1", ORPHAN)] == [3]


# Changes.


def test_a_change_is_checked_again(editor: Editor) -> None:
    assert codes(editor.open("a.jsonl", ORPHAN)) == ["PA202"]
    assert editor.change("a.jsonl", {"text": SOUND}) == []
    assert codes(editor.change("a.jsonl", {"text": SOUND + ORPHAN}))
    assert editor.shown[-1]["diagnostics"][0]["range"]["start"]["line"] == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_partial_changes_are_applied_at_the_position_of_the_editor(editor: Editor, end: str) -> None:
    """Unicode line separators end no line for an editor, and a surrogate pair is two units."""
    text = (
        '{"messages": [' + end + '{"role": "user", "content": "𐐀\u2028\x85𐐀"}, '
        '{"role": "tool", "tool_call_id": "c1", "content": ""}]}'
    ) + end  # fmt: skip
    (finding,) = [item for item in editor.open("a.json", text) if item["code"] == "PA202"]
    where = finding["range"]
    assert where["start"]["line"] == 1
    changes = {"range": where, "text": '"𐐀𐐀"'}, {"range": span(0, 0), "text": f" {end} "}
    (now,) = [item for item in editor.change("a.json", *changes) if item["code"] == "PA202"]
    moved = where["start"]["character"]
    assert now["range"] == span(moved, moved + 6, line=2)
    assert "`𐐀𐐀`" in now["message"]
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    assert editor.change("a.json", {"range": everything, "text": SOUND}) == []
    assert editor.texts[editor.uri("a.json")] == SOUND


def test_only_the_last_of_many_changes_must_be_checked(editor: Editor) -> None:
    editor.open("a.jsonl", SOUND)
    for count in range(1, 200):
        editor.type("a.jsonl", {"text": SOUND * count})
    assert codes(editor.change("a.jsonl", {"text": SOUND * 200 + ORPHAN})) == ["PA202"]
    versions = [item["version"] for item in editor.shown]
    assert versions == sorted(versions)
    assert versions[-1] == editor.versions[editor.uri("a.jsonl")]


def test_changed_settings_apply_after_the_notification_of_the_editor(editor: Editor) -> None:
    assert codes(editor.open("a.jsonl", ORPHAN)) == ["PA202"]
    put(editor.folder, **{"turnlint.yaml": "ignore: [PA202]\n"})
    editor.notify(
        "workspace/didChangeWatchedFiles", changes=[{"uri": editor.uri("turnlint.yaml"), "type": 1}]
    )
    assert editor.diagnostics("a.jsonl") == []
    put(editor.folder, **{"turnlint.yaml": "severity: {PA202: warning}\n"})
    editor.save("a.jsonl")
    assert [diagnostic["severity"] for diagnostic in editor.diagnostics("a.jsonl")] == [2]
    (request,) = editor.asked
    assert request["method"] == "client/registerCapability"
    (registered,) = request["params"]["registrations"]
    patterns = [watcher["globPattern"] for watcher in registered["registerOptions"]["watchers"]]
    assert "**/turnlint.{yaml,yml}" in patterns


def test_invalid_settings_are_reported_once(editor: Editor) -> None:
    put(editor.folder, **{"turnlint.yaml": "selct: [PA202]\n"})
    for name in ("a.jsonl", "b.jsonl"):
        assert editor.open(name, ORPHAN) == []
        assert editor.change(name, {"text": ORPHAN * 2}) == []
        assert editor.actions(name) == []
    (sentence,) = editor.said
    assert sentence.startswith("turnlint: ")
    assert "did you mean" in sentence
    put(editor.folder, **{"turnlint.yaml": "select: [PA202]\n"})
    editor.save("a.jsonl")
    assert codes(editor.diagnostics("a.jsonl")) == ["PA202"] * 2


@pytest.mark.parametrize("settings", ["provider: antropic\n", "select: [PA999]\n", "severity: {\n"])
def test_no_setting_crashes_the_server(tmp_path: Path, settings: str) -> None:
    put(tmp_path, **{"turnlint.yaml": settings})
    with Editor(tmp_path) as editor:
        assert editor.open("a.jsonl", ORPHAN) == []
        assert len(editor.said) == 1
        assert editor.open("b.txt", "") == []


def test_a_closed_document_has_no_findings(editor: Editor) -> None:
    assert editor.open("a.jsonl", ORPHAN)
    assert editor.close_document("a.jsonl") == []
    assert editor.hover("a.jsonl", 0, 50) is None


# Explanations.


def test_hovering_over_a_finding_explains_its_rule(editor: Editor) -> None:
    (finding,) = editor.open("a.jsonl", ORPHAN)
    start = finding["range"]["start"]
    hover = editor.hover("a.jsonl", start["line"], start["character"] + 1)
    assert hover["range"] == finding["range"]
    assert hover["contents"]["kind"] == "markdown"
    text = hover["contents"]["value"]
    assert text.startswith("**PA202 orphan-result** (error)\n\nresult for `c1` has no matching call\n\nFix: ")
    explained = turnlint(editor.folder, "explain", "PA202").stdout
    for heading in ("What it does", "Why it matters", "How it happens", "What fix does", "Evidence"):
        assert f"\n\n**{heading}**\n\n" in text
        assert f"\n{heading}\n" in explained
    assert editor.hover("a.jsonl", 0, 0) is None


def test_a_users_description_of_a_rule_is_shown(tmp_path: Path) -> None:
    rule = "{name: no-tool, message: a tool speaks, about: Ask *Ann*., pointer: /messages/*/role, when: {equals: tool}}"
    put(tmp_path, **{"turnlint.yaml": f"rules: [{rule}]\nignore: [PA202]\n"})
    with Editor(tmp_path) as editor:
        (finding,) = editor.open("a.jsonl", ORPHAN)
        text = editor.hover("a.jsonl", 0, finding["range"]["start"]["character"])["contents"]["value"]
    assert text == "**own/no-tool** (warning)\n\na tool speaks\n\n**Ask *Ann*.**"


# Repairs.


def test_an_editor_without_markdown_gets_plain_text(tmp_path: Path) -> None:
    plain = {**MODERN, "textDocument": {"hover": {"contentFormat": ["plaintext"]}}}
    with Editor(tmp_path, capabilities=plain) as editor:
        (finding,) = editor.open("a.jsonl", ORPHAN)
        hover = editor.hover("a.jsonl", 0, finding["range"]["start"]["character"])
        assert hover["contents"]["kind"] == "plaintext"


# The command.


def test_without_the_extra_one_sentence_names_the_install_command(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['pygls'] = None; sys.argv = ['turnlint', 'lsp']\n"
        "from turnlint.cli import main\nmain()\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path, stdin=subprocess.DEVNULL
    )  # fmt: skip
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr == "turnlint: the language server needs an extra: pip install 'turnlint[lsp]'\n"


def test_a_client_that_disconnects_without_exit_ends_the_server(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    editor.open("a.jsonl", ORPHAN)
    assert editor.process.stdin
    editor.process.stdin.close()
    assert editor.process.wait(60) == 1
    editor.close()
    assert editor.errors == b""


def test_nothing_else_imports_the_library() -> None:
    program = (
        "import sys, os; os._exit = lambda code: None\n"
        "sys.argv = ['turnlint', {!r}, '--help']\n"
        "from turnlint.cli import COMMANDS, main\n"
        "main()\n"
        "print(*(name for name in sys.modules if name.startswith(('pygls', 'lsprotocol'))), file=sys.stderr)\n"
    )
    from turnlint.cli import COMMANDS

    for name in COMMANDS:
        run = subprocess.run(
            [sys.executable, "-c", program.format(name)], capture_output=True, text=True, check=True, env=os.environ,
        )  # fmt: skip
        assert run.stderr.strip() == "", name


PAGE = (ROOT / "lint/turnlint/docs/editors.md").read_text(encoding="utf-8")
SNIPPETS = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))


def test_the_command_of_the_page_starts_the_server(tmp_path: Path) -> None:
    helix = tomllib.loads(SNIPPETS["languages.toml"])
    code = json.loads(SNIPPETS["settings.json"])
    lua = SNIPPETS["init.lua"]
    server = helix["language-server"]["turnlint"]
    (named,) = re.findall(r"cmd = \{ (.*?) \}", lua)
    commands = [
        [server["command"], *server["args"]],
        [code["glspc.serverCommand"], *code["glspc.serverCommandArguments"]],
        json.loads(f"[{named}]"),
    ]
    assert commands == [["turnlint", "lsp"]] * 3
    assert lua.count("{") == lua.count("}")
    assert re.findall(r"vim\.lsp\.(?:config|enable)\(\"(\w+)\"", lua) == ["turnlint", "turnlint"]
    assert "turnlint" in helix["language"][0]["language-servers"]
    with Editor(tmp_path) as editor:
        kinds = editor.greeting["capabilities"]["codeActionProvider"]["codeActionKinds"]
    assert set(code["editor.codeActionsOnSave"]) < set(kinds)


def test_limits_agree_with_the_page() -> None:
    words = " ".join(PAGE.split())  # A limit may be at the end of a line.
    assert f"above {desk.MOST >> 20} MiB" in words
    assert f"at most its {looking.MOST:,} most severe" in words
