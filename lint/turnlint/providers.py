"""Find the profiles of providers, and choose the one for a conversation.

Profiles are in the same packages as rules, and need no registration.
"""

import os
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module

from msgspec import Struct, structs

from turnlint.errors import UnknownProviderError
from turnlint.model import Request, Transcript
from turnlint.packages import BUILTIN, packages
from turnlint.profiles import Profile
from turnlint.text import did_you_mean, nearest_name

FOLDER = "profiles"
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?")
"""The form of a provider's name. A name with a dot is rather that of a file."""
SHARED = "shared"
"""The profile of the rules that all servers of one wire share."""
OWNERS = {"openai-chat": "openai"}
"""The provider to try first for wires that many use; other wires have the name of their provider."""


class Chosen(Struct, frozen=True):
    """A chosen profile, and the reason of the choice."""

    profile: Profile
    certain: bool = True
    named: bool = False
    """Whether the user named it."""

    def judges(self, transcript: Transcript) -> bool:
        """Whether its rules about the format of requests apply.

        A log of an agent is no request: the agent may encode the request differently. If the user names the
        provider, all rules apply.
        """
        return self.named or not transcript.is_log


class Providers:
    """The profiles of a run, each loaded on first use."""

    def __init__(self, packages: list[str], own: tuple[Profile, ...] = ()) -> None:
        self.packages = packages
        self.loaded: dict[str, tuple[Profile, ...]] = {}
        self.assumed: dict[str, Profile] = {}
        """The profiles of unknown providers that the user named."""
        for profile in own:  # a user's own version of a provider comes before the built-in ones
            self.loaded[profile.name] = (*self.loaded.get(profile.name, ()), profile)
        for name in list(self.loaded):
            self.loaded[name] += self._load(name)

    def names(self) -> list[str]:
        """Return all providers, in order."""
        return sorted({*self.loaded, *(name for package in self.packages for name in _modules(package))})

    def versions(self, name: str) -> tuple[Profile, ...]:
        """Return all versions of a provider's rules, the default first."""
        if name not in self.loaded and (found := self._load(name)):
            self.loaded[name] = found
        return self.loaded.get(name, ())

    def _load(self, name: str) -> tuple[Profile, ...]:
        found: list[Profile] = []
        for package in self.packages:
            if name in _modules(package):
                module = import_module(f"{package}.{FOLDER}.{name.replace('-', '_')}")
                found += module.PROFILES
        return tuple(found)

    def named(self, text: str) -> tuple[Profile, ...]:
        """Return the versions that `NAME` or `NAME@VERSION` selects, or conservative defaults for an unknown provider.

        A name that is like a known one is a mistake. Raises `UnknownProviderError`.
        """
        if not self.versions(text) and _NAME.fullmatch(text) and nearest_name(text, self.names()) is None:
            return self._assumed(text)
        return self.known(text)

    def known(self, text: str) -> tuple[Profile, ...]:
        """Return the versions that `NAME` or `NAME@VERSION` selects. Raises `UnknownProviderError`."""
        name, at, version = text.partition("@")
        versions = self.versions(name)
        if not versions:
            raise UnknownProviderError(_sentence("provider", name, self.names()))
        if not at:
            return versions
        exactly = [one for one in versions if one.version == version]
        if not exactly:
            known = [one.version for one in versions if one.version]
            raise UnknownProviderError(_sentence("version", version, known, of=f" of {name}"))
        return (exactly[0],)

    def _assumed(self, name: str) -> tuple[Profile, ...]:
        """Return the profile of a provider without rules of its own."""
        if name not in self.assumed:
            shared = self.versions(SHARED)[0]
            self.assumed[name] = structs.replace(shared, name=name, title=f"{name}, an unknown provider")
        return (self.assumed[name],)

    @property
    def remarks(self) -> list[str]:
        """Return a remark about each name of an unknown provider."""
        return [
            f"unknown provider {name!r}: conservative defaults apply; `turnlint profiles` lists the known providers"
            for name in self.assumed
        ]

    def for_named(self, versions: tuple[Profile, ...], transcript: Transcript) -> Chosen:
        """Return the version of a named provider to which the conversation's model belongs."""
        return Chosen(_by_model(versions, transcript.request) or versions[0], named=True)

    def auto(self, transcript: Transcript) -> Chosen | None:
        """Return the provider of the wire; where many use it, the provider that the record names."""
        wire, request = transcript.wire.speaks, transcript.request
        host, model = (request.host, request.model) if request else (None, None)
        if wire in OWNERS:
            return self._whose(wire, host, model, request) or self._shared()
        own = self.versions(wire)
        if host:
            found = self._whose(wire, host, None, request)
            if found or self._is_known(host):
                return found  # another provider's server, not known to use this wire
            return Chosen(own[0], certain=False) if own else None
        ours = not model or any(one.models and re.search(one.models, model) for one in own)
        certain = ours or not any(one.models for one in own)
        if not certain and (other := self._whose(wire, None, model, request)):
            return other  # the model names the provider of a compatible server
        return Chosen(_by_model(own, request) or own[0], certain=certain) if own else None

    def origin(self, host: str | None, model: str | None) -> str:
        """Return the name of the provider that makes calls, for canonical ids; empty if a record does not show it.

        The format of the record does not matter: the same call gets the same id on every wire.
        """
        every = [one for name in self.names() for one in self.versions(name)]
        if host:
            # Several providers have APIs at the hosts of a cloud: the one that lists the host first owns it.
            matches = [
                (-len(end), rank, number)
                for number, one in enumerate(every)
                for rank, end in enumerate(one.hosts)
                if _is_host(host, (end,))
            ]
            if matches:
                return _origin_of(every[min(matches)[2]])
        if model:
            # A pattern that matches any name tells nothing about the provider: a cloud has models of many.
            general = {one.name for one in every if one.models and re.search(one.models, "-")}
            named = (one for one in every if one.models and one.name not in general)
            found = next((one for one in named if re.search(one.models, model)), None)
            if found is not None:
                return _origin_of(found)
        return ""

    def _shared(self) -> Chosen | None:
        shared = self.versions(SHARED)
        return Chosen(shared[0]) if shared else None

    def _whose(
        self, wire: str, host: str | None, model: str | None, request: Request | None
    ) -> Chosen | None:
        """Return the provider that a record names by its host, or else by its model; the latter is a guess."""
        if not host and not model:
            return None
        candidates = self._by_wire(self.versions(OWNERS.get(wire, wire)), wire)
        if host:
            found = next((one for one in candidates if _is_host(host, one.hosts)), None)
            found = found or self._host_of(wire, host)
            versions = self.versions(found.name) if found else ()
            if found and found.hosts != versions[0].hosts:
                return Chosen(found)  # the host is that of one version
            return Chosen(_by_model(versions, request) or versions[0]) if versions else None
        found = next((one for one in candidates if one.models and re.search(one.models, model or "")), None)
        return Chosen(found, certain=False) if found else None

    def _host_of(self, wire: str, host: str) -> Profile | None:
        """Return the profile of a host that accepts requests on a wire of another provider."""
        for name in self.names():
            for one in self.versions(name):
                if wire in one.host_wires and _is_host(host, one.hosts):
                    return one
        return None

    def _is_known(self, host: str) -> bool:
        return any(_is_host(host, one.hosts) for name in self.names() for one in self.versions(name))

    def _by_wire(self, first: tuple[Profile, ...], wire: str) -> Iterator[Profile]:
        """Yield all profiles with a wire, the most likely first, so that the others are seldom loaded."""
        yield from first
        for name in self.names():
            yield from (one for one in self.versions(name) if wire in one.wires and one not in first)


