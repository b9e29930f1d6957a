"""Write the report of a repair for programs: `turnlint/repair-v1`.

`turnlint schema repair` prints the JSON Schema. The report names conversations, calls and results, and
represents content by digests. The same repair gives the same report on every day.
"""

from collections.abc import Iterable, Iterator
from json import dumps
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from turnlint import __version__
from turnlint.diagnosis import DEDUPE
from turnlint.events import Told
from turnlint.model import SEVERITIES
from turnlint.repair.change import Change
from turnlint.repair.outcome import Blocked, Failure, Fixed, Removal
from turnlint.report.diagnostics import format_of, ids_of
from turnlint.report.escape import in_json
from turnlint.report.machine import LONGEST_NAME
from turnlint.text import truncate

if TYPE_CHECKING:
    from turnlint.canonical_form.conversion import Conversion

SCHEMA = "turnlint/repair-v1"
KINDS = ("moved", "added", "removed", "renamed", "rewritten")


class Done(Struct):
    """One source and the result of its repair."""

    name: str
    fixed: Fixed | None = None
    """Result of the repair; nothing where the source could not be read."""
    changed: bool = False
    """Whether its bytes change."""
    wrote: bool = False
    to: str | None = None
    """Path of the output, if it is not the source."""
    form: "Conversion | None" = None
    """The conversion, if the conversations were written in another form."""
    journal: str | None = None
    own_journal: bool = False
    """Whether the user named the journal."""
    problem: str | None = None
    """Reason why it was not read or not written."""
    crashed: bool = False


Key = tuple[str, Any, Any]


def key_of(one: Change | Told) -> Key:
    """Return the key that identifies a conversation in its file."""
    index = one.index if isinstance(one, Told) else one.conversation_index
    return ("line", one.line, None) if index is None else ("index", index, one.conversation)


def repaired_in(fixed: Fixed) -> tuple[int, int]:
    """Return the number of changed conversations, and of changed records without a conversation."""
    told = {key_of(one) for one in fixed.told}
    found = {key_of(one): one.line for one in fixed.changes}
    whole = {key: line for key, line in found.items() if key[0] == "index" or key in told}
    return len(whole), len({line for key, line in found.items() if key not in whole} - {*whole.values()})


def removed_in(done: Iterable[Done]) -> Removal:
    """Return the removals of level lossy in all sources."""
    removal = Removal()
    for one in done:
        if one.fixed and one.changed:
            removal.join(one.fixed.removed)
    return removal


def document(
    done: list[Done], *, complete: bool, dry: bool, acceptance: Iterable[dict[str, Any]] = ()
) -> Iterator[str]:
    """Yield the report in pieces."""
    head = {
        "schema": SCHEMA,
        "complete": complete,
        "version": __version__,
        "dry_run": dry,
        "summary": _summary(done),
        "acceptance": [*acceptance],
    }
    yield _text(head)[:-1]
    yield from _listed("files", map(_file, done))
    yield f', "ids": {_text(_ids(pair for one in done for pair in _renamed(one)))}'
    yield from _listed("changes", (_change(one.name, change) for one in done for change in _changes(one)))
    yield from _listed("conversations", (told for one in done for told in _conversations(one)))
    yield "}\n"


def _text(value: Any) -> str:
    return in_json(dumps(value))


def _listed(key: str, values: Iterable[Any]) -> Iterator[str]:
    """Yield an array with each element on its own line."""
    yield f',\n"{key}": ['
    first = True
    for value in values:
        yield ("\n  " if first else ",\n  ") + _text(value)
        first = False
    yield "]" if first else "\n]"


def _changes(done: Done) -> Iterable[Change]:
    return done.fixed.changes if done.fixed and done.changed else ()


