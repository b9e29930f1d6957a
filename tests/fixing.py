"""A file that is fixed with a journal, in the same way as by `fix`.

Uses a constructed fix of a few bytes, without rules.
"""

from pathlib import Path
from typing import Any

from turnlint.documents.source import Source
from turnlint.keeping.disk import Digests, Patch, replace, stamp
from turnlint.keeping.journal import entry, save
from turnlint.keeping.system import SYSTEM, System

OLD = '{"role": "üser"}\n'.encode() * 40
PATCHES = (Patch(2, 6, b"ROLE"), Patch(100, 100, b"more"), Patch(300, 400, b""))


def fix(
    path: str, *, patches: tuple[Patch, ...] = PATCHES, where: str | None = None, system: System = SYSTEM,
    changes: tuple[Any, ...] = (),
) -> bytes:  # fmt: skip
    """The current bytes."""
    source = Source(path, path)

    def keep(digests: Digests) -> None:
        save(entry(source, patches, digests, changes), where, system)

    replace(source, patches, expected=stamp(path), before_replace=keep, system=system)
    return Path(path).read_bytes()
