"""Define the kinds of clauses in profiles: one for each projection rule, with fields that differ by provider.

A profile is a table of such clauses; the rule of the same name reads them. Each clause checks itself against
the facts about a conversation: `is_satisfied_by` is true only if the rule has nothing to report.
"""

from typing import TYPE_CHECKING, ClassVar, Literal

from turnlint.clause import Clause
from turnlint.facts import ITEM_PATTERNS
from turnlint.names import heads_of, names_of

if TYPE_CHECKING:
    from turnlint.facts import ConversationFacts, Mark, Said
    from turnlint.names import Names


class IdCharset(Clause, kw_only=True, frozen=True, tag="id-charset"):
    """Call ids contain only these characters."""

    code: ClassVar[str] = "PR301"
    anywhere: ClassVar[bool] = True
    about_ids: ClassVar[bool] = True
    pattern: str
    wants: str
    """The characters, in words."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        return facts.ids.match(self.pattern)


class IdLength(Clause, kw_only=True, frozen=True, tag="id-length"):
    """Ids have a maximum length."""

    code: ClassVar[str] = "PR302"
    anywhere: ClassVar[bool] = True
    about_ids: ClassVar[bool] = True
    most: int
    of: Literal["call", "item"] = "call"

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        return (facts.longest_item if self.of == "item" else facts.ids.longest) <= self.most


class IdForm(Clause, kw_only=True, frozen=True, tag="id-form"):
    """Ids have this format, or must be present."""

    code: ClassVar[str] = "PR303"
    anywhere: ClassVar[bool] = True
    about_ids: ClassVar[bool] = True
    of: Literal["call", "server", "item"] = "call"
    pattern: str = ""
    """Empty if an id must only be present."""
    wants: str
    kinds: tuple[str, ...] = ()
    """For items: only items of these types."""
    required: bool = False
    """Whether an absent id is rejected too."""
    global_count: bool = False
    """Whether the number at the end counts all calls of the request from 0."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        if self.of == "item":  # the facts cover one form of the id for each type of items
            odd, found = facts.odd_items, facts.item_kinds.intersection(self.kinds)
            known = all(one not in odd and ITEM_PATTERNS.get(one) == self.pattern for one in found)
            return known and not (self.required and facts.messages)
        if self.required and ("idless-call" if self.of == "call" else "idless-server-call") in facts.marks:
            return False
        if self.of == "call":
            if self.global_count and facts.calls:
                counted = not self.kinds and "uncounted-call" not in facts.marks
                return counted and (not self.pattern or facts.ids.match_before_number(self.pattern))
            return not self.pattern or facts.ids.match(self.pattern)
        heads, forms = facts.server_heads, heads_of(self.pattern) or {}
        return not self.pattern or all(one in forms and facts.server_tails.match(forms[one]) for one in heads)


