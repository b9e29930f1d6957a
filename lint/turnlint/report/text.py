"""The report for people: the conversation around each finding, not the raw line.

This module owns that picture and the grouping of findings that say the same. It refuses to let a
character of the transcript past `escape`.
"""

import re

from msgspec import Struct

from turnlint.engine import Crash, Event, Skipped, Tally
from turnlint.report import Look, Sink, Write
from turnlint.report.escape import clip, columns, line_start, visible
from turnlint.rows import Cell, Line, Mark, Row

SAMPLES = 3
CONTENT_WIDTH = 60
ROLE_WIDTH = 11
_NAMES = re.compile(r"`[^`]*`|[0-9]+")
_COLORS = {"error": "31", "warning": "33", "info": "36"}


class _Group(Struct):
    """Findings of one rule that differ in names only."""

    rows: list[Row]
    count: int = 0
    paths: set[str] = set()


class Text:
    def __init__(self, write: Write, look: Look) -> None:
        self.write = write
        self.look = look
        self.groups: dict[tuple[str, str, str | None, str], _Group] = {}
        self.crashes: list[Crash] = []
        self.skipped: list[str] = []

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            finding = event.finding
            shape = _NAMES.sub("", finding.message)
            group = self.groups.setdefault(
                (finding.rule, finding.severity, finding.provider, shape), _Group([])
            )
            group.count += 1
            group.paths.add(event.path)
            if len(group.rows) < SAMPLES:
                group.rows.append(event)
        elif isinstance(event, Crash):
            self.crashes.append(event)
        elif isinstance(event, Skipped):
            self.skipped.append(event.source.name)

    def finish(self, tally: Tally, *, complete: bool) -> None:
        for group in self.groups.values():
            for index, row in enumerate(group.rows):
                last = index == len(group.rows) - 1
                self._finding(row, group if last and group.count > len(group.rows) else None)
        for crash in self.crashes:
            place = f"{line_start(crash.path)}:{crash.line}"
            self.write(f"{place}: rule {crash.rule} crashed: {visible(crash.reason)}\n")
        if self.look.statistics and tally.rules:
            self._statistics(tally)
        self.write(self._sum(tally, complete=complete) + "\n")

    def _finding(self, row: Row, group: _Group | None) -> None:
        finding, place = row.finding, row.place
        head = self._paint(_COLORS[finding.severity], f"{finding.code}[{finding.severity}]", bold=True)
        self.write(f"{head} {self._paint('', f'{finding.rule}: {visible(finding.message)}', bold=True)}\n")
        spot = f"{visible(row.path)}:{place.line}:{place.column}"
        parts = [f"  {self._paint('34', '-->')} {spot}"]
        if finding.conversation is not None:
            parts.append(f'conversation "{clip(visible(finding.conversation), 40)}"')
        parts.append(clip(visible(place.pointer), 120) or "the whole record")
        self.write("   ".join(parts) + "\n")
        gutter = max([3, *(len(str(line.index)) + 1 for line in row.view)])
        margin = " " * gutter + " " + self._paint("34", "|")
        if row.view:
            self._picture(row.view, gutter, margin)
        elif finding.label:
            self.write(f"{margin} {visible(finding.label)}\n")
        for note, there in row.related if not row.view else ():
            self.write(f"{margin} {visible(note)}: line {there.line}, {clip(visible(there.pointer), 80)}\n")
        if finding.fix:
            self.write(f"{' ' * gutter} = fix: {visible(finding.fix.title)} [{finding.fix.level}]\n")
        if group:
            files = f" in {len(group.paths):,} files" if len(group.paths) > 1 else ""
            more = group.count - len(group.rows)
            self.write(f"{' ' * gutter} = {more:,} more{files} of this rule and shape\n")
        self.write("\n")

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
        role = clip(visible(line.role), ROLE_WIDTH)
        start = ROLE_WIDTH + 1
        text = role + " " * (start - columns(role))
        room = max(40, self.look.width - gutter - 4)
        carets: list[tuple[int, int, tuple[Mark, ...]]] = []
        for index, cell in enumerate(line.cells):
            shown = clip(visible(cell.text), CONTENT_WIDTH)
            gap = 2 if index else 0
            if columns(text) + gap + columns(shown) > room and index:
                if not _marked_from(line.cells, index):
                    text += "  …"
                    break
                text = text[:start] + "…"
                carets = []
            text += " " * gap
            if cell.marks:
                carets.append((columns(text), columns(shown), cell.marks))
            text += shown
        number = f"{line.index:>{gutter}}"
        self.write(f"{self._paint('34', number)} {self._paint('34', '|')} {text.rstrip()}\n")
        for at, width, marks in carets:
            self._carets(margin, at, width, marks)

    def _carets(self, margin: str, at: int, width: int, marks: tuple[Mark, ...]) -> None:
        for mark in marks:
            line = ("^" if mark.main else "-") * max(1, width) + (
                f" {visible(mark.note)}" if mark.note else ""
            )
            self.write(f"{margin} {' ' * at}{self._paint('31' if mark.main else '34', line)}\n")

    def _statistics(self, tally: Tally) -> None:
        from tabulate import tabulate

        rows = sorted(tally.rules.items(), key=lambda item: (-item[1], item[0]))
        table = tabulate(rows, headers=["rule", "findings"], tablefmt="plain", disable_numparse=True)
        self.write(table + "\n\n")

    def _sum(self, tally: Tally, *, complete: bool) -> str:
        seen = f"{_many(tally.files, 'file')} ({_many(tally.conversations, 'conversation')}, {_many(tally.messages, 'message')})"
        counts = [_many(count, name) for name, count in tally.findings.items() if count]
        found = f"Found {', '.join(counts)} in {seen}." if counts else f"No findings in {seen}."
        if self.skipped:
            some = ", ".join(visible(name) for name in self.skipped[:3])
            rest = f" and {len(self.skipped) - 3:,} more" if len(self.skipped) > 3 else ""
            found += f" Skipped, no known format: {some}{rest}."
        return found if complete else found + " Not complete: a rule crashed, see above."

    def _paint(self, code: str, text: str, *, bold: bool = False) -> str:
        if not self.look.color or not text:
            return text
        codes = ";".join(part for part in ("1" if bold else "", code) if part)
        return f"\x1b[{codes}m{text}\x1b[0m" if codes else text


def _marked_from(cells: tuple[Cell, ...], index: int) -> bool:
    return any(cell.marks for cell in cells[index:])


def _many(count: int, name: str) -> str:
    plural = name if name == "info" else name + "s"
    return f"{count:,} {name if count == 1 else plural}"


def open_sink(_: str, write: Write, look: Look) -> Sink:
    return Text(write, look)
