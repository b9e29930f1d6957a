"""Distinguish damage from the spelling of another format, by all conversations of a file.

If all conversations have an unusual spelling, it belongs to another format. If some conversations have the spelling of
the wire, the unusual spelling is damage. A spelling that a file has only once is damage, too.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct, field

from turnlint.carrying import foreign
from turnlint.documents.source import Source
from turnlint.model import Call, Keys, Message, Pointer, Result, Transcript
from turnlint.neighbours.elsewhere import has_blank
from turnlint.text import nearest_name

Spelling = Literal[
    "result without an id",
    "call without an id",
    "call without a name",
    "call and result in one place",
    "role of a result",
    "role of a model",
    "own role",
]
"""`own role` is an unknown role."""
MIN_USES = 2
"""One use may be damage: recorded refusals and reports have one each (2026-11)."""
MAX_ROLES = 1000
"""Different roles that are counted."""
_ROLES = ("system", "user", "assistant", *foreign.ROLES)


_KEYS: dict[Spelling, Callable[[Keys], Pointer]] = {
    "result without an id": lambda keys: keys.id,
    "call without an id": lambda keys: keys.id,
    "call without a name": lambda keys: keys.name,
}
Use = tuple[Spelling, bool, Message, Call | Result | None]
"""A spelling or its counterpart, whether it is unusual, and its place."""


class Survey(Struct):
    """The spellings of the conversations of a file."""

    conversations: int = 0
    unusual: Counter[Spelling] = field(default_factory=Counter)
    usual: set[Spelling] = field(default_factory=set)
    """Spellings of which a conversation has the counterpart that the wire has."""
    roles: Counter[str] = field(default_factory=Counter)
    """The conversations that have each unknown role."""
    is_of_wire: bool = False
    """The file has requests for a model, or calls that a scanner accepted."""
    is_complete: bool = False
    """The file was read to its end."""

    def add(self, transcript: Transcript, source: Source) -> None:
        """Count the spellings of a conversation."""
        self.conversations += 1
        self.is_of_wire |= _is_sent(transcript)
        lacking: dict[Spelling, list[tuple[Message, Pointer]]] = {}
        for spelling, is_unusual, message, block in _uses(transcript):
            if not is_unusual:
                self.usual.add(spelling)
                continue
            self.unusual[spelling] += 1
            if block is not None and spelling in _KEYS:
                place = (*message.at, *block.at, *_KEYS[spelling](block.keys))
                lacking.setdefault(spelling, []).append((message, place))
        # Null or an empty text under the key of the wire is damage, and shows that the file has the key.
        self.usual.update(spelling for spelling, places in lacking.items() if has_blank(places, source))
        for role in _own_roles(transcript):
            if role in self.roles or len(self.roles) < MAX_ROLES:
                self.roles[role] += 1

    def is_format(self, transcript: Transcript, suspected: Iterable[Spelling]) -> bool:
        """Whether a spelling of a conversation is that of a format."""
        if self.is_of_wire:
            return False
        if any(self.unusual[one] >= MIN_USES and one not in self.usual for one in suspected):
            return True
        roles = _own_roles(transcript)
        return bool(roles) and (self.conversations == 1 or any(self.roles[one] > 1 for one in roles))

    def is_settled(self, suspected: Iterable[Spelling]) -> bool:
        """Whether no further conversation can make a spelling that of a format."""
        return self.is_of_wire or ("own role" not in suspected and self.usual.issuperset(suspected))


def suspected_in(transcript: Transcript) -> frozenset[Spelling]:
    """Return the unusual spellings of a conversation that may belong to another format."""
    if transcript.wire.like or _is_sent(transcript):
        return frozenset()
    found: tuple[set[Spelling], set[Spelling]] = (set(), set())
    for spelling, is_unusual, _, _ in _uses(transcript):
        found[is_unusual].add(spelling)
    suspected = found[True] - found[False]
    if transcript.wire.idless and "call without an id" in suspected:
        suspected -= {"call without an id", "result without an id"}  # a supported dialect pairs by position
    if _own_roles(transcript):
        suspected.add("own role")
    return frozenset(suspected)


def _uses(transcript: Transcript) -> Iterator[Use]:
    for message in transcript.messages:
        is_foreign = message.dialect is not None
        calls = {block.at for block in message.blocks if type(block) is Call}
        results = {block.at for block in message.blocks if type(block) is Result}
        for block in message.blocks:
            if type(block) is Call and not block.server:
                yield "call and result in one place", block.at in results, message, block
                # Without arguments it may be null or a number in place of a call, which is damage.
                if block.arguments != "nothing" or block.written == "text":
                    yield "call without a name", block.name is None, message, block
                    if block.needs_id:
                        yield "call without an id", block.id is None, message, block
            elif type(block) is Result and not block.server:
                yield "call and result in one place", block.at in calls, message, block
                if block.needs_id:
                    yield "result without an id", block.id is None, message, block
        if results:
            yield "role of a result", is_foreign, message, None
        if message.role == "assistant":
            yield "role of a model", is_foreign, message, None


def _own_roles(transcript: Transcript) -> set[str]:
    """Unknown roles that are words of their own. A word near a known role is a damaged role."""
    if not transcript.misfits:  # a format may have any role
        return set()
    roles = {one.written_role for one in transcript.messages if one.role == "other"}
    return {one for one in roles if one.isidentifier() and nearest_name(one, _ROLES) is None}


def _is_sent(transcript: Transcript) -> bool:
    """Whether a conversation is a request for a model. Gemini has the model in the address of a request."""
    request = transcript.request
    if request is None:
        return False
    is_whole = request.whole and transcript.wire.name == "gemini"
    return is_whole or request.model is not None or request.host is not None
