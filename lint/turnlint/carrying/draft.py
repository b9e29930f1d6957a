"""A message while it is read, whatever the wire.

This module owns what every reading gathers: blocks, texts that say nothing, echoes and misfits. It refuses
to know how a wire spells any of them.
"""

from msgspec import Raw, Struct, json

from turnlint.carrying.contents import marker_in
from turnlint.carrying.raws import is_blank, is_white, trails, written
from turnlint.model import Blank, Block, Call, Misfit, Pointer, Result, Role, Signature, Text


class Draft(Struct, gc=False):
    """What is known of a message so far. Places are below it."""

    at: Pointer
    role: Role
    blocks: list[Block] = []
    blanks: list[Blank] = []
    echoes: list[Pointer] = []
    misfits: list[Misfit] = []

    def amiss(self, place: Pointer, expected: str, found: Raw | str, *, grave: bool = True) -> None:
        """Name a place whose kind is wrong, by the value found there or by what to call it."""
        self.misfits.append(Misfit((*self.at, *place), expected, _said(found), grave))

    def say(self, raw: Raw, place: Pointer) -> None:
        """Take a text; one that says nothing is no block."""
        if is_blank(raw):
            self.blanks.append(Blank(place, len(self.blocks), is_white(raw)))
        else:
            self.blocks.append(text_of(memoryview(raw), place, self.role))


def _said(found: Raw | str) -> str:
    if isinstance(found, str):
        return found
    from turnlint.documents.fit import kind_of

    return kind_of(json.decode(found))


def text_of(text: memoryview, at: Pointer, role: Role) -> Text:
    """A text that says something. Those of whole contents are shared: there may be very many."""
    marker = marker_in(bytes(text)) if role == "assistant" else None
    trailing = trails(text)
    if at is CONTENT and marker is None:
        return WHOLE_TRAILING if trailing else WHOLE
    return Text(at, marker, trailing)


CONTENT: Pointer = ("content",)
WHOLE, WHOLE_TRAILING = Text(CONTENT), Text(CONTENT, trailing=True)
_ALONE: dict[int, tuple[Block, ...]] = {id(WHOLE): (WHOLE,), id(WHOLE_TRAILING): (WHOLE_TRAILING,)}


def together(blocks: list[Block]) -> tuple[Block, ...]:
    """All blocks of a message. A shared text that stands alone is shared with what it stands in."""
    return (_ALONE.get(id(blocks[0])) if len(blocks) == 1 else None) or tuple(blocks)


def settle_calls(out: Draft) -> list[Call]:
    """Take the calls beside results for echoes; return those that stand alone, which have the wrong role."""
    calls = [block for block in out.blocks if type(block) is Call]
    if calls and any(isinstance(block, Result) for block in out.blocks):
        out.echoes += [call.at for call in calls]
        out.blocks = [block for block in out.blocks if not isinstance(block, Call)]
        return []
    return calls


def signature_of(raw: Raw) -> Signature:
    """A signature as it stands. What null means, each wire says for itself."""
    kind = written(raw)
    if kind == "text":
        return "blank" if is_blank(raw) else "given"
    return "absent" if kind == "absent" else "unfit"
