"""Options of the test run.

`--bless` writes the pictures that fixtures are compared with, for a person to read in the diff.
"""

import pytest

pytest.register_assert_rewrite("hostile", "ledger_oracle")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="accept what fixtures look like now")


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--bless"))
