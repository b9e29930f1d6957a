"""Build profiles from a user's files, with inherited and default values."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import structs

from turnlint.carriers import NAMES
from turnlint.documents.source import open_regular
from turnlint.errors import LocatedError, ProfilesError, UnknownProviderError
from turnlint.handwritten import MOST_BYTES, Document, documents
from turnlint.own_profiles.checks import Names, faults
from turnlint.own_profiles.shape import SOURCE, kinds
from turnlint.profiles import CapabilitySource, Profile
from turnlint.providers import SHARED, Providers

MOST_TOLD = 20
_IDENTITY = ("name", "title", "version", "about", "hosts", "models")
"""Fields that a profile with another name does not inherit."""
_BY_RULE = ("clauses", "weights")


def read(paths: Iterable[str], packages: list[str]) -> dict[str, tuple[Profile, ...]]:
    """Return the profiles of each file, in order. A later one may extend an earlier one. Raises `ProfilesError`."""
    own: list[Profile] = []
    by_file: dict[str, tuple[Profile, ...]] = {}
    names = _names(Providers(packages))
    for path in paths:
        try:
            found = documents(_bytes(path))
        except LocatedError as fault:
            raise ProfilesError([_line(path, fault)]) from None
        if not found:
            raise ProfilesError([_line(path, LocatedError("contains no profile"))])
        count = len(own)
        for document in found:
            if wrong := sorted(faults(document, names), key=lambda fault: fault.spot or (0, 0)):
                raise ProfilesError([*_lines(path, wrong)])
            try:
                own.append(_profile(document, Providers(packages, tuple(own)), own))
            except LocatedError as fault:
                raise ProfilesError([_line(path, fault)]) from None
        by_file[path] = tuple(own[count:])
    return by_file


def _bytes(path: str) -> bytes:
    try:
        with open_regular(path) as file:
            return bytes(file.read(MOST_BYTES + 1))
    except OSError as error:
        raise LocatedError((error.strerror or "cannot be read").lower()) from None


def _line(path: str, fault: LocatedError) -> str:
    place = f":{fault.spot[0]}:{fault.spot[1]}" if fault.spot else ""
    return f"{path}{place}: {fault.sentence}"


def _lines(path: str, wrong: list[LocatedError]) -> Iterator[str]:
    yield from (_line(path, fault) for fault in wrong[:MOST_TOLD])
    if len(wrong) > MOST_TOLD:
        yield f"{path}: and {len(wrong) - MOST_TOLD:,} more"


def _profile(document: Document, providers: Providers, own: list[Profile]) -> Profile:
    try:
        made = _sourced(msgspec.convert(_whole(document, providers), Profile))
    except msgspec.ValidationError as error:
        raise LocatedError(str(error).lower(), document.spot(())) from None
    if made.label in [one.label for one in own]:
        raise LocatedError(f"two profiles have the name {made.label}", document.spot(("name",)))
    return made


def _names(providers: Providers) -> Names:
    from turnlint.rulebook import everything

    profiles = [one for name in providers.names() for one in providers.versions(name)]
    wires = {wire for one in profiles for wire in one.wires}
    told = frozenset(rule for one in profiles for known in one.known for rule in known.rules)
    rules = {name: kind.code for name, kind in kinds().items()}
    rules |= {entry.rule.name: entry.rule.code for entry in everything()}
    return Names(rules, told, frozenset(wires | set(NAMES)))


def _whole(document: Document, providers: Providers) -> dict[str, Any]:
    """Return the fields of a profile: the document with all inherited and default values."""
    given: dict[str, Any] = {key: _with_evidence(key, value) for key, value in document.value.items()}
    dropped = set(given.pop("drop", ()))
    base = _base(document, given.pop("extends", None), providers)
    whole = _defaults(given, base, providers)
    whole |= {key: value for key, value in given.items() if key not in ("capabilities", "known", *_BY_RULE)}
    caps = dict(whole["capabilities"]) if base or "capabilities" not in given else {}
    if "wires" in given or not caps:
        caps["format"] = whole["wires"][0]
    for key in _BY_RULE:
        new = given.get(key, [])
        gone = dropped | {one["rule"] for one in new}
        whole[key] = [one for one in whole.get(key, ()) if one["rule"] not in gone] + new
    whole["known"] = [*whole.get("known", ()), *given.get("known", ())]
    whole["capabilities"] = _capabilities(caps, given.get("capabilities", {}))
    return whole


def _capabilities(inherited: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return capabilities with their sources: an inherited source does not hold for a value that the user gives."""
    sources = [{"source": SOURCE, "date": "", **one} for one in given.get("sources", ())]
    changed = {*given, *(key for one in sources for key in one["of"])}
    for one in inherited.get("sources", ()):
        kept = [key for key in one["of"] if key not in changed]
        sources += [{**one, "of": kept}] if kept else []
    return {**inherited, **given, "sources": sources}


def _sourced(made: Profile) -> Profile:
    """Return the profile with a source for each of its capabilities."""
    told = made.capabilities
    own = tuple(key for key in told.told if key not in made.capability_sources)
    if not own:
        return made
    sources = (*told.sources, CapabilitySource(of=own, source=SOURCE, date=""))
    return structs.replace(made, capabilities=structs.replace(told, sources=sources))


def _base(document: Document, extends: str | None, providers: Providers) -> Profile | None:
    if extends is None:
        return None
    try:
        return providers.known(extends)[0]
    except UnknownProviderError as error:
        raise LocatedError(f"extends: {error}", document.spot(("extends",))) from None


def _defaults(given: dict[str, Any], base: Profile | None, providers: Providers) -> dict[str, Any]:
    """Return the default values. A profile with the name of a built-in provider gets that provider's identity."""
    name = given["name"]
    found: dict[str, Any] = {"title": name}
    if base:
        found |= msgspec.to_builtins(base)
    else:
        shared = providers.versions(SHARED)
        found |= {"wires": shared[0].wires, "capabilities": msgspec.to_builtins(shared[0].capabilities)}
    known = providers.versions(name)
    like = base if base and base.name == name else known[0] if known else None
    for key in _IDENTITY:
        found.pop(key, None)
    if like:
        found |= {"title": like.title, "hosts": like.hosts, "models": like.models, "about": like.about}
    return {"title": name, **found}


def _with_evidence(key: str, value: Any) -> Any:
    if key not in ("clauses", "weights", "known"):
        return value
    return [{"source": SOURCE, "date": "", **one} for one in value]
