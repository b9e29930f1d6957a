"""Pool of worker processes that returns the results of tasks in their order.

The processes are those of `concurrent.futures`. This module adds what that library leaves open: the task over which a
worker died, a limit of results in memory, and workers that end without a traceback.
"""

import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_all_start_methods, get_context, parent_process
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

from turnlint.documents.source import raise_trim_threshold
from turnlint.spread.parcel import Died, Lost

START_METHOD = "fork" if "fork" in get_all_start_methods() else "spawn"
"""A fork takes 1 ms and has all modules and rules; a new interpreter takes as long as a small run."""
MAX_TASKS_AHEAD = 4
"""Number of tasks for each worker whose results may wait in memory."""
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

Work = Callable[[Any], Any]
Result = tuple[int, Any]
_work: Work


class WorkerPool:
    """Worker processes for a list of tasks, and the results of the tasks.

    `prepare` runs once in each worker and returns the function that does a task.
    """

    def __init__(self, size: int, prepare: Callable[[], Work], tasks: Sequence[Any]) -> None:
        self.size = size
        self.prepare = prepare
        self.tasks = tasks
        self.context: Any = get_context(START_METHOD)
        self.executor = self._open_executor()

    def results(self) -> Iterator[Result]:
        """Yield the number of each task with its result, `Lost` if it failed, or `Died` if its worker did."""
        coming: deque[Future[Any]] = deque()
        waiting = iter(self.tasks)
        for number, task in enumerate(self.tasks):
            while (
                len(coming) < MAX_TASKS_AHEAD * self.size and (following := next(waiting, None)) is not None
            ):
                coming.append(self._submit(following))
            yield number, self._result_of(task, coming.popleft())

    def stop(self) -> None:
        """End all workers, also those in the middle of a task."""
        for process in active_children():
            process.terminate()
        self.executor.shutdown(cancel_futures=True)

    def _open_executor(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.size, self.context, _begin, (self.prepare,))

    def _submit(self, task: Any) -> Future[Any]:
        with _signals_blocked():  # workers start here
            try:
                return self.executor.submit(_run, task)
            except BrokenProcessPool:
                self.executor.shutdown()
                self.executor = self._open_executor()
                return self.executor.submit(_run, task)

    def _result_of(self, task: Any, future: Future[Any]) -> Any:
        try:
            return future.result()
        except BrokenProcessPool:
            return self._run_alone(task)
        except Exception as error:  # noqa: BLE001 - a result that cannot be sent
            return Lost(type(error).__name__)

    def _run_alone(self, task: Any) -> Any:
        """Do a task in a process of its own.

        The death of one worker breaks the whole pool. Only a second try shows whether this task was the reason.
        """
        receiver, sender = self.context.Pipe(duplex=False)
        process = self.context.Process(target=_serve_once, args=(sender, self.prepare, task), daemon=True)
        with _signals_blocked():
            process.start()
        sender.close()
        try:
            return receiver.recv()
        except EOFError:
            process.join()
            return Died(_reason_of(process.exitcode))
        finally:
            receiver.close()
            process.join()


def _reason_of(code: int | None) -> str:
    if code is None:  # the parent ignores SIGCHLD, and the code is lost
        return "ended"
    return f"stopped by signal {-code}" if code < 0 else f"ended with code {code}"


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Hold back signals until a new worker can end by them: its parent's handlers are not meant for it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(prepare: Callable[[], Work]) -> None:
    """Start a worker."""
    global _work  # noqa: PLW0603 - the executor gives its initializer no other place
    for number in _SIGNALS:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    Thread(target=_end_with_parent, daemon=True).start()
    gc.freeze()  # a collection would copy the pages that parent and worker share
    raise_trim_threshold()
    _work = prepare()


def _end_with_parent() -> None:
    """End this process when its parent ends; the executor's queues would keep it waiting."""
    parent = parent_process()
    assert parent
    parent.join()
    os._exit(1)


def _run(task: Any) -> Any:
    """Do a task. An error is named instead of sent, since some errors cannot be pickled."""
    try:
        return _work(task)
    except Exception as error:  # noqa: BLE001 - the other tasks go on
        return Lost(type(error).__name__)


def _serve_once(sender: Connection, prepare: Callable[[], Work], task: Any) -> None:
    _begin(prepare)
    result = _run(task)
    try:
        sender.send(result)
    except Exception as error:  # noqa: BLE001 - a result that cannot be sent
        sender.send(Lost(type(error).__name__))
