"""Provide all names that a rule needs; a rule may import from this module only.

A rule is a module: a docstring with the headline and fixed headings, a `RULE`, `BAD` and `GOOD` examples that
are its tests, and a `check` that yields findings.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from msgspec import Struct, structs

from turnlint.case import Case, in_its_words
from turnlint.clause import Clause
from turnlint.clauses import (
    AnyClause,
    ArgumentsEncoding,
    BlockAfterCall,
    ContentKey,
    ContentKind,
    EmptyContent,
    EmptyRequest,
    FinalThinking,
    IdCharset,
    IdCollision,
    IdForm,
    IdLength,
    IdUnique,
    ItemNotStored,
    LastMessage,
    NameForm,
    OverLimit,
    ReasoningUnpaired,
    ResultContent,
    ResultNotFirst,
    ResultsTogether,
    RoleOrder,
    ThinkingForm,
    ThoughtSignature,
    ToolsMissing,
    TrailingSpace,
    UnknownKey,
)
from turnlint.documents.decode import without_space
from turnlint.documents.trouble import Damage, Kind, Trouble
from turnlint.facts import ITEM_PATTERNS, ITEM_PREFIXES
from turnlint.harmless import is_foreign, is_kept_elsewhere, is_named_otherwise, tool_names
from turnlint.keys import by_place, strange
from turnlint.ledger import (
    Answered,
    Asked,
    Interaction,
    Ledger,
    has_redaction,
    is_adoptable,
    is_missing,
    is_scrubbed,
    usable,
)
from turnlint.lifecycle import holds_nothing, state_of
from turnlint.model import (
    SEVERITIES,
    Blank,
    Call,
    Declared,
    Fault,
    Finding,
    Fix,
    Level,
    Life,
    Link,
    Location,
    Message,
    Misfit,
    Omitted,
    Origin,
    Other,
    Pointer,
    Record,
    Related,
    Request,
    Result,
    Severity,
    Text,
    Thinking,
    Transcript,
)
from turnlint.omissions import find_compaction, place_of, related_piece
from turnlint.profiles import (
    Capabilities,
    CapabilitySource,
    Known,
    Profile,
    Weight,
    accepted_format,
    accepted_parallel_calls,
    accepted_switch,
    accepted_without_tools,
    source_of,
    source_of_quirks,
)
from turnlint.text import also_calls, name_key
from turnlint.text import describe_call as called
from turnlint.text import describe_result as answering
from turnlint.text import quote_name as quote

if TYPE_CHECKING:
    from turnlint.arguments import converted, parsed_arguments
    from turnlint.parsers import Parsed
    from turnlint.repeats import has_no_ids, id_below, name_below, repeats
    from turnlint.steps import (
        Apart,
        Close,
        Drop,
        Join,
        Move,
        Name,
        Patch,
        Piece,
        Put,
        Recall,
        Relink,
        Rename,
        Restore,
        Say,
        Settle,
        Shift,
        Sort,
        Split,
        Step,
        Take,
        Translate,
        Unmix,
    )  # fmt: skip

__all__ = [
    "ITEM_PATTERNS",
    "ITEM_PREFIXES",
    "NO_PLACEHOLDER",
    "OTHER_KEYS",
    "SEVERITIES",
    "Answered",
    "AnyClause",
    "Apart",
    "ArgumentsEncoding",
    "Asked",
    "Blank",
    "BlockAfterCall",
    "Call",
    "Capabilities",
    "CapabilitySource",
    "Case",
    "Clause",
    "Close",
    "ContentKey",
    "ContentKind",
    "Damage",
    "Declared",
    "Drop",
    "EmptyContent",
    "EmptyRequest",
    "Example",
    "FinalThinking",
    "Finding",
    "Fix",
    "IdCharset",
    "IdCollision",
    "IdForm",
    "IdLength",
    "IdUnique",
    "Interaction",
    "ItemNotStored",
    "Join",
    "Kind",
    "Known",
    "LastMessage",
    "Ledger",
    "Level",
    "Link",
    "Location",
    "Message",
    "Misfit",
    "Move",
    "Name",
    "NameForm",
    "Omitted",
    "Origin",
    "Other",
    "OverLimit",
    "Parsed",
    "Patch",
    "Piece",
    "Pointer",
    "Profile",
    "Put",
    "Raw",
    "ReasoningUnpaired",
    "Recall",
    "Record",
    "Related",
    "Relink",
    "Rename",
    "Request",
    "Restore",
    "Result",
    "ResultContent",
    "ResultNotFirst",
    "ResultsTogether",
    "RoleOrder",
    "Rule",
    "Say",
    "Settle",
    "Severity",
    "Shift",
    "Sort",
    "Split",
    "Step",
    "Take",
    "Text",
    "Thinking",
    "ThinkingForm",
    "ThoughtSignature",
    "ToolsMissing",
    "TrailingSpace",
    "Transcript",
    "Translate",
    "Trouble",
    "UnknownKey",
    "Unmix",
    "Weight",
    "accepted_format",
    "accepted_parallel_calls",
    "accepted_switch",
    "accepted_without_tools",
    "also_calls",
    "answering",
    "by_place",
    "called",
    "closing",
    "converted",
    "find_compaction",
    "has_no_ids",
    "has_redaction",
    "has_same_content",
    "holds_nothing",
    "id_below",
    "is_adoptable",
    "is_foreign",
    "is_kept_elsewhere",
    "is_missing",
    "is_named_otherwise",
    "is_scrubbed",
    "kept_raw",
    "name_below",
    "name_key",
    "near",
    "near_call",
    "near_result",
    "parsed_arguments",
    "place_of",
    "quote",
    "related_piece",
    "repeats",
    "says_same",
    "source_of",
    "source_of_quirks",
    "spot",
    "state_of",
    "strange",
    "tool_names",
    "usable",
    "without_space",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Return a name that only rules use, and import its module then."""
    if name not in __all__:
        raise AttributeError(name)
    from turnlint import arguments, repeats, steps

    return next(vars(module)[name] for module in (steps, repeats, arguments) if name in vars(module))


