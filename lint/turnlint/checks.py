"""Select the rules that may report something about a conversation.

A rule about state or pairing declares triggers, and the facts about a conversation name those that it has.
For a rule about providers, `suspects` checks the facts against the clauses of a profile that apply to a wire
and a model. A rule without declared triggers runs on every conversation, and no scanner may skip one.

The triggers of the built-in rules are read from their source text: to import all of these rules takes 30 ms,
and most runs need none of them.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from turnlint.clause import Clause
from turnlint.clauses import UnknownKey
from turnlint.facts import TRIGGERS, ConversationFacts
from turnlint.keys import Strict, by_place
from turnlint.packages import BUILTIN
from turnlint.profiles import is_meant

if TYPE_CHECKING:
    from turnlint.providers import Chosen

IsSatisfied = Callable[..., bool]
"""A bound method `is_satisfied_by` of a clause, or of all clauses about keys together."""
Checks = tuple[tuple[str, IsSatisfied], ...]
"""Each check with the code of the rule that uses the clause."""
MAX_PREPARED = 1000
"""Limit of the cached checks, by profile, wire and model."""
MAX_MODEL_CHARACTERS = 100
"""The checks of a model with a longer name are not cached."""
_NONE: frozenset[str] = frozenset()


def suspects(facts: ConversationFacts, checks: Checks, *, named: bool) -> frozenset[str]:
    """Return the codes of the rules whose clauses may not be satisfied. `named`: the user named the provider."""
    found = [code for code, is_satisfied in checks if not is_satisfied(facts, named=named)]
    return frozenset(found) if found else _NONE


def checks_of(chosen: "Chosen", wire: str, model: str | None) -> Checks:
    """Return the checks for conversations on a wire (`Wire.speaks`) with a model."""
    profile, certain, named = chosen.profile, chosen.certain, chosen.named
    is_spelled, known = profile.speaks(wire), profile.model_on(wire, model)
    found: list[tuple[str, IsSatisfied]] = []
    for code, clauses in profile.by_code.items():
        keys: list[UnknownKey] = []
        for one in clauses:
            is_read = is_spelled or one.wires or one.anywhere
            if not is_read or not is_meant(one, wire, known, certain=certain, named=named):
                continue
            if isinstance(one, UnknownKey):
                keys.append(one)
            else:
                found.append((code, one.is_satisfied_by))
        if keys:
            found.append((code, Strict(by_place(keys)).is_satisfied_by))
    return tuple(found)


_Choice = tuple[int, bool, bool]
"""A profile, and whether it is certain and named."""


def _choice_of(chosen: "Chosen") -> _Choice:
    return id(chosen.profile), chosen.certain, chosen.named


class PreparedChecks:
    """Cached checks for the profiles, wires and models of a run. The owner must keep the profiles alive."""

    def __init__(self) -> None:
        self.held: dict[tuple[_Choice, str, str | None], Checks] = {}
        self.variants: dict[tuple[_Choice, str, tuple[bool, ...] | None], Checks] = {}
        """Models to which the same clauses apply share their checks, and the cached results of these."""

    def of(self, chosen: "Chosen", wire: str, model: str | None) -> Checks:
        if model is not None and len(model) > MAX_MODEL_CHARACTERS:
            return checks_of(chosen, wire, model)
        key = _choice_of(chosen), wire, model
        found = self.held.get(key)
        if found is None:
            if len(self.held) >= MAX_PREPARED:
                self.held.clear()
            found = self.held[key] = self._prepare(chosen, wire, model)
        return found

    def _prepare(self, chosen: "Chosen", wire: str, model: str | None) -> Checks:
        profile = chosen.profile
        key = _choice_of(chosen), wire, profile.variant_of(profile.model_on(wire, model))
        found = self.variants.get(key)
        if found is None:
            if len(self.variants) >= MAX_PREPARED:
                self.variants.clear()
            found = self.variants[key] = checks_of(chosen, wire, model)
        return found


RECORD = "record"
"""The trigger of rules about damage outside of conversations."""
Declared = tuple[str, frozenset[str] | None, bool]
"""The code of a rule, the triggers that it declares, and whether it is in preview."""
_START, _TRIGGERS, _PREVIEW = "\nRULE = Rule(", "triggers=frozenset(", 'state="preview"'


def triggers_of(code: str, declared: frozenset[str] | None) -> frozenset[str] | None:
    """Return the declared triggers and the code of the rule; `None` if it declares none, or an unknown one."""
    if declared is None:
        return None
    others = declared - TRIGGERS - {RECORD}
    known = not others or others <= {kind.code for kind in Clause.__subclasses__()}
    return declared | {code} if known else None


def union_of(triggers: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """Return all triggers of some rules; `None` if one of the rules has none."""
    found = list(triggers)
    return None if None in found else frozenset().union(*(one or () for one in found))


def is_asked(triggers: frozenset[str] | None, found: frozenset[str]) -> bool:
    """Whether a rule may report something about a conversation with these triggers and suspects."""
    return triggers is None or not triggers.isdisjoint(found)


def built_in() -> dict[str, Declared]:
    """Return the declaration of each built-in rule, by its module."""
    found = ((name, _declared_in(name, path)) for name, path in modules_in(import_module(BUILTIN)))
    return {name: declared for name, declared in found if declared is not None}


def modules_in(root: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield all modules of a package but its profiles, with their paths, without importing them."""
    folders = [(root.__name__, folder) for folder in getattr(root, "__path__", ())]
    for package, folder in folders:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if name.endswith(".py") and name != "__init__.py":
                yield f"{package}.{name[:-3]}", path
            elif name != "profiles" and os.path.isfile(os.path.join(path, "__init__.py")):
                yield f"{package}.{name}", os.path.join(path, "__init__.py")
                folders.append((f"{package}.{name}", path))


def _declared_in(name: str, path: str) -> Declared | None:
    """Return the declaration of the rule in a module, if it has one.

    Import the module only if its text cannot be parsed.
    """
    with open(path, "rb", buffering=0) as file:
        text = file.read().decode()
    start = text.find(_START)
    if start < 0 and "\nRULE" not in text:
        return None
    declaration = text[start : text.find("\n\n", start)]
    _, is_declared, rest = declaration.partition(_TRIGGERS)
    words = rest.partition(")")[0].strip("{}").split(",")
    literals = [word for word in map(str.strip, words) if word]
    parts = declaration.split('"', 2)
    if start >= 0 and is_declared and len(parts) == 3 and all(map(_is_literal, literals)):
        return parts[1], frozenset([word[1:-1] for word in literals]), _PREVIEW in declaration
    rule = getattr(import_module(name), "RULE", None)
    return None if rule is None else (rule.code, rule.triggers, rule.state == "preview")


def _is_literal(word: str) -> bool:
    return len(word) > 2 and word[0] == word[-1] == '"' and word.count('"') == 2
