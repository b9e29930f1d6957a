"""Provide `lint`, `fix` and `to_canonical` for Python objects.

The input is a conversation in the form of any SDK, and the results are frozen values. An input that cannot be
read raises one exception with a message. The functions never change their input, print, or access files.
`turnlint explain library` describes the use.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, overload

from msgspec import structs

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
    "to_canonical",
]

_NONE: Mapping[str, Reach] = MappingProxyType({})

Names = str | Sequence[str]


def lint(
    transcript: object, /, *, provider: Names = "auto", format: str = "auto", select: Names = (), ignore: Names = (),  # noqa: A002
    preview: bool = False,
) -> tuple[Finding, ...]:  # fmt: skip
    """Return the findings of a conversation, in its order; an empty tuple where there are none.

    `transcript` is a list of messages, a whole request, or a list of records such as the events of a session:
    dicts, or the models, dataclasses and structs of an SDK. `provider` is `auto`, `none`, or names from
    `turnlint profiles`, with or without a version. `format` is `auto` or a name from `turnlint formats`.
    `select` and `ignore` take rules by code, name or family, and `preview` adds rules that may still change.
    Raises `TurnlintError` where there is no conversation to check.
    """
    from turnlint.library import logs, plain, running

    options = running.options_of(provider, format, select, ignore, preview=preview)
    running.warn_of_unknown(options)
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
    """Return the repaired conversation, the changes, and the remaining findings.

    The options are those of `lint` and of `turnlint fix`. `levels` sets the level of single rules, as in the
    settings: `{"empty-turn": "never"}`. The input is never changed: the result has lists and dicts of its
    own, in the same shape. A repair that cannot be verified is not made, and `unverified` has the reason.
    """
    from turnlint.library import plain, running

    options = running.options_of(provider, format, select, ignore, preview=preview)
    running.warn_of_unknown(options)
    policy = running.policy_of(options, level, levels, close_pending=close_pending, canonical=canonical)
    given = plain.plain(transcript)
    return running.fixed(given, options, policy)


def to_canonical(
    transcript: object, /, *, format: str = "auto", level: Level = "placeholder",  # noqa: A002
    close_pending: bool = False, origin: str | None = None,
) -> Fixed[tuple[dict[str, Any], ...]]:  # fmt: skip
    """Return the conversations of an input in the canonical form, repaired.

    The form is that of `turnlint fix --to canonical` and of `turnlint schema transcript`. `origin` names the
    provider that made the calls, if the input does not show it. A conversation that cannot be written in the form
    is not in the value, and `unverified` has the reason.
    """
    from turnlint.library import plain, running

    options = running.options_of("none", format, (), (), preview=False)
    policy = running.policy_of(options, level, _NONE, close_pending=close_pending, canonical=False)
    return running.canonical(plain.plain(transcript), structs.replace(options, origin=origin), policy)
