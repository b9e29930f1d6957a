"""A process that is this one over again, and lives a life of its own.

This module owns how it begins and ends: nothing is left to whoever was forked, no buffer is flushed twice, no file closed.
It refuses to know what the process does.
"""

import os
from collections.abc import Callable
from importlib import import_module

FORKS = hasattr(os, "fork")
"""Whether this system does that."""


def fork(life: Callable[[], None]) -> int:
    """Begin one. Its code is 0 where it came to its end, or nobody read on; else 1, so that what it left undone is known.

    A signal may arrive with the first step that it takes: it must not go on as a second program whatever happens.
    """
    parent, code = os.getpid(), 1
    try:
        process = os.fork()
        if not process:
            _die_of_signals()
            life()
            code = 0
    except BrokenPipeError:
        if os.getpid() == parent:
            raise
        code = 0
    finally:
        if os.getpid() != parent:
            os._exit(code)
    return process


def _die_of_signals() -> None:
    """Let signals end this process at once: it has nothing to clean up."""
    _signal = import_module("_signal")
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(_signal, name) and callable(_signal.getsignal(getattr(_signal, name))):
            _signal.signal(getattr(_signal, name), _signal.SIG_DFL)


def wait(process: int) -> int:
    """The code that it ended with; a signal is a negative one."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
