"""a tool name does not have the format that the provider expects

What it does
    Reports a name that is too long, has invalid characters, or occurs twice where it may not. The name may
    belong to a call, a result, a declared tool or an author. Also reports a server tool that the provider
    does not have. A missing name is `missing-tool-name`.

Why it matters
    The provider rejects the whole request at the first such name.

How it happens
    MCP servers and plug-ins use names with dots, slashes or spaces. One provider allows 200 characters and
    another 64.

What fix does
    lossless: gives the tool one valid and unique name in its calls, their results and its declaration.
    lossless: the same for the name of an author. A `tool_choice` with the old name stays. Change it manually.

Evidence
    OpenAI: "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'". Anthropic's API reference, and
    forgecode 892 for "Tool names must be unique". mistral-common 1.13.0; botocore 1.43.11, ToolName;
    google-genai 3.3.0.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from json import dumps

from msgspec import Struct

from turnlint.api import Case, Example, Finding, Fix, NameForm, Pointer, Put, Rule, quote

RULE = Rule("PR306", "tool-name-form", "error", fix="lossless", triggers=frozenset())

BAD = (
    Example("""
        assistant
          call     call_1 weather.get {"city": "Paris"}   <- PR306
          result   call_1 18 degrees
    """, wires=("openai-chat",), provider="openai"),
)  # fmt: skip
GOOD = (
    Example("""
        assistant
          call     call_1 weather-get_2 {"city": "Paris"}
          result   call_1 18 degrees
    """, wires=("openai-chat",), provider="openai"),
)  # fmt: skip

_WHAT = {"tool": "the declared tool {}", "author": "the author name {}"}


class _Place(Struct, frozen=True):
    """A name in the conversation or the request, and the function that reports it."""

    of: str
    name: str
    report: Callable[..., Finding]
    at: Pointer
    message: int | None = None  # None for a tool of the request
    id: str | None = None
    kind: str = ""


def check(case: Case) -> Iterator[Finding]:
    clauses = [*case.clauses(NameForm, spelled=False)]
    places = [*_places(case)] if clauses else []
    found = [fault for clause in clauses for fault in _found(places, clause)]
    new = _new_names(places, clauses) if found else {}
    first: dict[tuple[str, str], _Place] = {}
    known: dict[str, list[_Place]] = {}
    for place in places:
        known.setdefault(place.name, []).extend([place] if place.of != "server" else ())
    for place, clause, wrong in found:
        name, fix = place.name, None
        if new[name] and clause.of != "server" and not clause.unique:
            is_first = first.setdefault((name, case.severity(clause)), place) is place
            renamed = known[name] if is_first else [place]  # otherwise the cost would be quadratic
            steps = tuple(Put(other.at, dumps(new[name]).encode(), other.message) for other in renamed)
            fix = Fix("lossless", f"rename it to {quote(new[name])} everywhere", steps)
        what = _WHAT.get(place.of, "the tool name {}").format(quote(name)) + (f" of call {quote(place.id)}" if place.id else "")  # fmt: skip
        yield place.report(f"{what} {wrong}", label=wrong, under=clause, told={"name": name, "length": len(name), "most": clause.most}, fix=fix)  # fmt: skip


def _places(case: Case) -> Iterator[_Place]:
    for asked in case.asked:
        for call in (asked.call, *asked.call.also):
            of = "" if call is not asked.call else "server" if call.server else "call"
            if call.name and call.keys.name[-1] != "type":  # a type is the only name of some tools
                at, report = (*call.at, *call.keys.name), partial(RULE.at_call, case, asked, key="name")
                yield _Place(of, call.name, report, at, asked.message, call.id, call.kind)
    for answered, _ in case.answered:
        result = answered.result
        if result.name:
            at, report = (*result.at, *result.keys.name), partial(RULE.at_result, case, answered, key="name")
            yield _Place(
                "result" if case.spelled else "", result.name, report, at, answered.message, result.id
            )
    for tool in getattr(case.transcript.request, "tools", None) or ():
        if tool.kind == "function" and tool.name is not None:
            yield _Place("tool", tool.name, partial(RULE.at_request, case, tool.at), tool.at)
    for index, message in enumerate(case.messages if case.spelled else ()):
        if message.name is not None:
            yield _Place("author", message.name, partial(RULE.at_message, case, index, below=("name",)), ("name",), index)  # fmt: skip


def _found(places: list[_Place], clause: NameForm) -> Iterator[tuple[_Place, NameForm, str]]:
    seen: set[str] = set()
    for place in places:
        if place.of == clause.of and (not clause.kinds or place.kind in clause.kinds):
            wrong = "appears twice" if clause.unique and place.name in seen else _wrong(place.name, clause)
            seen.add(place.name)
            if wrong:
                yield place, clause, wrong


def _wrong(name: str, *clauses: NameForm) -> str:
    for clause in clauses:
        if clause.most and len(name) > clause.most:
            return f"is longer than {clause.most} characters"
        if len(name) < clause.least:
            return f"is shorter than {clause.least} characters"
        if clause.names and name not in clause.names:
            return "is not a tool of this provider"
        if clause.pattern and not re.fullmatch(clause.pattern, name):
            return f"does not have the expected format: {clause.wants}"
    return ""


def _new_names(places: list[_Place], clauses: list[NameForm]) -> dict[str, str]:
    # All clauses, so that no two names become equal.
    checked = [clause for clause in clauses if clause.of != "server"]
    new = {place.name: place.name for place in places if not _wrong(place.name, *checked)}
    taken = set(new)
    for name in (place.name for place in places if place.name not in new):
        valid = (
            spelling
            for spelling in _spellings(name)
            if spelling not in taken and not _wrong(spelling, *checked)
        )
        taken.add(new.setdefault(name, next(valid, "")))
    return new


def _spellings(name: str) -> Iterator[str]:
    from hashlib import sha256  # late: the import costs more than all rules of this family

    for head in ("", "t_"):
        for mark in ("", "_" + sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]):
            for odd in ("[^A-Za-z0-9_.:-]", "[^A-Za-z0-9_-]", "[^A-Za-z0-9_]"):
                yield head + re.sub(odd, "_", name)[: 53 if mark else None] + mark
