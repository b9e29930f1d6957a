"""Write GitLab Code Quality: a list of issues for merge requests.

GitLab merges entries with the same fingerprint, so each entry has its own. The format has no columns.
"""

from json import dumps

from turnlint.engine import Crash, Event, Tally
from turnlint.report import Look, Sink, Write
from turnlint.report.escape import in_json, visible
from turnlint.report.paths import shown
from turnlint.report.words import crashed, title
from turnlint.rows import Row

SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


class GitLab:
    """Sink that writes entries immediately: the list may be larger than memory."""

    def __init__(self, write: Write) -> None:
        self.write = write
        self.count = 0

    def take(self, event: Event) -> None:
        if isinstance(event, Row):
            finding = event.finding
            words = f"{title(finding)}: {finding.message}"
            kind = SEVERITIES[finding.severity]
            self._entry(finding.code, words, kind, event.fingerprint, event.path, event.place.line)
        elif isinstance(event, Crash):
            from hashlib import blake2b

            words = crashed(event)
            name = f"{words}\x1f{event.path}\x1f{event.line}".encode(errors="surrogatepass")
            print_of = blake2b(name, digest_size=8).hexdigest()
            self._entry("crash", words, "blocker", print_of, event.path, event.line)

    def _entry(self, check: str, words: str, severity: str, name: str, path: str, line: int) -> None:
        entry = {
            "description": visible(words),
            "check_name": visible(check),
            "fingerprint": name,
            "severity": severity,
            "location": {"path": visible(shown(path)), "lines": {"begin": line}},
        }
        self.write(("[\n" if self.count == 0 else ",\n") + in_json(dumps(entry)))
        self.count += 1

    def finish(self, tally: Tally, *, complete: bool) -> None:  # noqa: ARG002 - the format has no place for a sum
        self.write("\n]\n" if self.count else "[]\n")


def open_sink(_: str, write: Write, __: Look) -> Sink:
    return GitLab(write)
