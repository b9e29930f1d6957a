"""List the keys of the settings from the schema: name, description and a usable example."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from turnlint.config.checking import schema, wanted_of, written_out

_SILENT = ("$schema",)
_KINDS = {
    "string": ("text", "texts"), "integer": ("whole number", "whole numbers"), "number": ("number", "numbers"),
    "boolean": ("true or false", "true or false"), "array": ("list", "lists"), "object": ("mapping", "mappings"),
    "null": ("null", "nulls"),
}  # fmt: skip


class Key(Struct, frozen=True):
    """A key of the settings."""

    name: str
    """Name with the parents of the key: `paths.level`."""
    node: dict[str, Any]
    """Node of the schema, whose own keys take precedence over those of its definition."""
    required: bool

    @property
    def kind(self) -> str:
        """Describe the type of the value."""
        return _kind(self.node)

    @property
    def about(self) -> str:
        return str(self.node.get("description", ""))

    @property
    def default(self) -> Any:
        """Return the value that applies if the key is absent; nothing if there is none."""
        return self.node.get("default")

    @property
    def below(self) -> tuple[str, ...]:
        """Return the names of its own keys."""
        return tuple(_properties(self.node))

    @property
    def shape(self) -> dict[str, Any]:
        """Return its own schema, without references."""
        whole: dict[str, Any] = written_out(self.node)
        return whole


def keys() -> dict[str, Key]:
    """Return all keys by name, in the order of the schema; the keys of a mapping follow those beside it."""
    return {key.name: key for key in _keys(schema(), "")}


def _keys(node: dict[str, Any], above: str) -> Iterator[Key]:
    inside = {name: one for name, one in _properties(node).items() if name not in _SILENT}
    required = _owner(node).get("required", ())
    found = [Key(above + name, wanted_of(one), name in required) for name, one in inside.items()]
    yield from found
    for key in found:
        yield from _keys(key.node, f"{key.name}.")


def _owner(node: dict[str, Any]) -> dict[str, Any]:
    """Return the mapping that has the keys of a node: the node itself, its elements, or one of its alternatives."""
    node = wanted_of(node)
    inner = [node, *map(wanted_of, node.get("anyOf", ()))]
    items = node.get("items")
    inner += [_owner(items)] if items else []
    return next((one for one in inner if "properties" in one), {})


def _properties(node: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = _owner(node).get("properties", {})
    return found


def _kind(node: dict[str, Any], *, many: bool = False) -> str:
    node = wanted_of(node)
    if "anyOf" in node:
        kinds = dict.fromkeys(_kind(one, many=many) for one in node["anyOf"])
        return (" and " if many else " or ").join(kinds)
    if "enum" in node:
        return "such" if many else f"one of {', '.join(node['enum'])}"
    if "const" in node:
        return str(node["const"]).lower()
    types = node.get("type", "string")
    if not isinstance(types, str):
        return "any value"
    name = _KINDS[types][many]
    if types == "object" and isinstance(node.get("additionalProperties"), dict) and "properties" not in node:
        return f"{name if many else f'a {name}'} of names to {_kind(node['additionalProperties'])}"
    if types == "array":
        return f"{name if many else f'a {name}'} of {_kind(node.get('items', {}), many=True)}"
    return name if many or types in ("boolean", "null") else f"a {name}"


def example_of(name: str) -> dict[str, Any]:
    """Return settings with a key, and with all other keys that it requires."""
    known = keys()
    value: Any = _example(known[name])
    while name:
        name, _, last = name.rpartition(".")
        node = known[name].node if name else schema()
        needed = {
            key: _example(known[f"{name}.{key}" if name else key])
            for key in _owner(node).get("required", ())
            if key != last
        }
        value = {**needed, last: value}
        first = next(iter(_owner(node)["properties"]))
        if _owner(node).get("minProperties", 0) > 1 and first != last:  # the first key decides
            value = {first: _example(known[f"{name}.{first}"]), **value}
        value = [value] if name and wanted_of(node).get("type") == "array" else value
    return dict(value)


def _example(key: Key) -> Any:
    node = key.node
    if "const" in node:
        return node["const"]
    found = node.get("examples") or node.get("enum")
    return found[0] if found else node.get("default")
