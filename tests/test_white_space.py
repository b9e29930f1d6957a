"""White space between the tokens of a record changes no finding and no repair.

Random white space without meaning in JSON is inserted between elements, different for each. A finding keeps all parts
except its line and its bytes, and `fix` writes the same values.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import examples
from drawn import disturb, steps, writable
from turnlint import rulebook, testing
from turnlint.api import Raw
from turnlint.carrying.examples import NotationLine
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, lint
from turnlint.notation import render_example, write
from turnlint.rows import Row

FIXTURES = Path(__file__).parent.parent / "fixtures"
LOGS = sorted(
    path
    for folder in ("rules", "formats", "provider_switch")
    for path in (FIXTURES / folder).rglob("*.json*")
    if path.suffix in {".json", ".jsonl"} and ".fixed" not in path.suffixes
)
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
IN_LINES = ("", "", "", " ", "  ", "\t", "     ")
IN_DOCUMENTS = (*IN_LINES, "\n", "\n\t ", "\r\n")


def respaced(text: str, rng: Random, spaces: tuple[str, ...]) -> str:
    """The same tokens with other white space between them; none at both ends."""
    tokens = TOKEN.findall(text)
    return tokens[0] + "".join(rng.choice(spaces) + token for token in tokens[1:])


def variant(data: bytes, rng: Random, *, is_document: bool) -> bytes:
    """A log with other white space in each record that is JSON; the other lines stay as they are."""
    text = data.decode()
    if is_document:
        return respaced(text, rng, IN_DOCUMENTS).encode()
    return "\n".join(
        respaced(part, rng, IN_LINES) if is_json(part) else part for part in text.split("\n")
    ).encode()


def is_json(text: str | bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:  # also of bytes that are not UTF-8
        return False
    return True


def findings(data: bytes, name: str, format_name: str | None, folder: Path) -> list[Any]:
    path = folder / name
    path.write_bytes(data)
    options = Options(format=format_name, spans=True, preview=True)
    rows = [row for row in lint(Source(name, str(path)), options, Book(options)) if isinstance(row, Row)]
    return sorted((description_of(row, data) for row in rows), key=repr)


def description_of(row: Row, data: bytes) -> Any:
    """All parts of a finding except the line and the bytes; in place of the bytes, their value."""
    one, place = row.finding, row.place
    there = data[place.offset : place.end].decode(errors="replace")
    value = json.dumps(json.loads(there)) if is_json(there) else re.sub(r"\s", "", there)
    beside = [(note, other.pointer) for note, other in row.related]
    message = re.sub(r"(on|in) lines? \d+", "", one.message)
    return (one.code, one.severity, message, one.provider, one.call_id, place.pointer, value, beside)


def values(data: bytes, *, is_document: bool) -> Iterator[Any]:
    for text in [data.decode()] if is_document else data.decode().split("\n"):
        yield json.loads(text) if is_json(text) else text


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", LOGS, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_white_space_changes_no_finding_and_no_repair_of_a_fixture(path: Path, tmp_path: Path) -> None:
    data, is_document = path.read_bytes(), path.suffix == ".json"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        pytest.skip("not UTF-8: its tokens cannot be told apart")
    if is_document and not is_json(text):
        pytest.skip("not JSON as a whole")
    expected = findings(data, path.name, None, tmp_path)
    repaired = list(values(testing.fixed(data, None, "auto", path.name), is_document=is_document))
    for seed in range(2):
        other = variant(data, Random(seed), is_document=is_document)  # noqa: S311 - the same in every run
        assert findings(other, path.name, None, tmp_path) == expected
        assert (
            list(values(testing.fixed(other, None, "auto", path.name), is_document=is_document)) == repaired
        )


@settings(max_examples=examples(60), deadline=None)
@given(
    steps().filter(writable), st.sampled_from(["openai-chat", "anthropic", "gemini", "canonical"]), st.data()
)
def test_white_space_changes_no_finding_and_no_repair_of_a_drawn_record(
    made: list[NotationLine], wire: str, data: st.DataObject
) -> None:
    from tempfile import TemporaryDirectory

    record = render_example(made, wire).record
    if data.draw(st.booleans()):
        disturb(record, data.draw)
    text = json.dumps(record, separators=(",", ":"))
    other = respaced(text, data.draw(st.randoms(use_true_random=False)), IN_LINES)
    with TemporaryDirectory() as folder:
        both_findings = [findings(item.encode(), "a.jsonl", wire, Path(folder)) for item in (text, other)]
    assert both_findings[0] == both_findings[1]
    fixed = [outcome(item, wire) for item in (text, other)]
    assert fixed[0] == fixed[1]


def outcome(text: str, wire: str) -> Any:
    try:
        return list(values(testing.fixed(text.encode(), wire), is_document=False))
    except AssertionError as error:  # an unverified repair
        return str(error)


ENTRIES = rulebook.load(rulebook.BUILTIN)
REPEATED = 40
"""From 20 records on, a scanner checks the lines first."""


def examples(entry: rulebook.Entry) -> Iterator[tuple[str, bytes, str]]:
    """The lines of a rule's BAD examples with one record per line."""
    for example in entry.module.BAD:
        if isinstance(example, Raw):
            found = [(example.format, example.data)]
        else:
            found = [(wire, write(example.text, wire).data) for wire in example.wires]
        for wire, data in found:
            if data.rstrip(b"\n").count(b"\n") == 0 and is_json(data):
                yield wire, data.strip(), example.provider


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.rule.name)
def test_white_space_hides_no_finding_from_the_scanner(entry: rulebook.Entry) -> None:
    rng = Random(1)  # noqa: S311 - the same in every run
    for wire, line, provider in examples(entry):
        one = Counter(row.finding.code for row in testing.rows_of(line + b"\n", wire, provider))
        spaced = (respaced(line.decode(), rng, IN_LINES).encode() for _ in range(REPEATED))
        many = Counter(row.finding.code for row in testing.rows_of(b"\n".join(spaced), wire, provider))
        assert many == Counter({code: count * REPEATED for code, count in one.items()}), (wire, line)


@pytest.mark.parametrize("value", ["[]", "{}"])
def test_white_space_in_an_empty_value_is_no_text(value: str, tmp_path: Path) -> None:
    request = (
        '{"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello."}, '
        '{"role": "assistant", "content": [{"type": "text", "text": VALUE}]}]}'
    )
    found = [
        [
            (finding[0], finding[2])
            for finding in findings(request.replace("VALUE", text).encode(), "a.json", None, tmp_path)
        ]
        for text in (value, f"{value[0]} {value[1]}")
    ]
    assert found[0] == found[1]
    assert not any("white space" in message for _, message in found[0])
