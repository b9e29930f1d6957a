"""Read settings from the command line as if they were in a file of their own.

`KEY=VALUE` has a key of the settings with its parents, and a value in YAML. The schema of the settings checks
both.
"""

from collections.abc import Iterable
from typing import Any

from turnlint.config.checking import shape_faults
from turnlint.config.reading import KIND, Layer, lines_of
from turnlint.errors import ConfigError, LocatedError
from turnlint.handwritten import Document, documents
from turnlint.schema_errors import in_words
from turnlint.text import quote_value

ORIGIN = "--set"
"""Origin of these settings in messages."""


def layer_of(given: Iterable[str]) -> Layer:
    """Return the layer of the given settings; the last value of a key takes precedence. Raises `ConfigError`."""
    layer = Layer(ORIGIN, Document({}))
    for one in given:
        key, equals, text = one.partition("=")
        if not equals or not all(key.split(".")):
            raise ConfigError([f"{ORIGIN}: expected KEY=VALUE, got {quote_value(one)}"])
        _put(layer.document.value, key, _value(key, text))
    if "extend" in layer.document.value:
        raise ConfigError([f"{ORIGIN}: extend: only settings files can extend others; use --config FILE"])
    if wrong := list(shape_faults(layer.document)):
        raise ConfigError(lines_of(ORIGIN, wrong))
    return layer


def _value(key: str, text: str) -> Any:
    try:
        found = documents(text.encode("utf-8", "surrogateescape"), KIND)
    except LocatedError as fault:
        raise ConfigError([f"{ORIGIN}: {in_words((key,))}{quote_value(text)} {fault.sentence}"]) from None
    if len(found) > 1:
        raise ConfigError(
            [f"{ORIGIN}: {in_words((key,))}{quote_value(text)} contains several YAML documents"]
        )
    return found[0].value if found else None


def _put(settings: dict[str, Any], key: str, value: Any) -> None:
    *above, last = key.split(".")
    for part in above:
        inner = settings.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ConfigError([f"{ORIGIN}: {key}: {part!r} is already set to another value"])
        settings = inner
    settings[last] = value
