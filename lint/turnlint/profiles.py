"""Define the profile of a provider: its wires and models, its clauses, and its error texts.

The profiles of all providers are tables in modules of their own, beside the rules.
"""

import re
from functools import cached_property
from typing import Literal

from msgspec import Struct

from turnlint.clause import Clause
from turnlint.clauses import AnyClause, OverLimit, ToolsMissing
from turnlint.model import Severity

Paths = Literal["dots", "brackets", "members", "google"]
"""How a provider spells a place in a request: `messages.3.content.0.tool_use.id`, `messages[3].tool_calls[0].id`,
`messages.4.member.content.1.member.toolUse.toolUseId` (counted from 1), `* GenerateContentRequest.contents[2].parts[0]`."""


class CapabilitySource(Struct, frozen=True, kw_only=True):
    """The source of some values of the capabilities."""

    of: tuple[str, ...]
    """Keys of the capabilities."""
    source: str
    date: str


def source_of(*keys: str, source: str, date: str = "2026-11") -> CapabilitySource:
    """Return the source of some values."""
    return CapabilitySource(of=keys, source=source, date=date)


def source_of_quirks(
    source: str = "recorded requests and public reports, as in the clauses of this profile",
) -> CapabilitySource:
    return source_of("quirks", source=source)


def accepted_format(count: int, more: str = "") -> CapabilitySource:
    """Return the source of a format that recorded requests had."""
    return source_of("format", source=f"{count:,} recorded requests were accepted{more}")


def accepted_parallel_calls(count: int, sample: str, most: int) -> CapabilitySource:
    """Return the source of parallel calls: recorded requests with several calls in a turn."""
    source = f"{count:,} recorded requests with up to {most} calls in a turn were accepted, such as {sample}"
    return source_of("parallel_calls", source=source)


def accepted_switch(count: int, sample: str) -> CapabilitySource:
    """Return the source of the switch for one call at a time."""
    return source_of("parallel_switch", source=f"{count:,} recorded requests have it, such as {sample}")


def accepted_without_tools(count: int, sample: str) -> CapabilitySource:
    """Return the source of a history with calls that needs no declared tools."""
    source = f"{count:,} recorded requests with calls and without tools were accepted, such as {sample}"
    return source_of("requires_schema", source=source)


class Capabilities(Struct, frozen=True, kw_only=True):
    """The capabilities of a provider; none where they are not known."""

    format: str
    parallel_calls: bool | None = None
    parallel_switch: str | None = None
    max_calls: int | None = None
    max_tools: int | None = None
    max_messages: int | None = None
    schema: str | None = None
    """The dialect of a tool's schema."""
    requires_schema: bool | None = None
    """Whether a request with calls in its history must declare tools with their schemas."""
    streaming: str | None = None
    """The place of arguments in a stream."""
    quirks: tuple[str, ...] = ()
    sources: tuple[CapabilitySource, ...] = ()
    """The sources of these values. A limit that a clause has too needs no second source."""

    @property
    def told(self) -> dict[str, object]:
        """Return the known values by their keys."""
        values = {key: getattr(self, key) for key in self.__struct_fields__ if key != "sources"}
        return {key: value for key, value in values.items() if value is not None and value != ()}


class Weight(Struct, frozen=True, kw_only=True):
    """The severity and text of a provider for a finding of a rule about state or pairing."""

    rule: str
    source: str
    date: str
    severity: Severity | None = None
    """None if the severity of the rule applies."""
    mild: Severity | None = None
    """The severity for a finding that is a warning of the rule, if it differs."""
    says: str = ""
    wires: tuple[str, ...] = ()
    when: Literal["always", "no-results", "one-call", "absent", "invoke-model"] = "always"
    """Only for a call without a result behind its turn, for a result behind a turn of one call, for an absent id, or in
    a request to Bedrock's InvokeModel. A weight with a condition is before the one without it."""
    at: str = ""
    """Only for a finding at this key of a message, such as `content`, or at a whole `message`."""
    found: str = ""
    """Only for this kind of value, such as `an object`."""
    role: str = ""
    """Only in a message of this role."""


class Known(Struct, frozen=True, kw_only=True):
    """An error text of a provider, and the rules that explain it."""

    pattern: str
    rules: tuple[str, ...]
    """The likeliest first. Empty where no transcript is at fault."""
    sample: str
    source: str
    date: str
    about: str = ""
    """Its meaning, where no rule explains it."""
    status: Literal["verbatim", "abridged", "templated", "recalled"] = "verbatim"


