"""calls of one response are written one by one

What it does
    Reports calls of one response of the model in several messages, with results between them. The response had
    the calls together, so the program executed and wrote them one after another. Only logs that keep the id of
    the response have such findings: Claude Code, LangChain, pi and the canonical form.

Why it matters
    The next request shows several turns with one call each, in place of one turn. Claude learns from such a
    history to call one tool at a time. Only the first of these turns has the thinking and the signature of the
    response: providers that require them in each turn reject the others.

How it happens
    The program has a loop that executes a call, writes its result, and continues with the next call. A tool
    is executed while the response is still streamed.

What fix does
    Nothing: the results may show the order in which the tools ran. An agent that joins the parts of a response
    by its id sends them together.

Evidence
    Anthropic's page on parallel tool use: a wrong form of the results "teaches" Claude to avoid parallel calls
    (read 2026-11). Google's page on thought signatures: of parallel calls only the first has one, of successive
    steps each must have one (read 2026-11). A program stored parallel calls as successive ones, until its
    models lost their reasoning by that (onyx 8131 of 2026-02). None of 30 recorded conversations of agents with 843 calls has
    such a response (read 2026-11).
"""

from collections.abc import Iterator

from turnlint.api import Call, Case, Finding, Raw, Result, Rule, near, usable

RULE = Rule("ST120", "split-batch", "info", triggers=frozenset({"split"}))

_TURNS = (
    b'{"history": [{"speaker": "human", "blocks": [{"type": "text", "text": "Run both."}]}, '
    b'{"speaker": "ai", "blocks": [{"type": "tool_call", "id": "hist_tool_1", "name": "run", "parameters": {"n": 1}}], '
    b'"metadata": {"id": "resp_1"}}, '
    b'{"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "hist_tool_1", "toolName": "run", '
    b'"result": "one"}]}, '
    b'{"speaker": "ai", "blocks": [{"type": "tool_call", "id": "hist_tool_2", "name": "run", "parameters": {"n": 2}}], '
    b'"metadata": {"id": "%s"}}, '
    b'{"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "hist_tool_2", "toolName": "run", '
    b'"result": "two"}]}, '
    b'{"speaker": "ai", "blocks": [{"type": "text", "text": "Both ran."}], "metadata": {"id": "resp_3"}}]}\n'
)
_LINES = (
    b'{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "s", '
    b'"message": {"role": "user", "content": "Run both."}}\n'
    b'{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "s", "message": {"id": "m1", "role": '
    b'"assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "run", "input": {"n": 1}}]}}\n'
    b'{"type": "user", "uuid": "c", "parentUuid": "b", "sessionId": "s", "message": {"role": "user", "content": '
    b'[{"type": "tool_result", "tool_use_id": "toolu_1", "content": "one"}]}}\n'
    b'{"type": "assistant", "uuid": "d", "parentUuid": "c", "sessionId": "s", "message": {"id": "%s", "role": '
    b'"assistant", "content": [{"type": "tool_use", "id": "toolu_2", "name": "run", "input": {"n": 2}}]}}\n'
    b'{"type": "user", "uuid": "e", "parentUuid": "d", "sessionId": "s", "message": {"role": "user", "content": '
    b'[{"type": "tool_result", "tool_use_id": "toolu_2", "content": "two"}]}}\n'
)
BAD = (
    Raw("canonical", _TURNS % b"resp_1", (("ST120", 1),)),
    Raw("claude-code", _LINES % b"m1", (("ST120", 4),)),
)
GOOD = (
    Raw("canonical", _TURNS % b"resp_2"),
    Raw("claude-code", _LINES % b"m2"),
)


def check(case: Case) -> Iterator[Finding]:
    met: dict[str, int] = {}
    reported: set[str] = set()
    answered = -1
    for index, message in enumerate(case.messages):
        if any(isinstance(block, Result) and not block.server for block in message.blocks):
            answered = index
        response = message.response
        call = next((block for block in message.blocks if isinstance(block, Call) and not block.server), None)
        if not response or not usable(response) or call is None:
            continue
        first = met.setdefault(response, index)
        if first < answered < index and response not in reported:
            reported.add(response)
            yield RULE.at_message(
                case,
                index,
                "this call is from the same response as an earlier one, but a result is between them",
                below=call.at,
                label="a later call of the response",
                related=(near(case, first, "the first call of the response"),),
            )
