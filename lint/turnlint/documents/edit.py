"""Edit a JSON text in its bytes.

The module replaces, erases, adds and moves values, with their commas, gaps and indentation. All other bytes stay
unchanged. The module does not validate an edit: an edit whose pointer does not exist changes nothing. The caller checks
whether it was made.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from turnlint.documents.locate import locate
from turnlint.documents.tokens import END, MARK, Items, find_string_end, find_value_end, skip_space, tokenize
from turnlint.model import Pointer


class Moved(Struct, frozen=True):
    """A value from another position, with the edits at and below it applied."""

    record: int
    at: Pointer


class Built(Struct, frozen=True):
    """A new value composed of bytes and of moved values."""

    parts: "tuple[Piece, ...]"


Piece = bytes | Moved | Built


class Edits(Struct):
    """The edits of one JSON text. Every pointer refers to the text before the edits."""

    write: dict[Pointer, bytes] = field(default_factory=dict)
    """The new value at each pointer. Where the last key is absent, a member is added to its object."""
    erase: set[Pointer] = field(default_factory=set)
    insert: dict[Pointer, list[tuple[int, Piece]]] = field(default_factory=dict)
    """The new elements of each array, each with the original index of the element that follows it."""

    def put(self, at: Pointer, data: bytes) -> bool:
        """Write a value, unless the pointer has one already. Return whether it was added."""
        known = at in self.write
        self.write.setdefault(at, data)
        return not known

    def take(self, at: Pointer) -> bool:
        """Erase a value, unless the pointer is erased already. Return whether it was added."""
        known = at in self.erase
        self.erase.add(at)
        return not known

    def add(self, array: Pointer, index: int, piece: Piece) -> None:
        self.insert.setdefault(array, []).append((index, piece))

    def __bool__(self) -> bool:
        return bool(self.write or self.erase or any(self.insert.values()))


class Style(Struct, frozen=True):
    """The spelling of a text, as far as a new value follows it."""

    comma: bytes
    colon: bytes
    ascii: bool
    newline: bytes
    unit: bytes | None
    """One step of indentation; none where the text is on one line."""


_INDENT = re.compile(rb"[\[{][ \t]*(\r?\n)([ \t]*)")
_FILLED = re.compile(rb"[\[{]([ \t\n\r]*)[^ \t\n\r\]}]")
_OPEN = (b"[", b"{")
_CLOSE = (b"]", b"}")


def style_of(data: bytes) -> Style:
    comma = colon = None
    for kind, start, end in tokenize(data):
        mark, after = data[start] if kind == MARK else 0, data[end : end + 1]
        if mark == 0x3A:
            colon = colon or (b": " if after == b" " else b":")
        elif mark == 0x2C:
            comma = comma or (b"" if after in (b"\r", b"\n") else b", " if after == b" " else b",")
        if comma is not None and colon is not None:
            break
    if not comma:  # a line end does not show the space after commas within a line
        comma = b"," if colon == b":" else b", "
    indent = _INDENT.search(data)
    newline, unit = indent.groups() if indent else (b"\n", None)
    return Style(comma, colon or (b": " if comma == b", " else b":"), data.isascii(), newline, unit)


def encode(value: Any, near: bytes | Style) -> bytes:
    """Encode a new value on one line, in the spelling of the text. For many values, call `style_of` once."""
    style = near if isinstance(near, Style) else style_of(near)
    separators = (style.comma.decode(), style.colon.decode())
    text = json.dumps(value, ensure_ascii=style.ascii, separators=separators)
    return text.encode(errors="backslashreplace")  # half a surrogate pair has no UTF-8, only an escape


def part(data: bytes, at: Pointer) -> bytes | None:
    """Return the bytes of the value at a pointer."""
    found, start, end = locate(data, at)
    return data[start:end] if found == at and start < end else None


def apply(texts: Sequence[bytes], edits: Mapping[int, Edits]) -> dict[int, bytes]:
    """Return the texts that change, edited. A moved value includes all edits at and below its old position."""
    moves: dict[int, list[Moved]] = {record: [*_moves(edits[record])] for record in edits}
    together = {one.record for some in moves.values() for one in some}
    together.update(record for record, some in moves.items() if some)
    changed: dict[int, bytes] = {}
    for record, own in edits.items():
        if record not in together:  # the state of one text is released before the next one is edited
            changed |= _apply(texts, {record: own}, ())
    some = {record: edits[record] for record in edits if record in together}
    return changed | _apply(texts, some, [one for own in moves.values() for one in own])


def _moves(edits: Edits) -> Iterator[Moved]:
    pieces = (part for added in edits.insert.values() for _, new in added for part in _parts(new))
    return (piece for piece in pieces if isinstance(piece, Moved))


def _apply(texts: Sequence[bytes], edits: Mapping[int, Edits], moves: Sequence[Moved]) -> dict[int, bytes]:
    """Return the changed texts. Each moved value comes from one of the texts and goes to one of them."""
    nodes = {record: _Node() for record in edits}
    for record, node in nodes.items():
        _plant(node, edits[record])
    for piece in moves:
        nodes.setdefault(piece.record, _Node()).reach(piece.at)
    has_moves = bool(moves)
    work = _Work({record: _Text(texts[record], node, has_moves=has_moves) for record, node in nodes.items()})
    for piece in moves:
        work.moved(piece)
    changed = {record: data for record in edits if (data := work.whole(record)) != texts[record]}
    for text in work.texts.values():
        del text.root  # it refers to its text, which only the garbage collector would free
    return changed


def _parts(piece: Piece) -> "list[bytes | Moved]":
    return [part for inner in piece.parts for part in _parts(inner)] if isinstance(piece, Built) else [piece]


_NONE: dict[Any, Any] = {}
"""A shared empty dict, which stays empty: a text with many edits would have many dicts."""


class _Node(Struct):
    """All edits at one position and below it."""

    write: bytes | None = None
    erase: bool = False
    insert: dict[int, list[Piece]] = field(default_factory=lambda: _NONE)
    below: "dict[str | int, _Node]" = field(default_factory=lambda: _NONE)

    def reach(self, at: Pointer) -> "_Node":
        node = self
        for key in at:
            if node.below is _NONE:
                node.below = {}
            if key not in node.below:
                node.below[key] = _Node()
            node = node.below[key]
        return node


def _plant(root: _Node, edits: Edits) -> None:
    for at in sorted(edits.write, key=len):  # members are added in this order, regardless of edits below them
        root.reach(at).write = edits.write[at]
    for at in edits.erase:
        root.reach(at).erase = True
    for at, entries in edits.insert.items():
        wanted: dict[int, list[Piece]] = {}
        for index, piece in entries:
            wanted.setdefault(index, []).append(piece)
        root.reach(at).insert = wanted


class _Item(Struct, gc=False):
    """An element or a member: its start (with its key), the start of its value, and its end."""

    start: int
    value: int
    end: int


class _Site(Struct, eq=False):
    """A position with edits, located in its text. It has items if edits are within it and its syntax is sound."""

    text: "_Text"
    node: _Node
    start: int
    up: "tuple[_Site, int] | None"
    end: int = 0
    items: list[_Item] | None = None
    at: "dict[int, _Site]" = field(default_factory=lambda: _NONE)
    below: "dict[str | int, _Site]" = field(default_factory=lambda: _NONE)
    flat: bool | None = None
    made: bytes | None = None
    """Its value after the edits, where it is known already. Then nothing below it is kept."""

    def gap(self, index: int) -> bytes:
        """Return the bytes before an item, or before the closing bracket, including the comma."""
        assert self.items is not None
        start = self.items[index - 1].end if index else self.start + 1
        return self.text.data[start : self.items[index].start if index < len(self.items) else self.end - 1]


class _Text:
    def __init__(self, data: bytes, node: _Node, *, has_moves: bool) -> None:
        self.data = data
        self.style = style_of(data)
        self.has_moves = has_moves
        """Whether values move from or to this text. Such texts are edited when all sites are known."""
        self.root = _walk(self, node, skip_space(data, 0), None)


def _walk(text: _Text, node: _Node, start: int, up: "tuple[_Site, int] | None") -> _Site:
    """Locate all edits in the value at `start`. The recursion is as deep as the pointers."""
    site = _Site(text, node, start, up)
    data = text.data
    if (node.below or node.insert) and data[start : start + 1] in _OPEN:
        items: list[_Item] = []
        site.at, site.below = {}, {}
        walk = Items(data, start)
        for key, first, value in walk:
            child = node.below.get(key)
            if child is None:
                end = find_value_end(data, value)
            else:
                if lost := site.below.get(key):  # of equal keys most decoders take the last
                    lost.node, lost.items, lost.made = _Node(erase=child.erase), None, None
                site.below[key] = site.at[len(items)] = _walk(text, child, value, (site, len(items)))
                end = site.below[key].end
                if isinstance(key, int) and site.below[key].made is not None:
                    child.below = _NONE
            if end == value:
                break
            walk.known_end = end
            items.append(_Item(first, value, end))
        if walk.is_sound:
            site.items, site.end = items, walk.end
            if items and node.write is None and not text.has_moves:
                site.made = _Work({}).value(site)
                site.items, site.at, site.below = None, _NONE, _NONE
            return site
        site.at, site.below = _NONE, _NONE
    site.end = find_value_end(data, start)
    return site


class _Work(Struct):
    """The texts with their sites, and the moved values, each made once."""

    texts: dict[int, _Text]
    made: dict[Moved, bytes | None] = field(default_factory=dict)
    begun: set[Moved] = field(default_factory=set)

    def moved(self, piece: Moved) -> bytes | None:
        """Return the bytes of a moved value; none where its position is empty."""
        if piece not in self.made:
            if piece in self.begun:
                raise ValueError(f"moved into itself: {piece.at}")
            self.begun.add(piece)
            self.made[piece] = self._standing(piece)
        return self.made[piece]

    def _standing(self, piece: Moved) -> bytes | None:
        site = self.texts[piece.record].root
        for depth, key in enumerate(piece.at, 1):
            if key not in site.below:
                added = depth == len(piece.at) and _lacks(site, key)
                return site.node.below[key].write if added else None
            site = site.below[key]
        return self.value(site)

    def whole(self, record: int) -> bytes:
        text = self.texts[record]
        return text.data[: text.root.start] + self.value(text.root) + text.data[text.root.end :]

    def value(self, site: _Site) -> bytes:
        text = site.text
        if site.made is not None:
            return site.made
        if site.node.write is not None:
            if site.up:
                return self.fitted(site.node.write, site.up[0], site.up[0].gap(site.up[1]))
            unit = text.style.unit if site.node.write[:1] in _OPEN else None
            return site.node.write if unit is None else _indented(site.node.write, b"", unit, text.style)
        data = text.data
        if site.items is None:
            return data[site.start : site.end]
        first, typical, last = _gaps(site)
        out = [data[site.start : site.start + 1]]
        for own, name, content in self._contents(site):
            gap = first if len(out) == 1 else own or typical
            out += (gap, name, content if isinstance(content, bytes) else self.fitted(content[0], site, gap))
        if len(out) == 1:
            last = b"" if site.items else site.gap(0)
        return b"".join((*out, last, data[site.end - 1 : site.end]))

    def _contents(self, site: _Site) -> Iterator[tuple[bytes, bytes, bytes | tuple[Piece]]]:
        """Yield the items of an edited container: the gap if it has its own, the key, and the content.

        New content is a tuple of one piece.
        """
        assert site.items is not None
        data = site.text.data
        inserted = site.node.insert if data[site.start : site.start + 1] == b"[" else {}
        for index in range(len(site.items) + 1):
            for piece in inserted.get(index, ()):
                if all(isinstance(part, bytes) or self.moved(part) is not None for part in _parts(piece)):
                    yield b"", b"", (piece,)
            there = site.at.get(index)
            if index == len(site.items) or (there and there.node.erase):
                continue
            item = site.items[index]
            content = self.value(there) if there else data[item.value : item.end]
            yield site.gap(index) if index else b"", data[item.start : item.value], content
        for key, child in site.node.below.items():
            if child.write is not None and not child.erase and _lacks(site, key):
                yield b"", encode(key, site.text.style) + _colon(site), (child.write,)

    def fitted(self, piece: Piece, container: _Site, gap: bytes) -> bytes:
        """Return a new value laid out for its gap. Moved values keep their layout."""
        parts = _parts(piece)
        made = [part if isinstance(part, bytes) else self.moved(part) or b"" for part in parts]
        new = b"".join(part if isinstance(part, bytes) else b"\0" for part in parts)
        lines = _lines(container, gap) if new[:1] in _OPEN else None
        moved = (was for was, part in zip(made, parts, strict=True) if isinstance(part, Moved))
        return _indented(new, *lines, container.text.style, moved) if lines else b"".join(made)


def _lacks(site: _Site, key: str | int) -> bool:
    """Whether a member with this key could be added here."""
    opened = site.items is not None and site.text.data[site.start : site.start + 1] == b"{"
    return opened and isinstance(key, str) and key not in site.below


def _colon(site: _Site) -> bytes:
    for item in site.items or ():
        return site.text.data[find_string_end(site.text.data, item.start) : item.value]
    return site.text.style.colon


def _gaps(site: _Site) -> tuple[bytes, bytes, bytes]:
    """Return the bytes before the first item, before any other new item, and before the closing bracket."""
    assert site.items is not None
    style = site.text.style
    first = site.gap(0)
    last = site.gap(len(site.items))
    if len(site.items) > 1:
        return first, site.gap(1), last
    if not site.items and site.up and (lines := _lines(site.up[0], site.up[0].gap(site.up[1]))):
        last = style.newline + lines[0]
        first = last + lines[1]
    return first, b"," + first if b"\n" in first else style.comma, last


def _line(gap: bytes) -> bytes | None:
    """Return the indentation after a gap; none where the gap has no line end."""
    end = gap.rfind(b"\n") + 1
    return gap[end : len(gap) - len(gap[end:].lstrip(b" \t"))] if end else None


def _unit(container: _Site) -> bytes | None:
    if container.items:
        inner = _line(container.gap(0))
        outer = _line(container.gap(len(container.items)))
        if inner and outer is not None and inner != outer and inner.startswith(outer):
            return inner[len(outer) :]
    return container.text.style.unit


def _flat(container: _Site) -> bool:
    """Whether each container in this one is on one line, as in a list with one record per line."""
    if container.flat is None:
        filled = (_FILLED.match(container.text.data, item.value) for item in container.items or ())
        container.flat = {b"\n" in match[1] for match in filled if match} == {False}
    return container.flat


def _lines(container: _Site, gap: bytes) -> tuple[bytes, bytes] | None:
    """Return the indentation of a container after this gap and one step of it; none where it stays on one line."""
    line, unit = _line(gap), _unit(container)
    return None if line is None or unit is None or _flat(container) else (line, unit)


def _indented(content: bytes, line: bytes, unit: bytes, style: Style, moved: Iterable[bytes] = ()) -> bytes:
    """Return a container broken into lines. A NUL, which JSON does not have, is the placeholder of each moved value."""
    standing = iter(moved)
    out: list[bytes] = []
    before = b""
    for kind, start, end in tokenize(content):
        if kind == END:
            break
        token = content[start:end]
        if token in _CLOSE:
            if before not in _OPEN:
                line = line[: len(line) - len(unit)]
                out.append(style.newline + line)
        elif before in _OPEN:
            line += unit
            out.append(style.newline + line)
        elif before == b",":
            out.append(style.newline + line)
        out.append(style.colon if token == b":" else next(standing, token) if token == b"\0" else token)
        before = token
    return b"".join(out)
