"""Check records against rules that a user defines in the configuration.

A rule has a place, a condition and a message. The run time grows with the size of a record, whatever its content.
"""

from turnlint.own_rules.rules import Condition, OwnRule
from turnlint.own_rules.watching import Watch

__all__ = ["Condition", "OwnRule", "Watch"]
