"""The reference: pages made of what is known, so that no page says anything else.

This module owns those pages: rules, providers, formats and outputs, each written from the tables and modules that
decide, the outputs from runs of the command itself. `python -m turnlint.reference` writes them into `docs`, and a
test holds them to be current. The other pages there are written by hand. It refuses to know more than it shows.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from json import dumps, loads
from typing import Any

from click import Context, Option
from msgspec import to_builtins

from turnlint import rulebook
from turnlint.carriers import NAMES, carrier
from turnlint.clause import Clause
from turnlint.cli import cli
from turnlint.cli.explain import DOCS, examples_of
from turnlint.cli.profiles import MATRIX, UNKNOWN, cell_of
from turnlint.cli.rules import lived
from turnlint.notation import write
from turnlint.packages import BUILTIN
from turnlint.profiles import Profile
from turnlint.providers import Providers
from turnlint.report import FORMATS

MADE = "<!-- made by `python -m turnlint.reference`; do not edit -->"
FAMILIES = {
    "state": "What is written is damaged.",
    "pairing": "Calls and results do not meet.",
    "projection": "All is well, but this provider will not take it.",
    "contract": "Calls do not keep to what their tools declare.",
}
SPOKEN = """
    user       What is the weather in Paris?
    assistant
      call     call_1 get_weather {"city": "Paris"}
      result   call_1 (get_weather) 18 degrees
    assistant  It is 18 degrees.
