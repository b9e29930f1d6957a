"""What a provider does not take, clause by clause.

This module owns the vocabulary of profiles: one kind of clause for each projection rule, with the fields
that differ between providers. A profile is a table of such clauses; the rule of the same name reads them.
It refuses to know any provider, and does nothing.
"""

from typing import ClassVar, Literal

from msgspec import Struct

from turnlint.model import Severity


class Clause(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="rule"):
    """One thing that is not taken, and who says so."""

    code: ClassVar[str] = ""
    """The code of the rule that reads it."""
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


class IdCharset(Clause, kw_only=True, frozen=True, tag="id-charset"):
    """Ids of calls are made of these characters."""

    code: ClassVar[str] = "PR301"
    pattern: str
    wants: str
    """The characters, in words."""


class IdLength(Clause, kw_only=True, frozen=True, tag="id-length"):
    """Ids are at most so long."""

    code: ClassVar[str] = "PR302"
    most: int
    of: Literal["call", "item"] = "call"


class IdForm(Clause, kw_only=True, frozen=True, tag="id-form"):
    """Ids have a form of their own, or must be there at all."""

    code: ClassVar[str] = "PR303"
    of: Literal["call", "server", "item"] = "call"
    pattern: str = ""
    """Nothing where only presence is asked for."""
    wants: str
    kinds: tuple[str, ...] = ()
    """For items: those of these types."""
    required: bool = False
    """An absent id is refused too."""
    global_count: bool = False
    """The number at the end counts all calls of the request from 0."""


class IdCollision(Clause, kw_only=True, frozen=True, tag="id-collision"):
    """Clients that make ids fit keep so much of them; ids that differ only in the rest become one."""

    code: ClassVar[str] = "PR304"
    keep: str
    """One character that is kept, as an expression; the others are taken out or replaced alike."""
    most: int = 0
    """How many characters are kept, where that is limited."""
    replace: str = ""
    """What stands for a character that is not kept."""


class IdUnique(Clause, kw_only=True, frozen=True, tag="id-not-unique"):
    """An id stands once."""

    code: ClassVar[str] = "PR305"
    of: Literal["call", "item"] = "call"
    over: Literal["message", "turn", "request"]


class NameForm(Clause, kw_only=True, frozen=True, tag="tool-name-form"):
    """Names of tools have a form."""

    code: ClassVar[str] = "PR306"
    of: Literal["call", "result", "tool", "author", "server"]
    """Where the name stands: in a call, in a result, in the request's list of tools, beside a message, in a
    call of the provider's own."""
    pattern: str = ""
    least: int = 0
    most: int = 0
    """No limit where 0."""
    names: tuple[str, ...] = ()
    """The only names there are."""
    kinds: tuple[str, ...] = ()
    """Only calls of these types."""
    unique: bool = False
    wants: str = ""


class ArgumentsEncoding(Clause, kw_only=True, frozen=True, tag="arguments-encoding"):
    """Arguments are written so."""

    code: ClassVar[str] = "PR307"
    wants: Literal["text", "object", "json", "json-object", "no-empty-key"]
    """A text, whatever it holds; the object itself; a text that holds JSON; that holds a JSON object; no key that
    is an empty text."""
    optional: bool = False
    """Where an object is wanted: it may be left out."""


class ResultNotFirst(Clause, kw_only=True, frozen=True, tag="result-not-first"):
    """In the message that answers, results come before all else."""

    code: ClassVar[str] = "PR308"
    alone: bool = False
    """Nothing else may stand in it at all."""


class ResultsTogether(Clause, kw_only=True, frozen=True, tag="results-not-together"):
    """The results of one turn stand in one place."""

    code: ClassVar[str] = "PR309"
    place: Literal["message", "after-each-call"] = "message"
    """In one message; or each after its own call with nothing said between."""


