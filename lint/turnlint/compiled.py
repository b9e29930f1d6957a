"""Load the native module, if it is installed."""

import sys
from importlib import import_module
from types import ModuleType

NAME = "turnlint.fastpath._native"
MIN_SEARCHED_BYTES = 1 << 14
"""Size from which a search is worth loading the native module."""


def loaded() -> ModuleType | None:
    """Return the native module if it is loaded already: small runs do without."""
    return sys.modules.get(NAME)


def load_for(size: int) -> ModuleType | None:
    """Return the native module if it is loaded, or if a search of this size is worth loading it."""
    return loaded() or (load() if size >= MIN_SEARCHED_BYTES else None)


def load() -> ModuleType | None:
    try:
        return import_module(NAME)
    except ImportError:
        return None
