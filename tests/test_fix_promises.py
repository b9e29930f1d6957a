"""What `fix` promises, on fixtures with random faults; `fuzz_promises` checks many more."""

import pytest

from fuzz_promises import case_of, wrong


@pytest.mark.parametrize("seed", range(4))
def test_one_run_suffices_brings_in_nothing_and_counts_as_lint_does(seed: int) -> None:
    names = [f"{seed}-{number}" for number in range(60)]
    assert {name: told for name in names if (told := [*wrong(case_of(name))])} == {}
