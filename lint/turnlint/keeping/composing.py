"""Two lists of patches, made one after the other, as one list."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from turnlint.keeping.patches import Patch


class Kept(Struct, frozen=True):
    """A range of the source that stays; the last range has no end."""

    start: int
    end: int | None

    def cut(self, offset: int, size: int | None) -> "Kept":
        """Return a part of the range, from an offset inside it."""
        start = self.start + offset
        return Kept(start, self.end if size is None else start + size)


Run = Kept | bytes
"""A range of the source, or new bytes in its place."""


def composed(first: Sequence[Patch], second: Sequence[Patch]) -> list[Patch]:
    """Return the patches of the source that equal `first`, then `second` on the result."""
    if not first or not second:
        return [*first, *second]
    return [*_patches(_applied(_runs(first), second))]


def _runs(patches: Sequence[Patch]) -> Iterator[Run]:
    at = 0
    for patch in patches:
        if patch.start > at:
            yield Kept(at, patch.start)
        if patch.data:
            yield patch.data
        at = patch.end
    yield Kept(at, None)


def _applied(runs: Iterator[Run], patches: Sequence[Patch]) -> Iterator[Run]:
    at = 0
    run = next(runs)
    for patch in patches:
        for piece, rest in _split(runs, run, patch.start - at):
            if piece is not None:
                yield piece
            run = rest
        if patch.data:
            yield patch.data
        for _, rest in _split(runs, run, patch.end - patch.start):
            run = rest
        at = patch.end
    yield run
    yield from runs


def _split(runs: Iterator[Run], run: Run, size: int) -> Iterator[tuple[Run | None, Run]]:
    """Yield the next `size` bytes in pieces, each with the run that follows it."""
    while size:
        length = _length(run)
        if length is None or size < length:
            yield _cut(run, 0, size), _cut(run, size, None)
            return
        size -= length
        taken, run = run, next(runs)
        yield taken, run


def _length(run: Run) -> int | None:
    if isinstance(run, Kept):
        return None if run.end is None else run.end - run.start
    return len(run)


def _cut(run: Run, offset: int, size: int | None) -> Run:
    if isinstance(run, Kept):
        return run.cut(offset, size)
    return run[offset:] if size is None else run[offset : offset + size]


def _patches(runs: Iterator[Run]) -> Iterator[Patch]:
    at = 0
    new: list[bytes] = []
    for run in runs:
        if isinstance(run, bytes):
            new.append(run)
            continue
        if run.start > at or new:
            yield Patch(at, run.start, b"".join(new))
            new = []
        at = run.start if run.end is None else run.end
