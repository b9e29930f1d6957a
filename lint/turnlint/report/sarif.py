"""Write SARIF 2.1.0 with all fields that GitHub code scanning requires.

GitHub keeps the worst 5,000 results of a run. So the report has no more, chosen the same way, and a
notification counts the others. There is no `automationDetails`: an id in the file would hide the `category`
of the upload action (github/codeql-action, upload-lib, 2026-11). Columns are in characters. Texts are visible
ASCII, and link only to positions of the same result. Ignored findings and those of a baseline are counted in
a notification and not sent as suppressed results. GitHub would open an alert for each (github/codeql-action
issue 1230, 2022-09, and reports of others until 2026-08).
"""

from collections import Counter
from json import dumps
from typing import Any

from turnlint import __version__
from turnlint.engine import Crash, Event, Skipped, Tally
from turnlint.model import SEVERITIES, Finding
from turnlint.neighbours import reason_of
from turnlint.report import Look, Sink, Write
from turnlint.report.escape import clip, in_json, visible
from turnlint.report.paths import address
from turnlint.report.sarif_rules import LEVELS, Rules
from turnlint.report.words import answer, counted, crashed, known, left_out, repair, skipped
from turnlint.rows import Place, Row
from turnlint.text import pluralize

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST = 5_000
MOST_CRASHES = 100
MOST_RELATED = 20
LONGEST = 1_000
ROOT = "%SRCROOT%"


class Sarif:
    def __init__(self, write: Write, look: Look) -> None:
        self.write = write
        self.rules = Rules(look.own)
        self.kept: dict[str, list[str]] = {severity: [] for severity in SEVERITIES}
        self.left: Counter[tuple[str, str]] = Counter()
        """Number of results above the limit, by severity and rule."""
        self.codes: dict[str, list[str]] = {severity: [] for severity in SEVERITIES}
        self.crashes: list[Crash] = []
        self.more_crashes = 0
        self.skipped: Counter[str] = Counter()

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            self._keep(event)
        elif isinstance(event, Crash):
            if len(self.crashes) < MOST_CRASHES:
                self.crashes.append(event)
            else:
                self.more_crashes += 1
        elif isinstance(event, Skipped):
            self.skipped[reason_of(event.near)] += 1

    def _keep(self, row: Row) -> None:
        """Keep a result; if the limit is reached, it replaces the last of the mildest results."""
        severity, code = row.finding.severity, row.finding.code
        if sum(map(len, self.kept.values())) >= MOST:
            mildest = next(kind for kind in reversed(SEVERITIES) if self.kept[kind])
            if SEVERITIES.index(mildest) <= SEVERITIES.index(severity):
                self.left[severity, code] += 1
                return
            self.kept[mildest].pop()
            self.left[mildest, self.codes[mildest].pop()] += 1
        self.kept[severity].append(in_json(dumps(self._result(row))))
        self.codes[severity].append(code)

    def _result(self, row: Row) -> dict[str, Any]:
        finding = row.finding
        related = row.related[:MOST_RELATED]
        name = row.fingerprint if ":" in row.fingerprint else f"{row.fingerprint}:1"
        return {
            "ruleId": finding.code,
            "ruleIndex": self.rules.index_of(finding),
            "level": LEVELS[finding.severity],
            "message": {"text": _message(finding, related)},
            "locations": [_location(row.path, row.place)],
            "relatedLocations": [
                {"id": number, **_location(row.path, place), "message": {"text": _text(note)}}
                for number, (note, place) in enumerate(related, 1)
            ],
            "partialFingerprints": {"primaryLocationLineHash": name, "turnlint/v1": row.fingerprint},
            "properties": _properties(finding, row.place),
        }

    def finish(self, tally: Tally, *, complete: bool) -> None:
        driver = {
            "name": "turnlint",
            "version": __version__,
            "semanticVersion": __version__,
            "rules": self.rules.described(),
        }
        invocation = {
            "executionSuccessful": complete,
            "toolExecutionNotifications": self._notifications(tally, complete=complete),
        }
        run = {
            "tool": {"driver": driver},
            "invocations": [invocation],
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {ROOT: {"description": {"text": "The folder that turnlint ran in."}}},
        }
        self.write(f'{{\n"$schema": "{SCHEMA}",\n"version": "2.1.0",\n"runs": [{{\n')
        for key, value in run.items():
            self.write(f'"{key}": {in_json(dumps(value))},\n')
        self.write('"results": [')
        between = "\n"
        for severity in SEVERITIES:
            for result in self.kept[severity]:
                self.write(between + result)
                between = ",\n"
        self.write("\n]}]}\n")

    def _notifications(self, tally: Tally, *, complete: bool) -> list[dict[str, Any]]:
        told = [_notification("error", crashed(one), one) for one in self.crashes]
        if not complete and not told:
            told.append(_notification("error", left_out(tally)))
        if self.more_crashes:
            told.append(
                _notification(
                    "error", f"{pluralize(self.more_crashes, 'more crash', 'more crashes')} of rules"
                )
            )
        if self.left:
            by_severity = dict.fromkeys(SEVERITIES, 0) | dict(_by_severity(self.left))
            rules = ", ".join(f"{code} {count:,}" for code, count in sorted(_by_code(self.left).items()))
            words = f"{counted(by_severity)} left out: GitHub keeps the {MOST:,} worst results of a run. Left out: {rules}"
            told.append(_notification("warning", words))
        if unsent := known(tally):
            told.append(_notification("note", f"not shown: {unsent}"))
        if self.skipped:
            told.append(_notification("note", skipped(self.skipped)))
        return told


