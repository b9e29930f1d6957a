"""Define the base of all clauses: a rejection of a provider, with its evidence and the models concerned."""

from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct

from turnlint.model import Severity

if TYPE_CHECKING:
    from turnlint.facts import ConversationFacts


class Clause(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="rule"):
    """One thing that a provider refuses, with its evidence."""

    code: ClassVar[str] = ""
    """The code of the rule that reads it."""
    anywhere: ClassVar[bool] = False
    """It holds for a conversation on any wire, not only for one that is spelled on a wire of the provider's."""
    about_ids: ClassVar[bool] = False
    """It is about the form of ids. Such a finding is a warning at most for an id that a recorder rewrote."""
    source: str
    """The evidence, in a line."""
    date: str
    """When it was read or recorded, as year and month."""
    severity: Severity = "error"
    says: str = ""
    """The provider's own text, with `{fields}` for what differs."""
    wires: tuple[str, ...] = ()
    """It holds on these of the profile's wires only."""
    models: str = ""
    """It holds for models whose name this expression finds; where no model is named it is a warning at most."""
    other_models: str = ""
    """It does not hold for models whose name this expression finds."""
    unnamed: Literal["error", "warning", "silent"] = "warning"
    """How a clause about models is taken where no model is named: as it is, as a warning at most, or not at all."""
    doubtful: Literal["warning", "silent"] = "warning"
    """Its strength where it may not hold: the provider is a guess, or it is about models and the record names none. A
    clause that is `silent` holds there only if the user names the provider."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        """Whether the rule has certainly nothing to report. `named`: the user named the provider.

        A kind of clause without a method of its own is never satisfied, so that its rule always runs.
        """
        return False
