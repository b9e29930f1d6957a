"""the results of one turn are not together

What it does
    Reports results of one turn in several messages, if the provider requires them in one. Also reports
    another message between a call and its results, if the provider rejects that.

Why it matters
    The provider treats the results in the second message as missing and rejects the request.

How it happens
    A client sends a message for each tool that finishes. In Chat Completions each result is a message, and a
    translation to another API does not join them.

What fix does
    lossless: moves the results of the turn into one message, or each directly after its call.

Evidence
    Bedrock: "Expected toolResult blocks at messages.N.content for the following Ids" (genkit
    aws-bedrock-js-plugin 664, zeroclaw 1476). Gemini: "the number of function response parts is equal to the
    number of function call parts" (gemini-cli 5443, 16415). Anthropic joins such messages: 53 recorded
    requests were accepted, such as 848e705f5204da8d, and none was rejected. DeepSeek's Responses API:
    deepseek-integration 740.
"""

from collections.abc import Iterator

from turnlint.api import (
    Case,
    Example,
    Finding,
    Fix,
    Interaction,
    Move,
    ResultsTogether,
    Rule,
    Settle,
    called,
    near,
    spot,
)  # fmt: skip

RULE = Rule("PR309", "results-not-together", "error", fix="lossless", triggers=frozenset())

BAD = (
    Example("""
        user       Compare Paris and Lyon.
        assistant
          call     c1 get_weather {"city": "Paris"}
          call     c2 get_weather {"city": "Lyon"}
        user
          result   c1 18 degrees
        user
          result   c2 20 degrees   <- PR309
        assistant  Lyon is warmer.
        user       And Nice?
    """, wires=("bedrock",), provider="bedrock"),
)  # fmt: skip
GOOD = (
    Example("""
        user       Compare Paris and Lyon.
        assistant
          call     c1 get_weather {"city": "Paris"}
          call     c2 get_weather {"city": "Lyon"}
          result   c1 18 degrees
          result   c2 20 degrees
        assistant  Lyon is warmer.
        user       And Nice?
    """, wires=("bedrock",), provider="bedrock"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(ResultsTogether):
        turns: dict[int, list[Interaction]] = {}
        for interaction in case.ledger.interactions:
            if not interaction.asked.call.server:
                turns.setdefault(interaction.asked.turn, []).append(interaction)
        for turn in turns.values():
            yield from (_spread if clause.place == "message" else _apart)(case, clause, turn)


def _spread(case: Case, clause: ResultsTogether, turn: list[Interaction]) -> Iterator[Finding]:
    places = sorted({pair.answer.message for pair in turn if pair.answer})
    if len(places) < 2:
        return
    behind = max(pair.asked.message for pair in turn) + 1
    apart = [(pair.asked, pair.answer) for pair in turn if pair.answer and pair.answer.message != behind]
    steps = tuple(Settle(spot(asked), spot(answer)) for asked, answer in apart)
    missing = [pair for pair in turn if pair.answer and pair.answer.message != places[0]]
    ids = ", ".join(pair.asked.call.id or "" for pair in missing)
    for pair in missing[:1]:
        assert pair.answer is not None
        yield RULE.at_result(
            case,
            pair.answer,
            f"the result for {called(pair.asked.call)} is in a different message than the other results of its turn",
            label="in a separate message",
            related=(near(case, places[0], "the other results"),),
            under=clause,
            told={"ids": ids, "index": places[0], "next": places[0]},
            fix=Fix("lossless", "move the results of the turn into one message", steps),
        )


def _apart(case: Case, clause: ResultsTogether, turn: list[Interaction]) -> Iterator[Finding]:
    for pair in turn:
        following = pair.asked.message + 1
        content_at = case.next_words[following]
        if pair.answer and content_at < pair.answer.message:
            is_separate = not pair.answer.result.at  # a separate message moves unchanged
            step = (
                Move(pair.answer.message, following)
                if is_separate
                else Settle(spot(pair.asked), spot(pair.answer))
            )
            yield RULE.at_result(
                case,
                pair.answer,
                f"another message is between {called(pair.asked.call)} and its result",
                label="not directly after its call",
                related=(near(case, content_at, "this is in between"),),
                under=clause,
                told={"ids": pair.asked.call.id or ""},
                fix=Fix("lossless", "move the result directly after its call", (step,)),
            )
