"""A rule finds its BAD example in a long log as often as in a short one.

From `reading.FEW` records on a scanner looks at the lines first. It must decline every line that a rule speaks of.
"""

from collections import Counter

import pytest

from turnlint import rulebook
from turnlint.api import Example, Raw
from turnlint.notation import write
from turnlint.reading import FEW
from turnlint.testing import rows_of

OFTEN = 40
"""More records than `FEW`, so that the scanner looks at the log."""
LINKED = {"ST111", "ST118"}
"""Rules about links between the records of a file: a repeated record has a repeated id, which is a fault of its own."""


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
def test_a_rule_finds_its_example_however_long_the_log_is(record: bytes, wire: str, provider: str) -> None:
    assert OFTEN > FEW
    once, often = codes_in(record, wire, provider), codes_in(record * OFTEN, wire, provider)
    if LINKED.isdisjoint(once):
        assert often == {code: OFTEN * count for code, count in once.items()}
    else:
        assert often.keys() >= once.keys()
