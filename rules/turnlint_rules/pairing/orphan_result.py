"""a result has no matching call

What it does
    Reports a tool result without a call: no call in the conversation has its id, or that call cannot be the
    one that it answers. Also reports a result whose id differs from the id of one call only in white space at
    the ends or in Unicode form. If the provider keeps the earlier part of the conversation
    (`previous_response_id`, `conversation`, `item_reference`), such results are only counted in the summary.

Why it matters
    Providers reject the request. Servers that accept it show the model a result for a call that it did not
    make.

How it happens
    A compaction replaced the call by a summary, but not its result. The finding then says so, and names the
    line where the session still has the call. The start of the history was cut off. A client removed a
    message with a call and kept the results. A gateway or a switch of provider changed the id in the call
    only, or in the result only.

What fix does
    lossless: adds a call again that a compaction removed, if the session, another file of the session or a
    file of `--history` still has it. lossless: if only the spelling of the id differs, gives the result the
    id of the call. If a result without an id follows a call to its tool inside one assistant message, splits
    the message at the result. lossy: otherwise removes the result and the calls inside it. The journal keeps
    them. It never invents a call. A result stays if its message contains a call that occurs in no assistant
    message. The result may belong to that call.

Evidence
    OpenAI Chat: "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'".
    Anthropic: "unexpected `tool_use_id` found in `tool_result` blocks". Mistral: "Unexpected tool call id".
    Bedrock: "The number of toolResult blocks exceeds the number of toolUse blocks of previous turn" (read
    2026-11). Messages of the older role `function` are an info only: 19 recorded requests with such a message
    and no call were accepted, such as c2a013e4854090ce. Responses: all 263 accepted requests with such a
    result name the part that the provider keeps, such as 39a66efc31e359bf.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from turnlint.api import (
    Answered,
    Call,
    Case,
    Drop,
    Example,
    Finding,
    Fix,
    Interaction,
    Message,
    Name,
    Omitted,
    Raw,
    Recall,
    Related,
    Result,
    Rule,
    Severity,
    Split,
    also_calls,
    answering,
    find_compaction,
    is_kept_elsewhere,
    near,
    near_call,
    place_of,
    quote,
    related_piece,
    spot,
    usable,
)

RULE = Rule("PA202", "orphan-result", "error", fix="lossy", triggers=frozenset({"orphan", "respelled"}))

BAD = (
    Example("""
        user       What is the weather in Paris?
          result   c1 18 degrees                     <- PA202
        assistant  It is 18 degrees.
    """),
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
          result   c7 three files changed            <- PA202
        assistant  It is 18 degrees.
    """),
    Raw(
        "openai-chat",
        b'{"messages": [{"role": "user", "content": "Paris?"}, {"role": "assistant", "content": null, "tool_calls":'
        b' [{"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}]},'
        b' {"role": "tool", "tool_call_id": "call_1 ", "content": "18 degrees"}, {"role": "user", "content": "Ok"}]}\n',
        (("PA202", 1),),
    ),
)
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     c1 get_weather {"city": "Paris"}
          result   c1 18 degrees
        assistant  It is 18 degrees.
    """),
)
MAY_BE_OMITTED = ": a compaction may have omitted it"
MAX_SHOWN_CALLS = 3
"""Maximum number of calls with the id of a result that a finding shows."""
MIN_SIMILARITY = 0.8
MAX_OPEN_CALLS = 50
MAX_ID_CHARACTERS = 100
MAX_SEARCHES = 100
"""Limits of the expensive search for a similar id: open calls, characters of an id, and orphans."""


def check(case: Case) -> Iterator[Finding]:
    yield from _respelled(case)
    if is_kept_elsewhere(case.transcript):
        return
    calls = _calls_by_turn(case)
    same_ids = _calls_by_id(case)
    kept = {one.piece.id: one for one in case.transcript.omitted if isinstance(one.piece, Call)}
    cut, told = find_compaction(case.transcript)
    for number, orphan in enumerate(case.ledger.orphans):
        if orphan.result.server:
            continue  # `unpaired-server-tool` reports these
        same_id = same_ids.get(orphan.result.id, [])
        if not same_id and orphan.result.id in kept and usable(orphan.result.id):
            yield _omitted(case, orphan, kept[orphan.result.id])
            continue
        related, label = _calls_with_id(case, orphan, same_id)
        if not label:
            related, label = _similar_call(case, orphan, search=number < MAX_SEARCHES)
        compaction = told if orphan.message >= cut and not same_id and usable(orphan.result.id) else ""
        yield RULE.at_result(
            case,
            orphan,
            f"{answering(orphan.result)} has no matching call{compaction and MAY_BE_OMITTED}",
            severity=_severity(case, orphan),
            label=compaction or label,
            related=related,
            fix=None
            if case.has_call_beside(orphan)
            else _fix(case, orphan, calls, _alternative(related, same_id)),
        )


def _omitted(case: Case, orphan: Answered, kept: Omitted) -> Finding:
    """Return the finding for a result whose call is not lost: another place still has it."""
    place = place_of(kept)
    fix = Fix("lossless", f"add its call again, from {place}", (Recall(spot(orphan), kept),))
    return RULE.at_result(
        case,
        orphan,
        f"{answering(orphan.result)} has no matching call: {'a compaction' if kept.path is None else 'the history'} omitted it",
        severity=_severity(case, orphan),
        label=f"its call is at {place}",
        related=related_piece(kept, case.transcript),
        fix=None if case.has_call_beside(orphan) else fix,
    )


def _respelled(case: Case) -> Iterator[Finding]:
    """Yield findings for results with another spelling of the id of their call."""
    if "respelled" not in case.ledger.odd:
        return
    for interaction in case.ledger.interactions:
        call, answer = interaction.asked.call, interaction.answer
        if answer is None or call.id is None or call.id == answer.result.id:
            continue
        if usable(call.id) and usable(answer.result.id):
            yield RULE.at_result(
                case,
                answer,
                f"result for {quote(answer.result.id)} answers no call: the id differs from {quote(call.id)} in white "
                "space or Unicode form",
                label="another spelling of the id",
                related=(near_call(case, interaction.asked, "the call that it answers"),),
                fix=Fix("lossless", "give the result the id of its call", (Name(spot(answer), call.id),)),
            )


def _alternative(related: tuple[Related, ...], same_id: list[Interaction]) -> str:
    """Return the manual alternative to the repair, for its title."""
    if not related:
        return ""
    if len(same_id) > 1:
        return " (if it belongs to one of these calls, give both an id of their own by hand instead)"
    return " (if it belongs to that call, correct its id by hand instead)"


def _fix(case: Case, orphan: Answered, calls: Mapping[tuple[int, str | None], int], alternative: str) -> Fix:
    if _is_in_its_turn(case, orphan, calls):
        return Fix("lossless", "split the message at its results", (Split(orphan.message),))
    title = f"remove the result{also_calls(len(case.calls_in(orphan)))}{alternative}"
    seeks = orphan.result.id if not alternative and usable(orphan.result.id) else None
    return Fix("lossy", title, (Drop(spot(orphan)),), seeks=seeks)


def _calls_by_id(case: Case) -> dict[str | None, list[Interaction]]:
    """Return the calls that have the id of an orphan result, by this id."""
    found: dict[str | None, list[Interaction]] = {
        orphan.result.id: [] for orphan in case.ledger.orphans if usable(orphan.result.id)
    }
    for interaction in case.ledger.interactions if found else ():
        if interaction.asked.call.id in found:
            found[interaction.asked.call.id].append(interaction)
    return found


def _calls_with_id(
    case: Case, orphan: Answered, same_id: list[Interaction]
) -> tuple[tuple[Related, ...], str]:
    """Return the calls with the id of a result, and a label; both are empty if no earlier call has the id."""
    if case.transcript.headless or not any(pair.asked.seq < orphan.seq for pair in same_id):
        return (), ""
    shown = [pair for pair in same_id if pair.answer is None] or same_id
    note = "unanswered call with this id" if shown[0].answer is None else "call with this id"
    related = tuple(near_call(case, pair.asked, note) for pair in shown[:MAX_SHOWN_CALLS])
    if len(same_id) == 1:
        return related, "nothing shows that it answers the call with this id"
    return related, f"{len(same_id)} calls have this id: it is unknown which one it answers"


def _calls_by_turn(case: Case) -> dict[tuple[int, str | None], int]:
    """Return the position of the first call to each tool, by message and tool name."""
    first: dict[tuple[int, str | None], int] = {}
    for interaction in case.ledger.interactions if case.ledger.orphans else ():
        asked = interaction.asked
        first.setdefault((asked.message, asked.call.name), asked.seq)
    return first


def _is_in_its_turn(case: Case, orphan: Answered, calls: Mapping[tuple[int, str | None], int]) -> bool:
    """Whether a result without an id is in an assistant message, after a call to its tool."""
    result, message = orphan.result, case.messages[orphan.message]
    if message.role != "assistant" or usable(result.id) or not result.name or not result.at:
        return False
    return calls.get((orphan.message, result.name), orphan.seq) < orphan.seq and not _is_ambiguous(
        message, result
    )


def _is_ambiguous(message: Message, result: Result) -> bool:
    """Whether a tool is called again after a result while an earlier call to the tool is open.

    Later results may then belong to either call.
    """
    count: Counter[str | None] = Counter()
    behind = False
    for block in message.blocks:
        behind = behind or block is result
        if isinstance(block, Call) and behind and count[block.name] > 0:
            return True
        if isinstance(block, Call | Result):
            count[block.name] += 1 if isinstance(block, Call) else -1
    return False


def _severity(case: Case, orphan: Answered) -> Severity:
    uncounted = not orphan.result.needs_id and not case.transcript.wire.counts
    if case.transcript.headless or uncounted:
        return "warning" if case.transcript.wire.suspects else "info"
    return RULE.severity


def _similar_call(case: Case, orphan: Answered, *, search: bool) -> tuple[tuple[Related, ...], str]:
    """Return the open call with the most similar id, if there is one, and a label."""
    if case.transcript.headless:
        return (), "its call may be in an earlier part of the conversation"
    best: tuple[float, Interaction] | None = None
    if search and usable(orphan.result.id) and len(orphan.result.id or "") <= MAX_ID_CHARACTERS:
        from difflib import SequenceMatcher

        open_calls = [pair for pair in case.ledger.interactions if pair.answer is None][:MAX_OPEN_CALLS]
        for interaction in open_calls:
            other = (interaction.asked.call.id or "")[: MAX_ID_CHARACTERS + 1]
            similarity = SequenceMatcher(None, other, orphan.result.id or "").ratio()
            if similarity >= MIN_SIMILARITY and (best is None or similarity > best[0]):
                best = similarity, interaction
    if best is None:
        return (), "no earlier call has this id" if orphan.result.id else "no earlier call waits for a result"
    asked = best[1].asked
    place = (*asked.call.at, *asked.call.keys.id)
    return (near(case, asked.message, "unanswered call with a similar id", place),), "no call has this id"
