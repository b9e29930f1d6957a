"""Find deviations that providers accept: the summary of a run counts them, and no rule reports them.

Evidence, recordings read in 2026-11: 263 of 263 accepted requests of the Responses API whose results have no
call name `previous_response_id`, `conversation` or an `item_reference`. Gemini, Vertex and Mistral accepted
429 requests whose results name no tool: an id, or the word `tool`. None was rejected for either. Gemini
accepted 43 requests that end with a message of the model. Gemini 3.5 and later reject them
(envoyproxy/ai-gateway 2686), and a request body names no model.
"""

from turnlint.ledger import Interaction, Ledger
from turnlint.model import Call, Transcript

KEPT_CALLS, FOREIGN_NAMES, MODEL_LAST = "kept-calls", "foreign-names", "model-last"
_NAMES_IGNORED = frozenset({"gemini", "mistral", "openai-chat"})
"""Wires whose servers accepted results with such names."""


def is_kept_elsewhere(transcript: Transcript) -> bool:
    """Whether the provider itself keeps the part of the conversation before this request."""
    return transcript.headless and transcript.request is not None


def may_end_with_model(transcript: Transcript) -> bool:
    """Whether a transcript is a request to a Gemini model that it does not name."""
    request = transcript.request
    if transcript.wire.speaks != "gemini" or request is None or request.model or not request.key:
        return False
    return request.whole and not transcript.open_end


def ends_with_model(transcript: Transcript) -> bool:
    """Whether a request to a Gemini model that it does not name ends with a message of the model."""
    messages = transcript.messages
    if not messages or messages[-1].role != "assistant" or not may_end_with_model(transcript):
        return False
    return bool(messages[-1].blocks) and not any(isinstance(block, Call) for block in messages[-1].blocks)


def foreign_names(transcript: Transcript, pairs: Ledger) -> int:
    """Count the results whose name differs from that of their call, where it is the name of no tool."""
    names = tool_names(transcript, pairs)
    return sum(is_foreign(transcript, one, names) for one in pairs.interactions)


def has_only_foreign_names(transcript: Transcript, pairs: Ledger) -> bool:
    """Whether no result has the name of a tool other than that of its call."""
    names = tool_names(transcript, pairs)
    return all(is_foreign(transcript, one, names) for one in pairs.interactions if is_named_otherwise(one))


def is_named_otherwise(one: Interaction) -> bool:
    """Whether a result has a name, and its call another."""
    name, call = one.answer.result.name if one.answer else None, one.asked.call.name
    return bool(name and call and name != call)


def is_foreign(transcript: Transcript, one: Interaction, names: frozenset[str | None]) -> bool:
    """Whether the name of a result is that of no tool, on a wire whose servers ignore it."""
    if transcript.wire.speaks not in _NAMES_IGNORED or not is_named_otherwise(one):
        return False
    name, call = one.answer.result.name if one.answer else None, one.asked.call.name
    return name not in names and _letters(name or "") != _letters(call or "")


def _letters(name: str) -> str:
    """Return a name without its spelling: `pump state` and `pump_state` name one tool."""
    return "".join(filter(str.isalnum, name)).casefold()


def tool_names(transcript: Transcript, pairs: Ledger) -> frozenset[str | None]:
    """Return the names of all tools that the request declares or the conversation calls."""
    declared = (transcript.request.tools if transcript.request else None) or ()
    called = (one.asked.call.name for one in pairs.interactions)
    return frozenset((*(tool.name for tool in declared), *called))
