"""Find the rules that settings name, report unknown ones, and replace former names by current ones."""

from collections.abc import Iterator
from typing import Any

from turnlint.config.reading import Layer
from turnlint.handwritten import Path
from turnlint.rulebook import (
    FAMILIES,
    OWN,
    current,
    everything,
    matches,
    names_of,
    remarks,
    why_gone,
)
from turnlint.text import did_you_mean

BY_RULE = ("severity", "levels")
"""Keys with a value for each of some rules."""
LISTS = ("select", "ignore")


def named(value: dict[str, Any]) -> list[tuple[Path, str]]:
    """Return each selector in the settings of a file with its path.

    The path of a selector that is a key ends with it.
    """
    found = [
        ((*prefix, key, *below), selector)
        for prefix, part in parts(value)
        for key in (*LISTS, *BY_RULE)
        for below, selector in _texts(part.get(key, ()))
    ]
    for index, one in enumerate(value.get("ignore", ())):
        if isinstance(one, dict):
            found += [
                (("ignore", index, "rule", *below), selector)
                for below, selector in _texts(one.get("rule", ()))
            ]
    return found


def parts(value: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the settings for all files, and those of each section."""
    yield (), value
    for index, section in enumerate(value.get("paths", ())):
        yield ("paths", index), section


def unknown(value: dict[str, Any], own: frozenset[str]) -> Iterator[tuple[Path, str]]:
    """Yield the unknown rules with their paths. A removed rule is an error only where it is selected."""
    found = named(value)
    if not found:
        return
    entries = everything()
    mine = sorted(OWN + name for name in own)
    for path, selector in found:
        if selector in mine or (selector == OWN[:-1] and mine):
            continue
        if any(matches(entry.rule, selector) for entry in entries):
            continue
        gone = why_gone(selector)
        if gone is None:
            yield path, f"unknown rule {did_you_mean(selector, [*names_of(entries), *FAMILIES, *mine])}"
        elif "select" in path:
            yield path, f"the rule {selector!r} was removed: {gone}"


def renew(layer: Layer) -> Iterator[str]:
    """Replace former names of rules by current ones; yield a remark for each, and all other remarks about rules."""
    found = named(layer.document.value)
    entries = everything() if found else []
    for path, selector in found:
        about = layer.at(path, key=_is_key(path))
        yield from (f"{about}: {one}" for one in remarks((selector,), entries))
        if (now := current(selector, entries)) != selector:
            _replace(layer, path, now)


def _replace(layer: Layer, path: Path, now: str) -> None:
    *above, last = path
    owner = layer.document.value
    for part in above:
        owner = owner[part]
    if not _is_key(path):
        owner[last] = now
        return
    layer.document.keys[(*above, now)] = layer.document.keys.get(path, (1, 1))
    layer.document.values[(*above, now)] = layer.document.values.get(path, (1, 1))
    kept = {now if key == last else key: value for key, value in owner.items()}
    owner.clear()
    owner.update(kept)


def _is_key(path: Path) -> bool:
    return len(path) > 1 and path[-2] in BY_RULE


def _texts(value: Any) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield (), value
    elif isinstance(value, dict):
        yield from (((name,), name) for name in value)
    else:
        yield from (((index,), one) for index, one in enumerate(value) if isinstance(one, str))
