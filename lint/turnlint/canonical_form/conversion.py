"""Convert a repaired source to the canonical form, and repair what only shows in that form."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

from msgspec import Struct, field, structs

from turnlint.canonical_form.form import FORMAT, Form
from turnlint.canonical_form.writing import Refusal, write_forms
from turnlint.documents.source import Source
from turnlint.engine import Book, Options
from turnlint.events import Told
from turnlint.keeping.patches import patched
from turnlint.model import Transcript
from turnlint.repair.change import Change
from turnlint.repair.choosing import Policy
from turnlint.repair.outcome import Failure, Fixed
from turnlint.repair.passes import fix, spooled
from turnlint.repair.spool import Spool

OWN_REPAIRS = ("missing-call-id", "unreadable-arguments", "truncated-call")
"""Rules whose faults the form itself repairs. An id of the wire in between would be the raw id of the form, and another
one on each wire (source 000, line 86); text in an object of the wire would be no raw input (source 003, section 1)."""


class Conversion(Struct):
    """The result of a conversion."""

    conversations: int = 0
    calls: int = 0
    results: int = 0
    changes: Spool[Change] = field(default_factory=Spool)
    """The repairs of the form itself. Their lines are those of the written file."""
    told: Spool[Told] = field(default_factory=Spool)
    """The ids of each conversation, in the order of the written file, before the repairs of the form."""
    again: Spool[Told] = field(default_factory=Spool)
    """The ids of the conversations that these repairs changed. Their indexes are those of the written file."""
    renamed: Spool[tuple[str, str]] = field(default_factory=Spool)
    """The ids of the source that the form replaces, each with its new id."""
    failures: list[Failure] = []
    """The conversations that are not written, with the lines of the repaired source."""


def repair_options(options: Options) -> Options:
    """Return the options of the repair before a conversion: no provider reads the form, so that none has rules."""
    return structs.replace(options, providers=(), ignore=(*options.ignore, *OWN_REPAIRS))


def repair_policy(policy: Policy) -> Policy:
    """Return the policy of the repair before a conversion: the form names calls, and has the ids of the source."""
    return structs.replace(policy, keeps_ids=True)


@contextmanager
def converted(
    source: Source, fixed: Fixed, options: Options, policy: Policy
) -> Iterator[tuple[Iterable[bytes], Conversion]]:
    """Yield the canonical form of a repaired source in pieces, and a description that is complete after the last piece.

    The form is repaired as any canonical transcript, and then written again, so that its metadata fit. The counts of
    findings that remain become those of the form.
    """
    conversion = Conversion()
    own = structs.replace(repair_options(options), format=FORMAT)
    native = spooled(source, patched(source, fixed.patches)) if fixed.patches else nullcontext(source)
    with native as repaired:
        first = _lines(repaired, options.format, options.origin, conversion)
        with spooled(source, first) as form:
            again = fix(form, own, Book(own), policy)
            conversion.changes, conversion.again = again.changes, again.told
            conversion.failures += again.failures
            fixed.after, fixed.left, fixed.errors_left = again.after, again.left, again.errors_left
            fixed.refused, fixed.blocked, fixed.unmade = again.refused, again.blocked, again.unmade
            if not again.patches:
                yield patched(form, ()), conversion
                return
            with spooled(form, patched(form, again.patches)) as complete:
                yield _lines(complete, FORMAT, None, Conversion()), conversion


def _lines(
    source: Source, format_name: str | None, origin: str | None, conversion: Conversion
) -> Iterator[bytes]:
    """Yield a line for each conversation, and count them."""
    for one in write_forms(source, format_name, partial(_with_origin, origin)):
        if isinstance(one, Form):
            conversion.conversations += 1
            conversion.calls += one.calls
            conversion.results += one.results
            conversion.told.append(one.told)
            conversion.renamed.extend(one.renamed)
            yield one.data + b"\n"
        else:
            conversion.failures.append(_failure(one))


def _failure(one: Refusal) -> Failure:
    return Failure(one.line, one.conversation, f"it has no canonical form: {one.reason}")


def _with_origin(origin: str | None, transcript: Transcript) -> Transcript:
    return transcript if origin is None else structs.replace(transcript, origin=origin)
