"""Small logs of unsupported formats, each with a trait of a supported format."""

from typing import Any

CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
USER = {"role": "user", "content": "hi"}
ANSWER = {"role": "tool", "tool_call_id": "c1", "content": "x"}
USE = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
CALLER = {"role": "assistant", "content": None, "tool_calls": [CALL]}

REPLY = {"role": "assistant", "content": "x is there"}


def twice(*messages: dict[str, Any]) -> dict[str, Any]:
    """A conversation of two turns with such calls."""
    return {"messages": [USER, *messages, REPLY, USER, *messages, REPLY]}


DOCUMENTS: dict[str, Any] = {
    "result-in-call": twice(CALLER | {"tool_calls": [CALL | {"result": "x"}]}),
    "interrupted": {
        "messages": [
            USER, CALLER | {"tool_calls": [CALL | {"result": "x"}]}, REPLY, USER, CALLER | {"tool_calls": [CALL | {"id": "c2"}]}, USER,
        ],
    },
    "result-in-function": twice(CALLER | {"tool_calls": [CALL | {"function": {"name": "ls", "arguments": "{}", "result": "x"}}]}),
    "result-in-bedrock-use": {
        "messages": [
            {"role": "user", "content": [{"text": "hi"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "ls", "input": {}, "result": {"text": "x"}}}]},
            {"role": "user", "content": [{"text": "thanks"}]},
        ],
    },
    "result-in-item": [
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}", "output": "x"},
        {"type": "message", "role": "assistant", "content": "x is there"},
    ],
    "results-beside-messages": {"messages": [USER, CALLER, REPLY], "tool_outputs": [{"tool_call_id": "c1", "output": "x"}]},
    "output-in-use": twice({"role": "assistant", "content": [USE | {"output": {"text": "x"}}]}),
    "results-in-message": twice(CALLER, {"role": "user", "tool_results": [{"tool_call_id": "c1", "content": "x"}]}),
    "tool-invocations": twice(
        {"role": "assistant", "content": "", "toolInvocations": [{"toolCallId": "c1", "toolName": "ls", "result": "x"}]}
    ),
    "one-call-a-message": twice(
        {"role": "assistant", "tool_call": {"id": "c1", "name": "ls"}}, {"role": "tool", "tool_result": {"id": "c1"}}
    ),
    "function-calls": twice(
        {"role": "assistant", "content": "", "function_calls": [{"name": "ls"}]},
        {"role": "function", "name": "ls", "content": "x"},
    ),
    "parameters-of-use": twice(
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ls", "params": {"a": 1}}]},
        {"role": "user", "content": [RESULT]},
    ),
    "result-with-id": twice(
        {"role": "assistant", "content": [USE]},
        {"role": "user", "content": [{"type": "tool_result", "id": "t1", "content": "x"}]},
    ),
    "result-in-user-content": twice(
        CALLER, {"role": "user", "content": [{"type": "tool_result", "call_id": "c1", "text": "x"}]}
    ),
    "events-between": twice(CALLER, {"role": "event", "content": "started"}, ANSWER, REPLY, REPLY, REPLY, REPLY, REPLY),
    "gemini-cli-like": {
        "sessionId": "s", "projectHash": "p", "startTime": "2026-11-01T10:00:00Z",
        "messages": [
            {"id": "1", "type": "user", "content": "hi"},
            {"id": "2", "type": "assistant", "content": "", "toolCalls": [{"id": "c1", "name": "ls", "output": "x"}]},
            {"id": "3", "type": "assistant", "content": "x is there"},
        ],
    },
    "tau2": [
        {
            "task_id": "0", "termination_reason": "user_stop",
            "messages": [
                {"role": "user", "content": "hi", "turn_idx": 0},
                {"role": "assistant", "turn_idx": 1, "tool_calls": [{"id": "c1", "name": "ls", "arguments": {}}]},
                {"role": "tool", "id": "c1", "content": "x", "turn_idx": 2},
            ],
        },
    ],
    "tau2-stripped": [
        {
            "messages": [
                USER,
                {"role": "assistant", "tool_calls": [{"id": "c1", "name": "ls", "arguments": {}, "requestor": "assistant"}]},
                {"role": "tool", "id": "c1", "content": "x", "requestor": "assistant"},
            ],
        },
    ],
    "mastra": {
        "messages": [
            {"id": "m1", "role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": "hi"}]}},
            {"id": "m2", "role": "assistant", "content": {"format": 2, "parts": [{"type": "tool-invocation"}]}},
        ],
    },
    "mini-swe-agent": {
        "trajectory_format": "mini-swe-agent-1.1", "info": {"exit_status": "Submitted"},
        "messages": [USER, CALLER, ANSWER, CALLER | {"tool_calls": [CALL | {"id": "c2"}]}, {"role": "exit", "content": "done"}],
    },
    "zed": {
        "version": "0.2.0", "summary": "s",
        "messages": [
            {"id": 0, "role": "user", "segments": [{"type": "text", "text": "hi"}], "tool_uses": [], "tool_results": []},
            {
                "id": 1, "role": "assistant", "segments": [{"type": "thinking", "text": "hm"}],
                "tool_uses": [{"id": "t1", "name": "ls", "input": {}}],
                "tool_results": [{"tool_use_id": "t1", "is_error": False, "content": "x"}],
            },
        ],
    },
    "zed-content": {
        "messages": [
            {"role": "user", "content": [{"type": "Text", "text": "hi"}]},
            {"role": "assistant", "content": [{"ToolUse": {"id": "t1"}}], "segments": []},
        ],
    },
    "k2-verifier": {
        "tools": [{"type": "function", "function": {"name": "ls", "parameters": {}}}], "temperature": 0.6,
        "messages": [{"role": "_input", "content": "be brief"}, USER, CALLER, ANSWER],
    },
    "smolagents": [
        USER,
        {"role": "tool-call", "content": [{"type": "text", "text": "Calling tools:\n[]"}]},
        {"role": "tool-response", "content": [{"type": "text", "text": "Observation:\nx"}]},
    ],
    "smolagents-step": {
        "step_number": 1, "model_input_messages": [USER], "tool_calls": [CALL], "observations": "x",
        "model_output_message": {"role": "assistant", "content": "a"},
    },
    "autogen-state": {
        "type": "AssistantAgentState", "version": "1.0.0",
        "llm_context": {
            "messages": [
                {"content": "hi", "source": "user", "type": "UserMessage"},
                {"content": [{"id": "c1", "arguments": "{}", "name": "ls"}], "source": "a", "type": "AssistantMessage"},
            ],
        },
    },
    "autogen-legacy": [{"role": "manager", "content": "hi", "name": "m"}, {"role": "coder", "content": "x", "name": "c"}],
    "crewai": {"raw": "x", "tasks_output": [{"description": "d", "raw": "x", "agent": "a", "messages": []}], "token_usage": {}},
    "dspy": {
        "prompt": None, "messages": [USER], "kwargs": {}, "outputs": ["x"], "usage": {}, "cost": 0.1,
        "timestamp": "2026-11-19T10:00:00", "uuid": "u", "model": "openai/gpt-4o", "model_type": "chat",
    },
    "letta": [
        {"id": "message-1", "message_type": "user_message", "content": "hi", "otid": "o"},
        {"id": "message-2", "message_type": "tool_call_message", "tool_call": {"name": "ls", "tool_call_id": "c1"}, "otid": "o"},
    ],
    "dify": {"data": [{"id": "d", "conversation_id": "c", "query": "hi", "answer": "x", "agent_thoughts": [], "inputs": {}}]},
    "flowise": [{"role": "userMessage", "content": "hi"}, {"role": "apiMessage", "content": "x", "usedTools": "[]"}],
    "n8n": {"nodes": [{"name": "a", "typeVersion": 1}], "connections": {}},
    "librechat": {
        "conversationId": "c", "title": "t",
        "messages": [{"messageId": "m", "sender": "User", "text": "hi", "isCreatedByUser": True, "content": [{"type": "text"}]}],
    },
    "open-webui": [{"id": "i", "title": "t", "chat": {"history": {"messages": {"a": USER}}, "messages": [USER]}}],
    "chatgpt": [{"title": "t", "mapping": {"a": {"message": {"author": {"role": "user"}}}}, "current_node": "a"}],
    "claude-ai": [{"uuid": "u", "name": "n", "chat_messages": [{"sender": "human", "text": "hi", "content": []}]}],
    "slack": [{"type": "message", "user": "U1", "text": "hi", "ts": "1.2"}, {"type": "message", "user": "U2", "text": "x", "ts": "1.3"}],
    "discord": {
        "guild": {"id": "1"}, "channel": {"id": "2"},
        "messages": [{"id": "3", "type": "Default", "content": "hi", "author": {"id": "4", "name": "n"}, "timestamp": "t"}],
    },
    "telegram": {"name": "n", "type": "personal_chat", "messages": [{"id": 1, "type": "message", "from": "A", "text": "hi"}]},
    "support-desk": {"messages": [{"role": "customer", "content": "hi"}, {"role": "agent", "content": "x"}]},
    "staff": [{"role": "admin", "content": "may do all"}, {"role": "editor", "content": "may write"}],
    "rag-test": {"name": "case 1", "input": {"messages": [{"role": "tester", "content": "hi"}]}, "expected": {"content": "x"}},
    "email": {"messages": [{"role": "sender", "content": {"html": "<p>hi"}}, {"role": "recipient", "content": {"html": "x"}}]},
    "har": {"log": {"version": "1.2", "creator": {}, "entries": [{"request": {"postData": {"text": "{}"}}, "response": {}}]}},
    "hermes-agent": {
        "session_id": "s", "platform": "cli", "message_count": 3,
        "messages": [
            USER,
            {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "call_id": "c1", "name": "ls", "arguments": {}}]},
            {"role": "session_meta", "content": None},
        ],
    },
    "inspect-sample": {
        "id": 1, "epoch": 1, "scores": {}, "target": "x",
        "messages": [
            USER,
            {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": "ls", "arguments": {}, "type": "function"}]},
            {"role": "tool", "tool_call_id": "c1", "function": "ls", "content": "x"},
        ],
    },
    "roo-reasoning": [
        {"role": "user", "content": [{"type": "text", "text": "hi"}], "ts": 1},
        {"role": "assistant", "content": [USE], "ts": 2},
        {"type": "reasoning", "role": "assistant", "content": "", "summary": [], "encrypted_content": "gA", "ts": 3},
        {"role": "user", "content": [RESULT], "ts": 4},
        {"role": "assistant", "content": [{"type": "text", "text": "x"}], "ts": 5},
    ],
    "mini-swe-agent-text": [
        {"role": "system", "content": "s"},
        USER,
        {"role": "assistant", "content": "```mswea_bash_command\nls\n```"},
        {"role": "user", "content": ""},
    ],
    "polylogue-card": {
        "id": "claude-code:s1", "provider": "claude-code", "title": "t", "message_count": 3,
        "messages": [
            {"id": "m1", "role": "user", "text": "hi", "timestamp": "2026-11-19T10:00:00Z"},
            {
                "id": "m2", "role": "assistant", "text": "",
                "content_blocks": [{"type": "tool_use", "tool_id": "t1", "tool_name": "ls", "tool_input": {}}],
            },
            {"id": "m3", "role": "tool", "text": "x", "content_blocks": [{"type": "tool_result", "tool_id": "t1", "text": "x"}]},
        ],
    },
    "polylogue-card-chat": {
        "id": "hermes:s2", "provider": "hermes", "created_at": "2026-11-19T10:00:00Z",
        "messages": [
            USER,
            {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "ls", "arguments": {}}]},
            {"role": "tool", "tool_name": "ls", "content": "x", "tool_call_id": "c1"},
            {"role": "tool", "tool_name": "ls", "content": "more", "tool_call_id": "c1"},
            {"role": "assistant", "content": "done"},
        ],
    },
    "llamaindex-blocks": {"messages": [{"role": "user", "blocks": [{"block_type": "text", "text": "hi"}], "additional_kwargs": {}}]},
    "ag-ui": {
        "threadId": "t1", "runId": "r1", "tools": [], "context": [], "state": {},
        "messages": [
            USER | {"id": "m1"},
            {"id": "m2", "role": "assistant", "content": "", "toolCalls": [CALL]},
            {"id": "m3", "role": "tool", "toolCallId": "c1", "content": "x"},
        ],
    },
    "ag-ui-messages": [
        USER | {"id": "m1"},
        {"id": "m2", "role": "assistant", "content": "", "toolCalls": [CALL]},
        {"id": "m3", "role": "tool", "toolCallId": "c1", "content": "x"},
        {"id": "m4", "role": "assistant", "content": "done"},
    ],
    "ag2": [USER, CALLER, {"role": "tool", "content": "x", "tool_responses": [ANSWER]}, {"role": "assistant", "content": "done"}],
    "langroid": [
        USER,
        {"role": "assistant", "content": "", "oai_tool_calls": [CALL]},
        {"role": "tool", "content": "x", "oai_tool_id": "c1"},
    ],
    "swe-agent-messages": {
        "messages": [USER, CALLER, {"role": "tool", "content": "x", "tool_call_ids": ["c1"]}, {"role": "assistant", "content": "done"}],
    },
    "lobechat": {
        "messages": [
            USER | {"createdAt": 1},
            {"role": "assistant", "content": "", "tools": [{"id": "c1", "type": "builtin", "arguments": "{}"}]},
            ANSWER | {"plugin": {"arguments": "{}"}},
            {"role": "assistant", "content": "done"},
        ],
    },
    "snowflake": {
        "model": "claude-sonnet-4-5",
        "messages": [
            USER,
            {"role": "assistant", "content": "", "content_list": [{"type": "tool_use", "tool_use": {"tool_use_id": "t1", "name": "ls"}}]},
            {"role": "user", "content": "", "content_list": [{"type": "tool_results", "tool_results": {"tool_use_id": "t1"}}]},
        ],
    },
    "genkit": {
        "messages": [
            {"role": "user", "content": [{"text": "hi"}]},
            {"role": "model", "content": [{"toolRequest": {"ref": "1", "name": "ls", "input": {}}}]},
            {"role": "tool", "content": [{"toolResponse": {"ref": "1", "name": "ls", "output": {}}}]},
        ],
    },
    "a2a": [
        {"kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": "hi"}]},
        {"kind": "message", "messageId": "m2", "role": "agent", "parts": [{"kind": "text", "text": "x"}]},
    ],
    "agents-with-parts": [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "agent", "parts": [{"text": "x"}]}],
    "page-contents": {"contents": [{"role": "intro", "parts": [{"text": "x"}]}, {"role": "body", "parts": [{"text": "y"}]}]},
    "livekit": [
        {"id": "item_1", "type": "message", "role": "user", "content": ["hi"], "interrupted": False},
        {"id": "item_2", "type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
        {"id": "item_3", "type": "function_call_output", "call_id": "c1", "name": "ls", "output": "x", "is_error": False},
        {"id": "item_4", "type": "message", "role": "assistant", "content": ["x"]},
    ],
    "gemini-interaction": {
        "model": "gemini-3-flash-preview", "previous_interaction_id": "v1_x",
        "input": [{"type": "function_result", "name": "ls", "call_id": "c1", "result": "x"}],
    },
    "microsoft-agents": [
        {"role": {"type": "role", "value": "assistant"}, "contents": [{"type": "function_call", "call_id": "c1", "name": "ls"}]},
        {"role": {"type": "role", "value": "tool"}, "contents": [{"type": "function_result", "call_id": "c1", "result": "x"}]},
    ],
    "ragas": [
        {"type": "human", "content": "hi"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "ls", "args": {}}]},
        {"type": "tool", "content": "x"},
        {"type": "ai", "content": "done"},
    ],
    "speakers-with-texts": [{"speaker": "human", "text": "hi"}, {"speaker": "ai", "text": "x"}],
    "tool-bench": {
        "conversations": [
            {"from": "system", "value": "s"}, {"from": "user", "value": "hi"},
            {"from": "assistant", "value": "Thought: t\nAction: ls\nAction Input: {}"},
            {"from": "function", "value": "x"}, {"from": "assistant", "value": "done"},
        ],
    },
    "open-interpreter": [
        USER | {"type": "message"},
        {"role": "assistant", "type": "code", "format": "python", "content": "1"},
        {"role": "computer", "type": "console", "format": "output", "content": "1"},
    ],
    "vapi": {
        "messages": [
            {"role": "bot", "message": "hi", "time": 1},
            {"role": "tool_calls", "toolCalls": [CALL], "message": "", "time": 2},
            {"role": "tool_call_result", "toolCallId": "c1", "name": "ls", "result": "x", "time": 3},
        ],
    },
    "anthropic-results-under-tool": twice(
        {"role": "assistant", "content": [USE]}, {"role": "tool", "content": [RESULT]},
    ),
    "gemini-with-chat-roles": {
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "assistant", "parts": [{"functionCall": {"name": "ls", "args": {}}}]},
            {"role": "tool", "parts": [{"functionResponse": {"name": "ls", "response": {"x": 1}}}]},
            {"role": "assistant", "parts": [{"text": "x is there"}]},
        ],
    },
    "results-without-ids": twice(CALLER, {"role": "tool", "name": "ls", "content": "x"}),
    "blocks-without-ids": twice(
        {"role": "assistant", "content": [{"type": "tool_use", "name": "ls", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "content": "x"}]},
    ),
    "calls-of-arguments": {
        "conversations": [
            {"from": "human", "value": "hi"},
            {"from": "function_call", "value": '{"path": "."}'}, {"from": "observation", "value": "x"},
            {"from": "function_call", "value": '{"path": "/"}'}, {"from": "observation", "value": "y"},
            {"from": "gpt", "value": "done"},
        ],
    },
    "call-and-result-in-one-part": {
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}]},
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"name": "ls", "args": {}}, "functionResponse": {"name": "ls", "response": {"x": 1}}},
                ],
            },
            {"role": "model", "parts": [{"text": "x is there"}]},
        ],
    },
    "items-tied-by-item-ids": {
        "input": [
            {"type": "message", "role": "user", "content": "hi"},
            {"type": "function_call", "id": "fc_1", "name": "ls", "arguments": "{}"},
            {"type": "function_call_output", "id": "fc_1", "output": "x"},
        ],
    },
    "a-summary": {"messages": [{"role": "summary", "content": "earlier"}, USER, CALLER, ANSWER, REPLY]},
    "llamaindex-kwargs": {
        "messages": [
            USER | {"additional_kwargs": {}},
            {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [CALL]}},
            {"role": "tool", "content": "x", "additional_kwargs": {"name": "ls", "tool_call_id": "c1"}},
            REPLY | {"additional_kwargs": {}},
        ],
    },
    "calls-in-texts": [
        USER,
        {"role": "assistant", "content": "Action: ls\nAction Input: {}"},
        {"role": "tool", "content": "x"},
        REPLY,
    ],
    "actions": {"messages": [USER, {"role": "assistant", "content": "", "actions": [{"tool": "ls", "output": "x"}]}, REPLY]},
    "number-ids": twice(CALLER | {"tool_calls": [CALL | {"id": 1}]}, ANSWER | {"tool_call_id": 1}),
    "camel-items": [
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "function_call", "callId": "c1", "name": "ls", "arguments": "{}"},
        {"type": "function_call_output", "callId": "c1", "output": "x"},
    ],
}  # fmt: skip

