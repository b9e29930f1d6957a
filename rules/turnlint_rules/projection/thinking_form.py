"""a thinking block is not as the provider returned it

What it does
    Reports thinking with a missing, empty or unreadable signature, and thinking without text. Also reports
    turns with another block before the thinking, and turns with calls that lack thinking while it is on.

Why it matters
    The provider signs thinking and checks the signature. It rejects a wrong signature, and in most cases
    accepts a turn without thinking.

How it happens
    Reasoning of another provider was copied into the history. A store kept the text and lost the signature. A
    framework sorted the blocks of a message.

What fix does
    lossy: removes thinking that the provider would reject. The journal keeps it. Signed thinking in the same
    conversation stays. lossy: if a turn lacks thinking, or a tool is forced, removes `thinking` from the
    request, because thinking cannot be invented. Where a provider thinks by default, sets it to `disabled`
    instead. lossless: moves the thinking to the start of its message.

Evidence
    Anthropic: "Invalid `signature` in `thinking` block", "thinking.signature: Field required", "each thinking
    block must contain thinking", "Expected `thinking` or `redacted_thinking`, but found `tool_use`"; live
    tests of removed and edited thinking (hermes 24107). A text before the thinking: rejected with a budget on
    4.5 and older (claude-code 20705), accepted from Sonnet 4.6 on (dd4fb61b0a948389). LiteLLM leaves
    `thinking` out where a turn lacks it (litellm 17106 of 2025-12). Bedrock passes Claude's errors on
    (Roo-Code 11238 and langchain-aws 844 of 2026). DeepSeek's Anthropic endpoint: "The `content[].thinking` in
    the thinking mode must be passed back" (hermes 22313 of 2026-05).
"""

from collections.abc import Iterator

from turnlint.api import (
    Call,
    Case,
    Drop,
    Example,
    Finding,
    Fix,
    Message,
    Piece,
    Put,
    Raw,
    Result,
    Rule,
    Shift,
    Take,
    Thinking,
    ThinkingForm,
)

RULE = Rule("PR314", "thinking-form", "error", fix="lossy", triggers=frozenset())

_TALK = (
    b'{"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}, %s, '
    b'{"role": "user", "content": "go on"}]}\n'
)  # fmt: skip
_UNSIGNED = b'{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "x"}]}'

BAD = (
    Raw("anthropic", _TALK % _UNSIGNED, (("PR314", 1),), provider="anthropic"),
)  # fmt: skip
GOOD = (
    Example("""
        user       What is two and two?
        assistant
          think    Easy.
        assistant  Four.
        user       Well?
    """, wires=("anthropic",), provider="anthropic"),
)  # fmt: skip

_KINDS = {"toolUse": "tool_use"}
"""Types of pieces as the error texts spell them, where a wire has another spelling."""
_WORDS = {
    "unsigned": "has no signature", "blank-signature": "has an empty signature", "taken": "is not accepted here",
    "unfit-signature": "has a signature that is not a string", "empty": "has neither text nor a signature",
}  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    for clause in case.clauses(ThinkingForm):
        if clause.what == "turn-start":
            yield from _turn_start(case, clause)
        elif clause.what == "forced-tool":
            yield from _forced(case, clause)
        else:
            for index, message in enumerate(case.messages):
                if message.role == "assistant":
                    yield from _message(case, clause, index, message)


def _message(case: Case, clause: ThinkingForm, index: int, message: Message) -> Iterator[Finding]:
    thoughts = [(place, block) for place, block in enumerate(message.blocks) if isinstance(block, Thinking)]
    if clause.what == "not-first":
        if thoughts and _has_thinking_on(case, clause):
            yield from _not_first(case, clause, index, *thoughts[0])
        return
    for _, thought in thoughts:
        if _is_rejected(thought, clause):
            yield RULE.at_message(
                case, index, f"a thinking block {_WORDS[clause.what]}", below=thought.at, label=_WORDS[clause.what],
                under=clause, told={"kind": thought.kind},
                fix=Fix("lossy", "remove the thinking block", (Drop(Piece(index, thought.at)),)),
            )  # fmt: skip


