"""An agent's session that was only looked at is reported as if each of its lines had been read.

The logs are drawn by chance and damaged in what their lines hang on, in what they say and in their bytes. Whatever
comes out of a run, findings, counts and places, is the same with the look and without it.
"""

import json
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec import structs

from budgets import examples
from session_lines import Sessions, cut, rollout, session_log, tree
from test_corpus import CORPUS
from turnlint import compiled, reading, scan
from turnlint.clauses import NameForm, ResultNotFirst, ThinkingForm
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, Run, Tally, lint
from turnlint.errors import SourceError
from turnlint.packages import BUILTIN
from turnlint.providers import Providers
from turnlint.report.words import noted

pytestmark = pytest.mark.skipif(compiled.load() is None, reason="the native scanner is not compiled")
ROOT = Path(__file__).parent.parent
WRITTEN = [
    *sorted((ROOT / "fixtures" / "formats" / "claude-code").glob("*.jsonl")),
    *sorted((ROOT / "fixtures" / "formats" / "codex").glob("*.jsonl")),
    *sorted((ROOT / "fixtures" / "rules").glob("left-behind/*.jsonl")),
    *sorted(CORPUS.glob("logs/claude-code*/*.jsonl")),
    *sorted(CORPUS.glob("logs/codex/*.jsonl")),
    *sorted(CORPUS.glob("format_samples/claude_code*.jsonl")),
    *sorted(CORPUS.glob("format_samples/codex*.jsonl")),
]
MADE = {"claude-code": session_log, "codex": rollout}
AGREES = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The look is worth it for longer logs; here it is taken for all."""
    monkeypatch.setattr(reading, "FEW", 1)


def told(path: Path, options: Options) -> tuple[list[Any], int]:
    """All that a run says, and of how many conversations nothing had to be read."""
    run = Run(Source(path.name, str(path)), options, Book(options))
    events = [repr(event) for event in run.events(None)]
    return events, run.scanner.passed.conversations if run.scanner else 0


def count_passed(path: Path, options: Options) -> int:
    """How many were vouched for; nothing is said otherwise than by reading all."""
    looked, passed = told(path, options)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compiled, "load", lambda: None)
        patched.setattr(compiled, "loaded", lambda: None)
        read, _ = told(path, options)
    assert looked == read
    return passed


def options_for(*providers: str, name: str = "claude-code") -> Options:
    return Options(format=name, providers=providers, fingerprints=True)


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        *(("claude-code", provider) for provider in ("", "anthropic", "anthropic@thinking", "openai")),
        ("codex", ""),
        ("codex", "openai-responses"),
    ],
)
@pytest.mark.hypothesis
def test_what_is_said_is_the_same_with_the_look_and_without(name: str, provider: str, tmp_path: Path) -> None:
    @settings(AGREES, max_examples=examples(150))
    @example(seed=1, wild=0.005, damaged=True)  # a conversation of which no message can be read
    @given(st.integers(0, 1 << 40), st.sampled_from([0.0, 0.005, 0.02, 0.1]), st.booleans())
    def held(seed: int, wild: float, damaged: bool) -> None:
        chance = Random(seed)  # noqa: S311 - chance, not secrecy
        data = MADE[name](chance, wild)
        path = tmp_path / "log.jsonl"
        path.write_bytes(cut(data, chance) if damaged else data)
        count_passed(path, options_for(*filter(None, [provider]), name=name))

    held()


@pytest.mark.parametrize("provider", ["", "anthropic"])
@pytest.mark.hypothesis
def test_what_trees_say_is_the_same_with_the_look_and_without(provider: str, tmp_path: Path) -> None:
    """Many sessions in one log, all of them small, so that what hangs together oddly is met often."""
    path, passed = tmp_path / "log.jsonl", []

    @settings(AGREES, max_examples=examples(50))
    @given(st.integers(0, 1 << 40))
    def held(seed: int) -> None:
        chance = Random(seed)  # noqa: S311 - chance, not secrecy
        lines = [line for number in range(100) for line in tree(chance, f"s-{number}")]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        passed.append(count_passed(path, options_for(*filter(None, [provider]))))

    held()
    assert sum(passed) > len(passed)


@pytest.mark.covering(1)
@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: f"{path.parent.name}/{path.name[-40:]}")
@pytest.mark.parametrize("providers", [(), ("anthropic",)])
def test_written_sessions_are_reported_as_if_all_had_been_read(
    path: Path, providers: tuple[str, ...]
) -> None:
    name = "codex" if "codex" in str(path) else "claude-code"
    count_passed(path, Options(format=name, providers=providers))
    count_passed(path, Options(providers=providers))


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not here")
def test_sessions_that_an_agent_wrote_are_vouched_for() -> None:
    """Long ones, with parallel calls, and agents between the lines of the main conversation."""
    counts = [
        count_passed(path, options_for())
        for path in sorted(CORPUS.glob("logs/claude-code-viewer/*.jsonl"))
        if path.stat().st_size > 20_000
    ]
    assert sum(counts) >= 3
    assert all(counts)


class Plain(Sessions):
    """What hangs together as the program writes it, and says nothing odd."""

    said = ("so it is", "done. ", "in [brackets]", "<b>", "é")

    def __init__(self, number: int) -> None:
        super().__init__(Random(number), wild=0.0)  # noqa: S311 - chance, not secrecy

    def answer(self, call: str, at: str, **more: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": "done"}
        return self.add("user", at, message={"role": "user", "content": [block]}, **more)


def test_what_the_program_writes_is_vouched_for(tmp_path: Path) -> None:
    """One that never vouches would pass the property above."""
    path, passed, there = tmp_path / "log.jsonl", 0, 0
    for number in range(60):
        lines = [line for line in Plain(number).write() if isinstance(line.get("type"), str)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        passed += count_passed(path, options_for())
        (*findings, tally), _ = told(path, options_for())
        there += int(tally.split("conversations=")[1].split(",")[0])
        assert not findings
    assert passed > 0.95 * there


def test_what_codex_writes_is_vouched_for(tmp_path: Path) -> None:
    path, passed = tmp_path / "log.jsonl", 0
    for number in range(60):
        path.write_bytes(rollout(Random(number), wild=0.0))  # noqa: S311 - chance, not secrecy
        (*findings, _), _ = told(path, options_for(name="codex"))
        sound = count_passed(path, options_for(name="codex"))
        assert not (sound and findings)
        passed += sound
    assert passed > 15


ITEMS: list[tuple[dict[str, Any], bool]] = [
    ({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}, True),
    ({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "go"}]}, True),
    ({"type": "message", "role": "user", "content": [{"type": "input_text", "text": " "}]}, False),
    ({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "eA=="}, True),
    ({"type": "web_search_call", "status": "completed", "action": {"type": "search"}}, True),
    ({"type": "ghost_snapshot", "ghost_commit": {"id": "abc"}}, True),
    ({"type": "function_call", "call_id": "call_1aaaaaaaa", "name": "shell", "arguments": "{}"}, False),
    ({"type": "function_call_output", "call_id": "call_1aaaaaaaa", "output": "x"}, False),
    ({"type": "never_met"}, False),
]


@pytest.mark.parametrize(
    ("item", "sound"), ITEMS, ids=lambda value: value.get("type") if isinstance(value, dict) else ""
)
def test_which_items_need_not_be_read(item: dict[str, Any], sound: bool, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    said = [{"type": "message", "role": "user", "content": "go on"}, item]
    path.write_text("".join(json.dumps({"type": "response_item", "payload": one}) + "\n" for one in said))
    assert count_passed(path, options_for(name="codex")) == sound


def by_hand(*lines: tuple[Any, ...]) -> str:
    """Lines of one session: the name of each, what it hangs on, what it says or asks, and what else there is in it."""
    out = []
    for name, parent, said, *more in lines:
        role = "assistant" if isinstance(said, dict) and said["type"] != "tool_result" else "user"
        content = [said] if isinstance(said, dict) else said
        keys = {"response": "msg-1"} | (more[0] if more else {})
        response = {"id": keys.pop("response")}
        out.append({
            "uuid": name, "parentUuid": parent, "sessionId": "s", "type": role, **keys,
            "message": {"role": role, "content": content, **(response if role == "assistant" else {})},
        })  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in out)


def call(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "read", "input": {}}


def result(name: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": "done"}


GO = ("a", None, "go")
TWO = (("b", "a", call("toolu_1aaaaaaaa")), ("c", "b", call("toolu_2aaaaaaaa")))
MORE = call("toolu_3aaaaaaaa")
ONE, OTHER, THIRD = result("toolu_1aaaaaaaa"), result("toolu_2aaaaaaaa"), result("toolu_3aaaaaaaa")
END = {"type": "text", "text": "so it is"}
EARLY, LATE = ({"timestamp": f"2026-03-01T12:00:0{second}.000Z"} for second in (1, 2))
FORKED = (GO, *TWO, ("d", "b", ONE), ("e", "c", OTHER))
THOUGHT = {"type": "thinking", "thinking": "let me see", "signature": "c2ln"}


@pytest.mark.parametrize(
    ("lines", "sound"),
    [
        ((GO, *TWO, ("d", "c", ONE), ("e", "d", OTHER)), True),
        ((GO, *TWO, ("d", "b", ONE), ("e", "c", OTHER)), True),
        ((GO, *TWO, ("e", "c", OTHER), ("d", "b", ONE)), True),
        ((GO, TWO[0], ("d", "b", ONE), TWO[1], ("e", "c", OTHER)), True),
        ((GO, TWO[0], ("d", "b", ONE), ("c", "d", TWO[1][2]), ("e", "c", OTHER)), True),
        ((GO, TWO[0], ("d", "b", ONE), ("c", "d", TWO[1][2]), ("e", "c", OTHER), ("f", "e", END)), True),
        ((GO, *TWO, ("d", "b", ONE), ("e", "c", OTHER), ("f", "e", END)), False),
        ((GO, *TWO, ("d", "c", OTHER), ("e", "d", MORE), ("f", "e", ONE), ("g", "f", THIRD)), False),
        ((GO, TWO[0], ("d", "b", ONE), ("f", "d", END), ("c", "b", TWO[1][2]), ("e", "c", OTHER)), False),
        ((GO, ("f", "a", END), ("g", "f", END), ("b", "f", TWO[0][2]), ("d", "b", ONE)), False),
        ((GO, *TWO, ("d", "b", ONE)), False),
        ((GO, TWO[0], ("c", "b", END), ("d", "b", ONE)), False),
        ((GO, *TWO, ("d", "b", ONE), ("f", "d", "wait"), ("e", "c", OTHER)), False),
        ((GO, *TWO, ("d", "b", ONE), ("e", "a", OTHER)), False),
        ((GO, *TWO, ("d", "b", ONE), ("e", "c", ONE)), False),
        ((GO, ("b", "a", "go on"), ("c", "a", "or rather")), False),
        ((GO, ("b", "a", END), ("c", None, "again")), False),
        ((GO, ("b", "nobody", END)), False),
        ((GO, ("a", "a", END)), False),
        ((*FORKED, ("f", "e", "go on"), ("g", "f", END, {"response": "msg-2"})), True),
        ((*FORKED, ("f", "e", "go on"), ("g", "f", END, {"response": "msg-2"}), ("h", "g", "go on"), ("i", "h", END)), False),
        ((*FORKED, ("f", "e", END, {"isMeta": True, "response": "msg-2"})), False),
        ((*FORKED[:3], *FORKED[:2:-1], ("f", "d", END, {"isApiErrorMessage": True})), True),
        ((*FORKED[:3], *FORKED[:2:-1], ("f", "d", END, {"isApiErrorMessage": True}), ("g", "f", END, {"isMeta": True})), False),
        ((GO, (*TWO[0], EARLY), (*TWO[1], LATE), ("d", "b", ONE), ("e", "c", OTHER)), True),
        ((GO, (*TWO[0], LATE), (*TWO[1], EARLY), ("d", "b", ONE), ("e", "c", OTHER)), False),
        ((GO, (*TWO[0], EARLY), ("d", "b", ONE), (*TWO[1], LATE), ("e", "c", OTHER)), True),
        ((GO, (*TWO[0], LATE), ("d", "b", ONE), (*TWO[1], EARLY), ("e", "c", OTHER)), False),
    ],
)  # fmt: skip
def test_which_trees_have_one_meaning(
    lines: tuple[tuple[Any, ...], ...], sound: bool, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(by_hand(*lines))
    assert count_passed(path, options_for()) == sound


SAYS = {"source": "x", "date": "2026-11"}


@pytest.mark.parametrize(
    ("clause", "lines"),
    [
        (ResultNotFirst(alone=True, **SAYS), (GO, TWO[0], ("d", "b", [ONE, END]))),
        (NameForm(of="call", unique=True, **SAYS), (GO, *TWO, ("d", "c", ONE), ("e", "d", OTHER))),
        (ThinkingForm(what="taken", **SAYS), (GO, ("b", "a", THOUGHT), ("c", "b", END))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_profile_of_the_user_minds_is_heard(
    clause: Any, lines: tuple[tuple[str, str | None, Any], ...], tmp_path: Path
) -> None:
    (known, *_) = Providers([BUILTIN]).versions("anthropic")
    mine = structs.replace(known, name="mine", version="", models="", hosts=(), clauses=(clause,))
    path = tmp_path / "log.jsonl"
    path.write_text(by_hand(*lines))
    options = structs.replace(options_for("mine"), profiles=(mine,))
    assert count_passed(path, options) == 0
    assert clause.code in told(path, options)[0][0]
    assert count_passed(path, options_for()) == 1


def test_only_what_is_not_sound_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many sessions in one log two have lost a result: those two are read, and placed where they stand."""
    lines = []
    for number in range(40):
        session = by_hand(GO, TWO[0], ("d", "b", ONE), ("e", "d", "thanks")).splitlines()
        if number in (7, 30):
            del session[2]
            session[2] = session[2].replace('"parentUuid": "d"', '"parentUuid": "b"')
        for letter in "abcde":
            session = [line.replace(f'"{letter}"', f'"{letter}{number}"') for line in session]
        lines += [line.replace('"sessionId": "s"', f'"sessionId": "s{number}"') for line in session]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(lines) + "\n")
    taken: list[int] = []
    records_at = scan.sessions.records_at  # type: ignore[attr-defined]
    monkeypatch.setattr(
        "turnlint.scan.sessions.records_at",
        lambda source, places: taken.extend(line for line, _, _ in places) or records_at(source, places),
    )
    assert count_passed(path, options_for()) == 38
    assert taken == [29, 30, 31, 120, 121, 122]
    events, _ = told(path, options_for())
    assert [event.count("PA201") for event in events[:-1]] == [1, 1]


