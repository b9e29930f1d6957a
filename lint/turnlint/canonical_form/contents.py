"""Find the text, the thought, the arguments or the payload in a value of any format.

The positions are those of the reader of the format. Below them, formats differ only in a few names of keys.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from json import dumps, loads

from msgspec import Raw, json

from turnlint.arguments import parsed_arguments
from turnlint.canonical_form.members import Object, container, decode, is_text, items, members
from turnlint.carrying.raws import is_blank
from turnlint.case import Case
from turnlint.ids.turns import is_digest
from turnlint.ledger import Asked
from turnlint.model import Call, Message, Thinking

ORDINARY_KINDS = frozenset({
    "", "function", "tool", "tool_call", "tool_use", "toolUse", "functionCall", "function_call", "toolCall", "call",
})  # fmt: skip
"""Types of calls of the caller's own functions, in the words of all formats."""
TEXT_KEYS = ("text", "thinking", "refusal", "content", "value")
THOUGHT_KEYS = (
    "thinking",
    "thought",
    "text",
    "summary",
    "reasoning",
    "reasoningText",
    "reasoningContent",
    "content",
)
"""Keys of a thought. The first with a text is that of the thought: some formats nest them."""
FIELDS = ("reasoning_content", "reasoning")
"""Keys of a chat message with a thought beside its content. Some servers write the same thought in both."""
SIGNATURE_KEYS = ("signature", "thoughtSignature", "thought_signature", "thinkingSignature")
SYSTEM_KEYS = ("system", "systemInstruction", "system_instruction", "instructions", "preamble")
"""Keys of a request for system texts that are no messages (API references of five providers, 2026-11)."""
MAX_DEPTH = 8
"""The maximum number of levels between a thought and its text."""


def text_in(value: Raw | None) -> Raw | None:
    """Return the JSON string of a text, or of a part with a text."""
    if value is None or is_text(value):
        return value
    part = members(value)
    return next((part[key] for key in TEXT_KEYS if is_text(part.get(key))), None)


def thought_in(value: Raw) -> Raw | str:
    """Return the text of a thought as the source spells it; empty if the provider keeps it to itself."""
    texts = _thoughts(value)
    return texts[0] if len(texts) == 1 else "\n".join(str(decode(one)) for one in texts)


def _thoughts(value: Raw, depth: int = 0) -> list[Raw]:
    """Return the texts of a thought."""
    if is_text(value):
        return [value] if bytes(value) != b'""' else []
    found = container(value) if depth < MAX_DEPTH else None
    if isinstance(found, list):
        return [text for one in found for text in _thoughts(one, depth + 1)]
    if found is None:
        return []
    texts = (_thoughts(found[key], depth + 1) for key in THOUGHT_KEYS if key in found)
    return next(filter(None, texts), [])


def thoughts_beside(message: Message, own: Mapping[str, Raw]) -> tuple[Thinking, ...]:
    """Return the thought of a message beside its content, where the reader of its format has no block for it."""
    if message.role != "assistant" or any(isinstance(block, Thinking) for block in message.blocks):
        return ()
    found = (key for key in FIELDS if is_text(own.get(key)) and not is_blank(own[key]))
    return tuple(Thinking((key,)) for key in islice(found, 1))


def signature_in(value: Raw, depth: int = 0) -> Raw | None:
    """Return the proof of a provider that a thought is its own."""
    part = members(value) if depth < MAX_DEPTH else Object()
    own = next((part[key] for key in SIGNATURE_KEYS if is_text(part.get(key))), None)
    if own is not None:
        return own
    below = (signature_in(part[key], depth + 1) for key in THOUGHT_KEYS if key in part)
    return next((one for one in below if one is not None), None)


def arguments_in(call: Call, value: Raw | None) -> tuple[Raw, Raw | str | None]:
    """Return the arguments of a call as an object, and the text from which they could not be read, if any."""
    written = value if value is not None else Raw(call.body) if call.body else None
    if value is None and is_digest(call.body):
        raise ValueError("the arguments of a call are not at their position")
    if call.arguments == "object":
        return Raw(str(decode(written)).encode()) if written is not None and is_text(
            written
        ) else written or _NONE, None
    if call.arguments == "free":
        if written is not None and not is_text(written) and isinstance(container(written), dict):
            return written, None
        return Raw(json.encode({"input": written})) if written is not None else _NONE, None
    if written is None or bytes(written) in (b"", b"null"):
        return _NONE, None
    return _NONE, written if is_text(written) else json.encode(written).decode()


def parsed_in(case: Case, asked: Asked) -> Raw | None:
    """Return the object that a text of arguments holds, if it has only one reading."""
    parsed = parsed_arguments(case, asked)
    if parsed is not None:
        return None if parsed.value is None else Raw(dumps(parsed.value).encode())
    call = asked.call
    said = case.said(asked.message, (*call.at, *call.keys.body)) if call.arguments == "unfit" else None
    try:
        return Raw(said.encode()) if isinstance(said, str) and isinstance(loads(said), dict) else None
    except (ValueError, RecursionError):
        return None


_NONE = Raw(b"{}")


def payload_in(value: Raw | None) -> Raw | None:
    """Return the content of a result. A list with a single text is that text."""
    only = items(value)
    if len(only) == 1 and (text := _plain_text(only[0])) is not None:
        return text
    return value


def _plain_text(part: Raw) -> Raw | None:
    """Return the text of a part that has nothing but a text."""
    found = members(part)
    if found.keys() - {"type", "text"} or not is_text(found.get("text")):
        return None
    return found["text"]


def error_in(value: Raw | None) -> tuple[Raw | str, Raw | None]:
    """Return the text of an error, and its content where that is more than the text."""
    plain = payload_in(value)
    if plain is None:
        return "", None
    if is_text(plain):
        return plain, None
    found = members(plain)
    if found.keys() == {"error"} and is_text(found["error"]):
        return found["error"], None
    said = found.get("error", plain)
    texts = [str(decode(text)) for part in items(said) if is_text(text := text_in(part)) and text is not None]
    return "\n".join(texts) or _compact(said), plain


def _compact(value: Raw) -> str:
    return json.format(value, indent=-1).decode()


def system_parts(settings: Mapping[str, Raw]) -> Iterator[tuple[str, Raw]]:
    """Yield the system texts beside the messages of a request, each with its key."""
    for key in SYSTEM_KEYS:
        value = settings.get(key)
        if is_text(value) and value is not None:
            yield key, value
        elif value is not None:
            parts = items(value) or items(members(value).get("parts")) or ([value] if members(value) else [])
            yield from ((key, part) for part in parts)
