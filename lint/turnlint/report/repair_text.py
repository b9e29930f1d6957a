"""Write the summary of a repair for people.

Each file has up to two lines, and a last line sums up the run. The summary names rules, ids and files, and
never shows content of messages.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from shlex import quote

from turnlint.model import SEVERITIES
from turnlint.neighbours import reason_of
from turnlint.repair.accepting import ID_RULES
from turnlint.repair.change import Change
from turnlint.repair.outcome import Failure, Fixed, Removal
from turnlint.report import Look
from turnlint.report.accepted import Terms, acceptances
from turnlint.report.escape import clip, columns, fold, line_start, visible
from turnlint.report.repaired import Done, completes, key_of, removed_in, repaired_in
from turnlint.report.words import noted, skipped
from turnlint.text import pluralize

LEAST_WIDTH = 20
"""Least width at which lines are broken."""
FAILURES = 5
"""Limit of the unchanged conversations of a file that are named."""
MAX_REASON_CHARACTERS = 200
WORDS = {
    ("moved", "misplaced-result"): ("moved 1 result to its call", "moved {n} results to their calls"),
    ("moved", "result-before-call"): (
        "moved 1 result after its call",
        "moved {n} results after their calls",
    ),
    ("moved", "unanswered-call"): ("moved 1 result to its call", "moved {n} results to their calls"),
    ("moved", "result-order"): (
        "sorted the results of 1 turn",
        "sorted the results of {n} turns",
    ),
    ("moved", "duplicate-result"): (
        "replaced 1 placeholder with the real result",
        "replaced {n} placeholders with real results",
    ),
    ("added", "orphan-result"): (
        "added 1 call that the history omitted",
        "added {n} calls that the history omitted",
    ),
    ("added", "unanswered-call"): (
        "added 1 result that the history omitted",
        "added {n} results that the history omitted",
    ),
    ("removed", "orphan-result"): ("removed 1 result without a call", "removed {n} results without calls"),
    ("moved", "role-order"): ("moved 1 message to its place", "moved {n} messages to their places"),
    ("removed", "duplicate-result"): ("removed 1 copy of a result", "removed {n} copies of results"),
    ("removed", "conflicting-results"): ("removed 1 conflicting result", "removed {n} conflicting results"),
    ("removed", "replayed-call"): ("removed 1 copy of a call", "removed {n} copies of calls"),
}
"""Descriptions of a change, singular and plural, where they differ from the general ones."""
COMPLETED = ("added 1 placeholder result", "added {n} placeholder results")
PARTED = ("inserted 1 line break between records", "inserted {n} line breaks between records")
RENAMED = ("renamed 1 id", "renamed {n} ids")
USUAL = {"moved": ("moved", "block"), "added": ("added", "message"), "rewritten": ("rewrote", "value")}
SHOWN = ("moved", "added", "renamed", "rewritten", "removed")


def lines_of(done: Done, look: Look, *, dry: bool) -> Iterator[str]:
    """Yield the lines about one file; nothing if it has no problem."""
    fixed = done.fixed
    if fixed is None or fixed.foreign or done.problem:
        return
    errors = sum(fixed.errors_left.values())
    if done.form:
        yield from _written_form(done, look)
    elif done.changed:
        counts = zip(repaired_in(fixed), ("conversation", "record"), strict=True)
        number = " and ".join(pluralize(count, name) for count, name in counts if count)
        said = f"would repair {number}: " if dry else f"{number} repaired: "
        to = [f"written to {visible(done.to)}"] if done.to and done.to != "-" else []
        yield from _wrapped(done.name, said, [*_what(fixed.changes), *to], look)
    elif errors or fixed.failures or fixed.without_canonical:
        yield from _wrapped(done.name, "", ["would stay unchanged" if dry else "unchanged"], look)
    if fixed.left and (errors or done.changed):
        total = sum(fixed.left.values())
        verb = "would remain" if dry and done.changed else "remains" if total == 1 else "remain"
        parts = [
            _left(rule, count, fixed.errors_left.get(rule, 0)) for rule, count in sorted(fixed.left.items())
        ]
        yield from _wrapped(None, f"  {pluralize(total, 'finding')} {verb}: ", parts, look)
    if fixed.blocked:
        count = len(fixed.blocked)
        verb = "is" if count == 1 else "are"
        said = f"{pluralize(count, 'repair')} {verb} not made: an unreadable record may hold what is missing"
        yield from _folded(f"  {said}", look)
    for failure in fixed.failures[:FAILURES]:
        yield from _painted("31", _kept(failure, "unchanged: "), look)
    if len(fixed.failures) > FAILURES:
        yield from _painted("31", f"  … {len(fixed.failures) - FAILURES:,} more are unchanged", look)
    notes = [*fixed.notes, *fixed.unmade]
    for note in notes[:FAILURES]:
        yield from _painted("33", _kept(note, ""), look)
    if len(notes) > FAILURES:
        yield from _painted("33", f"  … {len(notes) - FAILURES:,} more keep a finding", look)


def _written_form(done: Done, look: Look) -> Iterator[str]:
    """Yield the lines about a file that was written in another form."""
    assert done.form is not None
    assert done.fixed is not None
    to = f" to {visible(done.to)}" if done.to and done.to != "-" else ""
    count = pluralize(done.form.conversations, "conversation")
    yield from _wrapped(done.name, "", [f"{count} written in the canonical form{to}"], look)
    if done.fixed.unread:
        more = pluralize(done.fixed.unread, "conversation")
        yield from _painted(
            "33", f"  {more} in other formats not written; `turnlint lint` shows the formats", look
        )
    changes = [*_what([*done.fixed.changes, *done.form.changes])]
    if changes:
        yield from _wrapped(None, "  repaired: ", changes, look)


def _kept(one: Failure, said: str) -> str:
    """Return a line about a conversation that a repair leaves unchanged."""
    which = (
        f', conversation "{clip(visible(one.conversation[:80]), 40)}"' if one.conversation is not None else ""
    )
    reason = clip(visible(" ".join(one.reason[:400].split())), MAX_REASON_CHARACTERS)
    return f"  line {one.line:,}{which}: {said}{reason}"


def _left(rule: str, count: int, errors: int) -> str:
    parts = [pluralize(errors, "error")] if errors else []
    parts += [pluralize(count - errors, "warning")] if count > errors else []
    return f"{visible(rule)} ({', '.join(parts)})"


def _what(changes: Iterable[Change]) -> Iterator[str]:
    """Yield descriptions of the changes, by kind and rule."""
    counts: Counter[tuple[int, tuple[str, str]]] = Counter()
    lines = records = 0
    ids = {(key_of(one), one.before_id, one.after_id) for one in changes if one.what == "renamed"}
    for one in changes:
        if one.what == "renamed":
            continue
        if one.lines > 1:
            lines, records = lines + one.lines, records + 1
            continue
        verb, noun = USUAL.get(one.what, ("removed", one.piece or "piece"))
        usual = f"{verb} 1 {noun} ({one.rule})", f"{verb} {{n}} {noun}s ({one.rule})"
        # A call inside a removed result goes with it: the words of the rule are for the result.
        inside = one.piece == "call" and one.size is None
        usual = PARTED if one.lines == 1 else usual
        words = COMPLETED if completes(one) else WORDS.get((one.what, one.rule), usual)
        words = usual if inside else words
        counts[SHOWN.index(one.what), words] += 1
    if ids:
        counts[SHOWN.index("renamed"), RENAMED] = len(ids)
    if records:
        yield f"joined {lines:,} lines to {pluralize(records, 'record')}"
    for (_, (single, several)), count in sorted(counts.items()):
        yield visible(single if count == 1 else several.replace("{n}", f"{count:,}", 1))


def last_lines(done: list[Done], look: Look, terms: Terms) -> Iterator[str]:
    """Yield the lines about all files together."""
    dry = terms.dry
    known = [one for one in done if one.fixed and not one.fixed.foreign and not one.problem]
    changed = sum(one.changed for one in known)
    left = [(_after(known, name), name) for name in ("error", "warning")]
    plain = _without_canonical(known)
    well = not plain and not sum(count for count, _ in left)
    form = any(one.form for one in done)
    parts = [_sum(len(known), changed, dry=dry, well=well, form=form)] if known else []
    foreign = Counter(
        reason_of(one.fixed.near) for one in done if one.fixed is not None and one.fixed.foreign
    )
    failed = sum(one.problem is not None for one in done)
    lost = sum(len(one.fixed.failures) for one in known if one.fixed)
    named = all(one.fixed.source.named for one in done if one.fixed is not None and one.fixed.foreign)
    parts += [skipped(foreign)] if foreign and (known or failed or not named) else []
    if failed:
        unread = f"{failed:,}" if known else pluralize(failed, "file")
        parts.append(f"{unread} not read or not written (see above)")
    parts += [f"{pluralize(lost, 'conversation')} could not be repaired safely"] if lost else []
    if some := [pluralize(count, name) for count, name in left if count]:
        one = sum(count for count, _ in left) == 1
        verb = "would remain" if dry and changed else "remains" if one else "remain"
        parts.append(f"{' and '.join(some)} {verb}, `turnlint lint` shows where")
    if parts:
        yield from _wrapped(None, "", parts, look, mark="; ")
    for line in (*_across(known), *_noted(known)):
        yield from _folded(line, look)
    yield from _removed(known, look)
    yield from _held(known, terms, look)
    yield from _accepted(done, terms, look)
    for provider, count in sorted(plain.items()):
        which = "1 conversation gets" if count == 1 else f"{count:,} conversations get"
        why = f"{visible(provider)} would refuse them; `--canonical --provider none` writes them anyway"
        yield from _folded(f"{which} no canonical ids: {why}", look)
    if terms.canonical and any(_rejects_ids(one.fixed) for one in known if one.fixed):
        advice = "the provider of a record rejects canonical ids; use `turnlint fix --provider NAME` for accepted ids"
        yield from _folded(advice, look)
    yield from _undo(done, look)


def _without_canonical(known: list[Done]) -> Counter[str]:
    """Return the number of conversations without canonical ids, by the provider that rejects them."""
    found: Counter[str] = Counter()
    for one in known:
        found.update(one.fixed.without_canonical if one.fixed else {})
    return found


def _rejects_ids(fixed: Fixed) -> bool:
    """Whether canonical ids are rejected: written ones, or those of a repair that was not made."""
    reasons = [one.reason for one in fixed.failures]
    return any(rule in fixed.errors_left or any(rule in said for said in reasons) for rule in ID_RULES)


def _sum(files: int, changed: int, *, dry: bool, well: bool, form: bool) -> str:
    verb = "written" if form else "would be repaired" if dry else "repaired"
    if not changed:
        return f"{pluralize(files, 'file')}: nothing {'to repair' if well else 'repaired'}"
    if files == 1:
        return f"1 file {verb}"
    rest = files - changed
    same = "would stay unchanged" if dry else "unchanged"
    return f"{pluralize(files, 'file')}: {changed:,} {verb}" + (f", {rest:,} {same}" if rest else "")


def _after(known: list[Done], severity: str) -> int:
    return sum(one.fixed.after[severity] for one in known if one.fixed)


def _across(known: list[Done]) -> Iterator[str]:
    """Yield lines about conversations in the format of another provider."""
    met: Counter[str] = Counter()
    for one in known:
        met.update(one.fixed.across if one.fixed else {})
    for key in sorted(met):
        provider, _, wire = visible(key).partition(" on ")
        yield f"for logs in format {wire}, only the rules of {provider} for ids, names and limits apply"


def _noted(known: list[Done]) -> Iterator[str]:
    """Yield lines about items that are not checked."""
    met: Counter[str] = Counter()
    for one in known:
        met.update(one.fixed.noted if one.fixed else {})
    for what, count in sorted(met.items()):
        yield noted(what, count)


def _removed(known: list[Done], look: Look) -> Iterator[str]:
    """Yield a line about the removals of level lossy, with their size."""
    removal = removed_in(known)
    changed = [one for one in known if one.changed]
    if not removal.pieces or not any(one.wrote for one in changed):
        return
    kept = all(one.journal for one in changed if one.wrote)
    journal = "the journal keeps what was removed" if kept else "no journal keeps what was removed"
    yield from _wrapped(None, "--level lossy removed ", [_pieces(removal), journal], look, mark="; ")


def _pieces(removal: Removal) -> str:
    """Describe removed pieces and their size."""
    counts = [pluralize(count, noun) for noun, count in sorted(removal.pieces.items())]
    listed = " and ".join([", ".join(counts[:-1]), counts[-1]]) if len(counts) > 1 else counts[0]
    return f"{listed}, {_size(removal.size)}"


def _size(count: int) -> str:
    """Return a number of bytes in the largest suitable unit."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return pluralize(count, "byte")


