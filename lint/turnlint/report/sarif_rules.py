"""Describe the rules for SARIF, from the text of each rule's module.

All rules are listed, with or without findings: GitHub compares the lists of runs.
"""

from typing import Any

from turnlint.model import Finding
from turnlint.report.escape import clip, visible
from turnlint.rulebook import OWN, Entry, everything, is_code

LEVELS = {"error": "error", "warning": "warning", "info": "note"}
PROBLEMS = {"error": "error", "warning": "warning", "info": "recommendation"}
PRECISION = {"error": "very-high", "warning": "high", "info": "medium"}
"""No provider is known to accept a request with an error; warnings apply to some models or versions."""
LONGEST = 1_000
"""Limit of a description; that of GitHub is 1,024 characters."""


class Rules:
    def __init__(self, own: tuple[Entry, ...]) -> None:
        self.found = [_of_entry(entry) for entry in (*everything(), *own)]
        self.index = {one["id"]: number for number, one in enumerate(self.found)}

    def index_of(self, finding: Finding) -> int:
        """Return the index of the finding's rule; an unknown rule gets a description from the finding."""
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
    """Return one line with the capital and the full stop of a sentence, for the lists of GitHub."""
    line = clip(visible(" ".join(words.split())), LONGEST)
    return line[:1].upper() + line[1:].rstrip(".") + "."


def _first_section(docs: str) -> str:
    """Return the text under the first heading."""
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
