"""Split a long record into several short records that have the same evidence together.

A record is split in its longest list, between two elements. Thus no check holds all of its messages at once: two
hundred thousand short messages take ten times the memory of their bytes. Short values beside the list are repeated in
each stretch, since they may define its meaning. Long values occur in the first stretch only.
"""

from collections.abc import Iterator

from msgspec import Raw, json

_STRETCH = 1 << 19
_SHORT = 1 << 9
_members = json.Decoder(dict[str, Raw])
_elements = json.Decoder(list[Raw])


def stretches(data: bytes) -> Iterator[bytes]:
    """Yield records in place of one JSON record, or the record itself where no list is most of it.

    The second of several records has an empty list, so that it has only the evidence beside the list.
    """
    start = bare = end = b""
    rest: bytes | Raw = data
    while True:
        head = bytes(memoryview(rest)[:1])
        if head == b"{":
            members = _members.decode(rest)
            # At most one member has more than half of the bytes.
            half = len(data) // 2
            key = next((one for one, raw in members.items() if memoryview(raw).nbytes >= half), None)
            if key is None:
                break
            around = {
                one: json.encode(one) + b":" + bytes(members[one]) + b"," for one in members if one != key
            }
            opened = json.encode(key) + b":"
            start += b"{" + b"".join(around.values()) + opened
            bare += b"{" + b"".join(one for one in around.values() if len(one) <= _SHORT) + opened
            end = b"}" + end
            rest = members[key]
        elif head == b"[":
            for number, some in enumerate(_cut(_elements.decode(rest))):
                if number == 1:
                    yield bare + b"[]" + end
                yield (bare if number else start) + b"[" + some + b"]" + end
            return
        else:
            break
    yield data


def _size(raw: Raw) -> int:
    return memoryview(raw).nbytes


def _cut(elements: list[Raw]) -> Iterator[bytes]:
    """Yield groups of elements up to a size. Each element is released when its group is made."""
    elements.reverse()
    while elements:
        some: list[Raw] = []
        size = 0
        while elements and size < _STRETCH:
            size += _size(elements[-1])
            some.append(elements.pop())
        yield b",".join(map(memoryview, some))
