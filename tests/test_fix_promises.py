"""What `fix` promises, on fixtures with random faults; `fuzz_promises` checks many more."""

import pytest

from fuzz_promises import ROOT, Case, case_of, repaired, wrong


@pytest.mark.parametrize("seed", range(4))
def test_one_run_suffices_brings_in_nothing_and_counts_as_lint_does(seed: int) -> None:
    names = [f"{seed}-{number}" for number in range(60)]
    assert {name: told for name in names if (told := [*wrong(case_of(name))])} == {}


def test_a_parent_link_whose_repair_shows_a_new_error_needs_a_higher_level() -> None:
    name = "claude-code/a-line-deleted-by-hand.jsonl"
    data = (ROOT / "fixtures" / "formats" / name).read_bytes()
    case = Case(name, data, "lossless", "auto", canonical=False, faults=())
    fixed, after = repaired(case, data)
    assert after == data
    assert fixed.needs == {"placeholder": {"error": 1}}
    assert not fixed.failures
    assert [*wrong(case._replace(level="placeholder"))] == []
