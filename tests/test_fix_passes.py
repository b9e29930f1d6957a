"""Passes of a repair: findings under an ignore, refusals of the check of a file, and rules that a repair leaves out."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import structs

from turnlint.documents.source import Source
from turnlint.engine import Book, Options, Skipped, lint
from turnlint.ignores import Ignore
from turnlint.keeping.patches import patched
from turnlint.repair import fixing, passes
from turnlint.repair.choosing import Policy
from turnlint.repair.mending import Mended
from turnlint.repair.outcome import Fixed
from turnlint.repair.passes import fix
from turnlint.repair.verifying import BRINGS_NEW
from turnlint.rows import Row


def _source(data: bytes) -> Source:
    return Source("a.jsonl", None, data=data)


def _options(form: str, provider: str, *ignores: Ignore) -> Options:
    return Options(format=form, providers=(provider,), without=ignores)


def _fixed(data: bytes, options: Options) -> tuple[bytes, Fixed]:
    policy = Policy(level="placeholder", named=frozenset(options.providers))
    done = fix(_source(data), options, Book(options), policy)
    return b"".join(patched(_source(data), done.patches)) if done.patches else data, done


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
USER = {"role": "user", "content": "go"}
EMPTY = {"role": "assistant", "content": ""}


def _log(*messages: Any) -> bytes:
    return json.dumps({"model": "gpt-5.1", "messages": messages}).encode() + b"\n"


@pytest.mark.parametrize("ignores", [(), (Ignore("none", rules=("ST117",)),)])
def test_an_ignore_that_matches_nothing_changes_no_repair(
    ignores: tuple[Ignore, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first pass leaves an open call, which the second closes."""
    once, ran = passes.fix_once, list[Fixed]()

    def half(source: Source, options: Options, book: Book, policy: Policy, *more: Any, **named: Any) -> Fixed:
        some = policy if ran else structs.replace(policy, levels=(("PA201", "never"),))
        ran.append(once(source, options, book, some, *more, **named))
        return ran[-1]

    monkeypatch.setattr(passes, "fix_once", half)
    _, done = _fixed(_log(USER, EMPTY, USER, CALLING, USER), _options("openai-chat", "openai", *ignores))
    assert {change.code for change in done.changes} == {"ST110", "PA201"}
    assert done.errors_left == {}


def test_a_further_pass_leaves_an_ignored_finding_that_moved() -> None:
    """The pointer of an ignore names the place before the first pass."""
    ignore = Ignore("known", rules=("PA201",), pointers=("/messages/1/**",))
    options = _options("openai-chat", "openai", ignore)
    book, policy = Book(options), Policy(level="placeholder")
    first = passes.fix_once(_source(_log(USER, CALLING, USER)), options, book, policy)
    assert not first.patches
    moved = _source(_log(USER, USER, CALLING, USER))
    assert passes.fix_once(moved, options, book, policy).patches
    assert not passes.fix_once(moved, options, book, policy, spared=frozenset(first.spared)).patches


def test_a_record_joined_in_a_later_pass_gets_canonical_ids() -> None:
    """The first pass splits two records of a line; only then is the end of the second one on the next line found."""
    done = _log(USER, CALLING, {"role": "tool", "tool_call_id": "c1", "content": "a b"})
    data = done.rstrip() + done.replace(b"a b", b"a\nb") + done
    options, policy = Options(format="openai-chat", providers=()), Policy(level="lossless", canonical=True)

    def repaired(source: Source) -> bytes:
        return b"".join(patched(source, fix(source, options, Book(options), policy).patches))

    once = repaired(_source(data))
    assert once.count(b"\n") == 3
    assert b'"c1"' not in once
    assert not fix(_source(once), options, Book(options), policy).patches


def _row(data: bytes, **change: Any) -> Row:
    """A finding of the linter under another name."""
    options = _options("openai-chat", "openai")
    row = next(event for event in lint(_source(data), options, Book(options)) if isinstance(event, Row))
    return structs.replace(row, finding=structs.replace(row.finding, **change))


@pytest.mark.parametrize(
    ("rule", "count", "is_refused"), [("new", 2, True), ("new", 1, False), ("unanswered-call", 9, False)]
)
def test_a_file_is_written_only_if_no_new_error_is_in_it(rule: str, count: int, is_refused: bool) -> None:
    """More errors of a rule that found errors before are no reason to refuse, and neither is one in place of one."""
    data = _log(USER, CALLING, USER)
    options = _options("openai-chat", "openai")
    before, after = _row(data), _row(data, rule=rule)

    def linter(source: Source) -> Iterator[Row]:
        return iter([before] if not source.edits else [after] * count)

    done = fix(_source(data), options, Book(options), Policy(level="placeholder"), linter=linter)
    assert [failure.reason for failure in done.failures] == ["it would cause new findings: new"] * is_refused
    assert bool(done.patches) is not is_refused


def test_a_file_of_an_unknown_format_is_not_written() -> None:
    data = _log(USER, CALLING, USER)
    options = _options("openai-chat", "openai")

    def linter(source: Source) -> Iterator[Row | Skipped]:
        is_repaired = source.edits or source.data != data
        return iter([Skipped(source)] if is_repaired else [_row(data)])

    done = fix(_source(data), options, Book(options), Policy(level="placeholder"), linter=linter)
    assert [failure.reason for failure in done.failures] == [
        "the format of the file would be unknown afterwards"
    ]
    assert not done.patches


@pytest.mark.parametrize("most", [0, 6])
def test_a_repair_that_fails_is_tried_without_one_rule(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault_of(repair_done: Mended, _: Any) -> str | None:
        bad = any(change.code == "PA201" for change in repair_done.changes)
        return f"{BRINGS_NEW}: PA999" if bad else None

    monkeypatch.setattr(fixing, "fault_of", fault_of)
    monkeypatch.setattr(fixing, "MAX_TRIALS", most)
    after, done = _fixed(_log(USER, EMPTY, USER, CALLING, USER), _options("openai-chat", "openai"))
    assert {change.code for change in done.changes} == ({"ST110"} if most else set())
    assert (b'"content": ""' in after) is not bool(most)
    start = "no repair of PA201" if most else "unchanged"
    assert [note.reason for note in done.notes] == [f"{start}: it would cause new findings: PA999"]
    assert not done.failures


def test_a_repair_that_fails_for_two_rules_is_made_without_both(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault_of(repair_done: Mended, _: Any) -> str | None:
        bad = {"ST110", "PA203"} & {change.code for change in repair_done.changes}
        return f"{BRINGS_NEW}: PA999" if bad else None

    monkeypatch.setattr(fixing, "fault_of", fault_of)
    moved = {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": "c2"}]}
    late = {"role": "tool", "tool_call_id": "c2", "content": "late"}
    log = _log(USER, EMPTY, USER, CALLING, USER, moved, USER, late)
    after, done = _fixed(log, _options("openai-chat", "openai"))
    assert {change.code for change in done.changes} == {"PA201"}
    assert after.count(b"No result of this call") == 1
    assert not done.failures
    assert [note.reason for note in done.notes] == [
        "no repair of ST110, PA203: it would cause new findings: PA999"
    ]
