"""Repair a conversation with canonical ids only if its providers accept these."""

from collections import Counter
from collections.abc import Callable

from msgspec import Struct, structs

from turnlint.judging import Book, judge
from turnlint.repair.choosing import Policy
from turnlint.repair.mending import Mended, State, ask, mend
from turnlint.repair.outcome import provider_of
from turnlint.repair.sparing import Spared
from turnlint.repair.unit import Unit
from turnlint.steps import Recall, Restore

ID_RULES = {"id-charset", "id-length", "id-form"}
"""Rules that report ids in a form that a provider rejects."""
Refusals = Counter[tuple[str, str]]
"""Errors of these rules by provider and rule."""


class Accepted(Struct, frozen=True):
    """A repair, and the rules and the policy that made it."""

    mended: Mended
    book: Book
    policy: Policy
    refusals: Refusals
    """The errors that canonical ids would cause.

    If there are any, the repair is that of a run without canonical ids.
    """

    @property
    def providers(self) -> list[str]:
        """Return the providers that would reject canonical ids."""
        return sorted({provider for provider, _ in self.refusals})

    @property
    def reason(self) -> str:
        """Return why the conversation gets no canonical ids."""
        rules = ", ".join(sorted({rule for _, rule in self.refusals}))
        return f"no canonical ids: {' and '.join(self.providers)} would refuse them ({rules})"


def mend_for_providers(
    unit: Unit, book: Book, accepting: Book | None, policy: Policy, spared: Spared
) -> Accepted:
    """Repair a unit, without canonical ids if a provider in `accepting` accepts its ids and rejects canonical ids."""
    mended = mend(unit, book, policy, spared)
    if policy.canonical and accepting:
        refusals = _refusals(mended.end, accepting)
        if refusals and (new := refusals - _refusals(mended.base, accepting)):
            plain = structs.replace(policy, canonical=False)
            return Accepted(mend(unit, accepting, plain, spared), accepting, plain, new)
    return Accepted(mended, book, policy, Refusals())


def mend_with_calls(
    unit: Unit, book: Book, accepting: Book | None, policy: Policy, spared: Spared,
    fault_of: Callable[[Mended, Book, Policy], str | None],
) -> Accepted:  # fmt: skip
    """Repair a unit. Where it cannot get its removed calls and results back, repair it without them."""
    found = mend_for_providers(unit, book, accepting, policy, spared)
    left = any(
        isinstance(step, Recall | Restore)
        for one in found.mended.end.findings
        if one.fix
        for step in one.fix.steps
    )
    added = any(one.source_path for one in found.mended.changes)
    if not left and not (added and fault_of(found.mended, found.book, found.policy)):
        return found
    books = [one and one.with_history(None, recalls=False) for one in (book, accepting)]
    assert books[0] is not None
    return mend_for_providers(unit, books[0], books[1], policy, spared)


def _refusals(state: State, accepting: Book) -> Refusals:
    judged = (judge(accepting, one.transcript, ask) for one in state.judged)
    errors = (one for some in judged for one in some.findings if one.severity == "error")
    return Refusals((provider_of(one), one.rule) for one in errors if one.rule in ID_RULES)
