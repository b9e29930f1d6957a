"""JSON Schema of the settings, and the check against it."""

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

from turnlint.errors import LocatedError
from turnlint.handwritten import Document
from turnlint.schema_errors import ShapeChecker

FILE = "config-v1.json"
_FORMS = {
    "^[1-9][0-9]{0,4} (MiB|GiB)$": "is not a size: expected `512 MiB` or `1 GiB`",
    "^(/.*)?$": "is not a JSON Pointer: expected a leading slash, or an empty string for the whole record",
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}$": "is not a date: expected YYYY-MM-DD",
    "^[a-z0-9]+(-[a-z0-9]+)*$": "is not a valid name: use lower-case letters, digits and single hyphens",
}
"""For each pattern of the schema, the message for a text that does not match it."""


@cache
def schema() -> dict[str, Any]:
    from msgspec.json import decode

    path = os.path.join(os.path.dirname(os.path.dirname(__file__)), "schemas", FILE)
    with open(path, "rb") as file:
        found: dict[str, Any] = decode(file.read())
    return found


def shape_faults(document: Document) -> Iterator[LocatedError]:
    """Yield all violations of the schema."""
    return _checker().faults(document)


@cache
def _checker() -> ShapeChecker:
    return ShapeChecker(schema(), _FORMS)


def wanted_of(node: dict[str, Any]) -> dict[str, Any]:
    """Return a node of the schema, merged with the definition that it refers to; its own keys take precedence."""
    own = {key: value for key, value in node.items() if key != "$ref"}
    return {**wanted_of(schema()["$defs"][node["$ref"].rsplit("/", 1)[-1]]), **own} if "$ref" in node else own


def _resolved(wants: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in wants:
        wants = schema()["$defs"][wants["$ref"].rsplit("/", 1)[-1]]
    return wants


def tool_schema(_: str) -> dict[str, Any]:
    """Return the schema of the table in `pyproject.toml` for `validate-pyproject`: in its dialect, without references."""
    whole: dict[str, Any] = written_out({key: value for key, value in schema().items() if key != "$defs"})
    return {**whole, "$schema": "http://json-schema.org/draft-07/schema#", "$id": "urn:turnlint:config-v1"}


def written_out(part: Any) -> Any:
    """Return a part of the schema with its references replaced by definitions."""
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