def _held(known: list[Done], terms: Terms, look: Look) -> Iterator[str]:
    """Yield lines about repairs that the options of the run do not allow."""
    held: Counter[str] = Counter()
    needs: dict[str, Counter[str]] = {}
    would = Removal()
    for one in known:
        if one.fixed is None:
            continue
        held.update(one.fixed.held)
        would.join(one.fixed.would)
        for level, counts in one.fixed.needs.items():
            needs.setdefault(level, Counter()).update(counts)
    if found := needs.get("placeholder"):
        line = f"{_needing(found)} --level placeholder: it would add placeholders and remove nothing"
        yield from _folded(line, look)
    if found := needs.get("lossy"):
        would_do = []
        if would.pieces:
            would_do.append(f"remove {_pieces(would)}")
        if would.rewritten:
            would_do.append(f"replace {pluralize(would.rewritten, 'value')}")
        parts = [f"it would {' and '.join(would_do)}"] if would_do else []
        if parts and terms.keeps:
            single = sum(would.pieces.values()) + would.rewritten == 1
            parts.append(f"{'it' if single else 'they'} would stay in the journal")
        start = f"{_needing(found)} --level lossy" + (": " if parts else "")
        yield from _wrapped(None, start, parts or [""], look, mark="; ")
    if alone := held["levels"]:
        rules = "its rule" if alone == 1 else "their rules"
        yield from _folded(f"{pluralize(alone, 'finding')} left alone, as `levels` says of {rules}", look)
    if pending := held["close-pending"]:
        calls = "1 last call has" if pending == 1 else f"{pending:,} last calls have"
        options = "--level placeholder --close-pending" if terms.lossless else "--close-pending"
        result = "a placeholder result" if pending == 1 else "placeholder results"
        yield from _folded(f"{calls} no result yet; `turnlint fix {options}` adds {result}", look)


