"""Write the description of a file for people, as a table of two columns.

All text of a file passes through `report/escape.py`.
"""

from collections.abc import Iterable, Iterator

from turnlint.inspecting.facts import (
    Container,
    Content,
    Evidence,
    Example,
    Inspection,
    Key,
    Look,
    Names,
    Place,
    Provider,
    Recognition,
    Unknown,
)
from turnlint.report.escape import clip, fold, line_start, visible
from turnlint.report.words import noted
from turnlint.text import pluralize

LABEL = 13
LEAST_WIDTH = 40
LONGEST_NAME = 60
LONGEST_EXCERPT = 200
MOST_NAMES = 8
MOST_EVIDENCE = 2

LAYOUTS = {
    "lines": "one record per line",
    "array": "an array of records",
    "document": "one JSON document",
    "documents": "several JSON documents",
    "nothing": "no records",
}
WRITTEN = {
    "text": "JSON in a string",
    "object": "a JSON object",
    "absent": "none",
    "null": "null",
    "list": "a JSON array",
    "other": "another JSON value",
    "free text": "free text",
    "xml": "XML",
}
Line = tuple[str, str]


def text_of(one: Inspection, width: int) -> str:
    limit = max(width, LEAST_WIDTH)
    if one.content is None and not one.named:
        near = one.unknown.sentence.partition(";")[0] if one.unknown and one.unknown.near else ""
        words = f"unrecognized format: it {near}" if near else "unrecognized format"
        return "\n".join(fold(f"{line_start(one.path)}: {words}", limit, "  ")) + "\n"
    lines = fold(line_start(one.path), limit, "  ")
    for label, text in _lines(one):
        for number, piece in enumerate(fold(text, limit - LABEL - 2, "")):
            lines.append(f"  {'' if number else label:<{LABEL}}{_still(piece)}")
    return "\n".join(lines) + "\n"


def _still(piece: str) -> str:
    """Return a text that is safe at the start of a line: a build runner would execute `::` there."""
    return f"\\u{{3a}}{piece[1:]}" if piece.startswith("::") else piece


def _lines(one: Inspection) -> Iterator[Line]:
    yield "file", _container(one.container)
    if one.damage:
        kinds = ", ".join(_counted(name, count) for name, count in one.damage.items())
        yield "damage", f"in {pluralize(one.damaged_records, 'record')}: {kinds}; `turnlint lint` shows where"
    if one.content is not None:
        yield from _recognised(one.recognition)
        yield from _content(one.content)
    if one.unknown is not None:
        yield from _unknown(one.unknown, one.recognition)


def _container(found: Container) -> str:
    size = f"{found.size:,} bytes"
    if found.packing:
        size += f" of {found.packing}, {found.unpacked:,} unpacked"
    many = f", {pluralize(found.records, 'record')}" if found.records else ""
    return f"{LAYOUTS[found.layout]}: {size}{many}"


def _recognised(found: Recognition) -> Iterator[Line]:
    chosen = found.format
    assert chosen
    name = f"{chosen.format} ({chosen.title})"
    if found.told:
        yield "format", f"{name}, set by --format"
        return
    yield "format", name
    own = "" if chosen.own else "no key is unique to one format; "
    yield "evidence", f"{own}{_evidence(chosen)}; records examined: {found.sampled:,}"
    for other in found.others[:MOST_EVIDENCE]:
        yield "", f"next, {other.format}: {_evidence(other)}"


def _evidence(one: Evidence) -> str:
    ways = (
        (one.own, "keys of this format only"),
        (one.possible, "keys shared by several formats"),
        (one.against, "keys of other formats"),
    )
    return "; ".join(f"{words} in {pluralize(count, 'record')}" for count, words in ways if count)


def _content(found: Content) -> Iterator[Line]:
    if len(found.formats) > 1:
        yield "mixed", ", ".join(_counted(name, count) for name, count in found.formats.items())
    yield (
        "wire",
        ", ".join(_counted(name, count, least=2) for name, count in found.wires.items()) or "none found",
    )
    yield from _grouping(found)
    for one in found.providers[:MOST_NAMES]:
        yield "provider", _provider(one)
    yield "models", _names(found.models) or "none"
    yield from _counts(found)
    for what, count in found.noted.items():
        yield "note", noted(what, count)
    yield "tools", _names(found.tools) or "none"
    yield from _ids(found)
    if found.arguments:
        written = ((WRITTEN.get(name, name), count) for name, count in found.arguments.items())
        yield "arguments", ", ".join(f"{name} {count:,}" for name, count in written)
    for label, counts in (("parsers", found.tooling.parsers), ("schema style", found.tooling.schema_styles)):
        if counts:
            yield label, _most(counts)
    if found.example is not None:
        yield from _example(found.example)
    for number, quirk in enumerate(found.quirks):
        place = f"; first at {_place(quirk.first)}" if quirk.first else ""
        yield "" if number else "quirks", f"{quirk.name} {quirk.count:,}: {quirk.what}{place}"
    yield from _able(found)


def _most(counts: dict[str, int]) -> str:
    """Return the most frequent names with their counts."""
    some = [_counted(name, count) for name, count in counts.items()]
    more = f", {len(some) - MOST_NAMES:,} more" if len(some) > MOST_NAMES else ""
    return ", ".join(some[:MOST_NAMES]) + more


def _grouping(found: Content) -> Iterator[Line]:
    grouping = found.grouping
    ways = (
        (grouping.record, "within one record"),
        (grouping.lines, "one message per record"),
        (grouping.session, "session of many records"),
    )
    said = ", ".join(f"{count:,} {words}" for count, words in ways if count)
    yield "grouping", pluralize(grouping.conversations, "conversation") + (f": {said}" if said else "")
    for part in grouping.left_behind:
        yield "not replayed", f"{pluralize(part.messages, 'message')}: {_name(part.why)}"
    if grouping.more_left_behind:
        yield "", f"{pluralize(grouping.more_left_behind, 'more part')}"


