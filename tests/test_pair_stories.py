"""Conversations that a repair once paired wrongly, each with the wrong reading.

A case is written as turns: `c` is a call, `r` a result and `p` a placeholder, each with its number, id and tool; `x`
is text. `-` is no id, `_` an empty id and `~` an id of white space.
"""

import pytest

import fuzz_pairs
from breaking import PLACEHOLDER, Piece, Turn

IDS = {"-": None, "_": "", "~": " "}
CASES = (
    (
        "two results claim one call of a crowded turn, and a later call has the id too",
        "mistral", "lossless", "ollama",
        "model c4:a0000001z:look c5:a0000001z:read / tool r3:a0000001z:read x / tool r5:a0000001z:read / model c7:a0000001z:read",
    ),
    (
        "three results under one id in the window of two calls",
        "gemini", "lossy", "groq",
        "model c2:c:look c3:c:read / tool r1:c:read r2:c:look r3:c:read / model c4:c:write c5:c:read / tool r4:c:write r5:c:read",
    ),
    (
        "a late result without an id makes the window ambiguous",
        "anthropic", "lossy", "mistral",
        "model c1:_:look c2:_:write / tool r2:_:write / tool r902:toolu_00000:write / model x / tool r1:_:look",
    ),
    (
        "a late stray makes the leftover of a window ambiguous",
        "bedrock", "placeholder", "azure-openai",
        "model c1:tooluse_1:look c2:-:read / tool r1:call_one:look r2:tooluse_1:read / model x / tool r901:-:read",
    ),
    (
        "a late stray has the name of the only named result",
        "gemini", "placeholder", "canonical ids",
        "model c3:-:write c4:_:read c5:-:look / tool r4:call_four:write / model x / tool r901:_:write",
    ),
    (
        "two calls share a blank id, and only one result has it",
        "bedrock", "lossless", "bedrock",
        "model c2:~:write c3:~:look / tool r2:-:write r3:~:read",
    ),
    (
        "a result behind another turn, under an id that two turns share",
        "openai-chat", "lossy", "openai",
        "model c1:call_0:read / tool r3:call_1:look / model c3:call_1:look / tool r2:call_0:read / model c5:call_0:read",
    ),
    (
        "a call beside results has the name of another call of its id",
        "canonical", "lossy", "canonical ids",
        "model c1:call_0:write / model c4:call_0:look / tool c5:call_0:look r4:call_0:look r1:call_0:write",
    ),
    (
        "a stray without an id, behind a result that is renamed",
        "ollama", "lossless", "none",
        "model c1:call_1:write / model c2:call_1:write / tool r2:call_1:write / tool r901:_:write",
    ),
    (
        "more placeholders than calls",
        "openai-chat", "placeholder", "fireworks",
        "model c1:_:look c2:_:read / tool r1:_:look / tool r2:_:read / tool p1:_:look / tool r3:_:look",
    ),
    (
        "a placeholder between results under unknown ids",
        "cohere", "placeholder", "ollama",
        "model c1:look_1:look c2:_:look / tool r1:call_one:look / tool p1:call_two:look / tool r2:call_three:look",
    ),
    (
        "one placeholder for two calls of one tool",
        "ollama", "lossy", "minimax",
        "model c1:-:look / model c4:-:look c5:-:look / tool p4:-:look",
    ),
    (
        "an unknown id behind two copies of a call",
        "ollama", "placeholder", "bedrock",
        "model c1:-:write / tool r1:-:write / model c2:-:look c2:-:look / tool r2:call_two:look",
    ),
    (
        "a result inside its turn, without ids",
        "gemini", "placeholder", "canonical ids",
        "model c1:-:write r1:-:write / model c2:-:look c3:-:write c4:-:look / tool r2:-:look r3:-:write r4:-:look",
    ),
    (
        "a result inside its turn parts the turn, for ids too",
        "gemini", "lossless", "mistral",
        "model c1:-:look r1:-:look / model c3:-:look / tool r3:-:look",
    ),
    (
        "a result inside its turn parts the turn, so an id is used again in another one",
        "bedrock", "placeholder", "openai",
        "model c1:tooluse_1:look r1:tooluse_1:look / model c3:tooluse_1:write",
    ),
    (
        "the result of a lost id behind a turn with a result inside",
        "anthropic", "lossy", "groq",
        "model c1:-:look / model c2:t1:look c3:t3:read c4:t4:read r4:t4:read x / tool r2:t1:look r3:t3:read / tool r1:call_four:look",
    ),
    (
        "a provider of another wire and a log without ids",
        "ollama", "lossless", "openai-responses",
        "model c2:null:read c3:-:write c3:-:write / tool r1:-:write / tool r2:-:read / tool r3:-:write",
    ),
    (
        "an empty id and an answer in text before a stray with an empty id",
        "openai-chat", "lossy", "none",
        "model c2:call_002x:read / tool r1:_:read / model x / tool r901:_:read",
    ),
    (
        "a result without an id for each of two calls, of which only one has an id",
        "gemini-cli", "placeholder", "gemini",
        "model c2:call_:write c3:-:write / user x / tool r1:-:write r2:call_:write r3:-:write",
    ),
    (
        "a copy in the window of another call of its id",
        "anthropic", "lossless", "cohere",
        ("model c1:call_0:read_0 / tool r1:call_0:read_0 / model c9:call_0:write_1 / tool r1:call_0:write_1"
        " / model c2:call_0:look_2 c3:call_0:read_3 r3:call_0:read_3 / tool r2:call_0:look_2"),
    ),
    (
        "a call that is only in a message of results",
        "gemini", "placeholder", "canonical ids",
        "model c1:-:read / tool c3:-:read r3:-:read / model x / tool r1:-:read",
    ),
    (
        "a result under the id of another call, for a provider that counts calls",
        "gemini-cli", "lossless", "kimi",
        "model c1:REDACTED:read / tool r1:fc-2:read / model c2:fc-2:look / tool r2:fc-2:look",
    ),
    (
        "a call and its result in a message of the user",
        "gemini", "lossy", "kimi",
        "tool c1:fc-1:read r1:fc-1:read / model c3:fc-3:write",
    ),
    (
        "a result inside a turn under an id that three calls share",
        "gemini", "lossy", "openai",
        "model c1:fc-1:read r1:fc-1:read c2:fc-1:look c3:fc-1:look",
    ),
    (
        "more results than calls of one tool, without ids",
        "ollama", "lossless", "auto",
        "model c1:-:read c2:-:write c3:-:read / tool r1:-:read r3:-:read r1:-:read r2:-:write",
    ),
    (
        "a result of another name in the window of a call, and a later one of its name",
        "gemini-cli", "lossy", "canonical ids",
        "model c1:-:look / tool r3:-:read / model x / tool r2:-:look",
    ),
    (
        "a call before results in messages of their own, under an id that two calls share",
        "canonical", "placeholder", "cohere",
        "model c2:call_0:read c3:call_0:write / tool c1:call_0:write / tool r1:call_0:write / tool r2:call_0:read",
    ),
    (
        "a call before two results of its name in messages of their own",
        "canonical", "placeholder", "cohere",
        "model c2:c:read c3:c:write / tool c1:c:write / tool r1:c:write / tool r2:c:read / tool r3:c:write",
    ),
    (
        "a result without an id behind another turn, of the only call of its name",
        "canonical", "placeholder", "auto",
        "model c1:-:read / user x / model c2:c2:write / tool r2:c2:write / tool r901:-:read",
    ),
    (
        "a result without an id behind a turn with a copy of a call, under an id that an earlier call shares",
        "canonical", "placeholder", "none",
        "model c1:call_1:read / user x / model c4:call_1:read c5:call_5:read c6:call_6:read c4:call_1:read / tool r4:call_1:read r5:call_5:read r6:call_6:read / tool r1:-:read",
    ),
    (
        "a result without an id beside a call whose id a later call shares",
        "openai-responses", "lossy", "openai-responses",
        "model c1:call_000001:write c2:call_000002:write c3:call_000003:read / tool r901:-:- / model c2:call_000001:write / tool r2:call_000002:- r3:call_000003:- r1:call_000001:-",
    ),
)  # fmt: skip


def _piece(word: str) -> Piece:
    if word == "x":
        return Piece("text", "beside")
    head, rest = word.split(":", 1)
    identifier, name = rest.rsplit(":", 1)
    kind, mark = {"c": "call", "r": "result", "p": "result"}[head[0]], int(head[1:])
    words = {"c": "", "r": f"result-of-{mark}.", "p": PLACEHOLDER}[head[0]]
    return Piece(kind, words, -1 if head[0] == "p" else mark, IDS.get(identifier, identifier), name)


@pytest.mark.parametrize(
    ("form", "level", "provider", "text"),
    [story[1:] for story in CASES],
    ids=[story[0] for story in CASES],
)
def test_a_repair_keeps_results_ids_and_counts(form: str, level: str, provider: str, text: str) -> None:
    conversation = []
    for turn in text.split(" / "):
        role, *words = turn.split()
        conversation.append(Turn(role, [_piece(word) for word in words]))
    case = fuzz_pairs.Case(form, conversation, [], level, provider)  # type: ignore[arg-type]
    assert [*fuzz_pairs.judged(case)] == []
