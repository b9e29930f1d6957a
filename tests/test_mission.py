"""The page `mission` is correct: each of its commands runs, and each requirement of the sources has a row."""

import filecmp
import re
import shlex
import traceback
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from turnlint.cli import cli

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "lint" / "turnlint" / "docs" / "mission.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```json (\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SPANS = re.compile(r"`([^`]+)`")
KINDS = ("", "not yet", "evidence", "cannot", "tested")
NO_COMMAND = "no command"
SECTIONS = {
    "000": "L4 L7-15 L17 L21-24 L26-35 L37-40 L43-45 L49-51 L54 L57 L60-61 L64 L67-68 L71-73 L76-78 L81-83 L86-88 L91-92"
    " L95-98 L101-105",
    "001": "§1.1 §1.2 §1.3 §1.4 §2 §2.1 §3.1.1 §3.1.2 §3.1.3 §3.1.4 §3.2 §3.3 §4.1.1 §4.1.2 §4.1.3 §4.2 §5.1 §5.2 §5.3 §5.4"
    " §6.1 §6.2 §6.3 §6.4 §7.1 §7.2.1 §7.2.2 §7.2.3 §7.2.4 §7.3 §7.4 §8.1 §8.2 §8.3 §9.1 §9.2.1 §9.2.2 §9.2.3 §9.2.4 §9.3"
    " §9.4 §10 §11.1 §11.2 §11.3 §11.4 §12.1 §12.2 §12.3 §12.4 §12.5 §12.6",
    "002": "L5 L19-34 L36-37 L42-46 L51-52 L54-55 L57-58 L60-61 L71-75 L77-81 L83-87 L89-91 L95 L98-101 L110-114 L116-120"
    " L122-126 L128-130 L134 L137-140 L147-149 L151-152 L160-162 L164-166 L168-170 L177-180",
    "003": "L6-10 L12 L16-21 §1 §2 §3 §4 §5 §6 §7 §8 §9 §10 L30-34 L38-42 L49-55 L57-64 L66-73 L75-78 L86-94 L96-107 L109-116"
    " L124-132 L134-142 L151-168 L170-182 L190-206 L208-210 L220-226 L228-237 L239-256 L267-272 L279 L286 L290-304 L307-318"
    " L327-333 L341-347 L349-361 L363-371 L384-388 L397-403 L406-427 L431-454 L461-470 L473-485 L491-493 L496-498 L501-503"
    " L506-508 L511-513",
    "004": "L5 L9-11 L16-17 L20-21 L24-25 L28-30 L33-34 L37-42 L48-52 L57-59 L61 L65-66 L71-75 L79-82",
}
"""The numbered sections, and the lines with a requirement, of each source."""


class Row(NamedTuple):
    """A requirement with the command that shows it."""

    source: str
    place: str
    requirement: str
    commands: list[str]
    kind: str
    outcome: str


def rows() -> Iterator[Row]:
    for part in PAGE.split("\n## ")[1:]:
        title, _, text = part.partition("\n")
        for line in re.findall(r"^\| (.*) \|$", text, re.MULTILINE):
            cells = line.split(" | ")
            if title.startswith(("00", "The table")):
                place, requirement, command, outcome = cells
                if place == "place":
                    continue
                kind, colon, rest = outcome.partition(": ")
                known = bool(colon) and kind in KINDS
                yield Row(
                    title.split()[0], place, requirement, SPANS.findall(command),
                    kind if known else "", rest if known else outcome,
                )  # fmt: skip


ROWS = [*rows()]
RUN = [row for row in ROWS if row.commands]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES:
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


def run(command: str) -> tuple[int, str]:
    """Run a command of the page in this process, and return its exit code and its outputs."""
    program, *arguments = shlex.split(command)
    if program == "cmp":
        return int(not filecmp.cmp(*arguments, shallow=False)), ""
    if program == "python":
        assert arguments[0] == "-c"
        return run_python(arguments[1])
    assert program == "turnlint"
    done = CliRunner().invoke(cli, arguments, prog_name="turnlint")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return done.exit_code, done.output


def run_python(program: str) -> tuple[int, str]:
    printed = StringIO()
    try:
        with redirect_stdout(printed):
            exec(program, {})  # noqa: S102 - a program of the page
    except Exception:  # noqa: BLE001 - the page may name any
        return 1, printed.getvalue() + traceback.format_exc()
    return 0, printed.getvalue()


def joined(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("row", RUN, ids=[f"{row.source} {row.place} {row.requirement[:40]}" for row in RUN])
def test_a_command_shows_its_requirement(row: Row) -> None:
    expected = re.match(r"exit (\d)", row.outcome)
    assert expected
    *before, last = row.commands
    for command in before:
        assert run(command)[0] in (0, 1), command
    code, printed = run(last)
    assert code == int(expected[1]), printed
    shown, _, absent = row.outcome.partition("; not `")
    found = f"{printed}\n{joined(printed)}"
    for word in SPANS.findall(shown):
        assert word in found or joined(word) in found, (word, printed)
    for word in SPANS.findall(f"`{absent}") if absent else ():
        assert word not in found, (word, printed)


def test_no_command_writes_a_fixture() -> None:
    for row in RUN:
        for command in row.commands:
            words = shlex.split(command)
            if words[:2] == ["turnlint", "fix"]:
                assert {"-o", "--diff", "--check"} & {*words}, command


def test_each_row_without_a_command_has_a_reason_or_a_test() -> None:
    for row in ROWS:
        if row.commands:
            assert row.kind in ("", "not yet", "evidence"), row
        elif row.kind == "cannot":
            assert len(row.outcome.split()) >= 5, row
        else:
            assert row.kind == "tested", row
            ((path, _, name),) = (one.partition("::") for one in SPANS.findall(row.outcome))
            tests = (ROOT / path).read_text(encoding="utf-8")
            assert re.search(rf"^def {name}\(", tests, re.MULTILINE), row
        if row.kind == "evidence":
            assert re.search(r"\]\((rules|providers)\.md#", row.outcome), row
        if row.kind == "not yet":
            assert "; not `" in row.outcome or not row.outcome.startswith("exit 0"), row


def places(text: str) -> set[str]:
    """Return the single lines and sections of a cell such as `§1 L30-32, L40`."""
    found: set[str] = set()
    for section, number in re.findall(r"§([\d.]+\d|\d+)(?: (\d)\b)?", text):
        found.add(f"§{section}.{number}" if number else f"§{section}")
    for first, last in re.findall(r"L(\d+)(?:-(\d+))?", text):
        found |= {f"L{number}" for number in range(int(first), int(last or first) + 1)}
    return found


@pytest.mark.parametrize("source", SECTIONS)
def test_each_requirement_of_a_source_has_a_row(source: str) -> None:
    named = set().union(*(places(row.place) for row in ROWS if row.source == source))
    assert places(SECTIONS[source].replace("§", " §")) - named == set()


def test_a_missing_row_is_noticed() -> None:
    assert places("§3.1 4, §8") == {"§3.1.4", "§8"}
    assert places("§2 L5-7, L9") == {"§2", "L5", "L6", "L7", "L9"}
    assert places("§12.6") - places("§12 5") == {"§12.6"}


def test_the_page_is_complete() -> None:
    assert len(ROWS) > 180
    assert {row.source for row in ROWS} == {*SECTIONS, "The"}
    assert len({(row.source, row.place, row.requirement) for row in ROWS}) == len(ROWS)


def test_the_top_level_is_that_of_the_mission() -> None:
    for name in ("pyproject.toml", "lint", "rules", "fixtures", "tests", "README.md"):
        assert (ROOT / name).exists(), name
