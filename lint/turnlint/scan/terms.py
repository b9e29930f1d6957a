"""What a profile asks of a sound conversation, in few words.

This module owns the way from a profile's clauses to the handful of bounds that a scanner checks of a conversation
whose calls are all answered at once and in place. A clause that cannot be said in them makes the profile one that
nothing is vouched for under. It refuses to look at a conversation.
"""

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct, field, structs

from turnlint.bounded_cache import BoundedCache
from turnlint.case import Case
from turnlint.clause import Clause
from turnlint.clauses import (
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
from turnlint.extraction import facts_of

Takes = Callable[[str], Any]
_PIECES = {
    "text": "text", "tool_use": "input", "tool_result": "content", "image": "source", "document": "source",
    "image_url": "image_url", "file": "file", "input_audio": "input_audio",
}  # fmt: skip
"""Pieces of content that may be met, and the key that says what each holds."""
NO_LIMIT = 1 << 62
MOST_NAMES, MOST_LETTERS = 1000, 1 << 17
"""Of so many names of tools, and as long as they are together, it is kept what they were found to be."""


class Shapes(Struct, frozen=True):
    """How a wire writes what a scanner knows of it."""

    arguments: str
    """`text` or `object`."""
    result: str
    """The kind that the wire writes for a result."""
    alone: bool
    """Results stand together in one message, and nothing else with them."""
    keys: dict[str, frozenset[str]]
    """The keys by the place that clauses about keys name: of messages, calls and blocks."""
    extras: frozenset[str] = frozenset()
    """Keys that messages may have besides, where nobody minds."""
    lax: frozenset[str] = frozenset()
    """What else may be met, unless a clause minds: `absent` or `blank` contents beside calls, `blank-result`, contents
    that are lists of `parts`, `media` among them, results that are lists (`list-result`) and show something
    (`shown-result`), `cache` marks, names of an `author`, a `thought` that is signed and stands first or another
    (`odd-thought`), blocks with other `keys` than those, and results of one turn that stand `apart`."""


class Terms(Struct):
    """The bounds."""

    roles: frozenset[str]
    first: frozenset[str] = frozenset()
    last: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    ids: list[Takes] = []
    longest_id: int = NO_LIMIT
    names: list[Takes] = []
    null_beside_calls: bool = True
    calls: bool = True
    extras: bool = True
    hollow_results: bool = True
    spaced_end: bool = True
    most_messages: int = NO_LIMIT
    most_calls: int = NO_LIMIT
    longest_result: int = NO_LIMIT
    lax: set[str] = field(default_factory=set)
    authors: list[Takes] = field(default_factory=list)
    named: BoundedCache[str, bool] = field(default_factory=lambda: BoundedCache(MOST_NAMES, MOST_LETTERS))
    """Names that were looked at."""

    def may_speak(self, roles: list[str]) -> bool:
        """Whether these roles are known here, and may come first and last."""
        return (
            self.roles.issuperset(roles)
            and not (self.first and roles[0] not in self.first)
            and not (self.last and roles[-1] not in self.last)
            and not (self.needs and self.needs.isdisjoint(roles))
        )

    def take_names(self, names: set[str]) -> bool:
        for name in names:
            known = self.named.get(name)
            if known is None:
                known = bool(name) and all(takes(name) for takes in self.names)
                self.named.put(name, known, len(name))
            if not known:
                return False
        return True

    def take_ids(self, ids: list[str]) -> bool:
        if max(map(len, ids)) > self.longest_id:
            return False
        return all(takes(one) for takes in self.ids for one in ids)


def terms_of(cases: list[Case], roles: frozenset[str], shapes: Shapes) -> Terms | None:
    """What all these providers ask together; nothing where one of them asks what cannot be said here.

    The cases are of a conversation without messages: what a request says is judged at once, by the checks that
    projection has for it.
    """
    terms = Terms(roles, lax=set(shapes.lax))
    for case in cases:
        for clauses in case.profile.by_code.values() if case.profile else ():
            for clause in clauses:
                if case.holds(clause) and not _add(case, clause, terms, shapes):
                    return None
    return terms


def _add(case: Case, clause: Clause, terms: Terms, shapes: Shapes) -> bool:
    add = _ADDS.get(type(clause))
    return add is not None and add(case, clause, terms, shapes)


def _id_charset(_: Case, clause: IdCharset, terms: Terms, __: Shapes) -> bool:
    terms.ids.append(re.compile(clause.pattern).fullmatch)
    return True


def _id_length(_: Case, clause: IdLength, terms: Terms, __: Shapes) -> bool:
    if clause.of == "call":
        terms.longest_id = min(terms.longest_id, clause.most)
    return True


def _id_form(_: Case, clause: IdForm, terms: Terms, __: Shapes) -> bool:
    if clause.of == "call" and clause.pattern:
        terms.ids.append(re.compile(clause.pattern, re.DOTALL).fullmatch)
    return clause.of != "call" or not clause.global_count


def _name_form(case: Case, clause: NameForm, terms: Terms, _: Shapes) -> bool:
    if clause.of == "tool":
        return _of_request(case, clause, terms, _)
    takes = re.compile(clause.pattern or ".*", re.DOTALL).fullmatch
    most, known = clause.most or NO_LIMIT, frozenset(clause.names)
    held = terms.names if clause.of in ("call", "result") else terms.authors
    held.append(
        lambda name: takes(name) and clause.least <= len(name) <= most and (not known or name in known)
    )
    return not clause.unique


def _arguments(_: Case, clause: ArgumentsEncoding, __: Terms, shapes: Shapes) -> bool:
    if clause.wants in ("text", "object"):
        return clause.wants == shapes.arguments
    return clause.wants in ("json", "json-object")


def _first(_: Case, clause: ResultNotFirst, __: Terms, shapes: Shapes) -> bool:
    """Where results may stand apart, words may stand behind them."""
    return shapes.alone and not (clause.alone and "apart" in shapes.lax)


def _not_together(_: Case, clause: ResultsTogether, terms: Terms, shapes: Shapes) -> bool:
    terms.lax -= {"apart"}
    return shapes.alone or clause.place != "message"


def _role_order(_: Case, clause: RoleOrder, terms: Terms, __: Shapes) -> bool:
    if clause.roles:
        terms.roles &= frozenset(clause.roles)
    if clause.first:
        terms.first = terms.first & frozenset(clause.first) if terms.first else frozenset(clause.first)
        if not terms.first:
            return False
    if clause.needs:
        if terms.needs:
            return False
        terms.needs = frozenset(clause.needs)
    if clause.role:
        terms.roles -= {clause.role}
    return clause.role not in ("call", "result")


def _last(case: Case, clause: LastMessage, terms: Terms, _: Shapes) -> bool:
    if clause.roles and case.transcript.request is not None:  # lines of a log are no request that ends
        terms.last = terms.last & frozenset(clause.roles) if terms.last else frozenset(clause.roles)
        return bool(terms.last)
    return True


def _empty(_: Case, clause: EmptyContent, terms: Terms, __: Shapes) -> bool:
    if clause.what in ("error-result", "result-list"):
        terms.hollow_results = False
    elif clause.what != "message":
        terms.lax -= {"blank"}
    return True


def _trailing(_: Case, __: TrailingSpace, terms: Terms, ___: Shapes) -> bool:
    terms.spaced_end = False
    return True


def _of_request(case: Case, clause: Clause, _: Terms, __: Shapes) -> bool:
    """Whether a clause holds for the request, whatever its messages are."""
    facts = structs.replace(
        facts_of(case.transcript, case.ledger),
        has_whole_end=True,
        has_sent_end=True,
        marks=frozenset({"unthought-turn", "call-without-reasoning-field"}),
    )
    return clause.is_satisfied_by(facts, named=case.named)


def _tools(case: Case, clause: ToolsMissing, terms: Terms, _: Shapes) -> bool:
    request = case.transcript.request
    if request is None or request.tools:
        return True
    terms.calls &= not clause.history
    return not (clause.empty and request.tools == ())


def _content(_: Case, clause: ContentKey, terms: Terms, shapes: Shapes) -> bool:
    if clause.what in ("calls", "call-type"):
        return True
    if clause.what != "content":
        return bool(clause.roles) and shapes.result not in clause.roles
    if clause.with_calls is not False and (not clause.roles or "assistant" in clause.roles):
        terms.null_beside_calls &= "null" not in clause.kinds
        terms.lax.difference_update(clause.kinds)
    if "blank" in clause.kinds and (not clause.roles or shapes.result in clause.roles):
        terms.lax -= {"blank-result"}
    return not {"text", "parts"}.intersection(clause.kinds)


def _limit(case: Case, clause: OverLimit, terms: Terms, _: Shapes) -> bool:
    if clause.what == "tools":
        return _of_request(case, clause, terms, _)
    if clause.what == "messages":
        terms.most_messages = min(terms.most_messages, clause.most)
    elif clause.what == "calls":
        terms.most_calls = min(terms.most_calls, clause.most)
    else:
        terms.longest_result = min(terms.longest_result, clause.most)
        terms.lax -= {"list-result"}
    return True


def _signature(_: Case, clause: ThoughtSignature, terms: Terms, __: Shapes) -> bool:
    terms.calls &= clause.what == "unfit"
    terms.lax -= {"thought"}
    return True


def _thought(case: Case, clause: ThinkingForm, terms: Terms, shapes: Shapes) -> bool:
    terms.lax -= {"odd-thought", "thought"} if clause.what == "taken" else {"odd-thought"}
    return clause.what not in ("turn-start", "forced-tool") or _of_request(case, clause, terms, shapes)


def _reasoning(case: Case, clause: ReasoningUnpaired, terms: Terms, shapes: Shapes) -> bool:
    terms.lax -= {"thought"}
    return _of_request(case, clause, terms, shapes)


def _result_content(_: Case, clause: ResultContent, terms: Terms, __: Shapes) -> bool:
    text = "text" not in clause.refused and (not clause.parts or "text" in clause.parts)
    if clause.refused or not {"image", "document"}.issubset(clause.parts or ("image", "document")):
        terms.lax -= {"shown-result"}
    if not text or (clause.written and "list" not in clause.written):
        terms.lax -= {"list-result"}
    return not clause.written or "text" in clause.written


def _keys(case: Case, clause: UnknownKey, terms: Terms, shapes: Shapes) -> bool:
    if case.transcript.is_log:  # it is no request, whose keys somebody refuses
        return True
    places = (clause.place,) if clause.place != "message" else clause.roles or tuple(terms.roles)
    terms.lax -= _minded(clause)
    written = frozenset[str]().union(*(shapes.keys.get(place, frozenset()) for place in places))
    if clause.place == "message":
        terms.extras &= shapes.extras.isdisjoint(clause.refused)
        terms.extras &= not clause.known or shapes.extras <= set(clause.known)
    return written.isdisjoint(clause.refused) and (not clause.known or written <= set(clause.known))


def _minded(clause: UnknownKey) -> set[str]:
    """What a clause about the keys of a piece of content leaves out."""
    own = _PIECES.get(clause.place)
    if own is None:
        return {"parts", "media"} if clause.place == "part" else set()

    def takes(key: str) -> bool:
        return key not in clause.refused and (not clause.known or key in clause.known)

    minded = set() if takes("cache_control") else {"cache"}
    return minded if takes("type") and takes(own) else minded | {"parts", "media"}


def _content_kind(_: Case, clause: ContentKind, terms: Terms, __: Shapes) -> bool:
    terms.roles -= {clause.role}
    if not clause.role:
        terms.lax -= {"parts", "list-result"}
    return True


def _nothing(*_: Any) -> bool:
    """Of a clause that a tidy conversation of plain texts and calls cannot offend."""
    return True


_ADDS: dict[type[Clause], Callable[[Case, Any, Terms, Shapes], bool]] = {
    IdCharset: _id_charset,
    IdLength: _id_length,
    IdForm: _id_form,
    IdUnique: _nothing,
    IdCollision: _nothing,
    NameForm: _name_form,
    ArgumentsEncoding: _arguments,
    ResultNotFirst: _first,
    ResultsTogether: _not_together,
    RoleOrder: _role_order,
    LastMessage: _last,
    EmptyContent: _empty,
    TrailingSpace: _trailing,
    ThinkingForm: _thought,
    ReasoningUnpaired: _reasoning,
    ItemNotStored: _nothing,
    EmptyRequest: _nothing,
    ToolsMissing: _tools,
    UnknownKey: _keys,
    ContentKey: _content,
    OverLimit: _limit,
    ThoughtSignature: _signature,
    ResultContent: _result_content,
    BlockAfterCall: _nothing,
    FinalThinking: _nothing,
    ContentKind: _content_kind,
}
