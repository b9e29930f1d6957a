"""Modules that are loaded late, though who imports them is needed at once.

This module owns how that is done: who imports one meanwhile gets a stand-in, and the first thing that is asked of it loads
it. It refuses to know which modules are worth it.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _StandIn(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        real = import_module(self.__name__)
        vars(self).update(vars(real))
        return getattr(real, name)


class Late:
    """While this is entered. Who imports one of the modules later gets the module itself."""

    def __init__(self, *names: str) -> None:
        self.stand_ins = [_StandIn(name) for name in names if name not in sys.modules]

    def __enter__(self) -> None:
        for one in self.stand_ins:
            sys.modules[one.__name__] = one

    def __exit__(self, *_: object) -> None:
        for one in self.stand_ins:
            if sys.modules.get(one.__name__) is one:
                del sys.modules[one.__name__]
