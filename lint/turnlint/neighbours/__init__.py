"""The names of files that are not read as transcripts: containers by their first bytes, formats by their marks."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from msgspec import Raw, Struct, json

from turnlint.model import Record

UNRECOGNIZED = "unrecognized format"
UNKNOWN = f"{UNRECOGNIZED}; `turnlint formats` lists the supported ones, --format forces one"
NOT_YET = "not supported yet"
SHARE = 0.2
"""A larger share of records, or of messages, that another format has makes a file that format's."""
_START = 16
_BODIES = frozenset({
    "messages", "contents", "input", "request", "request_body", "body", "params", "conversations", "history",
})  # fmt: skip
"""Keys of which each holds a whole conversation."""
"""Keys of a request that hold the list of its messages."""
_members = json.Decoder(dict[str, Raw])


class Near(Struct, frozen=True):
    """A format or a container that a file looks like."""

    name: str
    """With its article, as in `a zip archive`."""
    advice: str = NOT_YET
    is_certain: bool = False
    """The first bytes of the file name it."""

    @property
    def is_format(self) -> bool:
        """It is a format of transcripts, and neither a container nor a configuration file."""
        return self.advice.startswith(NOT_YET)

    @property
    def likeness(self) -> str:
        return f"{'is' if self.is_certain else 'looks like'} {self.name}"

    @property
    def sentence(self) -> str:
        return f"{self.likeness}; {self.advice}"


NEEDED = 512
"""Bytes that are enough to name every container of the table."""

