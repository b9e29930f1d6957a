"""Documents are correct: every command and every line of Python in them runs with the output shown."""

import ast
import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from commands import run_cli
from turnlint import reference, rulebook
from turnlint.cli import COMMANDS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "lint" / "turnlint" / "docs"
PAGES = {
    path.stem: path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
}
FILE = re.compile(r"^```\w+ (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
RUNS = [
    (name, commands)
    for name, text in PAGES.items()
    for block in BLOCK.findall(text)
    if (commands := [found for found in COMMAND.findall(block) if found[1]])
]
"""Commands with the output that a document shows for each, block by block. `...` replaces omitted lines."""


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    env = {
        **{name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST")},
        **({"COLUMNS": "100"} if command[0] == "pytest" else {}),
        "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "XDG_STATE_HOME": str(folder / "state"),
    }  # fmt: skip
    if command[0] == "turnlint":
        return run_cli(*command[1:], cwd=folder, env=env, text=True)
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8",
        check=False,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def test_documents_show_commands_with_their_output() -> None:
    shown = [name for name, commands in RUNS for _ in commands]
    assert shown.count("README") >= 8
    assert {"README", "outputs", "pytest", "ci"} <= set(shown)


def assert_shown(printed: str, shown: str) -> None:
    """Check that the output has all shown lines in order, with the same start and end."""
    start, *others = shown.split("...\n")
    assert printed.startswith(start)
    rest = printed.removeprefix(start)
    for piece in others[:-1]:
        _, found, rest = rest.partition(piece)
        assert found
    assert rest.endswith(others[-1]) if others else not rest


def test_only_omitted_lines_may_differ() -> None:
    assert_shown("a\nb\nc\n", "a\n...\nc\n")
    assert_shown("a\nb\nc\n", "a\n...\n")
    for wrong in ("a\n...\nd\n", "b\n...\n", "a\n...\nb\n", "a\nb\n"):
        with pytest.raises(AssertionError):
            assert_shown("a\nb\nc\n", wrong)


@pytest.mark.parametrize(("page", "block"), RUNS, ids=[f"{name}: {block[0][0]}" for name, block in RUNS])
def test_commands_print_the_output_of_a_document(
    tmp_path: Path, page: str, block: list[tuple[str, str]]
) -> None:
    """In order, for a command may depend on the effect of the one before it."""
    shutil.copytree(ROOT / "fixtures" / "examples", tmp_path / "fixtures" / "examples")
    for name, text in FILE.findall(PAGES[page]):
        (tmp_path / name).write_text(text, encoding="utf-8")
    for command, shown in block:
        assert_shown(run(shlex.split(command), tmp_path).stdout, shown)


@pytest.mark.parametrize("name", [name for name, text in PAGES.items() if ">>> " in text])
def test_python_gives_the_output_of_a_document(name: str) -> None:
    parsed = doctest.DocTestParser().get_doctest(PAGES[name], {}, name, name, 0)
    printed: list[str] = []
    options = doctest.NORMALIZE_WHITESPACE
    results = doctest.DocTestRunner(optionflags=options).run(parsed, out=printed.append)
    assert results.attempted >= 4
    assert not results.failed, "".join(printed)


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_reference_is_current(name: str) -> None:
    assert PAGES[name] == reference.page(name), "run `python -m turnlint.reference`"


@pytest.mark.parametrize("name", [name for name in PAGES if name != "README"])
def test_every_page_can_be_read_with_explain(folder: Path, name: str) -> None:
    command = ["turnlint", "explain", name]
    assert run([*command, "--output-format", "markdown"], folder).stdout == PAGES[name]
    shown = run(command, folder).stdout
    assert shown.startswith(PAGES[name].partition("\n")[0].removeprefix("# ") + "\n=")
    assert not re.search(r"^(#|```|\|--)|\*\*|\]\(#", re.sub(r"(?m)^    .*\n", "", shown), re.MULTILINE)


def test_the_reference_has_every_rule_provider_and_format_and_its_links_lead_somewhere() -> None:
    for name, text in PAGES.items():
        places = {
            re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
            for line in text.splitlines()
            if line.startswith("#")
        }
        assert set(re.findall(r"\]\(#([^)]*)\)", text)) <= places, name
        assert text.count("```") % 2 == 0, name
    for entry in rulebook.load(rulebook.BUILTIN):
        assert f"\n### {entry.rule.code} {entry.rule.name}\n" in PAGES["rules"]
        assert all(text in PAGES["rules"] for _, text in reference.examples_of(entry))


def test_example_records_of_a_format_are_read_as_that_format(folder: Path) -> None:
    parts = PAGES["formats"].split("\n## ")[1:]
    sections = [
        (part.split()[0], part.split("```json\n")[1].split("```")[0]) for part in parts if "```json\n" in part
    ]
    assert len(sections) >= 9
    for name, record in sections:
        (folder / "log.json").write_text(record, encoding="utf-8")
        for chosen in ("auto", name):
            done = run(["turnlint", "lint", "log.json", "--format", chosen, "--provider", "none"], folder)
            assert re.match(r"No findings in 1 file \(1 conversation, [345] messages\)", done.stdout), name


def test_an_unknown_topic_is_reported_with_the_nearest(folder: Path) -> None:
    assert "did you mean 'providers'?" in run(["turnlint", "explain", "provders"], folder).stderr


def test_every_command_has_help_and_the_line_that_the_list_shows(folder: Path) -> None:
    for name, line in COMMANDS.items():
        shown = run(["turnlint", name, "--help"], folder).stdout
        assert line.rstrip(".") in " ".join(shown.split()), name
        assert f"  {name}" in run(["turnlint", "--help"], folder).stdout


def test_every_rule_can_be_explained_by_code_and_by_name(folder: Path) -> None:
    for entry in rulebook.load(rulebook.BUILTIN):
        by_code, by_name = (
            run(["turnlint", "explain", word], folder) for word in (entry.rule.code, entry.rule.name)
        )
        assert by_code.returncode == 0
        assert by_code.stdout == by_name.stdout
        assert entry.headline in by_code.stdout


def test_the_architecture_page_names_every_package() -> None:
    page = (ROOT / "lint" / "turnlint" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    packages = [
        path for path in (ROOT / "lint" / "turnlint").iterdir() if path.suffix == ".py" or path.is_dir()
    ]
    for path in packages:
        if not path.name.startswith("__"):
            assert f"`{path.name}" in page, path.name
    assert len(page.splitlines()) <= 120


def test_the_dev_group_has_every_package_that_a_test_imports() -> None:
    """README's command installs that group alone: one missing package ends the run during collection."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    known = {re.split(r"[<>=;\[ ]", item)[0].lower() for item in named}
    own = {path.stem for folder in ("tests", "benchmarks") for path in (ROOT / folder).glob("*.py")}
    own |= {"turnlint", "turnlint_rules", *sys.stdlib_module_names}
    packages = packages_distributions()
    missing = {}
    for path in sorted((ROOT / "tests").glob("*.py")):
        if path.name == "fuzz_native.py":
            continue  # a separate program, with its own dependency group
        for name in _imported(ast.parse(path.read_bytes())) - own:
            if known.isdisjoint(item.lower() for item in packages.get(name, [name])):
                missing[name] = path.name
    assert not missing


def _imported(module: ast.Module) -> set[str]:
    """The packages that a module imports at its top level, unless its tests are skipped without them."""
    found = set()
    for node in module.body:
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found