def _summary(done: list[Done]) -> dict[str, Any]:
    known = [one.fixed for one in done if one.fixed and not one.fixed.foreign]
    held: dict[str, int] = {}
    would = Removal()
    for fixed in known:
        would.join(fixed.would)
        for name, count in fixed.held.items():
            held[name] = held.get(name, 0) + count
    return {
        "files": len(known),
        "changed": sum(one.changed for one in done),
        "skipped": sum(one.fixed is not None and one.fixed.foreign for one in done),
        "failed": sum(one.problem is not None for one in done),
        "conversations": sum(fixed.conversations for fixed in known),
        "repaired": sum(repaired_in(one.fixed)[0] for one in done if one.fixed and one.changed),
        "not_verified": sum(len(fixed.failures) for fixed in known),
        "blocked": sum(len(fixed.blocked) for fixed in known),
        "changes": _kinds(change for one in done for change in _changes(one)),
        "findings": {
            "before": _added(fixed.before for fixed in known),
            "after": _added(fixed.after for fixed in known),
        },
        "held_back": dict(sorted(held.items())),
        "removed": _removal(removed_in(done)),
        "would_remove": _removal(would),
    }


def _removal(removal: Removal) -> dict[str, Any]:
    return {
        "pieces": dict(sorted(removal.pieces.items())),
        "bytes": removal.size,
        "rewritten": removal.rewritten,
    }


def _kinds(changes: Iterable[Change]) -> dict[str, int]:
    counts = dict.fromkeys(KINDS, 0)
    for change in changes:
        counts[change.what] += 1
    return counts


def _added(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    every = list(counts)
    return {severity: sum(one[severity] for one in every) for severity in SEVERITIES}


def _file(done: Done) -> dict[str, Any]:
    fixed = done.fixed
    return {
        "path": done.name,
        "changed": done.changed,
        "written": done.wrote,
        "output": done.to,
        "journal": done.journal,
        "problem": done.problem,
        "known_format": fixed is not None and not fixed.foreign,
        "conversations": fixed.conversations if fixed else 0,
        "repaired": repaired_in(fixed)[0] if fixed and done.changed else 0,
        "changes": _kinds(_changes(done)),
        "findings": {"before": fixed.before, "after": fixed.after} if fixed else None,
        "remaining": dict(sorted(fixed.left.items())) if fixed else {},
        "held_back": dict(sorted(fixed.held.items())) if fixed else {},
        "not_verified": [_failure(failure) for failure in fixed.failures] if fixed else [],
        "blocked": [_blocked(one) for one in fixed.blocked] if fixed else [],
        "notes": [_failure(note) for note in (*fixed.notes, *fixed.unmade)] if fixed else [],
        "ids": _ids(_renamed(done)),
        "form": _form(done.form, done.to) if done.form else None,
    }


def _form(form: "Conversion", path: str | None) -> dict[str, Any]:
    """Return what a conversion wrote, and the repairs of the form, whose lines are those of the written file."""
    return {
        "conversations": form.conversations,
        "calls": form.calls,
        "results": form.results,
        "changes": [_change(path or "", change) for change in form.changes],
    }


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        "line": failure.line,
        "conversation": truncate(failure.conversation, LONGEST_NAME),
        "reason": truncate(failure.reason, LONGEST_NAME),
    }


def _blocked(one: Blocked) -> dict[str, Any]:
    return {
        "line": one.line,
        "rule": one.rule,
        "conversation": truncate(one.conversation, LONGEST_NAME),
        "reason": truncate(one.reason, LONGEST_NAME),
    }


def _renamed(done: Done) -> Iterator[tuple[str, str]]:
    """Yield each replaced id with its new id: first those of the repair, then those of a conversion."""
    for change in _changes(done):
        if change.before_id is not None and change.after_id is not None:
            yield change.before_id, change.after_id
    yield from done.form.renamed if done.form else ()


