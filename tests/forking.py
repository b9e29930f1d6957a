"""Server that runs commands in forks of one Python process, which has imported the program before.

`commands.py` starts it with the number of a socket. A fork has the arguments, working directory, environment and
streams of the request, like a new process. It ends with `os._exit` or at the end of the interpreter.
"""

import os
import pickle
import pkgutil
import socket
import struct
import sys
import time
from codecs import lookup
from importlib import import_module
from io import TextIOWrapper
from runpy import run_module
from typing import NamedTuple

OWN_PATHS = len([name for name in os.environ.get("PYTHONPATH", "").split(os.pathsep) if name])
"""The number of search paths that the environment of the server names, after the folder of this file."""
LENGTH = struct.Struct("!q")


class Request(NamedTuple):
    """Arguments of a command, or of a program in Python, with the inherited state of a new process."""

    arguments: tuple[str, ...]
    program: str | None
    folder: str
    environment: dict[str, str]


def send(channel: socket.socket, request: Request, streams: list[int]) -> None:
    data = pickle.dumps(request)
    socket.send_fds(channel, [LENGTH.pack(len(data))], streams)
    channel.sendall(data)


def receive(channel: socket.socket) -> tuple[Request, list[int]] | None:
    """The next request with its streams, or nothing after the client has ended."""
    head, streams, *_ = socket.recv_fds(channel, LENGTH.size, 3)
    if not head:
        return None
    data = b""
    while len(data) < LENGTH.unpack(head)[0]:
        data += channel.recv(1 << 16)
    return pickle.loads(data), streams  # noqa: S301 - the client is the test run itself


def preload() -> None:
    """Import modules that a command or a run of pytest may need, so that each fork has them."""
    from _pytest.config import default_plugins

    import turnlint
    import turnlint_rules

    for name in default_plugins:
        import_module(f"_pytest.{name}")

    for package in (turnlint, turnlint_rules):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith(("__main__", "pytest_plugin", "reference", "testing")):
                import_module(module.name)


def serve(channel: socket.socket) -> Request | None:
    """Fork for each request, and send the number and the status of the fork; a fork returns its request."""
    while received := receive(channel):
        request, streams = received
        child = os.fork()
        if not child:
            channel.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            return request
        for stream in streams:
            os.close(stream)
        channel.sendall(LENGTH.pack(child))
        channel.sendall(LENGTH.pack(os.waitpid(child, 0)[1]))
    return None


def outward(number: int, encoding: str, errors: str) -> TextIOWrapper:
    """An output stream, buffered as by the interpreter."""
    direct = sys.stdout.write_through
    raw = open(  # noqa: SIM115 - for the whole run
        number, "wb", buffering=0 if direct else -1, closefd=False
    )
    lines = os.isatty(number) or (number == 2 and not direct)
    return TextIOWrapper(raw, encoding, errors, line_buffering=lines, write_through=direct)


def become(request: Request) -> None:
    """Apply the state that a new process has at its start."""
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    time.tzset()
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    errors = errors or ("strict" if encoding else sys.stdout.errors)
    encoding = lookup(encoding).name if encoding else sys.stdout.encoding
    raw = open(0, "rb", closefd=False)  # noqa: SIM115 - for the whole run
    sys.stdin = sys.__stdin__ = TextIOWrapper(raw, encoding, errors)
    sys.stdout = sys.__stdout__ = outward(1, encoding, errors)
    sys.stderr = sys.__stderr__ = outward(2, encoding, "backslashreplace")
    paths = [name for name in request.environment.get("PYTHONPATH", "").split(os.pathsep) if name]
    sys.path[: 1 + OWN_PATHS] = ["" if request.program else request.folder, *paths]
    sys.argv = ["-c" if request.program else "turnlint", *request.arguments]


def main() -> None:
    preload()
    request = serve(socket.socket(fileno=int(sys.argv[1])))
    if request:
        become(request)
        if request.program is None:
            run_module("turnlint", run_name="__main__", alter_sys=True)
        else:
            exec(compile(request.program, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 - the test wrote it


if __name__ == "__main__":
    main()
