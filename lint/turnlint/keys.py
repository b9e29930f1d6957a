"""Find the keys of a message that a provider does not accept.

The module walks through a message to each object whose keys a provider checks.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType, defstruct, json

from turnlint.bounded_cache import BoundedCache
from turnlint.documents.decode import value_at
from turnlint.model import Pointer, Transcript

if TYPE_CHECKING:
    from turnlint.clauses import UnknownKey
    from turnlint.facts import ConversationFacts

Place = tuple[str, Pointer, Mapping[str, Any]]
"""The kind of an object, its pointer below the message, and the object."""
Strange = tuple["UnknownKey", str, Pointer]
"""The clause that a key violates, the kind of its object, and its pointer below the message."""


def strange(message: Any, role: str, clauses: Mapping[str, "list[UnknownKey]"]) -> Iterator[Strange]:
    """Yield the keys of a message that some clause rejects. The clauses are grouped by place."""
    if not isinstance(message, dict):
        return
    for place, below, thing in _places(message):
        for clause, key in _refused(thing, role, clauses.get(place, ())):
            yield clause, place, (*below, key)


def _refused(
    keys: Iterable[str], role: str, clauses: "Iterable[UnknownKey]"
) -> "Iterator[tuple[UnknownKey, str]]":
    for clause in clauses:
        if clause.roles and role not in clause.roles:
            continue
        for key in keys:
            if key in clause.refused or (clause.known and key not in clause.known):
                yield clause, key


def by_place(clauses: "Iterable[UnknownKey]") -> dict[str, "list[UnknownKey]"]:
    found: dict[str, list[UnknownKey]] = {}
    for clause in clauses:
        found.setdefault(clause.place, []).append(clause)
    return found


def _places(message: Mapping[str, Any]) -> Iterator[Place]:
    kind = message.get("type")
    if not isinstance(kind, str) or "role" in message:
        yield "message", (), message
    else:
        yield kind, (), message
    for key in ("content", "parts"):
        for number, part in _objects(message.get(key)):
            yield from _part((key, number), part)
    for number, call in _objects(message.get("tool_calls")):
        yield "call", ("tool_calls", number), call
        if isinstance(call.get("function"), dict):
            yield "function", ("tool_calls", number, "function"), call["function"]


def _part(at: Pointer, part: Mapping[str, Any]) -> Iterator[Place]:
    kind = part.get("type")
    if isinstance(kind, str):
        yield kind, at, part
        return
    yield "part", at, part
    for key, inner in part.items():
        if isinstance(inner, dict):
            yield key, (*at, key), inner


def _objects(value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield number, item


_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_KINDS = (
    "text",
    "image_url",
    "image",
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "document",
)
FEW = 20
"""Number of conversations that are walked through first: to make a decoder takes as long."""
MAX_KEPT, MAX_KEPT_CHARACTERS = 1000, 1 << 17
"""Limits of the cached lists of keys: their number, and their length together."""
LONG = 1 << 20
"""Size of a record above which its messages are not decoded all at once."""
_Never = Literal["\0"]
"""A type without values: a key of this type must be absent."""


class Strict:
    """A decoder for messages in which all keys are known: a message that it accepts needs no walk."""

    def __init__(self, clauses: Mapping[str, "list[UnknownKey]"]) -> None:
        self.clauses = clauses
        self.asked = self.refusals = 0
        self.is_useful = True
        """Whether the decoder accepts some messages.

        It accepts none where it cannot distinguish the kinds of pieces.
        """
        self.known: BoundedCache[tuple[str, str, tuple[str, ...]], bool] = BoundedCache(
            MAX_KEPT, MAX_KEPT_CHARACTERS
        )
        """Whether all of some keys are known, by the kind of their object and the role of its message."""
        self.message: Any = None
        self.decoders: dict[tuple[Pointer, bool], Any] = {}

    def is_satisfied_by(self, facts: "ConversationFacts", *, named: bool) -> bool:
        """Whether all clauses about keys are satisfied; see `Clause.is_satisfied_by`."""
        return facts.keys.has_only_known(self)

    def takes(self, data: bytes, at: Pointer) -> bool:
        """Whether the decoder accepts the list of messages at a pointer; false if it cannot decide."""
        self.asked += 1
        if not self.is_useful or (self.asked < FEW and len(data) < LONG):
            return False
        if self.message is None:
            self.message = _message_type(self.clauses)
        try:
            if len(data) < LONG:
                self._decode(data, at, self.message)
            else:  # one after the other, so that memory does not hold them all
                decode = json.Decoder(self.message).decode
                for one in self._decode(data, at, Raw):
                    decode(one)
        except (ValueError, RecursionError):
            self.refusals += 1
            self.is_useful = self.refusals < FEW
            return False
        self.refusals = 0
        return True

    def has_only_known(self, message: Any, role: str) -> bool:
        """Whether each key of a message is known, as `strange` defines it."""
        for place, _, thing in _places(message) if isinstance(message, dict) else ():
            if place not in self.clauses:
                continue
            key = place, role, tuple(thing)
            known = self.known.get(key)
            if known is None:
                known = next(_refused(thing, role, self.clauses[place]), None) is None
                self.known.put(key, known, sum(map(len, thing)))
            if not known:
                return False
        return True

    def _decode(self, data: bytes, at: Pointer, item: Any) -> Any:
        """Return the list at a pointer."""
        key = (at, item is Raw)
        if key not in self.decoders:
            shape: Any = list[item]
            for part in reversed(at):
                shape = defstruct("Around", [("inside", shape)], rename={"inside": str(part)})
            self.decoders[key] = json.Decoder(shape)
        found = self.decoders[key].decode(data)
        for _ in at:
            found = found.inside
        return found


class ReadKeys(Struct, frozen=True):
    """The keys of the messages of a request that was read. `opened` caches decoded records, by identity."""

    transcript: Transcript
    opened: dict[int, Any]

    def has_only_known(self, known: Strict) -> bool:
        """Whether no message of the request has a key that one of the clauses rejects."""
        request = self.transcript.request
        if request is None:
            return True
        place = (*request.at, request.key)
        return known.takes(request.record.data, place) or all(
            known.has_only_known(value_at(one.record, one.at, self.opened), one.written_role)
            for one in self.transcript.messages
            if one.at[:-1] == place
        )


def _message_type(clauses: Mapping[str, "list[UnknownKey]"]) -> Any:
    """Return a type for messages of all roles; without values if the kinds of pieces cannot be distinguished."""
    own = clauses.get("message", [])
    kinds = clauses.keys() - {"message", "call", "function"}
    if "part" in kinds:
        return _Never
    inside: dict[str, Any] = {}
    if "call" in clauses or "function" in clauses:
        function = _type_of(clauses.get("function", []), {})
        call = _type_of(clauses.get("call", []), {"function": function | None})
        inside["tool_calls"] = list[call] | None  # type: ignore[valid-type]
    if kinds:
        part = _any_of(
            _type_of(clauses.get(kind, []), {}, "type", kind) for kind in dict.fromkeys((*_KINDS, *kinds))
        )
        inside["content"] = str | list[part] | None  # type: ignore[valid-type]
        inside["parts"] = _Never
    return _any_of(
        _type_of([one for one in own if not one.roles or role in one.roles], inside, "role", role)
        for role in dict.fromkeys((*_ROLES, *(role for one in own for role in one.roles)))
    )


def _any_of(types: Iterable[Any]) -> Any:
    return reduce(or_, filter(None, types), _Never)


def _type_of(
    clauses: "list[UnknownKey]",
    inside: Mapping[str, Any],
    tag_field: str | None = None,
    tag: str | None = None,
) -> Any:
    """Return a type for objects with the keys that all of some clauses accept; nothing if they reject the tag itself."""
    lists = [set(one.known) for one in clauses if one.known]
    refused = {key for one in clauses for key in one.refused}
    known = set.intersection(*lists) - refused if lists else set(inside) - refused
    if tag_field is not None and (tag_field in refused or (lists and tag_field not in known)):
        return None
    fields = {key: inside.get(key, Raw) for key in sorted(known) if key != tag_field}
    fields |= dict.fromkeys(sorted(refused - {tag_field}), _Never)
    names = {f"key{number}": key for number, key in enumerate(fields)}
    return defstruct(
        f"Kind{tag}", [(name, fields[key] | UnsetType, UNSET) for name, key in names.items()], rename=names,
        tag_field=tag_field, tag=tag, forbid_unknown_fields=bool(lists),
    )  # fmt: skip
