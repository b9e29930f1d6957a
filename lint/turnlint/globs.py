"""Match patterns over paths of files and over pointers into records.

Both have `*`, `?`, `[…]` and `**`. The time grows with the path, and not with the number of ways to match the
pattern.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

Steps = tuple[str, ...]
"""A pattern, cut at its slashes."""
States = frozenset[int]
"""The numbers of steps of a pattern that a path may have passed so far."""

DEEP = "**"
"""Step that matches any number of names, including none."""
_MAGIC = frozenset("*?[")


@lru_cache(maxsize=512)
def file_steps(pattern: str) -> Steps:
    """Return the steps of a pattern over files, as in `.gitignore`.

    A pattern without a slash matches names in any folder. A plain name at the end may be a folder, and then
    the pattern matches all files in it.
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
    """Return the steps of a pattern over JSON Pointers (RFC 6901)."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pattern.split("/")[1:])


def is_plain(step: str) -> bool:
    """Whether a step matches one name only."""
    return _MAGIC.isdisjoint(step)


def begin(steps: Steps) -> States:
    return _closed(steps, {0})


def advance(steps: Steps, states: States, name: str) -> States:
    """Return the states after one more name."""
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
    """Whether a whole path matches a pattern."""
    states = begin(steps)
    for name in names:
        states = advance(steps, states, name)
    return len(steps) in states


def is_like(pattern: str, name: str) -> bool:
    """Whether one name matches a pattern."""
    if pattern in ("*", name):
        return True
    return not is_plain(pattern) and _compiled(pattern).match(name) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    from fnmatch import translate  # its stars are atomic, so that no match is tried twice

    return re.compile(translate(pattern))
