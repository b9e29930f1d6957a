"""A package of rules by another author: built, installed beside turnlint, and used like the built-in rules."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from commands import run_cli
from settings import put

ROOT = Path(__file__).parent.parent
PLUGIN = ROOT / "fixtures" / "plugin"
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
LOG = {
    "messages": [
        {"role": "user", "content": "and?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "18"},
    ]
}


def install(source: Path, target: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
         "--disable-pip-version-check", "--target", str(target), str(source)],
        check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(PLUGIN, folder / "source")
    install(folder / "source", folder / "site")
    put(folder, **{"log.jsonl": json.dumps(LOG) + "\n"})
    return folder


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, (str(folder / "site"), os.environ.get("PYTHONPATH"))))
    env = {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def turnlint(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(folder / "site"), "NO_COLOR": "1"}
    return run_cli(*arguments, cwd=folder, env=env, text=True)


def test_its_rule_reports_its_fault(site_folder: Path) -> None:
    run = turnlint(site_folder, "lint", "log.jsonl", "--output-format", "concise")
    assert run.stdout == (
        "log.jsonl:1:160: HR101[warning] retired-tool: tool `weather` of call `c1` is retired; there is `get_weather`\n"
    )
    assert turnlint(site_folder, "lint", "log.jsonl", "--fail-on", "warning").returncode == 1
    assert turnlint(site_folder, "lint", "log.jsonl", "--ignore", "retired-tool").stdout.startswith(
        "No findings"
    )
    assert "HR101" in turnlint(site_folder, "lint", "log.jsonl", "--select", "HR").stdout


def test_settings_accept_its_rule(site_folder: Path) -> None:
    put(site_folder, **{"strict.yaml": "severity: {retired-tool: error}\n"})
    assert turnlint(site_folder, "lint", "log.jsonl", "--config", "strict.yaml").returncode == 1
    put(
        site_folder, **{"known.yaml": "ignore: [{rule: HR101, call: c1, reason: a recording of last year}]\n"}
    )
    run = turnlint(site_folder, "lint", "log.jsonl", "--config", "known.yaml", "--fail-on", "warning")
    assert (run.returncode, run.stdout.endswith("Not shown: 1 ignored.\n")) == (0, True)


def test_its_rule_is_listed_and_explained(site_folder: Path) -> None:
    assert re.search(r"^HR101 +retired-tool +warning", turnlint(site_folder, "rules").stdout, re.MULTILINE)
    assert "a call to a tool that is not offered any more" in turnlint(site_folder, "explain", "HR101").stdout


def test_its_examples_are_its_tests(site_folder: Path) -> None:
    run = python(site_folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "source/tests")
    assert (run.returncode, "4 passed" in run.stdout) == (0, True), run.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("was", "now", "expected"),
    [
        ('RETIRED = {"weather"', 'RETIRED = {"climate"', "marked but not found: HR101"),
        ("         <- HR101", "", "not marked: HR101"),
        ("Why it matters\n", "", "the headings are"),
        ('message, key="name"', 'message + ".", key="name"', "a message is lower case and has no full stop"),
        ("for asked in case.asked:", "for asked in case.nothing:", "rule retired-tool crashed"),
    ],
)
def test_a_rule_that_differs_from_its_description_fails_its_tests(
    tmp_path: Path, was: str, now: str, expected: str
) -> None:
    shutil.copytree(PLUGIN, tmp_path / "source")
    rule = tmp_path / "source" / "turnlint_house_rules" / "retired_tool.py"
    text = rule.read_text(encoding="utf-8")
    assert was in text
    rule.write_text(text.replace(was, now), encoding="utf-8")
    install(tmp_path / "source", tmp_path / "site")
    run = python(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "source/tests", "-vv")
    assert run.returncode == 1
    assert expected in run.stdout


def test_a_package_that_is_not_selected_is_reported(tmp_path: Path) -> None:
    run = python(tmp_path, "-c", "from turnlint.testing import problems_in; print(*problems_in('left_pad'))")
    assert run.stdout == "left_pad: not installed, or not named in the entry-point group turnlint.rules\n"


DESK = {
    "turns": [
        {"who": "guest", "words": "A taxi, please."},
        {"who": "bot", "tool": "order", "ticket": "t1", "given": "what: taxi"},
        {"who": "desk", "ticket": "t1", "answer": "in five minutes"},
        {"who": "bot", "words": "@@call order(taxi)"},
        {"who": "guest", "words": "Well?"},
    ]
}


def test_wires_parsers_and_grammars_have_an_entry_point_group_each(site_folder: Path) -> None:
    """Issue 17: the formats of a package are read like the built-in ones. The process finds them at its start."""
    put(site_folder, **{"desk.jsonl": json.dumps(DESK) + "\n"})
    linted = python(site_folder, "-m", "turnlint", "lint", "desk.jsonl", "--output-format", "concise")
    assert [re.sub(r".*?: ", "", line, count=1) for line in linted.stdout.splitlines()] == [
        "ST106[error] unreadable-arguments: the arguments of call `t1` to `order` are lines with colons, not JSON",
        "ST117[warning] call-left-in-text: the text contains an unparsed tool call, which starts with `@@call order(`",
    ]
    told = python(site_folder, "-m", "turnlint", "inspect", "desk.jsonl", "--output-format", "json").stdout
    content = json.loads(told)["files"][0]["content"]
    assert content["formats"] == {"desk-chat": 1}
    assert content["arguments"] == {"colon-lines": 1}
    assert content["tooling"]["parsers"] == {"desk-chat/tool": 1, "text/at-calls": 1}
    assert content["tooling"]["formats"] == {"custom": 2}


def test_a_grammar_of_a_package_is_found_in_long_logs_of_other_wires(site_folder: Path) -> None:
    """The native scanner does not know such a mark, so it must not pass a line that may have one."""
    sound = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}
    marked = {
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "@@call f(1)"}]
    }
    put(
        site_folder,
        **{"long.jsonl": "".join(json.dumps(one) + "\n" for one in [*[sound] * 60, marked, *[sound] * 60])},
    )
    linted = python(site_folder, "-m", "turnlint", "lint", "long.jsonl", "--output-format", "concise")
    assert re.findall(r"^long\.jsonl:(\d+):\d+: (\w+)", linted.stdout, re.MULTILINE) == [("61", "ST117")]


BROKEN = {
    "an import": ("wires", "desk", "import nothing_like_this", "ModuleNotFoundError: No module named 'nothing_like_this'"),
    "no value": ("wires", "desk", "", "AttributeError: module 'broken_house' has no attribute 'CARRIER'"),
    "another value": ("parsers", "desk", "PARSER = 1", "TypeError: PARSER is no Parser"),
    "an exit by an error": ("grammars", "desk", "raise OSError('no')", "OSError: no"),
    "another name": (
        "grammars", "desk", "from turnlint.additions import Grammar\nGRAMMAR = Grammar(name='x', title='', syntax='xml', opens='@')",
        "ValueError: the entry and its value need the same name, of lower-case letters, digits and hyphens",
    ),
    "a mark that is no expression": (
        "grammars", "desk", "from turnlint.additions import Grammar\nGRAMMAR = Grammar(name='desk', title='', syntax='xml', opens='(')",
        "missing ), unterminated subpattern at position 0",
    ),
    "a mark with a group": (
        "grammars", "desk", "from turnlint.additions import Grammar\nGRAMMAR = Grammar(name='desk', title='', syntax='xml', opens='(@)')",
        "ValueError: its mark has a group; (?:…) is none",
    ),
    "an empty mark": (
        "grammars", "desk", "from turnlint.additions import Grammar\nGRAMMAR = Grammar(name='desk', title='', syntax='xml', opens='@*')",
        "ValueError: its mark matches an empty text",
    ),
    "the name of a built-in one": (
        "parsers", "xml", "from turnlint.additions import Parser\nPARSER = Parser(name='xml', title='', syntax='xml', read=len)",
        "ValueError: 'xml' is the name of a built-in parser",
    ),
    "a name with a sign": ("wires", "a b", "from turnlint.carriers.gemini import CARRIER", "ValueError: the entry and its value"),
    "the wire of a built-in one": (
        "wires", "gemini", "from turnlint.carriers.gemini import CARRIER", "ValueError: 'gemini' is the name of a built-in wire",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_addition_is_one_sentence(tmp_path: Path, case: str) -> None:
    group, name, text, reason = BROKEN[case]
    (tmp_path / "site" / "broken_house-1.dist-info").mkdir(parents=True)
    put(
        tmp_path / "site",
        **{
            "broken_house.py": text,
            "broken_house-1.dist-info/METADATA": "Name: broken-house\nVersion: 1\n",
            "broken_house-1.dist-info/entry_points.txt": f"[turnlint.{group}]\n{name} = broken_house\n",
        },
    )
    put(tmp_path, **{"log.jsonl": json.dumps(LOG) + "\n"})
    command = ("lint", "fix", "inspect")[[*BROKEN].index(case) % 3]
    run = python(tmp_path, "-m", "turnlint", command, "log.jsonl")
    (line,) = run.stderr.splitlines()
    assert run.returncode == 4
    assert f"turnlint: the {group[:-1]} {name!r} of broken_house cannot be loaded: " in line
    assert reason in line
    assert run.stdout == ""


def test_the_library_names_a_broken_addition(tmp_path: Path) -> None:
    (tmp_path / "site" / "broken_house-1.dist-info").mkdir(parents=True)
    put(
        tmp_path / "site" / "broken_house-1.dist-info",
        **{
            "METADATA": "Name: broken-house\nVersion: 1\n",
            "entry_points.txt": "[turnlint.parsers]\ndesk = nothing_like_this\n",
        },
    )
    program = (
        "import turnlint.errors\ntry: turnlint.lint([{'role': 'user', 'content': 'a'}])\n"
        "except turnlint.errors.InputError as error: print(error)"
    )
    run = python(tmp_path, "-c", program)
    assert run.stdout.startswith(
        "the parser 'desk' of nothing_like_this cannot be loaded: ModuleNotFoundError"
    ), run.stderr


def test_without_other_packages_no_addition_is_loaded(tmp_path: Path) -> None:
    put(tmp_path, **{"log.jsonl": json.dumps(LOG) + "\n"})
    program = (
        "import os, sys; os._exit = lambda code: None\nsys.argv = ['turnlint', 'lint', 'log.jsonl']\n"
        "from turnlint.cli import main\nmain()\nprint(*sys.modules, file=sys.stderr)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    idle = {
        "turnlint.additions",
        "turnlint.extensions",
        "turnlint.parsers",
        "turnlint.carrying.grammars",
        "importlib.metadata",
    }
    assert idle.isdisjoint(run.stderr.split())
