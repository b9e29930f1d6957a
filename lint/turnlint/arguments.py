"""Parse the arguments of a call that are in a notation beside JSON, and describe the repair to JSON."""

from collections.abc import Mapping
from json import dumps, loads
from typing import Any

from turnlint.carrying.requests import schema_in
from turnlint.case import Case
from turnlint.ledger import Asked
from turnlint.model import Call, Fix
from turnlint.parsers import Parsed, Parser, parse
from turnlint.steps import Put

_DIGEST = b"#"


def parsed_arguments(case: Case, asked: Asked) -> Parsed | None:
    """Return the arguments of a call that are a text in a known notation; nothing for any other text."""
    text = _text_of(case, asked)
    return None if text is None else parse(text, _types_of(case, asked.call.name))


def converted(case: Case, asked: Asked, parsed: Parsed) -> Fix | None:
    """Return a fix that writes parsed arguments as JSON; nothing if they have several readings or were released."""
    call = asked.call
    place = (*call.at, *call.keys.body)
    if parsed.value is None or case.said(asked.message, place) is None:
        return None
    kept = dumps(parsed.value, ensure_ascii=False)
    in_text = call.written == "text" and call.arguments != "unfit"
    data = dumps(kept, ensure_ascii=False) if in_text else kept
    typed = "" if _types_of(case, call.name) else ", with texts as values"
    title = f"write the {parsed.parser.title} as a JSON object{typed}"
    return Fix("lossless", title, (Put(place, data.encode("utf-8", "backslashreplace"), asked.message),))


def notation_of(call: Call) -> Parser | None:
    """Return the notation of the arguments of a call, if it is known and not JSON."""
    text = _text_in(call)
    parsed = None if text is None else parse(text)
    return parsed.parser if parsed else None


def _text_of(case: Case, asked: Asked) -> str | None:
    """Return the text of arguments that are no object, from the record if it is there."""
    call = asked.call
    said = case.said(asked.message, (*call.at, *call.keys.body))
    if said is None:
        return _text_in(call)
    if not isinstance(said, str):
        return None
    return _inner(said) if call.arguments == "other" else said


def _text_in(call: Call) -> str | None:
    """Return the text in the body of a call; nothing for a digest."""
    if call.arguments not in ("broken", "unfit", "other") or call.body[:1] == _DIGEST:
        return None
    body = call.body.decode(errors="replace")
    return body if call.arguments == "broken" else _inner(body)


def _inner(text: str) -> str | None:
    """Return the text that a JSON text holds."""
    try:
        said = loads(text)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, str) else None


def _types_of(case: Case, name: str | None) -> Mapping[str, Any] | None:
    """Return the schema of the arguments of a tool, if its request declares exactly one tool of this name."""
    request = case.transcript.request
    tools = [
        one for one in (request.tools if request else None) or () if one.name is not None and one.name == name
    ]
    if request is None or len(tools) != 1:
        return None
    tool = case.value_in(request.record, tools[0].at[:-1])
    return schema_in(tool) if isinstance(tool, dict) else None
