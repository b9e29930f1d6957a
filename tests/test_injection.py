"""Hostile texts in a transcript or a file name are plain text in every report.

One corpus of such texts goes through all sinks at once.
"""

import json
import os
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from hostile import POISONS, WIRES, hidden_in, lint_in_all_formats
from read_outputs import DIAGNOSTIC, GITLAB, RESULT, SARIF, checkstyle, commands, junit, page
from turnlint.report.escape import visible

PWNED = "pwned"
CORPUS = {
    **{key: value for key, value in POISONS.items() if not key.startswith("long")},
    "workflow command": "\n::error file=x,line=1::pwned\r::stop-commands::pwned\r\n::set-output name=x::pwned",
    "escaped line end": "%0A::error::pwned%0D%250A::add-mask::pwned",
    "end of properties": ",title=pwned::pwned,line=1::",
    "end of CDATA": "]]><script>pwned</script><![CDATA[",
    "XML": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;&#0;&#x1b;</failure><failure a="\'>',
    "no XML": "\x00\x01\x08\x0b\x0c\x0e\x1f\ufffe\uffff\U0001fffe",
    "HTML": '<img src=x onerror=pwned><a href="javascript:pwned">x</a><!-- pwned -->&lt;b&gt;',
    "Markdown": "[pwned](https://example.com) ![pwned](https://example.com/x.png) **b** _i_ ~~s~~ [1]: https://pwned",
    "Markdown blocks": "\n# pwned\n- pwned\n> pwned\n```\npwned\n```\n|a|b|\n|-|-|\n\n    pwned",
    "Markdown fences": "` `` ``` pwned ```` ` \\` \\| | <b>pwned</b> `",
    "mentions and links": "@pwned #1 https://pwned.example www.pwned.example pwned@example.com :tada: GH-1",
    "links of SARIF": "[pwned](https://pwned.example) [line 1](1) {0} {1}",
    "bidi": "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c pwned",
    "surrogates": "\ud800 \udc00 \udfff\ud83d pwned",
}
NAMES = (
    b"\xff\xfe\x80.jsonl",
    b"a\n::error::pwned.jsonl",
    b"::error::pwned.jsonl",
    b"%0A,title=pwned::.jsonl",
    b"]]>&<b>'\".jsonl",
    b"`[x](www.pwned.example)` @pwned.jsonl",
    "\u202egnp\u2066.jsonl".encode(),
    b"\x1b[31m.jsonl",
    b"C:x.jsonl",
)
TAGS = {"h1", "p", "strong", "ul", "li", "br", "table", "thead", "tbody", "tr", "th", "td"}


def _write_corpus(folder: Path) -> None:
    folder.mkdir()
    logs = [
        "".join(json.dumps(record) + "\n" for record in WIRES[wire](text))
        for text in CORPUS.values()
        for wire in WIRES
    ]
    for number, log in enumerate(logs):
        name = NAMES[number % len(NAMES)]
        with open(
            os.path.join(os.fsencode(folder), b"%d" % number + name if number >= len(NAMES) else name), "wb"
        ) as file:
            file.write(log.encode("utf-8", "surrogatepass"))


@pytest.mark.slow
def test_no_text_becomes_markup_a_command_or_a_control_character_in_any_report(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    _write_corpus(folder)
    reports = lint_in_all_formats(
        "logs", "--show-content", "full", folder=tmp_path, cwd=tmp_path, timeout=120
    )
    texts = {kind: report.decode() for kind, report in reports.items()}
    found = json.loads(texts["json"])["findings"]
    assert len({item["path"] for item in found}) > 100
    _is_valid_for_its_readers(texts, found)
    _is_no_markup(texts)
    found_commands = commands(texts["github"])
    assert len(found_commands) <= 30
    assert {command.name for command in found_commands} <= {"error", "warning", "notice"}
    assert not any(
        hidden_in(value)
        for command in found_commands
        for value in (*command.properties.values(), *command.message.split("\n"))
    )
    assert {command.properties["file"] for command in found_commands if "file" in command.properties} <= {
        visible(item["path"]) for item in found
    }
    messages = {visible(item["message"]) for item in found}
    assert all(
        command.message.split("\n")[0] in messages
        for command in found_commands
        if "file" in command.properties
    )
    assert [
        command
        for command in found_commands
        if "title" not in command.properties or command.properties["title"] == PWNED
    ] == []


def _is_valid_for_its_readers(texts: dict[str, str], found: list[dict[str, Any]]) -> None:
    document = json.loads(texts["sarif"])
    assert [error.message[:200] for error in SARIF.iter_errors(document)] == []
    (run,) = document["runs"]
    assert len(run["results"]) == min(len(found), 5000)
    for result in run["results"]:
        message = result["message"]["text"]
        for target in re.findall(r"(?<!\\)\]\((.*?)\)", message):
            assert int(target) <= len(result["relatedLocations"]), message
        assert re.fullmatch(
            r"[A-Za-z0-9%/._~-]+", result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        )
    entries = json.loads(texts["gitlab"])
    GITLAB.validate(entries)
    diagnostics = [json.loads(line) for line in texts["rdjsonl"].splitlines()]
    assert len(entries) == len(diagnostics) == len(found)
    for one in diagnostics:
        DIAGNOSTIC.validate(one)
    document = json.loads(texts["rdjson"])
    RESULT.validate(document)
    assert document["diagnostics"] == diagnostics
    errors = checkstyle(texts["checkstyle"])
    assert [path for path, _ in errors] == [diagnostic["location"]["path"] for diagnostic in diagnostics]
    assert [one["message"] for _, one in errors] == [diagnostic["message"] for diagnostic in diagnostics]
    strings = [text for part in (run["results"], entries, diagnostics) for text in _strings(part)]
    assert not [text for text in strings if hidden_in(text)]
    suites = junit(texts["junit"])
    assert {item.tag for item in suites.iter()} <= {
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
        "system-out",
        "skipped",
    }
    assert len(list(suites)) == len(CORPUS) * len(WIRES)


def _is_no_markup(texts: dict[str, str]) -> None:
    for kind in ("markdown", "github-summary"):
        shown, _ = page(texts[kind])
        assert set(re.findall(r"<\s*/?\s*([A-Za-z!?][A-Za-z0-9]*)", shown)) <= TAGS
        assert not re.search(r"<[a-z0-9]+\s+(?!style=\"text-align)[^>]", shown)
        plain = unescape(re.sub(r"<[^>]*>", "", shown))
        assert PWNED not in plain
        assert not re.search(r"[@#<>*_\[\]|~\\]|://|www\.", plain), kind


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _strings(part)]
