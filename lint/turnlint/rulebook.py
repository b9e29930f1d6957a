"""Load and select rules.

Modules of rules are found by a search of their package, and need no registration.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from msgspec import Struct

from turnlint.api import Check, CheckRecord, Rule
from turnlint.checks import Declared, is_asked, modules_in, triggers_of
from turnlint.errors import BrokenRulesError, RemovedRuleError, UnknownRuleError
from turnlint.packages import BUILTIN, packages
from turnlint.text import nearest_name

FAMILIES = ("state", "pairing", "projection", "contract")
OWN = "own/"
"""Prefix of the names of the user's own rules."""


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
    def triggers(self) -> frozenset[str] | None:
        """Return all triggers of the rule; `None` if it declares none, or an unknown one."""
        return triggers_of(self.rule.code, self.rule.triggers)

    def is_asked(self, found: frozenset[str]) -> bool:
        """Whether the rule may report something about a conversation with these triggers and suspects."""
        return is_asked(self.triggers, found)


def load(package: str) -> list[Entry]:
    """Return every rule of a package: each module below it that has a `RULE`. Raises `BrokenRulesError`."""
    try:
        return _load(package)
    except Exception as error:
        if package == BUILTIN:
            raise
        raise BrokenRulesError(package, error) from None


def _load(package: str) -> list[Entry]:
    root = import_module(package)
    return _entries(package, [package, *(name for name, _ in modules_in(root))])


def _entries(package: str, names: Iterable[str]) -> list[Entry]:
    """Return the rules among some modules of a package, in the order of their codes."""
    modules = map(import_module, names)
    found = [_entry(module, builtin=package == BUILTIN) for module in modules if hasattr(module, "RULE")]
    return sorted(found, key=lambda entry: entry.rule.code)


def take(declared: dict[str, Declared], found: frozenset[str]) -> list[Entry]:
    """Load those of some built-in rules that may report something for these triggers and suspects."""
    every = declared.items()
    names = [name for name, (code, some, _) in every if is_asked(triggers_of(code, some), found)]
    return _entries(BUILTIN, names)


def _entry(module: Any, *, builtin: bool) -> Entry:
    headline, _, docs = (module.__doc__ or "").strip().partition("\n")
    check = getattr(module, "check", None)
    check_record = getattr(module, "check_record", None)
    return Entry(module.RULE, headline, docs.strip(), check, check_record, builtin, module)


def everything() -> list[Entry]:
    return [entry for package in packages() for entry in load(package)]


def names_of(entries: Iterable[Entry]) -> list[str]:
    return [name for entry in entries for name in (entry.rule.code, entry.rule.name)]


def is_code(name: str) -> bool:
    """Whether a name of a rule is its code."""
    return name[:2].isalpha() and name.isupper() and name[2:].isdigit()


@cache
def removed() -> dict[str, str]:
    """Return the reasons why rules were removed, by each former code and name, from `REMOVED` in the packages."""
    tables = [getattr(import_module(package), "REMOVED", {}) for package in packages()]
    return {name: reason for table in tables for names, reason in table.items() for name in names}


def choose(
    entries: list[Entry], select: tuple[str, ...], ignore: tuple[str, ...], *, preview: bool = False
) -> list[Entry]:
    """Return the rules of a run. Selectors are codes, prefixes of codes, names, or families.

    A rule in preview runs if previews are enabled, or if its own name is selected. A removed rule may be
    ignored, but not selected.
    """
    for selector in (*select, *ignore):
        if not any(matches(entry.rule, selector) for entry in entries):
            gone = why_gone(selector)
            if gone is None or selector in select:
                raise unknown(selector, entries)
    return [
        entry
        for entry in entries
        if (not select or any(matches(entry.rule, one) for one in select))
        and not any(matches(entry.rule, one) for one in ignore)
        and (entry.rule.state != "preview" or preview or any(is_named(entry.rule, one) for one in select))
    ]


def unknown(selector: str, entries: list[Entry], others: Iterable[str] = FAMILIES) -> UnknownRuleError:
    """Return the error for a selector that matches no rule."""
    gone = why_gone(selector)
    if gone is not None:
        return RemovedRuleError(selector, gone)
    return UnknownRuleError(selector, nearest_name(selector, [*names_of(entries), *others]))


def why_gone(selector: str) -> str | None:
    """Return why a rule of this code or name was removed; nothing if it never existed."""
    known = removed()
    return known.get(selector) or known.get(selector.upper())


def remarks(selectors: Iterable[str], entries: list[Entry]) -> Iterator[str]:
    """Yield remarks about named rules: former names, deprecated rules and removed rules."""
    for selector in dict.fromkeys(selectors):
        meant = [entry.rule for entry in entries if matches(entry.rule, selector)]
        for rule in meant:
            if is_former(rule, selector):
                yield f"{selector!r} is now called {rule.code} {rule.name}"
            if rule.state == "deprecated" and is_named(rule, selector):
                yield f"{rule.code} {rule.name} is deprecated; `turnlint explain {rule.code}` says why"
        if not meant and (gone := why_gone(selector)):
            yield f"the rule {selector!r} was removed: {gone}"


def waiting(select: Iterable[str], entries: list[Entry], *, preview: bool) -> Iterator[str]:
    """Yield remarks about selectors that match only rules in preview, if previews are disabled."""
    for selector in () if preview else select:
        meant = [entry.rule for entry in entries if matches(entry.rule, selector)]
        if meant and all(one.state == "preview" and not is_named(one, selector) for one in meant):
            yield f"{selector!r} selects only rules in preview; add --preview to run them"


def current(selector: str, entries: list[Entry]) -> str:
    """Return the selector, or the current name of a rule if the selector is a former name and matches nothing else."""
    rules = [entry.rule for entry in entries if matches(entry.rule, selector)]
    if not rules or not all(is_former(one, selector) for one in rules):
        return selector
    return rules[0].code if is_code(selector.upper()) else rules[0].name


def is_former(rule: Rule, selector: str) -> bool:
    """Whether a selector is a former code or name of the rule."""
    return selector in rule.aliases or selector.upper() in rule.aliases


def is_named(rule: Rule, selector: str) -> bool:
    """Whether a selector names this one rule, by its code or a name."""
    return selector == rule.name or selector.upper() == rule.code or is_former(rule, selector)


def matches(rule: Rule, selector: str) -> bool:
    return selects(selector, rule.code, rule.name, rule.fault) or is_former(rule, selector)


def selects(selector: str, code: str, name: str, fault: str) -> bool:
    """Whether a selector matches a rule by code, name or family; `own` is the family of the user's own rules."""
    if name.startswith(OWN):
        fault = OWN.removesuffix("/")
    if selector in (name, fault) or selector.upper() == "ALL":
        return True
    upper = selector.upper()
    return len(upper) >= 2 and upper[:2].isalpha() and code.startswith(upper)
