"""a call is in a message that may only hold results

What it does
    Reports a tool call inside a result, or between the results of a turn. If the same call is in an assistant
    message, this one is a copy and is not paired with a result.

Why it matters
    A reader sees two calls and one result. Providers that find a call in a user turn reject the request
    because of the block type.

How it happens
    A tool runner returns the call together with its response, and the history keeps both. A client removes
    such copies on some of its code paths only.

What fix does
    lossy: removes the copy. The journal keeps it, and the call in the assistant message stays. A call that
    occurs in no assistant message is not a copy: lossy removes it only if no result can be its own. lossless:
    if its result follows it in the same message, moves the call into an assistant message before the result.

Evidence
    Anthropic: "`tool_use` blocks can only be in `assistant` messages". An issue of an agent of the Gemini
    family describes a client that removed such copies on two of three code paths (its issue 244).
"""

from collections.abc import Iterator

from turnlint.api import (
    Case,
    Drop,
    Finding,
    Fix,
    Piece,
    Pointer,
    Raw,
    Result,
    Rule,
    Unmix,
    id_below,
    is_missing,
    name_below,
)

RULE = Rule("ST114", "call-inside-result", "error", fix="lossy", triggers=frozenset({"echo"}))

BAD = (
    Raw(
        "anthropic",
        b'{"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "run", "input":'
        b' {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"},'
        b' {"type": "tool_use", "id": "t1", "name": "run", "input": {}}]}]}\n',
        (("ST114", 1),),
    ),
    Raw(
        "canonical",
        b'{"history": [{"speaker": "ai", "blocks": [{"type": "tool_call", "id": "hist_tool_1", "name": "run",'
        b' "parameters": {}}]}, {"speaker": "tool", "blocks": [{"type": "tool_call", "id": "hist_tool_1",'
        b' "name": "run", "parameters": {}}, {"type": "tool_response", "callId": "hist_tool_1", "toolName":'
        b' "run", "result": "ok"}]}]}\n',
        (("ST114", 1),),
    ),
    Raw(
        "openai-chat",
        b'{"messages": [{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function",'
        b' "function": {"name": "run", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c1", "content":'
        b' "ok", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments":'
        b' "{}"}}]}]}\n',
        (("ST114", 1),),
    ),
)
GOOD = (
    Raw(
        "anthropic",
        b'{"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "run", "input":'
        b' {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}]}\n',
    ),
)


def check(case: Case) -> Iterator[Finding]:
    orphans: dict[int, list[Result]] = {}
    for one in case.ledger.orphans:
        orphans.setdefault(one.message, []).append(one.result)
    for index, message in enumerate(case.messages):
        own = (
            _own_calls(case, index, orphans[index])
            if message.inner_calls and index in orphans
            else frozenset()
        )
        for place in message.inner_calls:
            value = case.said(index, place)
            # Without the bytes of the record, a copy cannot be distinguished from a separate call.
            is_copy = value is not None and case.known_calls.repeated(value) is not None
            fix = Fix("lossy", "remove the copy", (Drop(Piece(index, place)),)) if is_copy else None
            if not is_copy and value is not None and _has_no_result(case, index, place):
                title = "remove the call, which has no result and no assistant message"
                fix = Fix("lossy", title, (Drop(Piece(index, place)),))
            if place in own:
                fix = Fix(
                    "lossless",
                    "move the call into an assistant message before its result",
                    (Unmix(index),),
                )
            yield RULE.at_message(
                case,
                index,
                "copy of an assistant's call, inside a tool message"
                if is_copy
                else "call inside a tool message"
                if value is None
                else "the call is only in a tool message; its assistant message is missing",
                below=place,
                label="copy of a call"
                if is_copy
                else "no assistant message has this call"
                if value is not None
                else "",
                fix=fix,
            )


def _has_no_result(case: Case, index: int, place: Pointer) -> bool:
    """Whether no result of the conversation can be that of a call in a message of results."""
    value = case.said(index, place)
    said = case.said(index, (*place, *id_below(value)))
    if not isinstance(said, str) or is_missing(said):
        # Without an id, any result that has no call may be its own.
        return not case.ledger.orphans
    return said not in case.ids_of_results and not any(
        is_missing(one.result.id) for one in case.ledger.orphans
    )


def _own_calls(case: Case, index: int, results: list[Result]) -> frozenset[Pointer]:
    """Return the calls of a message of results, if no assistant message has them and their results follow them."""
    found: dict[object, Pointer] = {}
    for place in case.messages[index].inner_calls:
        value = case.said(index, place)
        if len(place) != 2 or value is None or case.known_calls.repeated(value) is not None:
            continue
        said = case.said(index, (*place, *id_below(value)))
        has_id = said is not None and not (isinstance(said, str) and is_missing(said))
        key = said if has_id else name_below(value)
        if not isinstance(key, str) or is_missing(key) or key in found:
            return frozenset()  # two calls share an id or a name
        found[key] = place
    named = [(found.get(one.name if is_missing(one.id) else one.id), one.at) for one in results]
    answered = [(place, at) for place, at in named if place is not None]
    follow = all(not at or (at[:1] == place[:1] and _number(place) < _number(at)) for place, at in answered)
    is_clear = follow and len({place for place, _ in answered}) == len(answered) == len(results)
    return frozenset(found.values() if is_clear else ())


def _number(place: Pointer) -> int:
    return place[1] if len(place) == 2 and isinstance(place[1], int) else -1
