"""Which rules there are.

This module owns discovery and selection. Built-in rules come in through the same entry-point group
as anyone else's, and modules are found by scanning: nothing is registered by hand. It refuses to run
a rule.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from msgspec import Struct

from turnlint.api import Check, CheckRecord, Rule

GROUP = "turnlint.rules"
BUILTIN = "turnlint_rules"
FAMILIES = ("state", "pairing", "projection", "contract")
OWN = "own/"
"""How the names of rules begin that a user writes into the configuration."""
FAULTS_ONLY = ("state", "pairing")
"""Families whose built-in rules have nothing to say where `clean` sees no fault; a test holds them to it."""
TABLE = f"{BUILTIN}._concerns"
"""The module that says which of the built-in rules speak of what alone."""


class Entry(Struct, frozen=True):
    """A loaded rule."""

    rule: Rule
    headline: str
    docs: str
    check: Check | None
    check_record: CheckRecord | None
    builtin: bool
    module: ModuleType

    @property
    def only_faults(self) -> bool:
        """It speaks of damaged state or pairing only, and so never of a conversation that is clean."""
        return self.builtin and self.rule.fault in FAULTS_ONLY


class UnknownRule(Exception):  # noqa: N818 - it is what the user asked for, and the sentence says so
    """A selector that selects nothing."""

    def __init__(self, selector: str, near: str | None) -> None:
        hint = f"; did you mean {near}?" if near else "; `turnlint rules` lists them"
        super().__init__(f"no rule, code or family is called {selector!r}{hint}")


class BrokenRules(Exception):  # noqa: N818 - somebody else's package, named with what it says
    """A package of rules that cannot be loaded."""

    def __init__(self, package: str, error: Exception) -> None:
        super().__init__(f"the rules of {package} cannot be loaded: {type(error).__name__}: {error}")


def packages() -> list[str]:
    """The packages that bring rules, the built-in one first.

    Reading every installed package's metadata through `importlib.metadata` costs as much as a whole
    small run, so it is done only where a first look shows that anyone else brings rules.
    """
    others = {name for name in _declared() if name != BUILTIN}
    if others:
        from importlib.metadata import entry_points

        others = {point.value for point in entry_points(group=GROUP)} - {BUILTIN}
    return [BUILTIN, *sorted(others)]


def _declared() -> Iterator[str]:
    """The values in the group, from the metadata files on the path."""
    for folder in dict.fromkeys(sys.path):
        try:
            names = [name for name in os.listdir(folder or ".") if name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for name in names:
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), encoding="utf-8") as file:
                    text = file.read()
            except (OSError, ValueError):
                continue
            if GROUP in text:
                yield from _values_in(text)


def _values_in(text: str) -> Iterator[str]:
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{GROUP}]"
        elif inside and "=" in line and not line.startswith(("#", ";")):
            yield line.split("=", 1)[1].strip()


def load(package: str) -> list[Entry]:
    """Every rule of a package: each module below it that has a `RULE`."""
    try:
        return _load(package)
    except Exception as error:
        if package == BUILTIN:
            raise
        raise BrokenRules(package, error) from None


def _load(package: str) -> list[Entry]:
    return _entries(package, names_in(import_module(package)))


def _entries(package: str, names: Iterable[str]) -> list[Entry]:
    """The rules among some modules of a package, in order of their codes."""
    modules = map(import_module, names)
    found = [_entry(module, builtin=package == BUILTIN) for module in modules if hasattr(module, "RULE")]
    return sorted(found, key=lambda entry: entry.rule.code)


def names_in(root: ModuleType) -> list[str]:
    """A package and all modules below it but its profiles, none of them imported for that."""
    found = [root.__name__]
    folders = [(root.__name__, folder) for folder in getattr(root, "__path__", ())]
    for package, folder in folders:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if name.endswith(".py") and name != "__init__.py":
                found.append(f"{package}.{name[:-3]}")
            elif name != "profiles" and os.path.isfile(os.path.join(path, "__init__.py")):
                found.append(f"{package}.{name}")
                folders.append((f"{package}.{name}", path))
    return found


class Shelf:
    """The built-in rules, each loaded when there is something that it may speak of."""

    def __init__(self) -> None:
        self.concerns: dict[str, frozenset[str]] = {
            f"{BUILTIN}.{name}": frozenset(some) for name, some in import_module(TABLE).CONCERNS.items()
        }
        self.names = [name for name in names_in(import_module(BUILTIN)) if name != TABLE]

    def concerned(self, name: str, concerns: frozenset[str]) -> bool:
        """Whether the rule of this module may have something to say where there is this; one that is not listed may."""
        return name not in self.concerns or not concerns.isdisjoint(self.concerns[name])

    def take(self, concerns: frozenset[str]) -> list[Entry]:
        return _entries(BUILTIN, (name for name in self.names if self.concerned(name, concerns)))


@cache
def shelf() -> Shelf:
    return Shelf()


def _entry(module: Any, *, builtin: bool) -> Entry:
    headline, _, docs = (module.__doc__ or "").strip().partition("\n")
    check = getattr(module, "check", None)
    check_record = getattr(module, "check_record", None)
    return Entry(module.RULE, headline, docs.strip(), check, check_record, builtin, module)


def everything() -> list[Entry]:
    return [entry for package in packages() for entry in load(package)]


def names_of(entries: Iterable[Entry]) -> list[str]:
    return [name for entry in entries for name in (entry.rule.code, entry.rule.name)]


def choose(entries: list[Entry], select: tuple[str, ...], ignore: tuple[str, ...]) -> list[Entry]:
    """The rules a run uses. Selectors are codes, beginnings of codes, names, or families."""
    for selector in (*select, *ignore):
        if not any(matches(entry.rule, selector) for entry in entries):
            raise UnknownRule(selector, nearest(selector, [*names_of(entries), *FAMILIES]))
    return [
        entry
        for entry in entries
        if (not select or any(matches(entry.rule, one) for one in select))
        and not any(matches(entry.rule, one) for one in ignore)
    ]


def matches(rule: Rule, selector: str) -> bool:
    return selects(selector, rule.code, rule.name, rule.fault)


def selects(selector: str, code: str, name: str, fault: str) -> bool:
    """Whether a selector means the rule of this code, name and family; `own` is the family of the user's own rules."""
    if name.startswith(OWN):
        fault = OWN.removesuffix("/")
    if selector in (name, fault) or selector.upper() == "ALL":
        return True
    upper = selector.upper()
    return len(upper) >= 2 and upper[:2].isalpha() and code.startswith(upper)


def nearest(selector: str, names: list[str]) -> str | None:
    from difflib import get_close_matches

    close = get_close_matches(selector, names, 1) or get_close_matches(selector.upper(), names, 1)
    return close[0] if close else None
