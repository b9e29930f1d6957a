"""The native scanner is no second set of rules: the plain reader finds nothing in a record that it accepts.

Records are drawn at random and then damaged twice, in their values and in their bytes, so that both results are
frequent. An accepted record is counted as a record that was read.
"""

import gc
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from budgets import examples
from drawn import disturb, steps, writable
from dressed import cut_into, dress
from turnlint import carriers, compiled, rulebook
from turnlint.carrying.examples import NotationLine
from turnlint.clauses import LastMessage, OverLimit, ResultContent, RoleOrder
from turnlint.documents.decode import Shape
from turnlint.documents.framing import HUGE
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, Tally, lint
from turnlint.fastpath.choice import choose_scanner
from turnlint.fastpath.gate import REQUEST_FORMATS
from turnlint.fastpath.passed import Counting
from turnlint.model import Record
from turnlint.notation import render_example
from turnlint.providers import Providers
from turnlint.reading import FEW
from turnlint.rows import Row
from turnlint.spread.keeping import kept

WIRES = REQUEST_FORMATS
LINE_WIRES = ("openai-chat", "anthropic", "mistral", "bedrock", "gemini")
PROVIDERS = Providers([rulebook.BUILTIN])
LABELS = [
    (wire, profile.label)
    for name in PROVIDERS.names()
    for profile in PROVIDERS.versions(name)
    for wire in WIRES
    if wire in profile.wires
]


def sound(count: int = 2) -> list[NotationLine]:
    notation = [NotationLine("user", "go")]
    for number in range(count):
        name = f"c{number:08}"
        notation += [
            NotationLine("assistant", "let me see"), NotationLine("call", "", name, "read", '{"a": 1}'), NotationLine("result", "", name, body="done"),
        ]  # fmt: skip
    return [*notation, NotationLine("assistant", "so it is"), NotationLine("user", "go on")]


@pytest.fixture(autouse=True)
def _needs_native() -> None:
    """Skip all tests where the native scanner is not compiled."""
    if compiled.load() is None:
        pytest.skip("the native scanner is not compiled")


def key_of(wire: str) -> str:
    """The key of a request that holds its messages."""
    syntax = carriers.carrier(wire).syntax
    assert syntax is not None
    return syntax.messages


def scanner(options: Options) -> Counting:
    wire = options.format
    assert wire
    carrier = carriers.carrier(wire)
    first = [Record(1, 0, b'{"%b":[]}' % key_of(wire).encode())]
    found = choose_scanner(carrier, carrier.open(), first, Book(options), Source("-", None), told=True)
    assert found
    return found


def read(data: bytes, options: Options, folder: Path) -> tuple[list[Row], Tally]:
    path = folder / "log.jsonl"
    path.write_bytes(data)
    events = list(lint(Source(path.name, str(path)), options, Book(options)))
    tally = events[-1]
    assert isinstance(tally, Tally)
    return [event for event in events if isinstance(event, Row)], tally


def accepts_only_sound(line: bytes, options: Options, folder: Path) -> bool:
    """Whether the gate accepts a line; if so, check that the line has no finding."""
    line = line.rstrip(b"\r")  # findings about line ends are reported while lines are split
    first = scanner(options)
    seen = first.scan(line + b"\n", 1, 0)
    if list(seen.spans):
        return False
    rows, tally = read(line + b"\n", options, folder)
    assert rows == []
    passed = first.passed
    assert (seen.passed, passed.conversations, passed.messages, passed.calls, passed.results) == (
        1, tally.conversations, tally.messages, tally.calls, tally.results,
    )  # fmt: skip
    labels = {item.profile.label: count for (_, chosen), count in passed.kinds.items() for item in chosen}
    assert labels == tally.providers
    return True