class RoleOrder(Clause, kw_only=True, frozen=True, tag="role-order"):
    """Who may speak, and after whom. Roles are spelled as the wire spells them."""

    code: ClassVar[str] = "PR310"
    roles: tuple[str, ...] = ()
    """The only roles there are."""
    first: tuple[str, ...] = ()
    """Who may open the conversation."""
    role: str = ""
    """This role, or the turn `call` or `result`, …"""
    after: tuple[str, ...] = ()
    """… may not follow these."""
    only_after: tuple[str, ...] = ()
    """… may follow nothing but these; `start` is the beginning, and `server-result` an assistant message that ends
    in a result of the provider's own tools."""
    only_before: tuple[str, ...] = ()
    """… may precede nothing but these; `end` is the end. Several such messages in a row count as one."""
    needs: tuple[str, ...] = ()
    """One message at least is of one of these roles."""


class LastMessage(Clause, kw_only=True, frozen=True, tag="last-message"):
    """How a request may end."""

    code: ClassVar[str] = "PR311"
    roles: tuple[str, ...] = ()
    """Who may speak last; `prefix` is an assistant whose message says that the model shall go on from it."""
    open_calls: bool = False
    """A call that nothing answers yet is refused at the end too."""
    answered: Literal["any", "some", "none"] = "any"
    """For open calls: of turns of which any number of calls, at least one, or none has its result."""
    only_prefix: bool = False
    """A message that says that the model shall go on from it stands nowhere else."""
    after_results: bool = False
    """It holds only where the request declares tools and the turn before the last message has results."""


class EmptyContent(Clause, kw_only=True, frozen=True, tag="empty-content"):
    """Contents that say nothing."""

    code: ClassVar[str] = "PR312"
    what: Literal["empty-text", "white-text", "message", "error-result", "result-list"]
    """An empty piece of text; one of nothing but white space; a message with nothing in it; a result that is an
    error and says nothing; a result whose content is an empty list."""
    roles: tuple[str, ...] = ()
    """Only these, as the wire spells them."""
    but_last: bool = False
    """The last message may be so."""
    alone: bool = False
    """Only where the message has nothing else in it."""
    unless: str = ""
    """A message with this key may be so."""


class TrailingSpace(Clause, kw_only=True, frozen=True, tag="trailing-whitespace"):
    """A last assistant message does not end in white space."""

    code: ClassVar[str] = "PR313"


class ThinkingForm(Clause, kw_only=True, frozen=True, tag="thinking-form"):
    """Thoughts are handed back as they were given."""

    code: ClassVar[str] = "PR314"
    what: Literal[
        "unsigned",
        "blank-signature",
        "unfit-signature",
        "empty",
        "not-first",
        "turn-start",
        "forced-tool",
        "taken",
    ]
    """A thought without a signature; with an empty one; with one that is no text; without words and signature;
    after something else in its message; a turn of calls that does not begin with one, where thinking is on; a
    forced tool while thinking is on; any thought at all."""
    always: bool = False
    """Thinking is on, whether the record says so or not."""


class ReasoningUnpaired(Clause, kw_only=True, frozen=True, tag="reasoning-unpaired"):
    """Reasoning is kept together with what came of it."""

    code: ClassVar[str] = "PR315"
    what: Literal["alone", "call-alone", "missing-field"]
    """A stored reasoning item without the item that follows from it; a stored call without the reasoning before it;
    a message with calls that lacks the key for it."""
    scope: Literal["all", "loop"] = "all"
    """In which messages the key must be there: all that call, or those since the last user spoke."""
    said: bool | None = None
    """Only where the request itself enables thinking, only where it does not say so, or in both."""
    key: str = ""


class ItemNotStored(Clause, kw_only=True, frozen=True, tag="item-not-stored"):
    """Where a request says that nothing is stored, no item refers to an item that the provider keeps."""

    code: ClassVar[str] = "PR326"
    kinds: tuple[str, ...]
    """Types of items: a reference, and reasoning whose text only the provider has."""


