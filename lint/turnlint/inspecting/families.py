"""Formats that are known by sight and not read yet.

This module owns the marks that belong to one such family alone: all of a row's must be there. The marks were read in
the sources of the programs that write them, 2026-11. It refuses to guess: a family with fewer of its marks is not named.
"""

import re
from collections.abc import Sequence

from turnlint.inspecting.facts import Family
from turnlint.inspecting.sketch import Sketch, found

_MARK = re.compile(r"([^=^]+)(?:([=^])(.*))?")
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
)  # fmt: skip
"""A name, and its marks: paths of keys, with `=` the word that stands there, with `^` how it begins."""
SSE = "server-sent events"
_SSE = (b"data:", b"event:")


def resembled(outlines: Sequence[Sketch], starts: Sequence[bytes]) -> tuple[Family, ...]:
    """The families of which some records have all marks, the one with the most records first."""
    met: dict[str, Family] = {}
    if starts and starts[0].startswith(_SSE):
        lines = sum(one.startswith(_SSE) for one in starts)
        met[SSE] = Family(
            SSE, tuple(mark.decode() for mark in _SSE if any(one.startswith(mark) for one in starts)), lines
        )
    for name, marks in FAMILIES:
        records = sum(all(_has(outline, mark) for mark in marks) for outline in outlines)
        if records and (name not in met or met[name].records < records):
            met[name] = Family(name, tuple(map(_shown, marks)), records)
    return tuple(sorted(met.values(), key=lambda one: (-one.records, one.name)))


def _shown(mark: str) -> str:
    path, how, word = _parts(mark)
    return f"{path} {word}…" if how == "^" else f"{path} {word}" if how else path


def _parts(mark: str) -> tuple[str, str, str]:
    match = _MARK.fullmatch(mark)
    assert match
    return match[1], match[2] or "", match[3] or ""


def _has(outline: Sketch, mark: str) -> bool:
    path, how, word = _parts(mark)
    for one in found(outline, path):
        if not how or (one.word == word if how == "=" else one.word.startswith(word)):
            return True
    return False
