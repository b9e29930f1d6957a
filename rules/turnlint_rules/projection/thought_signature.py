"""a call has no valid thought signature

What it does
    Reports steps of the current turn whose first call has no thought signature, for models that ask for
    one, and signatures that are no text. Earlier turns are not looked at, as the provider does not either.

Why it matters
    Newer models refuse such a request; older ones answer worse.

How it happens
    A store or a gateway keeps names and arguments and drops what stands beside them. The history comes
    from another provider.

What fix does
    lossless: puts the word in its place by which the provider lets a foreign call pass.

Evidence
    Gemini: "Function call is missing a thought_signature in functionCall parts"; Vertex: "Function call `x` in
    the `1.` content block is missing a `thought_signature`"; the vendor's page on thought signatures, which
    names the word (read 2026-11).
"""

from collections.abc import Iterator

from turnlint.api import (
    Asked,
    Call,
    Case,
    Example,
    Finding,
    Fix,
    Put,
    Result,
    Rule,
    Text,
    ThoughtSignature,
    called,
)

RULE = Rule("PR320", "thought-signature", "error", fix="lossless")
BYPASS = "skip_thought_signature_validator"

BAD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     - get_weather {"city": "Paris"}   <- PR320
          result   - (get_weather) 18 degrees
    """, wires=("gemini",), provider="gemini@3"),
)  # fmt: skip
GOOD = (
    Example("""
        user       What is the weather in Paris?
        assistant
          call     - get_weather {"city": "Paris"}
          result   - (get_weather) 18 degrees
        assistant  It is 18 degrees.
        user       Thanks.
    """, wires=("gemini",), provider="gemini@3"),
)  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    if case.transcript.open_end:
        return
    for clause in case.clauses(ThoughtSignature):
        start = _current_turn(case) if clause.what == "missing" else 0
        met: set[int] = set()
        for asked in case.asked:
            first = asked.turn not in met
            met.add(asked.turn)
            if asked.message < start or asked.call.server:
                continue
            if clause.what == "unfit" and asked.call.signature == "unfit":
                yield _finding(case, clause, asked, "is not a string")
            elif clause.what == "missing" and first and asked.call.signature in ("absent", "blank"):
                yield _finding(case, clause, asked, "is missing")


def _current_turn(case: Case) -> int:
    """Where the user last spoke: what follows is the turn that the model is still in."""
    for index in range(len(case.messages) - 1, -1, -1):
        message = case.messages[index]
        if message.role != "user" or any(isinstance(block, Result) for block in message.blocks):
            continue
        if any(isinstance(block, Text) or not isinstance(block, Call) for block in message.blocks):
            return index
    return 0


def _finding(case: Case, clause: ThoughtSignature, asked: Asked, what: str) -> Finding:
    place = next((part for part in asked.call.at if isinstance(part, int)), 0)
    return RULE.at_call(
        case, asked, f"the thought signature of {called(asked.call)} {what}", key="whole",
        label=f"signature {what}", under=clause, told={"block": place},
        fix=Fix("lossless", f"set it to `{BYPASS}`, which skips the check", _steps(case, asked)),
    )  # fmt: skip


def _steps(case: Case, asked: Asked) -> tuple[Put, ...]:
    """In place of what is there, or in the case in which the call is written."""
    call, part = asked.call, case.said(asked.message, asked.call.at)
    if call.dialect or (part is None and call.signature != "absent"):
        return ()
    usual = "thought_signature" if call.keys.id[0] == "function_call" else "thoughtSignature"
    key = next((key for key in ("thoughtSignature", "thought_signature") if key in (part or ())), usual)
    return (Put((*call.at, key), f'"{BYPASS}"'.encode(), asked.message),)
