"""The rules as SARIF describes them.

This module owns those descriptions, made of what each rule's own file says. All rules are listed, whether they
found something or not: GitHub compares them from run to run. It refuses to know results.
"""

from typing import Any

from turnlint.model import Finding
from turnlint.report.escape import clip, visible
from turnlint.rulebook import OWN, Entry, everything, is_code

LEVELS = {"error": "error", "warning": "warning", "info": "note"}
PROBLEMS = {"error": "error", "warning": "warning", "info": "recommendation"}
PRECISION = {"error": "very-high", "warning": "high", "info": "medium"}
"""No error was ever seen where a provider accepts what it speaks of; warnings hold for some models or versions."""
LONGEST = 1_000
"""GitHub takes 1,024 characters of a description."""


class Rules:
    def __init__(self, own: tuple[Entry, ...]) -> None:
        self.found = [_of_entry(entry) for entry in (*everything(), *own)]
        self.index = {one["id"]: number for number, one in enumerate(self.found)}

    def index_of(self, finding: Finding) -> int:
        """Where the finding's rule stands; one that no package brings is described by what it found."""
        if finding.code not in self.index:
            self.index[finding.code] = len(self.found)
            texts = (finding.rule, finding.rule, finding.rule)
            self.found.append(_described(finding.code, finding.rule, texts, finding.severity, finding.fault))
        return self.index[finding.code]

    def described(self) -> list[dict[str, Any]]:
        return self.found


def _of_entry(entry: Entry) -> dict[str, Any]:
    rule = entry.rule
    short = entry.headline or rule.name
    docs = entry.docs or short
    texts = (short, _first_section(docs) or short, docs)
    former = {
        "deprecatedIds": [name for name in rule.aliases if is_code(name)],
        "deprecatedNames": [name for name in rule.aliases if not is_code(name)],
    }
    described = _described(rule.code, rule.name, texts, rule.severity, rule.fault)
    return described | {key: names for key, names in former.items() if names}


def _described(
    code: str, name: str, texts: tuple[str, str, str], severity: str, family: str
) -> dict[str, Any]:
    short, full, docs = texts
    return {
        "id": code,
        "name": name.removeprefix(OWN),
        "shortDescription": {"text": _sentence(short)},
        "fullDescription": {"text": _sentence(full)},
        "help": {"text": docs, "markdown": _markdown(docs)},
        "defaultConfiguration": {"level": LEVELS[severity]},
        "properties": {
            "tags": [family],
            "precision": PRECISION[severity],
            "problem.severity": PROBLEMS[severity],
        },
    }


def _sentence(words: str) -> str:
    """One line that begins and ends as a sentence does, as GitHub's lists show it."""
    line = clip(visible(" ".join(words.split())), LONGEST)
    return line[:1].upper() + line[1:].rstrip(".") + "."


def _first_section(docs: str) -> str:
    """What stands under the first heading."""
    lines = docs.splitlines()
    after = lines[1:] if lines and not lines[0][:1].isspace() else lines
    body: list[str] = []
    for line in after:
        if line and not line[0].isspace():
            break
        body.append(line)
    return " ".join(" ".join(body).split())


def _markdown(docs: str) -> str:
    lines = [
        line[4:] if line[:1].isspace() else f"### {line}\n" if line else "" for line in docs.splitlines()
    ]
    return "\n".join(lines)
