"""The same edits applied to Python values, for the tests of edits in bytes.

Defines that model, and random edits. The model has no commas, gaps or indentation.
"""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

from arbitrary_json import VALUES, places
from turnlint.documents.edit import Built, Edits, Moved, Piece, encode, part
from turnlint.model import Pointer

ABSENT = object()


class Kept(Struct):
    """A value without edits, with its bytes."""

    raw: bytes


class Model:
    """The same edits applied to Python values, without bytes."""

    def __init__(self, texts: list[bytes], edits: dict[int, Edits]) -> None:
        self.texts = texts
        self.values = [json.loads(text) for text in texts]
        self.edits = [edits.get(record, Edits()) for record in range(len(texts))]

    def original(self, record: int, at: Pointer) -> Any:
        value = self.values[record]
        for key in at:
            fits = isinstance(value, dict) if isinstance(key, str) else isinstance(value, list)
            if not fits or (key not in value if isinstance(key, str) else not 0 <= key < len(value)):
                return ABSENT
            value = value[key]
        return value

    def touched(self, record: int, at: Pointer) -> bool:
        edits = self.edits[record]
        edited = (*edits.write, *edits.erase, *edits.insert)
        return any(place[: len(at)] == at for place in edited)

    def after(self, record: int, at: Pointer, moving: tuple[Moved, ...] = ()) -> Any:
        """The value of a position after all edits, whether or not it stays."""
        edits = self.edits[record]
        value = self.original(record, at)
        if value is ABSENT:
            opened = at and isinstance(at[-1], str) and isinstance(self.original(record, at[:-1]), dict)
            return json.loads(edits.write[at]) if opened and at in edits.write else ABSENT
        if at in edits.write:
            return json.loads(edits.write[at])
        if not self.touched(record, at):
            raw = part(self.texts[record], at)
            assert raw is not None
            return Kept(raw)
        if isinstance(value, list):
            return [
                item for index in range(len(value) + 1) for item in self._around(record, at, index, moving)
            ]
        if isinstance(value, dict):
            added = (place[-1] for place in edits.write if place and place[:-1] == at)
            keys = dict.fromkeys([*value, *(key for key in added if isinstance(key, str))])
            gone = edits.erase
            return {key: self.after(record, (*at, key), moving) for key in keys if (*at, key) not in gone}
        return Kept(part(self.texts[record], at) or b"")

    def _around(self, record: int, at: Pointer, index: int, moving: tuple[Moved, ...]) -> Iterator[Any]:
        for before, piece in self.edits[record].insert.get(at, []):
            if before == index:
                found = self._piece(piece, moving)
                if found is not ABSENT:
                    yield found
        if (*at, index) not in self.edits[record].erase:
            found = self.after(record, (*at, index), moving)
            if found is not ABSENT:
                yield found

    def _piece(self, piece: Piece, moving: tuple[Moved, ...]) -> Any:
        if isinstance(piece, bytes):
            return json.loads(piece)
        if isinstance(piece, Moved):
            return self.moved(piece, moving)
        found = [self._piece(part, moving) for part in piece.parts if not isinstance(part, bytes)]
        return ABSENT if ABSENT in found else found

    def moved(self, piece: Moved, moving: tuple[Moved, ...]) -> Any:
        if piece in moving:
            raise ValueError("moved into itself")
        return self.after(piece.record, piece.at, (*moving, piece))

    def all_moves(self) -> list[Moved]:
        entries = (entry for edits in self.edits for entries in edits.insert.values() for entry in entries)
        held = (piece.parts if isinstance(piece, Built) else (piece,) for _, piece in entries)
        return [piece for pieces in held for piece in pieces if isinstance(piece, Moved)]


def plain(value: Any) -> Any:
    if isinstance(value, Kept):
        return json.loads(value.raw)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


@st.composite
def draw_edits(draw: Any, texts: list[bytes], below: Pointer = (), *, moves: bool = True) -> dict[int, Edits]:
    """Edits of existing positions, of some missing positions, and of some positions twice."""
    found = [[at for at, _ in places(json.loads(text)) if at[: len(below)] == below] for text in texts]
    records = st.integers(0, len(texts) - 1)
    edits: dict[int, Edits] = {}
    for _ in range(draw(st.integers(1, 8))):
        record = draw(records)
        there = edits.setdefault(record, Edits())
        at = draw(st.sampled_from(found[record]))
        beyond = draw(st.sampled_from([(), (), (), ("new",), ("é",), (0,), (99,), ("new", "deeper")]))
        new = encode(draw(VALUES), texts[record])
        what = draw(st.sampled_from(["put", "take", "add", "move"]))
        if what == "put":
            there.put((*at, *beyond), new)
        elif what == "take":
            there.take((*at, *beyond))
        elif what == "add" or not moves:
            there.add((*at, *beyond), draw(st.integers(-1, 5)), new)
        else:
            other = draw(records)
            piece = Moved(other, (*draw(st.sampled_from(found[other])), *beyond))
            edits.setdefault(other, Edits()).take(piece.at)
            held = draw(st.sampled_from([piece, Built((b"[", piece, b"]"))]))
            there.add(at, draw(st.integers(0, 5)), held)
    return edits
