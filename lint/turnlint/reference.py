"""Generate the reference: pages about rules, providers, formats and outputs.

The tables and modules that decide are their source, and the outputs are from runs of the command itself.
`python -m turnlint.reference` writes them into `docs`, and a test checks that they are current. The other pages there
are not generated.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
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
from turnlint.lifecycle import ALL_MARKS, CANCELLATIONS, MEANINGS, PLACEHOLDERS, meaning_of
from turnlint.notation import write
from turnlint.packages import BUILTIN
from turnlint.profiles import Profile
from turnlint.providers import Providers
from turnlint.report import FORMATS

MADE = "<!-- made by `python -m turnlint.reference`; do not edit -->"
FAMILIES = {
    "state": "The log is damaged: records, messages, ids or arguments.",
    "pairing": "Calls and results do not belong together.",
    "projection": "The conversation is complete, but this provider would reject it.",
    "contract": "Calls do not match the declarations of their tools.",
}
SPOKEN = """
    user       What is the weather in Paris?
    assistant
      call     call_1 get_weather {"city": "Paris"}
      result   call_1 (get_weather) 18 degrees
    assistant  It is 18 degrees.
"""
LONGEST = 2_000
"""Length above which a line of an output is omitted: in SARIF the help of all rules is one line."""
LOG = """\
{"id": "s-1", "messages": [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello!"}]}
{"id": "s-2", "messages": [{"role": "user", "content": "Compare Paris and Lyon."}, {"role": "assistant", "content": null, \
"tool_calls": [{"id": "call_a91", "type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}}]}, \
{"role": "user", "content": "In Celsius, please."}, {"role": "tool", "tool_call_id": "call_a91", "content": "18 °C"}]}
"""
SINKS = {
    "text": "The conversation around each finding, for people. Findings that differ only in names are one group.",
    "concise": "One line for each finding, as compilers write them, for editors and `grep`.",
    "json": "One document, `turnlint/report-v1`. `turnlint schema report` prints its JSON Schema.",
    "jsonl": "The findings of `json`, one on each line, and the summary on the last line.",
    "sarif": "SARIF 2.1.0, for GitHub code scanning and similar services. The rules are left out below.",
    "github": "Workflow commands for GitHub Actions: findings appear beside the lines of a file.",
    "github-summary": "Markdown for the summary of a job in GitHub Actions: `--output github-summary:$GITHUB_STEP_SUMMARY`.",
    "gitlab": "A Code Quality report for GitLab.",
    "junit": "Test results for GitLab, Jenkins and others. Each conversation is a test case.",
    "checkstyle": "Checkstyle XML, for Jenkins and others.",
    "rdjson": "One document in the format of reviewdog.",
    "rdjsonl": "One diagnostic on each line, in the format of reviewdog.",
    "markdown": "A page with all findings and a table, for an issue or a merge request.",
}
CODES = (
    ("0", "no findings at or above `--fail-on` (default: `error`)"),
    ("1", "findings at or above it; for `fix`: findings that remain, or files that `--check` or `--diff` would change"),
    ("2", "a usage error, or a file that is missing, unreadable or not writable"),
    ("3", "no input, or no input in a known format"),
    ("4", "an internal error, or a repair that could not be verified and was not written; the report is incomplete"),
)  # fmt: skip


def rules() -> Iterator[str]:
    entries = rulebook.load(BUILTIN)
    yield from ("# Rules", "", MADE, "")
    yield "`turnlint explain CODE` shows one rule. In an example, `<-` marks the place of the finding."
    yield ""
    yield "`fix up to` is the highest level that a repair may need. `since` is the version that added the rule, with its state"
    yield "if it is not *stable*. A rule in *preview* may still change. It runs with `--preview`, with `preview: true` in the"
    yield "settings, or if it is selected by its code or name. A *deprecated* rule will be removed, and turnlint warns if the"
    yield "settings or options name it. Former codes and names of a rule still work, with a warning."
    gone = sorted(rulebook.removed().items())
    for family, about in FAMILIES.items():
        ours = [one for one in entries if one.rule.fault == family]
        if not ours:
            continue
        yield from ("", f"## {family.capitalize()}", "", about, "")
        link = "[{0.code}](#{1}) {0.name}"
        yield from _table(
            ("rule", "severity", "fix up to", "since", "what it finds"),
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
        yield from ("", "## Removed", "", "Rules that no longer exist.", "")
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
    yield "`turnlint lint --provider NAME` applies the rules of a provider. `turnlint profiles NAME` prints them as YAML. Change"
    yield f"a copy and use it with `--profile FILE`. In the table, {UNKNOWN} means unknown."
    yield ""
    rows = [(f"[{name}](#{name})", *_offers(known.versions(name)[0])) for name in names]
    yield from _table(("profile", *(title for _, title in MATRIX[:-1])), rows)
    for name in names:
        yield from _provider(known.versions(name))


def _offers(profile: Profile) -> Iterator[str]:
    return (cell_of(getattr(profile.capabilities, key)) for key, _ in MATRIX[:-1])


def _capabilities(profile: Profile) -> Iterator[tuple[str, str, str]]:
    """Yield each known value with its evidence."""
    for key, title in MATRIX:
        if key in profile.capabilities.told:
            value = "as above" if key == "quirks" else cell_of(profile.capabilities.told[key])
            source, date = profile.capability_sources[key]
            yield title, value, f"{source}, {date}"


def _provider(versions: tuple[Profile, ...]) -> Iterator[str]:
    first = versions[0]
    yield from ("", f"## {first.name}", "", f"{first.title}. Wires: {', '.join(first.wires)}.")
    if first.hosts:
        also = f"; they also accept {', '.join(first.host_wires)}" if first.host_wires else ""
        yield f"Hosts: {', '.join(first.hosts)}{also}."
    if first.about:
        yield f"Current version: {first.about}."
    yield from ("", *(f"- {quirk}" for quirk in first.capabilities.quirks))
    yield ""
    yield from _table(("capability", "value", "evidence"), _capabilities(first))
    yield ""
    entries = {one.rule.code: one.rule.name for one in rulebook.load(BUILTIN)}
    yield from _table(
        ("rule", "requirement", "severity", "error text", "evidence"),
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
    """Describe a clause in words, with its own values."""
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
    """Return a provider's text without the doubling of literal braces."""
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
        if one.writer is not None and one.writer.examples_key:
            record = write(SPOKEN, one.name).record
            yield from ("", "```json", *dumps(record, indent=1, ensure_ascii=False).splitlines(), "```")


FIELDS: dict[str, dict[object, str]] = {
    "complete": {None: "absent", True: "`true`", False: "`false`"},
    "failure": {"none": 'absent, null, `""`', "failed": "an error", "cancelled": "a cancellation"},
    "outcome": {"value": "a value", "placeholder": "a placeholder", "none": "absent, null"},
}
"""The values of `isComplete`, `error` and `result` of the canonical form, by the marks that they are."""


def lifecycle() -> Iterator[str]:
    yield from ("# State of a call", "", MADE, "")
    yield "Each call has one of four states: *pending*, *complete*, *cancelled* (the call was interrupted or cancelled) or *error*."
    yield "The state follows from all marks of the result together. No single mark decides alone."
    yield from ("", "## Definition", "", "The first row that applies decides.", "")
    yield from _table(
        ("state", "reason", "combinations"),
        [
            (one.state, one.reason, f"{sum(meaning_of(marks) is one for marks in ALL_MARKS)}")
            for one in MEANINGS
        ],
    )
    yield from ("", "## All combinations", "")
    yield "The marks are those of a `tool_response` of the canonical form. A call without a response has the state of a"
    yield "response without marks. An error may be beside a partial output; the output stays."
    yield ""
    yield from _table(
        ("`error`", "`result`", "`isComplete`", "state"),
        [
            (*(FIELDS[name][getattr(marks, name)] for name in ("failure", "outcome", "complete")),
             meaning_of(marks).state)
            for marks in ALL_MARKS
        ],
    )  # fmt: skip
    yield from ("", "## Marks of each format", "")
    yield "Without one of these marks a result is complete, unless its text is a placeholder or a cancellation. A result of a"
    yield "wire may be empty: a tool that returns nothing has completed. Only the canonical form has a mark for a result that"
    yield "holds nothing."
    yield ""
    known = [carrier(name) for name in NAMES]
    yield from _table(
        ("format", "mark", "state"),
        [
            (f"[{one.name}](formats.md#{one.name})", f"`{mark}`", state)
            for one in known
            for mark, state in one.states.items()
        ],
    )
    none = ", ".join(one.name for one in known if not one.states)
    yield from ("", f"These formats have no marks: {none}.", "", "## Texts", "")
    yield "A result that begins with one of these texts, or is the text `aborted`, is a placeholder. A repair or an agent wrote it"
    yield "for a missing result."
    yield from ("", *(f"- `{text.decode()}`" for text in PLACEHOLDERS), "")
    yield "A result that begins with one of these texts is a cancellation:"
    yield from ("", *(f"- `{text.decode()}`" for text in CANCELLATIONS), "")
    yield "An error is also a cancellation if its whole text says only this, as `Tool call cancelled by the user.` does. An error"
    yield "that contains such a word among others is an error: a tool may report a cancelled booking."
    yield from ("", "## Equal completions", "")
    yield "Two results of one call are one completion if they have the same state and the same content. Content is compared by"
    yield 'value: the order of keys, white space and escapes do not matter, also in JSON inside a text. `"x"` equals'
    yield '`[{"text": "x"}]`, and `is_error: false` equals no mark. Two cancellations are equal in any words. `fix` keeps the'
    yield "first one at level `lossless`, or at level `lossy` if the words or the keys differ. The journal keeps the other."
    yield "Results that differ in anything else are never merged ([ST107](rules.md#st107-conflicting-results))."
    yield from ("", "## Pending results", "")
    yield "A pending result that holds nothing is completed like a missing result: with a placeholder, whose state is"
    yield "*cancelled*. A partial result is pending too, but a repair does not replace it. At level `lossy`, `fix` adds an"
    yield "error beside it, and the output stays ([ST113](rules.md#st113-inconsistent-lifecycle))."


def outputs() -> Iterator[str]:
    yield from ("# Outputs", "", MADE, "")
    yield "`turnlint lint --output-format FORMAT` sets the format of standard output. `--output FORMAT:FILE` also writes a report"
    yield "to a file, and can be repeated. A report file is written completely or not at all."
    yield ""
    yield "The examples below are the output for this log:"
    yield from ("", "```jsonl session.jsonl", *LOG.splitlines(), "```", "")
    yield "No format except `text` contains message content, and `text` shows it only on a terminal or with `--show-content`."
    yield "Ignored findings and findings in a baseline are not reported. Formats with a summary count them."
    for name in FORMATS:
        command = f"turnlint lint session.jsonl --output-format {name}"
        yield from (
            "",
            f"## {name}",
            "",
            SINKS[name],
            "",
            "```console",
            f"$ {command}",
            *("..." if len(line) > LONGEST else line for line in _printed(command).splitlines()),
            "```",
        )
    yield from ("", "## Exit codes", "", "They do not depend on the output format.", "")
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
            ("key", "meaning"),
            (
                (
                    f"`{key}`{' (required)' if key in kind.get('required', ()) else ''}",
                    _meaning(said, kinds),
                )
                for key, said in kind["properties"].items()
            ),
        )

    yield from ("", "## Variables", "")
    yield "Environment variables set options of `lint` and `fix`. An option on the command line overrides its variable, and both"
    yield "override the settings. White space separates the values of an option that can be repeated."
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
    """Describe a key, with its possible values, its default and examples."""
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
    shown = f" Example: {', '.join(f'`{dumps(one)}`' for one in examples)}." if examples else ""
    return f"{about}{one_of}{held}{shown}".strip()


def _printed(command: str) -> str:
    """Return the output of a command in a folder with the log, independent of the machine."""
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
    "lifecycle": lifecycle,
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
