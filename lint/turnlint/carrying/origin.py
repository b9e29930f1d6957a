"""Read the maker of a message from the keys of a log."""

from functools import lru_cache

from msgspec import Raw

from turnlint.carrying.raws import string
from turnlint.model import Origin

MAX_NAME_CHARACTERS = 200
"""A longer value is no name of a provider or a model."""


def read_origin(provider: Raw | None, model: Raw | None) -> Origin | None:
    """Return the provider and the model that a record names; none where it names neither."""
    return origin_of(string(provider), string(model))


@lru_cache(maxsize=256)
def origin_of(provider: str | None, model: str | None) -> Origin | None:
    """Return the provider and the model with such names; none where both are no names."""
    return shared_origin(_name(provider), _name(model))


@lru_cache(maxsize=256)
def shared_origin(provider: str | None, model: str | None) -> Origin | None:
    """Return one value for each provider and model: the messages of a log share it."""
    return Origin(provider, model) if provider or model else None


def _name(name: str | None) -> str | None:
    """Return a name, but none that Claude Code writes for its own messages (`<synthetic>`)."""
    if not name or len(name) > MAX_NAME_CHARACTERS or name.startswith("<"):
        return None
    return name
