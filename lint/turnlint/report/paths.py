"""A file's path as systems want it that show a repository.

This module owns the way from a path as it was given to one from the folder the run is in: with slashes, and with
links followed, since such systems find nothing behind a link. It refuses to read files.
"""

import os
from functools import lru_cache


@lru_cache(maxsize=8)
def inside(path: str) -> str | None:
    """The path from the folder of the run; nothing where the file is elsewhere."""
    root = os.path.realpath(os.curdir)
    for real in (os.path.realpath(path), os.path.abspath(path)):
        below = (
            os.path.relpath(real, root) if os.path.splitdrive(real)[0] == os.path.splitdrive(root)[0] else ""
        )
        if below and below != os.pardir and not below.startswith(os.pardir + os.sep):
            return below.replace(os.sep, "/")
    return None


def shown(path: str) -> str:
    return inside(path) or os.path.normpath(path).replace(os.sep, "/")


def address(path: str) -> tuple[str, bool]:
    """A URI, and whether it is relative to the folder of the run. ASCII only, as URIs are."""
    from urllib.parse import quote

    below = inside(path)
    if below is not None:
        return quote(_bytes(below)), True
    return "file:///" + quote(_bytes(os.path.abspath(path).replace(os.sep, "/").lstrip("/"))), False


def _bytes(path: str) -> bytes:
    """The name as the system has it, whatever bytes that are."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")
