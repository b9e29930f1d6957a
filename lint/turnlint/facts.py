"""Define the facts about one conversation: the only input of the check whether a rule may report something.

`ConversationFacts` is a plain value. `turnlint.extraction` computes it from a paired conversation. The native
scanner computes the same value from the bytes of a line. Rules declare their triggers, and clauses check
themselves against the value. No other code decides whether a conversation is sound.

Triggers, marks and upper bounds may be too inclusive, so that a rule runs in vain. They are never too
exclusive. Labels, and all values made of labels, are exact.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from turnlint.model import Arguments, Content, Request, Written
from turnlint.names import NO_NAMES, Names, tool_names_of

if TYPE_CHECKING:
    from turnlint.keys import Strict

Labels = frozenset[str]
"""Properties of a message or turn: its role as written, `call` if it has calls, `result` if it has results,
and `server-result` if its last block is a result of the provider's own tools.
"""
Step = tuple[Labels, Labels]
"""The labels of a turn, and those of the next turn."""
Said = tuple[Content, str, bool]
"""The content of a message, its role as written, and whether it has calls."""
Empty = Literal["message", "text", "white"]
"""A message without blocks; an empty text in a list of parts; a text of nothing but white space, in any place."""

Mark = Literal[
    "call-without-reasoning", "call-without-reasoning-field", "empty-key", "empty-list-result", "empty-thought",
    "failed-hollow-result", "file-result", "final-thinking", "idless-call", "idless-server-call", "item-twice", "late-thought",
    "no-calls", "odd-text", "prefix-before-end", "reasoning-field", "reasoning-without-summary", "result-behind", "result-beside", "scattered-results",
    "spoken-between", "stranded-reasoning", "text-after-call", "thought", "trailing-space", "unencrypted-reasoning",
    "unfit-signed-call", "unfit-signed-thought", "unsigned-call", "unsigned-thought", "blank-signed-thought",
    "uncounted-call", "unthought-turn", "untyped-call",
]  # fmt: skip
"""Properties of at least one piece of the conversation. Calls and results are those of the caller's own tools, if the mark
does not say otherwise.

- `call-without-reasoning`: some reasoning item has an id, and a call with an item id that begins with `fc_` has no
  reasoning item between the last message of the user and itself.
