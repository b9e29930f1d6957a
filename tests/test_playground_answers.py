"""The playground gives the same results as the command line.

The last part runs the engine of the page itself, in Pyodide under node, and needs the folder that `python
playground/build.py OUT` made: PLAYGROUND_BUILT names it.
"""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from playing import FIXTURES, OFFERS, PAGE, answering, module
from turnlint.cli.fix import command as fix_command
from turnlint.cli.lint import command as lint_command

ASKED = {"format": "auto", "provider": "auto", "level": "lossy", "content": "none"}


NOTE = re.compile(r"turnlint: [^\n]*: the file (?:is empty|contains no conversation)\n")
"""A warning about a file that is named on the command line. The page has no such names."""


def logs() -> list[Path]:
    """The first log of each rule, and all hostile logs and logs for another provider."""
    first = [min(found) for found in map(_logs_in, sorted((FIXTURES / "rules").iterdir())) if found]
    return [*first, *_logs_in(FIXTURES / "hostile"), *_logs_in(FIXTURES / "provider_switch")]


def _logs_in(folder: Path) -> list[Path]:
    return sorted(
        path for path in folder.iterdir() if path.suffix in {".json", ".jsonl"} and ".fixed." not in path.name
    )


def results_of_the_command_line(
    data: bytes, name: str, options: dict[str, str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """The results that the page shows, computed by the commands."""
    for variable in ("FORCE_COLOR", "NO_COLOR", "CI"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(place)
    common = [
        "-",
        "--no-config",
        "--stdin-filename",
        name,
        "--format",
        options["format"],
        "--provider",
        options["provider"],
    ]
    runner = CliRunner()
    rows = runner.invoke(lint_command, [*common, "--output-format", "json"], input=data)
    with monkeypatch.context() as terminal:
        terminal.setattr("turnlint.cli.lint_way.is_terminal", lambda _: True)
        show = ["--color", "never", "--show-content", options["content"]]
        text = runner.invoke(lint_command, [*common, *show, "--show-info"], input=data)
    report = place / "report.json"
    level = ["--level", options["level"]]
    fixed = runner.invoke(fix_command, [*common, *level, "--report", str(report)], input=data)
    diff = runner.invoke(fix_command, [*common, *level, "--diff"], input=data)
    findings = json.loads(rows.stdout)
    repair = json.loads(report.read_text(encoding="utf-8"))
    return {
        "findings": findings["findings"],
        "summary": findings["summary"],
        "report": text.stdout,
        "repaired": fixed.stdout_bytes,
        "changes": repair["changes"],
        "words": re.sub(NOTE, "", fixed.stderr),
        "diff": diff.stdout,
    }


def results_of_the_page(data: bytes, name: str, options: dict[str, str]) -> dict[str, Any]:
    linted = json.loads(answering.lint(data, name, json.dumps(options)))
    report, repaired = answering.fix(memoryview(data), name, json.dumps(options))
    return {**json.loads(report), **linted, "repaired": repaired}


@pytest.mark.parametrize("path", logs(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_page_agrees_with_the_command_line(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = path.read_bytes()
    here = results_of_the_page(data, path.name, ASKED)
    if "problem" in here:
        run = CliRunner().invoke(lint_command, ["-", "--no-config"], input=data)
        likeness, _, _ = here.pop("problem").partition("; ")
        assert here == {"repaired": data}
        assert likeness.removeprefix("it ") in run.stderr
        assert (run.exit_code, run.stdout) == (3, "")
        return
    there = results_of_the_command_line(data, path.name, ASKED, tmp_path, monkeypatch)
    assert {key: here[key] for key in there} == there
    assert here["changed"] is (there["repaired"] != data)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("claude-history-sent-to-mistral.jsonl", {"provider": "mistral", "content": "full"}),
        ("claude-history-sent-to-mistral.jsonl", {"provider": "none", "level": "lossless"}),
        ("gemini-history-with-packed-ids-sent-to-openai.jsonl", {"provider": "openai", "content": "excerpt"}),
        ("kimi-history-on-the-anthropic-wire.jsonl", {"format": "anthropic", "provider": "anthropic"}),
    ],
)
def test_options_have_the_same_effect(
    name: str, more: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = (FIXTURES / "provider_switch" / name).read_bytes()
    options = {**ASKED, **more}
    here = results_of_the_page(data, name, options)
    there = results_of_the_command_line(data, name, options, tmp_path, monkeypatch)
    assert {key: here[key] for key in there} == there


@pytest.mark.parametrize("provider", OFFERS["provider"])
def test_every_provider_can_be_selected(provider: str) -> None:
    data = (PAGE / "example.jsonl").read_bytes()
    here = results_of_the_page(data, "a.jsonl", {**ASKED, "provider": provider})
    assert "problem" not in here
    assert here["findings"]


@pytest.mark.parametrize("name", OFFERS["format"])
def test_every_format_can_be_forced(name: str) -> None:
    data = (PAGE / "example.jsonl").read_bytes()
    assert "problem" not in results_of_the_page(data, "a.jsonl", {**ASKED, "format": name})


@pytest.mark.parametrize(
    ("data", "more", "words"),
    [
        (b"a" * (answering.MOST_BYTES + 1), {}, "5,000,000 bytes at most"),
        (b"\x1f\x8b\x08\x00", {}, "compressed"),
        (b"hello", {}, "unrecognized format"),
        (b'{"role": "_checkpoint", "id": 1}', {}, "it looks like a Kimi CLI context; choose a format"),
        (b"[]", {"format": "mistrall"}, "did you mean 'mistral'"),
        (b"[]", {"provider": "antropic"}, "'antropic'"),
        (b"[]", {"provider": "none,openai"}, "cannot be combined with other providers"),
    ],
    ids=["long", "packed", "foreign", "neighbor", "format", "provider", "none and another"],
)
def test_unreadable_input_is_reported(data: bytes, more: dict[str, str], words: str) -> None:
    here = results_of_the_page(data, "a.jsonl", {**ASKED, **more})
    assert words in here["problem"]
    assert here["repaired"] == data
    assert not {"findings", "changes"} & set(here)


def test_the_list_of_findings_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "MOST", 3)
    monkeypatch.setattr(answering, "MOST_TEXT", 50)
    data = (PAGE / "example.jsonl").read_bytes() * 4
    here = results_of_the_page(data, "a.jsonl", ASKED)
    assert here["summary"]["findings"]["error"] == 8
    assert len(here["findings"]) == 3
    assert len(here["changes"]) == 3
    assert here["report"].endswith("more characters\n")
    assert here["report"].startswith("PA2")


def test_the_engine_needs_only_bundled_packages() -> None:
    """Of the dependencies of the command line, the page has msgspec alone."""
    program = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); import answering\n"
        "data = open(sys.argv[1] + '/example.jsonl', 'rb').read()\n"
        f"asked = json.dumps({ASKED!r})\n"
        "answering.lint(data, 'a', asked); answering.fix(data, 'a', asked); answering.offers()\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(PAGE)], capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert {"msgspec", "turnlint", "turnlint_rules"} <= loaded
    assert not loaded & {"click", "jsonschema", "ruamel", "tabulate", "zstandard", "multiprocessing"}


EVIL = '<img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>`${globalThis.ran=1}`\u202e\u0000\'"\\'


def evil() -> bytes:
    """A log with texts that could act as markup, script, a format string or a path."""
    call = {"id": EVIL, "type": "function", "function": {"name": EVIL, "arguments": EVIL}}
    return json.dumps({
        "id": EVIL, "model": EVIL, EVIL: EVIL, "__proto__": {"findings": EVIL},
        "messages": [
            {"role": "user", "content": EVIL},
            {"role": "assistant", "content": EVIL, "tool_calls": [call]},
            {"role": EVIL, "tool_call_id": f"{EVIL}2", "content": EVIL},
            {"role": "user", "content": EVIL},
        ],
    }).encode()  # fmt: skip


def deep() -> bytes:
    """Deeper than any stack."""
    return (
        b'{"messages": [{"role": "user", "content": '
        + b"[" * 200_000
        + b"}]}\n"
        + (PAGE / "example.jsonl").read_bytes()
    )


@pytest.fixture(scope="module")
def in_pyodide(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Requests to the page's engine under node, with its results; one start for all."""
    folder, node = os.environ.get("PLAYGROUND_BUILT"), shutil.which("node")
    if not folder or node is None:
        pytest.skip("PLAYGROUND_BUILT names no folder that playground/build.py made, or node is not there")
    place = tmp_path_factory.mktemp("questions")
    made = {"evil.jsonl": evil(), "deep.jsonl": deep(), "none.jsonl": b"", "long.jsonl": b"a" * 5_000_001}
    for name, data in made.items():
        (place / name).write_bytes(data)
    paths = [*map(place.joinpath, made), PAGE / "example.jsonl", *logs()]
    questions = [{"file": str(path.resolve()), "name": path.name, "asked": ASKED} for path in paths]
    questions.append({**questions[-1], "asked": {**ASKED, "provider": "mistral", "content": "full"}})
    questions.append({**questions[0], "name": EVIL, "asked": {**ASKED, "content": "full"}})
    script = Path(__file__).with_name("playground_under_node.mjs")
    run = subprocess.run(
        [node, str(script), str(Path(folder).resolve()), str(place / "answers.json")],
        input=json.dumps(questions), capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    offers, *answers = json.loads((place / "answers.json").read_bytes())
    assert offers == OFFERS
    return list(zip(questions, answers, strict=True))


def test_the_build_is_that_of_this_checkout(in_pyodide: object) -> None:  # noqa: ARG001
    folder = Path(os.environ["PLAYGROUND_BUILT"])
    for name in module("build").PAGE:
        assert (folder / name).read_bytes() == (PAGE / name).read_bytes(), "run playground/build.py again"


def test_pyodide_agrees_with_this_python(in_pyodide: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    assert len(in_pyodide) > 50
    for question, answer in in_pyodide:
        assert not answer["ran"], question
        data, options = Path(question["file"]).read_bytes(), json.dumps(question["asked"])
        if question["name"] == "deep.jsonl":
            assert "nested deeper" in answer["failed"]
            continue
        assert "failed" not in answer, question
        report, repaired = answering.fix(data, question["name"], options)
        assert answer["linted"] == json.loads(answering.lint(data, question["name"], options)), question
        assert answer["fixed"] == json.loads(report), question
        assert base64.b64decode(answer["repaired"]) == repaired, question