_UNPACK = "unpack it and name the files in it"
_EXPORT = "export its rows as JSON lines"
_NO_LOG = "it holds no JSON"
_MAGIC: tuple[tuple[bytes, int, str, str], ...] = (
    (b"PK\x03\x04", 0, "a zip archive", _UNPACK),
    (b"PK\x05\x06", 0, "an empty zip archive", _NO_LOG),
    (b"SQLite format 3\0", 0, "an SQLite database", _EXPORT),
    (b"DUCK", 8, "a DuckDB database", _EXPORT),
    (b"PAR1", 0, "a Parquet file", _EXPORT),
    (b"PARE", 0, "an encrypted Parquet file", _EXPORT),
    (b"ARROW1", 0, "an Arrow file", _EXPORT),
    (b"FEA1", 0, "an Arrow file", _EXPORT),
    (b"ORC", 0, "an ORC file", _EXPORT),
    (b"Obj\x01", 0, "an Avro file", _EXPORT),
    (b"\x89HDF\r\n\x1a\n", 0, "an HDF5 file", _EXPORT),
    (b"\x93NUMPY", 0, "a NumPy array", _EXPORT),
    (b"ustar", 257, "a tar archive", _UNPACK),
    (b"BZh", 0, "a bzip2 file", _UNPACK),
    (b"\xfd7zXZ\0", 0, "an xz file", _UNPACK),
    (b"\x04\x22\x4d\x18", 0, "an LZ4 file", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", 0, "a 7z archive", _UNPACK),
    (b"Rar!\x1a\x07", 0, "a RAR archive", _UNPACK),
    (b"%PDF-", 0, "a PDF document", _NO_LOG),
    (b"\x89PNG\r\n", 0, "a PNG image", _NO_LOG),
    (b"\xff\xd8\xff", 0, "a JPEG image", _NO_LOG),
    (b"GIF8", 0, "a GIF image", _NO_LOG),
    (b"\x7fELF", 0, "an executable file", _NO_LOG),
    *((b"\x80%c" % protocol, 0, "a Python pickle", _EXPORT) for protocol in (2, 3, 4, 5)),
)
"""Magic bytes, their offset, the name with its article, and what to do with such a file."""
_MOST_CONTROLS = 0.05
_JSON_START = re.compile(rb"\s*[\[{]\s*[\[{\"\]}]")
"""JSON with many control characters is a damaged transcript, not a binary file."""
_CONTROLS = bytes(number for number in range(1, 32) if number not in b"\t\n\v\f\r\x1b")


def container_of(start: bytes) -> Near | None:
    """The container that begins with these bytes."""
    for magic, at, name, advice in _MAGIC:
        if start[at : at + len(magic)] == magic:
            return Near(name, advice, is_certain=True)
    controls = len(start) - len(start.translate(None, _CONTROLS))
    if controls > _MOST_CONTROLS * len(start) and not _JSON_START.match(start):
        return Near("a binary file", _NO_LOG, is_certain=True)
    return None


def reason_of(near: Near | None) -> str:
    """Why a file was not read, in a few words."""
    if near is None:
        return UNRECOGNIZED
    return near.name if near.is_certain else f"similar to {near.name}"


def sentence_of(near: Near | None) -> str:
    """What to say of a file that was not read."""
    return near.sentence if near else UNKNOWN


def near_to(records: Sequence[Record]) -> Near | None:
    """The known family that most of some records belong to."""
    from turnlint.neighbours.families import READABLE, resembled
    from turnlint.neighbours.sketch import sketch

    outlines = [outline for outline in map(sketch, records) if outline is not None]
    found = resembled(outlines, [record.data.lstrip()[:_START] for record in records])
    if not found:
        return None
    name = found[0].name
    return readable(name, READABLE[name]) if name in READABLE else Near(name)


def readable(name: str, format_name: str) -> Near:
    """Return a neighbour that resembles a supported format, which the user can name."""
    return Near(name, f"{NOT_YET}; if the format is {format_name}, add --format {format_name}")


def claimed_by(records: Sequence[Record]) -> Near | None:
    """Return the family that the envelope of some records names, which outranks the blocks inside.

    Its marks are in the first record, or in more than `SHARE` of all. Request bodies are not counted.
    """
    from turnlint.neighbours.families import families_in, families_with, family_of

    found: Counter[str] = Counter()
    for number, record in enumerate(records):
        keys = _keys_of(record)
        # A record without JSON may still have the marks of a family.
        families = families_in([record]) if keys is None else families_with(keys)
        name = family_of(record, families)
        if name is not None:
            found[name] += len(records) if number == 0 else 1
        elif keys is not None and not _BODIES.isdisjoint(keys):
            return None
    if not found:
        return None
    name, count = found.most_common(1)[0]
    return Near(name) if count > SHARE * len(records) else None


_REQUEST_FORMATS = {"messages": "openai-chat", "contents": "gemini", "input": "openai-responses"}
"""The key of the messages of a request, and a format in which requests have it."""
_NOTHING = (b"[]", b"null")


def empty_request_in(records: Sequence[Record]) -> Near | None:
    """Return a name for records whose list of messages is empty, and whose other keys are those of no format.

    Stored sessions without messages have the same keys as such a request, so only the user can name the format.
    """
    found = {_empty_list_of(record) for record in records}
    key = found.pop() if len(found) == 1 else None
    if key is None:
        return None
    advice = (
        f"no key names its format; if it is a request, add --format, such as --format {_REQUEST_FORMATS[key]}"
    )
    return Near(f"a request or a session with empty `{key}`", advice)


def _empty_list_of(record: Record) -> str | None:
    """Return the key of the messages of a record, if they are missing or an empty list."""
    try:
        members = _members.decode(record.data)
    except (ValueError, RecursionError):
        return None
    key = next((name for name in _REQUEST_FORMATS if name in members), None)
    return key if key and b"".join(bytes(members[key]).split()) in _NOTHING else None


def is_body(record: Record) -> bool:
    """Whether a record holds a whole conversation, and not a message or an event of one."""
    return not _BODIES.isdisjoint(_keys_of(record) or ())


def _keys_of(record: Record) -> Collection[str] | None:
    """Return the keys of a record; none if it is no JSON object."""
    try:
        return _members.decode(record.data).keys()
    except (ValueError, RecursionError):
        return None
