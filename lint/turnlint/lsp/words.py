"""Write the texts about findings for the user of an editor.

All text of a conversation passes through `escape`, and no content is shown.
"""

from collections.abc import Iterable, Iterator, Sequence

from turnlint.engine import Crash, Options
from turnlint.model import Finding, Fix
from turnlint.repair.choosing import LEVELS
from turnlint.report.escape import as_code, clip, in_markdown, visible
from turnlint.report.words import answer, behind, crashed, repair, title
from turnlint.rulebook import Entry, everything

LONGEST = 1_000
MORE = "{left:,} more findings are not shown; `turnlint lint` lists all"
CUT = "too many findings to show or repair in the editor; use `turnlint lint` and `turnlint fix`"
TOO_LONG = "is larger than {most:,} bytes and is not checked in the editor; use `turnlint lint`"
NOTHING = "nothing to repair at level {level}"
FIX_ALL = "turnlint: repair this file [{level}]"


def of_finding(finding: Finding) -> str:
    """Return the message, the error of the provider and the repair, a line each."""
    named = behind(finding).strip()
    words = (f"{named}: {finding.message}" if named else finding.message, answer(finding), repair(finding))
    return "\n".join(clip(visible(one), LONGEST) for one in words if one)


def of_note(note: str) -> str:
    return clip(visible(note), LONGEST)


def of_crash(crash: Crash) -> str:
    return clip(visible(crashed(crash)), LONGEST)


def of_more(shown: int, count: int, *, cut: bool) -> str:
    """Return the message about findings that are not shown; empty where all are shown."""
    return CUT if cut else MORE.format(left=count - shown) if count > shown else ""


def of_repair(code: str, fixes: Sequence[Fix]) -> str:
    """Return the title of the repair of all findings of one rule."""
    title = clip(visible(fixes[0].title), 100)
    level = max((fix.level for fix in fixes), key=LEVELS.index)
    many = f": all {len(fixes):,} {clip(visible(code), 100)} of this file" if len(fixes) > 1 else ""
    return f"{title}{many} [{level}]"


def explained(findings: Iterable[Finding], entries: Iterable[Entry]) -> str:
    """Return findings in Markdown, each with the explanation of its rule."""
    rules = {entry.rule.code: entry for entry in entries}
    told: dict[str, list[Finding]] = {}
    for finding in findings:
        told.setdefault(finding.code, []).append(finding)
    return "\n\n---\n\n".join("\n\n".join(_explained(some, rules.get(code))) for code, some in told.items())


def _explained(findings: list[Finding], entry: Entry | None) -> Iterator[str]:
    first = findings[0]
    yield f"**{in_markdown(first.code)}{_headline(first)}** ({first.severity})"
    for finding in findings:
        yield in_markdown(clip(visible(finding.message), LONGEST))
        if said := answer(finding):
            verb, _, words = said.partition(": ")
            yield f"{in_markdown(verb)}: {as_code(clip(words, LONGEST))}"
        if todo := finding.fix:
            yield f"Fix: {in_markdown(todo.title)} ({todo.level})"
    if entry is not None:
        if entry.builtin and entry.headline:
            yield f"{entry.headline[0].upper()}{entry.headline[1:]}."
        yield from _sections(entry.docs)


def _headline(finding: Finding) -> str:
    return "" if finding.code == finding.rule else f" {in_markdown(title(finding))}"


def _sections(docs: str) -> Iterator[str]:
    """Yield the sections of the explanation of a rule.

    Headings are at the margin, and all other lines are indented.
    """
    block: list[str] = []
    for line in [*docs.splitlines(), ""]:
        shown = visible(line)
        if shown[:1].strip():
            yield from (["\n".join(block)] if block else [])
            block = []
            yield f"**{shown}**"
        elif shown.strip():
            block.append(shown.strip() if not block else shown.removeprefix("    "))
        elif block:
            yield "\n".join(block)
            block = []


def entries_of(options: Options) -> list[Entry]:
    """Return all rules that can have findings."""
    from turnlint.own_rules.entries import entry_of

    return [*everything(), *map(entry_of, options.own_rules)]
