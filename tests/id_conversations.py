"""Conversations for tests of ids, and profiles to check them against.

The profiles are built from clauses, so that the tests cover the reading of clauses. Includes a check of ids that is
independent of their generation.
"""

import re
from typing import Any

import pytest

from turnlint.clauses import IdCharset, IdForm, IdLength, IdUnique
from turnlint.ids import Projection
from turnlint.model import Block, Call, Keys, Message, Record, Result, Transcript, Wire
from turnlint.profiles import Capabilities, Profile

EVIDENCE = {"source": "a test", "date": "2026-11"}
CANONICAL_FORM = re.compile(r"hist_tool_[A-Za-z0-9_-]+\Z")


def profile(wire: str, *clauses: Any, models: str = "") -> Profile:
    capabilities = Capabilities(format=wire)
    return Profile(
        name="p", title="p", wires=(wire,), capabilities=capabilities, clauses=clauses, models=models
    )


SAFE = IdCharset(pattern="[a-zA-Z0-9_-]+", wants="safe", **EVIDENCE)
SERVER = IdForm(of="server", pattern="srvtoolu_[a-zA-Z0-9_]+", wants="srvtoolu_", **EVIDENCE)
NINE = IdForm(pattern="[a-zA-Z0-9]{9}", wants="nine", required=True, **EVIDENCE)
COUNTED = IdForm(
    pattern=r"(functions\.)?[\w.\-]+:\d+", wants="functions.name:0", global_count=True, **EVIDENCE
)
ONCE = IdUnique(over="request", **EVIDENCE)

OPENAI = profile("openai-chat", IdLength(most=40, **EVIDENCE))
RESPONSES = profile("openai-responses", IdLength(most=64, **EVIDENCE))
ANTHROPIC = profile("anthropic", SAFE, SERVER, ONCE)
BEDROCK = profile(
    "bedrock", IdCharset(pattern="[a-zA-Z0-9_.:-]+", wants="", **EVIDENCE), IdLength(most=64, **EVIDENCE)
)
MISTRAL = profile("mistral", NINE, IdUnique(over="message", **EVIDENCE))
KIMI = profile("openai-chat", COUNTED)
GEMINI = profile("gemini")
FREE = (OPENAI, RESPONSES, ANTHROPIC, BEDROCK, MISTRAL)
"""Profiles whose ids do not count the calls before them."""
NEEDING = (*FREE, KIMI)
EVERY_NEEDING = pytest.mark.parametrize(
    "target", NEEDING, ids=lambda item: f"{item.wires[0]}-{len(item.clauses)}"
)

KEYS = Keys(("id",), ("name",), ("body",))
RECORD = Record(1, 0, b"")
Turn = list[tuple[str | None, str | None, bytes]]
"""Calls as id, name and arguments; each has a result."""


def conversation(*turns: Turn, wire: str = "openai-chat", **more: Any) -> Transcript:
    messages: list[Message] = []
    for turn in turns:
        calls: list[Block] = [
            Call((n,), KEYS, i, name, body, "object") for n, (i, name, body) in enumerate(turn)
        ]
        messages.append(Message("assistant", ("m", len(messages)), tuple(calls), RECORD))
        for identifier, name, body in turn:
            result = Result((0,), KEYS, identifier, name, b"answer to " + body)
            messages.append(Message("tool", ("m", len(messages)), (result,), RECORD))
    return Transcript(Wire(wire), tuple(messages), **more)


def call_ids(projection: Projection) -> list[str | None]:
    return [entry.new for entry in projection.entries if entry.piece == "call"]


def pairs_of(projection: Projection) -> list[tuple[str | None, list[str | None]]]:
    """The id of each call with those of its results."""
    numbers = {entry.number for entry in projection.entries} - {-1}
    return [
        (
            next(
                entry.new for entry in projection.entries if (entry.number, entry.piece) == (number, "call")
            ),
            [entry.new for entry in projection.entries if (entry.number, entry.piece) == (number, "result")],
        )
        for number in sorted(numbers)
    ]


def accepted(identifier: str | None, target: Profile, *, server: bool = False) -> bool:
    """Whether an id satisfies all clauses of a profile; independent of the generation of ids."""
    text = identifier or ""
    for clause in target.clauses:
        if isinstance(clause, IdForm) and clause.of == ("server" if server else "call"):
            missing = identifier is None and clause.required
            if missing or (clause.pattern and not re.fullmatch(clause.pattern, text, re.DOTALL)):
                return False
        if isinstance(clause, IdCharset) and not server and not re.fullmatch(clause.pattern, text):
            return False
        if (
            isinstance(clause, IdLength)
            and (clause.of, server) == ("call", False)
            and len(text) > clause.most
        ):
            return False
    return True


DEGENERATE = [None, "", "null", "call_", "toolu_", "hist_tool_", "REDACTED", "***", "<UUID>"]