@lru_cache(maxsize=256)
def origin_of(host: str | None, model: str | None) -> str:
    """Return the name of the provider at a host or of a model, among the profiles of all installed packages."""
    return _installed().origin(host, model)


@lru_cache(maxsize=256)
def origin_named(provider: str | None, model: str | None) -> str:
    """Return the provider of a message, from the names that its log has for the provider and the model."""
    if provider in _installed().names():
        return origin_of_profile(provider or "")
    return origin_of(None, model) or provider or ""


def origin_of_profile(name: str) -> str:
    """Return the name in canonical ids of the provider of a profile."""
    versions = _installed().versions(name)
    return _origin_of(versions[0]) if versions else name


@cache
def _installed() -> Providers:
    return Providers(packages())


def _origin_of(profile: Profile) -> str:
    return profile.origin or profile.name


def _modules(package: str) -> list[str]:
    """Return the names of a package's profiles: each module of its folder is one."""
    found = []
    for folder in _folders(package):
        try:
            names = os.listdir(os.path.join(folder, FOLDER))
        except OSError:
            continue
        found += [
            name[:-3].replace("_", "-") for name in names if name.endswith(".py") and not name.startswith("_")
        ]
    return found


def _folders(package: str) -> list[str]:
    """Return the folders of a package.

    A foreign package is not imported here: loading its rules reports its errors.
    """
    if package == BUILTIN:
        return [*import_module(package).__path__]
    from importlib.util import find_spec

    spec = find_spec(package)
    return list((spec.submodule_search_locations if spec else None) or ())


def _by_model(versions: tuple[Profile, ...], request: Request | None) -> Profile | None:
    model = request.model if request else None
    if model is None or len(versions) < 2:
        return None
    return next((one for one in versions if one.models and re.search(one.models, model)), None)


def _is_host(host: str, ends: tuple[str, ...]) -> bool:
    return any(host == end or host.endswith(f".{end}") for end in ends)


def _sentence(what: str, name: str, known: list[str], of: str = "") -> str:
    hint = did_you_mean(name, known) if known else f"{name!r}; it has none"
    quoted = repr(name)
    return f"unknown {what} {hint.replace(quoted, f'{quoted}{of}', 1) if of else hint}"