FAULTS: dict[str, Fault] = {"ST": "state", "PA": "pairing", "PR": "projection", "CO": "contract"}


class Example(Struct, frozen=True):
    """A short conversation. `<- CODE` at the end of a line expects that finding there, and nowhere else."""

    text: str
    wires: tuple[str, ...] = ("openai-chat", "anthropic", "canonical")
    provider: str = "none"
    """Provider whose rules apply: a name with or without a version."""


class Raw(Struct, frozen=True):
    """An example in bytes: the records as written, and the expected findings by line."""

    format: str
    data: bytes
    expect: tuple[tuple[str, int], ...] = ()
    provider: str = "none"


class More(TypedDict, total=False):
    """Optional fields of a finding, beside its position and its message."""

    severity: Severity
    fix: Fix | None
    label: str
    kind: str
    """The value at the position, if the provider's text names it."""
    related: tuple[Related, ...]
    under: Clause
    """The clause of the provider that is not satisfied: it supplies severity, provider and the provider's own text."""
    told: Mapping[str, object]
    """Values for the provider's text, beside the position, the id and the name; see `turnlint.wording.FIELDS`."""


Key = Literal["id", "name", "body", "whole"]
"""The part of a call or a result to which a finding points."""

Check = Callable[[Case], Iterator[Finding]]
CheckRecord = Callable[[Damage], Iterator[Finding]]


class Rule(Struct, frozen=True):
    """The name and properties of a rule. Its module has the rest."""

    code: str
    name: str
    severity: Severity
    fix: Level | None = None
    """The level that `fix` needs, at most, to repair the findings; nothing where there is no repair."""
    dead: bool = False
    """Whether it checks the abandoned parts of a session, which all other rules skip."""
    family: Fault | None = None
    """The family of the rule, for codes whose first letters do not give it."""
    since: str = "0.1.0"
    """The version of its package that added it."""
    state: Life = "stable"
    aliases: tuple[str, ...] = ()
    """Former codes and names, which stay valid."""
    triggers: frozenset[str] | None = None
    """The facts without which the rule reports nothing.

    Triggers are words of `turnlint.facts.ConversationFacts.triggers`, `record` for damage beside
    conversations, or codes of rules with clauses. The own code of a rule with clauses is always a trigger, so
    such a rule needs none. `None`: nothing is known, so the rule runs on each conversation.
    """

    @property
    def fault(self) -> Fault:
        return self.family or FAULTS.get(self.code[:2], "state")

    def at_call(
        self, case: Case, asked: Asked, message: str, *, key: Key = "id", **more: Unpack[More]
    ) -> Finding:
        """Return a finding at a call: at its id, or at its `name` or `body`."""
        call = asked.call
        below = call.at if key == "whole" else (*call.at, *_key(call, key))
        return self._at(case, asked.message, below, message, call, **more)

    def at_result(
        self, case: Case, answered: Answered, message: str, *, key: Key = "id", **more: Unpack[More]
    ) -> Finding:
        """Return a finding at a result: at the id of its call, or at its `name` or `body`."""
        result = answered.result
        below = result.at if key == "whole" else (*result.at, *_key(result, key))
        return self._at(case, answered.message, below, message, result, **more)

    def at_message(
        self, case: Case, index: int, message: str, *,
        below: Pointer = (), at: Pointer | None = None, **more: Unpack[More],
    ) -> Finding:  # fmt: skip
        """Return a finding at a message, at a value below it, or elsewhere in its record."""
        finding = self._at(case, index, below, message, None, **more)
        return finding if at is None else structs.replace(finding, where=Location(finding.where.record, at))

    def at_request(self, case: Case, at: Pointer, message: str, **more: Unpack[More]) -> Finding:
        """Return a finding at a part of the request that is no message, such as its tools and settings."""
        request = case.transcript.request
        assert request is not None, "there is a request, or nothing of it could be wrong"
        finding = self.at_record(request.record, message, at=at, **more)
        clause = more.get("under")
        return structs.replace(
            finding,
            conversation=case.transcript.id,
            conversation_index=case.transcript.index,
            severity=more.get("severity", case.severity(clause) if clause else self.severity),
            provider=case.profile.name if clause and case.profile else None,
            provider_error=in_its_words(case, 0, (), None, clause, more.get("told", {}), at)
            if clause
            else None,
        )

    def at_link(self, case: Case, link: Link, at: Pointer, message: str, **more: Unpack[More]) -> Finding:
        """Return a finding at a record of a session, with or without a message."""
        index = case.first_in.get(id(link.record))
        if index is not None:
            return self.at_message(case, index, message, at=at, **more)
        found, said = self.at_record(link.record, message, at=at, **more), case.transcript
        return structs.replace(found, conversation=said.id, conversation_index=said.index)

    def at_record(
        self, record: Record, message: str, *,
        at: Pointer = (), span: tuple[int, int] | None = None, **more: Unpack[More],
    ) -> Finding:  # fmt: skip
        """Return a finding at a position in a record, independent of conversations."""
        start, end = span or (None, None)
        return Finding(
            self.code,
            self.name,
            self.fault,
            more.get("severity", self.severity),
            message,
            Location(record, at, start, end),
            label=more.get("label", ""),
            fix=more.get("fix"),
            related=more.get("related", ()),
            kind=more.get("kind", ""),
        )

    def _at(
        self, case: Case, index: int, below: Pointer, message: str, piece: Call | Result | None,
        **more: Unpack[More],
    ) -> Finding:  # fmt: skip
        transcript = case.transcript
        place = transcript.messages[index]
        clause = more.get("under")
        severity = more.get("severity", case.severity(clause) if clause else self.severity)
        if severity == "error" and clause and clause.about_ids and piece and has_redaction(piece.id):
            severity = "warning"
        return Finding(
            self.code,
            self.name,
            self.fault,
            severity,
            message,
            Location(place.record, (*place.at, *below)),
            transcript.id,
            transcript.index,
            index,
            more.get("label", ""),
            piece.id if piece else None,
            piece.name if piece else None,
            more.get("related", ()),
            more.get("fix"),
            case.profile.name if clause and case.profile else None,
            in_its_words(case, index, below, piece, clause, more.get("told", {})) if clause else None,
            piece.kind if piece else "",
        )


