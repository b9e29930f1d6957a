"""List the system calls of a write as values, and explain their errors.

A test can replace each call to make it fail.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from turnlint.errors import WriteError

ELSEWHERE = "write elsewhere with -o"


def _no_names(_: int | str) -> list[str]:
    """Return no extended attributes: the system has none, or Python does not support them."""
    return []


class System(Struct, frozen=True):
    """The calls of a write. `documents.source` reads the old file."""

    open: Callable[..., int] = os.open
    read: Callable[[int, int], bytes] = os.read
    write: Callable[[int, Any], int] = os.write
    seek: Callable[[int, int, int], int] = os.lseek
    truncate: Callable[[int, int], None] = os.ftruncate
    fsync: Callable[[int], None] = os.fsync
    close: Callable[[int], None] = os.close
    stat: Callable[[int | str], os.stat_result] = os.stat
    access: Callable[[str, int], bool] = os.access
    chmod: Callable[[int | str, int], None] = os.chmod
    chown: Callable[[int, int, int], None] | None = getattr(os, "chown", None)
    listxattr: Callable[[int | str], list[str]] = getattr(os, "listxattr", _no_names)
    getxattr: Callable[[int | str, str], bytes] | None = getattr(os, "getxattr", None)
    setxattr: Callable[[int | str, str, bytes], None] | None = getattr(os, "setxattr", None)
    removexattr: Callable[[int | str, str], None] | None = getattr(os, "removexattr", None)
    replace: Callable[[str, str], None] = os.replace
    unlink: Callable[[str], None] = os.unlink
    mkdir: Callable[[str, int], None] = os.mkdir


SYSTEM = System()


_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk is full: its quota is used up",
    errno.EFBIG: "the file would exceed the size limit of the file system",
    errno.EIO: "the disk reports an error",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "no permission to write in its folder",
    errno.EPERM: "no permission to replace it",
}


@contextmanager
def sentences(name: str, doing: str = "", way: str = ELSEWHERE) -> Iterator[None]:
    """Turn an `OSError` of a write into a `WriteError` about the file, which is unchanged."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOENT and not doing:
            raise WriteError(f"{name}: no such file or folder") from None
        reason = _REASONS.get(error.errno or 0, (error.strerror or type(error).__name__).lower())
        raise WriteError(f"{doing}{reason}; {name} is unchanged", way) from None
