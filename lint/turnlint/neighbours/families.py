"""The table of formats that are known and not supported yet.

A row names one family by marks that no supported format has; a record has all marks of the row. The marks were read in
the sources of the programs that write them, 2026-11.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING

from msgspec import Struct

from turnlint import compiled
from turnlint.model import Record

if TYPE_CHECKING:
    from turnlint.neighbours.sketch import Sketch


OTHER_CHAT = "messages of another chat format"
INPUT_LIST = "messages under `input`"
"""Data sets for evaluations have them, too. A request of OpenAI Responses has a model: 2,667 of 2,667 recorded (2026-11)."""
READABLE = {INPUT_LIST: "openai-responses"}
"""Families that a supported format reads where the user names it."""


class Family(Struct, frozen=True):
    """A format that is known and not read yet."""

    name: str
    keys: tuple[str, ...]
    """The marks of it that were found."""
    records: int


@cache  # the marks are those of the tables
def _parts(mark: str) -> tuple[str, str, str]:
    """Split a mark into its path, `=` or `^` if it has a word, and the word."""
    for how in "=^":
        path, found, word = mark.partition(how)
        if found:
            return path, how, word
    return mark, "", ""


@cache
def _steps_of(mark: str) -> tuple[str, ...]:
    """Return the keys of the path of a mark."""
    path, _, _ = _parts(mark)
    return tuple(step for step in path.replace("[]", "").split(".") if step)


_LIST = "[]"


def _first_of(mark: str) -> str:
    """Return the first step of a path: a key, or the items of a list."""
    return _LIST if mark.startswith(_LIST) else _steps_of(mark)[0]


def _words_of(mark: str) -> list[bytes]:
    """Return the keys of the path of a mark and its word, as bytes of a record."""
    _, how, word = _parts(mark)
    keys = [b'"%s"' % step.encode() for step in _steps_of(mark)]
    return [*keys, b'"%s' % word.encode()] if how else keys


FAMILIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("OpenTelemetry spans (OTLP)", ("resourceSpans[].scopeSpans",)),
    ("OpenTelemetry spans", ("attributes", "context.trace_id", "context.span_id")),
    ("OpenTelemetry events", ("attributes", "event_name^gen_ai.")),
    ("OpenTelemetry log records", ("attributes", "body", "severity_number", "observed_timestamp")),
    ("Vercel AI UIMessages", ("[].role", "[].parts[].type^tool-", "[].parts[].toolCallId")),
    ("Vercel AI UIMessages", ("messages[].parts[].type^tool-", "messages[].parts[].toolCallId")),
    ("Vercel AI ModelMessages", ("[].role", "[].content[].type=tool-call", "[].content[].toolCallId")),
    ("Vercel AI ModelMessages", ("messages[].content[].type=tool-call", "messages[].content[].toolCallId")),
    ("an OpenCode export", ("info.id^ses_", "messages[].info", "messages[].parts")),
    ("an OpenCode run", ("sessionID^ses_", "part.type")),
    ("a stream of Chat Completions", ("object=chat.completion.chunk", "choices")),
    ("a stream of Anthropic Messages", ("type=content_block_delta", "delta")),
    ("a stream of Anthropic Messages", ("type=content_block_start", "content_block")),
    ("a stream of OpenAI Responses", ("type^response.", "sequence_number")),
    ("a stream of Bedrock Converse", ("contentBlockDelta.contentBlockIndex",)),
    ("a stream of Bedrock Converse", ("contentBlockStart.contentBlockIndex",)),
    ("events of `codex exec --json`", ("type^thread.", "thread_id")),
    ("events of `codex exec --json`", ("type^item.", "item.id")),
    ("a stream of the Cursor CLI", ("type=tool_call", "subtype", "call_id", "session_id")),
    ("a stream of the Claude Agent SDK", ("type=assistant", "session_id", "message.content", "parent_tool_use_id")),
    ("a Qwen Code session", ("uuid", "parentUuid", "sessionId", "message.parts")),
    ("an llxprt session", ("v", "seq", "ts", "type", "payload")),
    ("a goose session", ("working_dir", "conversation[].content")),
    ("a goose session", ("role", "created", "content[].type=toolRequest")),
    ("events of the Copilot CLI", ("type^assistant.", "data", "id", "parentId")),
    ("events of the OpenHands SDK", ("kind=ActionEvent", "tool_call_id", "source")),
    ("events of OpenHands", ("id", "source", "action", "args", "tool_call_metadata")),
    ("an Amp thread", ("v", "id^T-", "messages[].content")),
    ("a Google ADK session", ("appName", "events[].invocationId", "events[].author")),
    ("pydantic-ai messages", ("[].kind", "[].parts[].part_kind")),
    ("an ATIF trajectory", ("schema_version^ATIF-", "steps")),
    ("an Inspect log", ("eval.model", "samples[].messages")),
    ("Langfuse observations", ("type=GENERATION", "traceId")),
    ("Langfuse observations", ("type=GENERATION", "trace_id")),
    ("LangSmith runs", ("run_type", "dotted_order")),
    ("MLflow traces", ("info.trace_id", "data.spans")),
    ("Braintrust spans", ("span_attributes.type", "root_span_id")),
    ("a tau-bench result", ("[].traj", "[].reward")),
    ("a tau-bench result", ("traj", "reward")),
    ("a tau2 simulation", ("simulations[].messages",)),
    ("a BFCL result", ("inference_log", "result")),
    ("a SWE-agent trajectory", ("trajectory[].observation", "info")),
    ("a Kimi CLI context", ("role=_checkpoint",)),
    ("a Kimi CLI context", ("role=_usage",)),
    ("a Kimi CLI context", ("role=_system_prompt",)),
    ("a Kimi Code session", ("type^context.append_loop_event",)),
    ("a tau2 simulation", ("messages[].turn_idx", "task_id")),
    ("a tau2 simulation", ("messages[].turn_idx", "termination_reason")),
    ("Mastra messages", ("messages[].content.format", "messages[].content.parts")),
    ("Mastra messages", ("[].content.format", "[].content.parts")),
    ("Mastra messages", ("content.format", "content.parts", "threadId")),
    ("a mini-swe-agent trajectory", ("trajectory_format^mini-swe-agent",)),
    ("a mini-swe-agent trajectory", ("info.mini_version", "messages")),
    ("an Inspect sample", ("messages", "epoch", "scores")),
    ("an Invariant trace", ("trace.trace",)),
    ("a Zed thread", ("messages[].segments", "messages[].role")),
    ("a Zed thread", ("messages[].Agent.content",)),
    ("a Factory Droid session", ("type=session_start", "owner")),
    ("a Factory Droid session", ("type=session_start", "cwd", "title")),
    ("a CodeBuddy session", ("type=function_call", "sessionId", "timestamp")),
    ("a CodeBuddy session", ("type=function_call_result", "sessionId")),
    ("a CodeBuddy session", ("type=message", "role", "sessionId", "timestamp")),
    ("a VS Code chat session", ("kind", "v.requests")),
    ("a VS Code chat session", ("requests[].response", "requesterUsername")),
    ("a HAR file", ("log.entries[].request",)),
    ("an AutoGen state", ("llm_context.messages[].type",)),
    ("an AutoGen state", ("agent_states",)),
    ("AutoGen messages", ("source", "models_usage", "type", "content")),
    ("smolagents messages", ("[].role=tool-call",)),
    ("smolagents messages", ("[].role=tool-response",)),
    ("smolagents steps", ("model_input_messages", "model_output_message")),
    ("smolagents steps", ("steps[].model_input_messages",)),
    ("Letta messages", ("message_type", "otid")),
    ("Letta messages", ("[].message_type", "[].otid")),
    ("a Letta agent file", ("agents[].core_memory",)),
    ("a Letta agent file", ("agents[].in_context_message_ids",)),
    ("Dify messages", ("agent_thoughts", "query", "answer")),
    ("Dify messages", ("data[].agent_thoughts", "data[].query")),
    ("a Flowise chat", ("chatflowid", "role", "content")),
    ("a Flowise chat", ("[].chatflowid", "[].role")),
    ("an n8n workflow", ("nodes[].typeVersion", "connections")),
    ("a LibreChat export", ("conversationId", "messages[].isCreatedByUser")),
    ("a LibreChat export", ("messages[].sender", "messages[].messageId")),
    ("an Open WebUI export", ("chat.history.messages", "chat.messages")),
    ("an Open WebUI export", ("[].chat.history",)),
    ("a ChatGPT export", ("[].mapping", "[].current_node")),
    ("a ChatGPT export", ("mapping", "current_node")),
    ("a Claude.ai export", ("[].chat_messages[].sender",)),
    ("a Claude.ai export", ("chat_messages[].sender",)),
    ("a Slack export", ("[].user", "[].ts", "[].text", "[].type=message")),
    ("a Discord export", ("guild", "channel", "messages[].author")),
    ("Semantic Kernel messages", ("messages[].items[].content_type",)),
    ("a LlamaIndex chat store", ("class_name^SimpleChatStore",)),
    ("Haystack messages", ("[].content[].tool_call.tool_name",)),
    ("Haystack messages", ("content[].tool_call.tool_name",)),
    ("CrewAI task outputs", ("tasks_output[].raw",)),
    ("CrewAI task outputs", ("task_id", "expected_output", "output.raw")),
    ("an opencode part", ("sessionID", "messageID", "callID", "state.status")),
    ("a Strands message", ("message.content", "message_id", "redact_message")),
    ("OpenTelemetry spans", ("spans[].attributes", "spans[].context")),
    ("OpenTelemetry spans", ("[].attributes", "[].spanContext")),
    ("OpenTelemetry spans", ("[].attributes", "[].context.trace_id")),
    ("events of OpenHands", ("id", "source", "action", "args", "timestamp")),
    ("events of OpenHands", ("id", "source", "observation", "extras")),
    ("events of OpenHands", ("[].source", "[].action", "[].args")),
    ("events of OpenHands", ("history[][].source", "history[][].action")),
    ("a Google ADK session", ("app_name", "user_id", "events")),
    ("a Google ADK session", ("invocation_id", "author", "content.parts")),
    ("a Google ADK session", ("events[].invocation_id", "events[].author")),
    ("a Google ADK evaluation set", ("eval_set_id", "eval_cases")),
    ("messages of the user interface of Cline or Roo Code", ("[].ts", "[].type=say", "[].say")),
    ("a log of the Codex user interface", ("ts", "dir^to_", "kind")),
    ("a SWE-agent trajectory", ("history[].message_type", "history[].agent")),
    ("a SWE-agent trajectory", ("messages[].message_type", "messages[].agent")),
    ("verifiers results", ("example_id", "completion[].role", "reward")),
    ("JSON-RPC messages (MCP, ACP or a language server)", ("jsonrpc^2",)),
    ("AG-UI messages", ("threadId", "runId", "messages[].role")),
    ("AG-UI events", ("type=RUN_STARTED", "threadId")),
    ("AG-UI events", ("type^TOOL_CALL_", "toolCallId")),
    ("an A2A task", ("history[].messageId", "history[].parts[].kind")),
    ("A2A messages", ("messageId", "parts[].kind")),
    ("A2A messages", ("[].messageId", "[].parts[].kind")),
    ("Genkit messages", ("messages[].content[].toolRequest.name",)),
    ("messages of the Microsoft Agent Framework", ("[].contents[].type=function_call", "[].contents[].call_id")),
    ("messages of Microsoft.Extensions.AI", ("[].contents[].$type",)),
    ("Spring AI messages", ("[].messageType", "[].toolCalls")),
    ("LangChain4j messages", ("[].toolExecutionRequests",)),
    ("a LiveKit chat context", ("items[].type=function_call_output", "items[].is_error")),
    ("a LiveKit chat context", ("items[].type=message", "items[].interrupted")),
    ("events of OpenAI Realtime", ("type^conversation.item.", "item")),
    ("events of OpenAI Realtime", ("type=session.created", "session.id")),
    ("messages of OpenAI Assistants", ("object=thread.message", "thread_id")),
    ("messages of OpenAI Assistants", ("data[].object=thread.message",)),
    ("messages of OpenAI Assistants", ("data[].object=thread.run.step",)),
    ("traces of the OpenAI Agents SDK", ("object=trace.span", "span_data")),
    ("a Gemini interaction", ("input[].content[].type=function_result",)),
    ("a Gemini interaction", ("input[].type=function_result",)),
    ("a Gemini interaction", ("object=interaction", "outputs")),
    ("messages of Gemini Live", ("setup.model",)),
    ("messages of Gemini Live", ("toolCall.functionCalls",)),
    ("messages of Gemini Live", ("serverContent",)),
    ("an AI Studio prompt", ("runSettings", "chunkedPrompt.chunks")),
    ("a Continue session", ("sessionId", "history[].contextItems")),
    ("a Trae trajectory", ("llm_interactions[].input_messages",)),
    ("an Amazon Q or Kiro conversation", ("conversation_id", "history[].user", "history[].assistant")),
    ("events of Claude Managed Agents", ("type^agent.", "id^sevt_")),
    ("Crush messages", ("session_id", "role", "parts[].data")),
    ("Agno sessions", ("session_id", "runs[].messages")),
    ("a Chatbox session", ("messages[].contentParts",)),
    ("an LM Studio conversation", ("messages[].versions", "messages[].currentlySelected")),
    ("a LobeChat export", ("messages[].tools[].apiName", "messages[].tools[].identifier")),
    ("an ElevenLabs conversation", ("conversation_id", "transcript[].tool_calls")),
    ("a Retell call", ("transcript_with_tool_calls",)),
    ("a Vapi call", ("messages[].role=tool_call_result",)),
    ("Snowflake Cortex requests", ("messages[].content_list",)),
)  # fmt: skip
"""A name, and its marks: paths of keys, with `=` the word at the path, with `^` its prefix."""
SIMILAR: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("xLAM samples", ("query", "tools", "answers")),
    ("Glaive samples", ("system", "chat")),
    ("preference pairs", ("chosen", "rejected")),
    ("a Grok chat history", ("type=tool_result", "tool_call_id")),
    (OTHER_CHAT, ("messages[].role",)),
    (INPUT_LIST, ("input[].role", "input[].content")),
    (OTHER_CHAT, ("[].role", "[].content")),
    (OTHER_CHAT, ("role", "content")),
    ("a LangGraph checkpoint", ("channel_values", "channel_versions")),
)  # fmt: skip
"""Families whose marks a supported format may have as well: they only name a file that no format reads."""
Keyed = tuple[str, tuple[str, ...], frozenset[bytes]]
"""A family with its marks, and the words in the bytes of each of its records."""
_KEYS: tuple[Keyed, ...] = tuple(
    (name, marks, frozenset(word for mark in marks for word in _words_of(mark))) for name, marks in FAMILIES
)


def _by_key() -> dict[str, list[tuple[int, frozenset[str], Keyed]]]:
    """Return the families of objects by one of the keys at which their paths begin, the rarest one in the table."""
    rows = [(frozenset(_first_of(mark) for mark in one[1]), one) for one in _KEYS]
    counts = Counter(key for firsts, _ in rows for key in firsts)
    found: dict[str, list[tuple[int, frozenset[str], Keyed]]] = {}
    for rank, (firsts, (name, marks, words)) in enumerate(rows):
        if _LIST not in firsts:
            one = name, marks, words.difference(b'"%b"' % key.encode() for key in firsts)
            found.setdefault(min(firsts, key=lambda key: (counts[key], key)), []).append((rank, firsts, one))
    return found


_ALL_KEYS = tuple(sorted({key for _, _, keys in _KEYS for key in keys}))
_BY_KEY = _by_key()
SSE = "server-sent events"
_SSE = (b"data:", b"event:")


def families_in(records: Iterable[Record]) -> list[Keyed]:
    """Return the families whose words are all in the bytes of some records."""
    present = _present(b"\n".join(record.data for record in records))
    return [one for one in _KEYS if one[2] <= present]


def families_with(keys: Collection[str]) -> list[Keyed]:
    """Return the families whose paths begin with some keys of an object, in the order of the table.

    A sketch of a record takes 30 times as long.
    """
    rows = [row for key in keys for row in _BY_KEY.get(key, ()) if row[1].issubset(keys)]
    return [one for _, _, one in sorted(rows)] if len(rows) > 1 else [one for _, _, one in rows]


def family_of(record: Record, families: Iterable[Keyed]) -> str | None:
    """Return the first of some families whose marks a record has."""
    data = record.data
    possible = [(name, marks) for name, marks, keys in families if all(key in data for key in keys)]
    if not possible:
        return None
    from turnlint.neighbours.sketch import sketch

    outline = sketch(record)
    if outline is None:
        return None
    return next((name for name, marks in possible if all(_has(outline, mark) for mark in marks)), None)


def _present(data: bytes) -> set[bytes]:
    """The keys of the table that the bytes of a record hold."""
    native = compiled.load_for(len(data))
    if native is not None:
        return set(compress(_ALL_KEYS, native.find_words([data], _ALL_KEYS)))
    return {key for key in _ALL_KEYS if key in data}


def resembled(outlines: "Sequence[Sketch]", starts: Sequence[bytes]) -> tuple[Family, ...]:
    """The families of which some records have all marks, the one with the most records first."""
    met: dict[str, Family] = {}
    if starts and starts[0].startswith(_SSE):
        lines = sum(one.startswith(_SSE) for one in starts)
        met[SSE] = Family(
            SSE, tuple(mark.decode() for mark in _SSE if any(one.startswith(mark) for one in starts)), lines
        )
    keys = _keys_in(outlines)
    for name, marks in (*FAMILIES, *SIMILAR):
        if not all(keys.issuperset(_steps_of(mark)) for mark in marks):
            continue
        records = sum(all(_has(outline, mark) for mark in marks) for outline in outlines)
        if records and (name not in met or met[name].records < records):
            met[name] = Family(name, tuple(map(_shown, marks)), records)
    return tuple(
        sorted(met.values(), key=lambda one: (one.name in (OTHER_CHAT, INPUT_LIST), -one.records, one.name))
    )


def _keys_in(outlines: "Iterable[Sketch]") -> set[str]:
    """Return the keys of all objects of some outlines."""
    found: set[str] = set()
    to_read = [*outlines]
    while to_read:
        one = to_read.pop()
        found.update(one.keys)
        to_read += [*one.keys.values(), *one.items]
    return found


def _shown(mark: str) -> str:
    path, how, word = _parts(mark)
    return f"{path} {word}…" if how == "^" else f"{path} {word}" if how else path


def _has(outline: "Sketch", mark: str) -> bool:
    from turnlint.neighbours.sketch import found

    path, how, word = _parts(mark)
    for one in found(outline, path):
        if not how or (one.word == word if how == "=" else one.word.startswith(word)):
            return True
    return False
