"""`lint` and `fix` on Python objects.

This package owns what a program calls instead of the command: a conversation as any SDK has it goes in, frozen
values come out, and whatever cannot be read is one exception with a sentence. It refuses to change what it is
given, to print, and to read or write files. `turnlint explain library` shows how it is used.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, overload

from turnlint.errors import TurnlintError
from turnlint.library.results import Change, Finding, Fixed, Related, Repair
from turnlint.model import Level, Reach

__all__ = [
    "Change",
    "Finding",
    "Fixed",
    "Level",
    "Reach",
    "Related",
    "Repair",
    "TurnlintError",
    "fix",
    "lint",
]

_NONE: Mapping[str, Reach] = MappingProxyType({})

Names = str | Sequence[str]


def lint(
    transcript: object, /, *, provider: Names = "auto", format: str = "auto", select: Names = (), ignore: Names = (),  # noqa: A002
    preview: bool = False,
) -> tuple[Finding, ...]:  # fmt: skip
    """What is wrong with a conversation, in its order; nothing where all is well.

    `transcript` is a list of messages, a whole request, or a list of records such as the events of a session: dicts,
    or the models, dataclasses and structs of an SDK.
    `provider` is `auto`, `none`, or names as `turnlint profiles` lists them, with or without a version; `format`
    is `auto` or one that `turnlint formats` lists; `select` and `ignore` take rules by code, name or family, and
    `preview` adds those that may still change.
    Raises `TurnlintError` where there is nothing to judge.
    """
    from turnlint.library import logs, plain, running

    options = running.options_of(provider, format, select, ignore, preview=preview)
    return running.findings(logs.written(plain.plain(transcript), options), options)


@overload
def fix(
    transcript: list[Any] | tuple[Any, ...], /, *, provider: Names = ..., format: str = ..., level: Level = ...,
    levels: Mapping[str, Reach] = ..., close_pending: bool = ..., canonical: bool = ..., select: Names = ...,
    ignore: Names = ..., preview: bool = ...,
) -> Fixed[list[dict[str, Any]]]: ...  # fmt: skip
@overload
def fix(
    transcript: Mapping[str, Any], /, *, provider: Names = ..., format: str = ..., level: Level = ...,
    levels: Mapping[str, Reach] = ..., close_pending: bool = ..., canonical: bool = ..., select: Names = ...,
    ignore: Names = ..., preview: bool = ...,
) -> Fixed[dict[str, Any]]: ...  # fmt: skip
@overload
def fix(
    transcript: object, /, *, provider: Names = ..., format: str = ..., level: Level = ...,
    levels: Mapping[str, Reach] = ..., close_pending: bool = ..., canonical: bool = ..., select: Names = ...,
    ignore: Names = ..., preview: bool = ...,
) -> Fixed[Any]: ...  # fmt: skip
def fix(
    transcript: object, /, *, provider: Names = "auto", format: str = "auto", level: Level = "placeholder",  # noqa: A002
    levels: Mapping[str, Reach] = _NONE, close_pending: bool = False, canonical: bool = False, select: Names = (),
    ignore: Names = (), preview: bool = False,
) -> Fixed[Any]:  # fmt: skip
    """The conversation repaired, what was changed for it, and what is left.

    The options are those of `lint` and of `turnlint fix`; `levels` says of single rules how far to go for them, as the
    settings do: `{"empty-turn": "never"}`. What is given is never changed: the answer holds lists
    and dicts of its own, in the same shape. A repair that cannot be verified is not made, and `unverified` says why.
    """
    from turnlint.library import plain, running

    options = running.options_of(provider, format, select, ignore, preview=preview)
    policy = running.policy_of(options, level, levels, close_pending=close_pending, canonical=canonical)
    given = plain.plain(transcript)
    return running.fixed(given, options, policy)
