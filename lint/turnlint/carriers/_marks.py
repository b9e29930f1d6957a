"""Exclude formats for which a record cannot have evidence, by its bytes alone.

The table has, for a format, the marks that any record with evidence for it contains. Without a mark, the format is not
even imported. A format without a row, or with a mark in the record, is scored. A test checks the table with every
record of every format after its marks were removed.

A mark begins with a quote where the word alone is common. It has no quote at its end, since JSON may be inside a text.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain, compress

from turnlint import compiled

MARKS: dict[str, tuple[bytes, ...]] = {
    "anthropic": (
        b"tool_use", b"tool_result", b"thinking", b'"stop_reason', b"input_schema", b"claude", b"anthropic",
    ),
    "bedrock": (
        b"toolUse", b"toolResult", b"reasoningContent", b"guardContent", b"cachePoint", b"citationsContent",
        b"searchResult", b"toolAddition", b"toolRemoval", b"toolSpec", b"inferenceConfig", b"guardrailConfig", b"additionalModelRequestFields", b"stopReason",
    ),
    "canonical": (b'"speaker',),
    "claude-code": (b'"sessionId', b'"leafUuid', b'"messageId'),
    "codex": (b'"payload', b'"record_type', b'"instructions'),
    "cohere": (
        b"tool_plan", b"tool_results", b'"document', b"safety_mode", b"citation_options", b'"preamble', b'"connectors',
        b"generation_id", b"finish_reason", b"cohere", b'"command', b"c4ai", b'"USER', b'"CHATBOT', b'"SYSTEM', b'"TOOL',
        b'"User', b'"Chatbot', b'"System', b'"Tool',
    ),
    "gemini": (b'"parts', b'"contents', b'"candidates'),
    "gemini-cli": (b'"sessionId', b'"$set', b'"$rewindTo'),
    "langchain": (
        b'"lc', b'"data', b"additional_kwargs", b"response_metadata", b'"human', b'"ai', b"HumanMessage", b"AIMessage",
    ),
    "mistral": (
        b'"prefix', b'"thinking', b'"reference', b"document_url", b"safe_prompt", b"random_seed", b"stral", b"xtral",
    ),
    "ollama": (
        b"tool_name", b'"images', b"created_at", b"keep_alive", b'"think', b'"options', b"11434", b"ollama",
    ),
    "openai-responses": (
        b"input_text", b"input_image", b"input_file", b"input_audio", b"output_text", b"responses", b"function_call",
        b"custom_tool_call", b"shell_call", b"computer_", b"apply_patch", b"code_interpreter", b"file_search", b"image_generation", b"tool_search", b"web_search", b"mcp_", b'"program',
        b"reasoning", b"compaction", b"item_reference", b"configuration_update", b"additional_tools", b"refusal",
    ),
    "pi": (b'"timestamp',),
    "sharegpt": (b'"from',),
}  # fmt: skip

KEYS: dict[str, tuple[tuple[bytes, tuple[bytes, ...]], ...]] = {
    "anthropic": ((b'"system', ()),),
    "gemini-cli": ((b'"type', (b'"user', b'"gemini', b'"info', b'"warning', b'"error')),),
    "ollama": ((b'"arguments', (b"{",)),),
    "openai-responses": ((b'"input', (b'"', b"[")), (b'"output', (b"[",))),
}  # fmt: skip
"""Further marks that count only as keys, each with the possible starts of its value, if not all values count."""

ALONE = {"bedrock": (b'"text', b'"image', b'"document', b'"video', b'"audio')}
"""Keys that are marks where only null values precede them in their object: such an object has one kind."""

ALSO = {
    "pi": (
        b'"session', b'"message"', b'message\\"', b'"custom', b'"model_change', b'"thinking_level', b'"compaction', b'"branch_',
        b'"label', b'"leaf', b'"reset',
    ),
}  # fmt: skip
"""Words of which a record of a format has one besides its marks: most logs have times in their lines."""

OWN = {"openai-chat": (b"tool_call", b'"function', b'"developer', b'"choices', b'"tool"', b'tool\\"')}
"""Words that any evidence specific to a format contains. The format also reads records without specific evidence."""

AGAINST = {"mistral": b"deepseek"}
"""A word that is evidence against a format, if it is in the name of the model."""

ESCAPED = (b"\\u002", b"\\u003", b"\\u004", b"\\u005", b"\\u006", b"\\u007")
"""With these escapes any letter of a key may be written, so that the absence of marks proves nothing."""


_NEAR = 100
_SPACE = b"\\ \t\r\nnrt"
"""White space, also as escaped in a text."""
_BEGINS = tuple(b"%c" % one for one in b'"{[-0123456789tfn')


class Sample:
    """Some records, and the words in them."""

    def __init__(self, records: list[bytes]) -> None:
        self.records = records
        native = compiled.load_for(sum(map(len, records)))
        self.present: frozenset[bytes] | None = None
        """All words in the records, if one search found them; otherwise each word is searched on demand."""
        if native is not None:
            self.present = frozenset(compress(_words(), native.find_words(records, _words())))

    def holds(self, words: tuple[bytes, ...]) -> bool:
        if self.present is not None:
            return not self.present.isdisjoint(words)
        return any(word in data for word in words for data in self.records)

    def has(self, key: bytes, begins: tuple[bytes, ...], *, alone: bool = False) -> bool:
        return self.holds((key,)) and any(_has(data, key, begins, alone=alone) for data in self.records)


@cache
def _words() -> tuple[bytes, ...]:
    """Return all words that are evidence for a format."""
    keys = (key for some in KEYS.values() for key, _ in some)
    return tuple(
        dict.fromkeys(chain(ESCAPED, *MARKS.values(), *ALSO.values(), *OWN.values(), keys, *ALONE.values()))
    )


@lru_cache(maxsize=1024)
def is_evidence(model: bytes) -> bool:
    """Whether the name of a model may be evidence for or against a format."""
    value = b'"' + model
    return any(word in value for word in chain(_words(), AGAINST.values()))


def speakers(names: tuple[str, ...], sample: Sample) -> Iterator[str]:
    """Yield the formats for which some records may have evidence."""
    if sample.present is None:
        yield from (name for name in names if may_speak(name, sample))
        return
    for name, is_sure in _by_words(names, sample.present):
        if is_sure or _has_key(name, sample):
            yield name


def may_outweigh(name: str, sample: Sample) -> bool:
    """Whether some of these records may have evidence that is specific to a format."""
    return name not in OWN or sample.holds(OWN[name]) or sample.holds(ESCAPED)


def may_speak(name: str, sample: Sample) -> bool:
    """Whether some of these records may have evidence for a format."""
    if name not in MARKS or sample.holds(ESCAPED):
        return True
    if name in ALSO and not sample.holds(ALSO[name]):
        return False
    return sample.holds(MARKS[name]) or _has_key(name, sample)


def _has_key(name: str, sample: Sample) -> bool:
    if any(sample.has(*key) for key in KEYS.get(name, ())):
        return True
    return any(sample.has(key, (), alone=True) for key in ALONE.get(name, ()))


@lru_cache(maxsize=1024)
def _by_words(names: tuple[str, ...], present: frozenset[bytes]) -> tuple[tuple[str, bool], ...]:
    """Name the formats that have a word among these, and whether that decides; else the place of a key does."""
    found = []
    for name in names:
        if name not in MARKS or not present.isdisjoint(ESCAPED):
            found.append((name, True))
        elif name not in ALSO or not present.isdisjoint(ALSO[name]):
            keys = chain((key for key, _ in KEYS.get(name, ())), ALONE.get(name, ()))
            is_sure = not present.isdisjoint(MARKS[name])
            if is_sure or not present.isdisjoint(keys):
                found.append((name, is_sure))
    return tuple(found)


def _has(data: bytes, key: bytes, begins: tuple[bytes, ...], *, alone: bool = False) -> bool:
    """Whether a key may occur before such a value. JSON inside JSON has its quotes escaped."""
    at = data.find(key)
    while at >= 0:
        before = data[max(0, at - _NEAR) : at].rstrip(_SPACE) if alone else b""
        at += len(key)
        colon = data[at : at + _NEAR].lstrip(b'\\" \t\r\n')
        value = colon[1:].lstrip(b"\\ \t\r\n")
        is_key = (not colon or colon.startswith(b":")) and (not before or _opens(before))
        if is_key and (not begins or not value or value.startswith(begins) or not value.startswith(_BEGINS)):
            return True
        at = data.find(key, at)
    return False


def _opens(before: bytes) -> bool:
    """Whether an object may begin there, or may have only null values so far."""
    return before.endswith(b"{") or (before.endswith(b",") and before[:-1].rstrip(_SPACE).endswith(b"null"))