class IdCollision(Clause, kw_only=True, frozen=True, tag="id-collision"):
    """Ids stay distinct when a client shortens or replaces their characters."""

    code: ClassVar[str] = "PR304"
    anywhere: ClassVar[bool] = True
    keep: str
    """Expression for one kept character; all others are removed, or replaced by the same character."""
    most: int = 0
    """Maximum number of kept characters; no limit where 0."""
    replace: str = ""
    """The replacement of a character that is not kept."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        """Whether no id changes, so that the ids stay distinct."""
        return facts.calls < 2 or (
            facts.ids.match(f"{self.keep}+") and (not self.most or facts.ids.longest <= self.most)
        )


class IdUnique(Clause, kw_only=True, frozen=True, tag="id-not-unique"):
    """An id is unique."""

    code: ClassVar[str] = "PR305"
    anywhere: ClassVar[bool] = True
    of: Literal["call", "item"] = "call"
    over: Literal["message", "turn", "request"]

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        if self.of == "item":
            return "item-twice" not in facts.marks
        return "taken" not in facts.triggers


class NameForm(Clause, kw_only=True, frozen=True, tag="tool-name-form"):
    """Tool names have this format."""

    code: ClassVar[str] = "PR306"
    anywhere: ClassVar[bool] = True
    of: Literal["call", "result", "tool", "author", "server"]
    """The place of the name: a call, a result, the tools of the request, a message, or a call of the provider's own
    tools."""
    pattern: str = ""
    least: int = 0
    most: int = 0
    """Maximum length; no limit where 0."""
    names: tuple[str, ...] = ()
    """The only accepted names."""
    kinds: tuple[str, ...] = ()
    """Only calls of these types."""
    unique: bool = False
    wants: str = ""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        if self.of == "tool":
            request = facts.request
            return request is None or (
                not (self.unique and request.has_twin_tools) and self._takes(request.tool_names)
            )
        if self.of == "server":
            known = not self.names or facts.server_names.issubset(self.names)
            return not facts.server_names or (
                known and not self.unique and self._is_form_of(names_of(facts.server_names))
            )
        of = {"call": facts.names, "result": facts.result_names, "author": facts.authors}[self.of]
        return not of.count or (not self.unique and self._takes(of))

    def _takes(self, names: "Names") -> bool:
        return not names.count or (not self.names and self._is_form_of(names))

    def _is_form_of(self, names: "Names") -> bool:
        return (
            self.least <= names.shortest
            and (not self.most or names.longest <= self.most)
            and (not self.pattern or names.match(self.pattern))
        )


class ArgumentsEncoding(Clause, kw_only=True, frozen=True, tag="arguments-encoding"):
    """Arguments have this encoding."""

    code: ClassVar[str] = "PR307"
    wants: Literal["text", "object", "json", "json-object", "no-empty-key"]
    """A text of any content; an object; a text that contains JSON; a text that contains a JSON object; no empty key."""
    optional: bool = False
    """Whether the arguments may be absent, if they must be an object."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        if self.wants == "no-empty-key":
            return "empty-key" not in facts.marks
        return not any(
            arguments not in ("free", "unfit") and self._refuses(written, arguments)
            for written, arguments in facts.arguments
        )

    def _refuses(self, written: str, arguments: str) -> bool:
        if self.wants == "text":
            return written in ("object", "list", "other")
        if self.wants == "object":
            absent = written in ("absent", "null") and not self.optional
            return absent or written in ("text", "list", "other")
        unread = arguments in ("broken", "torn") or (arguments == "nothing" and written == "text")
        return unread or (arguments == "other" and self.wants == "json-object")


class ResultNotFirst(Clause, kw_only=True, frozen=True, tag="result-not-first"):
    """Results are first in the message after the calls."""

    code: ClassVar[str] = "PR308"
    alone: bool = False
    """Whether the message may have no other content."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        marks = facts.marks
        return "result-behind" not in marks and not (self.alone and "result-beside" in marks)


class ResultsTogether(Clause, kw_only=True, frozen=True, tag="results-not-together"):
    """The results of one turn are together."""

    code: ClassVar[str] = "PR309"
    place: Literal["message", "after-each-call"] = "message"
    """In one message; or each after its own call, with no other content between."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        return ("scattered-results" if self.place == "message" else "spoken-between") not in facts.marks


class RoleOrder(Clause, kw_only=True, frozen=True, tag="role-order"):
    """Roles are accepted only in this order."""

    code: ClassVar[str] = "PR310"
    roles: tuple[str, ...] = ()
    """The only accepted roles."""
    first: tuple[str, ...] = ()
    """The roles that may begin the conversation."""
    role: str = ""
    """The role, or `call` or `result` for a turn, that the next three fields restrict."""
    after: tuple[str, ...] = ()
    """It may not follow these."""
    only_after: tuple[str, ...] = ()
    """It may follow only these; `start` is the beginning, and `server-result` an assistant message that ends in a
    result of the provider's own tools."""
    only_before: tuple[str, ...] = ()
    """It may precede only these; `end` is the end. Several such messages in a row count as one."""
    needs: tuple[str, ...] = ()
    """At least one message has one of these roles."""
    hint_role: str = ""
    """The role of messages for which the text ends with the hint."""
    hint: str = ""
    """The text that replaces `{hint}`."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        if not facts.messages:
            return True
        if self.roles and not facts.roles.issubset(self.roles):
            return False
        if self.first and not facts.headless and facts.first.isdisjoint(self.first):
            return False
        if self.needs and facts.spoken.isdisjoint(self.needs):
            return False
        if self.role not in facts.spoken:
            return True
        if self.only_before and ("end" not in self.only_before or self.role in ("call", "result")):
            return False
        for before, here in facts.answers if self.role == "result" else facts.steps:
            if self.role in here and (
                not before.isdisjoint(self.after) or (self.only_after and before.isdisjoint(self.only_after))
            ):
                return False
            if self.only_before and self.role in before and here.isdisjoint(self.only_before):
                return False
        return True


class LastMessage(Clause, kw_only=True, frozen=True, tag="last-message"):
    """A request may end only with these messages."""

    code: ClassVar[str] = "PR311"
    roles: tuple[str, ...] = ()
    """The accepted roles of the last message; `prefix` is an assistant message that the model must continue."""
    open_calls: bool = False
    """Whether a call without a result is rejected at the end too."""
    answered: Literal["any", "some", "none"] = "any"
    """For open calls: only in turns where any number of calls, at least one, or none has its result."""
    only_prefix: bool = False
    """Whether a message that the model must continue may only be the last one."""
    after_results: bool = False
    """Whether it applies only if the request declares tools and the turn before the last message has results."""
    with_tools: bool = False
    """Whether it applies only if the request declares tools."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        if not (facts.has_sent_end if named else facts.has_whole_end):
            return True
        if self.only_prefix and "prefix-before-end" in facts.marks:
            return False
        if self.open_calls and "pending" in facts.triggers:
            return False
        if not self.roles or not facts.last.isdisjoint(self.roles):
            return True
        return self.after_results and (facts.request is None or not facts.request.tools)


