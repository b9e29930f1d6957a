"""What is made, found and walked natively is what Python makes, finds and walks; and an outline has all keys of its messages.

Conversations are drawn at random and damaged, below their messages and in their bytes.
"""

import copy
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs

import turnlint.ledger as whole_ledger
from arbitrary_json import MANY, SPELLINGS, TEXTS, VALUES, places
from budgets import examples
from drawn import disturb, steps, writable
from turnlint import carriers, compiled, ledger, rulebook
from turnlint.carrying.swift import SwiftReader
from turnlint.checks import Checks, checks_of, suspects
from turnlint.compiled import loaded
from turnlint.documents import census
from turnlint.documents.locate import locate_all
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, lint
from turnlint.extraction import facts_of
from turnlint.ledger.matching import Matching
from turnlint.model import Message, Record, Transcript
from turnlint.notation import render_example
from turnlint.placing import Placer
from turnlint.providers import Providers
from turnlint.rows import Row

NATIVE = compiled.load()
pytestmark = pytest.mark.skipif(NATIVE is None, reason="the native scanner is not compiled")
WIRES = ("openai-chat", "anthropic")
PROVIDERS = Providers([rulebook.BUILTIN])
PROFILES = {
    wire: [one for name in PROVIDERS.names() for one in PROVIDERS.versions(name) if wire in one.wires]
    for wire in WIRES
}
TAILS = st.sampled_from([
    "", " ", "\n", "x" * 70, " [it] ", "<tool_call>{}", "é\u273f", "\ud83d\ude00"[:0], "No result provided", "aborted", '"',
])  # fmt: skip
PIECES = st.sampled_from([
    b"", b'"', b"\\", b"\\u00e9", b"\\ud800", b"\xe2\x9c\xbf", b"\xff", b"{", b"]", b",", b"1e999", b'"role":"user",', b"\n", b" ",
    b'"is_error":true,', b'"name":"n",', b'"type":"function",', b"null",
])  # fmt: skip


def native() -> ModuleType:
    assert NATIVE
    return NATIVE


def swift(wire: str) -> SwiftReader:
    opens = carriers.carrier(wire).swift
    assert opens
    return opens(native())


@st.composite
def records(draw: st.DrawFn, wire: str) -> bytes:
    """Requests as they are written, some of them broken."""
    some = [
        structs.replace(one, text=one.text + draw(TAILS))
        if one.text and draw(st.integers(0, 4)) == 0
        else one
        for one in draw(steps().filter(writable))
    ]
    record: dict[str, Any] = render_example(some, wire).record
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        disturb(record, draw)
        record = copy.deepcopy(record)  # what is drawn is shared, and must not be put into itself
    if wire == "openai-chat" and draw(st.booleans()):
        for message in record["messages"]:
            if isinstance(message, dict) and draw(st.integers(0, 5)) == 0:
                message[draw(st.sampled_from(["refusal", "tool_calls", "audio"]))] = None
    around: dict[str, Any] = draw(
        st.sampled_from([{}, {"model": "gpt-4o"}, {"tools": [], "id": "é"}, {"response": {}}])
    )
    record = {**record, **around} if draw(st.booleans()) else {**around, **record}
    line: bytes = draw(SPELLINGS)(record).encode(errors="surrogatepass")
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        at = draw(st.integers(0, len(line)))
        line = line[:at] + draw(PIECES) + line[at + draw(st.sampled_from([0, 0, 1, 9])) :]
    return line


def read_both_ways(line: bytes, wire: str) -> tuple[Transcript | None, list[Any], bool]:
    """What is read natively, and the other way, and whether that was plain."""
    carrier = carriers.carrier(wire)
    decoded = carrier.shape.read(Record(1, 0, line))
    fine = not (decoded.troubles or decoded.rest)
    return swift(wire).read(Record(1, 0, line)), carrier.open().feed(decoded), fine


def shown(one: Any) -> str:
    """All of it but what is known of it besides; what is computed of a value is kept out of its name."""
    bare = structs.replace(one, outline=None) if isinstance(one, Transcript) else one
    return re.sub(r"known=Known\(.*?\}\)\)", "known=None", repr(bare)).replace("plain=True", "plain=False")


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.hypothesis
def test_what_is_made_natively_is_what_the_carrier_makes(wire: str) -> None:
    @settings(max_examples=examples(1200), deadline=None)
    @given(line=records(wire))
    def held(line: bytes) -> None:
        swiftly, exactly, fine = read_both_ways(line, wire)
        if swiftly is not None:
            assert fine
            assert census.is_plain(line)
            assert [shown(swiftly)] == [*map(shown, exactly)]

    held()


