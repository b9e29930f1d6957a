"""A refusal in any wrapper is recognized: its provider, and the rules that explain it.

The texts are the samples in the profiles, and those of a reference file beside the checkout, or at
`TURNLINT_REFERENCE`; without it that test is skipped.
"""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from refused import KNOWN, PROVIDERS, UNANSWERED, WRAPPERS, nested
from turnlint.profiles import Known
from turnlint.why import Recognised, heard, recognise
from turnlint.why.peeling import LONGEST, MOST_PIECES, pieces
from turnlint.why.specific import literals

ROOT = Path(__file__).parent.parent
REFERENCE = Path(
    os.environ.get("TURNLINT_REFERENCE", ROOT.parent / "shared" / "reference" / "provider_profiles.yaml")
)


def known_as(text: str, *hint: str) -> Recognised | None:
    return recognise(heard(text, PROVIDERS), PROVIDERS, hint)


def named(found: Recognised) -> list[str]:
    return [found.best.profile.name, *(item.profile.name for item in found.alike), *found.carriers]


def wrong(name: str, known: Known, text: str) -> str | None:
    """The faults in the result for a sample, if any."""
    found = known_as(text)
    if found is None:
        return f"{name}: not known: {known.sample[:90]}"
    if name not in named(found):
        return f"{name}: taken for {named(found)}: {known.sample[:90]}"
    if known.rules and not set(known.rules) & set(found.best.known.rules):
        return f"{name}: explained by {found.best.known.rules}, not {known.rules}: {known.sample[:90]}"
    return None


def test_profiles_have_many_texts() -> None:
    assert len(KNOWN) > 150


@pytest.mark.covering(1)
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_every_sample_is_recognized_in_every_wrapper(wrapper: str, part: int) -> None:
    faults = [wrong(name, known, WRAPPERS[wrapper](known.sample)) for name, known in KNOWN[part::4]]
    assert [fault for fault in faults if fault] == []


@pytest.mark.covering(1)
@pytest.mark.parametrize(
    "outer", ["JSON in JSON", "Python SDK", "OpenRouter", "log line", "curl -i", "colours"]
)
@pytest.mark.parametrize("inner", ["Python SDK", "LiteLLM, body", "JSON body", "Vercel AI SDK", "Bedrock"])
def test_wrappers_may_be_wrapped(outer: str, inner: str) -> None:
    some = KNOWN[len(outer + inner) % 3 :: 3]
    faults = [wrong(name, known, WRAPPERS[outer](WRAPPERS[inner](known.sample))) for name, known in some]
    assert [fault for fault in faults if fault] == []


FAMILIES = {
    "anthropic_messages": {"anthropic"},
    "openai_chat": {"openai"},
    "openai_responses": {"openai-responses"},
    "azure_openai": {"azure-openai"},
    "bedrock_converse": {"bedrock"},
    "gemini": {"gemini", "vertex"},
    "qwen_dashscope": {"qwen"},
    "cohere_v2": {"cohere"},
    "glm_zai": {"glm"},
    "openai_compat_misc": {"shared"},
    "self_hosted_templates": {"vllm", "shared"},
}
"""The reference's names for providers, where they differ."""
PASSED_ON = "bedrock.claude.passthrough"


def reference() -> list[tuple[str, dict[str, Any]]]:
    if not REFERENCE.is_file():
        return []
    from ruamel.yaml import YAML

    document = YAML(typ="safe", pure=True).load(REFERENCE.read_text(encoding="utf-8"))
    return [
        (name, error)
        for name, one in document["providers"].items()
        for error in one.get("known_errors") or ()
    ]


EXPLAINED_BY = {
    "result.missing": "PA201", "result.legacy_text": "PA201", "result.orphan": "PA202", "result.duplicate": "PA205",
    "call_id.charset": "PR301", "call_id.length": "PR302", "call_id.format": "PR303", "content.trailing_ws": "PR313",
    "args.string": "PR307", "fields.unknown": "PR317", "fields.extra": "PR317", "tools.max": "PR319",
    "signature.required": "PR320", "thinking.signature": "PR314", "tools.required": "PR316", "call_id.unique": "PR305",
    "content.empty_text": "PR312", "reasoning.required": "PR315", "reasoning.following": "PR315",
}  # fmt: skip
"""The reference's names for refusals, without the provider, and a rule that must be among the causes."""