LINES: dict[str, list[Any]] = {
    "kimi": [
        {"role": "_system_prompt", "content": "s"},
        USER,
        {"role": "_checkpoint", "id": 1},
        CALLER,
        {"role": "_usage", "token_count": 9},
        ANSWER,
    ],
    "kimi-cut": [CALLER, {"role": "_usage", "token_count": 9}, {"role": "_checkpoint", "id": 1}, ANSWER],
    "droid": [
        {"type": "session_start", "id": "s", "title": "t", "owner": "o"},
        {"type": "message", "id": "1", "timestamp": "2026-11-19T10:00:00Z", "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}},
        {"type": "message", "id": "2", "timestamp": "2026-11-19T10:00:01Z", "message": {"role": "assistant", "content": [USE]}, "parentId": "1"},
        {"type": "message", "id": "3", "timestamp": "2026-11-19T10:00:02Z", "message": {"role": "user", "content": [RESULT]}, "parentId": "2"},
    ],
    "droid-cut": [
        {"type": "message", "id": "2", "timestamp": "2026-11-19T10:00:01Z", "message": {"role": "assistant", "content": [USE]}, "parentId": "1"},
        {"type": "message", "id": "3", "timestamp": "2026-11-19T10:00:02Z", "message": {"role": "user", "content": [RESULT]}, "parentId": "2"},
    ],
    "codebuddy": [
        {"id": "1", "timestamp": 1, "type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}], "sessionId": "s", "cwd": "/"},
        {"id": "2", "timestamp": 2, "type": "function_call", "callId": "c1", "name": "ls", "arguments": "{}", "sessionId": "s"},
        {"id": "3", "timestamp": 3, "type": "function_call_result", "callId": "c1", "name": "ls", "output": {"type": "text", "text": "x"}, "sessionId": "s"},
        {"id": "4", "timestamp": 4, "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}], "sessionId": "s"},
    ],
    "qwen": [
        {"uuid": "a", "parentUuid": None, "sessionId": "s", "type": "user", "message": {"role": "user", "parts": [{"text": "hi"}]}},
        {"uuid": "b", "parentUuid": "a", "sessionId": "s", "type": "assistant", "message": {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "ls", "args": {}}}]}},
        {"uuid": "c", "parentUuid": "b", "sessionId": "s", "type": "tool_result", "message": {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "ls", "response": {}}}]}},
    ],
    "telemetry": [
        {"event": "llm_call", "properties": {"messages": [USER], "model": "gpt-4o"}, "timestamp": "t"},
        {"event": "page_view", "properties": {"role": "visitor", "content": "home"}, "timestamp": "t"},
    ],
    "hermes-rows": [
        {"id": 1, "session_id": "s", "role": "session_meta", "content": None, "tool_calls": None},
        {"id": 2, "session_id": "s", "role": "user", "content": "hi", "tool_calls": None, "tool_name": None},
        {"id": 3, "session_id": "s", "role": "assistant", "content": None, "tool_calls": '[{"id": "c1"}]', "tool_name": None},
    ],
    "vscode": [{"kind": 0, "v": {"requests": [], "sessionId": "s"}}, {"kind": 1, "k": ["requests"], "v": []}],
    "app-chat": [
        {"room": "r", "role": "host", "content": "hi", "timestamp": 1},
        {"room": "r", "role": "guest", "content": "x", "timestamp": 2},
    ],
    "model-cards": [{"messages": [{"role": "card", "content": {"title": "t"}}]}, {"messages": [{"role": "note", "content": {"title": "u"}}]}],
    "mcp": [
        {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"messages": [{"role": "user", "content": {"type": "text"}}]}},
        {"jsonrpc": "2.0", "id": 1, "result": {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "claude"}},
    ],
    "ag-ui-lines": [
        USER | {"id": "m1"},
        {"id": "m2", "role": "assistant", "content": "", "toolCalls": [CALL]},
        {"id": "m3", "role": "tool", "toolCallId": "c1", "content": "x"},
    ],
    "livekit-lines": [
        {"id": "item_1", "type": "message", "role": "user", "content": ["hi"], "interrupted": False},
        {"id": "item_2", "type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
        {"id": "item_3", "type": "function_call_output", "call_id": "c1", "name": "ls", "output": "x", "is_error": False},
        {"id": "item_4", "type": "message", "role": "assistant", "content": ["x"]},
    ],
    "realtime": [
        {"type": "session.created", "event_id": "e1", "session": {"id": "s"}},
        {"type": "conversation.item.created", "item": {"id": "i2", "type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}},
    ],
    "assistants": [
        {"id": "msg_1", "object": "thread.message", "thread_id": "t", "role": "user", "content": [{"type": "text", "text": {"value": "hi"}}]},
        {"id": "msg_2", "object": "thread.message", "thread_id": "t", "role": "assistant", "content": [{"type": "text", "text": {"value": "x"}}]},
    ],
    "parts-of-kinds": [
        {"role": "user", "parts": [{"kind": "text", "text": "hi"}]},
        {"role": "assistant", "parts": [{"kind": "tool_call", "id": "c1", "name": "ls", "args": {}}]},
        {"role": "user", "parts": [{"kind": "tool_return", "id": "c1", "content": "x"}]},
        {"role": "assistant", "parts": [{"kind": "text", "text": "x"}]},
    ],
    "crush": [
        {"id": "m1", "session_id": "s", "role": "assistant", "parts": [{"type": "tool_call", "data": {"id": "c1", "name": "ls", "input": "{}"}}]},
        {"id": "m2", "session_id": "s", "role": "tool", "parts": [{"type": "tool_result", "data": {"tool_call_id": "c1", "content": "x"}}]},
    ],
}  # fmt: skip
