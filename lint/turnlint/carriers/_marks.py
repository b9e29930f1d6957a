"""Which formats a record could speak for, by its bytes alone.

This module owns one table: for a format the marks without which no record speaks for it, so that it need not even
be imported to be asked. It decides nothing: a format that is not in the table, or that has a mark here, is asked.
A test holds it to that on every record of every format whose marks were taken away.

Marks begin with a quote where the word alone is common; they have none at the end, for JSON may stand in a text.
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
"""More of them, where a word is a mark as a key only: with how its value begins, if not all values are meant."""

ALONE = {"bedrock": (b'"text', b'"image', b'"document', b'"video', b'"audio')}
"""Keys that are marks where nothing but null stands before them in their object: the others are of its kind."""

ALSO = {
    "pi": (
        b'"session', b'"message"', b'message\\"', b'"custom', b'"model_change', b'"thinking_level', b'"compaction', b'"branch_',
        b'"label', b'"leaf', b'"reset',
    ),
}  # fmt: skip
"""Words of which a record of a format has one beside its marks: times stand in the lines of most logs."""

OWN = {"openai-chat": (b"tool_call", b'"function', b'"developer', b'"choices', b'"tool"', b'tool\\"')}
"""Words without which a record has nothing of a format's own. This one reads what could be anyone's."""

ESCAPED = (b"\\u002", b"\\u003", b"\\u004", b"\\u005", b"\\u006", b"\\u007")
"""With these any letter of a key may be spelled, so that no mark is to be trusted."""


_NEAR = 100
_SPACE = b"\\ \t\r\nnrt"
"""White space, also as it is escaped in a text."""
_BEGINS = tuple(b"%c" % one for one in b'"{[-0123456789tfn')


class Sample:
    """Some records, and which words stand in them."""

    def __init__(self, records: list[bytes]) -> None:
        self.records = records
        native = compiled.load_for(sum(map(len, records)))
        self.present: frozenset[bytes] | None = None
        """All that stand in them, where they were looked for together; elsewhere each is looked for when it is asked for."""
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
    """All by which a format may be known."""
    keys = (key for some in KEYS.values() for key, _ in some)
    return tuple(
        dict.fromkeys(chain(ESCAPED, *MARKS.values(), *ALSO.values(), *OWN.values(), keys, *ALONE.values()))
    )


def speakers(names: tuple[str, ...], sample: Sample) -> Iterator[str]:
    """Name the formats that some of these records could speak for."""
    if sample.present is None:
        yield from (name for name in names if may_speak(name, sample))
        return
    for name, is_sure in _by_words(names, sample.present):
        if is_sure or _has_key(name, sample):
            yield name


def may_outweigh(name: str, sample: Sample) -> bool:
    """Whether some of these records could have something of the format's own."""
    return name not in OWN or sample.holds(OWN[name]) or sample.holds(ESCAPED)


def may_speak(name: str, sample: Sample) -> bool:
    """Whether some of these records could speak for a format."""
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
    """Whether a key may stand there before such a value. JSON inside of JSON has its quotes escaped."""
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
    """Whether an object begins there, or nothing but null may stand in it so far."""
    return before.endswith(b"{") or (before.endswith(b",") and before[:-1].rstrip(_SPACE).endswith(b"null"))
