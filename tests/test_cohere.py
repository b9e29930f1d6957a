"""Cohere's two chat APIs: reading each, and records of other formats."""

from pathlib import Path
from typing import Any

import pytest

from kin import NEEDS_CORPUS, battered, call_in, exchanges, judged, messages, result_in, sniffed, transcripts
from turnlint import ledger
from turnlint.model import Other, Text, Thinking
from turnlint.notation import write

MODEL = "command-a-03-2025"
USER = {"role": "user", "content": [{"type": "text", "text": "go"}]}
REPLY = {"role": "assistant", "content": [{"type": "text", "text": "so it is"}]}
DOCUMENT = {"type": "document", "document": {"id": "d1", "data": {"text": "so"}}}
TOOLS = [{"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}]


def calling(*names: str, **more: Any) -> dict[str, Any]:
    calls = [
        {"id": f"{name}_1", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for name in names
    ]
    return {"role": "assistant", "tool_calls": calls, **more}


def answer(name: str = "run", content: Any = '{"a": 1}') -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"{name}_1", "content": content}


def message_of_v1(role: str, message: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "message": message, **more}


def past_call(name: str = "run", **parameters: Any) -> dict[str, Any]:
    return {"name": name, "parameters": parameters}


def past_result(name: str = "run", *outputs: Any, **parameters: Any) -> dict[str, Any]:
    return {"call": past_call(name, **parameters), "outputs": list(outputs)}


# The second API.


def test_a_plan_and_a_thought_precede_the_calls() -> None:
    thought = {"type": "thinking", "thinking": "hm"}
    _, answered, _ = messages(
        "cohere", USER, calling("run", tool_plan="I look.", content=[thought]), answer()
    )
    assert answered.blocks[:2] == (
        Thinking(("tool_plan",), "tool_plan"),
        Thinking(("content", 0), "thinking"),
    )
    assert (call_in(answered).id, call_in(answered).written, call_in(answered).needs_id) == (
        "run_1",
        "text",
        True,
    )
    empty, blank = messages(
        "cohere",
        calling("run", tool_plan=""),
        {"role": "assistant", "content": [{**thought, "thinking": ""}]},
    )
    assert [type(block).__name__ for block in empty.blocks] == ["Call"]
    assert blank.blocks == (Thinking(("content", 0), "thinking", words=False),)


def test_a_result_has_documents_or_a_text() -> None:
    *_, listed, plain = messages(
        "cohere",
        USER,
        calling("run"),
        answer(content=[DOCUMENT, DOCUMENT, {"type": "text", "text": "so"}]),
        answer(),
    )
    assert (result_in(listed).parts, result_in(listed).written) == (("document", "text"), "list")
    assert (result_in(plain).parts, result_in(plain).written) == ((), "text")


def test_an_image_is_no_text() -> None:
    (message,) = messages(
        "cohere", {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
    )
    assert message.blocks == (Other(("content", 0), "image_url"),)


def test_an_answer_follows_its_request_or_is_alone() -> None:
    reply = {"id": "5b1d", "message": calling("run"), "finish_reason": "TOOL_CALL"}
    alone, pair = transcripts(
        "cohere", reply, {"request": {"model": MODEL, "messages": [USER]}, "response": reply}
    )
    assert (alone.messages[0].at, alone.open_end, alone.headless, alone.wire.name) == (
        ("message",),
        True,
        True,
        "cohere",
    )
    assert [message.at for message in pair.messages] == [("request", "messages", 0), ("response", "message")]


def test_an_error_is_no_message(tmp_path: Path) -> None:
    error = {"id": "5b1f", "message": "invalid request: all elements in history must have a message."}
    reply = {"id": "5b1d", "message": REPLY, "finish_reason": "COMPLETE"}
    rows, tally = judged([reply, error], None, tmp_path)
    assert (rows, tally.messages) == ([], 1)


# The first API.


def test_a_request_has_the_history_and_then_its_own_message() -> None:
    before = [message_of_v1("SYSTEM", "terse"), message_of_v1("USER", "a"), message_of_v1("CHATBOT", "b")]
    (transcript,) = transcripts("cohere", {"message": "c", "chat_history": before})
    assert [message.role for message in transcript.messages] == ["system", "user", "assistant", "user"]
    assert [message.at for message in transcript.messages] == [
        *(("chat_history", index) for index in range(3)),
        (),
    ]
    assert transcript.messages[-1].blocks == (Text(("message",)),)
    assert transcript.wire.name == "cohere-v1"


def test_results_repeat_their_calls_and_have_no_ids() -> None:
    before = [
        message_of_v1("USER", "a"),
        message_of_v1("CHATBOT", "", tool_calls=[past_call("read", path="a"), past_call("write")]),
    ]
    results = [past_result("write", {"done": True}), past_result("read", {"text": "x"}, 5, path="a")]
    (transcript,) = transcripts("cohere", {"message": "", "chat_history": before, "tool_results": results})
    assert [message.role for message in transcript.messages] == ["user", "assistant", "tool"]
    pairs = ledger.read(transcript.messages, transcript.wire)
    found = [(pair.asked.call.name, pair.answer and pair.answer.result.at) for pair in pairs.interactions]
    assert found == [("read", ("tool_results", 1)), ("write", ("tool_results", 0))]
    answered = transcript.messages[2].blocks
    assert [getattr(block, "parts", None) for block in answered] == [("json",), ("json", "json-other")]
    assert not any(getattr(block, "needs_id", True) for block in (*transcript.messages[1].blocks, *answered))


def test_rounds_of_results_are_in_the_history() -> None:
    before = [
        message_of_v1("USER", "a"), message_of_v1("CHATBOT", "x", tool_calls=[past_call()]), {"role": "TOOL", "tool_results": [past_result()]},
        message_of_v1("CHATBOT", "y", tool_calls=[past_call()]),
    ]  # fmt: skip
    (transcript,) = transcripts(
        "cohere", {"message": "", "chat_history": before, "tool_results": [past_result()]}
    )
    assert [message.role for message in transcript.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    assert [
        pair.answer is not None for pair in ledger.read(transcript.messages, transcript.wire).interactions
    ] == [
        True,
        True,
    ]


def test_a_single_step_has_its_calls_in_its_results_alone(tmp_path: Path) -> None:
    request = {
        "model": "command-r",
        "message": "go",
        "tool_results": [past_result("read", {"a": 1}, path="a")],
    }
    (transcript,) = transcripts("cohere", request)
    assert [message.role for message in transcript.messages] == ["user", "assistant", "tool"]
    call = call_in(transcript.messages[1])
    assert (call.name, call.at, call.arguments) == ("read", ("tool_results", 0, "call"), "object")
    assert judged([request], "cohere", tmp_path)[0] == []


def test_a_conversation_stored_elsewhere_has_lost_its_start() -> None:
    kept, whole = transcripts(
        "cohere",
        {"message": "go", "conversation_id": "c"},
        {"message": "go", "conversation_id": "c", "chat_history": []},
    )
    assert (kept.headless, whole.headless) == (True, False)


def test_parameters_are_an_object() -> None:
    wrong = {"name": "run", "parameters": "x"}
    (transcript,) = transcripts(
        "cohere",
        {"message": "", "chat_history": [message_of_v1("CHATBOT", "", tool_calls=[wrong, past_call(a=1)])]},
    )
    assert [getattr(block, "arguments", None) for block in transcript.messages[0].blocks] == [
        "unfit",
        "object",
    ]


def test_a_response_repeats_the_conversation_once() -> None:
    history = [message_of_v1("USER", "go"), message_of_v1("CHATBOT", "so", tool_calls=[past_call()])]
    reply = {
        "response_id": "r",
        "generation_id": "g",
        "text": "so",
        "tool_calls": [past_call()],
        "chat_history": history,
    }
    alone, pair = transcripts("cohere", reply, {"request": {"message": "go"}, "response": reply})
    assert [(message.at, message.role) for message in alone.messages] == [((), "assistant")]
    assert [(message.at, message.role) for message in pair.messages] == [
        (("request",), "user"),
        (("response",), "assistant"),
    ]
    assert [block.at for block in pair.messages[1].blocks] == [("text",), ("tool_calls", 0)]
    assert (alone.open_end, pair.open_end) == (True, True)


def test_a_message_of_the_log_itself_is_not_part_of_the_conversation() -> None:
    (transcript,) = transcripts("cohere", {"message": "sent", "request": {"messages": [USER, REPLY]}})
    assert [message.role for message in transcript.messages] == ["user", "assistant"]


def test_a_sample_for_fine_tuning_has_its_roles_in_lower_case() -> None:
    messages = [
        {"role": "System", "content": "terse"},
        {"role": "User", "content": "go"},
        {"role": "Chatbot", "content": "so"},
    ]
    (transcript,) = transcripts("cohere", {"messages": messages})
    assert [message.role for message in transcript.messages] == ["system", "user", "assistant"]
    assert transcript.misfits == ()


SNIFFS: list[tuple[str, Any, str | None]] = [
    ("a hosted model", {"model": MODEL, "messages": [USER, REPLY]}, "cohere"),
    ("a hosted model with calls", {"model": "command-r7b-12-2024", "messages": [USER, calling("run"), answer()]}, "cohere"),
    ("a plan", {"messages": [USER, calling("run", tool_plan="I look."), answer()]}, "cohere"),
    ("a plan on a line", calling("run", tool_plan="I look."), "cohere"),
    ("documents as a result", [USER, calling("run"), answer(content=[DOCUMENT])], "cohere"),
    ("an answer", {"id": "1", "message": REPLY, "finish_reason": "COMPLETE"}, "cohere"),
    ("an answer that thinks", {"id": "1", "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]},
                               "finish_reason": "COMPLETE"}, "cohere"),
    ("sent to its host", {"host": "api.cohere.com", "request": {"model": "m", "messages": [USER]}}, "cohere"),
    ("a history of the first API", {"message": "b", "chat_history": [message_of_v1("USER", "a")]}, "cohere"),
    ("a bare history of the first API", [message_of_v1("USER", "a"), message_of_v1("CHATBOT", "b")], "cohere"),
    ("results of the first API", {"message": "", "tool_results": [past_result()]}, "cohere"),
    ("a first request", {"model": "command-r", "message": "go"}, "cohere"),
    ("a first answer", {"response_id": "r", "generation_id": "g", "text": "so"}, "cohere"),
    ("a sample for fine-tuning", {"messages": [{"role": "User", "content": "go"}, {"role": "Chatbot", "content": "so"}]}, "cohere"),
    ("the same model behind Chat Completions", {"request": {"model": MODEL, "messages": [USER]}, "response": {"choices": [{"message": REPLY}]}}, "openai-chat"),
    ("Chat Completions at its host", {"url": "https://api.cohere.ai/compatibility/v1/chat/completions", "request": {"model": "m", "messages": [USER]}}, "openai-chat"),
    ("a model with a common name", {"model": "command-r", "messages": [USER]}, "openai-chat"),
    ("a message of a log", {"level": "info", "message": "started"}, None),
    ("a message and a model", {"model": "m", "message": "started"}, None),
    ("an event of an agent", {"id": 1, "source": "user", "message": "go", "tool_call_metadata": {}}, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("record", "expected"), [case[1:] for case in SNIFFS], ids=[case[0] for case in SNIFFS]
)
def test_only_its_own_keys_identify_a_record(record: Any, expected: str | None) -> None:
    assert sniffed(record) == expected


def test_no_shape_crashes_the_reader(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "hm"}
    second = {
        "model": MODEL,
        "messages": [
            USER,
            calling("run", tool_plan="I", content=[thought]),
            answer(content=[DOCUMENT]),
            REPLY,
        ],
    }
    history = [
        message_of_v1("USER", "a"),
        message_of_v1("CHATBOT", "", tool_calls=[past_call(a=1)]),
        {"role": "TOOL", "tool_results": [past_result("run", {"a": 1})]},
    ]
    first = {"message": "b", "chat_history": history, "tool_results": [past_result()]}
    reply = {"generation_id": "g", "text": "so", "tool_calls": [past_call()], "chat_history": history}
    records = [
        other
        for item in (second, first, reply, {"id": "1", "message": REPLY, "finish_reason": "COMPLETE"})
        for other in battered(item)
    ]
    assert len(records) > 600
    for format_name in ("cohere", None):
        rows, tally = judged(records, format_name, tmp_path)
        assert tally.conversations > len(records) / 2
        assert {"malformed-message", "orphan-result", "unreadable-arguments"} <= {
            row.finding.rule for row in rows
        }


def test_an_example_is_written_on_it() -> None:
    record = write(
        "user a\nassistant  b\n  think hm\nassistant\n  call c1 run {}\n  result c1 (run) error: no\n",
        "cohere",
    ).record
    assert (record["model"], [tool["function"]["name"] for tool in record["tools"]]) == (MODEL, ["run"])
    assert [part["type"] for part in record["messages"][1]["content"]] == ["thinking", "text"]
    assert record["messages"][2:] == [
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "no"},
    ]  # fmt: skip


@NEEDS_CORPUS
@pytest.mark.parametrize(("wire", "least"), [("cohere-v2", 140), ("cohere-v1", 12)])
def test_accepted_requests_are_read_whole_and_without_error(wire: str, least: int, tmp_path: Path) -> None:
    requests = [exchange["request"] for exchange in exchanges(lambda item: item["wire"] == wire)]
    rows, tally = judged(requests, "cohere", tmp_path)
    messages = [message for request in requests for message in request.get("messages", [{"role": "USER"}])]
    assert len(requests) >= least
    assert (tally.conversations, tally.messages) == (len(requests), len(messages))
    assert tally.calls == sum(len(message.get("tool_calls") or ()) for message in messages)
    assert tally.results == sum(message["role"] == "tool" for message in messages)
    assert rows == []


@NEEDS_CORPUS
def test_its_answers_are_recognized_without_their_requests(tmp_path: Path) -> None:
    answers = [
        exchange["response"]
        for exchange in exchanges(lambda item: item["wire"].startswith("cohere") and bool(item["response"]))
    ]
    assert len(answers) > 100
    assert {sniffed(answer) for answer in answers} == {"cohere"}
    rows, tally = judged(answers, None, tmp_path)
    assert ([row for row in rows if row.finding.severity == "error"], tally.messages) == ([], len(answers))
    calls = sum(len((answer.get("message") or answer).get("tool_calls") or ()) for answer in answers)
    assert tally.calls == calls > 20
