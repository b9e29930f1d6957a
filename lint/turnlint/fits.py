"""Would this provider take it as it is?

This module owns one predicate over a paired conversation and a profile, the fast path of projection: where
it says yes, every projection rule is silent, so none need be loaded or run. It may send a sound
conversation to the rules, never keep a faulty one from them; a test holds it to that on arbitrary input.
"""

import re
from collections.abc import Callable
from typing import Any

from turnlint.case import Case
from turnlint.clauses import (
    ArgumentsEncoding,
    BlockAfterCall,
    Clause,
    ContentKey,
    EmptyContent,
    IdCharset,
    IdCollision,
    IdForm,
    IdLength,
    IdUnique,
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
from turnlint.keys import by_place, strange
from turnlint.model import Call, Message, Result, Text, Thinking

Check = Callable[[Case, Any], bool]
_NOTHING = frozenset({b"", b"null", b'""', b"[]"})


def fits(case: Case) -> bool:
    """True where no projection rule has anything to say. The conversation is known to be clean otherwise."""
    profile = case.profile
    if profile is None:
        return True
    for clauses in profile.by_code.values():
        for clause in clauses:
            check = CHECKS.get(type(clause), _unlike)
            if case.holds(clause) and not check(case, clause):
                return False
    return _known_keys(case)


def _known_keys(case: Case) -> bool:
    clauses = by_place(case.clauses(UnknownKey)) if case.transcript.request else {}
    return not clauses or not any(
        next(strange(case.written(index), message.written_role, clauses), None)
        for index, message in enumerate(case.messages)
        if case.sent(index)
    )


def _unlike(*_: object) -> bool:
    """Of a kind of clause that nothing here knows."""
    return False


def _calls(case: Case) -> list[Call]:
    return [interaction.asked.call for interaction in case.ledger.interactions]


def _results(case: Case) -> list[Result]:
    return [interaction.answer.result for interaction in case.ledger.interactions if interaction.answer]


def _id_charset(case: Case, clause: IdCharset) -> bool:
    takes = re.compile(clause.pattern).fullmatch
    return all(call.server or takes(call.id or "") for call in _calls(case))


def _id_length(case: Case, clause: IdLength) -> bool:
    if clause.of == "item":
        return _no_items(case)
    return all(call.server or len(call.id or "") <= clause.most for call in _calls(case))


def _id_form(case: Case, clause: IdForm) -> bool:
    if clause.of == "item":
        return _no_items(case)
    takes = re.compile(clause.pattern or ".*", re.DOTALL).fullmatch
    concerned = [
        call
        for call in _calls(case)
        if call.server == (clause.of == "server") and not (clause.kinds and call.kind not in clause.kinds)
    ]
    if clause.global_count:
        return all(
            (call.id or "").endswith(f":{n}") and takes(call.id or "") for n, call in enumerate(concerned)
        )
    return all(takes(call.id or "") for call in concerned)


def _no_items(case: Case) -> bool:
    return all(
        message.item is None and all(getattr(block, "item", None) is None for block in message.blocks)
        for message in case.messages
    )


def _id_unique(case: Case, clause: IdUnique) -> bool:
    return _no_items(case) if clause.of == "item" else case.ledger.tidy


def _name_form(case: Case, clause: NameForm) -> bool:
    takes = re.compile(clause.pattern or ".*", re.DOTALL).fullmatch
    if clause.of == "author":
        return all(message.name is None for message in case.messages)
    request = case.transcript.request
    if clause.of == "tool":
        tools = (request.tools if request else None) or ()
        names = [tool.name or "" for tool in tools]
        if len(set(names)) < len(names):
            return False
    elif clause.of == "result":
        names = [result.name for result in _results(case) if result.name]
    else:
        names = [call.name or "" for call in _calls(case) if call.server == (clause.of == "server")]
    known = set(clause.names)
    return all(
        takes(name)
        and clause.least <= len(name) <= (clause.most or len(name))
        and (not known or name in known)
        for name in names
    )


def _arguments(case: Case, clause: ArgumentsEncoding) -> bool:
    wanted = {"text": "text", "object": "object"}.get(clause.wants)
    for call in _calls(case):
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
    for index, message in enumerate(case.messages):
        if any(type(block) is Result and not block.server for block in message.blocks):
            if message.blanks or not all(type(block) is Result for block in message.blocks):
                return False
            if index == 0 or case.messages[index - 1].role != "assistant":
                return False
    return True


def _together(case: Case, clause: ResultsTogether) -> bool:
    if clause.place == "message":
        return _only_results(case, clause)
    return all(
        one.answer is None or case.next_words[one.asked.message + 1] >= one.answer.message
        for one in case.ledger.interactions
    )


def _role_order(case: Case, clause: RoleOrder) -> bool:
    if not case.messages:
        return True
    labels = [_labels(message) for message in case.messages]
    if clause.roles and not all(message.written_role in clause.roles for message in case.messages):
        return False
    if clause.first and labels[0].isdisjoint(clause.first):
        return False
    if clause.needs and all(one.isdisjoint(clause.needs) for one in labels):
        return False
    if not clause.role:
        return True
    befores = [{"start"}, *labels]
    return not any(
        clause.role in here
        and (
            before.intersection(clause.after) or (clause.only_after and before.isdisjoint(clause.only_after))
        )
        for before, here in zip(befores, labels, strict=False)
    )


def _labels(message: Message) -> set[str]:
    kinds = {type(block) for block in message.blocks}
    names = {message.written_role}
    return names | ({"call"} if Call in kinds else set()) | ({"result"} if Result in kinds else set())


def _last(case: Case, clause: LastMessage) -> bool:
    if not case.ends:
        return True
    last = case.messages[-1]
    if clause.only_prefix and any(message.prefix for message in case.messages):
        return False
    return case.ledger.tidy and (
        not clause.roles or last.role in clause.roles or last.written_role in clause.roles
    )


def _empty(case: Case, clause: EmptyContent) -> bool:
    if clause.what in ("error-result", "result-list"):
        hollow = [result for result in _results(case) if result.body.strip() in _NOTHING]
        return not any(result.error or clause.what == "result-list" for result in hollow)
    return not any(message.blanks or not message.blocks for message in case.messages)


def _trailing(case: Case, _: TrailingSpace) -> bool:
    blocks = case.messages[-1].blocks if case.messages else ()
    return not (blocks and isinstance(blocks[-1], Text) and blocks[-1].trailing)


def _thinking(case: Case, clause: ThinkingForm) -> bool:
    request = case.transcript.request
    if clause.what in ("turn-start", "forced-tool"):
        return not clause.always and (request is None or request.thinking != "budget")
    return all(
        type(block) is not Thinking
        or (
            clause.what != "taken"
            and place == 0
            and not message.blanks
            and block.words
            and block.signature == "given"
        )
        for message in case.messages
        for place, block in enumerate(message.blocks)
    )


def _reasoning(case: Case, _: ReasoningUnpaired) -> bool:
    request = case.transcript.request
    silent = request is None or request.thinking not in ("budget", "adaptive")
    return silent and all(
        message.reasoning == "absent" and message.kind != "reasoning" for message in case.messages
    )


def _tools(case: Case, clause: ToolsMissing) -> bool:
    request = case.transcript.request
    if request is None or request.tools:
        return True
    if clause.empty and request.tools == ():
        return False
    return not clause.history or not case.ledger.interactions


def _content(case: Case, clause: ContentKey) -> bool:
    if clause.what == "calls":
        return not any(message.no_calls for message in case.messages)
    if clause.what == "call-type":
        return all(call.kind for call in _calls(case))
    if clause.what != "content":
        named = [result for result in _results(case) if not clause.roles or result.kind in clause.roles]
        return all(result.id and result.name for result in named)
    plain = frozenset(("text", "parts")).difference(clause.kinds)
    return all(message.content in plain or not _concerns(clause, message) for message in case.messages)


def _concerns(clause: ContentKey, message: Message) -> bool:
    if clause.roles and message.written_role not in clause.roles:
        return False
    return clause.with_calls is None or clause.with_calls is any(
        type(block) is Call for block in message.blocks
    )


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
    return all(len(result.body) <= clause.most for result in _results(case))


def _signature(case: Case, clause: ThoughtSignature) -> bool:
    if clause.what == "unfit":
        return all(call.signature != "unfit" for call in _calls(case))
    return all(call.signature in ("given", "bypass") for call in _calls(case))


def _result_content(case: Case, clause: ResultContent) -> bool:
    refused = frozenset(clause.refused)
    return all(
        refused.isdisjoint(result.parts)
        and (not clause.parts or frozenset(clause.parts).issuperset(result.parts))
        and (not clause.written or result.written in clause.written)
        for result in _results(case)
    )


def _after_call(case: Case, _: BlockAfterCall) -> bool:
    previous = None
    for message in case.messages:
        called = False
        for block in message.blocks:
            if called and type(block) is Text:
                return False
            called = called or type(block) is Call
        if message.role == previous == "assistant":
            return False
        previous = message.role
    return True


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
    ToolsMissing: _tools,
    ContentKey: _content,
    OverLimit: _limit,
    ThoughtSignature: _signature,
    ResultContent: _result_content,
    UnknownKey: lambda *_: True,
    IdCollision: lambda *_: True,
    BlockAfterCall: _after_call,
}
"""One test for each kind of clause. Keys are looked at together, and collisions are only those of ids that another
clause refuses. A kind that has no test here is never said to fit."""
