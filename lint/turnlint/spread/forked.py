"""A process that is this one over again, and does what it is told of a list that both have.

This module owns its life: two pipes and a fork, and what is known of its end. All that was loaded before it began it has
already, so that it takes a millisecond; the module of the standard library that does this on any system takes eight to be
loaded (2026-11). It refuses to know what a task is.
"""

import gc
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from select import poll
from typing import IO, Any

from turnlint.apart import fork, wait
from turnlint.freed import keep_freed
from turnlint.spread.parcel import Died, Lost

try:  # what is around them takes 1 ms to be loaded before anybody can begin, what names signals a third of one (2026-11)
    from _pickle import dumps, loads
except ImportError:
    from pickle import dumps, loads

_STOP = 15
"""SIGTERM, on all systems that fork."""
_PROTOCOL = 5
_LENGTH = 8
_NUMBER = 4
_MOST = 1 << 20


class Forked:
    """One such process, from the side of whoever gives it tasks. It may have several, and does them in their order."""

    def __init__(
        self, prepare: Callable[[], Callable[[Any], Any]], tasks: Sequence[Any], others: Iterable[Any]
    ) -> None:
        told, self.tells = os.pipe()
        found, finds = os.pipe()
        ends = [end for one in others for end in (one.tells, one.found)] + [self.tells, found]
        self.process = fork(lambda: _serve(prepare, tasks, told, finds, ends))
        os.close(told)
        os.close(finds)
        self.found = found
        self.given: deque[int] = deque()
        self.served = self.gone = False
        self.code: int | None = None

    def give(self, number: int) -> bool:
        """Whether it could be told. One that never did anything is to blame for what it was to do first."""
        try:
            os.write(self.tells, number.to_bytes(_NUMBER, "little"))
        except BrokenPipeError:  # it died while it waited
            self.gone = self.served
        if not self.gone:
            self.given.append(number)
        return not self.gone

    def take(self) -> tuple[int, Any]:
        """The task that it did, and its result, or `Died`."""
        number = self.given.popleft()
        size = int.from_bytes(_read(self.found, _LENGTH), "little")
        data = _read(self.found, size)
        if not data or len(data) < size:
            return number, Died(_ending(self.join()))
        self.served = True
        return number, loads(data)  # noqa: S301 - from a process that is this one

    def stop(self) -> None:
        self.gone = True
        os.kill(self.process, _STOP)

    def join(self) -> int:
        """Wait for its end. Returns the code that it ended with."""
        if self.code is None:
            os.close(self.tells)
            os.close(self.found)
            self.code = wait(self.process)
        return self.code


def finished(workers: Iterable[Forked]) -> list[Forked]:
    """Those that have a result, or are dead; as soon as there is one."""
    by_pipe = {worker.found: worker for worker in workers}
    ready = poll()
    for pipe in by_pipe:
        ready.register(pipe)
    return [by_pipe[pipe] for pipe, _ in ready.poll()]


def _read(pipe: int, size: int) -> bytes:
    """So many bytes and none behind them, which nobody would be told of; fewer where the other side is gone."""
    read = bytearray()
    while len(read) < size and (piece := os.read(pipe, min(size - len(read), _MOST))):
        read += piece
    return bytes(read)


def _ending(code: int) -> str:
    return f"stopped by signal {-code}" if code < 0 else f"ended with code {code}"


def _serve(
    prepare: Callable[[], Callable[[Any], Any]],
    tasks: Sequence[Any],
    told: int,
    finds: int,
    theirs: Iterable[int],
) -> None:
    """The life of the process."""
    for end in theirs:  # or the others would not see the end of what they are told
        os.close(end)
    gc.freeze()  # what is shared is not written to, and so copied, for the sake of looking for garbage
    keep_freed()
    work = prepare()
    with os.fdopen(finds, "wb") as found:
        while number := os.read(told, _NUMBER):
            try:
                data = dumps(work(tasks[int.from_bytes(number, "little")]), _PROTOCOL)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is told with the task's name
                data = dumps(Lost(type(error).__name__), _PROTOCOL)
            _send(found, data)


def _send(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(len(data).to_bytes(_LENGTH, "little"))
    pipe.write(data)
    pipe.flush()
