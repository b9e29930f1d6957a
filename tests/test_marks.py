"""Marks of a format that are known without its import: a record without any of them has no score for the format."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import examples
from turnlint import carriers, compiled
from turnlint.carriers import _marks, anthropic, openai_responses
from turnlint.carriers._marks import ALONE, ALSO, ESCAPED, KEYS, MARKS, Sample
from turnlint.documents.framing import frame
from turnlint.documents.source import Source, open_source
from turnlint.model import Record

WORDS = {
    name: (*marks, *ALSO.get(name, ()), *(word for word, _ in KEYS.get(name, ())), *ALONE.get(name, ()))
    for name, marks in MARKS.items()
}
"""All marks of a format."""
SAMPLES = Path(__file__).parent.parent / "fixtures" / "formats"


@cache
def written() -> tuple[bytes, ...]:
    """The records of all samples, each once."""
    found: dict[bytes, None] = {}
    for path in sorted(SAMPLES.rglob("*.json*")):
        with open_source(Source(path.name, str(path))) as stream:
            for item in frame(stream, path.name, carriers.holds_records):
                if isinstance(item, Record) and len(item.data) < 1 << 16:
                    found[item.data] = None
    return tuple(found)


def without(data: bytes, marks: tuple[bytes, ...]) -> bytes:
    """A record with other words in the place of marks."""
    for mark in (*marks, *ESCAPED):
        data = data.replace(mark, re.sub(rb"[a-zA-Z]", b"q", mark).replace(b"\\", b"q"))
    return data


@pytest.fixture(params=["native", "python"], autouse=True)
def search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to search for words."""
    if request.param == "python":
        monkeypatch.setattr(compiled, "load", lambda: None)
        monkeypatch.setattr(compiled, "loaded", lambda: None)
    elif compiled.load() is None:
        pytest.skip("nothing was compiled")


def may_score(name: str, records: list[bytes]) -> bool:
    return name in _marks.speakers((name,), Sample(records))


def score(name: str, data: bytes) -> int:
    return carriers.score(carriers.carrier(name), Record(1, 0, data))


@pytest.mark.parametrize("name", MARKS)
def test_without_its_marks_no_record_scores_for_a_format(name: str) -> None:
    speaking = [data for data in written() if score(name, data) > 0]
    assert len(speaking) > 3
    assert all(may_score(name, [data]) for data in speaking)
    bare = [without(data, WORDS[name]) for data in speaking]
    assert not any(may_score(name, [data]) for data in bare)
    assert [data for data in bare if score(name, data) > 0] == []


def test_each_type_of_an_item_is_a_mark() -> None:
    """Most have no sample: they come from the wire's documentation, and are rare."""
    types = (openai_responses.KINDS | openai_responses.OWN_PARTS) - {"message"}
    assert len(types) > 30
    assert [
        type_ for type_ in types if not may_score("openai-responses", [f'"type": "{type_}"'.encode()])
    ] == []
    blocks = anthropic.CALLS.keys() | anthropic.THINKING | {"web_search_tool_result"}
    assert [block for block in blocks if not may_score("anthropic", [f'"type": "{block}"'.encode()])] == []


@settings(max_examples=examples(150), deadline=None)
@given(data=st.data())
def test_a_skipped_format_would_not_have_been_chosen(data: st.DataObject) -> None:
    taken = data.draw(st.lists(st.sampled_from(written()), min_size=1, max_size=3))
    lost = data.draw(
        st.lists(st.sampled_from(sorted({mark for marks in WORDS.values() for mark in marks})), max_size=4)
    )
    records = [Record(number, 0, without(item, tuple(lost))) for number, item in enumerate(taken, 1)]
    chosen = carriers.best_for(records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("turnlint.carriers._marks.speakers", lambda names, _: names)
        assert carriers.best_for(records) == chosen


def test_a_key_may_be_written_with_escapes() -> None:
    plain = b'{"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "ho"}]}'
    for spelled in (plain, plain.replace(b'"from"', b'"\\u0066rom"')):
        found, _ = carriers.best_for([Record(1, 0, spelled)])
        assert found is not None
        assert found.name == "sharegpt"


@pytest.mark.parametrize("space", ["", " ", "\n  ", " " * 200])
@pytest.mark.parametrize(
    "written", ['"type"{0}:{0}"gemini"', r'"{{\\"type\\"{0}:{0}\\"gemini\\"}}"', '"arguments"{0}:{0}{{']
)
def test_a_key_is_a_mark_with_any_white_space(space: str, written: str) -> None:
    name = "ollama" if "arguments" in written else "gemini-cli"
    assert may_score(name, [written.format(space).encode()])


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("anthropic", '{"role": "system", "content": "hi"}'),
        ("bedrock", '{"content": [{"type": "text", "text": "hi"}, {"type": "image", "source": {}}]}'),
        ("gemini-cli", '{"type": "function", "function": {"name": "f", "arguments": "{}"}}'),
        ("ollama", '{"type": "function", "function": {"name": "f", "arguments": "{}"}}'),
        ("openai-responses", '{"type": "tool_use", "input": {}}, {"input_schema": {}}'),
    ],
)
def test_the_same_word_elsewhere_is_no_mark(name: str, written: str) -> None:
    assert not may_score(name, [written.encode()])


