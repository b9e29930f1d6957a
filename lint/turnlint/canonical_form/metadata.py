"""Join the metadata that a conversion derives with those of an input that is canonical already.

A value in a key of the form may have a kind that the schema of the form does not allow. It is kept in `metadata.misfits`.
"""

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Raw, json

from turnlint.canonical_form.members import Object, decode, is_text, members

METADATA_KEYS = (
    "turnId", "rawId", "rawName", "provider", "model", "host", "format", "continued", "openEnd", "type", "server", "state", "rawInput", "synthetic", "reason",
)  # fmt: skip
"""The keys of metadata in their order."""
MISFITS = "misfits"
RECORD, CONTENT = "record", "content"
SCHEMA = os.path.join(os.path.dirname(os.path.dirname(__file__)), "schemas", "transcript.json")
_KINDS = {b"{": "object", b"[": "array", b'"': "string", b"t": "boolean", b"f": "boolean", b"n": "null"}


def joined(known: Mapping[str, Any], own: Mapping[str, Raw], kind: str) -> dict[str, Any]:
    """Return the metadata of a part of a canonical input, which outrank derived values. Only a state is always derived.

    `kind` is the type of a block, or `RECORD` or `CONTENT`.
    """
    rules = _rules().get(kind, _ANY)
    wrong = _misfits(own, rules)
    old = members(own.get("metadata"))
    inner = rules["metadata"].get("properties", _NONE)
    if below := _misfits(old, inner):
        wrong["metadata"] = below
    old = _fitting(old, inner)
    if wrong:
        old[MISFITS] = Raw(json.encode({**members(old.get(MISFITS)), **wrong}))
    kept = {key: old[key] if key in old and key != "state" else value for key, value in known.items()}
    order = [key for key in METADATA_KEYS if key in kept or key in old]
    found = {key: kept.get(key, old.get(key)) for key in order}
    return found | {key: value for key, value in old.items() if key not in found}


def fitting(own: Mapping[str, Raw], kind: str) -> Object:
    """Return the members of a part of a canonical input that have the kinds of the schema, without its metadata."""
    found = _fitting(own, _rules().get(kind, _ANY))
    found.pop("metadata", None)
    return found


def _fitting(own: Mapping[str, Raw], rules: Mapping[str, Any]) -> Object:
    return {key: value for key, value in own.items() if _fits(rules.get(key, _NONE), value)}


def _misfits(own: Mapping[str, Raw], rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members whose kind the schema does not allow. Null is no value."""
    return {
        key: value
        for key, value in own.items()
        if key in rules and not _fits(rules[key], value) and bytes(value) != b"null"
    }


def _fits(rule: Mapping[str, Any], value: Raw) -> bool:
    if "enum" in rule:
        return is_text(value) and decode(value) in rule["enum"]
    allowed = rule.get("type")
    if allowed is None:
        return True
    kind = _KINDS.get(bytes(memoryview(value)[:1]), "number")
    return kind in (allowed if isinstance(allowed, list) else [allowed])


_NONE: Mapping[str, Any] = {}
_ANY: Mapping[str, Any] = {"metadata": {"type": "object"}}


@cache
def _rules() -> dict[str, dict[str, Any]]:
    """Return the schemas of the members of each part, with their references resolved."""
    with open(SCHEMA, "rb") as file:
        schema = json.decode(file.read())
    defined = schema["$defs"]

    def resolved(part: Mapping[str, Any]) -> dict[str, Any]:
        found = {}
        for key, rule in part["properties"].items():
            name = rule.get("$ref", "").rpartition("/")[2]
            found[key] = dict(defined[name] if name else rule)
            if "properties" in found[key]:
                found[key]["properties"] = resolved(found[key])
        return found

    blocks = (defined[one["$ref"].rpartition("/")[2]] for one in defined["block"]["oneOf"] if "$ref" in one)
    parts = {RECORD: schema["anyOf"][1], CONTENT: defined["content"]}
    parts |= {one["properties"]["type"]["const"]: one for one in blocks}
    return {name: {**_ANY, **resolved(part)} for name, part in parts.items()}
