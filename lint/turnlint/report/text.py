"""Write the report for people: the conversation around each finding, not the raw line.

Findings with the same message, but for names, are grouped.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from turnlint.engine import Crash, Event, Skipped, Tally
from turnlint.model import SEVERITIES, Finding
from turnlint.neighbours import reason_of
from turnlint.report import Look, Sink, Write
from turnlint.report.escape import clip, columns, fold, line_start, visible
from turnlint.report.words import MAX_REASONS, answer, behind, found, noted
from turnlint.rows import PER_FILE, Cell, Line, Mark, Row, shape_of
from turnlint.text import pluralize

if TYPE_CHECKING:
    from turnlint.report.statistics import Count

SAMPLES = 3
MOST_NAMES = 8
NAME = re.compile(r"`[^`]*`")
CONTENT_WIDTH = 60
ROLE_WIDTH = 11
EXCERPT = 210
"""Limit of an excerpt: a longer text is shown in full because the user asked for it."""
LEAST_EXCERPT = 12
LEAST_CELL = 14
"""Least width of a marked cell: this part of an id identifies the call."""
LEAST_WIDTH = 40
LONGEST_WORDS = 600
LONGEST_NOTE = 160
DOTS = "…"
_COLORS = {"error": "31", "warning": "33", "info": "36"}


class _Group(Struct):
    """Findings of one rule that differ in names only."""

    rows: list[Row]
    rank: tuple[int, int, int]
    """Sort key: the severity, then the file and the position of the first finding."""
    count: int = 0
    paths: set[str] = set()
    names: list[str] = []
    """Names in further findings, where each finding names another thing."""


class Text:
    def __init__(self, write: Write, look: Look) -> None:
        self.write = write
        self.look = look
        self.groups: dict[tuple[str, str, str | None, str], _Group] = {}
        self.files: dict[str, int] = {}
        self.hidden = 0
        self.crashes: list[Crash] = []
        self.skipped: dict[str, list[str]] = {}
        """First names of the files that were not read, by reason."""
        self.skips: Counter[str] = Counter()
        self.in_folders = False
        """Whether a file was skipped that the user did not name: only a named one has a message of its own."""
        self.count: Count | None = None
        if look.statistics not in ("", "rule"):  # the tally has the rules
            from turnlint.report import statistics

            self.count = statistics.Count(look.statistics)

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            if self.count:
                self.count.take(event)
            if self._is_hidden(event):
                self.hidden += 1
            else:
                self._group(event)
        elif isinstance(event, Crash):
            self.crashes.append(event)
        elif isinstance(event, Skipped):
            why = reason_of(event.near)
            self.skips[why] += 1
            self.in_folders = self.in_folders or not event.source.named
            if len(names := self.skipped.setdefault(why, [])) < SAMPLES:
                names.append(event.source.name)

    def _is_hidden(self, row: Row) -> bool:
        if self.look.infos or row.finding.severity != "info":
            return False
        return "info" not in self.look.fails.get(row.path, ())

    def _group(self, row: Row) -> None:
        finding = row.finding
        key = (finding.rule, finding.severity, finding.provider, shape_of(finding.message))
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = _Group([], self._rank(row))
        group.count += 1
        group.paths.add(row.path)
        if len(group.rows) < SAMPLES:
            group.rows.append(row)
        elif finding.rule in PER_FILE and len(group.names) < MOST_NAMES:
            group.names.extend(name for name in NAME.findall(finding.message)[:1] if name not in group.names)

    def _rank(self, row: Row) -> tuple[int, int, int]:
        file = self.files.setdefault(row.path, len(self.files))
        return SEVERITIES.index(row.finding.severity), file, row.place.offset

    def tell(self) -> None:
        """Write all findings so far, for a reader before the end of the run."""
        for crash in self.crashes:
            place = f"{line_start(crash.path)}:{crash.line}"
            self.write(f"{place}: {crash.rule} crashed: {visible(crash.reason)}\n")
        for group in sorted(self.groups.values(), key=lambda one: one.rank):
            for index, row in enumerate(group.rows):
                last = index == len(group.rows) - 1
                self._finding(row, group if last and group.count > len(group.rows) else None)
        self.groups, self.crashes = {}, []

    def finish(self, tally: Tally, *, complete: bool) -> None:
        self.tell()
        if self.look.statistics and tally.rules:
            self._statistics(tally)
        if complete and not tally.files and self.skips and not self.in_folders:
            return
        for line in self._folded(self._sum(tally, complete=complete), ""):
            self.write(line + "\n")

    def _finding(self, row: Row, group: _Group | None) -> None:
        finding, place = row.finding, row.place
        head = f"{finding.code}[{finding.severity}]"
        sentence = f"{head}{visible(behind(finding))}: {visible(finding.message)}"
        first, *more = self._folded(sentence, "    ")
        painted = self._paint(_COLORS[finding.severity], head, bold=True)
        self.write(f"{painted}{self._paint('', first[len(head) :], bold=True)}\n")
        for line in more:
            self.write(f"{self._paint('', line, bold=True)}\n")
        spot = visible(row.path) + (f":{place.line}:{place.column}" if place.line else "")
        parts = [spot]
        if finding.conversation is not None:
            parts.append(f'conversation "{clip(visible(finding.conversation[:80]), 40)}"')
        parts.append(clip(visible(place.pointer[:240]), 120) or "the whole record")
        start, *rest = self._together(parts, "  --> ")
        self.write(f"  {self._paint('34', '-->')} {start.removeprefix('  --> ')}\n")
        for line in rest:
            self.write(line + "\n")
        gutter = max([3, *(len(str(line.index)) + 1 for line in row.view)])
        margin = " " * gutter + " " + self._paint("34", "|")
        if row.view:
            self._picture(row.view, gutter, margin)
        elif finding.label:
            self._beside(visible(finding.label), margin, gutter)
        for note, there in row.related if not row.view else ():
            spot = f"line {there.line}, column {there.column}"
            words = f"{visible(note)}: {spot}, {clip(visible(there.pointer[:120]), 60)}"
            self._beside(words, margin, gutter)
        if said := answer(finding):
            self._note(clip(visible(said), LONGEST_WORDS), gutter)
        if finding.fix:
            level = f" [{finding.fix.level}{_asked_for(finding)}]" if finding.fix.is_done_here else ""
            self._note(f"fix: {visible(finding.fix.title)}{level}", gutter)
        elif finding.severity != "info":
            self._note(
                f"`turnlint fix` has no repair for it; `turnlint explain {visible(finding.code)}` says why",
                gutter,
            )
        if group:
            files = f" in {len(group.paths):,} files" if len(group.paths) > 1 else ""
            left = group.count - len(group.rows)
            names = f", such as for {', '.join(map(visible, group.names))}" if group.names else ""
            self._note(
                f"{left:,} more {'finding' if left == 1 else 'findings'} like this{files}{names}; "
                "--output-format concise lists all",
                gutter,
            )
        self.write("\n")

    def _note(self, words: str, gutter: int) -> None:
        for line in self._folded(f"{' ' * gutter} = {words}", " " * (gutter + 3)):
            self.write(line + "\n")

    def _beside(self, words: str, margin: str, gutter: int) -> None:
        for line in self._folded(" " * (gutter + 3) + words, " " * (gutter + 3)):
            self.write(f"{margin} {line[gutter + 3 :]}\n")

    def _limit(self) -> int:
        """Return the width of a line."""
        return max(LEAST_WIDTH, self.look.width)

    def _folded(self, text: str, indent: str) -> list[str]:
        return fold(text, self._limit(), indent) if self.look.folds else [text]

    def _together(self, parts: list[str], start: str) -> list[str]:
        """Join parts in a line, broken between them where the line is too long."""
        lines = [start + parts[0]]
        for part in parts[1:]:
            if self.look.folds and columns(f"{lines[-1]}   {part}") > self._limit():
                lines.append(" " * len(start) + part)
            else:
                lines[-1] += f"   {part}"
        return [piece for line in lines for piece in self._folded(line, " " * len(start))]

    def _picture(self, lines: tuple[Line, ...], gutter: int, margin: str) -> None:
        self.write(margin + "\n")
        previous = None
        for line in lines:
            if previous is not None and line.index > previous + 1:
                self.write(" " * (gutter - 2) + "...\n")
            previous = line.index
            self._message(line, gutter, margin)
        self.write(margin + "\n")

    def _message(self, line: Line, gutter: int, margin: str) -> None:
        room = self._limit() - gutter - 3
        role = clip(visible(line.role), ROLE_WIDTH)
        text = role + " " * (ROLE_WIDTH + 1 - columns(role))
        carets: list[tuple[int, int, tuple[Mark, ...]]] = []
        cells = _fitting(line.cells, room - ROLE_WIDTH - 1)
        for cell in cells:
            if not text.endswith(" "):
                text += "  "
            if cell.marks:
                carets.append((columns(text), columns(cell.text), cell.marks))
            text += cell.text
        number = f"{line.index:>{gutter}}"
        self.write(f"{self._paint('34', number)} {self._paint('34', '|')} {text.rstrip()}\n")
        for cell in line.cells:
            if cell.excerpt and len(cell.text) > EXCERPT:
                self._whole(visible(cell.text), margin, room - ROLE_WIDTH - 1)
        for at, width, marks in carets:
            for mark in marks:
                for under in _under(at, max(1, width), mark, room):
                    self.write(f"{margin} {self._paint('31' if mark.main else '34', under)}\n")
        if hidden := sum(len(cell.marks) for cell in line.cells) - sum(len(marks) for *_, marks in carets):
            self.write(f"{margin} {' ' * (ROLE_WIDTH + 1)}{pluralize(hidden, 'more place')}\n")

    def _whole(self, text: str, margin: str, room: int) -> None:
        """Write a long content in full, if the user asked for it."""
        while text:
            piece = text[:room]
            while columns(piece) > room:
                piece = piece[:-1]
            self.write(f"{margin} {' ' * (ROLE_WIDTH + 1)}{piece}\n")
            text = text[len(piece) :]

    def _statistics(self, tally: Tally) -> None:
        from turnlint.report.table import render_table

        rows: list[list[str]]
        if self.count:
            from turnlint.report.statistics import table_of

            headers, rows = table_of(self.count)
        else:
            headers = ["rule", "findings"]
            ranked = sorted(tally.rules.items(), key=lambda item: (-item[1], item[0]))
            rows = [[rule, str(count)] for rule, count in ranked]
        table = render_table(rows, headers, self._limit() if self.look.folds else None)
        self.write(table + "\n\n")

    def _sum(self, tally: Tally, *, complete: bool) -> str:
        summed = found(tally) if tally.files else "Nothing checked."
        if self.skipped:
            summed += f" Skipped: {'; '.join(self._skips())}."
        if self.hidden:
            summed += f" {pluralize(self.hidden, 'info')} hidden: --show-info."
        for key, count in sorted(tally.across.items()):
            provider, _, wire = visible(key).partition(" on ")
            summed += (
                f" For {pluralize(count, 'conversation')} in format {wire}, only the rules of {provider} for ids, "
                "names and limits apply."
            )
        for what, count in sorted(tally.noted.items()):
            summed += f" {visible(noted(what, count))}."
        if complete:
            return summed
        cause = "a rule crashed" if tally.crashes else "a file could not be read"
        return f"{summed} Incomplete: {cause} (see above)."

    def _skips(self) -> Iterator[str]:
        """Yield the files that were not read, each group with the reason behind the names."""
        for why, count in self.skips.most_common(MAX_REASONS):
            names = self.skipped[why] if count <= SAMPLES else self.skipped[why][:1]
            rest = f" and {count - len(names):,} more" if count > len(names) else ""
            yield f"{', '.join(map(visible, names))}{rest} ({why})"
        if more := self.skips.total() - sum(count for _, count in self.skips.most_common(MAX_REASONS)):
            yield f"and {pluralize(more, 'other')}"

    def _paint(self, code: str, text: str, *, bold: bool = False) -> str:
        if not self.look.color or not text:
            return text
        codes = ";".join(part for part in ("1" if bold else "", code) if part)
        return f"\x1b[{codes}m{text}\x1b[0m" if codes else text


def _under(at: int, width: int, mark: Mark, room: int) -> list[str]:
    """Return a mark with its note behind it, else before it, else below it."""
    sign = ("^" if mark.main else "-") * width
    note = clip(visible(mark.note), LONGEST_NOTE)
    if not note or at + width + 1 + columns(note) <= room:
        return [f"{' ' * at}{sign} {note}".rstrip()]
    if columns(note) < at:
        return [f"{' ' * (at - columns(note) - 1)}{note} {sign}"]
    folded = fold(note, room, "")
    start = max(0, min(at, room - max(map(columns, folded))))
    return [" " * at + sign, *(" " * start + line for line in folded)]


def _fitting(cells: tuple[Cell, ...], room: int) -> list[Cell]:
    """Return the cells that fit in a line: all marked ones, others as far as possible, dots for the rest."""
    shown = [Cell(clip(visible(cell.text), CONTENT_WIDTH), cell.marks, cell.excerpt) for cell in cells]
    if _width(shown) <= room:
        return shown
    shown = _with_fewer_marks(shown, room)
    marked = sum(bool(cell.marks) for cell in shown)
    dots = 3 * (marked + 1)
    each = max(LEAST_CELL, (room - dots) // max(1, marked) - 2)
    spare = room - dots - sum(min(each, columns(cell.text)) + 2 for cell in shown if cell.marks)
    kept: list[Cell] = []
    for cell in shown:
        need = columns(cell.text) + 2
        if cell.marks:
            kept.append(Cell(clip(cell.text, each), cell.marks))
        elif need <= spare or (cell.excerpt and spare >= LEAST_EXCERPT):
            kept.append(Cell(clip(cell.text, spare - 2)))
            spare -= min(need, spare)
        elif not kept or kept[-1].text != DOTS:
            kept.append(Cell(DOTS))
    over = _width(kept) - room
    loose = [number for number, cell in enumerate(kept) if not cell.marks]
    if over > 0 and loose:
        widest = max(loose, key=lambda number: columns(kept[number].text))
        text = kept[widest].text
        kept[widest] = Cell(clip(text, max(1, columns(text) - over)))
    return kept


def _with_fewer_marks(cells: list[Cell], room: int) -> list[Cell]:
    """Remove the marks that do not fit. The mark of the finding itself stays."""
    marked = [number for number, cell in enumerate(cells) if cell.marks]
    most = max(1, (room - 3) // (LEAST_CELL + 5))
    if len(marked) <= most:
        return cells
    ranked = sorted(marked, key=lambda number: not any(mark.main for mark in cells[number].marks))
    kept = set(ranked[:most])
    return [
        Cell(cell.text, cell.marks if number in kept else (), cell.excerpt)
        for number, cell in enumerate(cells)
    ]


def _width(cells: list[Cell]) -> int:
    return sum(columns(cell.text) for cell in cells) + 2 * max(0, len(cells) - 1)


def open_sink(_: str, write: Write, look: Look) -> Sink:
    return Text(write, look)


def _asked_for(finding: Finding) -> str:
    """Return the option that makes `fix` do an optional repair."""
    if not finding.fix or not finding.fix.is_done_here:
        return ""
    if finding.severity == "info":  # only worth knowing
        return f", with --select {finding.rule}"
    if finding.severity == "warning" and finding.fault == "projection":  # not known to be refused
        return f", with --provider {finding.provider}"
    return ""
