"""What is wrong with the shape of settings, in sentences with places.

This module owns the check against the JSON Schema that is shipped: so much of that language as the schema is
written in, for the whole of it takes longer to import than a small run. It refuses to know what a setting means.
"""

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from turnlint.handwritten import Document, Fault, Path
from turnlint.text import did_you_mean, quote_value

FILE = "config-v1.json"
_TYPES = {
    "string": "a string", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list", "object": "a mapping", "null": "null",
}  # fmt: skip
_FORMS = {
    "^[1-9][0-9]{0,4} (MiB|GiB)$": "is not a size: expected `512 MiB` or `1 GiB`",
    "^(/.*)?$": "is not a JSON Pointer: expected a leading slash, or an empty string for the whole record",
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}$": "is not a date: expected YYYY-MM-DD",
    "^[a-z0-9]+(-[a-z0-9]+)*$": "is not a valid name: use lower-case letters, digits and single hyphens",
}
"""What is said of a text that is not of a pattern of the schema."""


@cache
def schema() -> dict[str, Any]:
    from msgspec.json import decode

    path = os.path.join(os.path.dirname(os.path.dirname(__file__)), "schemas", FILE)
    with open(path, "rb") as file:
        found: dict[str, Any] = decode(file.read())
    return found


def shape_faults(document: Document) -> Iterator[Fault]:
    """All that is not as the schema has it."""
    for path, sentence, is_key in _faults(document.value, schema(), ()):
        yield Fault(in_words(path[:-1] if is_key else path) + sentence, document.spot(path, key=is_key))


_Wrong = Iterator[tuple[Path, str, bool]]
"""A path, what is wrong there, and whether it is about the key."""


def _faults(value: Any, wants: dict[str, Any], path: Path) -> _Wrong:
    while "$ref" in wants:
        wants = schema()["$defs"][wants["$ref"].rsplit("/", 1)[-1]]
    if "anyOf" in wants:
        fitting = [one for one in map(_resolved, wants["anyOf"]) if _is_of(value, one)]
        if not fitting:
            yield path, f"expected {_kinds(wants['anyOf'])}, got {_found(value)}", False
            return
        wants = fitting[0]
    if "enum" in wants or "const" in wants:
        yield from _choice(value, wants, path)
    elif not _is_of(value, wants):
        yield path, f"expected {_kinds([wants])}, got {_found(value)}", False
    elif isinstance(value, dict):
        yield from _mapping(value, wants, path)
    elif isinstance(value, list):
        if len(value) < wants.get("minItems", 0):
            yield path, "expected at least one", False
        for index, one in enumerate(value):
            yield from _faults(one, wants.get("items", {}), (*path, index))
    else:
        yield from _scalar(value, wants, path)


def _choice(value: Any, wants: dict[str, Any], path: Path) -> _Wrong:
    allowed = wants["enum"] if "enum" in wants else [wants["const"]]
    if any(value == one and type(value) is type(one) for one in allowed):
        return
    if "const" in wants:
        yield path, f"expected {str(wants['const']).lower()}", False
    elif isinstance(value, str):
        yield path, f"unknown value {did_you_mean(value, allowed)}", False
    else:
        yield path, f"expected one of {', '.join(allowed)}, got {_found(value)}", False


def _mapping(value: dict[str, Any], wants: dict[str, Any], path: Path) -> _Wrong:
    known = wants.get("properties", {})
    other = wants.get("additionalProperties", {})
    for key, one in value.items():
        if key in known:
            yield from _faults(one, known[key], (*path, key))
        elif other is False:
            yield (
                (*path, key),
                f"unknown key {did_you_mean(key, (name for name in known if name[0] != '$'))}",
                True,
            )
        else:
            yield from _faults(one, other, (*path, key))
    missing = [key for key in wants.get("required", ()) if key not in value]
    if missing:
        yield path, f"missing {' and '.join(map(repr, missing))}", False
    elif len(value) < wants.get("minProperties", 0):
        yield path, "names nothing" if value else "is empty", False


def _scalar(value: Any, wants: dict[str, Any], path: Path) -> _Wrong:
    if isinstance(value, str):
        pattern = wants.get("pattern")
        if pattern and not re.search(pattern.replace("$", r"\Z"), value):
            yield path, f"{quote_value(value)} {_FORMS[pattern]}", False
        elif len(value.strip()) < wants.get("minLength", 0):
            yield path, "is blank", False
    elif "minimum" in wants and value < wants["minimum"]:
        yield path, f"expected {wants['minimum']} or more, got {value}", False


def wanted_of(node: dict[str, Any]) -> dict[str, Any]:
    """What a place of the schema says, with what its kind says where it is silent itself."""
    own = {key: value for key, value in node.items() if key != "$ref"}
    return {**wanted_of(schema()["$defs"][node["$ref"].rsplit("/", 1)[-1]]), **own} if "$ref" in node else own


def _resolved(wants: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in wants:
        wants = schema()["$defs"][wants["$ref"].rsplit("/", 1)[-1]]
    return wants


def _is_of(value: Any, wants: dict[str, Any]) -> bool:
    """Whether a value is of a type that is wanted."""
    if "enum" in wants:
        return isinstance(value, str)
    types = wants.get("type")
    if types is None:
        return True
    kinds = {
        "string": isinstance(value, str), "boolean": isinstance(value, bool), "null": value is None,
        "integer": isinstance(value, int) and not isinstance(value, bool), "array": isinstance(value, list),
        "number": isinstance(value, int | float) and not isinstance(value, bool), "object": isinstance(value, dict),
    }  # fmt: skip
    return any(kinds[one] for one in ([types] if isinstance(types, str) else types))


def _kinds(wants: Iterable[dict[str, Any]]) -> str:
    types = [_resolved(one).get("type", "string") for one in wants]
    return " or ".join(_TYPES[one] for some in types for one in ([some] if isinstance(some, str) else some))


def _found(value: Any) -> str:
    if value is None:
        return "nothing"
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list"}
    return kinds.get(type(value), "a mapping")


def in_words(path: Path) -> str:
    """A place, to stand before a sentence."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return f"{text}: " if text else ""


def tool_schema(_: str) -> dict[str, Any]:
    """The schema of the table in `pyproject.toml` for `validate-pyproject`: in its dialect, and without references."""
    whole: dict[str, Any] = written_out({key: value for key, value in schema().items() if key != "$defs"})
    return {**whole, "$schema": "http://json-schema.org/draft-07/schema#", "$id": "urn:turnlint:config-v1"}


def written_out(part: Any) -> Any:
    """The same without references."""
    if isinstance(part, list):
        return [written_out(one) for one in part]
    if not isinstance(part, dict):
        return part
    own = {key: written_out(one) for key, one in part.items() if key != "$ref"}
    return (
        {**written_out(_resolved({"$ref": part["$ref"]})), **own}
        if isinstance(part.get("$ref"), str)
        else own
    )
