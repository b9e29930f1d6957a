"""Examples as tests.

This module owns the short conversation notation in which rules write their examples; the modules in
`writing` spell it on each wire. A line is `user`, `assistant` or `system` with a text, or, indented or not, one of

    call     ID NAME ARGUMENTS      result   ID [(NAME)] [error:] TEXT
    think    TEXT                   server-call / server-result   ID NAME BODY

An ID or NAME of `-` is absent, `""` is empty; `raw:` before arguments takes them to the letter. What
stands after `<-` at the end of a line are the codes expected there, and no others anywhere.
"""

import re
from typing import Any

from turnlint.writing import ABSENT, Step, Written, spell

_LINE = re.compile(r"^\s*(?P<kind>[a-z-]+)(?:[ \t]+(?P<rest>.*?))?[ \t]*(?:<-[ \t]*(?P<codes>[A-Z0-9, ]+))?$")


def parse(text: str) -> list[Step]:
    """Read the notation."""
    steps = []
    for line in text.splitlines():
        if not line.strip():
            continue
        match = _LINE.match(line)
        assert match, f"not a line of a conversation: {line!r}"
        codes = tuple(code.strip() for code in (match["codes"] or "").split(",") if code.strip())
        steps.append(_step(match["kind"], match["rest"] or "", codes))
    return steps


def _step(kind: str, rest: str, codes: tuple[str, ...]) -> Step:
    if kind in ("user", "assistant", "system", "think"):
        return Step(kind, rest, codes=codes)
    first, _, after = rest.partition(" ")
    if kind == "result":
        name: Any = ABSENT
        after = after.strip()
        if after.startswith("("):
            said, _, after = after[1:].partition(")")
            name = said
        return Step(kind, "", _word(first), name, after.strip(), codes)
    assert kind in ("call", "server-call", "server-result"), f"no such line: {kind}"
    second, _, body = after.strip().partition(" ")
    return Step(kind, "", _word(first), _word(second), body.strip(), codes)


def _word(text: str) -> Any:
    return ABSENT if text == "-" else "" if text == '""' else text


def write(text: str, wire: str) -> Written:
    """An example on a wire."""
    return spell(parse(text), wire)