class EmptyRequest(Clause, kw_only=True, frozen=True, tag="empty-request"):
    """A request has messages."""

    code: ClassVar[str] = "PR323"
    what: Literal["absent", "empty"]
    """The key of the messages is missing or null; its list is empty."""


class ToolsMissing(Clause, kw_only=True, frozen=True, tag="tools-missing"):
    """A request whose history has calls declares tools."""

    code: ClassVar[str] = "PR316"
    empty: bool = False
    """An empty list of tools is refused."""
    history: bool = True
    """Calls in the history without any tools are."""


class UnknownKey(Clause, kw_only=True, frozen=True, tag="unknown-key"):
    """Keys that a provider takes; any other is refused."""

    code: ClassVar[str] = "PR317"
    place: str
    """`message`, `call`, `function`, or the type of a piece of content such as `tool_use`."""
    roles: tuple[str, ...] = ()
    """For messages: of these roles."""
    known: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    """Where the list of known keys is not to be had: those that were seen refused."""


class ContentKey(Clause, kw_only=True, frozen=True, tag="content-key"):
    """A key that must be there, or must be of a kind."""

    code: ClassVar[str] = "PR318"
    what: Literal["content", "calls", "call-type", "result-id", "result-name"]
    """The content; a list of calls with none in it; the type of a call; what a result must say."""
    kinds: tuple[str, ...] = ()
    """Kinds of content that are refused: `absent`, `null`, `no-parts`, `text`, `parts`, `blank`."""
    roles: tuple[str, ...] = ()
    with_calls: bool | None = None
    """Only in messages that call, only in those that do not, or in both."""
    neither: bool = False
    """Content and calls may not both be missing."""
    last: bool | None = None
    """Only in the last message, only in those before it, or in both."""


class OverLimit(Clause, kw_only=True, frozen=True, tag="over-limit"):
    """No more than so many."""

    code: ClassVar[str] = "PR319"
    what: Literal["calls", "tools", "messages", "result-characters"]
    most: int


class ThoughtSignature(Clause, kw_only=True, frozen=True, tag="thought-signature"):
    """Calls carry the signature of the thought that led to them."""

    code: ClassVar[str] = "PR320"
    what: Literal["missing", "unfit"]


class ResultContent(Clause, kw_only=True, frozen=True, tag="result-content"):
    """What a result may hold."""

    code: ClassVar[str] = "PR321"
    parts: tuple[str, ...] = ()
    """The only kinds of parts there are."""
    refused: tuple[str, ...] = ()
    """Kinds of parts that are refused."""
    written: tuple[str, ...] = ()
    """The only ways to write the content: `text`, `list`, `object`, …"""
    kinds: tuple[str, ...] = ()
    """Only results of these types."""


class BlockAfterCall(Clause, kw_only=True, frozen=True, tag="block-after-call"):
    """In a message that calls, nothing stands after the calls."""

    code: ClassVar[str] = "PR322"


class FinalThinking(Clause, kw_only=True, frozen=True, tag="final-thinking"):
    """A message of the assistant does not end in a thinking block."""

    code: ClassVar[str] = "PR324"


class ContentKind(Clause, kw_only=True, frozen=True, tag="content-kind"):
    """Messages of a role hold content of these kinds only."""

    code: ClassVar[str] = "PR325"
    role: str
    kinds: tuple[str, ...]
    """As the wire spells them; a content that is a text is of the kind `text`."""


AnyClause = (
    IdCharset | IdLength | IdForm | IdCollision | IdUnique | NameForm | ArgumentsEncoding | ResultNotFirst
    | ResultsTogether | RoleOrder | LastMessage | EmptyContent | TrailingSpace | ThinkingForm | ReasoningUnpaired
    | ToolsMissing | UnknownKey | ContentKey | OverLimit | ThoughtSignature | ResultContent | BlockAfterCall
    | FinalThinking | ContentKind | ItemNotStored | EmptyRequest
)  # fmt: skip
