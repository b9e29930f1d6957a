"""Patterns over paths: of files, and of places in a record.

This module owns what `*`, `?`, `[…]` and `**` mean in both, in time that grows with the path and not with the
number of ways to read the pattern. It refuses to know what the paths lead to.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

Steps = tuple[str, ...]
"""A pattern, cut at its slashes."""
States = frozenset[int]
"""How many steps of a pattern a path may have passed so far."""

DEEP = "**"
"""Any number of names, none at all included."""
_MAGIC = frozenset("*?[")


@lru_cache(maxsize=512)
def file_steps(pattern: str) -> Steps:
    """A pattern over files, as `.gitignore` has them.

    One without a slash is about names in any folder; a plain name at its end may be a folder, and then it is about
    all that is in there.
    """
    folder = pattern.endswith("/")
    steps = pattern.removeprefix("./").strip("/").split("/")
    if len(steps) == 1 and not pattern.startswith(("/", "./")):
        steps.insert(0, DEEP)
    if folder or is_plain(steps[-1]):
        steps.append(DEEP)
    return tuple(steps)


@lru_cache(maxsize=512)
def pointer_steps(pattern: str) -> Steps:
    """A pattern over JSON Pointers (RFC 6901)."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pattern.split("/")[1:])


def is_plain(step: str) -> bool:
    """Whether a step stands for one name only."""
    return _MAGIC.isdisjoint(step)


def begin(steps: Steps) -> States:
    return _closed(steps, {0})


def advance(steps: Steps, states: States, name: str) -> States:
    """How far a path may be after one more name."""
    passed = set()
    for state in states:
        if state == len(steps):
            continue
        if steps[state] == DEEP:
            passed.add(state)
        elif is_like(steps[state], name):
            passed.add(state + 1)
    return _closed(steps, passed)


def _closed(steps: Steps, states: set[int]) -> States:
    for state in sorted(states):
        while state < len(steps) and steps[state] == DEEP:
            state += 1  # noqa: PLW2901 - one state leads to the next
            states.add(state)
    return frozenset(states)


def matches(steps: Steps, names: Sequence[str]) -> bool:
    """Whether a whole path is of a pattern."""
    states = begin(steps)
    for name in names:
        states = advance(steps, states, name)
    return len(steps) in states


def is_like(pattern: str, name: str) -> bool:
    """Whether one name is of a pattern."""
    if pattern in ("*", name):
        return True
    return not is_plain(pattern) and _compiled(pattern).match(name) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    from fnmatch import translate  # its stars are atomic: none is ever tried twice

    return re.compile(translate(pattern))
