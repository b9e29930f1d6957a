"""Measure how many small faults in pairing, ids, edits and repair the tests find.

Each mutant changes one operator, constant, condition or statement of a function. The tests about its package run in a
fork with the mutant, until the first failure; code that they run in other processes is unchanged. The sample depends
on the seed alone: `python tests/mutation_score.py --mutants 64 --seed 1`. `--tests FOLDER` runs the tests of another
checkout.
"""

import argparse
import ast
import copy
import os
import random
import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).parent.parent
MAX_SECONDS = 60
"""Time limit of a test, which a mutant may keep from ending."""
PACKAGES = {
    "ledger": ["ledger", "hostile_pairs", "pair_stories", "doubtful_pairs", "fan_out", "lifecycle", "evidence", "gemini", "rules", "gaps",
               "mixed_turns", "joined_records", "fix_passes", "fix_records", "openai_responses", "marks"],
    "ids": ["ids", "canonical_ids", "ids_properties", "ids_cli", "rules", "ids_of_repairs", "fix_canonical", "naming", "fix_passes",
            "hostile_pairs", "writable"],
    "/lifecycle": ["lifecycle", "completions"],
    "/completions": ["completions"],
    "documents/edit": ["edit", "keeping", "fix_passes", "rules", "white_space", "hostile_fix"],
    "repair": ["fix_passes", "fix_records", "losses", "composing", "rules", "hostile_pairs", "fix_cli", "fix_words", "mixed_turns",
               "split_records", "hostile_fix", "fix_promises", "impossible_fixes", "doubtful_pairs", "joined_records", "ids_of_repairs"],
}  # fmt: skip
"""Prefixes of paths below `lint/turnlint`, with the test modules about them."""
FLIPPED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip


class Mutant(NamedTuple):
    """A change of one node of a module; the number is that of the node in the walk of its tree."""

    package: str
    path: Path
    number: int
    line: int
    change: str

    @property
    def module(self) -> str:
        parts = self.path.with_suffix("").parts[1:]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.change}"


def changes(node: ast.AST) -> Iterator[str]:
    """Names of changes that can be made to a node."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in FLIPPED:
        yield "flip"
    elif isinstance(node, (ast.BoolOp, ast.BinOp)) and type(node.op) in FLIPPED:
        yield "swap"
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "add 1"
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "invert"
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield "negate"
    elif isinstance(node, (ast.Continue, ast.Break, ast.AugAssign)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Yield, ast.YieldFrom))
    ):
        yield "drop"
    elif isinstance(node, ast.Return) and node.value is not None and not _is_false(node.value):
        yield "return None"


def _is_false(value: ast.expr) -> bool:
    """Whether a caller can hardly distinguish a value from none."""
    return isinstance(value, ast.Constant) and not value.value


def change(node: ast.AST, name: str) -> ast.AST:
    """A node with one change."""
    made = copy.deepcopy(node)
    if isinstance(made, ast.Compare):
        made.ops[0] = FLIPPED[type(made.ops[0])]()
    elif isinstance(made, (ast.BoolOp, ast.BinOp)):
        made.op = FLIPPED[type(made.op)]()
    elif isinstance(made, ast.Constant):
        made.value = not made.value if name == "invert" else made.value + 1  # type: ignore[operator]
    elif isinstance(made, (ast.If, ast.IfExp, ast.While)):
        made.test = ast.UnaryOp(ast.Not(), made.test)
    elif isinstance(made, ast.Return):
        made.value = ast.Constant(None)
    else:
        made = ast.Pass()
    return made


class Replaced(ast.NodeTransformer):
    """A tree with one node replaced."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def annotations(tree: ast.AST) -> set[ast.AST]:
    """Nodes in annotations, where a change has no effect."""
    held = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    return {node for item in held if item is not None for node in ast.walk(item)}