def _key(block: Call | Result, key: Key) -> Pointer:
    keys = block.keys
    return keys.id if key == "id" else keys.name if key == "name" else keys.body


def near(case: Case, index: int, note: str, below: Pointer = ()) -> Related:
    """Return another position of the conversation that explains the finding."""
    place = case.transcript.messages[index]
    return Related(note, Location(place.record, (*place.at, *below)), index)


def near_call(case: Case, asked: Asked, note: str, *, key: Key = "id") -> Related:
    call = asked.call
    return near(case, asked.message, note, (*call.at, *_key(call, key)))


def near_result(case: Case, answered: Answered, note: str) -> Related:
    result = answered.result
    return near(case, answered.message, note, (*result.at, *result.keys.id))


def says_same(one: Answered, other: Answered) -> bool:
    """Whether two results have the same state and content, independent of the encoding."""
    from turnlint.completions import is_same_completion

    return is_same_completion(one.result, other.result)


def has_same_content(one: Answered, other: Answered) -> bool:
    """Whether two results have the same content, independent of the encoding."""
    from turnlint import completions

    return completions.has_same_content(one.result.body, other.result.body)


def spot(one: Asked | Answered) -> "Piece":
    """Return the position of a call or a result, for a step."""
    from turnlint import steps

    return steps.Piece(one.message, one.call.at if isinstance(one, Asked) else one.result.at)


OTHER_KEYS = "none; the message has other keys that may hold its content: remove them, or write the text"
NO_PLACEHOLDER = "none; a repair cannot write a result for this kind of call: write the result"


def closing(case: Case, asked: Asked) -> Fix:
    """Return the fix of a call that still waits for its result."""
    from turnlint import steps

    if not case.takes_result(asked):
        return Fix("placeholder", NO_PLACEHOLDER)
    title = "with --close-pending: add a placeholder result that says the outcome is unknown"
    return Fix("placeholder", title, (steps.Close(spot(asked), pending=True),))


def kept_raw(case: Case, asked: Asked) -> Fix | None:
    """Return a fix that wraps arguments that are no object in an object; nothing if their bytes were released."""
    from json import dumps

    from turnlint import steps

    call = asked.call
    place = (*call.at, *call.keys.body)
    said = case.said(asked.message, place)
    if said is None or (call.arguments == "torn" and call.written != "text"):
        return None  # the truncated part is beside arguments that can be parsed
    try:
        kept = dumps({"raw": said}, ensure_ascii=False)
    except RecursionError:  # a value that was just parsed may be nested too deeply for the encoder
        return None
    in_text = call.written == "text" and call.arguments != "unfit"
    data = dumps(kept, ensure_ascii=False) if in_text else kept
    step = steps.Put(place, data.encode("utf-8", "backslashreplace"), asked.message)
    return Fix(
        "lossless",
        'store the cut text as {"raw": "…"}' if call.arguments == "torn" else 'store the value as {"raw": …}',
        (step,),
    )
