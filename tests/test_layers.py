"""The arrows between the rooms of the house hold, and start-up stays lean."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnlint.rulebook import FAMILIES

ROOT = Path(__file__).parent.parent
LAYERS = (
    {"steps", "model", "globs", "handwritten"},
    {"lifecycle", "rows", "documents", "clauses", "events"},
    {"keeping"},
    {"ledger", "carrying", "placing", "profiles"},
    {"carriers"},
    {"repeats", "clean", "view", "fingerprint", "sampling", "wording", "providers"},
    {"keys", "traits"},
    {"case", "weighing", "ids"},
    {"fits"},
    {"api"},
    {"rulebook", "writing", "notation", "own_profiles", "reading", "scan"},
    {"ignores", "own_rules"},
    {"config"},
    {"counting", "judging"},
    {"engine"},
    {"spread"},
    {"repair"},
    {"report", "why", "inspecting"},
    {"baseline"},
    {"sifting"},
    {"library"},
    {"testing", "cli", "pytest_plugin", "reference"},
)
"""Each room may look into those before it, and into its own."""
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
SIDEWAYS = {
    ("carriers", "ledger"),
    ("ledger", "carrying"),
    ("carrying", "ledger"),
    ("placing", "carrying"),
    ("testing", "cli"),
}
MODULES = sorted((ROOT / "lint" / "turnlint").rglob("*.py"))
RULES = sorted((ROOT / "rules" / "turnlint_rules").rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports from this project, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "turnlint":
                yield from (f"turnlint.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def room(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "turnlint" and len(parts) > 1 and parts[1] in RANK else None


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_looks_only_into_earlier_rooms(path: Path) -> None:
    here = path.relative_to(ROOT / "lint" / "turnlint").parts[0].removesuffix(".py")
    if here.startswith("__"):
        return
    for module in imports(path):
        there = room(module)
        if there is not None and there != here:
            assert RANK[there] <= RANK[here], f"{here} imports {there}"
            assert (here, there) not in SIDEWAYS
        assert not module.startswith("turnlint_rules")


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_a_rule_imports_the_api_and_nothing_else_of_the_engine(path: Path) -> None:
    tables = "turnlint_rules.profiles._"
    found = {
        module for module in imports(path) if module.startswith("turnlint") and not module.startswith(tables)
    }
    assert found <= {"turnlint.api"}


@pytest.mark.parametrize("path", [*MODULES, *RULES], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_what_it_owns(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), path
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


HEAVY = ("jsonschema", "ruamel", "tabulate", "importlib.metadata", "dataclasses", "pathlib", "argparse",
         "multiprocessing", "asyncio", "hashlib", "tempfile", "difflib", "gzip", "tomllib", "fnmatch")  # fmt: skip
"""What no run on one sound file has a use for."""


def loaded_after(*arguments: str) -> set[str]:
    program = (
        "import sys, os; os._exit = lambda code: None\n"
        f"sys.argv = ['turnlint', *{arguments!r}]\n"
        "from turnlint.cli import main\n"
        "main()\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(run.stderr.split())


def test_a_run_on_a_sound_file_loads_no_rule_and_nothing_heavy(tmp_path: Path) -> None:
    path = tmp_path / "sound.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    loaded = loaded_after("lint", str(path))
    bare = subprocess.run(
        [sys.executable, "-c", "import sys, click, msgspec; print('\\n'.join(sys.modules))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "turnlint.ledger" in loaded
    assert not [name for name in loaded - set(bare.stdout.split()) if name.startswith(HEAVY)]
    formats = {name for name in loaded if name.startswith("turnlint.carriers.")}
    assert formats == {"turnlint.carriers._marks", "turnlint.carriers.openai_chat"}
    families = tuple(f"turnlint_rules.{name}" for name in FAMILIES)
    assert not [name for name in loaded if name.startswith(families)]


def test_help_imports_no_command() -> None:
    assert not [name for name in loaded_after("--help") if name.startswith("turnlint.cli.")]