@pytest.mark.parametrize("before", ["", " ", "\n", '"toolUse": null, ', '\n "x" : null ,\n', " " * 200])
def test_the_only_key_of_an_object_is_a_mark(before: str) -> None:
    for written in (f'{{{before}"text": "hi"}}', json.dumps(f'{{{before}"text": "hi"}}', indent=1)):
        assert may_score("bedrock", [written.encode()])


TEXT = st.lists(
    st.sampled_from(
        [b'"', b"t", b"to", b"tool", b"_use", b"tool_use", b'"type', b"x", b"\0", b" ", b"to" * 30]
    ),
    max_size=9,
).map(b"".join)


@given(st.lists(TEXT, max_size=4), st.lists(TEXT.filter(lambda word: len(word) > 1), max_size=9, unique=True))
def test_all_words_are_found_in_one_walk(texts: list[bytes], words: list[bytes]) -> None:
    native = compiled.load()
    if native is not None:
        there = [any(word in text for text in texts) for word in words]
        assert native.find_words(texts, tuple(words)) == there


def test_words_that_cannot_be_searched_are_refused() -> None:
    native = compiled.load()
    if native is not None:
        for texts, words in (
            ([b"x"], (b"x",)),
            ([b"x"], ("xy",)),
            (["x"], (b"xy",)),
            ([], tuple(b"%04d" % n for n in range(300))),
        ):
            with pytest.raises((TypeError, ValueError)):
                native.find_words(texts, words)


AGENT = json.dumps({
    "type": "user", "uuid": "a", "parentUuid": None, "sessionId": "s", "isSidechain": False,
    "message": {"role": "user", "content": "go"},
}).encode()  # fmt: skip

REQUEST = json.dumps({"messages": [{"role": "user", "content": "go"}]}).encode()
OTHER = json.dumps(
    {"timestamp": "2026-03-01T12:00:00.000Z", "type": "session_meta", "payload": {"id": "s"}}
).encode()


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ([AGENT] * 4, "claude-code"),
        ([OTHER] * 4, "codex"),
        ([AGENT, AGENT, AGENT, b"{}"], None),
        ([AGENT, AGENT, AGENT, b"no record"], None),
        ([AGENT, AGENT, AGENT, OTHER], None),
        ([AGENT, AGENT, AGENT, REQUEST], None),
        ([REQUEST] * 4, None),
        ([b"{}"] * 4, None),
    ],
)
def test_a_log_is_recognized_as_a_session_at_once_if_every_record_shows_it(
    lines: list[bytes], name: str | None
) -> None:
    found = carriers.owner([Record(number + 1, 0, line) for number, line in enumerate(lines)])
    assert (found and found.name) == name


HEAD = b'{"type": "session", "id": "s", "timestamp": "2026-03-01T12:00:00.000Z", "version": 3, "cwd": "/"}'
ENTRY = json.dumps({
    "type": "message", "id": "a", "parentId": None, "timestamp": "2026-03-01T12:00:00.000Z",
    "message": {"role": "user", "content": "go", "timestamp": 1772366400000},
}).encode()  # fmt: skip


@pytest.mark.parametrize(
    ("following", "name"),
    [([ENTRY], "pi"), ([], None), ([HEAD], None), ([REQUEST], None), ([OTHER], None), ([b"no record"], None)],
)
def test_a_session_with_a_header_is_recognized_by_one_more_record(
    following: list[bytes], name: str | None
) -> None:
    first, more = (
        [Record(1, 0, line) for line in lines] for lines in ([HEAD, ENTRY, ENTRY, ENTRY], following)
    )
    found = carriers.owner(first, more)
    assert (found and found.name) == name
