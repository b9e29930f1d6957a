"""A compressed file, unpacked by a process beside this one.

This module owns that process and the pipe between the two. It is a process, not a thread: unpacking goes a little at
a time, so that a file made to swell cannot fill the memory, and two threads would wait for each other at every
piece. It refuses to know how anything is packed.
"""

import os
from typing import Any, Self

from turnlint.documents.source import Damaged

_PIECE = 1 << 18
_PIPE = 1 << 20
_F_SETPIPE_SZ = 1031
POSSIBLE = hasattr(os, "fork")


class Ahead:
    """What another stream gives, read ahead of whoever asks for it."""

    def __init__(self, stream: Any) -> None:
        there, mine = os.pipe()
        said, tells = os.pipe()
        self.process = os.fork()
        if not self.process:
            os.close(there)
            os.close(said)
            _pump(stream, mine, tells)
        os.close(mine)
        os.close(tells)
        stream.__exit__(None, None, None)
        self.pipe = open(there, "rb", buffering=_PIECE)  # noqa: SIM115 - closed with this
        self.said = said
        self.position = 0
        self.code: int | None = None

    def read(self, size: int, /) -> bytes:
        piece = self.pipe.read(size)
        self.position += len(piece)
        if len(piece) < size and not piece:
            damage = os.read(self.said, _PIPE).decode(errors="replace")
            if damage or self._ended():
                raise Damaged(damage or "unpacking it was stopped")
        return piece

    def tell(self) -> int:
        return self.position

    def _ended(self) -> int:
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        return self.code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pipe.close()
        os.close(self.said)
        self._ended()


def _pump(stream: Any, out: int, tells: int) -> None:
    """The life of the process. Nothing is left to whoever was forked: no buffer is flushed twice, no file closed."""
    code = 0
    try:
        _widen(out)
        while piece := memoryview(stream.read(_PIECE)):
            while piece:
                piece = piece[os.write(out, piece) :]
    except Damaged as damage:
        os.write(tells, str(damage).encode())
    except BrokenPipeError:
        pass  # nobody reads on
    except BaseException:  # noqa: BLE001 - whatever it is, this process must not go on as a second program
        code = 1
    finally:
        os._exit(code)


def _widen(pipe: int) -> None:
    try:
        from fcntl import fcntl

        fcntl(pipe, _F_SETPIPE_SZ, _PIPE)
    except (ImportError, OSError):
        return
