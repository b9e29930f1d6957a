"""A rule reads a clause and reports something only if the facts do not satisfy the clause.

Tested on arbitrary conversations, for every version of every provider, on each of its wires.
"""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budgets import examples
from drawn import disturb, steps, writable
from turnlint import carriers, ledger, rulebook
from turnlint.api import Case, Profile
from turnlint.carrying.examples import NotationLine
from turnlint.checks import MAX_PREPARED, PreparedChecks, checks_of, suspects
from turnlint.extraction import facts_of
from turnlint.model import Record, Transcript
from turnlint.notation import example_formats, render_example
from turnlint.providers import Chosen, Providers

RULES = [
    entry for entry in rulebook.load(rulebook.BUILTIN) if entry.check and entry.rule.fault == "projection"
]
PROVIDERS = Providers([rulebook.BUILTIN])
PROFILES = [profile for name in PROVIDERS.names() for profile in PROVIDERS.versions(name)]
WRITTEN = frozenset(example_formats())


def sound(identifier: str) -> list[NotationLine]:
    return [
        NotationLine("user", "go"), NotationLine("assistant", "yes"), NotationLine("call", "", identifier, "read", '{"a": 1}'),
        NotationLine("result", "", identifier, body="done"), NotationLine("assistant", "so it is"), NotationLine("user", "go on"),
    ]  # fmt: skip


def cases(record: bytes, wire: str, profile: Profile) -> list[Case]:
    carrier = carriers.carrier(wire)
    found = carrier.read([carrier.shape.read(Record(1, 0, record))])
    return [
        Case(item, ledger.read(item.messages, item.wire), profile)
        for item in found
        if isinstance(item, Transcript)
    ]


def suspects_of(case: Case) -> frozenset[str]:
    transcript = case.transcript
    assert case.profile is not None
    model = transcript.request.model if transcript.request else None
    checks = checks_of(Chosen(case.profile, case.certain, case.named), transcript.wire.speaks, model)
    return suspects(facts_of(transcript, case.ledger), checks, named=case.named)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.label)
@pytest.mark.hypothesis
def test_only_suspected_rules_report(profile: Profile) -> None:
    @settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(data=st.data())
    def check_random(data: st.DataObject) -> None:
        wire = data.draw(st.sampled_from([wire for wire in profile.wires if wire in WRITTEN]))
        record = render_example(data.draw(steps().filter(writable)), wire).record
        if data.draw(st.booleans()):
            disturb(record, data.draw)
        for case in cases(json.dumps(record).encode(), wire, profile):
            reporting = {entry.rule.code for entry in RULES if list(entry.check(case))}  # type: ignore[misc]
            assert reporting <= suspects_of(case)

    check_random()


@pytest.mark.parametrize("name", PROVIDERS.names())
def test_a_sound_conversation_raises_no_suspicion(name: str) -> None:
    """Checks that are never satisfied would pass the property above."""
    profile = PROVIDERS.versions(name)[0]
    wire = next(wire for wire in profile.wires if wire in WRITTEN)
    found = [
        cases(render_example(sound(item), wire).data, wire, profile)[0]
        for item in ("aB3dE6gH9", "functions.read:0")
    ]
    assert any(not suspects_of(item) for item in found)


def test_the_cache_is_bounded_over_all_models() -> None:
    (profile,) = (profile for profile in PROFILES if profile.label == "openai")
    prepared = PreparedChecks()
    most = 0
    for number in range(3 * MAX_PREPARED):
        prepared.of(Chosen(profile), "openai-chat", f"gpt-4.1-{number}")
        most = max(most, len(prepared.held))
    assert most == MAX_PREPARED


def test_very_long_models_are_not_cached() -> None:
    (profile,) = (profile for profile in PROFILES if profile.label == "openai")
    prepared = PreparedChecks()
    model = "gpt-4.1" + "x" * 1000
    assert len(prepared.of(Chosen(profile), "openai-chat", model)) == len(
        checks_of(Chosen(profile), "openai-chat", model)
    )
    assert not prepared.held
