"""Parse the notation of examples, and render an example in a format.

Rules write their examples in this notation; the writer of a format renders them. A line is `user`, `assistant` or `system`
with a text, or, indented or not, one of

    call     ID NAME ARGUMENTS      result   ID [(NAME)] [error:] TEXT
    think    TEXT                   server-call / server-result   ID NAME BODY

An ID or NAME of `-` is absent, `""` is empty; `raw:` before arguments takes them literally. The codes behind `<-` at the end of
a line are the findings that the line must have; there are no others.
"""

import re
from typing import Any

from turnlint.carrying.examples import ExampleBuilder, NotationLine, Written
from turnlint.carrying.writer import ABSENT

_LINE = re.compile(r"^\s*(?P<kind>[a-z-]+)(?:[ \t]+(?P<rest>.*?))?[ \t]*(?:<-[ \t]*(?P<codes>[A-Z0-9, ]+))?$")


def parse(text: str) -> list[NotationLine]:
    """Parse the notation."""
    lines = []
    for line in text.splitlines():
        if not line.strip():
            continue
        match = _LINE.match(line)
        assert match, f"not a line of a conversation: {line!r}"
        codes = tuple(code.strip() for code in (match["codes"] or "").split(",") if code.strip())
        lines.append(_parse_line(match["kind"], match["rest"] or "", codes))
    return lines


def _parse_line(kind: str, rest: str, codes: tuple[str, ...]) -> NotationLine:
    if kind in ("user", "assistant", "system", "think"):
        return NotationLine(kind, rest, codes=codes)
    first, _, after = rest.partition(" ")
    if kind == "result":
        name: Any = ABSENT
        after = after.strip()
        if after.startswith("("):
            name, _, after = after[1:].partition(")")
        return NotationLine(kind, "", _parse_word(first), name, after.strip(), codes)
    assert kind in ("call", "server-call", "server-result"), f"no such line: {kind}"
    second, _, body = after.strip().partition(" ")
    return NotationLine(kind, "", _parse_word(first), _parse_word(second), body.strip(), codes)


def _parse_word(text: str) -> Any:
    return ABSENT if text == "-" else "" if text == '""' else text


def example_formats() -> tuple[str, ...]:
    """Return the formats that write examples."""
    from turnlint import carriers

    found = ((name, carriers.carrier(name).writer) for name in carriers.NAMES)
    return tuple(name for name, writer in found if writer is not None and writer.examples_key)


def render_example(lines: list[NotationLine], name: str) -> Written:
    """Render an example in a format."""
    from turnlint import carriers

    writer = carriers.carrier(name).writer
    assert writer is not None, f"{name} has no writer"
    assert writer.examples_key, f"{name} has no examples"
    example = ExampleBuilder(writer.examples_key, lines)
    more = writer.write_example(example)
    return Written({**more, example.key: example.messages}, tuple(example.expected))


def write(text: str, name: str) -> Written:
    """Parse an example and render it in a format."""
    return render_example(parse(text), name)
