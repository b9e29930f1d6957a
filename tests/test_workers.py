"""Several processes do what one would, whatever becomes of some of them."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turnlint.apart import FORKS
from turnlint.spread import spawned
from turnlint.spread.parcel import Died, Lost
from turnlint.spread.workers import Crew

LONG = 1 << 20
"""More than a pipe holds."""


class OddError(Exception):
    """One that cannot be sent."""

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


def crew_of(kind: str, size: int, tasks: list[str]) -> Crew:
    crew = Crew(size, prepare, tasks)
    if kind == "spawned":
        crew.kind, crew.finished = spawned.Spawned, spawned.finished  # type: ignore[assignment]
    return crew


KINDS = [pytest.param("forked", marks=pytest.mark.skipif(not FORKS, reason="none can be forked")), "spawned"]
KILLED = {"forked": "stopped by signal 9", "spawned": "ended with code -9"}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals and codes are those of systems that fork")
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_each_task_is_done_once_and_told_in_order(kind: str, size: int) -> None:
    times = 4 if kind == "forked" else 1  # to spawn one takes as long as to fork a hundred
    tasks = ["a", "killed", "long", "b", "gone", "raised", "odd", "unsayable", "no file", "long", "c"] * times
    crew = crew_of(kind, size, tasks)
    found = [*crew.work()]
    crew.stop()
    told = {
        "killed": KILLED[kind],
        "gone": "ended with code 3",
        "raised": "ValueError",
        "odd": "OddError",
        "no file": "FileNotFoundError",
    }
    assert [number for number, _ in found] == [*range(len(tasks))]
    for (_, result), task in zip(found, tasks, strict=True):
        if task == "unsayable":
            assert isinstance(result, Lost)
        elif task in told:
            assert isinstance(result, Lost)
            assert result.reason == told[task]
        else:
            assert result == (task * LONG if task == "long" else task)
        assert isinstance(result, Died) == (task in ("killed", "gone"))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals of systems that fork")
@pytest.mark.parametrize("kind", KINDS)
def test_one_that_dies_with_nothing_to_do_is_not_blamed_for_what_it_never_had(kind: str) -> None:
    crew = crew_of(kind, 1, ["a", "b", "c", "d", "e", "f"])
    found = []
    for number, result in crew.work():
        found.append(result)
        if number == 1:
            (worker,) = crew.workers
            while worker.given:  # what it has begun is done
                crew.waiting.extendleft(reversed([worker.take()[0]]))
            process = worker.process if kind == "forked" else worker.process.pid
            os.kill(process, signal.SIGKILL)
            if kind == "forked":
                os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
            else:
                worker.process.join()
    crew.stop()
    assert found == ["a", "b", "c", "d", "e", "f"]


@pytest.mark.skipif(not FORKS, reason="processes that are this one over again")
@pytest.mark.parametrize("what", ["fork", "close"])
def test_one_that_is_stopped_as_it_begins_is_no_second_program(what: str) -> None:
    program = f"""if True:
        import os
        from turnlint.spread.forked import Forked
        from turnlint.spread.parcel import Died

        first, real = os.getpid(), os.{what}

        def stopped(*some):
            found = real(*some) if os.getpid() == first else None
            if os.getpid() != first:
                raise KeyboardInterrupt
            return found

        os.{what} = stopped
        try:
            worker = Forked(lambda: str, [1], [])
            worker.give(0)
            assert isinstance(worker.take()[1], Died)
        finally:
            print("over", flush=True)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"over\n", b"")


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