class EmptyContent(Clause, kw_only=True, frozen=True, tag="empty-content"):
    """Content is not empty."""

    code: ClassVar[str] = "PR312"
    what: Literal["empty-text", "white-text", "no-data", "message", "error-result", "result-list"]
    """An empty piece of text; a text of white space; a piece that is not even a text; a message without content; a result
    that is an error without content; a result whose content is an empty list."""
    roles: tuple[str, ...] = ()
    """Only messages of these roles, as the wire spells them."""
    but_last: bool = False
    """Whether the last message is exempt."""
    alone: bool = False
    """Whether it applies only to a message without other content."""
    unless: str = ""
    """A message with this key is exempt."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        if self.what in _MARKS:
            return _MARKS[self.what] not in facts.marks
        what = "message" if self.what == "message" else "white" if self.what == "white-text" else "text"
        return not any(
            empty == what
            and (not self.roles or role in self.roles)
            and (not self.alone or ("message", role) in facts.empties)
            for empty, role in facts.empties
        )


class TrailingSpace(Clause, kw_only=True, frozen=True, tag="trailing-whitespace"):
    """The last assistant message does not end with white space."""

    code: ClassVar[str] = "PR313"

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        return (
            "trailing-space" not in facts.marks
            or "assistant" not in facts.last
            or not (facts.has_sent_end if named else facts.has_whole_end)
        )


class ThinkingForm(Clause, kw_only=True, frozen=True, tag="thinking-form"):
    """Thinking blocks are returned unchanged."""

    code: ClassVar[str] = "PR314"
    what: Literal[
        "unsigned", "blank-signature", "unfit-signature", "empty", "not-first", "turn-start", "forced-tool", "taken",
    ]  # fmt: skip
    """A thought without a signature; with an empty signature; with a signature that is no text; without words and
    signature; after other content of its message; a turn of calls that does not begin with a thought while thinking is
    on; a forced tool while thinking is on; any thought."""
    always: bool = False
    """Whether thinking is on for all requests."""
    by_default: bool = False
    """Whether a request without the setting thinks as well, so that only the setting `disabled` turns it off."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        if self.what in _MARKS:
            return _MARKS[self.what] not in facts.marks
        request = facts.request
        if not self.always and (request is None or request.thinking != "budget"):
            return True
        if self.what == "forced-tool":
            return request is None or not request.forced
        if self.what == "not-first":
            return "late-thought" not in facts.marks
        ends = facts.has_sent_end if named else facts.has_whole_end
        return not ends or "unthought-turn" not in facts.marks


class ReasoningUnpaired(Clause, kw_only=True, frozen=True, tag="reasoning-unpaired"):
    """Reasoning is next to its output."""

    code: ClassVar[str] = "PR315"
    what: Literal["alone", "call-alone", "missing-field"]
    """A stored reasoning item without its next item; a stored call without the reasoning before it; a message with
    calls that lacks the key for reasoning."""
    scope: Literal["all", "loop"] = "all"
    """The messages that need the key: all with calls, or those behind the last message of the user."""
    said: bool | None = None
    """Only if the request itself enables thinking, only if it does not, or in both cases."""
    by_default: bool = False
    """Whether a request without the setting thinks as well, although no message has the key."""
    key: str = ""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        request, marks = facts.request, facts.marks
        if self.what == "missing-field":
            thinking = request.thinking if request else "unsaid"
            return (
                "call-without-reasoning-field" not in marks
                or thinking == "off"
                or (thinking == "unsaid" and "reasoning-field" not in marks and not self.by_default)
                or (self.said is not None and self.said is not (thinking != "unsaid"))
            )
        if request is None or request.store is False or facts.is_log or facts.headless:
            return True  # the provider does not keep all of the items, or they are not all here
        return ("stranded-reasoning" if self.what == "alone" else "call-without-reasoning") not in marks


