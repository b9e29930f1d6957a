"""Conversations in every form in which a file may hold them.

This module owns the bytes around messages: how JSON is written, requests, arrays, logs of a message a line, and the
way back to each conversation's part of a file. It refuses to know how a wire spells a message.
"""

import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from breaking import Talk
from breaking_wires import Spelled, Value, Wire


@dataclass
class Style:
    """How JSON is written: what stands between, and which characters are escaped."""

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
"""Conversations in one file of a message a line; how many may be open in one is limited."""
HOSTS = ("bodies", "arrays", "records", "document", "keyed", "linked")
"""Requests, one a line; arrays of messages, one a line; an array of requests; a request over many lines; a message
a line, with the name of its conversation; and with links between the messages too."""


@dataclass
class Case:
    """One conversation in one form."""

    wire: Wire
    talk: Talk
    done: list[str]
    style: Style
    number: int = 0

    def messages(self) -> list[Spelled]:
        return list(self.wire.spell(self.talk))


def raw_messages(case: Case, host: str) -> list[str]:
    """Each message as the file has it."""
    out: list[str] = []
    previous = None
    own, parent = ("message_id", "parent_message_id") if case.wire.key == "input" else ("id", "parent_id")
    for number, one in enumerate(case.messages()):
        value = one.value
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
    """The record that holds these messages, where one does."""
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
    """The files in which these cases stand, with those that each holds."""
    if host == "document":
        return [
            ((record(one, host, raw_messages(one, host)) + one.style.ending).encode(), [one]) for one in cases
        ]
    if host in ("bodies", "arrays"):
        lines = [record(one, host, raw_messages(one, host)) + one.style.ending for one in cases]
        return [("".join(lines).encode(), cases)]
    if host == "records":
        inside = ",\n".join(record(one, host, raw_messages(one, host)) for one in cases)
        return [(f"[\n{inside}\n]\n".encode(), cases)]
    parts = [cases[start : start + PART] for start in range(0, len(cases), PART)]
    return [("".join(_in_turn(part, host)).encode(), part) for part in parts]


def _in_turn(cases: list[Case], host: str) -> Iterator[str]:
    """Three conversations at a time, line by line in turn."""
    for start in range(0, len(cases), 3):
        some = [
            [raw + one.style.ending for raw in raw_messages(one, host)] for one in cases[start : start + 3]
        ]
        for at in range(max(map(len, some))):
            yield from (one[at] for one in some if at < len(one))


def cut(data: bytes, host: str, cases: list[Case]) -> dict[int, tuple[bytes, list[Value]]]:
    """By the number of each case, its part of a file and its messages."""
    key = cases[0].wire.key
    if host == "document":
        value = json.loads(data)
        return {cases[0].number: (data, value[key])}
    found: dict[int, tuple[bytes, list[Value]]] = {}
    lines = [one for one in data.splitlines(keepends=True) if one.strip()]
    if host == "records":
        json.loads(data)
        lines, host = [one.rstrip().removesuffix(b",") for one in lines[1:-1]], "bodies"
    if host in ("bodies", "arrays"):
        assert len(lines) == len(cases), f"{len(lines)} lines for {len(cases)} cases"
        for case, line in zip(cases, lines, strict=True):
            value = json.loads(line)
            found[case.number] = line, value if host == "arrays" else value[key]
        return found
    by_key: dict[int, list[bytes]] = {one.number: [] for one in cases}
    for line in lines:
        by_key[int(json.loads(line)["session_id"][2:])].append(line)
    return {number: (b"".join(some), [json.loads(one) for one in some]) for number, some in by_key.items()}
