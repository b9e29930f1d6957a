"""Conversations in every form in which a file can hold them.

Writes the bytes around messages: JSON style, requests, arrays, logs with a message per line. Finds the part of a file
that holds each conversation. Independent of the spelling of messages.
"""

import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from breaking import Conversation
from breaking_wires import Spelled, Value, Wire


@dataclass
class Style:
    """Style of JSON: the separators, and which characters are escaped."""

    separators: tuple[str, str]
    ascii: bool
    slashes: bool
    indent: int | str | None = None
    ending: str = "\n"

    def dump(self, value: Any) -> str:
        text = json.dumps(value, separators=self.separators, ensure_ascii=self.ascii, indent=self.indent)
        return text.replace("/", "\\/") if self.slashes else text


def style(rng: Random, *, pretty: bool = False) -> Style:
    indents: list[int | str] = [2, 4, "\t", 1]
    return Style(
        rng.choice([(", ", ": "), (",", ":"), (" ,", " : ")]) if not pretty else rng.choice([(",", ": "), (",", ":")]),
        rng.random() < 0.5, rng.random() < 0.3, rng.choice(indents) if pretty else None,
        rng.choice(["\n", "\n", "\r\n"]),
    )  # fmt: skip


PART = 600
"""Conversations in one file with a message per line; the number of open conversations is limited."""
HOSTS = ("bodies", "arrays", "records", "document", "keyed", "linked")
"""Requests, one per line; arrays of messages, one per line; an array of requests; a request over many lines; a message
per line with the name of its conversation; the same with links between the messages.
"""


@dataclass
class Case:
    """One conversation in one form."""

    wire: Wire
    conversation: Conversation
    done: list[str]
    style: Style
    number: int = 0

    def messages(self) -> list[Spelled]:
        return list(self.wire.spell(self.conversation))


def raw_messages(case: Case, host: str) -> list[str]:
    """Each message as the file spells it."""
    out: list[str] = []
    previous = None
    own, parent = ("message_id", "parent_message_id") if case.wire.key == "input" else ("id", "parent_id")
    for number, message in enumerate(case.messages()):
        value = message.value
        if host in ("keyed", "linked"):
            links = {own: f"m-{case.number}-{number}", parent: previous} if host == "linked" else {}
            value = {"session_id": f"s-{case.number}", **links, **value}
            previous = f"m-{case.number}-{number}"
        text = case.style.dump(value)
        if host == "document":
            assert case.style.indent is not None
            step = " " * case.style.indent if isinstance(case.style.indent, int) else case.style.indent
            text = textwrap.indent(text, step * 2).lstrip().replace("\n", case.style.ending)
        out.append(text)
    return out


def record(case: Case, host: str, raws: list[str]) -> str:
    """The record with these messages, for a form with a record per conversation."""
    if host == "arrays":
        return "[" + case.style.separators[0].join(raws) + "]"
    if host in ("bodies", "records"):
        inside = case.style.separators[0].join(raws)
        return case.style.dump({**case.wire.body, case.wire.key: "@@"}).replace('"@@"', f"[{inside}]")
    whole = case.style.dump({**case.wire.body, case.wire.key: ["@@"]})
    between = re.search(r'\[(\s+)"@@"', whole)
    assert between is not None
    whole = whole.replace('"@@"', f",{between[1]}".join(["@@"] * len(raws))).replace("\n", case.style.ending)
    for raw in raws:
        whole = whole.replace("@@", raw, 1)
    return whole


def files(cases: list[Case], host: str) -> list[tuple[bytes, list[Case]]]:
    """The files with these cases, each with its cases."""
    if host == "document":
        return [
            ((record(case, host, raw_messages(case, host)) + case.style.ending).encode(), [case])
            for case in cases
        ]
    if host in ("bodies", "arrays"):
        lines = [record(case, host, raw_messages(case, host)) + case.style.ending for case in cases]
        return [("".join(lines).encode(), cases)]
    if host == "records":
        inside = ",\n".join(record(case, host, raw_messages(case, host)) for case in cases)
        return [(f"[\n{inside}\n]\n".encode(), cases)]
    parts = [cases[start : start + PART] for start in range(0, len(cases), PART)]
    return [("".join(_in_turn(part, host)).encode(), part) for part in parts]


def _in_turn(cases: list[Case], host: str) -> Iterator[str]:
    """Interleave the lines of three conversations at a time."""
    for start in range(0, len(cases), 3):
        some = [
            [raw + case.style.ending for raw in raw_messages(case, host)] for case in cases[start : start + 3]
        ]
        for at in range(max(map(len, some))):
            yield from (item[at] for item in some if at < len(item))


def cut(data: bytes, host: str, cases: list[Case]) -> dict[int, tuple[bytes, list[Value]]]:
    """The part of a file and the messages of each case, by the number of the case."""
    key = cases[0].wire.key
    if host == "document":
        value = json.loads(data)
        return {cases[0].number: (data, value[key])}
    found: dict[int, tuple[bytes, list[Value]]] = {}
    lines = [line for line in data.splitlines(keepends=True) if line.strip()]
    if host == "records":
        json.loads(data)
        lines, host = [line.rstrip().removesuffix(b",") for line in lines[1:-1]], "bodies"
    if host in ("bodies", "arrays"):
        assert len(lines) == len(cases), f"{len(lines)} lines for {len(cases)} cases"
        for case, line in zip(cases, lines, strict=True):
            value = json.loads(line)
            found[case.number] = line, value if host == "arrays" else value[key]
        return found
    by_key: dict[int, list[bytes]] = {case.number: [] for case in cases}
    for line in lines:
        by_key[int(json.loads(line)["session_id"][2:])].append(line)
    return {number: (b"".join(some), [json.loads(item) for item in some]) for number, some in by_key.items()}