def _provider(one: Provider) -> str:
    because = ", ".join(map(_name, one.because))
    if one.provider is None:
        return f"no supported provider{f' ({because})' if because else ''}: {pluralize(one.conversations, 'conversation')}"
    doubt = "" if one.certain else "; only the model name suggests it, so findings are warnings"
    return f"{_name(one.provider)} ({because}): {pluralize(one.conversations, 'conversation')}{doubt}"


def _counts(found: Content) -> Iterator[Line]:
    counts = found.counts
    roles = ", ".join(f"{count:,} {role}" for role, count in counts.roles.items())
    yield "messages", f"{counts.messages:,}" + (f": {roles}" if roles else "")
    calls = ((counts.unanswered, "without a result"), (counts.waiting, "at the end, still open"),
             (counts.server_calls, "of server tools"))  # fmt: skip
    yield "calls", _parts(counts.calls, calls)
    results = ((counts.orphans, "without a call"), (counts.duplicates, "duplicate"))
    yield "results", _parts(counts.results, results)
    if counts.thoughts:
        thoughts = ((counts.signed_thoughts, "signed"), (counts.ciphered_thoughts, "encrypted"))
        yield "thoughts", _parts(counts.thoughts, thoughts)
    if counts.declared_tools:
        yield "declared", pluralize(counts.declared_tools, "tool")


def _parts(total: int, parts: Iterable[tuple[int, str]]) -> str:
    return ", ".join((f"{total:,}", *(f"{count:,} {words}" for count, words in parts if count)))


def _ids(found: Content) -> Iterator[Line]:
    ids = found.ids
    forms = ", ".join(_counted(form, count) for form, count in ids.forms.items())
    parts = ((ids.absent, "absent"), (ids.redacted, "redacted"), (ids.reused, "reused"))
    rest = ", ".join(f"{count:,} {words}" for count, words in parts if count)
    if ids.given:
        forms += f"; longest: {pluralize(ids.longest, 'character')}"
    if forms or rest:
        yield "ids", "; ".join(filter(None, (forms, rest)))


def _example(one: Example) -> Iterator[Line]:
    yield "example", f"a call of {_name(one.tool) if one.tool else '(no name)'} at {_place(one.call)}"
    length = f", {pluralize(one.length, 'character')}" if one.length else ""
    yield "", f"its id: {one.id}{length}"
    yield (
        "",
        f"its arguments, {WRITTEN.get(one.written, one.written)}: {_keys(one.arguments, one.more) or 'no keys'}",
    )
    if one.shown[0]:
        yield "", clip(visible(one.shown[0]), LONGEST_EXCERPT)
    yield "", f"its result at {_place(one.result)} ({one.state})" if one.result else "it has no result"
    if one.shown[1]:
        yield "", clip(visible(one.shown[1]), LONGEST_EXCERPT)


def _able(found: Content) -> Iterator[Line]:
    able = found.able
    form = {
        "auto": "provider rules",
        "named": "provider rules only with --provider NAME",
        "mixed": "provider rules, for some records only with --provider NAME",
    }[able.projection]
    yield "lint", f"checks: records, calls and results, {form}"
    where = "in place" if able.in_place else "only with -o or through a pipe"
    if able.bound:
        where += f": {'; '.join(map(_name, able.bound))}"
    adds = "; results can be added" if able.adds else "; results are moved, renamed and removed, not added"
    yield "fix", where + adds
    yield "render", "yes" if able.render else "not yet"


def _unknown(found: Unknown, recognition: Recognition) -> Iterator[Line]:
    if found.near:
        yield "format", f"unrecognized format: it {found.sentence}"
    elif not recognition.sampled:
        yield "format", "unrecognized format: the file has no records"
        return
    else:
        yield "format", "unrecognized format"
    for one in found.resembles:
        keys = ", ".join(one.keys)
        yield "looks like", f"{one.name} ({keys}) in {pluralize(one.records, 'record')}, not supported yet"
    for number, near in enumerate(found.nearest):
        yield (
            "" if number else "nearest",
            f"{near.format}: has {', '.join(near.has)}"
            + (f"; missing {', '.join(near.lacks)}" if near.lacks else ""),
        )
    if not found.nearest and any(look.keys for look in found.looks):
        yield "nearest", "none: fewer than two keys of any known format"
    for number, look in enumerate(found.looks):
        yield "" if number else "records", _look(look)


def _look(one: Look) -> str:
    keys = _keys(one.keys, one.more)
    return f"line {one.line}: {one.type}" + (f" with {keys}" if keys else "")


def _keys(keys: Iterable[Key], more: int) -> str:
    said = ", ".join(f"{_name(key.name) or '(empty)'} {key.type}" for key in keys)
    return said + (f", {more:,} more" if more else "")


def _names(names: Names) -> str:
    some = names.names[:MOST_NAMES]
    more = names.more + len(names.names) - len(some)
    said = ", ".join(_counted(one.name, one.count) for one in some)
    return said + (f", {more:,} more" if more else "")


def _place(place: Place) -> str:
    return f"line {place.line:,}" + (
        f" {clip(visible(place.pointer), LONGEST_NAME)}" if place.pointer else ""
    )


def _counted(name: str, count: int, least: int = 1) -> str:
    return f"{_name(name)} {count:,}" if count >= least else _name(name)


def _name(text: str) -> str:
    return clip(visible(text[: 4 * LONGEST_NAME]), 2 * LONGEST_NAME)
