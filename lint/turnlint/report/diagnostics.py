"""Write the ids of conversations and the decisions about them, for the reports of `lint` and `fix`."""

from typing import Any

from turnlint.events import Completion, Decision, Diagnosis, Told
from turnlint.report.machine import LONGEST_NAME
from turnlint.text import truncate


def ids_of(told: Told) -> dict[str, Any]:
    """Return the ids of a conversation for a report."""
    return {
        "canonical_ids_seen": [truncate(one, LONGEST_NAME) for one in told.seen],
        "emitted_call_ids": [truncate(one, LONGEST_NAME) for one in told.calls],
        "emitted_result_ids": [truncate(one, LONGEST_NAME) for one in told.results],
    }


def format_of(told: Told) -> dict[str, Any]:
    """Return the format of a conversation and the providers whose rules applied."""
    return {"wire": told.wire, "providers": list(told.providers)}


def as_json(one: Diagnosis) -> dict[str, Any]:
    """Return the entry of a conversation in the report of `lint`."""
    told = one.told
    return {
        "path": one.path,
        "line": told.line,
        "id": truncate(told.conversation, LONGEST_NAME),
        "index": told.index,
        **ids_of(told),
        "dedupe_decisions": [_decision(decision) for decision in one.decisions],
        "synthetic_completions": [_completion(completion) for completion in one.completions],
        "provider_format": format_of(told),
        "faults": dict(one.faults),
    }


def _decision(one: Decision) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "call_id": truncate(one.call_id, LONGEST_NAME),
        "tool": truncate(one.tool, LONGEST_NAME),
        "decision": one.decision,
        "level": one.level,
        "reason": truncate(one.reason, LONGEST_NAME),
        "line": one.line,
        "pointer": one.pointer,
    }


def _completion(one: Completion) -> dict[str, Any]:
    return {
        "call_id": truncate(one.call_id, LONGEST_NAME),
        "tool": truncate(one.tool, LONGEST_NAME),
        "rule": one.rule,
        "reason": truncate(one.reason, LONGEST_NAME),
        "line": one.line,
        "pointer": one.pointer,
    }