def _needing(counts: Counter[str]) -> str:
    """Describe the findings that need a higher level, with the verb."""
    listed = " and ".join(pluralize(counts[name], name) for name in SEVERITIES if counts[name])
    return f"{listed} need{'s' if sum(counts.values()) == 1 else ''}"


def _accepted(done: list[Done], terms: Terms, look: Look) -> Iterator[str]:
    """Yield whether each named provider accepts the result."""
    for one in acceptances(done, terms):
        start = f"{'would be accepted' if terms.dry else 'accepted'} by {visible(one.provider)}: "
        if one.accepted:
            yield from _folded(f"{start}yes", look)
        elif one.accepted is None:
            yield from _folded(f"{start}unknown; {one.reason}", look)
        else:
            total = sum(one.missing.values())
            codes = [f"{visible(name)} ({count:,})" for name, count in sorted(one.missing.items())]
            head = f"{start}no, {pluralize(total, 'error')} remain{'s' if total == 1 else ''}: "
            yield from _wrapped(None, head, codes, look)


def _undo(done: list[Done], look: Look) -> Iterator[str]:
    """Yield the command that restores the files, on one line for copying, and the path of the journal."""
    kept = [one for one in done if one.journal]
    if not kept:
        return
    is_last = len(kept) > 1 and not any(one.own_journal for one in kept)
    path = _argument(kept[0].name) if len(kept) == 1 else "--last" if is_last else "PATH..."
    places = {one.journal or "" for one in kept}
    where = places.pop() if len(places) == 1 else os.path.dirname(min(places))
    own = next(
        (f"--journal {_argument(one.journal)} " for one in kept if one.own_journal and one.journal), ""
    )
    noun = "journal" if len(kept) == 1 or own else "journals"
    command, journal = f"to undo: turnlint undo {own}{path}", f"({noun}: {visible(where)})"
    if not look.folds or columns(f"{command} {journal}") <= look.width:
        yield f"{command} {journal}"
    else:
        yield command
        yield from _folded(f"    {journal}", look)