@pytest.mark.skipif(not REFERENCE.is_file(), reason="the reference is not here")
def test_every_text_of_the_reference_is_assigned_to_its_provider() -> None:
    faults = []
    texts = reference()
    for name, error in texts:
        found = known_as(error["sample"])
        family = FAMILIES.get(name, {name})
        if found is None or not family & set(named(found)):
            faults.append((error["rule"], named(found) if found else None))
            continue
        if found.best.profile.name not in family and error["rule"] != PASSED_ON:
            same = {item.profile.name: item.likeness for item in found.alike}
            if max(same.get(item, 0) for item in family) < found.best.likeness:
                faults.append((error["rule"], named(found)))
        rule = EXPLAINED_BY.get(error["rule"].partition(".")[2])
        if rule and rule not in found.best.known.rules:
            faults.append((error["rule"], found.best.known.rules))
        if not found.best.known.rules and not found.best.known.about:
            faults.append((error["rule"], "neither rules nor words"))
    assert len(texts) >= 189
    assert faults == []


def test_a_named_provider_comes_first() -> None:
    both = known_as(UNANSWERED)
    assert both is not None
    assert both.best.profile.name == "openai"
    assert "azure-openai" in named(both)
    azure = known_as(UNANSWERED, "azure-openai")
    assert azure is not None
    assert azure.best.profile.name == "azure-openai"


def test_a_host_in_the_text_determines_the_provider() -> None:
    found = known_as(f"POST https://x.openai.azure.com/chat 400 {UNANSWERED}")
    assert found is not None
    assert found.best.profile.name == "azure-openai"


def test_peeling_is_bounded_and_keeps_the_text_itself() -> None:
    found = pieces("\\" * LONGEST + nested(UNANSWERED, 9))
    assert len(found) <= MOST_PIECES
    assert all(len(piece.text) <= LONGEST for piece in found)
    assert pieces(UNANSWERED)[0].text == UNANSWERED


@pytest.mark.parametrize(
    ("pattern", "count", "run"),
    [
        ("abc", 3, "abc"),
        (r"messages\.\d+: x", 12, "messages."),
        (r"a\[b\]", 4, "a"),
        ("abc?de", 4, "ab"),
        ("abc*", 2, "ab"),
        ("ab+c", 3, "ab"),
        ("ab{0,3}cdef", 5, "cdef"),
        ("ab{2}c", 3, "ab"),
        ("one|three", 5, ""),
        ("x(?:one|three)y", 7, "x"),
        ("x(?:one)?yz", 3, "yz"),
        ("(?P<ids>one) two", 7, " two"),
        ("(?<!not )found", 5, "found"),
        ("one(?! two)", 3, "one"),
        ("[abc]def[^]x]gh", 5, "def"),
        ("(?i)one", 3, ""),
        ("'quoted' text", 13, "quoted"),
        (r"\bword\b", 4, "word"),
        ("", 0, ""),
        ("a{b}c", 5, "a"),
    ],
)
def test_the_literal_part_of_an_expression(pattern: str, count: int, run: str) -> None:
    found = literals(pattern)
    assert (found.count, found.run) == (count, run)


def _unbounded(parsed: Any) -> list[Any]:
    """The bodies of unlimited repetitions, anywhere in an expression."""
    found = []
    for kind, value in parsed:
        if str(kind) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            found += [value[2]] if value[1] > 1000 else []
            found += _unbounded(value[2])
        elif str(kind) == "SUBPATTERN":
            found += _unbounded(value[3])
        elif str(kind) in ("ASSERT", "ASSERT_NOT"):
            found += _unbounded(value[1])
        elif str(kind) == "BRANCH":
            found += [body for branch in value[1] for body in _unbounded(branch)]
    return found


def test_no_expression_has_nested_repetitions() -> None:
    """Except if each round starts with a distinct mark: else the number of readings of a text is exponential."""
    from re import _parser  # type: ignore[attr-defined]

    for name, known in KNOWN:
        for inner in _unbounded(_parser.parse(known.pattern)):
            if _unbounded(inner):
                kind, value = inner[0]
                assert str(kind) == "LITERAL", (name, known.pattern)
                assert not re.match(r"\w", chr(value)), (name, known.pattern)


def test_every_known_text_has_the_run_that_its_expression_needs() -> None:
    for name, known in KNOWN:
        flat = " ".join(known.sample.split())
        assert literals(known.pattern).run in flat, (name, known.pattern)
