"""What a repair did, for people.

This module owns the words of that summary: a line or two for each file where there is something to say, and a last
one over all. It names rules, ids and files, never what was said. It refuses to know how anything was repaired.
"""

import os
from collections import Counter
from collections.abc import Iterator
from shlex import quote

from turnlint.repair.change import Change
from turnlint.report import Look
from turnlint.report.escape import clip, columns, line_start, visible
from turnlint.report.repaired import Done, completes, key_of, repaired_in

FAILURES = 5
"""So many conversations of a file are named that were left as they are."""
WORDS = {
    ("moved", "misplaced-result"): ("result moved to its call", "results moved to their calls"),
    ("moved", "result-before-call"): ("result moved behind its call", "results moved behind their calls"),
    ("moved", "unanswered-call"): ("result moved to its call", "results moved to their calls"),
    ("moved", "result-order"): ("turn's results put in order", "turns' results put in order"),
    ("moved", "duplicate-result"): (
        "result put in a placeholder's place",
        "results put in placeholders' places",
    ),
    ("removed", "orphan-result"): ("orphan removed", "orphans removed"),
    ("removed", "duplicate-result"): ("copy of a result removed", "copies of results removed"),
    ("removed", "conflicting-results"): ("conflicting result removed", "conflicting results removed"),
    ("removed", "replayed-call"): ("copy of a call removed", "copies of calls removed"),
}
"""What was done, one and many, where there are better words than those for any rule."""
COMPLETED = ("result added (not known)", "results added (not known)")
RENAMED = ("id renamed", "ids renamed")
SHOWN = ("moved", "added", "renamed", "rewritten", "removed")


def lines_of(done: Done, look: Look, *, dry: bool) -> Iterator[str]:
    """What is to be said of one file; nothing where all is well."""
    fixed = done.fixed
    if fixed is None or fixed.foreign or done.problem:
        return
    errors = sum(fixed.errors_left.values())
    if done.changed:
        counts = zip(repaired_in(fixed), ("conversation", "record"), strict=True)
        number = " and ".join(_many(count, name) for count, name in counts if count)
        said = f"would repair {number}: " if dry else f"{number} repaired: "
        to = [f"written to {visible(done.to)}"] if done.to and done.to != "-" else []
        yield from _wrapped(done.name, said, [*_what(fixed.changes), *to], look)
    elif errors or fixed.failures:
        yield from _wrapped(done.name, "", ["would stay as it is" if dry else "left as it was"], look)
    if fixed.left and (errors or done.changed):
        total = sum(fixed.left.values())
        verb = "would remain" if dry and done.changed else "remains" if total == 1 else "remain"
        parts = [
            _left(rule, count, fixed.errors_left.get(rule, 0)) for rule, count in sorted(fixed.left.items())
        ]
        yield from _wrapped(None, f"  {_many(total, 'finding')} {verb}: ", parts, look)
    for failure in fixed.failures[:FAILURES]:
        name = failure.conversation
        which = f', conversation "{clip(visible(name[:80]), 40)}"' if name is not None else ""
        reason = clip(visible(" ".join(failure.reason[:400].split())), max(40, look.width - 40))
        yield _painted("31", f"  line {failure.line:,}{which}: left as it is: {reason}", look)
    if len(fixed.failures) > FAILURES:
        yield _painted("31", f"  … {len(fixed.failures) - FAILURES:,} more were left as they are", look)


def _left(rule: str, count: int, errors: int) -> str:
    parts = [_many(errors, "error")] if errors else []
    parts += [_many(count - errors, "warning")] if count > errors else []
    return f"{visible(rule)} ({', '.join(parts)})"


def _what(changes: list[Change]) -> Iterator[str]:
    """What was done, by kind and rule."""
    counts: Counter[tuple[int, tuple[str, str]]] = Counter()
    ids = {(key_of(one), one.before_id, one.after_id) for one in changes if one.what == "renamed"}
    for one in changes:
        if one.what == "renamed":
            continue
        usual = f"place {one.what} ({one.rule})", f"places {one.what} ({one.rule})"
        if one.what != "rewritten":
            usual = f"piece {one.what} ({one.rule})", f"pieces {one.what} ({one.rule})"
        words = COMPLETED if completes(one) else WORDS.get((one.what, one.rule), usual)
        counts[SHOWN.index(one.what), words] += 1
    if ids:
        counts[SHOWN.index("renamed"), RENAMED] = len(ids)
    for (_, (single, several)), count in sorted(counts.items()):
        yield f"{count:,} {visible(single if count == 1 else several)}"


