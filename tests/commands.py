"""Run the command line and small Python programs without the cost of a new interpreter.

`run_cli` has the parameters and the result of `subprocess.run`. A fork of a warm process runs the command; the
streams are pipes, and runs are independent of each other. A new process runs it where the start of the interpreter
would differ, and on systems without fork. Tests of start-up, imports and signals start processes themselves.
"""

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, Literal, overload

from forking import LENGTH, Request, send

AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_")
"""Prefixes of variables that an interpreter reads once, at its start."""
LATER = {"PYTHONIOENCODING", "PYTHONPATH"}
"""Those of these variables that a fork can still apply."""
PIECE = 1 << 16


class Server:
    """The warm process of this test process."""

    def __init__(self) -> None:
        self.environment = dict(os.environ)
        self.channel, theirs = socket.socketpair()
        with theirs:
            program = str(Path(__file__).with_name("forking.py"))
            self.process = subprocess.Popen(
                [sys.executable, program, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def serves(self, environment: Mapping[str, str]) -> bool:
        """Whether an interpreter would start with this environment in the same way as the server."""
        changed = {
            name
            for name in {*self.environment, *environment} - LATER
            if name.startswith(AT_START) and self.environment.get(name) != environment.get(name)
        }
        paths = environment.get("PYTHONPATH", "").split(os.pathsep)
        own = self.environment.get("PYTHONPATH", "").split(os.pathsep)
        copies = [
            path for path in paths if path not in own and os.path.exists(os.path.join(path, "turnlint"))
        ]
        return not (changed or copies)

    def run(self, request: Request, data: bytes | None, timeout: float) -> tuple[int, list[bytes]]:
        """The status and both outputs of a fork."""
        stdin = os.pipe() if data is not None else (os.open(os.devnull, os.O_RDONLY), None)
        stdout, stderr = os.pipe(), os.pipe()
        theirs = [stdin[0], stdout[1], stderr[1]]
        send(self.channel, request, theirs)
        for item in theirs:
            os.close(item)
        child = self.number()
        try:
            streams = converse(child, stdin[1], [stdout[0], stderr[0]], data or b"", timeout)
        finally:
            status = self.number()
        return status, streams

    def number(self) -> int:
        """The next number that the server sends: first that of a fork, then its status."""
        data = self.channel.recv(LENGTH.size, socket.MSG_WAITALL)
        assert len(data) == LENGTH.size, "the server of commands ended"
        return int(LENGTH.unpack(data)[0])


@cache
def server() -> Server:
    return Server()


def converse(child: int, entry: int | None, outputs: list[int], data: bytes, timeout: float) -> list[bytes]:
    """Write to the standard input of a fork, and read its outputs to their end; kill it after the timeout."""
    chunks: dict[int, list[bytes]] = {output: [] for output in outputs}
    rest = memoryview(data)
    deadline = time.monotonic() + timeout
    with selectors.DefaultSelector() as still_open:
        for item in outputs:
            still_open.register(item, selectors.EVENT_READ)
        if entry is not None:
            os.set_blocking(entry, False)
            still_open.register(entry, selectors.EVENT_WRITE)
        while still_open.get_map():
            ready = still_open.select(max(deadline - time.monotonic(), 0))
            if not ready:
                os.kill(child, signal.SIGKILL)
                raise subprocess.TimeoutExpired("turnlint", timeout)
            for key, _ in ready:
                if key.fd == entry:
                    try:
                        rest = rest[os.write(entry, rest[:PIECE]) :]
                    except BrokenPipeError:  # the command need not read all input
                        rest = rest[:0]
                    if rest:
                        continue
                elif piece := os.read(key.fd, PIECE):
                    chunks[key.fd].append(piece)
                    continue
                still_open.unregister(key.fd)
                os.close(key.fd)
    return [b"".join(pieces) for pieces in chunks.values()]


@overload
def run_cli(
    *arguments: str, cwd: Path | None = ..., env: Mapping[str, str] | None = ..., input: bytes | None = ...,
    text: Literal[False] = ..., program: str | None = ..., timeout: float = ...,
) -> subprocess.CompletedProcess[bytes]: ...  # fmt: skip
@overload
def run_cli(
    *arguments: str, cwd: Path | None = ..., env: Mapping[str, str] | None = ..., input: str | None = ...,
    text: Literal[True], program: str | None = ..., timeout: float = ...,
) -> subprocess.CompletedProcess[str]: ...  # fmt: skip
def run_cli(
    *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None, input: Any = None,  # noqa: A002
    text: bool = False, program: str | None = None, timeout: float = 60,
) -> subprocess.CompletedProcess[Any]:  # fmt: skip
    """Run `python -m turnlint ARGUMENTS`, or `python -c PROGRAM ARGUMENTS`."""
    environment = dict(os.environ if env is None else env)
    folder = os.path.abspath(cwd or os.getcwd())
    if not hasattr(os, "fork") or not server().serves(environment):
        command = [sys.executable, *(("-c", program) if program else ("-m", "turnlint")), *arguments]
        return subprocess.run(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL if input is None else None, input=input,
            capture_output=True, text=text, check=False, timeout=timeout,
        )  # fmt: skip
    data = input.encode() if isinstance(input, str) else input
    status, streams = server().run(Request(arguments, program, folder, environment), data, timeout)
    shown = [TextIOWrapper(BytesIO(stream)).read() if text else stream for stream in streams]
    return subprocess.CompletedProcess(arguments, os.waitstatus_to_exitcode(status), *shown)
