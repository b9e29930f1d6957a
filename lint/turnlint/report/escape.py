"""Escape all text of a conversation before it reaches a terminal or a log.

Conversations are untrusted text of models, tools and users. They may have terminal escapes, marks that
reverse the direction of text, and lines that a CI runner executes as commands.
"""

import re

# The expressions are compiled on first use: most runs have nothing to escape.
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_IGNORABLE = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Letters and marks by category that are invisible nonetheless (Unicode, Default_Ignorable_Code_Point)."""
_RUNNER = r"(?i)##(?=\[|vso\[|teamcity\[)"
"""Start of commands that build runners detect anywhere in a line, not only at its start."""


def visible(text: str) -> str:
    r"""Return the text with each character that is invisible or changes the position shown as `\u{…}`."""
    if not (text.isascii() and text.isprintable()):
        from unicodedata import category

        text = "".join(_named(char) if category(char) in _HIDDEN else char for char in text)
        text = re.sub(_IGNORABLE, lambda match: _named(match[0]), text)
    if "::" in text:  # a line may be broken at a space, and a command may begin the next
        text = re.sub(r"(?<=\s)::", lambda _: _named(":") + ":", text)
    return re.sub(_RUNNER, "\\\\u{23}#", text) if "##" in text else text


def steers_runner(text: str) -> bool:
    """Whether a line has a control character, or the start of a command of a build runner."""
    return re.search(r"[\x00-\x1f\x7f-\x9f]", text) is not None or re.search(_RUNNER, text) is not None


def _named(char: str) -> str:
    return f"\\u{{{ord(char):x}}}"


def in_json(text: str) -> str:
    """Return a JSON text in which no runner detects a command. Two adjacent `#` are always inside of a string."""
    return (
        text.replace("##", "#\\u0023") if "#" in text else text
    )  # one letter is looked for twenty times as fast


def in_command(text: str) -> str:
    """Return a text as the message of a GitHub workflow command. Its line ends are the program's own."""
    shown = "\n".join(map(visible, text.split("\n")))
    return shown.replace("%", "%25").replace("\n", "%0A")


def in_property(text: str) -> str:
    """Return a text as a property of a GitHub workflow command."""
    return visible(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


_NO_XML = {ord(char): f"&#{ord(char)};" for char in "<>&\"'"}


def in_xml(text: str) -> str:
    """Return a text for XML, between tags or in quotes: ASCII, independent of the encoding of the output."""
    return visible(text).translate(_NO_XML).encode("ascii", "xmlcharrefreplace").decode("ascii")


_PLAIN = r"(?:[A-Za-z0-9 ,;.()'/…-]|: )*"
_LINKS = r"(?i)//|www\."
_TICKS = "`+"


def in_markdown(text: str) -> str:
    """Return a sentence in Markdown: its quotes as code, and all of it as code if the rest is not plain words.

    Markdown does not interpret the content of code: no HTML, no link, no mention of a user.
    """
    pieces = visible(text).split("`")
    said, quoted = pieces[::2], pieces[1::2]
    plain = all(re.fullmatch(_PLAIN, piece) and not re.search(_LINKS, piece) for piece in said)
    if plain and len(said) > len(quoted) and all(map(str.strip, quoted)):
        return "".join(as_code(piece) if number % 2 else piece for number, piece in enumerate(pieces))
    return as_code(text)


def as_code(text: str) -> str:
    shown = visible(text)
    if not shown.strip():
        return "(nothing)"
    fence = "`" * (1 + max(map(len, re.findall(_TICKS, shown)), default=0))
    apart = " " if fence != "`" or shown[0] == " " == shown[-1] else ""
    return f"{fence}{apart}{shown}{apart}{fence}"


def line_start(text: str) -> str:
    """Return a visible text that is safe at the start of a line: no `::command` of a runner."""
    shown = visible(text)
    return f"./{shown}" if shown.lstrip().startswith(("::", "##")) else shown


def columns(text: str) -> int:
    """Return the number of terminal columns of a visible text."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def fold(text: str, width: int, indent: str) -> list[str]:
    """Break a visible text into lines of at most `width` columns, at spaces if possible; indent all but the first."""
    lines: list[str] = []
    while columns(text) > width:
        end, used = 0, 0
        while used + columns(text[end]) <= width:
            used += columns(text[end])
            end += 1
        space = text.rfind(" ", len(indent) + 1, end + 1)
        end = space if space > 0 else max(end, len(indent) + 1 if lines else 1)
        end -= text.startswith("::", end)  # a runner takes it for a command at the start of a line
        lines.append(text[:end].rstrip())
        text = indent + text[end:].lstrip()
    return [*lines, text]


def clip(text: str, width: int) -> str:
    """Return a visible text cut to at most `width` columns."""
    if columns(text) <= width:
        return text
    kept: list[str] = []
    used = 0
    for char in text:
        used += columns(char)
        if used > width - 1:
            break
        kept.append(char)
    return "".join(kept) + "…"
