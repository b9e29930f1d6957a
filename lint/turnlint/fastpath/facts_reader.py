"""Read the facts of lines natively, and apply the clauses of providers to them."""

from collections.abc import Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from turnlint.carrying.syntax import WireSyntax
from turnlint.checks import Checks, suspects
from turnlint.facts import ConversationFacts, request_facts
from turnlint.fastpath.decode import Decoder
from turnlint.fastpath.passed import Kind
from turnlint.fastpath.tables import compile_syntax
from turnlint.harmless import may_end_with_model
from turnlint.model import Transcript

if TYPE_CHECKING:
    from turnlint.judging import Book


MAX_DECISIONS = 1 << 16
"""Sets of facts whose decision a gate keeps."""


class Around(Struct, dict=True, eq=False):
    """The surroundings of the messages: a request or a log, and the providers that get it. Hashed by identity."""

    facts: ConversationFacts
    kind: Kind
    checks: tuple[tuple[Checks, bool], ...]
    """The clauses that hold, with whether the user named the provider."""
    may_end_with_model: bool = False
    ends_with_model: bool = False
    """Whether the summary counts such a conversation if it ends with a message of the model, and whether it does."""

    @classmethod
    def of(cls, book: "Book", transcript: Transcript) -> "Around":
        """Return the surroundings of a transcript without messages."""
        request, wire = transcript.request, transcript.wire.speaks
        model = request.model if request else None
        chosen = book.chosen(transcript)
        checks = tuple(
            (book.checks.of(one, wire, model), one.named) for one in chosen if one.judges(transcript)
        )
        is_sent = request is not None and bool(request.key)
        facts = ConversationFacts(
            request=request_facts(request),
            has_whole_end=request is not None and is_sent and request.whole and not transcript.open_end,
            has_sent_end=is_sent,
            is_log=transcript.is_log,
            headless=transcript.headless,
            open_end=transcript.open_end,
        )
        is_counted = may_end_with_model(transcript) and not any(one.named for one in chosen)
        return cls(facts, (wire, chosen), checks, may_end_with_model=is_counted)

    @property
    def identity(self) -> Hashable:
        """Return a value that is equal for surroundings with equal decisions, while they are in memory."""
        wire, chosen = self.kind
        providers = tuple((id(one.profile), one.certain, one.named) for one in chosen)
        checks = tuple(id(checks) for checks, _ in self.checks)
        return self.facts, wire, providers, checks, self.may_end_with_model

    @cached_property
    def ending(self) -> "Around":
        """The same surroundings, for conversations that end with a message of the model."""
        return structs.replace(self, ends_with_model=True)

    @cached_property
    def headless(self) -> "Around":
        """The same surroundings where earlier messages are kept elsewhere."""
        return Around(structs.replace(self.facts, headless=True), self.kind, self.checks)


class FactsReader:
    """Reads the facts of lines by the tables of one wire."""

    def __init__(self, native: Any, syntax: WireSyntax) -> None:
        tables = compile_syntax(syntax, native)
        self.scanner = native.FactScanner(tables.objects, tables.settings)
        self.decoder = Decoder(tables, native.MARKS)
        self.scan = self.scanner.scan
        self.max_line_bytes: int = native.MAX_LINE_BYTES

    def note(self, facts: bytes, keys: Any, servers: Any) -> None:
        """Keep the keys and the words about the provider's own tools that the scanner gives once."""
        if keys is not None:
            self.decoder.note_keys(facts, keys)
        if servers is not None:
            self.decoder.note_servers(facts, servers)

    def concerns(self, facts: bytes, around: Around) -> frozenset[str] | None:
        """Return the triggers, and the codes of rules that may report something; `None` if keys are not known."""
        if not self.decoder.knows(facts):
            return None
        found = self.decoder.decode(facts, around.facts)
        return found.triggers.union(
            *(suspects(found, checks, named=named) for checks, named in around.checks)
        )
