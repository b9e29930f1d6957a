"""a call has no result, but the conversation continues

What it does
    Reports a call without a result where the conversation continues after it. A result that is still pending
    and holds nothing counts as none. A call at the end of the conversation is `pending-call`.

Why it matters
    Strict providers reject the whole request, and every later request with this history. The conversation
    cannot continue until the history is repaired.

How it happens
    The process was killed, or the user interrupted it, while the tool ran. A truncation or a summary removed
    the result. One of several parallel tools failed, and only the other results were logged. The result was
    logged with another id (`orphan-result` reports it).

What fix does
    lossless: adds the result again that a compaction removed, if the session, another file of the session or
    a file of `--history` still has it. placeholder: adds a result that states that the outcome is not known,
    marked as an error where the format has such a mark. A pending result is completed in its place. It never
    invents an outcome and never removes the call. lossy: where calls have no ids
    and a result fits several of them, removes that result. A placeholder would shift its position to another
    call.

Evidence
    Anthropic, Claude Code issue 5989: "`tool_use` ids were found without `tool_result` blocks immediately
    after". OpenAI Chat, recorded exchange 8ce17577974dac49: "An assistant message with 'tool_calls' must be
    followed by tool messages responding to each 'tool_call_id'". DeepSeek, Kimi, Qwen, MiniMax, Mistral,
    Bedrock and Gemini have the same rule (read 2026-11).
"""

from collections import Counter
from collections.abc import Iterator

from turnlint.api import (
    NO_PLACEHOLDER,
    Answered,
    Asked,
    Case,
    Close,
    Drop,
    Example,
    Finding,
    Fix,
    Omitted,
    Raw,
    Restore,
    Result,
    Rule,
    Step,
    called,
    near,
    place_of,
    related_piece,
    repeats,
    spot,
    usable,
)

RULE = Rule("PA201", "unanswered-call", "error", fix="lossy", triggers=frozenset({"open"}))

_HEAD = (
    b'{"history": [{"speaker": "ai", "blocks": [{"type": "tool_call", "id": "hist_tool_1", "name": "run",'
    b' "parameters": {}}]}, {"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "hist_tool_1",'
    b' "toolName": "run", '
)
_TAIL = b'}]}, {"speaker": "ai", "blocks": [{"type": "text", "text": "done"}]}]}\n'

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant  Let me look.
          call     c1 get_weather {"city": "Paris"}   <- PA201
        user       Never mind, tell me a joke.
    """),
    Raw("canonical", _HEAD + b'"result": null, "isComplete": false' + _TAIL, (("PA201", 1),)),
    Raw("canonical", _HEAD + b'"result": null' + _TAIL, (("PA201", 1),)),
    Example("""
        user       Compare Paris and Lyon.
        assistant
          call     c1 get_weather {"city": "Paris"}
          call     c2 get_weather {"city": "Lyon"}    <- PA201
          result   c1 18 degrees
        assistant  It is 18 degrees in Paris.
    """),
)
GOOD = (
    Raw("canonical", _HEAD + b'"result": "", "isComplete": true' + _TAIL),
    Example("""
        user       Compare Paris and Lyon.
        assistant
          call     c1 get_weather {"city": "Paris"}
          call     c2 get_weather {"city": "Lyon"}
          result   c2 20 degrees
          result   c1 18 degrees
        assistant  Lyon is warmer.
    """),
)


def check(case: Case) -> Iterator[Finding]:
    copies = {repeat.again.asked.seq for repeat in repeats(case.ledger) if repeat.same and repeat.same_turn}
    orphans_by_turn: dict[int, list[Answered]] = {}
    for orphan in case.ledger.orphans:
        if not usable(orphan.result.id) and not orphan.result.needs_id:
            orphans_by_turn.setdefault(orphan.turn, []).append(orphan)
    kept = {one.piece.id: one for one in case.transcript.omitted if isinstance(one.piece, Result)}
    counts = Counter(one.call.id for one in case.asked) if kept else Counter()
    last = len(case.messages) - 1
    window_end: dict[int, int] = {}
    for interaction in case.ledger.interactions:
        if interaction.answer is not None and interaction.how == "in-place":
            turn = interaction.asked.turn
            window_end[turn] = max(window_end.get(turn, 0), interaction.answer.message)
    for interaction in case.ledger.unanswered:
        asked = interaction.asked
        if asked.call.server or asked.seq in copies or case.is_hollow_call(asked):
            continue  # other rules report these
        is_kept = interaction.answer is None and usable(asked.call.id) and asked.call.id in kept
        if is_kept and counts[asked.call.id] == 1:
            yield _omitted(case, asked, kept[asked.call.id])
            continue
        following = min(max(asked.message, window_end.get(asked.turn, 0)) + 1, last)
        yield RULE.at_call(
            case,
            asked,
            f"{called(asked.call)} has no result" + (", only a pending one" if interaction.answer else ""),
            label="its result is still pending" if interaction.answer else "no result follows",
            related=(near(case, following, "the conversation continues here"),)
            if following > asked.message
            else (),
            fix=_fix(asked, orphans_by_turn)
            if case.takes_result(asked)
            else Fix("placeholder", NO_PLACEHOLDER),
        )


def _omitted(case: Case, asked: Asked, kept: Omitted) -> Finding:
    """Return the finding for a call whose result is not lost: another place still has it."""
    place = place_of(kept)
    omitted = "a compaction" if kept.path is None else "the history"
    return RULE.at_call(
        case,
        asked,
        f"{called(asked.call)} has no result: {omitted} omitted it",
        label=f"its result is at {place}",
        related=related_piece(kept, case.transcript),
        fix=Fix("lossless", f"add its result again, from {place}", (Restore(spot(asked), kept),)),
    )


def _fix(asked: Asked, orphans_by_turn: dict[int, list[Answered]]) -> Fix:
    """Return the repair: a placeholder, and the removal of results without an id that fit several calls.

    Position and name match such a result, so a placeholder before it would change its call.
    """
    title = "add a placeholder result that says the outcome is unknown"
    orphans = orphans_by_turn.get(asked.turn, [])
    if usable(asked.call.id) or asked.call.needs_id:
        orphans = [orphan for orphan in orphans if orphan.result.name in (None, "", asked.call.name)]
    if orphans:
        title = f"{title}, and remove the results that fit several calls"
    steps: tuple[Step, ...] = (Close(spot(asked)), *(Drop(spot(orphan)) for orphan in orphans))
    return Fix("lossy" if orphans else "placeholder", title, steps)