@pytest.mark.parametrize(("wire", "provider"), LABELS)
@pytest.mark.hypothesis
def test_an_accepted_line_has_no_finding(wire: str, provider: str, tmp_path: Path) -> None:
    @settings(
        max_examples=examples(150),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    @given(data=st.data())
    def check_random(data: st.DataObject) -> None:
        notation = data.draw(st.one_of(st.builds(sound, st.integers(0, 3)), steps().filter(writable)))
        record = {**around(wire, data.draw), **render_example(notation, wire).record}
        if data.draw(st.booleans()):
            dress(record[key_of(wire)], data.draw)
        if data.draw(st.booleans()):
            disturb(record, data.draw)
        line = json.dumps(record, ensure_ascii=data.draw(st.booleans())).encode(errors="surrogatepass")
        for _ in range(data.draw(st.integers(0, 2))):
            line = cut_into(line, data.draw)
        accepts_only_sound(line, Options(format=wire, providers=(provider,)), tmp_path)

    check_random()


def around(wire: str, draw: Any) -> dict[str, Any]:
    """Text that may be around the messages."""
    tool = (
        {"type": "function", "function": {"name": "read"}}
        if wire == "openai-chat"
        else {"name": "read", "input_schema": {"type": "object"}}
    )
    return draw(  # type: ignore[no-any-return]
        st.fixed_dictionaries(
            {},
            optional={
                "model": st.sampled_from(["gpt-4.1", "claude-sonnet-4-5", "o3", "kimi-k2", 5]),
                "tools": st.sampled_from([[tool], [], [tool, tool], None]),
                "max_tokens": st.sampled_from([9, 1e300]),
                "id": st.text(max_size=3),
                "thinking": st.just({"type": "enabled", "budget_tokens": 9}),
                "response": st.just({"error": "x"}),
                "stream": st.booleans(),
                "metadata": st.just({"a": [1]}),
            },
        )
    )


def sound_requests(wire: str, **more: Any) -> Any:
    tools = {"tools": [{"name": "read", "input_schema": {}}]} if wire == "anthropic" else {}
    return {"model": "m", **tools, **render_example(sound(), wire).record, **more}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,\t", " : ")])
def test_sound_requests_are_accepted(wire: str, separators: tuple[str, str], tmp_path: Path) -> None:
    """A gate that never accepts would pass the property above."""
    line = json.dumps(sound_requests(wire), separators=separators).encode()
    assert accepts_only_sound(line, Options(format=wire, providers=("auto",)), tmp_path)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_a_repeated_key_is_found_at_any_position(
    wire: str, separators: tuple[str, str], tmp_path: Path
) -> None:
    """Repeat the first member of an object, at every position where an object starts."""
    line = json.dumps(sound_requests(wire), separators=separators).encode()
    options = Options(format=wire, providers=("auto",))
    decoder = json.JSONDecoder()
    seen = 0
    for at in [at for at, byte in enumerate(line) if byte == 0x7B]:
        if line[at + 1 : at + 2] != b'"':
            continue
        text = line[at + 1 :].decode()
        key, end = decoder.raw_decode(text)
        start = end + len(separators[1])
        _, size = decoder.raw_decode(text[start:])
        member = f"{json.dumps(key)}{separators[1]}{text[start : start + size]}{separators[0]}"
        twice = line[: at + 1] + member.encode() + line[at + 1 :]
        rows, _ = read(twice + b"\n", options, tmp_path)
        assert "duplicate-key" in {row.finding.rule for row in rows}
        assert not accepts_only_sound(twice, options, tmp_path)
        seen += 1
    assert seen > 8


def test_the_report_of_a_long_log_is_that_of_the_plain_reader(tmp_path: Path) -> None:
    """Lines, offsets and numbers of conversations after accepted lines are correct, and nothing is lost."""
    good, bad = sound_requests("openai-chat"), sound_requests("openai-chat")
    del bad["messages"][2]
    lines = [json.dumps(good).encode() for _ in range(3 * FEW)]
    lines[FEW + 3] = lines[2 * FEW] = json.dumps(bad).encode()
    lines[FEW + 9], lines[FEW + 12] = b"", lines[FEW + 12] + b"\r"
    options = Options(format="openai-chat", providers=("openai",), fingerprints=True)
    rows, tally = read(b"\n".join(lines) + b"\n", options, tmp_path)
    places = [(row.finding.rule, row.place.line, row.finding.conversation_index) for row in rows]
    assert [row.place.offset for row in rows] == sorted(row.place.offset for row in rows)
    assert places == [
        ("unanswered-call", FEW + 4, FEW + 3), ("unreadable-record", FEW + 10, None), ("unreadable-record", FEW + 13, None),
        ("unanswered-call", 2 * FEW + 1, 2 * FEW - 1),
    ]  # fmt: skip
    assert tally.conversations == 3 * FEW - 1
    assert tally.providers == {"openai": 3 * FEW - 1}


@pytest.mark.parametrize(
    "clause",
    [
        ResultContent(refused=("text",), source="x", date="2026-11"),
        OverLimit(what="result-characters", most=40, source="x", date="2026-11"),
    ],
)
def test_an_own_profile_with_a_clause_about_results_in_parts_is_applied(clause: Any, tmp_path: Path) -> None:
    record = sound_requests("anthropic")
    for message in record["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_result":
                block["content"] = [{"type": "text", "text": "done " * 9}]
    known = PROVIDERS.named("anthropic")
    assert known
    mine = structs.replace(known[0], name="mine", version="", models="", hosts=(), clauses=(clause,))
    options = Options(format="anthropic", providers=("mine",), profiles=(mine,))
    line = json.dumps(record).encode()
    rows, _ = read(line + b"\n", options, tmp_path)
    assert rows
    assert not accepts_only_sound(line, options, tmp_path)


EVIDENCE = {"source": "x", "date": "2026-11"}


@pytest.mark.parametrize("wire", LINE_WIRES)
@pytest.mark.parametrize(
    ("clause", "keyed"),
    [
        (LastMessage(roles=("prefix",), **EVIDENCE), False),
        (RoleOrder(needs=("function",), **EVIDENCE), False),
        *((RoleOrder(first=("human",), **EVIDENCE), keyed) for keyed in (False, True)),
        *((OverLimit(what="result-characters", most=3, **EVIDENCE), keyed) for keyed in (False, True)),
    ],
)
def test_a_clause_of_an_own_profile_is_applied_to_each_conversation(
    clause: Any, wire: str, keyed: bool, tmp_path: Path
) -> None:
    """An unknown role of the scanner is a role that is absent, not one that no clause names."""
    messages = render_example(sound(1), wire).record[key_of(wire)]
    talks = [
        [{"session_id": f"s{number}", **message} for message in messages]
        if keyed
        else [{key_of(wire): messages}]
        for number in range(2 * FEW)
    ]
    known = PROVIDERS.named("openai" if wire == "openai-chat" else wire)
    mine = structs.replace(known[0], name="mine", version="", models="", hosts=(), clauses=(clause,))
    options = Options(format=wire, providers=("mine",), profiles=(mine,))
    rows, tally = read(
        "\n".join(json.dumps(item) for conversation in talks for item in conversation).encode(),
        options,
        tmp_path,
    )
    assert tally.conversations == len(rows) == 2 * FEW
    assert {row.finding.code for row in rows} == {clause.code}


@pytest.mark.parametrize("around", [{}, {"session_id": "s"}])
def test_a_line_that_is_too_long_for_most_readers_is_reported(around: dict[str, str], tmp_path: Path) -> None:
    def line(text: str) -> bytes:
        message = {"role": "user", "content": text}
        return json.dumps({**around, **message} if around else {"messages": [message]}).encode()

    rows, _ = read(
        b"\n".join([line("go")] * FEW + [line("x" * HUGE)]), Options(format="openai-chat"), tmp_path
    )
    assert [(row.finding.rule, row.place.line) for row in rows] == [("unreadable-record", FEW + 1)]


@pytest.mark.parametrize("around", [{}, {"session_id": "s"}])
def test_no_part_of_a_log_is_kept_after_reading(around: dict[str, str], tmp_path: Path) -> None:
    message = {"role": "user", "content": "go"}
    line = json.dumps({**around, **message} if around else {"messages": [message]}).encode()

    def things() -> int:
        read(b"\n".join([line] * 2 * FEW), Options(format="openai-chat"), tmp_path)
        gc.collect()
        return len(gc.get_objects())

    for _ in range(3):
        things()
    before = things()
    assert max(things() for _ in range(5)) - before < 5 * 4


CONVERSATIONS = st.lists(
    st.tuples(st.integers(0, 3), st.one_of(st.builds(sound, st.integers(0, 3)), steps().filter(writable))),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize("wire", LINE_WIRES)
@pytest.mark.hypothesis
def test_the_report_of_messages_on_lines_is_that_of_the_plain_reader(
    wire: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interleaved conversations, some of them damaged; for some the first lines are released before the last are read."""
    carrier_lines = carriers.carrier(wire).open().lines  # type: ignore[attr-defined]
    monkeypatch.setattr(type(carrier_lines).__init__, "__defaults__", (40,))

    @settings(
        max_examples=examples(150),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    @given(data=st.data())
    def check_random(data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(["conversation_id", "session_id", None]))
        queues = []
        for number, messages in data.draw(CONVERSATIONS):
            record = render_example(messages, wire).record
            if data.draw(st.integers(0, 3)) == 0:
                dress(record[key_of(wire)], data.draw)
            if data.draw(st.integers(0, 3)) == 0:
                disturb(record, data.draw)
            queues.append([(f"c{number}", message) for message in record[key_of(wire)]])
        opening = [{"role": "user", "content": f"hello {number}"} for number in range(FEW)]
        lines = [json.dumps({**({key: "first"} if key else {}), **item}).encode() for item in opening]
        while queues:
            queue = queues[data.draw(st.integers(0, len(queues) - 1))]
            for name, message in queue[: data.draw(st.integers(1, 9))]:
                queue.pop(0)
                whole = {**({key: name} if key else {}), **message} if isinstance(message, dict) else message
                line = json.dumps(whole).encode()
                lines.append(cut_into(line, data.draw) if data.draw(st.integers(0, 29)) == 0 else line)
            queues = [queue for queue in queues if queue]
        text = b"\n".join(lines) + data.draw(st.sampled_from([b"", b"\n"]))
        options = Options(format=wire, providers=("auto",), fingerprints=True, view=True)
        rows, tally = read(text, options, tmp_path)
        with monkeypatch.context() as patched:
            patched.setattr("turnlint.reading.FEW", 1 << 30)
            expected, counted = read(text, options, tmp_path)
        assert [kept(row) for row in rows] == [kept(row) for row in expected]
        assert tally == counted

    check_random()


@pytest.mark.parametrize("wire", LINE_WIRES)
def test_sound_messages_on_lines_are_not_read(
    wire: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gate that accepts nothing would pass the property above."""
    messages = render_example(sound(5), wire).record[key_of(wire)]
    lines = [
        json.dumps({"session_id": f"s{number}", "timestamp": "2026-11-01T00:00:00Z", **message}).encode()
        for number in range(9)
        for message in messages
    ]
    read_all: list[Record] = []
    inner = Shape.read

    def reading(shape: Shape[Any], record: Record) -> Any:
        read_all.append(record)
        return inner(shape, record)

    monkeypatch.setattr(Shape, "read", reading)
    rows, tally = read(b"\n".join(lines), Options(format=wire), tmp_path)
    assert rows == []
    assert (tally.conversations, tally.calls, tally.results) == (9, 45, 45)
    assert read_all == []
