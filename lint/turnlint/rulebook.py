"""Which rules there are.

This module owns loading and selection. Modules are found by scanning: nothing is registered by hand. It refuses to
run a rule.
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
"""How the names of rules begin that a user writes into the configuration."""


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
        """All triggers of the rule; `None` if it declares none, or one that does not exist."""
        return triggers_of(self.rule.code, self.rule.triggers)

    def is_asked(self, found: frozenset[str]) -> bool:
        """Whether the rule may report something about a conversation with these triggers and suspects."""
        return is_asked(self.triggers, found)


def load(package: str) -> list[Entry]:
    """Every rule of a package: each module below it that has a `RULE`."""
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
    """The rules among some modules of a package, in order of their codes."""
    modules = map(import_module, names)
    found = [_entry(module, builtin=package == BUILTIN) for module in modules if hasattr(module, "RULE")]
    return sorted(found, key=lambda entry: entry.rule.code)


def take(declared: dict[str, Declared], found: frozenset[str]) -> list[Entry]:
    """Load those of some built-in rules that may report something where there are these triggers and suspects."""
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
    """Why rules are gone, by each code and name that they had: what a package says in its `REMOVED`."""
    tables = [getattr(import_module(package), "REMOVED", {}) for package in packages()]
    return {name: reason for table in tables for names, reason in table.items() for name in names}


def choose(
    entries: list[Entry], select: tuple[str, ...], ignore: tuple[str, ...], *, preview: bool = False
) -> list[Entry]:
    """The rules a run uses. Selectors are codes, beginnings of codes, names, or families.

    A rule in preview is used where previews are wanted, or where it is selected by its own name. What is gone may
    be ignored all the same.
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
    """What is said of a selector that selects nothing."""
    gone = why_gone(selector)
    if gone is not None:
        return RemovedRuleError(selector, gone)
    return UnknownRuleError(selector, nearest_name(selector, [*names_of(entries), *others]))


def why_gone(selector: str) -> str | None:
    """Why a rule of this code or name is no more; nothing where there never was one."""
    known = removed()
    return known.get(selector) or known.get(selector.upper())


def remarks(selectors: Iterable[str], entries: list[Entry]) -> Iterator[str]:
    """What is to be said of rules that were named: by a former name, one that will go, one that is gone."""
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
    """What is to be said of selectors that select nothing but rules in preview, where these are not wanted."""
    for selector in () if preview else select:
        meant = [entry.rule for entry in entries if matches(entry.rule, selector)]
        if meant and all(one.state == "preview" and not is_named(one, selector) for one in meant):
            yield f"{selector!r} selects only rules in preview; add --preview to run them"


def current(selector: str, entries: list[Entry]) -> str:
    """The selector, or what a rule is called today that it is a former name of, and means nothing else."""
    rules = [entry.rule for entry in entries if matches(entry.rule, selector)]
    if not rules or not all(is_former(one, selector) for one in rules):
        return selector
    return rules[0].code if is_code(selector.upper()) else rules[0].name


def is_former(rule: Rule, selector: str) -> bool:
    """Whether a selector is a code or a name that the rule had."""
    return selector in rule.aliases or selector.upper() in rule.aliases


def is_named(rule: Rule, selector: str) -> bool:
    """Whether a selector means this one rule, by its code or a name."""
    return selector == rule.name or selector.upper() == rule.code or is_former(rule, selector)


def matches(rule: Rule, selector: str) -> bool:
    return selects(selector, rule.code, rule.name, rule.fault) or is_former(rule, selector)


def selects(selector: str, code: str, name: str, fault: str) -> bool:
    """Whether a selector means the rule of this code, name and family; `own` is the family of the user's own rules."""
    if name.startswith(OWN):
        fault = OWN.removesuffix("/")
    if selector in (name, fault) or selector.upper() == "ALL":
        return True
    upper = selector.upper()
    return len(upper) >= 2 and upper[:2].isalpha() and code.startswith(upper)