def _ids(renamed: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return each replaced id with its new ids: several where several calls had the same id."""
    found: dict[str, dict[str, None]] = {}
    for before, after in renamed:
        old, new = truncate(before, LONGEST_NAME), truncate(after, LONGEST_NAME)
        found.setdefault(old or "", {})[new or ""] = None
    return {old: list(new) for old, new in found.items()}


def _change(path: str, change: Change) -> dict[str, Any]:
    named = change.conversation is not None or change.conversation_index is not None
    return {
        "path": path,
        "rule": change.rule,
        "code": change.code,
        "fault": change.fault,
        "level": change.level,
        "what": change.what,
        "message": truncate(change.message, LONGEST_NAME),
        "finding": truncate(change.finding, LONGEST_NAME),
        "line": change.line,
        "pointer": change.pointer,
        "conversation": {
            "id": truncate(change.conversation, LONGEST_NAME),
            "index": change.conversation_index,
        }
        if named
        else None,
        "message_index": change.message_index,
        "call_id": truncate(change.call_id, LONGEST_NAME),
        "tool": truncate(change.tool, LONGEST_NAME),
        "provider": change.provider,
        "before_id": truncate(change.before_id, LONGEST_NAME),
        "after_id": truncate(change.after_id, LONGEST_NAME),
        "source": {"path": change.source_path, "line": change.source_line} if change.source_path else None,
        "piece": change.piece or None,
        "bytes": change.size,
        "digests": {"before": change.before, "after": change.after},
    }


def _conversations(done: Done) -> Iterator[dict[str, Any]]:
    if done.fixed is None or not (done.changed or done.fixed.whole):
        return
    ours: dict[Key, list[Change]] = {}
    for change in _decided(done):
        if change.rule in DEDUPE or completes(change):  # other changes are not listed here
            ours.setdefault(key_of(change), []).append(change)
    for told in _told(done, done.fixed):
        changes = ours.get(key_of(told), [])
        yield {
            "path": done.name,
            "line": told.line,
            "id": truncate(told.conversation, LONGEST_NAME),
            "index": told.index,
            **ids_of(told),
            "dedupe_decisions": [_decision(change) for change in changes if change.rule in DEDUPE],
            "synthetic_completions": [_completion(change) for change in changes if completes(change)],
            "provider_format": format_of(told),
        }


def _decided(done: Done) -> Iterator[Change]:
    """Yield the changes of a repair, and of the repair of a form under the index of the source conversation."""
    yield from _changes(done)
    if done.form is not None and done.form.changes:
        told = [*done.form.told]
        for change in done.form.changes:
            if change.conversation_index is not None:
                source = told[change.conversation_index]
                yield structs.replace(
                    change, conversation=source.conversation, conversation_index=source.index
                )


def _told(done: Done, fixed: Fixed) -> Iterator[Told]:
    """Yield the conversations of a source: the repaired ones, or where requested all in their order."""
    if done.form is not None:
        yield from _converted(
            done.form, None if fixed.whole is not None else {one.index for one in fixed.told}
        )
        return
    if fixed.whole is None:
        yield from fixed.told
        return
    changed = {one.index: one for one in fixed.told} if done.changed else {}
    for one in fixed.whole:
        yield changed.pop(one.index, one)
    yield from changed.values()


def _converted(form: "Conversion", repaired: set[int] | None) -> Iterator[Told]:
    """Yield the ids of conversations as the written file has them: of all, or of those with a repair."""
    again = {one.index: one for one in form.again}
    for place, told in enumerate(form.told):
        last = again.get(place, told)
        if repaired is None or place in again or told.index in repaired:
            yield structs.replace(told, calls=last.calls, results=last.results)


def completes(change: Change) -> bool:
    """Whether a change added a result for a call: all other additions concern a message, or a call from a source."""
    return (
        change.what == "added"
        and not change.source_path
        and (change.call_id is not None or change.tool is not None)
    )


def _decision(change: Change) -> dict[str, Any]:
    return {
        "rule": change.rule,
        "call_id": truncate(change.call_id, LONGEST_NAME),
        "tool": truncate(change.tool, LONGEST_NAME),
        "what": change.what,
        "decision": truncate(change.message, LONGEST_NAME),
        "reason": truncate(change.finding, LONGEST_NAME),
        "line": change.line,
        "pointer": change.pointer,
        "before_id": truncate(change.before_id, LONGEST_NAME),
        "after_id": truncate(change.after_id, LONGEST_NAME),
        "digest": change.before,
    }


def _completion(change: Change) -> dict[str, Any]:
    return {
        "call_id": truncate(change.call_id, LONGEST_NAME),
        "tool": truncate(change.tool, LONGEST_NAME),
        "rule": change.rule,
        "reason": truncate(change.finding, LONGEST_NAME),
        "line": change.line,
        "pointer": change.pointer,
    }
