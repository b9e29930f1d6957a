"""Options of the test run.

`--bless` writes the pictures that fixtures are compared with, for a person to read in the diff.
"""

import os

import pytest

pytest.register_assert_rewrite("hostile", "ledger_oracle")


for _name in [name for name in os.environ if name.startswith("TURNLINT_")]:
    del os.environ[_name]  # whoever runs the tests may set options of the command for themselves

os.environ.pop("COLUMNS", None)  # pytest-xdist sets it, and text would be broken at that width


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="accept what fixtures look like now")


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--bless"))
