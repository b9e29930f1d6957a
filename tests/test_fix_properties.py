"""Properties of every repair, on every wire and in every form of file.

`breaking` makes and breaks the conversations, and `breaking_judge` checks them; both are independent of the linter.
`fuzz_wires` runs the same checks a million times.
"""

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from breaking_files import HOSTS, cut, files
from breaking_wires import WIRES
from fuzz_wires import Fixer, run, trial, with_random
from turnlint.documents.source import Source
from turnlint.keeping.disk import Digests, replace, stamp
from turnlint.keeping.journal import Entry, entry
from turnlint.keeping.restoring import restore
from turnlint.model import Level
from turnlint.repair.choosing import LEVELS

SOME = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
EVERY_WIRE = pytest.mark.parametrize("wire", WIRES)
AT_RANDOM = given(rng=st.randoms(use_true_random=False), host=st.sampled_from(HOSTS))


@pytest.mark.parametrize("host", HOSTS)
@EVERY_WIRE
def test_a_thousand_broken_conversations_are_sound_after_their_repair(wire: str, host: str) -> None:
    """Strict pairing, no real result lost or mispaired, no change in a second repair, and no finding."""
    faults = [
        (item.fault, item.seed) for item in run(wire, host, 2026, 25) if not item.fault.endswith("(unsure)")
    ]
    assert faults == []


def check(fixer: Fixer, wire: str, rng: Random, host: str) -> None:
    case = with_random(wire, rng, host)
    ((data, cases),) = files([case], host)
    wrong = trial(fixer, host, data, cases)[case.number]
    assert [item for item in wrong if not item.endswith("(unsure)")] == []


@pytest.mark.parametrize("level", LEVELS)
@EVERY_WIRE
def test_a_level_makes_only_its_changes(wire: str, level: Level, tmp_path: Path) -> None:
    """Below the last level nothing is lost, at the first nothing is added, and a second repair makes no change."""
    fixer = Fixer(wire, str(tmp_path), level)

    @SOME
    @AT_RANDOM
    def check_random(rng: Random, host: str) -> None:
        check(fixer, wire, rng, host)

    check_random()


@EVERY_WIRE
def test_undo_restores_the_bytes(wire: str, tmp_path: Path) -> None:
    fixer = Fixer(wire, str(tmp_path))

    @SOME
    @AT_RANDOM
    def check_random(rng: Random, host: str) -> None:
        case = with_random(wire, rng, host)
        ((data, _),) = files([case], host)
        expected, fixed = fixer.fix(data, host)
        path = fixer.source(data, host).path
        assert path is not None
        kept: list[Entry] = []

        def keep(digests: Digests) -> None:
            kept.append(entry(Source(path, path), fixed.patches, digests, []))

        replace(Source(path, path), fixed.patches, expected=stamp(path), before_replace=keep)
        assert Path(path).read_bytes() == expected
        if fixed.patches:
            restore(path, kept[0])
        assert Path(path).read_bytes() == data

    check_random()


@pytest.mark.parametrize("host", [host for host in HOSTS if host != "document"])
@EVERY_WIRE
def test_conversations_beside_a_broken_one_keep_their_bytes(wire: str, host: str, tmp_path: Path) -> None:
    """A file changes only at its faults."""
    fixer = Fixer(wire, str(tmp_path))
    rng = Random(7)  # noqa: S311 - the same ones in every run
    cases = [with_random(wire, rng, host, number=number, sound=number % 3 != 1) for number in range(30)]
    ((data, _),) = files(cases, host)
    after, _ = fixer.fix(data, host)
    before, now = cut(data, host, cases), cut(after, host, cases)
    assert before != now
    for number in (number for number in range(30) if number % 3 != 1):
        assert now[number][0] == before[number][0]
