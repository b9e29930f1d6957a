"""Write report files: each is complete at the end of a run, or the old file stays."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import IO, Self

import click

from turnlint.cli.asking import shown
from turnlint.errors import WriteError
from turnlint.keeping.disk import is_stream, new_file_beside, open_stream

_MODE = 0o666


class ReportFile:
    """A file for a report. Its text is put in place when the run ends, with any exit code.

    An interrupt or an internal error leaves the file as it was. A device, a pipe, a file that is appended to,
    and a report that is read while it grows are written directly.
    """

    def __init__(self, path: str, *, added: bool = False, flows: bool = False) -> None:
        self.path = path
        self.target = os.path.realpath(path)
        self.temp: str | None = None
        with _as_usage(path):
            self.file = self._open(added=added, flows=flows)

    def _open(self, *, added: bool, flows: bool) -> IO[str]:
        buffering = 1 if flows else -1
        if os.path.isdir(self.target):
            raise WriteError(f"{self.path} is a folder; name a file")
        if is_stream(self.path):
            return _text(open_stream(self.path), buffering)
        there = os.path.exists(self.target)
        if added or flows or (there and not _may_replace(self.target)):
            return open(self.path, "a" if added else "w", buffering, "utf-8", "backslashreplace")
        mode = os.stat(self.target).st_mode & 0o777 if there else _MODE
        file, self.temp = new_file_beside(self.target, mode)
        if there:
            with suppress(OSError):  # some file systems have one mode for all files
                os.chmod(self.temp, mode)
        return _text(file, buffering)

    def write(self, text: str) -> None:
        with _as_usage(self.path):
            self.file.write(text)

    def keep(self) -> None:
        """Put the report in place."""
        with _as_usage(self.path):
            self.file.close()
            if self.temp is not None:
                os.replace(self.temp, self.target)
                self.temp = None

    def drop(self) -> None:
        """Discard the new text, and leave the file as it was."""
        with suppress(OSError):
            self.file.close()
        if self.temp is not None:
            with suppress(OSError):
                os.unlink(self.temp)
            self.temp = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            if kind is None or issubclass(kind, click.exceptions.Exit):
                self.keep()
        finally:
            self.drop()


def _text(file: int, buffering: int) -> IO[str]:
    return open(file, "w", buffering, "utf-8", "backslashreplace")


def _may_replace(target: str) -> bool:
    """Whether the file can be replaced: its folder is writable, and it has no other name."""
    return os.access(os.path.dirname(target), os.W_OK) and os.stat(target).st_nlink == 1


@contextmanager
def _as_usage(path: str) -> Iterator[None]:
    """Turn an error of a report file into a usage error."""
    try:
        yield
    except BrokenPipeError:
        return  # the reader closed the pipe, which is no error
    except WriteError as error:
        raise click.UsageError(shown(str(error))) from None
    except OSError as error:
        reason = (error.strerror or "cannot be written").lower()
        if isinstance(error, FileNotFoundError):
            reason = "no such folder; make it first"
        raise click.UsageError(f"{shown(path)}: {reason}") from None


class Out:
    """Standard output for a run that also writes files: the run continues when the reader closes it."""

    def __init__(self) -> None:
        self.is_open = True

    def write(self, text: str) -> None:
        if self.is_open:
            try:
                sys.stdout.write(text)
            except BrokenPipeError:
                self.is_open = False

    def keep(self) -> None:
        """Flush the output, as a report file is completed at the end."""
        self.flush()

    def drop(self) -> None:
        """Do nothing: the output cannot be withdrawn."""

    def flush(self) -> None:
        if self.is_open:
            try:
                sys.stdout.flush()
            except BrokenPipeError:
                self.is_open = False
