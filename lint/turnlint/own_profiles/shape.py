"""Define the JSON Schema of a profile in a file.

The schema is built from the structs of a profile and from their docstrings, so that it always agrees with them.
"""

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from linecache import getlines
from typing import Any

import msgspec

from turnlint import clause, profiles

SCHEMA = "turnlint/profile-v1"
NAME = "^[a-z0-9]([a-z0-9_.-]*[a-z0-9])?$"
VERSION = r"^[^\s@,]*$"
OPTIONAL = frozenset({"title", "wires", "capabilities", "format", "source", "date"})
"""Fields that a user's file may omit, although a built-in profile must have them."""
SOURCE = "your own profile"
_ABOUT = """\
A provider's rules in a file of your own, in YAML, for `turnlint lint --profile FILE`. A file holds one profile or
several, as documents. `turnlint profiles NAME` prints the built-in ones in this form. Only `name` must be there."""
_NOTES = {
    "name": "What `--provider` calls it. The name of a built-in provider overrides that one.",
    "title": "What people call it. Default: the name.",
    "version": "Stands after an `@` in `--provider`; needed where a file has several profiles of one name.",
    "wires": "Wires that it speaks, its own first. Default: those of `shared`.",
    "hosts": "Ends of the names of its hosts. Taken over by `extends` only under the same name.",
    "models": (
        "An expression that finds its models' names, where they are nobody else's. Taken over by `extends` only under "
        "the same name."
    ),
    "capabilities": "Default: those of `shared`. With `extends` each key that is given replaces that of the other profile.",
    "clauses": "What it does not take. With `extends` they replace the other profile's clauses of the same rules.",
    "weights": "With `extends` they replace the other profile's weights of the same rules.",
    "known": "Texts that it refuses with, for `turnlint why`. With `extends` they are added to the other profile's.",
}
_MORE = {
    "extends": {
        "type": "string",
        "description": "A provider to take everything over from that is not given here: NAME or NAME@VERSION.",
    },
    "drop": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Rules whose clauses and weights are not taken over.",
    },
}
_FIRST = ("name", "extends", "drop")


@cache
def schema() -> dict[str, Any]:
    """Return the schema of one document of a user's file."""
    raw = msgspec.json.schema(profiles.Profile)["$defs"]
    names = {struct.__name__: tag for tag, struct in kinds().items()}
    definitions = {names.get(name, name.lower()): one for name, one in raw.items()}
    structs: dict[str, type[Any]] = {"profile": profiles.Profile, "capabilities": profiles.Capabilities,
               "capabilitysource": profiles.CapabilitySource, "weight": profiles.Weight,
               "known": profiles.Known, **kinds()}  # fmt: skip
    for name, one in definitions.items():
        _describe(one, structs[name])
        _tidy(one, names)
    top = definitions.pop("profile")
    top["properties"] = {name: {**_MORE, **top["properties"]}[name] for name in (*_FIRST, *top["properties"])}
    for name, note in _NOTES.items():
        top["properties"][name] = {**top["properties"][name], "description": note}
    top["properties"]["name"] |= {"pattern": NAME, "maxLength": 64}
    top["properties"]["wires"]["minItems"] = 1
    top["properties"]["version"]["pattern"] = VERSION
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "turnlint profile",
        **top,
        "description": " ".join(_ABOUT.split()),
        "$defs": definitions,
    }


@cache
def kinds() -> dict[str, type[clause.Clause]]:
    """Return the kinds of clauses, by their rule."""
    return {str(one.__struct_config__.tag): one for one in clause.Clause.__subclasses__()}


def _describe(one: dict[str, Any], struct: type[Any]) -> None:
    notes = _field_notes(struct)
    for name, value in one["properties"].items():
        if name in notes:
            value["description"] = notes[name]
    if issubclass(struct, clause.Clause):
        one["title"] = f"{one['properties']['rule']['enum'][0]} ({struct.code})"
        one["properties"]["rule"]["description"] = (
            f"`turnlint explain {struct.code}` says what the rule means."
        )
    else:
        one.pop("title", None)


def _tidy(one: dict[str, Any], names: dict[str, str]) -> None:
    """Forbid unknown keys, merge nullable types, and use the reference names of files."""
    one["additionalProperties"] = False
    one["required"] = [name for name in one["required"] if name not in OPTIONAL]
    if not one["required"]:
        del one["required"]
    for name, value in one["properties"].items():
        if name == "source":
            value["default"] = SOURCE
        if name == "date":
            value["default"] = ""
        for part in (value, value.get("items", {})):
            part.pop("discriminator", None)
            _refer(part, names)
            for choice in part.get("anyOf", ()):
                _refer(choice, names)
        kinds_of_value = [choice.get("type") for choice in value.get("anyOf", ())]
        if None not in kinds_of_value and kinds_of_value:
            del value["anyOf"]
            value["type"] = kinds_of_value
        if "integer" in (value.get("type"), *kinds_of_value):
            value["minimum"] = 0


def _refer(part: dict[str, Any], names: dict[str, str]) -> None:
    if "$ref" in part:
        name = part["$ref"].rsplit("/", 1)[-1]
        part["$ref"] = f"#/$defs/{names.get(name, name.lower())}"


def _field_notes(struct: type[Any]) -> dict[str, str]:
    """Return the docstrings of a struct's fields, including those of its parents."""
    found: dict[str, str] = {}
    for one in reversed(struct.__mro__):
        if one.__module__.startswith("turnlint."):
            found |= _notes_in(one.__module__).get(one.__name__, {})
    return found


@cache
def _notes_in(module: str) -> dict[str, dict[str, str]]:
    """Return the docstrings of the fields of each class of a module, from its source."""
    spec = find_spec(module)
    # The loader is not used: test runners have loaders of their own without sources.
    source = "".join(getlines(spec.origin)) if spec and spec.origin else ""
    if not source:
        return {}
    tree = ast.parse(source)
    types = dict(_documented(tree.body))
    found = {}
    for one in tree.body:
        if isinstance(one, ast.ClassDef):
            notes = {
                statement.target.id: types[statement.annotation.id]
                for statement in one.body
                if isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and isinstance(statement.annotation, ast.Name)
                and statement.annotation.id in types
            }
            found[one.name] = notes | dict(_documented(one.body))
    return found


def _documented(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield names with the docstring directly below their line."""
    for statement, after in pairwise(body):
        target = (
            statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        )
        if (
            isinstance(target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            yield target.id, " ".join(after.value.value.split())
