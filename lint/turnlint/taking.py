"""Is one clause of a provider kept?

This module owns one test for each kind of clause, over a paired conversation. It may say no where the rule of that
clause has nothing to say, never yes where it has. It refuses to know which clauses there are.
"""

import re
import sys
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

from msgspec import Struct

from turnlint.case import Case
from turnlint.clauses import (
    ArgumentsEncoding,
    BlockAfterCall,
    Clause,
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
from turnlint.keys import Strict, strange
from turnlint.ledger import is_missing, usable
from turnlint.model import ANSWERED, Call, Result, Text, Thinking

Check = Callable[[Case, Any], bool]
_SAID = frozenset({"text", "parts"})
_NOTHING = frozenset({b"", b"null", b'""', b"[]"})


def known_keys(case: Case, known: Strict) -> bool:
    request = case.transcript.request
    if request is None or not request.key or not case.spelled:
        return True
    outline = case.transcript.outline
    if outline is not None and known.takes_samples(outline.samples):
        return True
    return known.takes(request.record.data, (*request.at, request.key)) or not any(
        next(strange(case.written(index), message.written_role, known.clauses), None)
        for index, message in enumerate(case.messages)
        if case.sent(index)
    )


def unlike(*_: object) -> bool:
    """Of a kind of clause that nothing here knows."""
    return False


@lru_cache(maxsize=256)
def _takes(pattern: str) -> Callable[[str], object]:
    return re.compile(pattern or ".*", re.DOTALL).fullmatch


_LETTERS = r"\[(?:\w-\w|\w|-(?=\]))+\]\+"
_FEW = 8
"""So few names are held to a pattern one by one."""


@lru_cache(maxsize=256)
def letters_of(pattern: str) -> bytes | None:
    """The letters of a pattern that asks no more than which ones a name is made of."""
    if not re.fullmatch(_LETTERS, pattern, re.ASCII):
        return None
    takes = _takes(pattern)
    return bytes(one for one in range(128) if takes(chr(one)))


def _id_charset(case: Case, clause: IdCharset) -> bool:
    return _are_taken(case, clause.pattern)


def _are_taken(case: Case, pattern: str) -> bool:
    """Whether the ids that calls and results of the caller's own tools bear are such."""
    traits = case.traits
    if pattern not in traits.taken:
        traits.taken[pattern] = _takes_all(pattern, traits.ids)
    return traits.taken[pattern]


def _takes_all(pattern: str, names: Collection[str]) -> bool:
    """All at once, where they are many and that can be told of their letters."""
    letters = letters_of(pattern) if len(names) > _FEW else None
    whole = "".join(names) if letters is not None else ""
    if letters is None or not whole.isascii():
        return all(map(_takes(pattern), names))
    return "" not in names and not whole.encode().translate(None, letters)


def _id_length(case: Case, clause: IdLength) -> bool:
    return _no_items(case) if clause.of == "item" else case.traits.longest_id <= clause.most


def _id_form(case: Case, clause: IdForm) -> bool:
    if clause.of == "item":
        return _no_items(case)
    takes, server = _takes(clause.pattern), clause.of == "server"
    concerned = [
        call
        for call in case.traits.calls
        if call.server == server and not (clause.kinds and call.kind not in clause.kinds)
    ]
    if any(is_missing(call.id) or not takes(call.id or "") for call in concerned):
        return False
    if clause.global_count and not all(
        (call.id or "").endswith(f":{number}") for number, call in enumerate(concerned)
    ):
        return False
    known = {call.id for call in concerned}
    return all(
        one.server != server or one.id in known or not usable(one.id) or takes(one.id or "")
        for one in case.traits.results
    )


class Ids(Struct, frozen=True):
    """What a provider asks of the ids of calls, all clauses together."""

    most: int
    patterns: tuple[str, ...]


def ids_of(case: Case) -> Ids:
    forms = [one.pattern for one in case.clauses(IdForm, spelled=False) if one.of == "call" and one.pattern]
    letters = [one.pattern for one in case.clauses(IdCharset, spelled=False)]
    lengths = (one.most for one in case.clauses(IdLength, spelled=False) if one.of == "call")
    return Ids(min(lengths, default=sys.maxsize), tuple(dict.fromkeys((*forms, *letters))))


def _id_collision(case: Case, ids: Ids) -> bool:
    """Ids become one only where one of them has to be mended."""
    return case.traits.longest_id <= ids.most and all(_are_taken(case, one) for one in ids.patterns)


def _no_items(case: Case) -> bool:
    return "item" not in case.traits.marks


def _id_unique(case: Case, clause: IdUnique) -> bool:
    return _no_items(case) if clause.of == "item" else "taken" not in case.ledger.odd


def _name_form(case: Case, clause: NameForm) -> bool:
    if clause.of == "author":
        return "name" not in case.traits.marks
    if clause.of == "tool":
        request = case.transcript.request
        tools = (request.tools if request else None) or ()
        names = {tool.name or "" for tool in tools}
        if len(names) < len(tools):
            return False
    elif clause.unique:
        return False
    elif clause.of == "result":
        names = case.traits.result_names
    else:
        names = case.traits.names[clause.of == "server"]
    takes, known = _takes(clause.pattern), clause.names
    for name in names:
        length = len(name)
        if length < clause.least or (clause.most and length > clause.most) or not takes(name):
            return False
        if known and name not in known:
            return False
    return True


def _arguments(case: Case, clause: ArgumentsEncoding) -> bool:
    wanted = clause.wants if clause.wants in ("text", "object") else None
    for call in case.traits.calls:
        if call.arguments == "free":
            continue
        if wanted is not None and call.written != wanted:
            return False
        if wanted is None and (
            call.arguments != "object" or (clause.wants == "no-empty-key" and b'""' in call.body)
        ):
            return False
    return True


def _only_results(case: Case, _: Clause) -> bool:
    """Every message with results holds nothing else and follows on the turn that asked."""
    before = ""
    letters = case.traits.letters
    for index, message in enumerate(case.messages):
        if letters and not letters[index] & ANSWERED:
            before = message.role
            continue
        blocks = message.blocks
        kinds = (type(blocks[0]),) if len(blocks) == 1 else set(map(type, blocks))
        if Result in kinds:
            mixed = bool(message.blanks) or len(kinds) > 1 or before != "assistant"
            if mixed and any(type(block) is Result and not block.server for block in blocks):
                return False
        before = message.role
    return True


def _together(case: Case, clause: ResultsTogether) -> bool:
    if clause.place == "message":
        place: dict[int, int] = {}
        return all(
            one.answer is None
            or one.asked.call.server
            or place.setdefault(one.asked.turn, one.answer.message) == one.answer.message
            for one in case.ledger.interactions
        )
    return all(
        one.answer is None or case.next_words[one.asked.message + 1] >= one.answer.message
        for one in case.ledger.interactions
    )


def _role_order(case: Case, clause: RoleOrder) -> bool:
    if not case.messages:
        return True
    if clause.roles and not case.traits.roles.issubset(clause.roles):
        return False
    if clause.first and case.traits.first.isdisjoint(clause.first):
        return False
    if clause.needs and not case.traits.speaks(clause.needs):
        return False
    if not clause.role:
        return True
    steps = case.traits.answers if clause.role == "result" else case.traits.steps
    return not any(
        (
            clause.role in here
            and (
                before.intersection(clause.after)
                or (clause.only_after and before.isdisjoint(clause.only_after))
            )
        )
        or (clause.only_before and clause.role in before and here.isdisjoint(clause.only_before))
        for before, here in steps
    )


def _last(case: Case, clause: LastMessage) -> bool:
    if not case.ends:
        return True
    last = case.messages[-1]
    if clause.only_prefix and "prefix" in case.traits.marks:
        return False
    if clause.open_calls and "pending" in case.ledger.odd:
        return False
    return not clause.roles or last.role in clause.roles or last.written_role in clause.roles


def _empty(case: Case, clause: EmptyContent) -> bool:
    if clause.what in ("error-result", "result-list"):
        hollow = (result for result in case.traits.results if without_space(result.body.strip()) in _NOTHING)
        return not any(result.error or clause.what == "result-list" for result in hollow)
    return "hollow" not in case.traits.marks


def _trailing(case: Case, _: TrailingSpace) -> bool:
    blocks = case.messages[-1].blocks if case.messages else ()
    return not (blocks and isinstance(blocks[-1], Text) and blocks[-1].trailing)


def _thinking(case: Case, clause: ThinkingForm) -> bool:
    request = case.transcript.request
    if clause.what in ("turn-start", "forced-tool"):
        return not clause.always and (request is None or request.thinking != "budget")
    return not case.traits.thoughts or all(
        clause.what != "taken"
        and place == 0
        and not message.blanks
        and thought.words
        and thought.signature == "given"
        for message, place, thought in case.traits.thoughts
    )


def _stored(case: Case, _: ItemNotStored) -> bool:
    request = case.transcript.request
    return request is None or request.store is not False or _no_items(case)


def _has_messages(case: Case, _: EmptyRequest) -> bool:
    return bool(case.messages)


def _reasoning(case: Case, _: ReasoningUnpaired) -> bool:
    request = case.transcript.request
    silent = request is None or request.thinking not in ("budget", "adaptive")
    return silent and "reasoning" not in case.traits.marks


def _tools(case: Case, clause: ToolsMissing) -> bool:
    request = case.transcript.request
    if request is None or request.tools:
        return True
    if clause.empty and request.tools == ():
        return False
    return not clause.history or not case.ledger.interactions


def _content(case: Case, clause: ContentKey) -> bool:
    if clause.what == "calls":
        return "no-calls" not in case.traits.marks
    if clause.what == "call-type":
        return all(call.kind for call in case.traits.calls)
    if clause.what != "content":
        named = (one for one in case.traits.results if not clause.roles or one.kind in clause.roles)
        return all(not is_missing(one.id) and one.name for one in named)
    for content, role, calls in case.traits.contents:
        if content in _SAID and content not in clause.kinds:
            continue
        if (not clause.roles or role in clause.roles) and clause.with_calls in (None, calls):
            return False
    return True


def _limit(case: Case, clause: OverLimit) -> bool:
    request = case.transcript.request
    if clause.what == "tools":
        return request is None or len(request.tools or ()) <= clause.most
    if clause.what == "messages":
        return len(case.messages) <= clause.most
    if clause.what == "calls":
        return len(case.ledger.interactions) <= clause.most or all(
            sum(type(block) is Call for block in message.blocks) <= clause.most for message in case.messages
        )
    return all(len(result.body) <= clause.most for result in case.traits.results)


def _signature(case: Case, clause: ThoughtSignature) -> bool:
    if clause.what == "unfit":
        return all(call.signature != "unfit" for call in case.traits.calls)
    return all(call.signature in ("given", "bypass") for call in case.traits.calls)


def _result_content(case: Case, clause: ResultContent) -> bool:
    for parts, written in case.traits.forms:
        if not (clause.refused or clause.parts) or not parts:
            pass
        elif not set(parts).isdisjoint(clause.refused) or (
            clause.parts and not set(parts) <= {*clause.parts}
        ):
            return False
        if clause.written and written not in clause.written:
            return False
    return True


def _after_call(case: Case, _: BlockAfterCall) -> bool:
    joins, called = case.transcript.wire.joins, False
    for message in case.messages:
        if message.role != "assistant":
            called = False
            continue
        called = called and joins
        for block in message.blocks:
            kind = type(block)
            if kind is Text and called:
                return False
            called = called or kind is Call
    return True


def _final_thinking(case: Case, _: FinalThinking) -> bool:
    return not case.traits.thoughts or not any(
        message.role == "assistant" and message.blocks and type(message.blocks[-1]) is Thinking
        for message in case.messages
    )


def _content_kind(case: Case, clause: ContentKind) -> bool:
    return clause.role not in case.traits.roles or all(
        message.written_role != clause.role or set(map(type, message.blocks)) <= {Text}
        for message in case.messages
    )


CHECKS: dict[type[Clause], Check] = {
    IdCharset: _id_charset,
    IdLength: _id_length,
    IdForm: _id_form,
    IdUnique: _id_unique,
    NameForm: _name_form,
    ArgumentsEncoding: _arguments,
    ResultNotFirst: _only_results,
    ResultsTogether: _together,
    RoleOrder: _role_order,
    LastMessage: _last,
    EmptyContent: _empty,
    TrailingSpace: _trailing,
    ThinkingForm: _thinking,
    ReasoningUnpaired: _reasoning,
    ItemNotStored: _stored,
    EmptyRequest: _has_messages,
    ToolsMissing: _tools,
    ContentKey: _content,
    OverLimit: _limit,
    ThoughtSignature: _signature,
    ResultContent: _result_content,
    UnknownKey: unlike,
    IdCollision: _id_collision,
    BlockAfterCall: _after_call,
    FinalThinking: _final_thinking,
    ContentKind: _content_kind,
}
"""One test for each kind of clause; keys are looked at together. A kind that has no test here is never said to fit."""