class ItemNotStored(Clause, kw_only=True, frozen=True, tag="item-not-stored"):
    """With `store: false`, no item refers to a stored item."""

    code: ClassVar[str] = "PR326"
    kinds: tuple[str, ...]
    """Types of items: a reference, and reasoning whose text only the provider stores."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        if facts.request is None or facts.request.store is not False:
            return True
        return not any(
            one in facts.item_kinds and (one != "reasoning" or "unencrypted-reasoning" in facts.marks)
            for one in self.kinds
        )


class EmptyRequest(Clause, kw_only=True, frozen=True, tag="empty-request"):
    """A request has messages."""

    code: ClassVar[str] = "PR323"
    what: Literal["absent", "empty"]
    """The key of the messages is missing or null; its list is empty."""
    elsewhere: tuple[str, ...] = ()
    """Another API accepts such a request with these keys: a warning, unless the user names the provider."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        return facts.messages > 0 or facts.request is None or facts.headless


class ToolsMissing(Clause, kw_only=True, frozen=True, tag="tools-missing"):
    """A request with calls in its history declares tools."""

    code: ClassVar[str] = "PR316"
    empty: bool = False
    """Whether an empty list of tools is rejected."""
    history: bool = True
    """Whether calls in the history are rejected without tools."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        request = facts.request
        if request is None or not request.whole or request.tools:
            return True
        return not (self.empty and request.tools == 0) and not (self.history and facts.calls)


class UnknownKey(Clause, kw_only=True, frozen=True, tag="unknown-key"):
    """Only these keys are accepted."""

    code: ClassVar[str] = "PR317"
    place: str
    """`message`, `call`, `function`, or the type of a piece of content such as `tool_use`."""
    roles: tuple[str, ...] = ()
    """For messages: of these roles."""
    known: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    """Keys that were rejected, where no list of all known keys exists."""


class ContentKey(Clause, kw_only=True, frozen=True, tag="content-key"):
    """A key is required, or has a required type."""

    code: ClassVar[str] = "PR318"
    what: Literal["content", "calls", "call-type", "result-id", "result-name", "summary"]
    """The content; an empty list of calls; the type of a call; the id or the name in a result; a reasoning summary."""
    kinds: tuple[str, ...] = ()
    """Rejected kinds of content: `absent`, `null`, `no-parts`, `text`, `parts`, `blank`."""
    roles: tuple[str, ...] = ()
    with_calls: bool | None = None
    """Only in messages with calls, only in messages without, or in both."""
    with_reasoning: bool = False
    """Only in messages that have their reasoning under a key beside the content."""
    neither: bool = False
    """Content and calls may not both be missing."""
    last: bool | None = None
    """Only in the last message, only in those before it, or in both."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        if self.what in _MARKS:
            return _MARKS[self.what] not in facts.marks
        if self.what != "content":
            kinds = facts.idless_results if self.what == "result-id" else facts.nameless_results
            return kinds.isdisjoint(self.roles) if self.roles else not kinds
        if self.with_reasoning and "reasoning-field" not in facts.marks:
            return True
        if self.last:
            return facts.last_content is None or not self._refuses(facts.last_content)
        return not any(map(self._refuses, facts.contents))

    def _refuses(self, said: "Said") -> bool:
        content, role, calls = said
        return (
            content in (("absent", "null") if self.neither else self.kinds)
            and (not self.roles or role in self.roles)
            and self.with_calls in (None, calls)
            and not (self.neither and calls)
        )


class OverLimit(Clause, kw_only=True, frozen=True, tag="over-limit"):
    """There is a maximum number."""

    code: ClassVar[str] = "PR319"
    anywhere: ClassVar[bool] = True
    what: Literal["calls", "tools", "messages", "result-characters"]
    most: int

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        if self.what == "tools":
            return facts.request is None or (facts.request.tools or 0) <= self.most
        if self.what == "messages":
            return facts.messages <= self.most
        return (facts.most_calls if self.what == "calls" else facts.longest_result) <= self.most