def _by_severity(left: Counter[tuple[str, str]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (severity, _), count in left.items():
        found[severity] += count
    return found


def _by_code(left: Counter[tuple[str, str]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (_, code), count in left.items():
        found[code] += count
    return found


def _notification(level: str, words: str, crash: Crash | None = None) -> dict[str, Any]:
    where = {"locations": [_place(crash.path, {"startLine": crash.line})]} if crash else {}
    return {"level": level, "message": {"text": _text(words) + "."}, **where}


def _message(finding: Finding, related: tuple[tuple[str, Place], ...]) -> str:
    """Return the message, then links to related positions, then the answer of the provider."""
    here = f" (at {finding.provider})" if finding.fault == "projection" and finding.provider else ""
    sentences = [_text(finding.message + here)]
    places = [
        f"{_text(note)}: [line {place.line}, column {place.column}]({number})"
        for number, (note, place) in enumerate(related, 1)
    ]
    sentences += ["; ".join(places)] if places else []
    sentences += [_text(words) for words in (answer(finding), repair(finding)) if words]
    return " ".join(sentence.rstrip(".") + "." for sentence in sentences)


def _text(words: str) -> str:
    """Return a visible text without links."""
    shown = clip(visible(" ".join(words.split())), LONGEST)
    return shown.replace("[", "\\[").replace("]", "\\]") if "](" in shown else shown


def _location(path: str, place: Place) -> dict[str, Any]:
    region = {"startLine": place.line, "startColumn": place.column}
    if place.span:
        end = place.span[1]
        region |= {"endLine": end.line, "endColumn": end.column}
    located = _place(path, region)
    if place.pointer:
        located["logicalLocations"] = [
            {"fullyQualifiedName": clip(visible(place.pointer), LONGEST), "kind": "value"}
        ]
    return located


def _place(path: str, region: dict[str, int]) -> dict[str, Any]:
    uri, below = address(path)
    artifact = {"uri": uri, "uriBaseId": ROOT} if below else {"uri": uri}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def _properties(finding: Finding, place: Place) -> dict[str, Any]:
    found = {
        "byteOffset": place.offset,
        "byteEnd": place.end,
        "provider": finding.provider,
        "conversation": finding.conversation,
        "messageIndex": finding.message_index,
        "callId": finding.call_id,
        "tool": finding.tool,
        "fix": finding.fix.level if finding.fix else None,
    }
    return {
        key: clip(visible(value), 200) if isinstance(value, str) else value
        for key, value in found.items()
        if value is not None
    }


def open_sink(_: str, write: Write, look: Look) -> Sink:
    return Sarif(write, look)
