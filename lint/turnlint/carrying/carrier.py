"""The values between a format and the engine.

This module owns what a carrier is. It refuses to know any.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct

from turnlint.documents.decode import Decoded, Shape
from turnlint.model import Record, Transcript


class Stray(Struct, frozen=True):
    """A record that holds nothing this format knows."""

    record: Record
    found: str
    """What it holds instead."""


class Carrier(Struct, frozen=True):
    """A log format."""

    name: str
    title: str
    about: str
    sniff: Callable[[Decoded[Any]], int]
    """How strongly a decoded record speaks for this format; below zero, how strongly against it."""
    shape: Shape[Any]
    read: Callable[[Iterable[Decoded[Any]]], Iterator[Transcript | Stray]]
