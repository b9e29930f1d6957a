"""What holds of every repair, on every wire and in every form of file.

The conversations and what breaks them are `breaking`'s, their judgement is `breaking_judge`'s; both know nothing
of the linter. `fuzz_wires` does the same a million times.
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
    """Strictly paired, nothing real lost, nothing mispaired, a second repair does nothing, the linter is content."""
    told = [(one.fault, one.seed) for one in run(wire, host, 2026, 25) if not one.fault.endswith("(unsure)")]
    assert told == []


def check(fixer: Fixer, wire: str, rng: Random, host: str) -> None:
    case = with_random(wire, rng, host)
    ((data, cases),) = files([case], host)
    wrong = trial(fixer, host, data, cases)[case.number]
    assert [one for one in wrong if not one.endswith("(unsure)")] == []


@pytest.mark.parametrize("level", LEVELS)
@EVERY_WIRE
def test_a_level_does_no_more_than_it_may(wire: str, level: Level, tmp_path: Path) -> None:
    """Below the last nothing is lost, on the first nothing is made up; and a second repair finds nothing to do."""
    fixer = Fixer(wire, str(tmp_path), level)

    @SOME
    @AT_RANDOM
    def held(rng: Random, host: str) -> None:
        check(fixer, wire, rng, host)

    held()


@EVERY_WIRE
def test_what_is_undone_is_as_it_was(wire: str, tmp_path: Path) -> None:
    fixer = Fixer(wire, str(tmp_path))

    @SOME
    @AT_RANDOM
    def held(rng: Random, host: str) -> None:
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

    held()


@pytest.mark.parametrize("host", [host for host in HOSTS if host != "document"])
@EVERY_WIRE
def test_conversations_beside_a_broken_one_keep_their_bytes(wire: str, host: str, tmp_path: Path) -> None:
    """A file is changed where something is wrong, and nowhere else."""
    fixer = Fixer(wire, str(tmp_path))
    rng = Random(7)  # noqa: S311 - the same ones in every run
    cases = [with_random(wire, rng, host, number=number, sound=number % 3 != 1) for number in range(30)]
    ((data, _),) = files(cases, host)
    after, _ = fixer.fix(data, host)
    before, now = cut(data, host, cases), cut(after, host, cases)
    assert before != now
    for number in (number for number in range(30) if number % 3 != 1):
        assert now[number][0] == before[number][0]