def _not_first(
    case: Case, clause: ThinkingForm, index: int, place: int, thought: Thinking
) -> Iterator[Finding]:
    """Yield a finding for the first thinking block of a message, if other content is before it."""
    if place or any(blank.before == 0 and blank.at < thought.at for blank in case.messages[index].blanks):
        sentence = "a thinking block is not first in its turn"
        yield RULE.at_message(
            case,
            index,
            sentence,
            below=thought.at,
            label="not first",
            under=clause,
            fix=_to_front(index, thought),
        )


def _to_front(index: int, thought: Thinking) -> Fix | None:
    if len(thought.at) < 2 or not isinstance(thought.at[-1], int):
        return None
    return Fix("lossless", "move the thinking block to the front", (Shift(Piece(index, thought.at), 0),))


def _is_rejected(thought: Thinking, clause: ThinkingForm) -> bool:
    if clause.what == "taken":
        return True
    if thought.cipher or thought.kind not in ("thinking", "reasoningContent"):
        return False
    if clause.what == "empty":
        return not thought.words and thought.signature in ("absent", "blank")
    signature = {"unsigned": "absent", "blank-signature": "blank", "unfit-signature": "unfit"}[clause.what]
    return thought.signature == signature and (thought.words or clause.what == "unfit-signature")


def _turn_start(case: Case, clause: ThinkingForm) -> Iterator[Finding]:
    """Yield a finding if the current loop of calls and results starts with a turn without thinking."""
    if not case.ends or not _has_thinking_on(case, clause) or case.messages[-1].role == "assistant":
        return
    index = len(case.messages)
    while index and _is_in_loop(case.messages[index - 1]):
        index -= 1
    while index < len(case.messages) and case.messages[index].role != "assistant":
        index += 1
    blocks = case.messages[index].blocks if index < len(case.messages) else ()
    # `not-first` checks a thinking block after another block, which newer models accept.
    thinks = any(isinstance(block, Thinking) for block in blocks)
    if any(isinstance(block, Call) for block in blocks) and not thinks:
        found = _KINDS.get(kind := getattr(blocks[0], "kind", "text"), kind)
        sentence = "thinking is enabled, but the current assistant turn does not start with a thinking block"
        fix = _disable_thinking(case, clause)
        yield RULE.at_message(
            case, index, sentence if fix else f"{sentence}; fix cannot add it, because the provider signs each block",
            below=blocks[0].at, label="no thinking block before it", under=clause, told={"kind": found},
            fix=fix,
        )  # fmt: skip


def _disable_thinking(case: Case, clause: ThinkingForm) -> Fix | None:
    """Return the change of the setting that disables thinking. The provider signs thinking, so none can be added."""
    request = case.transcript.request
    if request is None or request.thinking != "budget":
        return None
    if clause.by_default:
        return Fix(
            "lossy", "set `thinking` to `disabled`", (Put(request.thinking_at, b'{"type": "disabled"}'),)
        )
    return Fix("lossy", "remove `thinking` from the request", (Take(request.thinking_at),))


def _is_in_loop(message: Message) -> bool:
    """Whether a message is from the model or has results, so that no new user message interrupts the loop."""
    return message.role == "assistant" or any(isinstance(block, Result) for block in message.blocks)


def _forced(case: Case, clause: ThinkingForm) -> Iterator[Finding]:
    request = case.transcript.request
    if request and request.forced and _has_thinking_on(case, clause):
        sentence, label = "thinking is enabled, but `tool_choice` forces a tool call", "forces a tool call"
        at = (*request.at, "tool_choice")
        yield RULE.at_request(
            case, at, sentence, label=label, under=clause, fix=_disable_thinking(case, clause)
        )


def _has_thinking_on(case: Case, clause: ThinkingForm) -> bool:
    request = case.transcript.request
    return clause.always or (request is not None and request.thinking == "budget")
