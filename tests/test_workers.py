"""Several processes give the results of one, even if some of them die."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import active_children, get_all_start_methods
from pathlib import Path
from typing import Any

import pytest

from turnlint.spread import pool
from turnlint.spread.parcel import Died, Lost
from turnlint.spread.pool import WorkerPool

LONG = 1 << 20
"""More bytes than a pipe buffers."""


class OddError(Exception):
    """An exception that cannot be pickled."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(one + other)


def prepare() -> Callable[[str], Any]:
    def work(task: str) -> Any:
        if task == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if task == "gone":
            os._exit(3)
        if task == "raised":
            raise ValueError(task)
        if task == "odd":
            raise OddError(1, 2)
        if task == "no file":
            raise FileNotFoundError(task)
        if task == "unsayable":
            return lambda: task
        return task * LONG if task == "long" else task

    return work


METHODS = [
    pytest.param(
        name, marks=pytest.mark.skipif(name not in get_all_start_methods(), reason="not on this system")
    )
    for name in ("fork", "spawn")
]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals and codes are those of systems that fork")
@pytest.mark.covering(1)
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("method", METHODS)
def test_each_task_is_done_once_and_reported_in_order(
    method: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "START_METHOD", method)
    times = 4 if method == "fork" else 1  # a spawn of a worker takes as long as a hundred forks
    tasks = ["a", "killed", "long", "b", "gone", "raised", "odd", "unsayable", "no file", "long", "c"] * times
    workers = WorkerPool(size, prepare, tasks)
    found = [*workers.results()]
    workers.stop()
    outcomes = {
        "killed": "stopped by signal 9",
        "gone": "ended with code 3",
        "raised": "ValueError",
        "odd": "OddError",
        "no file": "FileNotFoundError",
    }
    assert [number for number, _ in found] == [*range(len(tasks))]
    for (_, result), task in zip(found, tasks, strict=True):
        if task == "unsayable":
            assert isinstance(result, Lost)
        elif task in outcomes:
            assert isinstance(result, Lost)
            assert result.reason == outcomes[task]
        else:
            assert result == (task * LONG if task == "long" else task)
        assert isinstance(result, Died) == (task in ("killed", "gone"))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals of systems that fork")
@pytest.mark.parametrize("method", METHODS)
def test_the_death_of_an_idle_worker_costs_no_task(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "START_METHOD", method)
    monkeypatch.setattr(pool, "MAX_TASKS_AHEAD", 2)
    tasks = ["a", "b", "c", "d", "e", "f"]
    workers = WorkerPool(1, prepare, tasks)
    found = []
    for number, result in workers.results():
        found.append(result)
        if number == 1:
            (worker,) = active_children()
            os.kill(worker.pid or 0, signal.SIGKILL)
            worker.join()
    workers.stop()
    assert found == tasks


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="a worker begins as a new interpreter")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_worker_that_is_stopped_at_its_start_is_no_second_program(name: str) -> None:
    program = f"""if True:
        import os, signal
        from turnlint.spread.parcel import Died
        from turnlint.spread.pool import WorkerPool

        def stopped(number, _):
            raise KeyboardInterrupt

        signal.signal(signal.{name}, stopped)
        os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.{name}))
        workers = WorkerPool(2, lambda: str, [1, 2, 3])
        try:
            for _, result in workers.results():
                assert isinstance(result, Died), result
                assert result.reason == f"stopped by signal {{signal.{name}:d}}"
            workers.stop()
        finally:
            print("over", flush=True)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"over\n", b"")


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no list of open files")
def test_no_worker_and_no_open_file_remains() -> None:
    before = os.listdir("/dev/fd")
    workers = WorkerPool(3, prepare, ["a", "killed", "b", "c", "d", "e"])
    results = workers.results()
    assert next(results) == (0, "a")
    processes = active_children()
    assert processes
    workers.stop()
    assert all(process.exitcode is not None for process in processes)
    del workers, results, processes
    assert os.listdir("/dev/fd") == before


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a signal that no program can handle")
@pytest.mark.parametrize("busy", [True, False])
def test_workers_end_with_a_parent_that_is_killed(busy: bool) -> None:
    work = "while True: pass" if busy else "return task"
    program = f"""if True:
        import os, sys, time
        from turnlint.spread.pool import WorkerPool

        def work(task):
            print(os.getpid(), flush=True)
            {work}

        for _ in WorkerPool(2, lambda: work, [1, 2]).results():
            pass
        time.sleep(60)
    """
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline()
        process.kill()
        process.stdout.read()  # ends when no worker has the stream open
    assert process.returncode == -signal.SIGKILL


@pytest.mark.skipif(not hasattr(signal, "SIGCHLD"), reason="a signal of systems that fork")
def test_a_run_that_ignores_sigchld_still_waits(tmp_path: Path) -> None:
    for number in range(600):
        (tmp_path / f"{number}.jsonl").write_text('{"messages": [{"role": "user", "content": "go"}]}\n')
    program = """if True:
        import os, signal, sys

        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        os.execv(sys.executable, [sys.executable, "-m", "turnlint", "lint", "--jobs", "2", "."])
    """
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