def test_a_summary_is_settled_with_the_session_it_speaks_of_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many sessions none is sound: what all of them have to be settled with grows no faster than the log."""
    lines = []
    for number in range(40):
        session = by_hand((f"a{number}", None, "go"), (f"b{number}", f"a{number}", call("toolu_1aaaaaaaa")))
        lines += session.replace('"sessionId": "s"', f'"sessionId": "s{number}"').splitlines()
        lines.append(json.dumps({"type": "summary", "summary": "x", "leafUuid": f"a{number}"}))
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(lines) + "\n")
    sizes: list[int] = []
    in_order = scan.sessions._in_order  # type: ignore[attr-defined]
    monkeypatch.setattr(
        "turnlint.scan.sessions._in_order",
        lambda entries: (found := in_order(entries)) and (sizes.append(len(found)) or found),
    )
    assert count_passed(path, options_for()) == 0
    assert sizes == [2] * 40 + [3] * 40


@pytest.mark.parametrize("kind", ["claude-code", "openai-chat"])
def test_a_log_that_cannot_be_read_again_is_not_taken_for_a_sound_one(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was looked at is read a second time where it has to be. If that cannot be done the run says so."""
    path = tmp_path / "log.jsonl"
    asked = {"id": "call_aaaaaaaaaaaa", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    chat = [{"role": "user", "content": "go"}, {"role": "assistant", "content": None, "tool_calls": [asked]}]
    written = {
        "claude-code": by_hand(GO, TWO[0], ("c", "b", "go on")),
        "openai-chat": "".join(json.dumps(one) + "\n" for one in [*chat, chat[0]]),
    }
    path.write_text(written[kind])

    def gone(_: Source) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("turnlint.scan.talks.open_source", gone)
    options = Options(format=kind)
    with pytest.raises(SourceError, match="permission denied"):
        list(lint(Source(path.name, str(path)), options, Book(options)))


@pytest.mark.parametrize(
    ("was", "now"), [(b'"a"', b'"\xff"'), (b"}\n", b"]\n"), (b'"uuid": "b"', b'"uuid": "b')]
)
def test_a_log_that_changes_between_two_looks_is_told_of(
    was: bytes, now: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(by_hand(GO, TWO[0], ("c", "b", "go on")))
    data = path.read_bytes().replace(was, now)
    monkeypatch.setattr("turnlint.scan.talks.open_source", lambda _: BytesIO(data))
    options = options_for()
    with pytest.raises(SourceError, match="changed while it was read"):
        list(lint(Source(path.name, str(path)), options, Book(options)))


def test_a_mark_of_the_byte_order_moves_no_place(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("\ufeff" + by_hand(GO, ("b", "a", END), ("c", None, "again")), encoding="utf-8")
    (_, left, _), passed = told(path, options_for())
    assert "column=2" in left
    assert count_passed(path, options_for()) == passed == 0


KEPT = {"type": "file-history-snapshot", "messageId": "m-1", "snapshot": {}, "sessionId": "s-1"}


@pytest.mark.parametrize("fault", [False, True], ids=["not read", "read"])
def test_bookkeeping_records_are_counted(fault: bool, tmp_path: Path) -> None:
    path = ROOT / "fixtures/formats/claude-code/a-session-and-its-resumed-copy.jsonl"
    lines = [
        line for line in path.read_bytes().splitlines() if json.loads(line)["type"] in ("user", "assistant")
    ]
    kept = json.dumps(KEPT).encode()
    log = tmp_path / "log.jsonl"
    log.write_bytes(
        b"\n".join(line for one in (lines[:-1] if fault else lines) for line in (one, kept, kept)) + b"\n"
    )
    events = list(lint(Source("log.jsonl", str(log)), Options(), Book(Options())))
    tally = next(event for event in events if isinstance(event, Tally))
    assert tally.noted == {"bookkeeping": log.read_bytes().count(b'snapshot": {}')}
    assert noted("bookkeeping", 1200) == "1,200 bookkeeping records skipped"
    count_passed(log, Options())
