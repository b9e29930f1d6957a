"""Read the reports with independent implementations of their consumers.

The readers parse commands in a log as GitHub's runner does, and check the rules of its code scanning. They also have
the schemas of GitLab and reviewdog, a reader of JUnit, and a renderer of Markdown.
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

SARIF = Draft202012Validator(
    json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0.json").read_bytes())
)
ROOT = "%SRCROOT%"

GITLAB = Draft202012Validator({
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{16}(:[0-9]+)?$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^(?!/|\\./)"},
                    "lines": {"required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}},
                },
            },
        },
    },
})  # fmt: skip
"""The requirements of GitLab's page on code quality for a report (read 2026-11)."""

_POSITION = {
    "type": "object",
    "properties": {"line": {"type": "integer", "minimum": 1}, "column": {"type": "integer", "minimum": 1}},
    "required": ["line"],
    "additionalProperties": False,
}
DIAGNOSTIC = Draft202012Validator({
    "type": "object",
    "additionalProperties": False,
    "required": ["message", "location"],
    "properties": {
        "message": {"type": "string", "minLength": 1},
        "location": {
            "type": "object",
            "required": ["path"],
            "properties": {
                "path": {"type": "string"},
                "range": {
                    "type": "object",
                    "required": ["start"],
                    "properties": {"start": _POSITION, "end": _POSITION},
                    "additionalProperties": False,
                },
            },
        },
        "severity": {"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]},
        "source": {"properties": {"name": {"type": "string"}, "url": {"type": "string"}}},
        "code": {"properties": {"value": {"type": "string"}, "url": {"type": "string"}}},
    },
})  # fmt: skip
"""`Diagnostic` of reviewdog's protocol (proto/rdf/reviewdog.proto, read 2026-11)."""
RESULT = Draft202012Validator({
    "type": "object",
    "additionalProperties": False,
    "required": ["source", "diagnostics"],
    "properties": {
        "source": {"const": {"name": "turnlint"}},
        "diagnostics": {"type": "array", "items": DIAGNOSTIC.schema},
    },
})  # fmt: skip
"""`DiagnosticResult` of the same."""


def sarif(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    assert [error.message[:300] for error in SARIF.iter_errors(document)] == []
    assert list(_missing_for_github(document)) == []
    return document


def _missing_for_github(document: dict[str, Any]) -> list[str]:
    """The required properties of GitHub's page on SARIF, and its limits (read 2026-11)."""
    missing = [key for key in ("$schema", "version", "runs") if not document.get(key)]
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    for rule in rules:
        for path in ("id", "shortDescription.text", "fullDescription.text", "help.text", "help.markdown"):
            value: Any = rule
            for key in path.split("."):
                value = value.get(key, {})
            if not isinstance(value, str) or not value.strip() or ("Desc" in path and len(value) > 1024):
                missing.append(f"{rule['id']} {path}")
        if len(rule["name"]) > 255 or len(rule["properties"]["tags"]) > 10:
            missing.append(f"{rule['id']} is too long")
    if len(run["results"]) > 5000 or len(rules) > 25_000:
        missing.append("too many")
    for number, result in enumerate(run["results"]):
        place = result["locations"][0]["physicalLocation"]
        region = place["region"]
        start, end = ((region[f"{edge}Line"], region[f"{edge}Column"]) for edge in ("start", "end"))
        found = {
            "message": result["message"]["text"].strip(),
            "rule": rules[result["ruleIndex"]]["id"] == result["ruleId"],
            "hash": re.fullmatch(
                r"[0-9a-f]{16}:[0-9]+", result["partialFingerprints"]["primaryLocationLineHash"]
            ),
            "uri": re.fullmatch(r"[A-Za-z0-9%/._~-]+", place["artifactLocation"]["uri"]),
            "root": place["artifactLocation"]["uriBaseId"] == ROOT,
            "region": (1, 1) <= start <= end,
        }
        missing += [f"{number} {key}" for key, value in found.items() if not value]
        ids = {location["id"] for location in result["relatedLocations"]}
        linked = {int(item) for item in re.findall(r"(?<!\\)\]\(([0-9]+)\)", result["message"]["text"])}
        if linked != ids or len(result["relatedLocations"]) > 100:
            missing.append(f"{number} links {linked}, has {ids}")
        if re.search(r"(?<!\\)\]\((?![0-9]+\))", result["message"]["text"]):
            missing.append(f"{number} has a link to elsewhere")
    return missing


class Command(NamedTuple):
    name: str
    properties: dict[str, str]
    message: str


def commands(text: str) -> list[Command]:
    """The commands in a log, parsed as by the runner (actions/runner, ActionCommand)."""
    found: list[Command] = []
    for line in re.split(r"\r\n|\r|\n", text):
        start = line.strip()
        if not start.startswith("::"):
            continue
        head, _, message = start[2:].partition("::")
        name, _, written = head.partition(" ")
        pairs = [pair.partition("=") for pair in written.split(",") if pair]
        unescaped = {key.strip(): _unescaped(value) for key, _, value in pairs}
        assert len(unescaped) == len(pairs), line
        found.append(Command(name, unescaped, _unescaped(message)))
    return found


def _unescaped(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def junit(text: str) -> ET.Element:
    """The suites, if their counts agree with their cases."""
    root = ET.fromstring(text.encode("ascii"))  # noqa: S314 - the test checks that the document is harmless
    assert root.tag == "testsuites"
    for suite in root:
        cases = suite.findall("testcase")
        counted = {"failures": "failure", "errors": "error", "skipped": "skipped"}
        assert int(suite.attrib["tests"]) == len(cases) == len(suite)
        for key, tag in counted.items():
            assert int(suite.attrib[key]) == sum(case.find(tag) is not None for case in cases)
        assert not {"time", "timestamp", "hostname"} & {key for item in suite.iter() for key in item.attrib}
    return root


def checkstyle(text: str) -> list[tuple[str, dict[str, str]]]:
    """The errors with their files, if the document has the structure of Checkstyle."""
    root = ET.fromstring(text.encode("ascii"))  # noqa: S314 - the test checks that the document is harmless
    assert (root.tag, root.attrib) == ("checkstyle", {"version": "4.3"})
    found = []
    for file in root:
        assert (file.tag, set(file.attrib)) == ("file", {"name"})
        for item in file:
            assert (item.tag, len(item)) == ("error", 0)
            assert set(item.attrib) == {"line", "column", "severity", "message", "source"}
            assert int(item.attrib["line"]) >= 0
            assert int(item.attrib["column"]) >= 1
            assert item.attrib["severity"] in {"error", "warning", "info"}
            assert re.fullmatch(r"turnlint(\.[a-z]+(\.[A-Za-z0-9/-]+)?)", item.attrib["source"])
            found.append((file.attrib["name"], dict(item.attrib)))
        assert len(file)
    return found


def page(text: str) -> tuple[str, list[str]]:
    """The text that a Markdown page shows outside of code, and the text that it shows as code."""
    markdown = pytest.importorskip("markdown_it").MarkdownIt("commonmark", {"html": True}).enable("table")
    shown = markdown.render(text).replace("&quot;", '"')
    code = re.findall(r"<code>(.*?)</code>", shown, re.DOTALL)
    return re.sub(r"<code>.*?</code>", "", shown, flags=re.DOTALL), code
