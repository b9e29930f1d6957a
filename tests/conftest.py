"""Options of the test run.

`--bless` writes the pictures that fixtures are compared with, for a person to read in the diff. The profile of Hypothesis
is `quick`; the slow pass of `.ci/run` loads `thorough`. Both draw the same examples in each run; `search` draws others.
"""

import atexit
import os
import shutil
import sys
import tempfile
from typing import Any

import pytest
from hypothesis import settings

from budgets import covering

pytest.register_assert_rewrite("hostile", "ledger_oracle")


for _name in [name for name in os.environ if name.startswith("TURNLINT_") and name != "TURNLINT_FUZZ"]:
    del os.environ[_name]  # the environment may set options of the command for personal use

os.environ.pop("COLUMNS", None)  # pytest-xdist sets it, and text would be broken at that width

if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    # Each new process would compile the program again, which takes longer than a short run. It finds it compiled beside
    # the temporary files of this run instead.
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = tempfile.mkdtemp(prefix="turnlint-pycache-")
    sys.dont_write_bytecode = False
    atexit.register(shutil.rmtree, sys.pycache_prefix, ignore_errors=True)

settings.register_profile("quick", max_examples=25, derandomize=True, deadline=None)
settings.register_profile("thorough", max_examples=100, derandomize=True, deadline=None)
settings.register_profile("search", max_examples=100, deadline=None)
settings.load_profile("quick")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give an idle process half of the remaining tests of another; neighbours share fixtures and caches."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow the tests of a table that the usual run leaves out."""
    tables: dict[tuple[str, str, int], list[pytest.Item]] = {}
    for item in items:
        for mark in [*item.iter_markers("covering"), *item.iter_markers("sampled")]:
            tables.setdefault((item.nodeid.partition("[")[0], mark.name, mark.args[0]), []).append(item)
    for (_, name, number), table in tables.items():
        rows = [tuple(map(repr, item.callspec.params.values())) for item in table]
        kept = range(0, len(rows), number) if name == "sampled" else covering(rows, number)
        for row, item in enumerate(table):
            if row not in kept:
                item.add_marker(pytest.mark.slow)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="accept what fixtures look like now")


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--bless"))
