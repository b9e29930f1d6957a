"""Decode the facts that the native scanner gives of a record.

`native/facts.h` defines the layout. The result is the same value that `facts.facts_of` computes from messages.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import product
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any

from msgspec import structs

from turnlint.carrying.syntax import MessageClass
from turnlint.facts import NO_KEYS, ConversationFacts, Labels, RequestFacts, Said, Step
from turnlint.fastpath.tables import CONTENTS, Tables
from turnlint.ledger import ODD
from turnlint.model import Arguments, Written
from turnlint.names import CLASS_OF, NO_NAMES, Names

if TYPE_CHECKING:
    from turnlint.keys import Strict

_LAYOUT = Layout("<11QI" + "HHBB" * 7 + "10B0Q")
_EMPTIES_AT, _LAST_AT = 11, -9
_FIRST_AT, _CALLS_AT = _LAYOUT.size - 10, _LAYOUT.size - 2
MAX_SETS = 1 << 14
"""Sets of keys that are kept."""
_WRITTEN: tuple[Written, ...] = ("absent", "null", "text", "object", "list")
_ARGUMENTS: tuple[tuple[Written, Arguments], ...] = (
    ("text", "object"), ("text", "nothing"), ("object", "object"), ("absent", "nothing"), ("null", "nothing"), ("text", "free"),
    ("object", "free"),
)  # fmt: skip
_EMPTIES = ("message", "text", "white")
_UNBOUNDED = 1 << 62
_NOT_ASCII = 1 << CLASS_OF[0xFF]
_ORPHAN, _OUTSIDE, _NO_TRIGGER = frozenset({"orphan"}), frozenset({"outside"}), frozenset[str]()
_START: Labels = frozenset({"start"})


def _bits(number: int) -> Iterator[int]:
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def envelope_of(facts: bytes) -> int:
    """The hash of the envelope."""
    return int.from_bytes(facts[:8], "little")


def without_envelope(facts: bytes) -> bytes:
    """Return facts without the hash of the envelope."""
    return facts[8:]


def kind_of(facts: bytes) -> tuple[int, bool]:
    """The class of the first message, and whether the record has calls: formats are recognized by both."""
    return facts[_FIRST_AT], bool(facts[_CALLS_AT])


_PATHS = {"message": "", "call": "call."}
"""The objects whose keys may be evidence for a format, with the text before such a key."""


def last_of(facts: bytes) -> tuple[int, bool]:
    """The class of the last message, and whether a message of this class is empty."""
    values = _LAYOUT.unpack(facts)
    return values[_LAST_AT], bool(values[_EMPTIES_AT] >> values[_LAST_AT] * 3 & 1)


class KnownKeys:
    """The keys of the objects of a record, by the place and role of each object."""

    def __init__(self, keys: frozenset[tuple[str, str | None, str]], unread: frozenset[str]) -> None:
        self.keys = keys
        self.unread = unread
        """Places whose keys are not known."""
        self.memo: dict[Strict, bool] = {}

    def has_only_known(self, known: "Strict", /) -> bool:
        """Whether no clause refuses one of the keys. The result is cached."""
        found = self.memo.get(known)
        if found is None:
            found = self.memo[known] = self.unread.isdisjoint(known.clauses) and not any(
                key in clause.refused or (clause.known and key not in clause.known)
                for place, role, key in self.keys
                for clause in known.clauses.get(place, ())
                if not clause.roles or role is None or role in clause.roles
            )
        return found


class Decoder:
    """Decodes facts of records of one wire."""

    def __init__(self, tables: Tables, marks: Sequence[str]) -> None:
        self.tables = tables
        self.mark_names = marks
        self.labels = [_labels_of(one) if number else _START for number, one in enumerate(tables.classes)]
        speakers = [one for one in tables.classes[1:] if one.role == "assistant"]
        silent = frozenset[str]().union(*(_labels_of(one) for one in speakers if not one.calls))
        self.unions = {silent, silent.union(*map(_labels_of, speakers))}
        """The possible labels of a turn of several messages of the assistant."""
        self.keys: dict[int, KnownKeys] = {}
        self.servers: dict[int, tuple[frozenset[str], frozenset[str]]] = {0: (frozenset(), frozenset())}
        """Names of tools that the provider runs, and heads of the ids of their calls."""
        self.last = [frozenset((one.role, one.written)) for one in tables.classes]
        self.last_with_prefix = [one | {"prefix"} for one in self.last]
        self.mixed_of = lru_cache(256)(self._mixed)
        self.steps_of = lru_cache(4096)(self._steps)
        self.contents_of = lru_cache(4096)(self._contents)
        self.marks_of = lru_cache(4096)(self._marks)
        self.empties_of = lru_cache(1024)(self._empties)
        self.results_of = lru_cache(1024)(self._results)

    def note_keys(self, facts: bytes, seen: tuple[tuple[int, int], ...]) -> None:
        """Keep the keys of a hash."""
        found: set[tuple[str, str | None, str]] = set()
        for place, bits in seen:
            name, role, words = self.tables.places[place]
            if name:
                found.update((name, role, words[number]) for number in _bits(bits))
        if len(self.keys) >= MAX_SETS:
            self.keys.clear()
        self.keys[_LAYOUT.unpack(facts)[1]] = KnownKeys(frozenset(found), self.tables.unread)

    def keys_in(self, facts: bytes, some: Collection[str]) -> frozenset[str]:
        """Return those of some keys that the messages and calls of a record have; none if its keys are not known."""
        known = self.keys.get(_LAYOUT.unpack(facts)[1])
        found = (
            () if known is None else (_PATHS[place] + key for place, _, key in known.keys if place in _PATHS)
        )
        return frozenset(found).intersection(some)

    def knows(self, facts: bytes) -> bool:
        """Whether the sets are known that the facts name by a hash."""
        values = _LAYOUT.unpack(facts)
        return values[1] in self.keys and values[10] in self.servers

    def note_servers(self, facts: bytes, words: tuple[tuple[int, bytes], ...]) -> None:
        """Keep the names of tools and the heads of ids of a hash."""
        names = frozenset(word.decode() for is_head, word in words if not is_head)
        heads = frozenset(word.decode() for is_head, word in words if is_head)
        self.servers[_LAYOUT.unpack(facts)[10]] = names, heads

    def decode(self, facts: bytes, around: ConversationFacts) -> ConversationFacts:
        """The facts of a record, with those of its envelope."""
        tables = self.tables
        (
            _, keys, marks, steps, answers, contents, results, outputs, items, odd_items, servers, empties, *rest,
            first, last, last_content, mixed, messages, most_calls, result_size, arguments, calls, tools,
        ) = _LAYOUT.unpack(facts)  # fmt: skip
        ids, names, result_names, authors, tool_names, item_ids, server_tails = (
            _names_of(*rest[number : number + 4]) for number in range(0, 28, 4)
        )
        said, roles, spoken = self.contents_of(contents)
        words, flags = self.marks_of(marks)
        types, pairs = self.results_of(results)
        last_class = tables.classes[last]
        request = around.request
        headless = around.headless or "reference" in flags
        server_names, server_heads = self.servers[servers]
        return ConversationFacts(
            has_whole_end=around.has_whole_end,
            has_sent_end=around.has_sent_end,
            is_log=around.is_log,
            open_end=around.open_end,
            triggers=_triggers_of(flags, headless=headless) | self._outside(words),
            headless=headless,
            request=_request_of(request, tools, tool_names, twins="twin-tools" in flags)
            if tools and request
            else request,
            messages=1 << messages,
            roles=roles,
            contents=said,
            last_content=(CONTENTS[last_content], last_class.written, last_class.calls),
            empties=self.empties_of(empties),
            mixed_roles=self.mixed_of(mixed),
            marks=words,
            steps=self.steps_of(steps, "mixed-turn" in flags),
            answers=self.steps_of(answers, "mixed-turn" in flags),
            first=self.labels[first],
            spoken=spoken,
            last=self.last_with_prefix[last] if "prefix" in flags else self.last[last],
            authors=authors,
            ids=ids,
            names=names,
            result_names=result_names,
            server_names=server_names,
            server_heads=server_heads,
            server_tails=server_tails,
            calls=_UNBOUNDED if calls else 0,
            most_calls=(1 << most_calls) - 1,
            arguments=_arguments_of(arguments),
            results=pairs,
            result_parts=frozenset().union(*(tables.output_kinds[number] for number in _bits(outputs))),
            nameless_results=types | (tables.server_types if servers else _NO_TRIGGER)
            if "nameless-result" in flags
            else _NO_TRIGGER,
            idless_results=types if "idless-result" in flags else frozenset(),
            longest_result=1 << result_size,
            item_kinds=_words_of(items, tables.item_kinds),
            odd_items=self._odd_items(items, odd_items, item_ids),
            longest_item=item_ids.longest,
            keys=self.keys[keys] if request else NO_KEYS,
        )

    def _steps(self, bits: int, is_mixed: bool) -> frozenset[Step]:
        """Pairs of classes of turns. The number 0 behind a class is the end, which is no step.

        A turn of several roles has the class of the first one. It may be each union of their labels.
        """
        pairs = [(number >> 3, number & 7) for number in _bits(bits)]
        turns = {one: {self.labels[one]} for pair in pairs for one in pair}
        for one, labels in turns.items():
            said = self.tables.classes[one]
            if said.role == "assistant" and said.results:
                labels.add(self.labels[one] | {"server-result"})  # its last block may be one
        if is_mixed:
            for one, labels in turns.items():
                if self.tables.classes[one].role == "assistant":
                    labels.update(self.unions)
        return frozenset(
            pair for before, here in pairs if here for pair in product(turns[before], turns[here])
        )

    def _contents(self, bits: int) -> tuple[frozenset[Said], frozenset[str], frozenset[str]]:
        found = [(self.tables.classes[number // 7], CONTENTS[number % 7]) for number in _bits(bits)]
        said = frozenset((content, one.written, one.calls) for one, content in found)
        spoken = frozenset[str]().union(*(_labels_of(one) for one, _ in found))
        return said, frozenset(one.written for one, _ in found), spoken

    def _marks(self, bits: int) -> tuple[Any, frozenset[str]]:
        """The marks of `ConversationFacts`, and the native ones, which are more."""
        found = frozenset(self.mark_names[number] for number in _bits(bits))
        by_pairs = _OF_PAIRS if "unpaired" in found else frozenset[str]()
        return (found | by_pairs) - _NATIVE_MARKS, found

    def _outside(self, marks: frozenset[str]) -> frozenset[str]:
        """The trigger for a result behind other messages; of another turn too, which the native side marks alike."""
        return _OUTSIDE if self.tables.anywhere and "spoken-between" in marks else _NO_TRIGGER

    def _mixed(self, bits: int) -> frozenset[str]:
        return frozenset(self.tables.classes[number].written for number in _bits(bits))

    def _empties(self, bits: int) -> frozenset[tuple[Any, str]]:
        return frozenset(
            (_EMPTIES[number % 3], self.tables.classes[number // 3].written) for number in _bits(bits)
        )

    def _results(self, bits: int) -> tuple[frozenset[str], frozenset[tuple[str, Written]]]:
        pairs = [(self.tables.result_types[number // 5], _WRITTEN[number % 5]) for number in _bits(bits)]
        return frozenset(kind for kind, _ in pairs), frozenset(pairs)

    def _odd_items(self, items: int, odd: int, ids: Names) -> frozenset[str]:
        """Types of items with an unexpected id: all of them if a character is unexpected."""
        return _words_of(odd if ids.match("[A-Za-z0-9_-]+") else items, self.tables.item_kinds)


_NATIVE_MARKS = frozenset(
    {
        "nameless-result",
        "idless-result",
        "prefix",
        "twin-tools",
        "mixed-turn",
        "reference",
        "orphan",
        "unpaired",
    }
)
"""Marks that are other fields of `ConversationFacts`."""
_OF_PAIRS = frozenset({"scattered-results", "spoken-between"})
"""Marks that depend on the pairs of calls and results."""


def _triggers_of(flags: frozenset[str], *, headless: bool) -> frozenset[str]:
    if "unpaired" in flags:
        return ODD  # an id alone does not pair: the ledger decides
    return _ORPHAN if "orphan" in flags and not headless else _NO_TRIGGER


def _labels_of(one: MessageClass) -> Labels:
    role = one.written
    return frozenset((role, "call" if one.calls else role, "result" if one.results else role))


@lru_cache(4096)
def _names_of(first: int, letters: int, shortest: int, longest: int) -> Names:
    """A summary whose lengths are one more than the real ones: 0 is no name."""
    if not longest:
        return NO_NAMES
    least = min(shortest - 1, 1) if letters & _NOT_ASCII else shortest - 1
    return Names(first, letters, least, longest - 1 if longest < 255 else _UNBOUNDED, 1)


@lru_cache(1024)
def _words_of(bits: int, words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(words[number] for number in _bits(bits))


@lru_cache(256)
def _arguments_of(bits: int) -> frozenset[tuple[Written, Arguments]]:
    return frozenset(_ARGUMENTS[number] for number in _bits(bits))


def _request_of(request: RequestFacts, tools: int, names: Names, *, twins: bool) -> RequestFacts:
    count = _UNBOUNDED if tools == 255 else tools
    return structs.replace(request, tools=count, tool_names=names, has_twin_tools=twins)
