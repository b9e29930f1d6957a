"""A long record as several short ones, which say together for a format what it says.

This module owns where a record is cut: in its longest list, between two elements. So none of what is asked of it holds
all of its messages at once: two hundred thousand short ones take ten times the memory of their bytes. What is short beside
the list goes with each stretch, for it may say how that is meant; what is long goes with the first alone.
"""

from collections.abc import Iterator

from msgspec import Raw, json

_STRETCH = 1 << 19
_SHORT = 1 << 9
_members = json.Decoder(dict[str, Raw])
_elements = json.Decoder(list[Raw])


def stretches(data: bytes) -> Iterator[bytes]:
    """Records in place of one that is JSON: all of it, where no list in it is most of it.

    The second of several has an empty list, and so says what is said beside it.
    """
    start = bare = end = b""
    rest: bytes | Raw = data
    while True:
        head = bytes(memoryview(rest)[:1])
        if head == b"{":
            members = _members.decode(rest)
            # More than half of the bytes is in one member at most.
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
    """Elements together, up to so many bytes. Each goes when it was taken."""
    elements.reverse()
    while elements:
        some: list[Raw] = []
        size = 0
        while elements and size < _STRETCH:
            size += _size(elements[-1])
            some.append(elements.pop())
        yield b",".join(map(memoryview, some))
