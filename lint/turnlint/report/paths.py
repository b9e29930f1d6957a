"""Convert a file's path to one relative to the working folder, for systems that show a repository.

The result has slashes, and links are resolved, since such systems do not follow them.
"""

import os
from functools import lru_cache


@lru_cache(maxsize=8)
def inside(path: str) -> str | None:
    """Return the path relative to the working folder, or nothing if the file is elsewhere."""
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
    """Return a URI in ASCII, and whether it is relative to the working folder."""
    from urllib.parse import quote

    below = inside(path)
    if below is not None:
        return quote(_bytes(below)), True
    return "file:///" + quote(_bytes(os.path.abspath(path).replace(os.sep, "/").lstrip("/"))), False


def _bytes(path: str) -> bytes:
    """Return the bytes of the name in the file system."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")
