"""Framing: a stream of bytes to records, with any bytes between them and in any chunks.

Lines, arrays, pretty documents, byte order marks and encodings: every record is given byte for byte, with its line
and its offset.
"""

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arbitrary_json import DOCUMENTS, MANY, SHREDS
from turnlint.documents import framing
from turnlint.documents.breaks import raw_bytes
from turnlint.model import Pointer, Record


def _frames(data: bytes, name: str, chunk: int) -> list[tuple[str, int, int, Pointer, bytes]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(framing, "CHUNK", chunk)
        items = list(framing.frame(io.BytesIO(data), name, lambda first: b'"messages"' in first))
    found = []
    for item in items:
        record, kind = (item, "record") if isinstance(item, Record) else (item.record, item.trouble.kind)
        raw = raw_bytes(record)
        assert data[record.offset : record.offset + len(raw)] == raw
        assert record.line == 1 + data[: record.offset].count(b"\n")
        found.append((kind, record.line, record.offset, record.prefix, raw))
    return found


PRETTY = b'{\n  "messages": [\n    "\\"]}\\\\"\n  ]\n}'
ARRAY_OF_RECORDS = b'[\n  {"messages": ["}"]},\n  12 ,\n  {\n    "messages": []\n  }\n]\n'
ARRAY_OF_MESSAGES = b'[\n  {"role": "user"},\n  {"role": "assistant"}\n]'
FRAMINGS = {
    "lines": ("a.jsonl", b'{"a":1}\n{"a":2}\n', [("record", 1, b'{"a":1}'), ("record", 2, b'{"a":2}')]),
    "no line end at the end": ("a.json", b'{"a":1}\n[2]', [("record", 1, b'{"a":1}'), ("record", 2, b"[2]")]),
    "carriage returns": (
        "a.jsonl",
        b'{"a":1}\r\n{"a":2}\r\n',
        [("carriage-returns", 1, b'{"a":1}\r'), ("record", 1, b'{"a":1}'), ("record", 2, b'{"a":2}')],
    ),
    "blank lines": (
        "a.jsonl",
        b'\n{"a":1}\n \t\n\n{"a":2}\n\n',
        [("blank-line", 1, b""), ("record", 2, b'{"a":1}'), ("blank-line", 3, b" \t"),
         ("record", 5, b'{"a":2}'), ("blank-line", 6, b"")],
    ),
    "byte order mark": (
        "a.jsonl",
        b'\xef\xbb\xbf{"a":1}\n{"a":2}\n',
        [("byte-order-mark", 1, b"\xef\xbb\xbf"), ("record", 1, b'{"a":1}'), ("record", 2, b'{"a":2}')],
    ),
    "a torn last line": ("a.jsonl", b'{"a":1}\n{"a":', [("record", 1, b'{"a":1}'), ("record", 2, b'{"a":')]),
    "only a torn line": ("a.jsonl", b'{"a": "b', [("record", 1, b'{"a": "b')]),
    "an array on one line": (
        "a.json",
        b'[{"messages": []}, {"messages": [1]}]\n',
        [("record", 1, b'{"messages": []}'), ("record", 1, b'{"messages": [1]}')],
    ),
    "an array of records on the one line of a jsonl": (
        "logs/a.JSONL.gz",
        b'[{"messages": []}, {"messages": [1]}]\n',
        [("record", 1, b'{"messages": []}'), ("record", 1, b'{"messages": [1]}')],
    ),
    "an array of messages on the one line of a jsonl": (
        "logs/a.JSONL.gz",
        b'[{"role": "user"}, {"role": "user"}]\n',
        [("record", 1, b'[{"role": "user"}, {"role": "user"}]')],
    ),
    "a pretty object": ("a.json", PRETTY + b"\n", [("record", 1, PRETTY)]),
    "a pretty object that is torn": ("a.json", PRETTY[:-3], [("record", 1, PRETTY[:-3])]),
    "a pretty array of records": (
        "a.json",
        ARRAY_OF_RECORDS,
        [("record", 2, b'{"messages": ["}"]}'), ("record", 3, b"12"), ("record", 4, b'{\n    "messages": []\n  }')],
    ),
    "a pretty array of messages": ("a.json", ARRAY_OF_MESSAGES, [("record", 1, ARRAY_OF_MESSAGES)]),
    "concatenated pretty documents": (
        "a.json",
        PRETTY + b"\n\n" + PRETTY + b' 12\n"}"\n' + PRETTY,
        [("record", 1, PRETTY), ("record", 7, PRETTY), ("record", 11, b"12"), ("record", 12, b'"}"'),
         ("record", 13, PRETTY)],
    ),
    "nothing": ("a.jsonl", b"", []),
    "utf-16 with a mark": ("a.jsonl", '{"a":1}\n'.encode("utf-16"), [("utf-16", 1, b"\xff\xfe")]),
    "big-endian utf-16": ("a.jsonl", "\ufeff{}".encode("utf-16-be"), [("utf-16", 1, b"\xfe\xff")]),
    "a raw nul among the first bytes": (
        "a.jsonl",
        b'{"\x00":1}\n{"a":2}\n',
        [("record", 1, b'{"\x00":1}'), ("record", 2, b'{"a":2}')],
    ),
    "utf-16 without a mark": ("a.jsonl", "{}\n".encode("utf-16-le"), [("utf-16", 1, b"{\x00}\x00")]),
}  # fmt: skip


@pytest.mark.parametrize("chunk", [1, 3, 17, 1 << 20])
@pytest.mark.parametrize("case", FRAMINGS)
def test_records_are_given_byte_for_byte_for_any_chunks(case: str, chunk: int) -> None:
    name, data, expected = FRAMINGS[case]
    found = _frames(data, name, chunk)
    assert [(kind, line, piece) for kind, line, _, _, piece in found] == expected


def test_elements_of_an_array_have_their_index() -> None:
    assert [prefix for _, _, _, prefix, _ in _frames(ARRAY_OF_RECORDS, "a.json", 1 << 20)] == [
        (0,),
        (1,),
        (2,),
    ]
    assert [prefix for _, _, _, prefix, _ in _frames(ARRAY_OF_MESSAGES, "a.json", 1 << 20)] == [()]


@MANY
@given(
    st.lists(
        st.tuples(DOCUMENTS | SHREDS, st.sampled_from([b"", b"\n", b" ", b"\r\n", b"\n\n"])), max_size=5
    ),
    st.sampled_from(["a.json", "a.jsonl"]),
    st.sampled_from([1, 2, 3, 7]),
)
@example([(b"{\n}", b"\n"), (b"12", b"\n"), (b"34", b"\n")], "a.json", 1)
def test_framing_is_the_same_for_any_chunk_size_and_loses_nothing(
    pieces: list[tuple[bytes, bytes]], name: str, chunk: int
) -> None:
    data = b" " * 4 + b"".join(
        text + end for text, end in pieces
    )  # after the bytes that determine the encoding
    once = _frames(data, name, 1 << 20)
    assert _frames(data, name, chunk) == once
    kept = b"".join(piece for kind, _, _, _, piece in once if kind == "record")
    assert kept.translate(None, b" \t\r\n") == data.translate(None, b" \t\r\n")
