"""Read a settings file in YAML or TOML with the position of each value, and the files that it extends."""

import os
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from turnlint.config.checking import shape_faults
from turnlint.documents.source import open_regular
from turnlint.errors import ConfigError, LocatedError
from turnlint.handwritten import MOST_BYTES, Document, Kind, Path, decoded, documents

DEEPEST = 10
"""Limit of the files in a chain of `extend`."""
MOST_TOLD = 20
KIND = Kind("configuration", "extend", frozenset({"conversation", "call", "fingerprint", "model"}))
TABLE = ("tool", "turnlint")
_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(
    r"""\s*((?:[A-Za-z0-9_$-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_$-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PART = re.compile(r"""[A-Za-z0-9_$-]+|"[^"]*"|'[^']*'""")


class Layer(Struct):
    """One file of a chain."""

    path: str
    document: Document

    @property
    def folder(self) -> str:
        return os.path.dirname(self.path)

    def at(self, path: Path, *, key: bool = False) -> str:
        """Return the position of a value, as messages show it."""
        return place(self.path, self.document.spot(path, key=key))


def chain(path: str) -> list[Layer]:
    """Return a file and all files that it extends, in ascending precedence. Raises `ConfigError`."""
    return _chain(path, (), None)


def _chain(path: str, below: tuple[str, ...], asked: str | None) -> list[Layer]:
    real = os.path.realpath(path)
    if real in below:
        raise ConfigError([f"{asked}: extend: {shown(path)} extends itself"])
    if len(below) >= DEEPEST:
        raise ConfigError([f"{asked}: extend: more than {DEEPEST} files in a chain of `extend`"])
    try:
        layer = Layer(path, document_of(path))
    except LocatedError as fault:
        if asked and fault.spot is None:
            raise ConfigError([f"{asked}: extend: {shown(path)} {fault.sentence}"]) from None
        raise ConfigError([line(path, fault)]) from None
    if wrong := list(shape_faults(layer.document)):
        raise ConfigError(lines_of(path, wrong))
    found: list[Layer] = []
    said = layer.document.value.get("extend", [])
    for index, one in enumerate([said] if isinstance(said, str) else said):
        spot = layer.at(("extend",) if isinstance(said, str) else ("extend", index))
        found += _chain(os.path.join(layer.folder, one), (*below, real), spot)
    return [*found, layer]


def document_of(path: str) -> Document:
    """Read and parse a settings file. Raises `LocatedError`."""
    try:
        with open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise LocatedError((error.strerror or "cannot be read").lower()) from None
    if path.endswith(".toml"):
        return _toml(decoded(data, KIND))
    found = documents(data, KIND)
    if len(found) > 1:
        raise LocatedError("contains several YAML documents; expected one", found[1].spot(()))
    return found[0] if found else Document({}, {(): (1, 1)})


def line(path: str, fault: LocatedError) -> str:
    return f"{place(path, fault.spot)}: {fault.sentence}"


def lines_of(path: str, faults: list[LocatedError]) -> list[str]:
    """Return the errors in the order of the file, up to a limit."""
    told = [line(path, fault) for fault in sorted(faults, key=lambda one: one.spot or (0, 0))]
    more = [f"{shown(path)}: and {len(told) - MOST_TOLD:,} more"] if len(told) > MOST_TOLD else []
    return told[:MOST_TOLD] + more


def place(path: str, spot: tuple[int, int] | None) -> str:
    return shown(path) + (f":{spot[0]}:{spot[1]}" if spot else "")


def shown(path: str) -> str:
    """Return a path relative to the working folder, or the path itself if it is further away than the parent folder."""
    near = os.path.relpath(path)
    return path if near.startswith(os.pardir + os.sep + os.pardir) else near


def _toml(text: str) -> Document:
    """Return the table of a `pyproject.toml`, or the whole of a settings file in TOML."""
    import tomllib

    try:
        value = _plain(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at line (\d+), column (\d+)\)", str(error))
        spot = (int(found[1]), int(found[2])) if found else (len(text.splitlines()) or 1, 1)
        raise LocatedError(f"is not valid TOML: {str(error).partition(' (at ')[0].lower()}", spot) from None
    except RecursionError:
        raise LocatedError("is nested too deeply") from None
    tool = value.get(TABLE[0])
    table = tool.get(TABLE[1]) if isinstance(tool, dict) else None
    inside = TABLE if table is not None else ()
    made = Document({} if table is None and tool is not None else value if table is None else table)
    made.values[()] = (1, 1)
    for path, spot in _spots(text):
        if path[: len(inside)] == inside and _has(value, path):
            made.values[path[len(inside) :]] = made.keys[path[len(inside) :]] = spot
    return made


def _plain(value: Any) -> Any:
    """Convert dates to texts, as for YAML."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


def _has(value: Any, path: Path) -> bool:
    for part in path:
        try:
            value = value[part]
        except (LookupError, TypeError):
            return False
    return True


def _spots(text: str) -> Iterator[tuple[Path, tuple[int, int]]]:
    """Yield the paths of tables and keys with their positions; a nested value has the position of its key."""
    table: Path = ()
    counts: dict[Path, int] = {}
    inside = ""
    for number, content in enumerate(text.splitlines(), 1):
        if inside:
            inside = "" if inside in content else inside
            continue
        if header := _HEADER.match(content):
            table = _table(_parts(header[2]), header[1] == "[[", counts)
            yield table, (number, header.start(1) + 1)
        elif key := _KEY.match(content):
            yield (*table, *_parts(key[1])), (number, key.start(1) + 1)
        inside = next((mark for mark in ('"""', "'''") if content.count(mark) % 2), "")


def _table(parts: Path, new: bool, counts: dict[Path, int]) -> Path:
    """Return the path of a table; in a list of tables, the path of the last one."""
    path: Path = ()
    for index, part in enumerate(parts):
        path = (*path, part)
        if index == len(parts) - 1 and new:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _parts(text: str) -> Path:
    return tuple(part.strip("\"'") for part in _PART.findall(text))
