"""Write JUnit XML: a suite for each file, and a case for each conversation, also those without findings.

A case fails if a finding makes the run fail, by `fail-on` for its file. Milder findings are in the output of
the case. A line with findings outside of conversations is a case of its own. A temporary
file keeps the cases until their suite is counted, so a log may be larger than memory. There are no times: the
same input gives the same report.
"""

from msgspec import Struct

from turnlint.engine import Crash, Event, Heard, Skipped, Tally
from turnlint.neighbours import reason_of
from turnlint.report import Look, Sink, Write
from turnlint.report.concise import line_of
from turnlint.report.escape import clip, in_xml, visible
from turnlint.report.paths import shown
from turnlint.report.words import answer, behind, crashed, left_out, repair
from turnlint.rows import Row

_PIECE = 1 << 16
_IN_MEMORY = 1 << 20
LONGEST_NAME = 120


class _Said(Struct, frozen=True):
    """A finding in a case."""

    fails: bool
    kind: str
    message: str
    text: str


class _Suite:
    """The cases of one file, kept in a temporary file until they are counted."""

    def __init__(self, path: str) -> None:
        from tempfile import SpooledTemporaryFile

        self.path = path
        self.name = in_xml(shown(path))
        self.cases = SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="ascii")  # noqa: SIM115 - until it is written out
        self.counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
        self.said: dict[int, list[_Said]] = {}
        """Findings of conversations that have no case yet, by index."""
        self.waiting: list[Heard] = []
        self.loose: list[_Said] = []
        self.line = 0

    def case(self, name: str, line: int, inside: str, count: str | None = None) -> None:
        self.counts["tests"] += 1
        if count:
            self.counts[count] += 1
        head = f'<testcase classname="{self.name}" name="{in_xml(clip(visible(name), LONGEST_NAME))}"'
        where = f' file="{self.name}" line="{line}"'
        self.cases.write(f"{head}{where}>\n{inside}</testcase>\n" if inside else f"{head}{where}/>\n")

    def judged(self, name: str, line: int, said: list[_Said]) -> None:
        failing = [one for one in said if one.fails]
        milder = [one.text for one in said if not one.fails]
        inside = ""
        if failing:
            more = f" (and {len(failing) - 1:,} more)" if len(failing) > 1 else ""
            message = in_xml(failing[0].message + more)
            body = "\n".join(in_xml(line) for one in failing for line in one.text.split("\n"))
            inside += f'<failure type="{in_xml(failing[0].kind)}" message="{message}">{body}</failure>\n'
        if milder:
            body = "\n".join(in_xml(line) for text in milder for line in text.split("\n"))
            inside += f"<system-out>{body}</system-out>\n"
        self.case(name, line, inside, "failures" if failing else None)

    def conversation(self, heard: Heard) -> None:
        self.judged(heard.id or f"conversation {heard.index}", heard.line, self.said.pop(heard.index, []))

    def settle_line(self) -> None:
        if self.loose:
            self.judged(f"line {self.line}", self.line, self.loose)
            self.loose = []

    def write_out(self, write: Write) -> None:
        self.settle_line()
        for heard in self.waiting:
            self.conversation(heard)
        for index, said in sorted(
            self.said.items()
        ):  # of a rule that names another conversation than its own
            self.judged(f"conversation {index}", 1, said)
        counts = " ".join(f'{key}="{count}"' for key, count in self.counts.items())
        write(f'<testsuite name="{self.name}" {counts}>\n')
        self.cases.seek(0)
        while piece := self.cases.read(_PIECE):
            write(piece)
        self.cases.close()
        write("</testsuite>\n")


class JUnit:
    def __init__(self, write: Write, look: Look) -> None:
        self.write = write
        self.fails = look.fails
        self.suite: _Suite | None = None
        self.begun = False
        self.crashed = False

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            self._row(self._at(event.path), event)
        elif isinstance(event, Heard):
            suite = self._at(event.path)
            suite.settle_line()
            if event.whole:
                suite.conversation(event)
            else:
                suite.waiting.append(event)
        elif isinstance(event, Crash):
            self.crashed = True
            words = in_xml(crashed(event))
            self._at(event.path).case(
                f"line {event.line}", event.line, f'<error type="crash" message="{words}"/>\n', "errors"
            )
        elif isinstance(event, Skipped):
            inside = f'<skipped message="{in_xml(reason_of(event.near))}"/>\n'
            self._at(event.source.name).case("the file", 1, inside, "skipped")

    def _row(self, suite: _Suite, row: Row) -> None:
        finding = row.finding
        lines = [line_of(row), answer(finding), repair(finding)]
        text = "\n    ".join(" ".join(line.split("\n")) for line in lines if line)
        kind = finding.code + behind(finding)
        said = _Said(finding.severity in self.fails.get(row.path, ()), kind, finding.message, text)
        if finding.conversation_index is not None:
            suite.settle_line()
            suite.said.setdefault(finding.conversation_index, []).append(said)
            return
        if row.place.line != suite.line:
            suite.settle_line()
            suite.line = row.place.line
        suite.loose.append(said)

    def _at(self, path: str) -> _Suite:
        if self.suite is None or self.suite.path != path:
            self._close()
            self.suite = _Suite(path)
        return self.suite

    def _close(self) -> None:
        if not self.begun:
            self.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="turnlint">\n')
            self.begun = True
        if self.suite:
            self.suite.write_out(self.write)
            self.suite = None

    def finish(self, tally: Tally, *, complete: bool) -> None:
        if not complete and not self.crashed:
            inside = f'<error type="incomplete" message="{in_xml(left_out(tally))}"/>\n'
            self._at("turnlint").case("the run", 1, inside, "errors")
        self._close()
        self.write("</testsuites>\n")


def open_sink(_: str, write: Write, look: Look) -> Sink:
    return JUnit(write, look)
