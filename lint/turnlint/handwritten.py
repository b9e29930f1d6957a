"""Read YAML as plain values with positions.

Only the core types are supported, each key may occur once, and the size is limited to that of files written
by people.
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from turnlint.errors import LocatedError

MOST_BYTES = 1 << 20
"""Limit of a file; all built-in profiles together are smaller."""
MOST_VALUES = 100_000
DEEPEST = 24
_CORE = "tag:yaml.org,2002:"
_KINDS = {"SequenceNode": "seq", "MappingNode": "map"}

Path = tuple[str | int, ...]
Spot = tuple[int, int]
"""Line and column, from 1."""


class Kind(Struct, frozen=True):
    """The kind of file, for its messages."""

    name: str
    key: str
    """The key by which a file builds on another."""
    as_written: frozenset[str]
    """Keys whose values are texts even where they look like a number or a date: `1.10` is not 1.1."""


PROFILE = Kind("profile", "extends", frozenset({"version", "date", "name"}))


class Document(Struct):
    """One YAML document: its value, and the position of every value and every key in it."""

    value: Any = None
    values: dict[Path, Spot] = field(default_factory=dict)
    keys: dict[Path, Spot] = field(default_factory=dict)

    def spot(self, path: Path, *, key: bool = False) -> Spot | None:
        """Return the position of a value, or of the nearest value around it."""
        if key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path)


def documents(data: bytes, kind: Kind = PROFILE) -> list[Document]:
    """Return the documents of a file that are not empty. Raises `LocatedError`."""
    text = decoded(data, kind)
    try:
        return [_Walk(kind).document(node) for node in _nodes(text) if not _is_empty(node)]
    except RecursionError:
        raise LocatedError(f"is nested too deeply for a {kind.name}") from None


def decoded(data: bytes, kind: Kind) -> str:
    if len(data) > MOST_BYTES:
        raise LocatedError(f"is larger than {MOST_BYTES >> 10} KiB, the limit of a {kind.name}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LocatedError("is not valid UTF-8", (line, 1)) from None


def _nodes(text: str) -> Iterator[Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    try:
        yield from YAML(typ="safe", pure=True).compose_all(text)
    except ReaderError as error:
        before = text[: error.position]
        spot = (before.count("\n") + 1, len(before) - before.rfind("\n"))
        code = error.character if isinstance(error.character, int) else ord(error.character)
        raise LocatedError(f"YAML does not allow the character U+{code:04X}", spot) from None
    except MarkedYAMLError as error:
        raise LocatedError(
            f"is not valid YAML: {_plain(error.problem or error.context or '')}", _spot(error.problem_mark)
        ) from None
    except (YAMLError, ValueError, IndexError, AttributeError) as error:  # also from bugs of its scanner
        first = next(iter(str(error).splitlines()), "")
        raise LocatedError(f"is not valid YAML: {first or type(error).__name__}") from None


def _plain(problem: str) -> str:
    """Return an error text of the parser without its notation of tokens: `('<scalar>',)` becomes `scalar`."""
    return re.sub(r"\(?'<([a-z -]+)>',?\)?", r"\1", problem)


def _spot(mark: Any) -> Spot | None:
    return (mark.line + 1, mark.column + 1) if mark else None


def _is_empty(node: Any) -> bool:
    return node is None or (_tag(node) == "null" and not node.value)


def _tag(node: Any) -> str:
    return str(node.tag).removeprefix(_CORE)


class _Walk:
    """Convert nodes to values. Aliases are expanded here, so the limits apply to the expanded values."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.count = 0
        self.made = Document()

    def document(self, node: Any) -> Document:
        self.made.value = self._value(node, ())
        return self.made

    def _value(self, node: Any, path: Path) -> Any:
        spot = _spot(node.start_mark) or (1, 1)
        self.made.values[path] = spot
        self.count += 1
        if self.count > MOST_VALUES:
            raise LocatedError(f"expands to more than {MOST_VALUES:,} values", spot)
        if len(path) > DEEPEST:
            raise LocatedError(f"is nested too deeply for a {self.kind.name}", spot)
        kind = type(node).__name__
        if kind == "ScalarNode":
            key = next((part for part in reversed(path) if isinstance(part, str)), "")
            return _scalar(node, spot, as_written=key in self.kind.as_written)
        if _tag(node) != _KINDS[kind]:
            raise _tagged(node, spot)
        if kind == "SequenceNode":
            return [self._value(one, (*path, index)) for index, one in enumerate(node.value)]
        return self._mapping(node, path)

    def _mapping(self, node: Any, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            spot = _spot(key.start_mark) or (1, 1)
            if type(key).__name__ != "ScalarNode":
                raise LocatedError("a key must be a plain string", spot)
            name = str(key.value)
            if _tag(key) == "merge":
                one = f"use `{self.kind.key}` to build on another {self.kind.name}"
                raise LocatedError(f"merge keys (<<) are not supported; {one}", spot)
            if name in found:
                line = self.made.keys[*path, name][0]
                raise LocatedError(f"duplicate key {name!r}, first in line {line}", spot)
            self.made.keys[*path, name] = spot
            found[name] = self._value(value, (*path, name))
        return found


def _scalar(node: Any, spot: Spot, *, as_written: bool) -> Any:
    tag, text = _tag(node), str(node.value)
    if tag in ("str", "timestamp", "value", "merge"):
        return text
    if tag == "null":
        return None
    if as_written and tag in ("int", "float"):
        return text
    try:
        if tag == "bool":
            return {"true": True, "false": False, "yes": True, "no": False, "on": True, "off": False}[
                text.lower()
            ]
        if tag == "int":
            return _integer(text)
        if tag == "float":
            return float(text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan").lower())
    except (KeyError, ValueError):
        raise LocatedError(f"{text[:40]!r} is not a readable value", spot) from None
    raise _tagged(node, spot)


def _integer(text: str) -> int:
    plain = text.replace("_", "")
    return int(plain, 0) if re.match(r"[-+]?0[xob]", plain) else int(plain)


def _tagged(node: Any, spot: Spot) -> LocatedError:
    shown = str(node.tag)
    shown = "!!" + shown.removeprefix(_CORE) if shown.startswith(_CORE) else shown
    return LocatedError(f"the tag {shown[:80]} is not supported; remove it", spot)