@pytest.mark.parametrize("wire", WIRES)
def test_a_plain_conversation_is_made_natively_and_has_an_outline(wire: str) -> None:
    """A reader that always gives up would pass the property above."""
    some = [one for one in st_plain() if one]
    swiftly = swift(wire).read(Record(1, 0, render_example(some, wire).data))
    assert swiftly is not None
    assert swiftly.outline is not None
    assert swiftly.messages[0].record.plain


def st_plain() -> list[Any]:
    from turnlint.notation import NotationLine

    return [
        NotationLine("user", "go"), NotationLine("assistant", "yes"), NotationLine("call", "", "call_aaaaaaaaaaaa", "read", "{}"),
        NotationLine("result", "", "call_aaaaaaaaaaaa", body="done"), NotationLine("assistant", "so it is"),
    ]  # fmt: skip


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.hypothesis
def test_the_samples_of_an_outline_have_all_keys_of_its_messages(wire: str) -> None:
    checks: dict[str, Checks] = {}

    @settings(max_examples=examples(400), deadline=None)
    @given(line=records(wire))
    def held(line: bytes) -> None:
        found = swift(wire).read(Record(1, 0, line))
        if found is None or found.outline is None:
            return
        bare = structs.replace(found, outline=None)
        pairs = ledger.read(found.messages, found.wire)
        for profile in PROFILES[wire]:
            kept = checks.setdefault(profile.label, checks_of(profile, wire, None))
            outlined = suspects(facts_of(found, pairs), kept, named=False)
            assert outlined == suspects(facts_of(bare, pairs), checks_of(profile, wire, None), named=False)

    held()


@settings(max_examples=examples(500), deadline=None)
@given(data=st.data())
def test_the_native_walk_pairs_as_the_other_does(data: st.DataObject) -> None:
    wire = data.draw(st.sampled_from([*WIRES, "gemini", "openai-responses", "canonical"]))
    record = render_example(data.draw(steps().filter(writable)), wire).record
    if data.draw(st.booleans()):
        disturb(record, data.draw)
    carrier = carriers.carrier(wire)
    for one in carrier.read([carrier.shape.read(Record(1, 0, json.dumps(record).encode()))]):
        if not isinstance(one, Transcript):
            continue
        messages: tuple[Message, ...] = tuple(one.messages)
        if messages and data.draw(st.booleans()):
            messages = tuple(data.draw(st.permutations(messages)))
        works = [Matching(afterwards="in-place" if one.wire.anywhere else "late") for _ in range(2)]
        count = whole_ledger._walk(messages, one.wire, works[0], None)
        assert whole_ledger._walk_natively(native(), messages, one.wire, works[1]) == count
        assert works[0] == works[1]


def test_a_walk_ends_where_what_it_asks_fails() -> None:
    with pytest.raises(AttributeError):
        native().walk(
            (object(),), frozenset(), False, whole_ledger._KIT, None, None, ([], [], [], {}, {}, set())
        )
    with pytest.raises(ValueError, match="kit"):
        native().walk((), frozenset(), False, (), None, None, ([], [], [], {}, {}, set()))
    with pytest.raises(ValueError, match="kit"):
        native().messages(b"{}", "openai-chat", (), None)


@MANY
@given(
    VALUES,
    SPELLINGS,
    st.lists(st.sampled_from(["no such key", 99, -1, "", "\ud800", 2**80, None]), max_size=2),
    st.data(),
)
@example([{"a": 1}, {"b": 2}], json.dumps, ["b"], None)
def test_places_of_a_plain_text_are_found_as_in_any(
    value: Any, spell_it: Any, beyond: list[Any], data: Any
) -> None:
    text = spell_it(value).encode()
    if not census.is_plain(text):
        return
    every = [pointer for pointer, _ in places(json.loads(text))]
    some = data.draw(st.lists(st.sampled_from(every), max_size=4)) if data else every
    pointers = [*some, *((*one, *beyond) for one in some)]
    assert locate_all(text, pointers, plain=True) == locate_all(text, pointers)


def test_a_key_that_is_written_with_an_escape_is_left_to_the_other_walk() -> None:
    text = b'{"\\u0061": {"b": 1}}'
    assert native().places(text, [("a", "b")]) is None
    assert locate_all(text, [("a", "b")], plain=True) == {("a", "b"): (("a", "b"), 17, 18)}


@MANY
@given(st.lists(TEXTS | st.sampled_from(["\n", "\r\n", "é\u4e2d\U0001f600"])), st.data())
def test_lines_and_characters_are_counted_alike(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    ends = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2)))
    start, end = (len(text[:at].encode()) for at in ends)
    between = text[ends[0] : ends[1]].split("\n")
    assert native().measure(text.encode(), start, end) == (len(between) - 1, len(between[-1]))


