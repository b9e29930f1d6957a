"""Check which result belongs to which call before and after a repair, by marks in arguments and results.

Each call has a number in its arguments, and each result has the number of the call that it was written for. A repair
must not assign a result to another call or lose a result silently. It must not need a second run, or give other ids
than `turnlint ids` shows. As a program:

    python tests/fuzz_pairs.py [--form NAME]... [--seed N] [--n N] [--show N]
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple
from unicodedata import normalize

from breaking import NAMES, PLACEHOLDER, Conversation, Maker, Piece, Turn
from breaking_judge import merged
from breaking_wires import WIRES, Value
from pairing_faults import broken
from pairing_sessions import SESSIONS, written
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, lint
from turnlint.keeping.patches import patched
from turnlint.ledger import read as paired
from turnlint.model import Level, Transcript
from turnlint.packages import packages
from turnlint.providers import Providers
from turnlint.reading import read
from turnlint.repair.choosing import LEVELS, Policy
from turnlint.repair.fixing import fix
from turnlint.repair.outcome import Fixed
from turnlint.repair.passes import fix as fix_in_passes
from turnlint.repair.tracing import projection_after
from turnlint.rows import Row

FORMS = (*WIRES, *SESSIONS)
CANONICAL = "canonical ids"
IDLESS = ("gemini", "ollama", "gemini-cli")
ANYWHERE = ("openai-responses", "codex")
ODD: tuple[Any, ...] = (None, 1, {})
MAX_SEEDS = 10
"""The number of seeds that the report lists for each fault of a form."""
MINTED, SHARE_OF_ODD = 0.1, 0.06
"""The numbers of conversations with a result under a generated id, and with odd entries."""
PROVIDERS = [name for name in Providers(packages()).names() if name != "shared"]


class Case(NamedTuple):
    """One conversation, and the options of its repair."""

    form: str
    conversation: Conversation
    done: list[str]
    level: Level
    provider: str
    """A name, `auto`, `none`, or `canonical ids`."""
    odd: str = ""
    """The seed of odd entries in lists, if there are any."""


class Term(NamedTuple):
    options: Options
    book: Book
    policy: Policy


@lru_cache(maxsize=512)
def terms(form: str, level: Level, provider: str) -> Term:
    names = () if provider in ("none", CANONICAL) else (provider,)
    options = Options(format=form, providers=names)
    named = frozenset(name for name in names if name != "auto")
    return Term(options, Book(options), Policy(level=level, canonical=provider == CANONICAL, named=named))


def make(form: str, seed: str) -> Case:
    rng = Random(seed)  # noqa: S311 - the same in every run
    wire = WIRES[SESSIONS[form].traits if form in SESSIONS else form]
    while True:
        conversation = Maker(rng, wire.traits(rng)).conversation()
        done = broken(conversation, rng)
        own = [wire.provider] * 3 if wire.provider != "none" else []
        provider = rng.choice([*own, "auto", "auto", "none", CANONICAL, *rng.sample(PROVIDERS, 4)])
        case = Case(form, conversation, done, rng.choice(LEVELS), provider)
        if rng.random() < MINTED:
            _add_minted(case, rng)
        if rng.random() < SHARE_OF_ODD:
            case = case._replace(odd=f"{seed} odd", done=[*done, "odd entries"])
        if any(turn.pieces for turn in case.conversation) and data_of(case):
            return case


def _add_minted(case: Case, rng: Random) -> None:
    """Add a result without a call, under an id that the projection would give to a call."""
    data = data_of(case) if case.conversation else b""
    shown = _ids(case, data, "placeholder") if data and case.provider not in ("auto", "none") else {}
    bearing = {piece.id for turn in case.conversation for piece in turn.pieces}
    made = sorted({item for some in shown.values() for item in some if item} - {*bearing})
    if made:
        stray = Piece("result", "result-of-904.", 904, rng.choice(made), rng.choice(NAMES))
        case.conversation.insert(rng.randrange(len(case.conversation) + 1), Turn("tool", [stray]))
        case.done.append("stray under a made id")


def _with_odd(value: Any, rng: Random) -> Any:
    """The value with odd entries in some of its lists of objects."""
    if isinstance(value, dict):
        return {key: _with_odd(one, rng) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    some = [_with_odd(item, rng) for item in value]
    if any(isinstance(item, dict) for item in some) and rng.random() < 0.15:
        some.insert(rng.randrange(len(some) + 1), rng.choice(ODD))
    return some


def _without_odd(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_odd(one) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    some = (_without_odd(item) for item in value if item not in ODD)
    # A repair may give an odd entry an id.
    return [item for item in some if not isinstance(item, dict) or item.keys() - {"id", "type"}]


def _spelled(form: str, conversation: Conversation) -> list[Value]:
    marked = {piece.mark: piece for turn in conversation for piece in turn.pieces if piece.words == "wide"}
    values = [item.value for item in WIRES[form].spell(_plain(conversation))]
    if form in ("openai-chat", "mistral", "cohere") and marked:
        for value in values:
            for call in (value.get("tool_calls") or ())[1:]:
                call["function"]["arguments"] = call["function"]["arguments"].replace(":", " :  ")
    return values


def _plain(conversation: Conversation) -> Conversation:
    """Treat partial results as results; only the canonical wire has a mark for them."""
    return [
        Turn(turn.role, [Piece("result", piece.words, piece.mark, piece.id, piece.name) if piece.kind == "partial" else piece
                         for piece in turn.pieces])
        for turn in conversation
    ]  # fmt: skip


def _partials(values: list[Value], conversation: Conversation) -> None:
    words = {item.words for turn in conversation for item in turn.all("partial")}
    for value in values:
        for block in value["blocks"]:
            output = (block.get("result") or {}).get("output") if block["type"] == "tool_response" else None
            if output is not None:
                block["isComplete"] = output not in words


def data_of(case: Case) -> bytes:
    records = _records(case)
    if case.odd:
        rng = Random(case.odd)  # noqa: S311 - the same in every run
        records = [_with_odd(record, rng) for record in records]
    return written(iter(records))


def _records(case: Case) -> list[Value]:
    if case.form in SESSIONS:
        return [*SESSIONS[case.form].spell(_plain(case.conversation))]
    values = _spelled(case.form, case.conversation)
    if case.form == "canonical" and any(turn.all("partial") for turn in case.conversation):
        _partials(values, case.conversation)
    wire = WIRES[case.form]
    return [{**wire.body, wire.key: values}] if values else []


def turns_of(form: str, data: bytes) -> Conversation:
    records = [_without_odd(json.loads(line)) for line in data.splitlines() if line.strip()]
    if form in SESSIONS:
        found = [SESSIONS[form].read(record) for record in records]
        return [item for item in found if item is not None]
    wire = WIRES[form]
    return [wire.read(item) for item in records[0][wire.key]]


# Reading a conversation.

Pair = tuple[int, str]


def _is_real(piece: Piece) -> bool:
    return piece.mark >= 0 and piece.words.startswith("result-of-")


def pairs(form: str, turns: Conversation, *, joined: bool = True) -> Iterator[tuple[Piece, Piece]]:
    """Calls with the results that a strict reader assigns to them."""
    waiting: list[Piece] = []
    for turn in merged(turns) if joined else turns:
        calls = turn.all("call")
        if calls and form not in ANYWHERE:
            waiting = []
        for piece in turn.pieces:
            if piece.kind == "call":
                waiting.append(piece)
            elif piece.kind == "result":
                if piece.id or form not in IDLESS:
                    fits = [item for item in waiting if piece.id and item.id == piece.id]
                else:
                    fits = [item for item in waiting if item.name == piece.name]
                if fits:
                    waiting.remove(fits[0])
                    yield fits[0], piece


def _determined_pairs(form: str, turns: Conversation) -> set[Pair]:
    """Pairs that the log determines: by the reading of the wire, an id of one call, or as the last pair."""
    real = [Turn(turn.role, [piece for piece in turn.pieces if piece.words != PLACEHOLDER]) for turn in turns]
    formed = [
        Turn(turn.role, [replace(piece, id=_form(piece.id) or piece.id) for piece in turn.pieces])
        for turn in turns
    ]
    # A call in a turn of results repeats another one, or has no valid position.
    quiet = [
        Turn(turn.role, [piece for piece in turn.pieces if turn.role == "model" or piece.kind != "call"])
        for turn in turns
    ]
    views = (turns, real, formed, _fresh(formed), quiet)
    readings = [pairs(how, some) for how in (form, "openai-chat") for some in views]
    readings += [pairs(how, some, joined=False) for how in (form, "openai-chat") for some in views]
    found = {(call.mark, result.words) for reading in readings for call, result in reading}
    every = [piece for turn in turns for piece in turn.pieces]
    calls, results = ([item for item in every if item.kind == kind] for kind in ("call", "result"))
    for result in results:
        bearers = {
            call.mark: call.name for call in calls if _form(call.id) and _form(call.id) == _form(result.id)
        }
        own = [mark for mark, name in bearers.items() if name == result.name or not result.name]
        found |= {
            (mark, result.words) for mark in (own if len(own) == 1 else bearers if len(bearers) == 1 else ())
        }
    for some in (turns, real, quiet):
        for joined in (True, False):
            found |= {*_by_position(some, joined=joined), *_by_name(some, joined=joined)}
    found |= _last_of_name(turns, idless=form in IDLESS)
    # A repair removes the partial copy of a result: the whole text is the same result.
    partial = {result.words: result.id for result in results if result.mark < 0}
    return found | {
        (call, result.words)
        for call, words in found
        if words in partial
        for result in results
        if result.id == partial[words] and result.words in (f"{words}.", words)
    }


def _last_of_name(turns: Conversation, *, idless: bool) -> set[Pair]:
    """The last call and result of one id and name, when all others are in the window of their call.

    On a wire that needs no ids the name is enough.
    """
    calls: dict[tuple[str, str | None], list[Piece]] = defaultdict(list)
    results: dict[tuple[str, str | None], list[Piece]] = defaultdict(list)
    waiting: list[Piece] = []
    for turn in turns:
        waiting = turn.all("call") or waiting
        for item in turn.all("call"):
            calls[_form(item.id), item.name].append(item)
        for entry in turn.all("result"):
            key = _form(entry.id), entry.name
            own = [call for call in waiting if (_form(call.id), call.name) == key and call in calls[key]]
            if own:
                calls[key].remove(own[0])
            else:
                results[key].append(entry)
    return {
        (some[0].mark, results[key][0].words)
        for key, some in calls.items()
        if (key[0] or idless) and key[1] and len(some) == len(results[key]) == 1
    }


def _fresh(turns: Conversation) -> Conversation:
    """The conversation without results that repeat an earlier one of their id, with the same or a longer text."""
    seen_words: dict[str | None, list[str]] = defaultdict(list)
    fresh = []
    for turn in turns:
        pieces = []
        for piece in turn.pieces:
            if piece.kind == "result" and any(
                _is_start(piece.words, words) for words in seen_words[piece.id]
            ):
                continue
            if piece.kind == "result":
                seen_words[piece.id].append(piece.words)
            pieces.append(piece)
        fresh.append(Turn(turn.role, pieces))
    return fresh


def _is_start(one: str, other: str) -> bool:
    """Whether one text is the start of the other."""
    return one.startswith(other) or other.startswith(one)


def _by_name(turns: Conversation, *, joined: bool) -> Iterator[Pair]:
    """Windows with as many results as calls of one id and name, with copies counted or not."""
    open_calls: list[Piece] = []
    window: list[Piece] = []
    for turn in [*(merged(turns) if joined else turns), Turn("model", [Piece("call")])]:
        if turn.all("call"):
            for key in {(call.id, call.name) for call in open_calls if call.id}:
                calls, results = (
                    [item for item in some if (item.id, item.name) == key] for some in (open_calls, window)
                )
                for some in (results, [*{result.words: result for result in results}.values()]):
                    if len(calls) == len(some):
                        yield from (
                            (call.mark, result.words) for call, result in zip(calls, some, strict=True)
                        )
            open_calls, window = turn.all("call"), []
        window += turn.all("result")


def _form(identifier: str | None) -> str:
    found = normalize("NFC", (identifier or "").strip())
    return "" if found in ("null", "REDACTED") else found


def _by_position(turns: Conversation, *, joined: bool) -> Iterator[Pair]:
    """A window with as many results as calls, of all or of one name, some of them without an id."""
    all_ids = {_form(item.id) for turn in turns for item in turn.all("call")}
    all_answers = {_form(item.id) for turn in turns for item in turn.all("result")} - {""}
    open_calls: list[Piece] = []
    window: list[Piece] = []
    for turn in [*(merged(turns) if joined else turns), Turn("model", [Piece("call")])]:
        if turn.all("call"):
            left = [call for call in open_calls if _form(call.id) not in all_answers]
            loose = [item for item in window if _form(item.id) not in all_ids - {""}]
            for open_ones, results in ((open_calls, window), (left, loose)):
                yield from _left_over(open_ones, results)
                for name in {item.name for item in open_ones}:
                    some = [result for result in results if result.name == name]
                    yield from _left_over([item for item in open_ones if item.name == name], some)
            open_calls, window = [], []
        for piece in turn.pieces:
            if piece.kind == "call":
                open_calls.append(piece)
            elif piece.kind == "result" and _form(piece.id) not in all_ids - {
                _form(call.id) for call in open_calls
            } - {""}:
                window.append(piece)


def _left_over(open_calls: list[Piece], window: list[Piece]) -> Iterator[Pair]:
    answered, called = ({_form(item.id) for item in some} - {""} for some in (window, open_calls))
    left = [item for item in window if _form(item.id) not in called]
    once = [*{(_form(item.id), item.words): item for item in left}.values()]
    for calls in (open_calls, [*{(call.id, call.mark): call for call in open_calls}.values()]):
        own = [call for call in calls if _form(call.id) not in answered]
        for results in (left, once):
            if len(own) == len(results) and not all(map(_form, [item.id for item in (*own, *results)])):
                yield from ((call.mark, result.words) for call, result in zip(own, results, strict=True))


# Checks.


def _fixed(data: bytes, term: Term) -> tuple[bytes, Fixed]:
    source = Source("transcript", None, data=data)
    done = fix(source, term.options, term.book, term.policy)
    return b"".join(patched(source, done.patches)) if done.patches else data, done


def judged(case: Case) -> Iterator[str]:
    """Faults in the repair of one conversation."""
    term = terms(case.form, case.level, case.provider)
    before = data_of(case)
    after, done = _fixed(before, term)
    if done.failures:
        yield f"refused: {done.failures[0].reason}"
        return
    was, now = turns_of(case.form, before), turns_of(case.form, after)
    yield from _mispaired(case, was, now)
    yield from _lost(was, now, done)
    again, second = _fixed(after, term)
    if again != after or second.failures:
        yield "a second repair changes more"
    yield from _untrue(after, term, done)
    if after != before or case.provider not in ("auto", "none"):
        yield from _other_ids(case, before, after, done)


def _mispaired(case: Case, was: Conversation, now: Conversation) -> Iterator[str]:
    meant = _determined_pairs(case.form, was)
    # Ollama's templates render each message on its own.
    for call, result in pairs(case.form, now, joined=case.form != "ollama"):
        if _is_real(result) and call.mark != result.mark and (call.mark, result.words) not in meant:
            yield "a result under another call"
            return


def _lost(was: Conversation, now: Conversation, done: Fixed) -> Iterator[str]:
    def pieces_of_calls_and_results(turns: Conversation) -> Counter[tuple[str, int, str]]:
        every = (piece for turn in turns for piece in turn.pieces if piece.kind in ("call", "result", "text"))
        return Counter(
            (item.kind, item.mark, item.words) for item in every if item.words or item.kind != "text"
        )

    gone = sum((pieces_of_calls_and_results(was) - pieces_of_calls_and_results(now)).values())
    if gone > sum(change.what == "removed" for change in done.changes):
        yield "lost without a word"


def _untrue(after: bytes, term: Term, done: Fixed) -> Iterator[str]:
    found: Counter[str] = Counter()
    for event in lint(Source("transcript", None, data=after), term.options, term.book):
        if isinstance(event, Row):
            found[event.finding.severity] += 1
    if found["error"] and not done.after["error"]:
        yield "exit code not true"
    elif any(found[item] != done.after[item] for item in ("error", "warning")):
        yield "count not true"


def _ids(case: Case, data: bytes, level: Level) -> dict[int, set[str | None]]:
    """The ids that `turnlint ids` shows, by the mark of the call."""
    term = terms(case.form, level, case.provider)
    source = Source("transcript", None, data=data)
    traced = fix_in_passes(source, term.options, term.book, term.policy, traced=True).ids or {}
    found: dict[int, set[str | None]] = defaultdict(set)
    for item in read(source, case.form, prefer=term.book.wires):
        if not isinstance(item, Transcript):
            continue
        book = paired(item.messages, item.wire)
        shown = projection_after(item, book, case.provider, traced.get(item.index))
        calls = [interaction.asked.call for interaction in book.interactions]
        for entry in shown.entries:
            if entry.piece == "call" and not calls[entry.number].server:
                mark = _mark(calls[entry.number].body)
                if mark >= 0:
                    found[mark].add(entry.new)
    return found


def _mark(body: bytes) -> int:
    """The number of a call; a former odd entry has none."""
    try:
        value = json.loads(body)
        return int((json.loads(value) if isinstance(value, str) else value)["k"])
    except (ValueError, TypeError, KeyError):
        return -1


def _other_ids(case: Case, before: bytes, after: bytes, done: Fixed) -> Iterator[str]:
    if case.provider in ("auto", "none") or (after == before and done.needs) or done.notes:
        return  # a note names the repair, and so the ids, that the run leaves out
    there = _ids(case, after, case.level)
    # A call beside results is no call of the conversation, or has a wrong role.
    elsewhere = {
        call.mark for turn in turns_of(case.form, after) if turn.role != "model" for call in turn.all("call")
    }
    now: dict[int, set[str | None]] = defaultdict(set)
    for turn in turns_of(case.form, after):
        for call in turn.all("call"):
            if call.mark not in elsewhere:
                now[call.mark].add(call.id)
    if any(there[mark] != now[mark] for mark in now if mark in there):
        yield "ids of the repaired file would change"
    # The default level of `ids` is `placeholder` at any level of the repair.
    for level, others in ((case.level, ""), ("placeholder", " at the default level")):
        shown = _ids(case, before, level)
        are_other = any(
            len(shown[mark]) == len(now[mark]) and shown[mark] != now[mark] for mark in now if mark in shown
        )
        # A note at this level names the repair, and so the ids, that a run at this level leaves out.
        if are_other and not _fixed(before, terms(case.form, level, case.provider))[1].notes:
            yield f"ids differ from those of `turnlint ids`{others}"
            break


# Run.


class Report(NamedTuple):
    fault: str
    form: str
    seed: str


def run(form: str, seed: int, count: int) -> Iterator[Report]:
    for number in range(count):
        name = f"{seed} {form} {number}"
        case = make(form, name)
        try:
            found = list(judged(case))
        except Exception as error:  # noqa: BLE001 - a crash is a finding too
            found = [f"crash: {type(error).__name__}: {error}"[:90]]
        yield from (Report(item, form, name) for item in found)


def smaller(case: Case, fault: str) -> Case:
    """The smallest conversation that still has the fault."""

    def has(one: Case) -> bool:
        try:
            return bool(data_of(one)) and fault in list(judged(one))
        except Exception:  # noqa: BLE001 - another fault
            return False

    again = True
    while again:
        again = False
        for at in reversed(range(len(case.conversation))):
            for number in (None, *reversed(range(len(case.conversation[at].pieces)))):
                turn = case.conversation[at]
                left = [] if number is None else [*turn.pieces[:number], *turn.pieces[number + 1 :]]
                rest = [Turn(turn.role, left)] if left else []
                less = case._replace(
                    conversation=[*case.conversation[:at], *rest, *case.conversation[at + 1 :]]
                )
                if has(less):
                    case, again = less, True
                    break
            if again:
                break
    return case


def shown(report: Report) -> str:
    case = smaller(make(report.form, report.seed), report.fault)
    term = terms(case.form, case.level, case.provider)
    before = data_of(case)
    after, _ = _fixed(before, term)
    how = f"    {case.form} --level {case.level} --provider {case.provider} {case.done}"
    return f"{how}\n    before:\n{before.decode()}    after:\n{after.decode()}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Break conversations, repair them and compare calls and results."
    )
    parser.add_argument("--form", action="append", choices=FORMS, help="only this one; may be given again")
    parser.add_argument("--seed", type=int, default=20261119)
    parser.add_argument("--n", type=int, default=100, help="conversations for each form")
    parser.add_argument("--show", type=int, default=0, help="how many cases of each fault are shown")
    parser.add_argument("--fault", default="", help="show only faults that start so")
    arguments = parser.parse_args()
    faults: Counter[str] = Counter()
    for form in arguments.form or FORMS:
        report = list(run(form, arguments.seed, arguments.n))
        own = Counter(item.fault for item in report)
        faults += own
        sys.stdout.write(
            f"{form:17} n {arguments.n}  {'; '.join(f'{k} {v}' for k, v in own.most_common()) or 'nothing wrong'}\n"
        )
        met: Counter[str] = Counter()
        for entry in report:
            met[entry.fault] += 1
            if met[entry.fault] <= MAX_SEEDS:
                sys.stdout.write(f"    {entry.fault}: {entry.seed!r}\n")
            if met[entry.fault] <= arguments.show and entry.fault.startswith(arguments.fault):
                sys.stdout.write(f"{shown(entry)}\n")
        sys.stdout.flush()
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
