"""What was compiled, where it is there.

This module owns the way to it. It refuses to load it: whoever reads much does that, and small runs do without.
"""

import sys
from types import ModuleType

NAME = "turnlint.scan._native"


def loaded() -> ModuleType | None:
    """The native module, once somebody has loaded it."""
    return sys.modules.get(NAME)
