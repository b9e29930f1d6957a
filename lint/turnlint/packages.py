"""Find what other packages add to the program, without importing them: most runs need none of it.

A package names its additions in the entry-point groups of this module. The built-in rules use the same group.
"""

import os
import sys
from collections.abc import Iterator
from functools import lru_cache

GROUP = "turnlint.rules"
"""Each entry is a package with rules and profiles."""
WIRES, PARSERS, GRAMMARS = "turnlint.wires", "turnlint.parsers", "turnlint.grammars"
"""Each entry is a module with one addition of its kind, under the name of the addition."""
BUILTIN = "turnlint_rules"


def packages() -> list[str]:
    """Return the packages with rules, the built-in one first."""
    return [BUILTIN, *sorted({module for _, module in _entries(GROUP)} - {BUILTIN})]


def additions(group: str) -> dict[str, str]:
    """Return the modules of a group by their names, in order. The first entry on the path counts."""
    found: dict[str, str] = {}
    for name, module in _entries(group):
        found.setdefault(name, module)
    return dict(sorted(found.items()))


def has_additions() -> bool:
    """Whether another package adds a wire, a parser or a grammar."""
    return any(_declared(tuple(sys.path)).get(group) for group in (WIRES, PARSERS, GRAMMARS))


def _entries(group: str) -> list[tuple[str, str]]:
    """Return the names and modules of a group.

    Reading the metadata of every installed package through `importlib.metadata` takes as long as a whole
    small run. So it is done only if a first search shows that another package has entries.
    """
    if all(module == BUILTIN for module in _declared(tuple(sys.path)).get(group, ())):
        return []
    from importlib.metadata import entry_points

    return [(point.name, point.value) for point in entry_points(group=group)]


@lru_cache(maxsize=1)
def _declared(path: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the modules in each group, from the metadata files on a path. One search serves all groups."""
    found: dict[str, tuple[str, ...]] = {}
    for text in _metadata_of(path):
        for group in (GROUP, WIRES, PARSERS, GRAMMARS):
            if group in text:
                found[group] = (*found.get(group, ()), *_values_in(text, group))
    return found


def _metadata_of(path: tuple[str, ...]) -> Iterator[str]:
    """Yield the texts of the metadata files that name one of the groups."""
    for folder in dict.fromkeys(path):
        try:
            names = [name for name in os.listdir(folder or ".") if name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for name in names:
            path_of_file = os.path.join(folder, name, "entry_points.txt")
            if not os.access(
                path_of_file, os.R_OK
            ):  # most declare nothing, and an exception for each takes time
                continue
            try:
                with open(path_of_file, "rb", buffering=0) as file:
                    data = file.read()
            except OSError:
                continue
            if b"turnlint." in data:
                yield data.decode(errors="replace")


def _values_in(text: str, group: str) -> Iterator[str]:
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and "=" in line and not line.startswith(("#", ";")):
            yield line.split("=", 1)[1].strip()
