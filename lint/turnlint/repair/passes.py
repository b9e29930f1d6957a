"""Repair a source in passes until a further pass changes nothing, and count what remains.

One pass judges each conversation as the file was before. A repair can change how its neighbours are parsed, so the
result is linted as a whole: the counts of a run are those that `lint` gives for the written bytes.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain

from msgspec import Struct, field, structs

from turnlint import carriers
from turnlint.counting import UNREAD
from turnlint.documents.source import Progress, Source
from turnlint.engine import Book, Event, Options, Skipped, Tally, lint
from turnlint.errors import SourceError
from turnlint.events import Told
from turnlint.keeping.composing import composed
from turnlint.keeping.patches import patched
from turnlint.model import SEVERITIES, Finding, Transcript
from turnlint.reading import Foreign, batches
from turnlint.repair.choosing import Policy, as_read, is_left_open, wanted
from turnlint.repair.fixing import fix_once
from turnlint.repair.outcome import Blocked, Failure, Fixed, provider_of
from turnlint.repair.selecting import find_in_result
from turnlint.repair.spool import Spool
from turnlint.repair.tracing import followed
from turnlint.repair.verifying import BRINGS_NEW
from turnlint.rows import Row
from turnlint.steps import Close, Join, Recall, Restore, Translate

MAX_PASSES = 6
MAX_BYTES_IN_MEMORY = 1 << 25
"""A larger result is kept in a temporary file while it is linted."""

Linter = Callable[[Source], Iterable[Event]]
"""Lints a source as `turnlint lint` does with the options of the run."""


def fix(
    source: Source, options: Options, book: Book, policy: Policy, progress: Progress | None = None,
    linter: Linter | None = None, *, traced: bool = False, tells_all: bool = False,
) -> Fixed:  # fmt: skip
    """Repair a source in as many passes as it needs.

    If `traced`, the result has the ids after the repair. With `tells_all` it has the ids of all conversations.
    """
    given_options, given_book = options, book
    ask = linter or (lambda result: lint(result, given_options, given_book))
    accepting = None
    if policy.canonical and options.providers:
        # Rules of providers would give other ids. Their rules for ids only decide which conversations get canonical
        # ids.
        accepting, options = book, structs.replace(options, providers=())
        book = Book(options).with_history(book.history)
    once = partial(fix_once, options=options, book=book, policy=policy, accepting=accepting, traced=traced)
    fixed = once(source, progress=progress, tells_all=tells_all)
    if fixed.problem or not (accepting or fixed.patches or any(fixed.before.values())):
        return fixed
    if accepting:
        fixed.before = _left(source, Fixed(source), ask, policy).severities
    left = _repeat(source, fixed, once, ask, policy)
    is_told = bool(given_options.format) or fixed.foreign
    # A further reading of selected lines finds only unread conversations that could be read before.
    unread = 0 if fixed.selection else fixed.unread
    if not is_told and (left.skipped or left.unread > unread or _is_unknown(source, fixed, given_book)):
        # Some repairs removed the only features of a format. The others can be made.
        once, before = partial(once, keeps_formats=True), fixed.before
        fixed = once(source, tells_all=tells_all)
        fixed.before = before
        left = _repeat(source, fixed, once, ask, policy)
        left.skipped = left.skipped or _is_unknown(source, fixed, given_book)
    if fixed.patches and (reason := _regression(source, fixed, left, ask, book, policy)):
        bare = Fixed(source, selection=fixed.selection)
        left = _left(source, bare, ask, policy)
        fixed.patches, fixed.changes, fixed.told, fixed.mended, fixed.ids = [], Spool(), Spool(), 0, None
        fixed.failures.append(Failure(1, None, reason))
    if not left.skipped:
        fixed.after, fixed.left, fixed.errors_left = left.severities, left.rules, left.errors
        fixed.refused, fixed.blocked = left.refused, left.blocked
        fixed.unmade = [*_unmade(left, [*fixed.failures, *fixed.notes])]
    fixed.removed.add(fixed.changes)
    return fixed


def _repeat(source: Source, fixed: Fixed, once: Callable[..., Fixed], ask: Linter, policy: Policy) -> "_Left":
    """Add passes to the first one until nothing is left to repair, and return the findings in the result."""
    left = _left(source, fixed, ask, policy)
    joined = fixed.joined
    for _ in range(MAX_PASSES + fixed.joined):
        # A pass that joins lines leaves everything else in them to the next pass.
        if not fixed.patches or not (left.is_open or joined):
            break
        with _result(source, fixed) as result:
            # The pass before joined lines, so that only this one reads all conversations.
            tells_all = joined and fixed.whole is not None
            more = once(result, spared=frozenset(fixed.spared), tells_all=tells_all)
        if more.whole is not None:
            fixed.whole = more.whole
        if not more.patches:
            break
        _join(fixed, more)
        joined = more.joined
        left = _left(source, fixed, ask, policy)
    return left


def _is_unknown(source: Source, fixed: Fixed, book: Book) -> bool:
    """Whether the result has messages, and its first records show no format.

    A pass reads such a result in the format before the repair.
    """
    if not fixed.patches:
        return False
    with _result(source, fixed) as result:
        found = batches(structs.replace(result, fallback=None), None, prefer=book.wires)
        if not any(isinstance(one, Foreign) for one in next(iter(found), ())):
            return False
        items = chain.from_iterable(batches(result, None, prefer=book.wires))
        return any(isinstance(one, Transcript) and one.messages for one in items)


def _unmade(left: "_Left", known: list[Failure]) -> Iterator[Failure]:
    """Yield a note for each finding whose repair changed nothing, unless another note explains it."""
    explained = {(one.line, one.conversation) for one in known}
    named = {conversation for _, conversation in explained if conversation is not None}
    for (line, conversation, code), reason in left.unmade.items():
        if conversation not in named and (line, conversation) not in explained:
            yield Failure(line, conversation, f"no repair of {code}: {reason}")


_REASONS: dict[type, str] = {
    Translate: "the message has a part, a key or arguments that the format of the conversation does not have",
    Join: "only two lists of parts can be joined, and --level lossy is needed where the second message has other keys",
    Recall: "the conversation with its call would be rejected, or its format has no place for the call",
    Restore: "the conversation with its result would be rejected, or its format has no place for the result",
    Close: "the messages around the call are not in one list, so there is no place for a result",
}
_OTHERWISE = "the value is not in a list or an object in which the repair could change it"


def _reason(finding: Finding) -> str:
    """Return the usual reason why the steps of a repair change nothing."""
    steps = finding.fix.steps if finding.fix else ()
    return next((_REASONS[type(step)] for step in steps if type(step) in _REASONS), _OTHERWISE)


def _regression(
    source: Source, fixed: Fixed, left: "_Left", ask: Linter, book: Book, policy: Policy
) -> str | None:
    """Return why the repairs of a file may not be written together, if there is a reason.

    Where lines do not depend on one another, only changed lines can have more errors than before.
    """
    if left.skipped and not fixed.foreign:
        return "the format of the file would be unknown afterwards"
    revealing = {entry.rule.code for entry in book.rules() if entry.check_record}
    if not left.changed_errors or any(one.code in revealing for one in fixed.changes):
        return None  # a damaged record shows its findings once it can be parsed
    before = _left(source, Fixed(source, selection=fixed.selection), ask, policy)
    if sum(left.errors.values()) <= sum(before.errors.values()):
        return None
    known = {*before.rules}
    if "pending-call" in known:
        known.add("unanswered-call")  # a repair that splits the last turn puts a message after the call
    new = sorted(left.errors.keys() - known)
    return f"{BRINGS_NEW}: {', '.join(new)}" if new else None


class _Left(Struct):
    """The findings of `lint` in the result of a repair."""

    severities: dict[str, int]
    rules: dict[str, int] = {}
    errors: dict[str, int] = {}
    refused: dict[str, dict[str, int]] = {}
    blocked: list[Blocked] = field(default_factory=list)
    changed_errors: int = 0
    """Errors in lines that the repair changed."""
    is_open: bool = False
    """Whether a finding remains in a changed line that the policy allows to repair."""
    unmade: dict[tuple[int, str | None, str], str] = {}
    """The reasons of findings that remain although `fix` repairs such findings, by line, conversation and code."""
    skipped: bool = False
    """Whether the format of the result is unknown."""
    unread: int = 0
    """The number of conversations in formats that are not supported."""

    def add(self, row: Row, policy: Policy, *, is_changed: bool) -> None:
        finding = row.finding
        self.severities[finding.severity] += 1
        if is_changed:
            self.changed_errors += finding.severity == "error"
            self.is_open = self.is_open or wanted(as_read(finding), policy)
        if (
            finding.fix
            and wanted(finding, policy)
            and not all(is_left_open(one, policy) for one in finding.fix.steps)
        ):
            self.unmade[row.place.line, finding.conversation, finding.code] = _reason(finding)
        if finding.fix is not None and finding.fix.blocked:
            self.blocked.append(
                Blocked(row.place.line, finding.rule, finding.conversation, finding.fix.title)
            )
        if finding.severity == "info":
            return
        self.rules[finding.rule] = self.rules.get(finding.rule, 0) + 1
        if finding.severity == "error":
            self.errors[finding.rule] = self.errors.get(finding.rule, 0) + 1
            codes = self.refused.setdefault(provider_of(finding), {})
            name = f"{finding.code} {finding.rule}"
            codes[name] = codes.get(name, 0) + 1


def _left(source: Source, fixed: Fixed, ask: Linter, policy: Policy) -> _Left:
    left = _left_in_lines(source, fixed, ask, policy)
    if (left.unread or left.skipped) and fixed.selection:
        # The spellings of all lines show the format of a conversation. Those of the file before its repair are others.
        fixed.selection = None
        left = _left_in_lines(source, fixed, ask, policy)
    return left


def _left_in_lines(source: Source, fixed: Fixed, ask: Linter, policy: Policy) -> _Left:
    left = _Left(dict.fromkeys(SEVERITIES, 0))
    with _result(source, fixed) as result:
        selected = result.selection
        # A further pass repairs an unchanged line differently only if it spares more findings.
        lines = {one.number for one in selected.lines if one.edits} if selected and not fixed.spared else None
        try:
            for event in ask(result):
                if isinstance(event, Row):
                    left.add(
                        event,
                        policy,
                        is_changed=lines is None or event.count > 1 or event.place.line in lines,
                    )
                elif isinstance(event, Tally):
                    left.unread = sum(n for what, n in event.noted.items() if what.startswith(UNREAD))
                left.skipped |= isinstance(event, Skipped)
        except SourceError:
            left.skipped = True
    return left


@contextmanager
def _result(source: Source, fixed: Fixed) -> Iterator[Source]:
    """Yield the repaired bytes as a source of the same name."""
    selection = find_in_result(fixed.selection, fixed.patches)
    if not fixed.patches:
        yield structs.replace(source, selection=selection)
        return
    carrier = carriers.of_wire(first.wire) if (first := next(iter(fixed.told), None)) else None
    format_name = carrier.name if carrier else None
    if selection is not None:
        edits = [(one.start, one.end, one.data) for one in fixed.patches]
        yield structs.replace(source, edits=edits, selection=selection, fallback=format_name)
        return
    with spooled(source, patched(source, fixed.patches)) as result:
        yield structs.replace(result, fallback=format_name)


@contextmanager
def spooled(source: Source, stream: Iterable[bytes]) -> Iterator[Source]:
    """Yield other bytes as a source of the same name, in memory or in a temporary file."""
    pieces: list[bytes] = []
    size = 0
    more = iter(stream)
    for piece in more:
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BYTES_IN_MEMORY:
            break
    else:
        yield structs.replace(source, data=b"".join(pieces))
        return
    from tempfile import TemporaryDirectory  # few runs need it

    with TemporaryDirectory(prefix="turnlint-") as folder:
        path = f"{folder}/result"
        with open(path, "wb") as file:
            file.writelines(pieces)
            pieces.clear()
            file.writelines(more)
        yield structs.replace(source, path=path, data=None)


def _join(fixed: Fixed, more: Fixed) -> None:
    """Add a further pass to the repair."""
    fixed.patches = composed(fixed.patches, more.patches)
    fixed.changes.extend(more.changes)
    fixed.told = Spool(_joined_told(fixed.told, more.told))
    fixed.failures = more.failures
    fixed.notes = more.notes
    if fixed.ids is not None and more.ids is not None:
        fixed.ids = followed(fixed.ids, more.ids)
    fixed.without_canonical = more.without_canonical
    fixed.spared |= more.spared
    fixed.mended = max(fixed.mended, more.mended)
    fixed.bound = fixed.bound or more.bound
    fixed.held, fixed.needs, fixed.would = more.held, more.needs, more.would


def _joined_told(first: Iterable[Told], second: Iterable[Told]) -> Iterator[Told]:
    """Yield the report entries of two passes: for each conversation that of the last pass that repaired it."""
    later = {(one.index, one.conversation): one for one in second}
    for one in first:
        yield later.pop((one.index, one.conversation), one)
    yield from later.values()
