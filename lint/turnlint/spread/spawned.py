"""A process that begins anew, for systems where none can be forked.

This module owns its life, which it leaves to the standard library. It refuses to know what a task is.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from turnlint.spread.parcel import Died, Lost


class Spawned:
    """One such process, from the side of whoever gives it tasks. It is sent the next when it is done with one."""

    def __init__(
        self, prepare: Callable[[], Callable[[Any], Any]], tasks: Sequence[Any], _: Iterable[Any]
    ) -> None:
        context: Any = get_context("spawn")
        self.pipe: Connection
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, prepare), daemon=True)
        self.process.start()
        theirs.close()
        self.tasks = tasks
        self.given: deque[int] = deque()
        self.served = self.gone = False

    def give(self, number: int) -> bool:
        """Whether it could be told. One that never did anything is to blame for what it was to do first."""
        try:
            if not self.given:
                self.pipe.send(self.tasks[number])
        except OSError:  # it died while it waited
            self.gone = self.served
        if not self.gone:
            self.given.append(number)
        return not self.gone

    def take(self) -> tuple[int, Any]:
        """The task that it did, and its result, or `Died`."""
        number = self.given.popleft()
        try:
            found = self.pipe.recv()
        except (EOFError, OSError):
            return number, Died(f"ended with code {self.join()}")
        self.served = True
        if self.given:
            with suppress(OSError):  # it died since: whoever takes the next will see
                self.pipe.send(self.tasks[self.given[0]])
        return number, found

    def stop(self) -> None:
        self.gone = True
        self.process.terminate()

    def join(self) -> int | None:
        """Wait for its end. Returns the code that it ended with."""
        self.process.join()
        self.pipe.close()
        code: int | None = self.process.exitcode
        return code


def finished(workers: Iterable[Spawned]) -> list[Spawned]:
    """Those that have a result, or are dead; as soon as there is one."""
    by_pipe: dict[Any, Spawned] = {worker.pipe: worker for worker in workers}
    return [by_pipe[pipe] for pipe in wait([*by_pipe])]


def _serve(pipe: Connection, prepare: Callable[[], Callable[[Any], Any]]) -> None:
    work = prepare()
    while True:
        try:
            task = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            result = work(task)
        except KeyboardInterrupt:
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told with the task's name
            result = Lost(type(error).__name__)
        try:
            pipe.send(result)
        except OSError:  # nobody reads on
            return
        except Exception as error:  # noqa: BLE001 - it cannot be said
            pipe.send(Lost(type(error).__name__))
