"""Equivalent spellings of messages, and inserted and removed bytes: variants that a scanner must distinguish."""

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

PIECES = st.sampled_from([
    b"", b" ", b'"role": "user", ', b'"content": "x", ', b'"id": "call_aaaaaaaaaaaa", ', b'"x": 1, ', b"1e999", b"null",
    b'"name": "read", ', b"\xff", b"\xc3\xa9", b"\\u00e9", b"\\ud800", b"123456789012345678901234567890", b"[]", b"{}",
    b'"type": "text", ', b'"tool_calls": null, ', b'"messages": [], ', b"\r", b"\x00", b"<tool_call>", b"\\u003ctool_call>",
    b'"refusal": null, ', b"REDACTED", b"functools[{", b'""', b'" "', b'"\\u00a0"', b'"is_error": true, ',
])  # fmt: skip


CONTENTS = st.sampled_from(["", " ", "\n", "x", "a [b] <c>", "é"])
PARTS = st.lists(
    st.one_of(
        st.builds(lambda text: {"type": "text", "text": text}, CONTENTS),
        st.builds(
            lambda text, mark: {"type": "text", "text": text, "cache_control": mark},
            CONTENTS, st.sampled_from([{"type": "ephemeral"}, None]),
        ),
        st.sampled_from([
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aa"}},
            {"type": "document", "source": {"type": "text", "data": "x"}}, {"type": "image", "source": {}, "alt": 1},
            {"type": "image_url", "image_url": {"url": "data:"}}, {"type": "file", "file": {"file_id": "f"}},
            {"type": "input_audio", "input_audio": {}}, {"type": "input_audio", "file": {}}, {"type": "refusal", "refusal": ""},
        ]),
    ),
    max_size=3,
)  # fmt: skip


def dress(messages: Any, draw: Any) -> None:
    """Spell messages in other ways that are common in logs: lists, marks, images, no content beside calls, names."""
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, dict) or draw(st.booleans()):
            continue
        content = message.get("content")
        if isinstance(content, list) and content and draw(st.booleans()):
            block = draw(st.sampled_from(content))
            if block.get("type") == "tool_result":
                block["content"] = deepcopy(draw(st.one_of(CONTENTS, PARTS)))
            if draw(st.booleans()):
                block["cache_control"] = {"type": "ephemeral"}
            continue
        kind = draw(st.sampled_from(["parts", "said", "absent", "null", "name"]))
        if kind == "absent":
            message.pop("content", None)
        elif kind == "name":
            message["name"] = draw(st.sampled_from(["read", "a b", "é", "ann", ""]))
        else:
            new_content = None if kind == "null" else draw(PARTS if kind == "parts" else CONTENTS)
            message["content"] = deepcopy(new_content)  # later damage must not change the drawn value


def cut_into(line: bytes, draw: Any) -> bytes:
    """The line with some bytes inserted, removed, repeated or replaced."""
    at = draw(st.integers(0, len(line)))
    end = min(len(line), at + draw(st.integers(0, 30)))
    kind = draw(st.sampled_from(["in", "in", "away", "twice", "instead"]))
    if kind == "in":
        opens = [place + 1 for place, byte in enumerate(line) if byte in b'{[,"']
        at = draw(st.sampled_from(opens)) if opens and draw(st.booleans()) else at
        return line[:at] + draw(PIECES) + line[at:]
    if kind == "instead":
        return line[:at] + draw(PIECES) + line[end:]
    return line[:at] + (line[at:end] * 2 if kind == "twice" else b"") + line[end:]
