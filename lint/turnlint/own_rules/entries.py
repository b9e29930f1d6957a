"""Rules of a user's own beside the others, so that they are chosen by the same names.

This module owns what stands for such a rule in the book of rules. It refuses to hold it against anything.
"""

import sys

from turnlint.api import Rule
from turnlint.own_rules.rules import OwnRule
from turnlint.rulebook import OWN, Entry


def entry_of(rule: OwnRule) -> Entry:
    name = OWN + rule.name
    nature = Rule(name, name, rule.severity, family="state")
    return Entry(nature, rule.message, rule.about, None, None, builtin=False, module=sys.modules[__name__])
