"""The fast path of projection is the same definition: what fits a provider, no projection rule speaks of.

Held on arbitrary conversations, for every version of every provider, on every wire it speaks.
"""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budgets import examples
from drawn import disturb, steps, writable
from turnlint import carriers, ledger, rulebook
from turnlint.api import Case, Profile
from turnlint.fits import MOST_MET, Known, doubts, fits
from turnlint.model import Record, Transcript
from turnlint.providers import Providers
from turnlint.writing import Step, spell

RULES = [
    entry for entry in rulebook.load(rulebook.BUILTIN) if entry.check and entry.rule.fault == "projection"
]
PROVIDERS = Providers([rulebook.BUILTIN])
PROFILES = [profile for name in PROVIDERS.names() for profile in PROVIDERS.versions(name)]
WRITTEN = {path.stem.replace("_", "-") for path in Path(rulebook.__file__).parent.glob("writing/*.py")}


def sound(identifier: str) -> list[Step]:
    return [
        Step("user", "go"), Step("assistant", "yes"), Step("call", "", identifier, "read", '{"a": 1}'),
        Step("result", "", identifier, body="done"), Step("assistant", "so it is"), Step("user", "go on"),
    ]  # fmt: skip


def cases(record: bytes, wire: str, profile: Profile) -> list[Case]:
    carrier = carriers.carrier(wire)
    found = carrier.read([carrier.shape.read(Record(1, 0, record))])
    return [
        Case(one, ledger.read(one.messages, one.wire), profile)
        for one in found
        if isinstance(one, Transcript)
    ]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.label)
@pytest.mark.hypothesis
def test_what_fits_offends_no_rule(profile: Profile) -> None:
    @settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(data=st.data())
    def held(data: st.DataObject) -> None:
        wire = data.draw(st.sampled_from([wire for wire in profile.wires if wire in WRITTEN]))
        record = spell(data.draw(steps().filter(writable)), wire).record
        if data.draw(st.booleans()):
            disturb(record, data.draw)
        for case in cases(json.dumps(record).encode(), wire, profile):
            speaking = {entry.rule.code for entry in RULES if list(entry.check(case))}  # type: ignore[misc]
            assert speaking <= doubts(case)

    held()


@pytest.mark.parametrize("name", PROVIDERS.names())
def test_a_sound_conversation_fits(name: str) -> None:
    """A predicate that always says no would pass the property above."""
    profile = PROVIDERS.versions(name)[0]
    wire = next(wire for wire in profile.wires if wire in WRITTEN)
    found = [
        cases(spell(sound(one), wire).data, wire, profile)[0] for one in ("aB3dE6gH9", "functions.read:0")
    ]
    assert any(map(fits, found))


def test_very_long_names_are_not_kept() -> None:
    """A log may have a thousand conversations that name a tool a megabyte long each."""
    (profile,) = (one for one in PROFILES if one.label == "openai")
    known = Known()
    for name in ("read", "x" * 1000):
        some = sound("call_1")
        some[2] = Step("call", "", "call_1", name, "{}")
        (case,) = cases(spell(some, "openai-chat").data, "openai-chat", profile)
        found = [doubts(case, known), doubts(case, known), doubts(case)]
        assert found[0] == found[1] == found[2]
    (alike,) = known.held.values()
    kept = [name for one in alike for thing in one.met for some in thing for name in some]
    assert kept == ["read"]


def test_what_is_kept_is_bounded_over_all_models() -> None:
    (profile,) = (one for one in PROFILES if one.label == "openai")
    known = Known()
    most = 0
    for number in range(3 * MOST_MET):
        some = sound("call_1")
        some[2] = Step("call", "", "call_1", f"read_{number}", "{}")
        record = {**spell(some, "openai-chat").record, "model": f"gpt-4.1-{number % 7}"}
        (case,) = cases(json.dumps(record).encode(), "openai-chat", profile)
        doubts(case, known)
        most = max(most, sum(len(one.met) for alike in known.held.values() for one in alike))
    assert MOST_MET // 2 < most <= MOST_MET


def test_very_long_models_are_not_kept() -> None:
    (profile,) = (one for one in PROFILES if one.label == "openai")
    known = Known()
    record = {**spell(sound("call_1"), "openai-chat").record, "model": "gpt-4.1" + "x" * 1000}
    (case,) = cases(json.dumps(record).encode(), "openai-chat", profile)
    assert doubts(case, known) == doubts(case)
    assert not known.held
