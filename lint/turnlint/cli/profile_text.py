"""Write a profile as YAML that a user can save, change and use.

The text parses to the same profile. Each scalar is on one line, without folding, and characters that control
a terminal are escaped.
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import structs, to_builtins

from turnlint.profiles import Profile
from turnlint.report.escape import visible

WIDTH = 110
ALWAYS = frozenset({"hosts", "models"})
"""Keys that are written even if empty: without them, a built-in provider of the same name would supply the values."""
LAST = ("severity", "wires", "models", "other_models", "says", "source", "date")
"""Keys that come after those with the rejected values; the evidence is last."""
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./()+-]*( [A-Za-z0-9_./()+-]+)*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_LISTS = ("clauses", "weights", "known")
_TITLES = {"weights": "Severity of what other rules find.", "known": "Known error texts."}


def text_of(profiles: tuple[Profile, ...]) -> str:
    """Return profiles as documents of one file."""
    return "---\n".join("\n".join(_lines(profile)) + "\n" for profile in profiles)


def _lines(profile: Profile) -> Iterator[str]:
    yield f"# {visible(profile.label)}: {visible(profile.title)}"
    whole = to_builtins(profile)
    yield from _entries(_told(profile, whole), but=(*_LISTS, "capabilities"))
    yield "capabilities:"
    yield from _entries(whole["capabilities"], indent="  ", but=("sources",))
    if whole["capabilities"]["sources"]:
        yield "  sources:"
        yield from (
            f"  {line}" for line in _items(whole["capabilities"]["sources"], profile.capabilities.sources)
        )
    for name in _LISTS:
        if whole[name]:
            yield ""
            yield f"{name}:{f'  # {_TITLES[name]}' if name in _TITLES else ''}"
            yield from _clauses(profile) if name == "clauses" else _items(whole[name], getattr(profile, name))


def _clauses(profile: Profile) -> Iterator[str]:
    for code, group in sorted(profile.by_code.items()):
        about = " ".join((type(group[0]).__doc__ or "").split())
        yield f"# {code}: {about}"
        yield from _items(to_builtins(group), group)


def _items(values: Any, owners: tuple[Any, ...]) -> Iterator[str]:
    for value, owner in zip(values, owners, strict=True):
        lines = list(_entries(_told(owner, value), indent="  "))
        yield "- " + lines[0][2:]
        yield from lines[1:]


def _told(owner: Any, value: dict[str, Any]) -> dict[str, Any]:
    """Return the keys with a value other than the default."""
    silent = {one.encode_name: one.default for one in structs.fields(owner)}
    kept = ALWAYS if isinstance(owner, Profile) else frozenset[str]()
    told = {key: one for key, one in value.items() if key in kept or key not in silent or silent[key] != one}
    if isinstance(owner, Profile):
        return told
    return {key: told[key] for key in sorted(told, key=lambda key: LAST.index(key) if key in LAST else -1)}


def _entries(value: dict[str, Any], *, indent: str = "", but: tuple[str, ...] = ()) -> Iterator[str]:
    for key, one in value.items():
        if key in but:
            continue
        if isinstance(one, (list, tuple)):
            flow = f"{indent}{key}: [{', '.join(map(_scalar, one))}]"
            if len(flow) <= WIDTH:
                yield flow
            else:
                yield f"{indent}{key}:"
                yield from (f"{indent}- {_scalar(item)}" for item in one)
        else:
            yield f"{indent}{key}: {_scalar(one)}"


def _scalar(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if not isinstance(value, str):
        return str(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    if visible(value) == value:
        doubled = value.replace("'", "''")
        return f"'{doubled}'"
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char == "\n":
        return "\\n"
    if char != "#" and visible(char) == char:
        return char
    return f"\\U{ord(char):08x}" if ord(char) > 0xFFFF else f"\\u{ord(char):04x}"
