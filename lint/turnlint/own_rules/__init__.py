"""Rules that a user writes into the configuration: a place, a condition, a sentence.

This package owns what such rules can say and how records are held against them, in time that grows with the record
and not with what it holds. It refuses to read a file, and to know conversations.
"""

from turnlint.own_rules.rules import Condition, OwnRule
from turnlint.own_rules.watching import Watch

__all__ = ["Condition", "OwnRule", "Watch"]
