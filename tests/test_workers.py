"""Several processes do what one would, whatever becomes of some of them."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turnlint.spread.parcel import Died
from turnlint.spread.workers import FORKS, Crew

LONG = 1 << 20
"""More than a pipe holds."""


def prepare() -> Callable[[str], Any]:
    def work(task: str) -> Any:
        if task == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if task == "gone":
            os._exit(3)
        if task == "raised":
            raise ValueError(task)
        if task == "unsayable":
            return lambda: task
        return task * LONG if task == "long" else task

    return work


@pytest.mark.skipif(not FORKS, reason="signals and codes are those of systems that fork")
@pytest.mark.parametrize("size", [1, 2, 5])
def test_each_task_is_done_once_and_told_in_order(size: int) -> None:
    tasks = ["a", "killed", "long", "b", "gone", "raised", "unsayable", "long", "c"] * 4
    crew = Crew(size, prepare, tasks)
    found = [*crew.work()]
    crew.stop()
    said = {
        "killed": "stopped by signal 9",
        "gone": "ended with code 3",
        "unsayable": "ended with code 1",
        "raised": "raised",
        "long": "long" * LONG,
    }
    assert [number for number, _ in found] == [*range(len(tasks))]
    assert [str(result) for _, result in found] == [said.get(task, task) for task in tasks]
    assert [isinstance(result, Died) for _, result in found] == [
        task in ("killed", "gone", "unsayable") for task in tasks
    ]


@pytest.mark.skipif(not FORKS, reason="processes that are waited for by their numbers")
def test_nobody_is_left_behind() -> None:
    before = os.listdir("/dev/fd")
    crew = Crew(3, prepare, ["a", "killed", "b", "c", "d", "e"])
    work = crew.work()
    assert next(work) == (0, "a")
    processes = [worker.process for worker in crew.workers]
    assert processes
    crew.stop()
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
    assert os.listdir("/dev/fd") == before


@pytest.mark.skipif(not FORKS, reason="processes that are this one over again")
def test_one_that_is_stopped_as_it_begins_is_no_second_program() -> None:
    program = """if True:
        import os
        from turnlint.spread.forked import Forked
        from turnlint.spread.parcel import Died

        first, close = os.getpid(), os.close

        def stopped(end):
            if os.getpid() != first:
                raise KeyboardInterrupt
            close(end)

        os.close = stopped
        try:
            worker = Forked(lambda: str, [1], [])
            worker.give(0)
            assert isinstance(worker.take()[1], Died)
        finally:
            print("over", flush=True)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"over\n", b"")


@pytest.mark.skipif(not hasattr(signal, "SIGCHLD"), reason="a signal of systems that fork")
def test_a_run_that_was_told_to_hear_of_no_end_waits_all_the_same(tmp_path: Path) -> None:
    for number in range(600):
        (tmp_path / f"{number}.jsonl").write_text('{"messages": [{"role": "user", "content": "go"}]}\n')
    program = """if True:
        import os, signal, sys

        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        os.execv(sys.executable, [sys.executable, "-m", "turnlint", "lint", "--jobs", "2", "."])
    """
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