def mutants_of(package: str) -> list[Mutant]:
    folder, _, start = package.rpartition("/") if "/" in package else (package, "", "")
    found = []
    for path in sorted((ROOT / "lint" / "turnlint" / folder).glob(f"{start}*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        ignored = annotations(tree)
        for number, node in enumerate(ast.walk(tree)):
            if node not in ignored:
                found += [
                    Mutant(package, path.relative_to(ROOT), number, node.lineno, name)
                    for name in changes(node)
                ]
    return found


def plain_source(mutant: Mutant) -> str:
    """The source of a module without a change, in the same spelling as the source of a mutant."""
    return ast.unparse(ast.parse((ROOT / mutant.path).read_text(encoding="utf-8")))


def mutated(mutant: Mutant) -> str:
    """The source of a module with its change."""
    tree = ast.parse((ROOT / mutant.path).read_text(encoding="utf-8"))
    node = list(ast.walk(tree))[mutant.number]
    made = ast.copy_location(change(node, mutant.change), node)
    return ast.unparse(ast.fix_missing_locations(Replaced(node, made).visit(tree)))


def functions(value: Any, module: str) -> Iterator[FunctionType]:
    """The functions of a module or a class, without those that it imports."""
    for var in list(vars(value).values()):
        if isinstance(var, type) and var.__module__ == module:
            yield from functions(var, module)
        inner = (
            getattr(var, "fget", None)
            or getattr(var, "func", None)
            or getattr(var, "__wrapped__", None)
            or var
        )
        inner = getattr(inner, "__func__", inner)
        if isinstance(inner, FunctionType) and inner.__module__ == module:
            yield inner


def codes(code: CodeType) -> Iterator[CodeType]:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from codes(const)


def apply(mutant: Mutant) -> bool:
    """Change the functions of the loaded module; return whether one of them differs."""
    module = import_module(mutant.module)
    made = {code.co_qualname: code for code in codes(compile(mutated(mutant), str(mutant.path), "exec"))}
    plain = {
        code.co_qualname: code for code in codes(compile(plain_source(mutant), str(mutant.path), "exec"))
    }
    changed = False
    for function in functions(module, mutant.module):
        name = function.__qualname__
        if name in made and made[name] != plain[name]:
            function.__code__ = made[name]
            changed = True
    return changed


class Runner:
    """Plugin that runs the collected tests once for each mutant, in a fork that has the mutant."""

    def __init__(self, sample: list[Mutant]) -> None:
        self.sample = sample
        self.killed: list[Mutant] = []
        self.alive: list[Mutant] = []
        self.log = os.fdopen(os.dup(2), "w", buffering=1)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for mutant in self.sample:
            child = os.fork()
            if not child:
                code = 1
                try:
                    code = int(self.fails(session.items)) if apply(mutant) else 3
                finally:
                    os._exit(code)
            status = os.waitpid(child, 0)[1]
            if status == 3 << 8:
                continue  # it is no part of a function
            (self.alive if status == 0 else self.killed).append(mutant)
            self.log.write(f"{'SURVIVED' if status == 0 else 'killed  '} {mutant}\n")
        return True

    def fails(self, items: list[pytest.Item]) -> bool:
        """Run tests until one fails."""
        for item, following in zip_longest(items, items[1:]):
            reports = runtestprotocol(item, log=False, nextitem=following)
            if any(report.failed for report in reports):
                return True
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how many mutants the tests find.")
    parser.add_argument("--mutants", type=int, default=96, help="size of the sample")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", type=Path, default=ROOT / "tests", help="folder with the tests")
    parser.add_argument("--package", action="append", choices=PACKAGES, help="one of the packages")
    parser.add_argument("--only", action="append", default=[], help="mutants by name, as a run prints them")
    chosen = parser.parse_args()
    for package in chosen.package or PACKAGES:
        chance = random.Random(chosen.seed)  # noqa: S311 - the same sample in each run
        sample = chance.sample(mutants_of(package), chosen.mutants // len(PACKAGES))
        sample = [item for item in sample if not chosen.only or str(item) in chosen.only]
        paths = [path for name in PACKAGES[package] if (path := chosen.tests / f"test_{name}.py").exists()]
        runner = Runner(sample)
        options = [
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "--no-summary",
            f"--timeout={MAX_SECONDS}",
        ]
        pytest.main([*options, f"--rootdir={chosen.tests.parent}", *map(str, paths)], plugins=[runner])
        for name in [name for name in sys.modules if name.startswith("test_")]:
            del sys.modules[name]
        found = len(runner.killed)
        sys.stderr.write(f"{package}: {found} of {found + len(runner.alive)}\n")


if __name__ == "__main__":
    main()
