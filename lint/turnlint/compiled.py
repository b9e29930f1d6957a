"""What was compiled, where it is there.

This module owns the way to it. It refuses to know what it does.
"""

import sys
from importlib import import_module
from types import ModuleType

NAME = "turnlint.scan._native"


def loaded() -> ModuleType | None:
    """The native module, once somebody has loaded it: small runs do without."""
    return sys.modules.get(NAME)


def load() -> ModuleType | None:
    try:
        return import_module(NAME)
    except ImportError:
        return None
