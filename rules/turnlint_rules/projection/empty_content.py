"""content is empty, which the provider rejects

What it does
    Reports empty texts, texts of white space, messages without content and empty results, as far as the
    provider rejects them.

Why it matters
    The provider rejects the whole request because of one empty part.

How it happens
    A model answered with calls and an empty text. A stream was cut before its first token. A filter removed
    the content and kept the message.

What fix does
    lossless: removes the empty part. placeholder: writes `(no content)` where a message or a result would
    otherwise be empty.

Evidence
    Anthropic: "text content blocks must be non-empty", "must contain non-whitespace text", "all messages must
    have non-empty content except for the optional final assistant message". Bedrock: "The text field in the
    ContentBlock object at messages.N.content.M is blank". Bedrock accepted white space beside other content
    on Claude (bcea3a302d23d02e, 5ff4b8b0f3078039) and alone on Nova (0825075b4d8c2155). Kimi: "must not be
    empty". Anthropic accepts an empty content of a result: 136 recorded requests, such as a8d6129fd71e8b36.
"""

from collections.abc import Iterator
from json import dumps
from typing import Any

from turnlint.api import (
    OTHER_KEYS,
    SEVERITIES,
    Blank,
    Call,
    Case,
    Drop,
    EmptyContent,
    Finding,
    Fix,
    Message,
    Piece,
    Pointer,
    Put,
    Raw,
    Rule,
    Take,
    Thinking,
    called,
    quote,
    without_space,
)

RULE = Rule("PR312", "empty-content", "error", fix="placeholder", triggers=frozenset())

_TALK = (
    b'{"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": [%s{"type": "text", '
    b'"text": "hi"}]}]}\n'
)  # fmt: skip

BAD = (
    Raw("anthropic", _TALK % b'{"type": "text", "text": ""}, ', (("PR312", 1),), provider="anthropic"),
)  # fmt: skip
GOOD = (
    Raw("anthropic", _TALK % b"", provider="anthropic"),
)  # fmt: skip

MARK = "(no content)"
_LISTED: dict[str, tuple[str, Any]] = {
    "bedrock": ("content", [{"text": MARK}]), "gemini": ("parts", [{"text": MARK}]),
}  # fmt: skip
"""The key of the content and the encoding of the mark, by wire, where the content is always a list."""
_WHAT = {"error-result": "reports an error without any text"}
_EMPTY_VALUES = frozenset({b"", b"null", b'""', b"[]"})


def check(case: Case) -> Iterator[Finding]:
    reported: set[tuple[int, Pointer]] = set()
    for clause in sorted(case.clauses(EmptyContent), key=lambda one: SEVERITIES.index(case.severity(one))):
        if clause.what in ("error-result", "result-list"):
            yield from _results(case, clause)
            continue
        last = len(case.messages) - 1
        for index, message in enumerate(case.messages):
            if clause.roles and message.written_role not in clause.roles:
                continue
            if clause.but_last and index == last and message.role == "assistant":
                continue
            if clause.unless and case.said(index, (clause.unless,)) is not None:
                continue
            if clause.what == "message":
                yield from _message(case, clause, index, message)
            elif not clause.alone or not message.blocks:
                yield from _texts(case, clause, index, message, reported)


def _texts(
    case: Case, clause: EmptyContent, index: int, message: Message, reported: set[tuple[int, Pointer]]
) -> Iterator[Finding]:
    subject = _describe_message(message) if message.blanks else ""
    has_more = bool(message.blanks) and any(not isinstance(block, Thinking) for block in message.blocks)
    for blank in message.blanks:
        if _is_rejected(blank, clause) and (index, blank.at) not in reported:
            reported.add((index, blank.at))
            what = "is only white space" if blank.white else "is empty"
            yield RULE.at_message(
                case, index, f"a {'part' if blank.hollow else 'text'} in {subject} {what}", below=blank.at, label="empty", under=clause,
                told={"block": next((part for part in blank.at if isinstance(part, int)), 0)},
                fix=_fix_text(case, index, blank, first=blank is message.blanks[0], has_more=has_more),
            )  # fmt: skip


def _is_rejected(blank: Blank, clause: EmptyContent) -> bool:
    if clause.what == "no-data" or blank.hollow:
        return blank.hollow and clause.what in ("no-data", "empty-text")
    return blank.white is (clause.what == "white-text") and (blank.white or blank.at != ("content",))


def _fix_text(case: Case, index: int, blank: Blank, *, first: bool, has_more: bool) -> Fix:
    """Return the repair: remove the text if the message keeps other content, otherwise write the mark.

    Thinking alone is no content.
    """
    if has_more or not first:
        step = Drop(Piece(index, blank.at)) if has_more else Take(blank.at, index)
        return Fix("lossless", f"remove the empty {'part' if blank.hollow else 'text'}", (step,))
    if blank.hollow:
        return _mark(index, blank.at, {"text": MARK})
    below = ("text",) if isinstance(case.said(index, blank.at), dict) else ()
    return _mark(index, (*blank.at, *below))


def _mark(index: int, at: Pointer, value: Any = MARK) -> Fix:
    return Fix("placeholder", f"set it to `{MARK}`", (Put(at, dumps(value).encode(), index),))


def _message(case: Case, clause: EmptyContent, index: int, message: Message) -> Iterator[Finding]:
    bare = not message.blocks and not message.inner_calls
    hollow = message.content in ("no-parts", "absent", "null") and bare
    empty_text = message.content == "blank" and bare and not any(blank.white for blank in message.blanks)
    key, value = _LISTED.get(case.transcript.wire.speaks, ("content", MARK))
    if hollow or empty_text:
        is_open = message.role != "other" and case.is_hollow(index)
        yield RULE.at_message(
            case, index, f"{_describe_message(message)} is empty", label="empty", under=clause,
            fix=_mark(index, (key,), value) if is_open else Fix("placeholder", OTHER_KEYS),
        )  # fmt: skip


def _results(case: Case, clause: EmptyContent) -> Iterator[Finding]:
    _, value = _LISTED.get(case.transcript.wire.speaks, ("content", MARK))
    for answered, _ in case.answered:
        result = answered.result
        hollow = without_space(result.body.strip()) in (
            _EMPTY_VALUES if clause.what == "error-result" else {b"[]"}
        )
        if hollow and (clause.what == "result-list" or result.error):
            what = _WHAT.get(clause.what, "is an empty list")
            yield RULE.at_result(
                case, answered, f"the result {quote(result.id)} {what}", key="body", label="empty", under=clause,
                fix=_mark(answered.message, (*result.at, *result.keys.body), value),
            )  # fmt: skip


def _describe_message(message: Message) -> str:
    role = message.written_role or "no role"
    call = next((block for block in message.blocks if isinstance(block, Call)), None)
    return f"the {quote(role)} message" + (f" with {called(call)}" if call else "")
