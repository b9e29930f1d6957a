"""A disk that fails, and a process that dies, at any system call of a write.

Makes such systems, and iterates over every call.
"""

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import structs

from turnlint.keeping.system import SYSTEM, System

Fault = Callable[[Callable[..., Any], tuple[Any, ...]], Any]


class Counted:
    """A system that counts its calls, and applies a fault at one of them."""

    def __init__(self, at: int, fault: Fault) -> None:
        self.at = at
        self.fault = fault
        self.names: list[str] = []
        self.system = System(
            **{name: self._wrapped(name, call) for name, call in structs.asdict(SYSTEM).items()}
        )

    def _wrapped(self, name: str, call: Any) -> Any:
        def counted(*arguments: Any) -> Any:
            self.names.append(name)
            return self.fault(call, arguments) if len(self.names) - 1 == self.at else call(*arguments)

        return counted


def failing(number: int, *, late: bool) -> Fault:
    """Fail the call, before it has any effect or after half of it."""

    def fault(call: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        if call is os.close or (late and call in (os.fsync, os.ftruncate)):
            call(*arguments)
        if late and call is os.write:
            call(arguments[0], arguments[1][: len(arguments[1]) // 2])
        raise OSError(number, os.strerror(number))

    return fault


def dying(*, late: bool) -> Fault:
    """Kill the process, before the call or after it; a write is cut in half."""

    def fault(call: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        try:
            if call is os.write:
                call(arguments[0], arguments[1][: len(arguments[1]) // 2])
            elif late:
                call(*arguments)
        finally:
            os.kill(os.getpid(), signal.SIGKILL)

    return fault


def names_of(act: Callable[[System], Any]) -> list[str]:
    """The calls of an action without faults."""
    counted = Counted(-1, failing(0, late=False))
    act(counted.system)
    return counted.names


def in_child(act: Callable[[], Any]) -> int:
    """Run an action in its own process; return its outcome."""
    child = os.fork()
    if not child:
        code = 99
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


def only(path: str, data: bytes) -> None:
    """Check the content of the file, and that a killed run left nothing beside it."""
    folder = os.path.dirname(path)
    for name in os.listdir(folder):
        if ".turnlint-" in name:
            os.unlink(os.path.join(folder, name))
    with open(path, "wb") as file:
        file.write(data)


def killed_at_each_call(act: Callable[[System], Any], again: Callable[[], Any]) -> Iterator[str]:
    """Yield the name of each way to be killed, after that kill; `again` restores the state before."""
    again()
    names = names_of(act)
    for late in (False, True):
        for at, name in enumerate(names):
            again()
            counted = Counted(at, dying(late=late))
            status = in_child(lambda counted=counted: act(counted.system))
            assert os.WIFSIGNALED(status), (name, at)
            yield f"{name} {at} {'late' if late else 'early'}"
