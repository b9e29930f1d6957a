"""Which rules there are.

This module owns loading and selection. Modules are found by scanning: nothing is registered by hand. It refuses to
run a rule.
"""

import os
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from msgspec import Struct

from turnlint.api import Check, CheckRecord, Rule
from turnlint.packages import BUILTIN, packages

FAMILIES = ("state", "pairing", "projection", "contract")
OWN = "own/"
"""How the names of rules begin that a user writes into the configuration."""
FAULTS_ONLY = ("state", "pairing")
"""Families whose built-in rules have nothing to say where `clean` sees no fault; a test holds them to it."""


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


def load(package: str) -> list[Entry]:
    """Every rule of a package: each module below it that has a `RULE`."""
    try:
        return _load(package)
    except Exception as error:
        if package == BUILTIN:
            raise
        raise BrokenRules(package, error) from None


def _load(package: str) -> list[Entry]:
    root = import_module(package)
    found = [
        _entry(module, builtin=package == BUILTIN) for module in _modules(root) if hasattr(module, "RULE")
    ]
    return sorted(found, key=lambda entry: entry.rule.code)


def _modules(root: ModuleType) -> Iterator[ModuleType]:
    yield root
    for folder in getattr(root, "__path__", ()):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if name.endswith(".py") and name != "__init__.py":
                yield import_module(f"{root.__name__}.{name[:-3]}")
            elif name != "profiles" and os.path.isfile(os.path.join(path, "__init__.py")):
                yield from _modules(import_module(f"{root.__name__}.{name}"))


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
