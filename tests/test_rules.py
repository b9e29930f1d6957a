"""Every rule and every fixture in one harness.

Examples inside a rule are its tests: they have the marked findings and no others, on every wire. A fixture is a log
with its picture, and with the output of `fix` if that differs: `x.jsonl`, `x.txt` and `x.fixed.jsonl`.
"""

from pathlib import Path

import pytest

from turnlint import rulebook, testing

ROOT = Path(__file__).parent.parent
FIXTURES = sorted(
    path
    for folder in ("rules", "formats", "provider_switch")
    for path in (ROOT / "fixtures" / folder).rglob("*")
    if path.is_file() and path.suffix not in {".txt", ".md"} and ".fixed" not in path.suffixes
)
ENTRIES = rulebook.load(rulebook.BUILTIN)

CATALOGUE = {
    "ST101": "unreadable-record", "ST102": "duplicate-key", "ST103": "malformed-message",
    "ST104": "missing-call-id", "ST105": "missing-tool-name", "ST106": "unreadable-arguments",
    "ST107": "conflicting-results", "ST108": "reused-call-id", "ST109": "replayed-call", "ST110": "empty-turn",
    "ST111": "broken-parent-link", "ST112": "lone-surrogate", "ST113": "inconsistent-lifecycle",
    "ST114": "call-inside-result", "ST115": "truncated-call", "ST116": "mixed-dialect",
    "ST117": "call-left-in-text", "PA201": "unanswered-call", "PA202": "orphan-result",
    "PA203": "misplaced-result", "PA204": "result-before-call", "PA205": "duplicate-result",
    "PA206": "pending-call", "PA207": "name-mismatch", "PA208": "result-order", "PA209": "unpaired-server-tool",
}  # fmt: skip
"""Names that scripts rely on."""


def test_the_catalogue_is_complete_and_open() -> None:
    found = {entry.rule.code: entry.rule.name for entry in ENTRIES}
    assert CATALOGUE.items() <= found.items()
    assert len(found) == len(set(found.values())) == len(ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.rule.name)
def test_a_rule_agrees_with_its_file(entry: rulebook.Entry) -> None:
    assert list(testing.problems(entry)) == []


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.rule.name)
def test_a_rule_is_in_the_module_of_its_name(entry: rulebook.Entry) -> None:
    family, name = entry.module.__name__.split(".")[-2:]
    assert (family, name.replace("_", "-")) == (entry.rule.fault, entry.rule.name)
    assert len(Path(str(entry.module.__file__)).read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: str(path.relative_to(ROOT / "fixtures")))
def test_a_fixture_matches_its_picture(path: Path, bless: bool) -> None:
    name = str(path.relative_to(ROOT / "fixtures"))
    twin = path.with_suffix(".txt")
    shown = testing.picture(str(path), name)
    if bless:
        twin.write_text(shown, encoding="utf-8")
    assert shown == twin.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: str(path.relative_to(ROOT / "fixtures")))
def test_a_fixture_is_fixed_as_expected(path: Path, bless: bool) -> None:
    if path.suffix in {".gz", ".zst"}:
        pytest.skip("packed: its bytes are looked at elsewhere")
    before = path.read_bytes()
    after = testing.fixed(before, None, "auto", path.name)
    twin = path.with_suffix(".fixed" + path.suffix)
    if bless:
        twin.unlink(missing_ok=True)
        if after != before:
            twin.write_bytes(after)
    assert after == (twin.read_bytes() if twin.exists() else before)
    assert testing.fixed(after, None, "auto", path.name) == after


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.rule.name)
def test_a_rule_has_a_fixture_that_it_reports(entry: rulebook.Entry) -> None:
    pictures = (ROOT / "fixtures" / "rules" / entry.rule.name).glob("*.txt")
    assert any(entry.rule.code in path.read_text(encoding="utf-8") for path in pictures)
