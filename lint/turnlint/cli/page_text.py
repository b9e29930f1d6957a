"""Render Markdown and the documentation of rules as text for a terminal.

It supports headings, paragraphs, lists, code and tables, as in the pages of the reference. Code spans keep
their backticks, which show the ends of a name without color.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from turnlint.report.escape import columns, fold
from turnlint.report.table import render_table

Paint = Callable[[str], str]
_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")
_CELLS = re.compile(r"(?<!\\)\|")
_RULER = re.compile(r"\|[-:| ]+\|?")
_ITEM = re.compile(r"(\s*(?:[-*]|\d+\.) )(.*)")
_HEADING = re.compile(r"(#{1,6}) (.*)")
_UNDERLINES = {1: "=", 2: "-"}
CODE_INDENT = "    "


def render_page(markdown: str, width: int, bold: Paint) -> Iterator[str]:
    """Yield the lines of a page of the reference."""
    lines = _COMMENT.sub("", markdown).rstrip("\n").split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        end = number + 1
        if line.startswith("```"):
            while end < len(lines) and not lines[end].startswith("```"):
                end += 1
            yield from (text for one in lines[number + 1 : end] for text in render_code(one, width))
            end += 1
        elif line.startswith("|"):
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            yield from _table(lines[number:end], width)
        elif heading := _HEADING.fullmatch(line):
            yield from _heading(len(heading[1]), plain(heading[2]), width, bold)
        elif line.strip():
            while end < len(lines) and _is_prose(lines[end]):
                end += 1
            yield from _paragraph(lines[number:end], width)
        else:
            yield ""
        number = end


def render_docs(docs: str, width: int, bold: Paint) -> Iterator[str]:
    """Yield the lines of a rule's documentation: headings at the margin, and indented paragraphs below each."""
    paragraph: list[str] = []
    for line in [*docs.rstrip("\n").split("\n"), ""]:
        if line.startswith(" ") and not _ITEM.match(line):
            paragraph.append(line)
            continue
        yield from _reflowed(paragraph, width)
        paragraph = [line] if line.startswith(" ") else []
        if not paragraph:
            yield from (bold(one) if one else "" for one in fold(line, width, ""))


def render_code(line: str, width: int) -> list[str]:
    """Return a line of code, indented; the continuation of a long one is indented more."""
    inside = CODE_INDENT + line.expandtabs(4)
    start = len(inside) - len(inside.lstrip(" "))
    return fold(inside.rstrip(), width, " " * min(start + 2, width // 2))


def plain(text: str) -> str:
    """Return a line of Markdown without emphasis and links; a link to a page becomes the command that shows it."""
    return _LINK.sub(_linked, text).replace("**", "").replace("\\|", "|")


def _linked(match: re.Match[str]) -> str:
    text, target = match[1], match[2]
    if target.startswith("#"):
        return text
    page = target.partition("#")[0].removesuffix(".md")
    return f"{text} (turnlint explain {page})" if target != page and "/" not in page else f"{text} ({target})"


def _is_prose(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("```", "|", "#")) and not _ITEM.match(line)


def _heading(level: int, text: str, width: int, bold: Paint) -> Iterator[str]:
    lines = fold(text, width, "")
    yield from map(bold, lines)
    if level in _UNDERLINES:
        yield _UNDERLINES[level] * max(map(columns, lines))


def _paragraph(lines: Sequence[str], width: int) -> list[str]:
    text = plain(" ".join(line.strip() if number else line for number, line in enumerate(lines)))
    item = _ITEM.match(text)
    return fold(text, width, " " * len(item[1]) if item else "")


def _reflowed(lines: Sequence[str], width: int) -> list[str]:
    if all(columns(line) <= width for line in lines):
        return [*lines]
    start = len(lines[0]) - len(lines[0].lstrip(" "))
    item = _ITEM.match(lines[0])
    indent = " " * (len(item[1]) if item else start)
    return fold(" " * start + " ".join(map(str.strip, lines)), width, indent)


def _table(lines: Sequence[str], width: int) -> list[str]:
    rows = [
        [plain(cell.strip()) for cell in _CELLS.split(line.strip().strip("|"))]
        for line in lines
        if not _RULER.fullmatch(line)
    ]
    size = max(map(len, rows))
    headers, *cells = [row + [""] * (size - len(row)) for row in rows]
    return render_table(cells, headers, width).split("\n")