- `call-without-reasoning-field`: a message of the assistant has calls (also of the provider's tools) and no
  `reasoning_content`, or null.
- `empty-key`: the arguments of a call contain two quotation marks in sequence.
- `empty-list-result`, `failed-hollow-result`: the content of a result is an empty list; a result that is marked as an
  error is nothing, null, an empty text or an empty list.
- `thought`: a message of the assistant has a thinking block. `late-thought`: the first thinking block of a message is
  behind other content, or behind an empty text. `unsigned-thought`, `blank-signed-thought`: a thinking block with words
  and without a cipher has no signature, or an empty one. `unfit-signed-thought`: its signature is no text.
  `empty-thought`: it has no words, no cipher and no signature, or an empty one. The native side may set all of these.
- `file-result`: a part of a result is a file that the provider keeps, or a sound.
- `final-thinking`: a message of the assistant ends in a thinking block, and neither an empty text nor a message of the
  same turn (on wires that join messages) follows it.
- `idless-call`, `idless-server-call`: a call has no id, an empty one or `null`.
- `item-twice`: two items have one id.
- `no-calls`: a message has an empty list of calls.
- `odd-text`: a text part has the type of another role, or a type that the wire does not have.
- `prefix-before-end`: a message that is not the last one has a `prefix`.
- `reasoning-field`: a message has a key for reasoning beside its content (`reasoning_content`), also with null.
- `result-behind`: in a message of role `user` or `tool`, or in a row of messages of role `user` on a wire that joins
  them, other content (also an empty text) is before a result. `result-beside`: other content is in the same
  message as a result.
- `scattered-results`: the results of the calls of one turn are in several messages.
- `spoken-between`: a message that is empty or has more than calls, results and thoughts is between the message of
  a call and the message of its result.
- `stranded-reasoning`: the next item behind a reasoning item with an id is no reasoning and has no id, or nothing
  follows it.
- `text-after-call`: a text is behind a call in one message of the assistant, or in one turn on wires that join
  messages.
- `trailing-space`: the last block of the last message is a text that ends in white space.
- `uncounted-call`: the id of a call is not `NAME:N`, where `NAME` is not empty and has no colon, and `N` counts the
  calls from 0; or a result has an id that no call has.
- `reasoning-without-summary`: a reasoning item has no key `summary`. The native side leaves such records to Python.
- `unencrypted-reasoning`: a reasoning item has an id and no encrypted content.
- `unfit-signed-call`: the signature of a call is no text. `unsigned-call`: the first call of a message has no signature,
  or an empty one, and the message is behind the last words of the user.
- `unthought-turn`: the last message is not of the assistant; of the messages at the end that are of the assistant or
  hold results, the first of the assistant has calls and no thinking block.
- `untyped-call`: a call lacks the key for its type."""

ITEM_PREFIXES = {
    "message": "msg", "reasoning": "rs", "function_call": "fc", "function_call_output": "fco",
    "custom_tool_call": "ctc", "custom_tool_call_output": "ctco",
}  # fmt: skip
"""Prefix of the id of an item, by the type of the item."""
ITEM_PATTERNS = {kind: f"{prefix}[A-Za-z0-9_-]*" for kind, prefix in ITEM_PREFIXES.items()}
"""Pattern of the whole id."""


TRIGGERS = frozenset({
    "arguments", "by-position", "dead", "dialect", "duplicate", "early", "echo", "empty", "id", "late", "lifecycle",
    "link", "marker", "misfit", "name", "open", "orphan", "outside", "pending", "renamed", "respelled", "server", "split",
    "switch", "taken",
})  # fmt: skip
"""Every word of `ConversationFacts.triggers`."""


class RequestFacts(Struct, frozen=True):
    """The properties of a request beside its messages. `request_facts` computes them once for each envelope."""

    whole: bool = False
    """As `Request.whole`."""
    thinking: Literal["off", "budget", "adaptive", "unsaid"] = "unsaid"
    forced: bool = False
    store: bool | None = None
    tools: int | None = None
    """Number of declared tools, or `None` if the request has no such key."""
    tool_names: Names = NO_NAMES
    """Names of the declared tools of kind `function`."""
    has_twin_tools: bool = False
    """Whether two of these share a name."""


class Keys(Protocol):
    """The keys of the messages as they are written."""

    def has_only_known(self, known: "Strict", /) -> bool:
        """Whether no message of the request has a key that a clause of `known.clauses` (by place) rejects."""


class _NoKeys:
    """Keys of conversations outside of a request, which no provider checks."""

    def has_only_known(self, _: "Strict") -> bool:
        return True


NO_KEYS = _NoKeys()


class ConversationFacts(Struct, frozen=True):
    """The properties of a conversation, each kind once."""

    triggers: frozenset[str] = frozenset()
    """Deviations that rules about state and pairing report:

    - Words of the ledger (`turnlint.ledger.Odd`): `open`, `pending`, `late`, `early`, `respelled`, `server`,
      `duplicate`; `taken` only if two calls share a usable id; `by-position` only if the results of a turn are in another order than its calls; `orphan` only if no
      provider keeps the part before the request; `renamed` without names that the wire ignores (`harmless`).
    - `arguments`: arguments that are neither an object, nothing nor free text.
    - `dead`: the conversation is an abandoned part of a session. `misfit`: a value has an unexpected JSON kind.
    - `dialect`: a role, call, result or block has the encoding of another wire.
    - `echo`: a call is inside a message of results. `empty`: a message has nothing at all in it (`Message.empty`).
    - `id`: a call or result that needs an id has none, an empty one or `null`.
    - `lifecycle`: the marks of a result contradict each other. `link`: a record has no id of its own, or its parent is
      unknown, or its own descendant.
    - `marker`: a text begins a call. `name`: a call lacks a name, or a result of kind `function` does.
    - `outside`: on a wire with results anywhere, something that is no result is between a call and its result.
    - `split`: calls of one response are in several messages, with results between them.
    - `switch`: messages of the assistant have different origins."""
    request: RequestFacts | None = None
    messages: int = 0
    """Number of messages. The native side may give an upper bound; 0 only if there is none."""
    has_whole_end: bool = False
    """Whether the last message is the end of a whole request (`Request.whole`, no `open_end`)."""
    has_sent_end: bool = False
    """Whether the last message is in the list of messages of a request."""
    is_log: bool = False
    """As `Transcript.is_log`."""
    headless: bool = False
    """As `Transcript.headless`."""
    open_end: bool = False
    """As `Transcript.open_end`."""
    roles: frozenset[str] = frozenset()
    """Roles as written."""
    contents: frozenset[Said] = frozenset()
    last_content: Said | None = None
    """Content of the last message."""
    empties: frozenset[tuple[Empty, str]] = frozenset()
    """Kinds of empty content, with the role of its message as written."""
    mixed_roles: frozenset[str] = frozenset()
    """Roles, as written, of messages with a block that is no text."""
    marks: frozenset[Mark] = frozenset()
    steps: frozenset[Step] = frozenset()
    """Pairs of successive turns; the first turn follows `start`."""
    answers: frozenset[Step] = frozenset()
    """The same, but the first of each pair is the last message of its turn with more than thoughts."""
    first: Labels = frozenset()
    """Labels of the first message."""
    spoken: frozenset[str] = frozenset()
    """The union of all labels."""
    last: frozenset[str] = frozenset()
    """Role of the last message, its role as written, and `prefix` if it has one."""
    authors: Names = NO_NAMES
    """The `name` of messages."""
    ids: Names = NO_NAMES
    """Ids of the caller's own calls and results: all that are neither missing nor redacted.

    Others may be among them.
    """
    names: Names = NO_NAMES
    """Names of the caller's own tools that are called, without missing and empty ones."""
    result_names: Names = NO_NAMES
    """Names of tools in results, without missing and empty ones."""
    server_names: frozenset[str] = frozenset()
    """Names of the provider's own tools that are called."""
    server_heads: frozenset[str] = frozenset()
    """Prefixes of ids of calls and results of the provider's own tools: up to the first `_`, or empty without one."""
    server_tails: Names = NO_NAMES
    """The rest of these ids."""
    calls: int = 0
    """Number of calls of the caller's own tools. The native side may give an upper bound; 0 only if there is none."""
    most_calls: int = 0
    """Greatest number of calls of the caller's own tools in one message; an upper bound."""
    arguments: frozenset[tuple[Written, Arguments]] = frozenset()
    """Encoding and kind of the arguments of all calls."""
    results: frozenset[tuple[str, Written]] = frozenset()
    """Type of each result (`Result.kind`), and the encoding of its content; not of the provider's own tools."""
    result_parts: frozenset[str] = frozenset()
    """Kinds of the parts of these results."""
    nameless_results: frozenset[str] = frozenset()
    """Types of results without a name, of any tool."""
    idless_results: frozenset[str] = frozenset()
    """Types of results without an id, of any tool."""
    longest_result: int = 0
    """Greatest size of a result in bytes, as JSON, of any tool; an upper bound."""
    item_kinds: frozenset[str] = frozenset()
    """Types of items with an id of their own."""
    odd_items: frozenset[str] = frozenset()
    """Types of items whose id does not match `ITEM_PATTERNS`. The native side may leave out types that it lacks."""
    longest_item: int = 0
    """Greatest length of an id of an item; an upper bound."""
    keys: Keys = NO_KEYS


def request_facts(request: Request | None) -> RequestFacts | None:
    """Return the facts about the request around a conversation."""
    if request is None:
        return None
    declared = request.tools or ()
    names = [one.name for one in declared if one.kind == "function" and one.name is not None]
    distinct = set(names)
    return RequestFacts(
        request.whole,
        request.thinking,
        request.forced,
        request.store,
        None if request.tools is None else len(declared),
        tool_names_of(distinct),
        len(distinct) < len(names),
    )


def are_linked(links: Iterable[tuple[str | None, str | None]]) -> bool:
    """Whether each record has an id of its own and names another record, without a cycle."""
    parents: dict[str, str | None] = {}
    is_in_order = True
    for name, parent in links:
        if name is None:
            continue
        if name in parents:
            return False
        is_in_order = is_in_order and (parent is None or parent in parents)
        parents[name] = parent
    return is_in_order or (_are_known(parents) and not _has_cycle(parents))


def _are_known(parents: dict[str, str | None]) -> bool:
    return all(parent is None or parent in parents for parent in parents.values())


def _has_cycle(parents: dict[str, str | None]) -> bool:
    done: set[str | None] = {None}
    for start in parents:
        path: set[str | None] = set()
        at: str | None = start
        while at not in done and at not in path:
            path.add(at)
            at = parents[at] if at is not None else None
        if at in path:
            return True
        done |= path
    return False
