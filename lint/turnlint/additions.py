"""Provide all names that a wire, a parser or a grammar of another package needs, and check those that are installed.

A wire is a module with a `CARRIER`, a parser one with a `PARSER`, a grammar one with a `GRAMMAR`. Each is an entry in a
group of `turnlint.packages`.
"""

from turnlint import carriers
from turnlint.carrying import grammars
from turnlint.carrying.carrier import NEUTRAL, SPEAKS, STRANGE, Carrier
from turnlint.carrying.contents import arguments_in_place, arguments_in_text, call_mark
from turnlint.carrying.draft import with_mark
from turnlint.carrying.envelope import Dialect, make_carrier
from turnlint.carrying.grammars import Grammar
from turnlint.carrying.outer import Envelope
from turnlint.carrying.raws import NOTHING, content_of, given, is_blank, string, written
from turnlint.carrying.writer import MessageWriter
from turnlint.model import (
    Block,
    Call,
    Keys,
    Message,
    Misfit,
    Other,
    Pointer,
    Record,
    Result,
    Role,
    Text,
    Thinking,
    Wire,
)
from turnlint.parsers import Parser, parsers

__all__ = [
    "NEUTRAL",
    "NOTHING",
    "SPEAKS",
    "STRANGE",
    "Block",
    "Call",
    "Carrier",
    "Dialect",
    "Envelope",
    "Grammar",
    "Keys",
    "Message",
    "MessageWriter",
    "Misfit",
    "Other",
    "Parser",
    "Pointer",
    "Record",
    "Result",
    "Role",
    "Text",
    "Thinking",
    "Wire",
    "arguments_in_place",
    "arguments_in_text",
    "call_mark",
    "check_additions",
    "content_of",
    "given",
    "is_blank",
    "make_carrier",
    "string",
    "with_mark",
    "written",
]


def check_additions() -> None:
    """Load all wires, parsers and grammars of other packages. Raises `BrokenAdditionError`."""
    carriers.check_added()
    parsers()
    grammars.grammars()
