"""Add user-defined rules to the list of rules, so that users select them by name like all others."""

import sys

from turnlint.api import Rule
from turnlint.own_rules.rules import OwnRule
from turnlint.rulebook import OWN, Entry


def entry_of(rule: OwnRule) -> Entry:
    name = OWN + rule.name
    nature = Rule(name, name, rule.severity, family="state")
    return Entry(nature, rule.message, rule.about, None, None, builtin=False, module=sys.modules[__name__])
