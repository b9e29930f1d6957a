"""Processes that work, each on one task at a time.

This module owns their lives: they are started when there is something to do, a dead one is noticed and named with
its task, and replaced. It refuses to know what a task is.
"""

from collections.abc import Callable, Iterator
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from turnlint.spread.parcel import Died

AHEAD = 4
"""So many tasks a process may be ahead of what was handed out: what is found waits in memory."""


Work = Callable[[Any], Any]
Result = tuple[int, Any]


class _Worker:
    def __init__(self, prepare: Callable[..., Work], arguments: tuple[Any, ...]) -> None:
        context: Any = get_context("fork" if "fork" in get_all_start_methods() else "spawn")
        self.pipe: Connection
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(theirs, self.pipe, prepare, arguments), daemon=True
        )
        self.process.start()
        theirs.close()
        self.task: int | None = None

    def give(self, number: int, task: Any) -> None:
        self.task = number
        self.pipe.send(task)

    def take(self) -> Any:
        """The result of its task, or `Died`."""
        self.task = None
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            return Died(_ending(self.process.exitcode))

    def stop(self) -> None:
        self.pipe.close()
        self.process.terminate()
        self.process.join()


def _ending(code: int | None) -> str:
    return f"stopped by signal {-code}" if code is not None and code < 0 else f"ended with code {code}"


def _serve(
    pipe: Connection, parents: Connection, prepare: Callable[..., Work], arguments: tuple[Any, ...]
) -> None:
    parents.close()  # or the end of the parent would never be seen
    work = prepare(*arguments)
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
            result = error
        pipe.send(result)


class Crew:
    """Some processes, and the tasks they are at."""

    def __init__(self, size: int, prepare: Callable[..., Work], *arguments: Any) -> None:
        self.size = size
        self.prepare = prepare
        self.arguments = arguments
        self.workers: list[_Worker] = []

    def work(self, tasks: list[Any]) -> Iterator[Result]:
        """Each task's number with its result, or with what became of the process, in the order of the tasks."""
        done: dict[int, Any] = {}
        given = told = 0
        while told < len(tasks):
            while given < min(len(tasks), told + AHEAD * self.size) and (worker := self._idle()):
                worker.give(given, tasks[given])
                given += 1
            busy = {worker.pipe: worker for worker in self.workers if worker.task is not None}
            for pipe in wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]
                number = worker.task
                assert number is not None
                done[number] = worker.take()
                if isinstance(done[number], Died):
                    self.workers.remove(worker)
            while told in done:
                yield told, done.pop(told)
                told += 1

    def _idle(self) -> _Worker | None:
        worker = next((one for one in self.workers if one.task is None), None)
        if worker is None and len(self.workers) < self.size:
            worker = _Worker(self.prepare, self.arguments)
            self.workers.append(worker)
        return worker

    def stop(self) -> None:
        for worker in self.workers:
            worker.stop()
        self.workers.clear()
