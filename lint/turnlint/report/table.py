"""Render tables for people, as wide as the terminal allows.

Cells are broken at words. Where a column of prose gets too narrow, it goes below its row. Where even the
other columns do not fit, each row becomes a list of its cells.
"""

from collections.abc import Sequence

from turnlint.report.escape import columns, fold

Row = Sequence[str]
GAP = 2
MIN_CELL_COLUMNS = 8
MIN_PROSE_COLUMNS = 32
"""A narrower column of prose is hard to read."""
INDENT = "  "


def render_table(rows: Sequence[Row], headers: Row = (), width: int | None = None) -> str:
    """Render rows in lines of at most `width` columns; without a width, lines have any length."""
    if width is None or not (rows or headers):
        from tabulate import tabulate

        table = tabulate(rows, headers=headers, tablefmt="plain", disable_numparse=True)
        return "\n".join(line.rstrip() for line in table.split("\n"))
    whole = [headers, *rows] if headers else [*rows]
    natural = _widths(whole)
    least = [
        min(size, max(MIN_CELL_COLUMNS, word)) for size, word in zip(natural, _words(whole), strict=True)
    ]
    room = width - GAP * (len(natural) - 1)
    prose = min(natural[-1], MIN_PROSE_COLUMNS)
    if sum(least[:-1]) + max(least[-1], prose) <= room:
        return "\n".join(_side_by_side(whole, _shrink(natural, [*least[:-1], max(least[-1], prose)], room)))
    if len(natural) > 2 and sum(least[:-1]) <= room + GAP:
        sizes = _shrink(natural[:-1], least[:-1], room + GAP)
        return "\n".join(
            line
            for row in whole
            for line in (*_side_by_side([row[:-1]], sizes), *(_below(row[-1], width) if row[-1] else ()))
        )
    return "\n".join(_listed(rows, headers, width))


def _widths(whole: Sequence[Row]) -> list[int]:
    return [max(map(columns, cells)) for cells in zip(*whole, strict=True)]


def _words(whole: Sequence[Row]) -> list[int]:
    """Return the width of the widest word of each column."""
    return [
        max((columns(word) for cell in cells for word in cell.split()), default=0)
        for cells in zip(*whole, strict=True)
    ]


def _shrink(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return widths whose sum is at most `room`: the widest columns shrink first."""
    sizes = [*natural]
    while sum(sizes) > room:
        loose = [index for index, size in enumerate(sizes) if size > least[index]]
        sizes[max(loose, key=sizes.__getitem__)] -= 1
    return sizes


def _side_by_side(rows: Sequence[Row], sizes: Sequence[int]) -> list[str]:
    lines = []
    for row in rows:
        cells = [fold(cell, size, "") for cell, size in zip(row, sizes, strict=True)]
        for number in range(max(map(len, cells))):
            parts = [cell[number] if number < len(cell) else "" for cell in cells]
            padded = (part + " " * (size - columns(part)) for part, size in zip(parts, sizes, strict=True))
            lines.append((" " * GAP).join(padded).rstrip())
    return lines


def _below(cell: str, width: int) -> list[str]:
    return fold(2 * INDENT + cell, width, 2 * INDENT)


def _listed(rows: Sequence[Row], headers: Row, width: int) -> list[str]:
    """Render each row as a block: its first cell, and below it the others, each behind its header."""
    lines: list[str] = []
    for number, row in enumerate(rows):
        lines += [""] * bool(number) + fold(row[0], width, INDENT)
        for column, cell in enumerate(row[1:], 1):
            if cell:
                label = f"{headers[column]}: " if headers and headers[column] else ""
                lines += fold(f"{INDENT}{label}{cell}", width, 2 * INDENT)
    return lines
