"""Budgets cover each value and each pair of values of a table, and the slow pass runs all other tests."""

import subprocess
import sys
from itertools import combinations, product
from pathlib import Path

import pytest

from budgets import covering

ROOT = Path(__file__).parent.parent
TABLE = """
import pytest

@pytest.mark.covering(2)
@pytest.mark.parametrize("first", ["a", "b", "c"])
@pytest.mark.parametrize("second", [1, 2, 3])
@pytest.mark.parametrize("third", [True, False])
def test_crossed(first, second, third):
    pass

@pytest.mark.sampled(4)
@pytest.mark.parametrize("value", range(10))
def test_long(value):
    pass
"""


@pytest.mark.parametrize("strength", [1, 2, 3])
def test_covering_rows_have_every_combination(strength: int) -> None:
    rows = list(product("abcd", "xyz", "12"))
    kept = [rows[number] for number in covering(rows, strength)]
    for axes in combinations(range(3), strength):
        assert {tuple(row[axis] for axis in axes) for row in kept} == {
            tuple(row[axis] for axis in axes) for row in rows
        }
    assert len(kept) == {1: 4, 2: 12, 3: 24}[strength]


@pytest.mark.slow
def test_both_passes_together_run_every_test_once(tmp_path: Path) -> None:
    (tmp_path / "test_table.py").write_text(TABLE)
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (tmp_path / "budgets.py").write_text((ROOT / "tests" / "budgets.py").read_text())
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    chosen = {}
    for marks in ("not slow", "slow", ""):
        shown = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-m", marks, "."],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        chosen[marks] = {line for line in shown.stdout.splitlines() if "::" in line}
    assert chosen["not slow"] | chosen["slow"] == chosen[""]
    assert not chosen["not slow"] & chosen["slow"]
    assert (len(chosen["not slow"]), len(chosen[""])) == (9 + 3, 18 + 10)
