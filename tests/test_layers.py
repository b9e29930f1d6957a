"""Packages import only from lower layers, and start-up imports few modules."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnlint.rulebook import FAMILIES

ROOT = Path(__file__).parent.parent
LAYERS = (
    {"steps", "model", "errors", "globs", "handwritten", "compiled", "bounded_cache", "names"},
    {"lifecycle", "completions", "rows", "documents", "text", "schema_errors", "packages", "provenance"},
    {"keeping", "extensions"},
    {"ledger", "carrying", "placing", "parsers"},
    {"carriers", "harmless", "neighbours", "omissions", "additions"},
    {"events", "aggregation"},
    {"facts", "clause", "clauses", "keys", "profiles"},
    {"gaps", "writable", "repeats", "view", "fingerprint", "provenance", "sampling", "wording", "providers"},
    {"extraction", "checks"},
    {"case", "weighing", "ids", "arguments"},
    {"api"},
    {"rulebook", "notation", "own_profiles", "reading"},
    {"ignores", "own_rules", "pardons"},
    {"noting"},
    {"config"},
    {"counting", "judging", "fastpath"},
    {"diagnosis", "evaluation"},
    {"engine"},
    {"spread"},
    {"repair"},
    {"canonical_form"},
    {"report", "why", "inspecting"},
    {"baseline"},
    {"sifting"},
    {"library", "lsp"},
    {"testing", "cli", "pytest_plugin", "reference"},
)
"""Each layer may import from those before it, and from itself."""
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
    """Every module of this project that a file imports, anywhere in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "turnlint":
                yield from (f"turnlint.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def layer_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "turnlint" and len(parts) > 1 and parts[1] in RANK else None


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_earlier_layers(path: Path) -> None:
    here = path.relative_to(ROOT / "lint" / "turnlint").parts[0].removesuffix(".py")
    if here.startswith("__"):
        return
    for module in imports(path):
        there = layer_of(module)
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
def test_a_module_has_a_docstring_and_a_readable_length(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), path
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 600


HEAVY = ("jsonschema", "ruamel", "tabulate", "importlib.metadata", "dataclasses", "pathlib", "argparse",
         "multiprocessing", "asyncio", "hashlib", "tempfile", "difflib", "gzip", "tomllib", "fnmatch", "json", "locale", "pickle")  # fmt: skip
"""Modules that no run on one sound file needs."""
IDLE = ("rulebook", "steps", "wording", "weighing", "placing", "spread.cutting", "cli.own", "config.settings")
"""The same for modules of this project."""
MAX_MODULES = 86
"""The maximum number of own modules that such a run loads: each costs some 50 µs."""


def loaded_after(*arguments: str) -> set[str]:
    program = (
        "import sys, os; os._exit = lambda code: None\n"
        f"sys.argv = ['turnlint', *{arguments!r}]\n"
        "from turnlint.cli import main\n"
        "main()\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)\n"
    )
    # A width in the environment loads the module that breaks lines.
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    return set(run.stderr.split())


SOUND = {
    "openai-chat": {
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"path": "x"}'}}
            ]},
            {"role": "tool", "tool_call_id": "call_1", "content": "text"},
        ]
    },
    "anthropic": {
        "model": "claude-sonnet-4-5", "max_tokens": 9, "tools": [{"name": "read", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "text"}]},
        ],
    },
}  # fmt: skip
TRIED_FORMATS = {
    "openai-chat": {"openai-chat", "-marks"},
    # The model's name and the shape of the tools are typical, and the most common wire is always tried.
    "anthropic": {"anthropic", "openai-chat", "-marks"},
}
"""Formats that must be loaded to recognize a record, by the format of the record."""


@pytest.mark.parametrize("name", SOUND)
def test_a_run_on_a_sound_file_loads_no_rule_and_nothing_heavy(name: str, tmp_path: Path) -> None:
    path = tmp_path / "sound.jsonl"
    path.write_text(json.dumps(SOUND[name]) + "\n")
    loaded = loaded_after("lint", str(path))
    bare = subprocess.run(
        [sys.executable, "-c", "import sys, click, msgspec; print('\\n'.join(sys.modules))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    more = loaded - set(bare.stdout.split())
    assert "turnlint.ledger" in loaded
    assert not [item for item in more if item.startswith(HEAVY)]
    before = "turnlint.carriers."
    formats = {item.removeprefix(before).replace("_", "-") for item in loaded if item.startswith(before)}
    assert formats == TRIED_FORMATS[name]
    families = tuple(f"turnlint_rules.{family}" for family in FAMILIES)
    assert not [item for item in loaded if item.startswith(families)]
    assert not [f"turnlint.{item}" for item in IDLE if f"turnlint.{item}" in loaded]
    assert len([item for item in more if item.startswith("turnlint")]) <= MAX_MODULES


def test_options_in_full_load_no_more(tmp_path: Path) -> None:
    path = tmp_path / "sound.jsonl"
    path.write_text(json.dumps(SOUND["openai-chat"]) + "\n")
    more = (
        "--format",
        "openai-chat",
        "--provider",
        "openai",
        "-j",
        "1",
        "--output-format",
        "jsonl",
        "--fail-on",
        "never",
    )
    loaded = loaded_after("lint", str(path), *more)
    assert "turnlint.report.machine" in loaded
    assert not [
        item for item in loaded if item in HEAVY and item not in ("difflib", "locale")
    ]  # click, for `-j`
    assert len([item for item in loaded if item.startswith("turnlint")]) <= MAX_MODULES


def test_help_imports_no_command() -> None:
    found = {name for name in loaded_after("--help") if name.startswith("turnlint.cli.")}
    assert found == {"turnlint.cli.help_text", "turnlint.cli.look"}