@given(st.binary(max_size=60), st.integers(-5, 80), st.integers(-5, 80))
def test_any_bytes_can_be_measured_and_walked(data: bytes, start: int, end: int) -> None:
    native().measure(data, start, end)
    native().places(data, [("messages", 0), (), (0, "a")])
    assert swift("openai-chat").read(Record(1, 0, data)) is None


def told(path: str, wire: str, *, pure: bool, monkeypatch: pytest.MonkeyPatch) -> Iterator[Row]:
    with monkeypatch.context() as patched:
        if pure:
            patched.setattr(compiled, "load", lambda: None)
            patched.setitem(__import__("sys").modules, "turnlint.scan._native", None)
        options = Options(format=wire, providers=("auto",), fingerprints=True, view=True)
        yield from (one for one in lint(Source(path, path), options, Book(options)) if isinstance(one, Row))


@pytest.mark.parametrize("wire", WIRES)
def test_a_log_of_faults_reads_alike_with_and_without(
    wire: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the whole engine: the rows of a log, with their places and their pictures."""
    plain = [json.loads(render_example(st_plain(), wire).data) for _ in range(60)]
    for number, record in enumerate(plain[25:]):
        record["messages"].pop(number % len(record["messages"]))
        record["messages"][0]["content"] = f"é {number} " + "x" * (number % 3)
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in plain))
    with_it = [*told(str(path), wire, pure=False, monkeypatch=monkeypatch)]
    without = [*told(str(path), wire, pure=True, monkeypatch=monkeypatch)]
    assert loaded() is not None
    assert len(with_it) > 10
    assert [*map(shown, with_it)] == [*map(shown, without)]


def test_a_place_is_found_whether_its_record_is_known_to_be_plain_or_not() -> None:
    from turnlint.model import Location

    data = b'{"a": "\xc3\xa9", "b~/": [1, 2 ,3], "c": {}}'
    pointers: list[tuple[str | int, ...]] = [(), ("a",), ("b~/", 1), ("c", "gone"), ("b~/", 7)]
    found = []
    for plain in (True, False):
        record = Record(3, 40, data, ("x", 2), 5, plain=plain)
        placer = Placer([Location(record, at) for at in pointers], besides=[Location(record, ("c",))])
        assert placer.bytes_of(Location(record, ("c",))) == b"{}"
        found.append([placer[Location(record, at)] for at in pointers])
    assert found[0] == found[1]
    assert found[0][2].pointer == "/x/2/b~0~1/1"


def test_a_message_that_a_letter_does_not_say_all_of_has_no_outline() -> None:
    line = b'{"messages":[{"role":"user","content":"go","name":"x"}]}'
    found = swift("openai-chat").read(Record(1, 0, line))
    assert found is not None
    assert found.outline is None
    assert found.messages[0].name == "x"


def test_what_follows_on_messages_without_a_letter_is_noted_nowhere() -> None:
    """There is room for the letters that are there, which is less than the number of the message says."""
    program = """if True:
        from turnlint import carriers, compiled
        from turnlint.model import Record

        odd, plain = b'{"role":"assistant","content":"so","refusal":null}', b'{"role":"user","content":"go"}'
        line = b'{"messages":[' + b",".join([odd] * 70 + [plain]) + b"]}"
        found = carriers.carrier("openai-chat").swift(compiled.load()).read(Record(1, 0, line))
        assert found.outline is None and len(found.messages) == 71
    """
    guarded = {**os.environ, "PYTHONMALLOC": "debug"}  # what is written behind a piece of memory is found
    subprocess.run([sys.executable, "-c", program], env=guarded, check=True)


def test_very_many_places_are_left_to_the_walk_down_a_tree() -> None:
    """Asked one by one at every step, a long record of faults would take a time that grows with their square."""
    text = json.dumps([{"a": number} for number in range(300)]).encode()
    pointers: list[tuple[str | int, ...]] = [(number, "a") for number in range(300)]
    assert native().places(text, pointers[:200]) is not None
    assert native().places(text, pointers) is None
    assert locate_all(text, pointers, plain=True) == locate_all(text, pointers)


@pytest.mark.parametrize(
    "part", [{"type": "text", "text": ["x"]}, {"type": 5, "text": "x"}, {"source": {}, "type": 5}]
)
def test_a_part_of_a_result_that_is_no_text_is_read_by_the_carrier(part: dict[str, Any]) -> None:
    """What was never read is not looked at: that was the end of the process."""
    content = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [part]}]
    line = json.dumps({"messages": [{"role": "user", "content": content}]}).encode()
    for _ in range(100):
        swiftly, exactly, _ = read_both_ways(line, "anthropic")
        assert swiftly is None or [shown(swiftly)] == [*map(shown, exactly)]
