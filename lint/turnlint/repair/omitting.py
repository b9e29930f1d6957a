"""Find a part of a repair that passes all checks, where the whole repair does not."""

from collections.abc import Callable

from turnlint.repair.mending import Mended

Trial = Callable[[tuple[str, ...]], Mended | None]
"""Repairs without some rules; returns None if that repair fails a check."""
Part = tuple[Mended, tuple[str, ...]]
"""A repair, and the codes of the rules that it omits."""


def find_part(codes: list[str], trials: int, attempt: Trial) -> Part | None:
    """Return the best repair that omits one rule, else one that omits several rules.

    `trials` limits the number of rules that are tried.
    """
    sound: list[tuple[int, str, Mended]] = [
        (sum(one.severity == "error" for one in mended.end.findings), code, mended)
        for code in codes[:trials]
        if (mended := attempt((code,))) is not None
    ]
    if sound:
        _, code, mended = min(sound, key=lambda one: one[:2])
        return mended, (code,)
    best: Part | None = None
    omitted = tuple(codes)
    for code in codes[:trials]:
        fewer = tuple(one for one in omitted if one != code)
        if len(fewer) > 1 and (mended := attempt(fewer)) is not None:
            best, omitted = (mended, fewer), fewer
    return best
