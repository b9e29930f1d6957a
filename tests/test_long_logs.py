"""A rule reports its BAD example in a long log as often as in a short one.

From `reading.FEW` records on a scanner checks the lines first. It must decline every line with a finding.
"""

from collections import Counter

import pytest

from turnlint import rulebook
from turnlint.api import Example, Raw
from turnlint.notation import write
from turnlint.reading import FEW
from turnlint.testing import rows_of

MANY_RECORDS = 40
"""More records than `FEW`, so that the scanner runs."""
LINKED = {"ST109", "ST111", "ST118"}
"""Rules about records of one session: a repeated record has a repeated id or call, which is a fault of its own."""


def bad_examples() -> list[object]:
    """Each BAD example on each of its wires, as bytes with their format and provider."""
    found = []
    for entry in rulebook.load(rulebook.BUILTIN):
        for number, example in enumerate(entry.module.BAD, 1):
            name = f"{entry.rule.name}-{number}"
            if isinstance(example, Raw):
                found.append(
                    pytest.param(
                        example.data, example.format, example.provider, id=f"{name}-{example.format}"
                    )
                )
            elif isinstance(example, Example):
                for wire in example.wires:
                    data = write(example.text, wire).data
                    found.append(pytest.param(data, wire, example.provider, id=f"{name}-{wire}"))
    return found


def codes_in(data: bytes, wire: str, provider: str) -> Counter[str]:
    return Counter(row.finding.code for row in rows_of(data, wire, provider))


@pytest.mark.parametrize(("record", "wire", "provider"), bad_examples())
def test_a_rule_reports_its_example_at_any_length_of_the_log(record: bytes, wire: str, provider: str) -> None:
    assert MANY_RECORDS > FEW
    once, often = codes_in(record, wire, provider), codes_in(record * MANY_RECORDS, wire, provider)
    if LINKED.isdisjoint({*once, *often}):
        assert often == {code: MANY_RECORDS * count for code, count in once.items()}
    else:
        assert often.keys() >= once.keys()