def last_lines(done: list[Done], look: Look, *, dry: bool) -> Iterator[str]:
    """What is to be said of all files together."""
    known = [one for one in done if one.fixed and not one.fixed.foreign and not one.problem]
    changed = sum(one.changed for one in known)
    left = [(_after(known, name), name) for name in ("error", "warning")]
    parts = [_sum(len(known), changed, dry=dry, well=not sum(count for count, _ in left))] if known else []
    skipped = sum(one.fixed is not None and one.fixed.foreign for one in done)
    failed = sum(one.problem is not None for one in done)
    lost = sum(len(one.fixed.failures) for one in known if one.fixed)
    parts += [f"{skipped:,} of no known format"] if skipped else []
    parts += [f"{failed:,} not read or not written, see above"] if failed else []
    parts += [f"{_many(lost, 'conversation')} could not be repaired for certain"] if lost else []
    if some := [_many(count, name) for count, name in left if count]:
        one = sum(count for count, _ in left) == 1
        verb = "would remain" if dry and changed else "remains" if one else "remain"
        parts.append(f"{' and '.join(some)} {verb}, `turnlint lint` shows where")
    if parts:
        yield from _wrapped(None, "", parts, look, mark="; ")
    yield from _across(known)
    yield from _held(known)
    yield from _undo(done)


def _sum(files: int, changed: int, *, dry: bool, well: bool) -> str:
    verb = "would be repaired" if dry else "repaired"
    stay = "would stay as" if dry else "left as"
    if not changed:
        return f"{_many(files, 'file')}: nothing {'to repair' if well else 'repaired'}"
    if files == 1:
        return f"1 file {verb}"
    rest = files - changed
    same = (
        f"{stay} {'it is' if rest == 1 else 'they are'}"
        if dry
        else f"left as {'it was' if rest == 1 else 'they were'}"
    )
    return f"{_many(files, 'file')}: {changed:,} {verb}" + (f", {rest:,} {same}" if rest else "")


def _after(known: list[Done], severity: str) -> int:
    return sum(one.fixed.after[severity] for one in known if one.fixed)


def _across(known: list[Done]) -> Iterator[str]:
    """Whose wire it is not."""
    met: Counter[str] = Counter()
    for one in known:
        met.update(one.fixed.across if one.fixed else {})
    for key in sorted(met):
        provider, _, wire = visible(key).partition(" on ")
        yield f"read as {wire}: {provider} is asked about ids, names and limits only"


def _held(known: list[Done]) -> Iterator[str]:
    """What the options of the run held back."""
    held: Counter[str] = Counter()
    for one in known:
        held.update(one.fixed.held if one.fixed else {})
    more = 0
    ways: list[str] = []
    for level in ("placeholder", "lossy"):
        if held[level]:
            more += held[level]
            ways.append(f"{more:,} {'' if ways else 'more could be repaired '}with --level {level}")
    if ways:
        yield ", ".join(ways)
    if alone := held["levels"]:
        yield f"{_many(alone, 'finding')} left alone, as `levels` says of {'its rule' if alone == 1 else 'their rules'}"
    if pending := held["close-pending"]:
        calls = "1 last call is" if pending == 1 else f"{pending:,} last calls are"
        yield f"{calls} not answered yet; --close-pending adds a result that says so"


def _undo(done: list[Done]) -> Iterator[str]:
    kept = [one for one in done if one.journal]
    if not kept:
        return
    path = _argument(kept[0].name) if len(kept) == 1 else "PATH..."
    places = {one.journal or "" for one in kept}
    where = places.pop() if len(places) == 1 else os.path.dirname(min(places))
    own = next(
        (f"--journal {_argument(one.journal)} " for one in kept if one.own_journal and one.journal), ""
    )
    noun = "journal" if len(kept) == 1 or own else "journals"
    yield f"to undo: turnlint undo {own}{path} ({noun}: {visible(where)})"


def _argument(path: str) -> str:
    return visible(quote(f"./{path}" if path.startswith("-") else path))


def _wrapped(name: str | None, start: str, parts: list[str], look: Look, mark: str = ", ") -> Iterator[str]:
    """A sentence of several parts, broken between them. No part begins with what a stranger wrote."""
    head = "" if name is None else f"{line_start(name)}: "
    line = f"{head}{start}{parts[0]}"
    painted = len(head)
    for part in parts[1:]:
        if columns(line) + len(mark) + columns(part) + 1 > look.width:
            yield _bold(f"{line}{mark.rstrip()}", painted, look)
            line, painted = f"    {part}", 0
        else:
            line += f"{mark}{part}"
    yield _bold(line, painted, look)


def _bold(line: str, size: int, look: Look) -> str:
    return f"\x1b[1m{line[:size]}\x1b[0m{line[size:]}" if look.color and size else line


def _painted(code: str, text: str, look: Look) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if look.color else text


def _many(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"
