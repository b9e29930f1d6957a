"""Processes that work, each on one task at a time.

This module owns who does what: they are started when there is something to do, a dead one is noticed and named with
its task, and replaced. It refuses to know what a task is, and how a process comes to be.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from turnlint.apart import FORKS
from turnlint.spread.parcel import Died

AHEAD = 4
"""So many tasks a process may be ahead of what was handed out: what is found waits in memory."""
_DEEP = 2
"""So many tasks a process has at once: the next is there when one is done."""

Work = Callable[[Any], Any]
Result = tuple[int, Any]


class Crew:
    """Some processes, and the tasks that are theirs."""

    def __init__(self, size: int, prepare: Callable[[], Work], tasks: Sequence[Any]) -> None:
        self.size = size
        self.prepare = prepare
        self.tasks = tasks
        self.waiting = deque(range(len(tasks)))
        self.workers: list[Any] = []
        self.kind: Any
        if FORKS:
            from turnlint.spread import forked

            self.kind, self.finished = forked.Forked, forked.finished
        else:
            from turnlint.spread import spawned

            self.kind, self.finished = spawned.Spawned, spawned.finished  # type: ignore[assignment]

    def work(self) -> Iterator[Result]:
        """Each task's number with its result, or with what became of the process, in the order of the tasks."""
        done: dict[int, Any] = {}
        told = 0
        while told < len(self.tasks):
            self._hand_out(told)
            for worker in self.finished(one for one in self.workers if one.given):
                number, done[number] = worker.take()
                if isinstance(done[number], Died):
                    self.waiting.extendleft(reversed(worker.given))
                    self.workers.remove(worker)
            self._hand_out(told)  # before anybody looks at what was found
            self._let_go()
            while told in done:
                yield told, done.pop(told)
                told += 1

    def _hand_out(self, told: int) -> None:
        """Give tasks to whoever has none, and then the next to whoever has one."""
        while self.waiting and self.waiting[0] < told + AHEAD * self.size and (worker := self._free()):
            if worker.give(self.waiting[0]):
                self.waiting.popleft()

    def _let_go(self) -> None:
        """Stop whoever will have nothing more to do, to be gone when it is waited for.

        Where a process dies, what it had not begun is given to another.
        """
        if not self.waiting and all(len(one.given) < _DEEP for one in self.workers):
            for worker in self.workers:
                if not worker.given:
                    worker.stop()

    def _free(self) -> Any:
        there = [one for one in self.workers if not one.gone]
        worker = min(there, key=lambda one: len(one.given), default=None)
        if len(there) < self.size and (worker is None or worker.given):
            worker = self.kind(self.prepare, self.tasks, self.workers)
            self.workers.append(worker)
        return worker if worker and len(worker.given) < _DEEP else None

    def stop(self) -> None:
        for worker in self.workers:
            worker.stop()
        for worker in self.workers:
            worker.join()
        self.workers.clear()
