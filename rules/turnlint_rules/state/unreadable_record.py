r"""a record is not valid JSON, or parsers disagree about it

What it does
    Reports faults in the bytes of a record, with their positions: cut off, joined with the next record, split
    over lines, not UTF-8, not valid JSON. If the meaning is certain, the record is still parsed and checked.
    Deviations that only some parsers reject are warnings or infos.

Why it matters
    A reader that stops at the record loses the rest of the file. A reader that skips it loses the record
    without an error. A provider rejects a request with such bytes before it reads the conversation.

How it happens
    The process was killed during a write, and the last line is incomplete. Two processes append to one file.
    A program wrote a record with Python's `repr`, or with `NaN`. A shell saved the file as UTF-16. A program
    did not escape the line breaks of a text, or a tool wrapped long lines.

What fix does
    lossless: escapes raw control characters and lone backslashes, and removes surplus commas and a byte
    order mark. lossless: writes a line break between two records on one line, and JSON literals for
    Python's. lossless: joins the lines of a record that line breaks split, if together they are exactly
    one object. A line break inside a text becomes `\n`. lossy: writes `null` for `NaN`, and the
    replacement character for bytes that are not text. A record that is cut off stays as it is.

Evidence
    RFC 8259. Nine parsers were measured with each of these faults in 2026-11: Python's json accepts `NaN` and
    raw bytes that all others reject, and orjson converts long integers to floats without an error.
"""

from collections.abc import Callable, Iterator
from json import dumps

from turnlint.api import Damage, Finding, Fix, Kind, Level, Patch, Raw, Record, Rule, Severity, Trouble

RULE = Rule("ST101", "unreadable-record", "error", fix="lossy", triggers=frozenset({"record"}))

BAD = (
    Raw(
        "openai-chat",
        b'{"messages": [{"role": "user", "content": "hi"}]}\n{"messages": [{"role": "us',
        (("ST101", 2),),
    ),
    Raw("openai-chat", b'{"messages": [{"role": "user", "content": "a\nb"}]}', (("ST101", 1),)),
    Raw(
        "openai-chat",
        b'{"messages": [{"role": "user", "content": "a"}]}\n{"messages": [{"role": "user", "content": "b\nc"}]}\n',
        (("ST101", 2),),
    ),
    Raw("openai-chat", b'{"messages": [{"role": "user", "content": "hi", "t": NaN}]}\n', (("ST101", 1),)),
    Raw("openai-chat", b"{'messages': []}\n", (("ST101", 1),)),
    Raw(
        "openai-chat",
        b'{"messages": [{"role": "user", "content": "a"}]}{"messages": [{"role": "user", "content": "b"}]}\n',
        (("ST101", 1),),
    ),
    Raw("openai-chat", b'{"messages": [{"role": "user", "content": "caf\xe9"}]}\n', (("ST101", 1),)),
)
GOOD = (
    Raw("openai-chat", b'{"messages": [{"role": "user", "content": "caf\xc3\xa9"}]}\n'),
    Raw("openai-chat", b'{"messages": [{"role": "user", "content": "no line end after me"}]}'),
)

MESSAGES: dict[Kind, tuple[Severity, str]] = {
    "bad-escape": ("error", "invalid escape: JSON has no such backslash sequence"),
    "bad-number": ("error", "invalid number: JSON does not allow this notation"),
    "big-integer": ("warning", "{detail}: most parsers will change its value"),
    "blank-line": ("info", "{detail}"),
    "byte-order-mark": ("warning", "the file starts with a byte order mark, which strict parsers reject"),
    "carriage-returns": ("info", "lines end with a carriage return and a line feed (CRLF)"),
    "compressed-badly": ("error", "{detail}: the rest of the file is lost"),
    "control-character": ("error", "raw control character {detail} in a string; JSON requires an escape"),
    "huge-record": ("info", "this record has {detail}; most parsers need several times that much memory"),
    "invalid-utf-8": ("error", "byte {detail} is not valid UTF-8"),
    "joined-records": ("error", "more text after the record on the same line"),
    "not-a-number": ("error", "`{detail}` is not valid JSON"),
    "python-literal": ("error", "{detail} is Python syntax, not JSON"),
    "split-record": (
        "error",
        "line breaks split this record over {detail}; a record needs a line of its own",
    ),
    "syntax": ("error", "invalid JSON: {detail}"),
    "too-deep": ("error", "{detail}"),
    "too-long": ("error", "this record has {detail} (`max-record-size`); it was not checked"),
    "too-many": ("error", "this record has more than {detail}; the rest was not checked"),
    "torn": ("error", "the record is truncated: it {detail}"),
    "trailing-comma": ("error", "trailing comma before a closing bracket"),
    "utf-16": ("error", "the file is encoded in {detail}, but JSON must be UTF-8; none of it was checked"),
}
_LITERALS = {b"True": b"true", b"False": b"false", b"None": b"null", b"undefined": b"null"}
REPAIRS: dict[Kind, tuple[Level, str, Callable[[bytes], bytes | None]]] = {
    "bad-escape": ("lossless", "escape the backslash", lambda found: b"\\" + found),
    "byte-order-mark": ("lossless", "remove the byte order mark", lambda _: b""),
    "control-character": (
        "lossless",
        "escape the character",
        lambda found: dumps(found.decode("latin-1"))[1:-1].encode(),
    ),
    "invalid-utf-8": ("lossy", "replace it with U+FFFD, the replacement character", lambda _: rb"\ufffd"),
    "not-a-number": ("lossy", "replace it with null", lambda _: b"null"),
    "python-literal": ("lossless", "replace it with the JSON literal", _LITERALS.get),
    "trailing-comma": ("lossless", "remove the comma", lambda _: b""),
}
LABELS: dict[Kind, str] = {
    "torn": "the record ends here",
    "joined-records": "a second record starts here",
    "split-record": "the line ends here",
}


def check_record(damage: Damage) -> Iterator[Finding]:
    trouble: Trouble = damage.trouble
    message = MESSAGES.get(trouble.kind)
    if message is None:
        return
    severity, text = message
    yield RULE.at_record(
        damage.record,
        text.format(detail=trouble.detail),
        at=trouble.at,
        span=(trouble.start, trouble.end),
        severity=severity,
        label=LABELS.get(trouble.kind, ""),
        fix=_fix(damage),
    )


def _join(record: Record) -> Fix:
    """Return the repair that writes the record in one line, as it was parsed."""
    escape = next((part.new.decode() for part in record.breaks if part.new), "")
    place = "the line break" if len(record.breaks) == 1 else "line breaks in texts"
    title = f"join the lines, with `{escape}` for {place}" if escape else "join the lines"
    steps = tuple(Patch(part.at, part.at + len(part.new), part.new) for part in record.breaks)
    return Fix("lossless", title, steps)


def _fix(damage: Damage) -> Fix | None:
    """Return the repair to valid JSON, if all tolerant parsers agree on the meaning."""
    trouble = damage.trouble
    found = damage.record.data[trouble.start : trouble.end]
    if trouble.kind == "joined-records" and found in (b"{", b"["):
        return Fix(
            "lossless", "insert a line break between them", (Patch(trouble.start, trouble.start, b"\n"),)
        )
    if trouble.kind == "split-record":
        return _join(damage.record)
    if trouble.kind not in REPAIRS or not found:
        return None
    level, title, repair = REPAIRS[trouble.kind]
    repaired = repair(found)
    return None if repaired is None else Fix(level, title, (Patch(trouble.start, trouble.end, repaired),))