class Profile(Struct, frozen=True, kw_only=True, dict=True):
    """The facts about a provider, in one version of its rules."""

    name: str
    title: str
    origin: str = ""
    """The name of the provider in canonical ids, where this profile is only one of its APIs."""
    wires: tuple[str, ...]
    """Accepted wires, its own first."""
    version: str = ""
    about: str = ""
    """The meaning of this version, where there are several."""
    hosts: tuple[str, ...] = ()
    """Ends of the names of its hosts."""
    host_wires: tuple[str, ...] = ()
    """Further wires of requests to its hosts. A model alone does not name the provider there: gateways have it, too."""
    models: str = ""
    """An expression that finds the names of its models, where no other provider has such names."""
    paths: Paths = "brackets"
    capabilities: Capabilities
    clauses: tuple[AnyClause, ...] = ()
    weights: tuple[Weight, ...] = ()
    known: tuple[Known, ...] = ()

    def speaks(self, wire: str) -> bool:
        """Whether a wire is one of the provider's, so that the format of a conversation on it can be checked."""
        return wire in self.wires

    def model_on(self, wire: str, model: str | None) -> str | None:
        """Return a model that may be one of the provider's; nothing if that is unknown."""
        if model is None or not self.speaks(wire):
            return None
        return model if not self.models or re.search(self.models, model) else None

    def variant_of(self, model: str | None) -> tuple[bool, ...] | None:
        """Return which expressions of the clauses match a model (`model_on`).

        Models of one variant have the same clauses.
        """
        return None if model is None else tuple(re.search(one, model) is not None for one in self.patterns)

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """Return the expressions by which clauses select models."""
        found = (pattern for clause in self.clauses for pattern in (clause.models, clause.other_models))
        return tuple(dict.fromkeys(filter(None, found)))

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}" if self.version else self.name

    @cached_property
    def capability_sources(self) -> dict[str, tuple[str, str]]:
        """Return the source and the date of each known capability, from its own sources or from a clause."""
        found = {key: (one.source, one.date) for one in self.capabilities.sources for key in one.of}
        for clause in self.clauses:
            key, value = _capability_of(clause)
            if key and self.capabilities.told.get(key) == value:
                found.setdefault(key, (clause.source, clause.date))
        return {key: found[key] for key in self.capabilities.told if key in found}

    @cached_property
    def by_code(self) -> dict[str, tuple[Clause, ...]]:
        """Return its clauses by the code of the rule that reads them."""
        found: dict[str, list[Clause]] = {}
        for clause in self.clauses:
            found.setdefault(clause.code, []).append(clause)
        return {code: tuple(clauses) for code, clauses in found.items()}

    @cached_property
    def by_rule(self) -> dict[str, tuple[Weight, ...]]:
        """Return its weights by rule: several where wires differ."""
        found: dict[str, list[Weight]] = {}
        for weight in self.weights:
            found.setdefault(weight.rule, []).append(weight)
        return {rule: tuple(weights) for rule, weights in found.items()}


def _capability_of(clause: Clause) -> tuple[str, object]:
    """Return the key and the value of the capability that a clause states as well."""
    if isinstance(clause, OverLimit) and not (clause.models or clause.other_models):
        return f"max_{clause.what}", clause.most
    if isinstance(clause, ToolsMissing) and clause.history:
        return "requires_schema", True
    return "", None


def is_doubtful(clause: Clause, model: str | None, *, certain: bool) -> bool:
    """Whether a clause may not apply: the provider is a guess, or the clause depends on an unknown model."""
    by_model = bool(clause.models or clause.other_models) and clause.unnamed != "error"
    return not certain or (by_model and model is None)


def is_meant(clause: Clause, wire: str, model: str | None, *, certain: bool, named: bool) -> bool:
    """Whether a clause applies to a wire and a model of the provider's (`Profile.model_on`).

    `certain` and `named` are those of `providers.Chosen`.
    """
    if clause.doubtful == "silent" and not named and is_doubtful(clause, model, certain=certain):
        return False
    if clause.wires and wire not in clause.wires:
        return False
    if model is None:
        return clause.unnamed != "silent"
    if clause.other_models and re.search(clause.other_models, model):
        return False
    return not clause.models or re.search(clause.models, model) is not None