def _argument(path: str) -> str:
    return visible(quote(f"./{path}" if path.startswith("-") else path))


def _wrapped(name: str | None, start: str, parts: list[str], look: Look, mark: str = ", ") -> Iterator[str]:
    """Yield a sentence of several parts, broken between them. No part begins with text of a conversation."""
    head = "" if name is None else f"{line_start(name)}: "
    line = f"{head}{start}{parts[0]}"
    painted = len(head)
    for part in parts[1:]:
        if columns(line) + len(mark) + columns(part) + 1 > look.width:
            yield from _bold(f"{line}{mark.rstrip()}", painted, look)
            line, painted = f"    {part}", 0
        else:
            line += f"{mark}{part}"
    yield from _bold(line, painted, look)


def _bold(line: str, size: int, look: Look) -> Iterator[str]:
    """Yield a line whose start is bold."""
    for piece in _folded(line, look):
        end = min(size, len(piece))
        yield f"\x1b[1m{piece[:end]}\x1b[0m{piece[end:]}" if look.color and end else piece
        size -= end


def _painted(code: str, text: str, look: Look) -> Iterator[str]:
    for line in _folded(text, look):
        yield f"\x1b[{code}m{line}\x1b[0m" if look.color else line


def _folded(line: str, look: Look) -> list[str]:
    """Return the line, broken at the width of the terminal if there is one."""
    return fold(line, max(LEAST_WIDTH, look.width), "    ") if look.folds else [line]