"""
LONGEST = 2_000
"""A longer line of an output is left out: in SARIF the help of all rules is one."""
LOG = """\
{"id": "s-1", "messages": [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello!"}]}
{"id": "s-2", "messages": [{"role": "user", "content": "Compare Paris and Lyon."}, {"role": "assistant", "content": null, \
"tool_calls": [{"id": "call_a91", "type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}}]}, \
{"role": "user", "content": "In Celsius, please."}, {"role": "tool", "tool_call_id": "call_a91", "content": "18 °C"}]}
"""
SINKS = {
    "text": "For people: the conversation around each finding, and findings that say the same as one.",
    "concise": "A line a finding, as compilers write them, for editors and for `grep`.",
    "json": "One document, `turnlint/report-v1`; `turnlint schema report` is its JSON Schema.",
    "jsonl": "The same, with a line a finding and the summary last.",
    "sarif": "SARIF 2.1.0, for code scanning.",
    "github": "Workflow commands, which GitHub shows beside the lines of a file.",
    "github-summary": "The page of a run at GitHub: give it `$GITHUB_STEP_SUMMARY` for its file.",
    "gitlab": "Code Quality of GitLab.",
    "junit": "Test results: each conversation is a case, those in which nothing was found too.",
    "rdjsonl": "A diagnostic a line, as reviewdog reads them.",
    "markdown": "A page with a table, to be put into an issue or a merge request.",
}
CODES = (
    ("0", "nothing at or above `--fail-on` (default `error`)"),
    ("1", "findings at or above that; for `fix`, what remains, or what `--check` or `--diff` would change"),
    ("2", "usage, or a named file that is missing or unreadable"),
    ("3", "nothing to lint or to fix: no input, or none in a known format"),
    ("4", "internal: a rule crashed, or a repair could not be verified and was not written; the report is not complete"),
)  # fmt: skip


def rules() -> Iterator[str]:
    entries = rulebook.load(BUILTIN)
    yield from ("# Rules", "", MADE, "")
    yield "`turnlint explain CODE` shows one of them. An example marks with `<-` where its finding stands."
    yield ""
    yield "`since` is the version that brought a rule, and says so where it is not *stable*. One in *preview* may still"
    yield "change, and is applied with `--preview`, with `preview: true` in the settings, or where it is selected by its own"
    yield "code or name. One that is *deprecated* will go; who names it is told. A code or a name that a rule had before"
    yield "goes on meaning it, with a word on standard error."
    gone = sorted(rulebook.removed().items())
    for family, about in FAMILIES.items():
        ours = [one for one in entries if one.rule.fault == family]
        if not ours:
            continue
        yield from ("", f"## {family.capitalize()}", "", about, "")
        link = "[{0.code}](#{1}) {0.name}"
        yield from _table(
            ("rule", "severity", "fix", "since", "what it finds"),
            (
                (
                    link.format(one.rule, f"{one.rule.code}-{one.rule.name}".lower()),
                    one.rule.severity,
                    one.rule.fix or "",
                    lived(one.rule),
                    one.headline,
                )
                for one in ours
            ),
        )
        for one in ours:
            yield from _rule(one)
    if gone:
        yield from ("", "## Removed", "", "Rules that are no more.", "")
        yield from _table(("rule", "why"), gone)


def _rule(entry: rulebook.Entry) -> Iterator[str]:
    yield from (
        "",
        f"### {entry.rule.code} {entry.rule.name}",
        "",
        f"{entry.headline[0].upper()}{entry.headline[1:]}.",
        "",
    )
    if entry.rule.state != "stable":
        yield from (f"In the state *{entry.rule.state}* since {entry.rule.since}.", "")
    if entry.rule.aliases:
        yield from (f"Former names: {', '.join(f'`{name}`' for name in entry.rule.aliases)}.", "")
    for line in entry.docs.splitlines():
        heading = line and not line.startswith(" ")
        yield from (f"**{line}**", "") if heading else (line.removeprefix("    "),)
    for title, text in examples_of(entry):
        yield from ("", f"{title}:", "", "```text", *text.removesuffix("\n").split("\n"), "```")


def providers() -> Iterator[str]:
    known = Providers([BUILTIN])
    names = known.names()
    yield from ("# Providers", "", MADE, "")
    yield "Whose rules are known. `turnlint profiles NAME` prints all of one, as YAML that can be changed and given back"
    yield f"with `--profile FILE`. A {UNKNOWN} means that nothing is known."
    yield ""
    rows = [(f"[{name}](#{name})", *_offers(known.versions(name)[0])) for name in names]
    yield from _table(("profile", *(title for _, title in MATRIX[:-1])), rows)
    for name in names:
        yield from _provider(known.versions(name))


def _offers(profile: Profile) -> Iterator[str]:
    return (cell_of(getattr(profile.capabilities, key)) for key, _ in MATRIX[:-1])


def _provider(versions: tuple[Profile, ...]) -> Iterator[str]:
    first = versions[0]
    yield from ("", f"## {first.name}", "", f"{first.title}. Wires: {', '.join(first.wires)}.")
    if first.hosts:
        also = f"; they also take {', '.join(first.host_wires)}" if first.host_wires else ""
        yield f"Hosts: {', '.join(first.hosts)}{also}."
    if first.about:
        yield f"As it holds today: {first.about}."
    yield from ("", *(f"- {quirk}" for quirk in first.capabilities.quirks))
    yield ""
    entries = {one.rule.code: one.rule.name for one in rulebook.load(BUILTIN)}
    yield from _table(
        ("rule", "what it asks for", "severity", "what it answers", "evidence"),
        (
            (f"{one.code} {entries[one.code]}", _asked(one), one.severity, _words(one.says), f"{one.source}, {one.date}")
            for one in sorted(first.clauses, key=lambda one: one.code)
        ),
    )  # fmt: skip
    for other in versions[1:]:
        other_codes, codes = set(other.by_code), set(first.by_code)
        more, less = sorted(other_codes - codes), sorted(codes - other_codes)
        told = [f"also {', '.join(more)}" if more else "", f"not {', '.join(less)}" if less else ""]
        said = "; ".join(filter(None, (other.about, *told)))
        yield from ("", f"`{other.label}`: {said or 'the same rules, with other values'}.")


def _asked(clause: Clause) -> str:
    """What a clause says in words, and its own values."""
    about = " ".join((type(clause).__doc__ or "").split())
    silent = {"rule", *Clause.__struct_fields__} - {"wires", "models", "other_models"}
    values = [
        f"{key.replace('_', ' ')}: {_value(value)}"
        for key, value in to_builtins(clause).items()
        if key not in silent
    ]
    return "; ".join((about.rstrip("."), *values))  # fmt: skip


def _value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value, value)) or "none"
    return _code(value) if isinstance(value, str) else dumps(value)


def _code(text: str) -> str:
    said = " ".join(text.split())
    return said if "`" in said or not said else f"`{said}`"


def _words(says: str) -> str:
    """A provider's text, in which braces that stand for themselves are doubled."""
    return _code(says).replace("{{", "{").replace("}}", "}")


def formats() -> Iterator[str]:
    yield from ("# Formats", "", MADE, "")
    yield "turnlint recognizes the format of each record; `--format NAME` sets one format for all records."
    yield ""
    known = [carrier(name) for name in NAMES]
    yield from _table(
        ("format", "what it is", "read as"), ((f"[{one.name}](#{one.name})", one.title, one.about) for one in known)
    )  # fmt: skip
    for one in known:
        yield from ("", f"## {one.name}", "", f"{one.title}: {one.about}.")
        if find_spec(f"turnlint.writing.{one.name.replace('-', '_')}"):
            record = write(SPOKEN, one.name).record
            yield from ("", "```json", *dumps(record, indent=1, ensure_ascii=False).splitlines(), "```")


def outputs() -> Iterator[str]:
    yield from ("# Outputs", "", MADE, "")
    yield "`turnlint lint --output-format FORMAT` writes to standard output, `--output FORMAT:FILE` to a file as well, and"
    yield "that as often as there are files to write. What follows is written of this log:"
    yield from ("", "```jsonl session.jsonl", *LOG.splitlines(), "```", "")
    yield "No format but `text` shows what was said, and that only on a terminal or with `--show-content`. What is ignored or"
    yield "in a baseline is in none of them; those that have a sum count it."
    for name in FORMATS:
        command = f"turnlint lint session.jsonl --output-format {name}"
        yield from (
            "",
            f"## {name}",
            "",
            "```console",
            f"$ {command}",
            *("..." if len(line) > LONGEST else line for line in _printed(command).splitlines()),
            "```",
        )
    yield from ("", "## Exit codes", "", "They never depend on the output format.", "")
    yield from _table(("exit code", "meaning"), CODES)


def configuration() -> Iterator[str]:
    with open(os.path.join(os.path.dirname(DOCS), "schemas", "config-v1.json"), encoding="utf-8") as file:
        schema = loads(file.read())
    kinds = schema["$defs"]
    yield from ("# Configuration", "", MADE, "", schema["description"])
    for title, kind in (
        ("Keys", schema),
        *((f"`{name}`", kinds[name]) for name in ("section", "ignore", "rule", "condition")),
    ):
        yield from (
            "",
            f"## {title}",
            "",
            *((kind["description"], "") if kind is not schema and "description" in kind else ()),
        )
        yield from _table(
            ("key", "what it says"),
            (
                (
                    f"`{key}`{' (must be there)' if key in kind.get('required', ()) else ''}",
                    _meaning(said, kinds),
                )
                for key, said in kind["properties"].items()
            ),
        )

    yield from ("", "## Variables", "")
    yield "Options of `lint` and `fix` may be set by variables of the environment. An option that is given goes before its"
    yield "variable, and both before the settings. Where an option may be given several times, white space parts its values."
    yield ""
    yield from _table(("variable", "option"), [*_variables("lint"), *_variables("fix")])


def _variables(name: str) -> Iterator[tuple[str, str]]:
    command = cli.get_command(Context(cli), name)
    for option in command.params if command else ():
        if isinstance(option, Option):
            yield (
                ", ".join(f"`{one}`" for one in option.envvar or ()),
                f"`{name} {max(option.opts, key=len)}`",
            )


def _meaning(said: dict[str, Any], kinds: dict[str, Any]) -> str:
    """What a key says, with the names that it takes and what else may be written for it."""
    kind = kinds.get(said.get("$ref", "").rpartition("/")[2], {})
    about = said.get("description") or kind.get("description", "")
    names = said.get("enum") or kind.get("enum") or ()
    examples = said.get("examples") or kind.get("examples") or ()
    default = said.get("default", kind.get("default"))
    held = (
        f" Default: `{default if isinstance(default, str) else dumps(default)}`."
        if default is not None
        else ""
    )
    one_of = f" One of {', '.join(f'`{name}`' for name in names)}." if names else ""
    shown = f" As in {', '.join(f'`{dumps(one)}`' for one in examples)}." if examples else ""
    return f"{about}{one_of}{held}{shown}".strip()


def _printed(command: str) -> str:
    """What a command prints, in a folder that holds the log, and on no particular machine."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GITHUB_", "CI", "TURNLINT"))
    }
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "session.jsonl"), "w", encoding="utf-8", newline="\n") as file:
            file.write(LOG)
        done = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", *command.split()], cwd=folder, capture_output=True, check=False,
            env={**env, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        )  # fmt: skip
    return done.stdout.decode()


def _table(
    headers: Sequence[str], rows: Iterator[tuple[str, ...]] | Sequence[tuple[str, ...]]
) -> Iterator[str]:
    yield f"| {' | '.join(headers)} |"
    yield f"|{'---|' * len(headers)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |".replace("  |", " |")


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "rules": rules,
    "providers": providers,
    "formats": formats,
    "configuration": configuration,
    "outputs": outputs,
}


def page(name: str) -> str:
    return "\n".join(line.rstrip() for line in PAGES[name]()) + "\n"


def main() -> None:
    for name in PAGES:
        with open(os.path.join(DOCS, f"{name}.md"), "w", encoding="utf-8", newline="\n") as file:
            file.write(page(name))


if __name__ == "__main__":
    main()
