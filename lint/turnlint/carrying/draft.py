"""Collect the parts of a message while it is read: blocks, blank texts, echoes and misfits."""

from typing import TYPE_CHECKING

from msgspec import Raw, Struct, json, structs

from turnlint.carrying.contents import mark_in
from turnlint.carrying.raws import is_blank, is_white, trails, written
from turnlint.model import Blank, Block, Call, Misfit, Pointer, Result, Role, Signature, Text

if TYPE_CHECKING:
    from turnlint.carrying.grammars import Marked


class Draft(Struct, gc=False):
    """The parts of a message that are read so far. Pointers are relative to the message."""

    at: Pointer
    role: Role
    blocks: list[Block] = []
    blanks: list[Blank] = []
    echoes: list[Pointer] = []
    misfits: list[Misfit] = []
    has_odd_text: bool = False

    def amiss(self, place: Pointer, expected: str, found: Raw | str, *, grave: bool = True) -> None:
        """Record a misfit at a place, from the value there or from its name."""
        self.misfits.append(Misfit((*self.at, *place), expected, _said(found), grave))

    def say(self, raw: Raw, place: Pointer) -> None:
        """Add a text. A blank text is no block."""
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
    """Return the block of a text. Common texts of whole contents are shared, since there may be very many."""
    marked = mark_in(bytes(text)) if role == "assistant" else None
    trailing = trails(text)
    if at is CONTENT and marked is None:
        return WHOLE_TRAILING if trailing else WHOLE
    return with_mark(Text(at, trailing=trailing), marked)


def with_mark(text: Text, marked: "Marked | None") -> Text:
    """Return a text with the mark of a call in it, if there is one."""
    return structs.replace(text, call_marker=marked.mark, grammar=marked.grammar) if marked else text


CONTENT: Pointer = ("content",)
WHOLE, WHOLE_TRAILING = Text(CONTENT), Text(CONTENT, trailing=True)
_ALONE: dict[int, tuple[Block, ...]] = {id(WHOLE): (WHOLE,), id(WHOLE_TRAILING): (WHOLE_TRAILING,)}


def together(blocks: list[Block]) -> tuple[Block, ...]:
    """Return all blocks of a message. A tuple of one shared text is shared too."""
    return (_ALONE.get(id(blocks[0])) if len(blocks) == 1 else None) or tuple(blocks)


def settle_calls(out: Draft) -> list[Call]:
    """Record calls beside results as echoes. Return calls without results, which have the wrong role."""
    calls = [block for block in out.blocks if type(block) is Call]
    if calls and any(isinstance(block, Result) for block in out.blocks):
        out.echoes += [call.at for call in calls]
        out.blocks = [block for block in out.blocks if not isinstance(block, Call)]
        return []
    return calls


def signature_of(raw: Raw) -> Signature:
    """Classify a signature as written. Each wire defines what null means."""
    kind = written(raw)
    if kind == "text":
        return "blank" if is_blank(raw) else "given"
    return "absent" if kind == "absent" else "unfit"