class ThoughtSignature(Clause, kw_only=True, frozen=True, tag="thought-signature"):
    """Calls have a thought signature."""

    code: ClassVar[str] = "PR320"
    what: Literal["missing", "unfit"]

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        mark = "unsigned-call" if self.what == "missing" else "unfit-signed-call"
        return facts.open_end or mark not in facts.marks


class ResultContent(Clause, kw_only=True, frozen=True, tag="result-content"):
    """Results contain only these kinds of content."""

    code: ClassVar[str] = "PR321"
    parts: tuple[str, ...] = ()
    """The only accepted kinds of parts."""
    refused: tuple[str, ...] = ()
    """Rejected kinds of parts."""
    written: tuple[str, ...] = ()
    """The only accepted encodings of the content: `text`, `list`, `object`, …"""
    kinds: tuple[str, ...] = ()
    """Only results of these types."""
    sources: tuple[str, ...] = ()
    """Rejected sources of parts, such as `image:file`, or `input_file:audio` for the type of a data URL."""
    unless_beta: str = ""
    """Prefix of a beta feature that accepts them; a request may name it in `betas`."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        if self.kinds and all(kind not in self.kinds for kind, _ in facts.results):
            return True
        parts = facts.result_parts
        if "file-result" in facts.marks and any(one.partition(":")[0] in parts for one in self.sources):
            return False
        if not parts.isdisjoint(self.refused) or (self.parts and not parts.issubset(self.parts)):
            return False
        return not self.written or all(
            written in self.written or (self.kinds and kind not in self.kinds)
            for kind, written in facts.results
        )


class BlockAfterCall(Clause, kw_only=True, frozen=True, tag="block-after-call"):
    """Nothing is after the calls of a message."""

    code: ClassVar[str] = "PR322"

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        return "text-after-call" not in facts.marks


class FinalThinking(Clause, kw_only=True, frozen=True, tag="final-thinking"):
    """An assistant message does not end with a thinking block."""

    code: ClassVar[str] = "PR324"

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        return facts.is_log or "final-thinking" not in facts.marks


class ContentKind(Clause, kw_only=True, frozen=True, tag="content-kind"):
    """Messages contain only these kinds of content."""

    code: ClassVar[str] = "PR325"
    role: str = ""
    """Messages of this role. If empty, those of all roles whose content is a list of parts."""
    kinds: tuple[str, ...] = ()
    """Accepted kinds, as the wire spells them; a content that is a text has the kind `text`."""
    refused: tuple[str, ...] = ()
    """Rejected kinds, in place of `kinds`."""
    unless_tool_key: str = ""
    """They are accepted if a declared tool has this key, or if the record declares no tools."""
    bare: bool = True
    """Whether a list of parts may have a string in place of a part."""
    text_type: str = ""
    """The type of text parts in messages of the role, or of all roles but `assistant`; no other field applies then."""

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        if self.text_type:
            return "odd-text" not in facts.marks
        if not self.role:
            return all(content != "parts" for content, _, _ in facts.contents)
        takes_texts = bool(self.refused) or "text" in self.kinds
        return self.role not in facts.roles or (takes_texts and self.role not in facts.mixed_roles)


_MARKS: dict[str, "Mark"] = {
    "calls": "no-calls", "call-type": "untyped-call", "summary": "reasoning-without-summary",
    "error-result": "failed-hollow-result", "result-list": "empty-list-result",
    "unsigned": "unsigned-thought", "blank-signature": "blank-signed-thought", "taken": "thought",
    "unfit-signature": "unfit-signed-thought", "empty": "empty-thought",
}  # fmt: skip
"""Mark of the keys, contents and thinking blocks that a clause rejects, by its `what`."""

AnyClause = (
    IdCharset | IdLength | IdForm | IdCollision | IdUnique | NameForm | ArgumentsEncoding | ResultNotFirst
    | ResultsTogether | RoleOrder | LastMessage | EmptyContent | TrailingSpace | ThinkingForm | ReasoningUnpaired
    | ToolsMissing | UnknownKey | ContentKey | OverLimit | ThoughtSignature | ResultContent | BlockAfterCall
    | FinalThinking | ContentKind | ItemNotStored | EmptyRequest
)  # fmt: skip
