"""Find the packages with rules and profiles, without importing them: most runs need no rule.

The built-in package uses the same entry-point group as all others.
"""

import os
import sys
from collections.abc import Iterator

GROUP = "turnlint.rules"
BUILTIN = "turnlint_rules"


def packages() -> list[str]:
    """Return the packages with rules, the built-in one first.

    Reading the metadata of every installed package through `importlib.metadata` takes as long as a whole
    small run. So it is done only if a first search shows that another package has rules.
    """
    others = {name for name in _declared() if name != BUILTIN}
    if others:
        from importlib.metadata import entry_points

        others = {point.value for point in entry_points(group=GROUP)} - {BUILTIN}
    return [BUILTIN, *sorted(others)]


def _declared() -> Iterator[str]:
    """Yield the values in the group, from the metadata files on the path."""
    for folder in dict.fromkeys(sys.path):
        try:
            names = [name for name in os.listdir(folder or ".") if name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for name in names:
            path = os.path.join(folder, name, "entry_points.txt")
            if not os.access(path, os.R_OK):  # most declare nothing, and an exception for each takes time
                continue
            try:
                with open(path, "rb", buffering=0) as file:
                    data = file.read()
            except OSError:
                continue
            if GROUP.encode() in data:
                yield from _values_in(data.decode(errors="replace"))


def _values_in(text: str) -> Iterator[str]:
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{GROUP}]"
        elif inside and "=" in line and not line.startswith(("#", ";")):
            yield line.split("=", 1)[1].strip()
