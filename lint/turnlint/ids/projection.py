"""Assign ids to all calls and results of a conversation.

The assignment works on occurrences, never on ids, since one id may belong to many calls. A result gets the id of its
call in the ledger.

No two calls get one id, unless a provider accepts a repeated id in a later turn and both calls have it already. The
same conversation always gets the same ids. The first call with an acceptable id keeps it. New ids derive from canonical
ones, so they change only with the call itself. Pruning other turns does not change them, with three exceptions:

* several calls had an id and the first of them is pruned: the next keeps the id from then on;
* a short form (Mistral's nine characters) had two calls collide and the earlier one is pruned;
* the provider numbers calls through the request (Kimi K2): there an id has the number of earlier calls.
"""

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from turnlint import ledger, providers
from turnlint.errors import NoFittingIdError
from turnlint.ids.canonical import HISTORY, canonical_id, hashed, is_canonical, is_empty
from turnlint.ids.shapes import TRIES, Demand, Demands, number_in
from turnlint.ids.turns import known_id, parts_of, short, turns
from turnlint.ledger import Answered, Asked, Ledger, is_redacted, usable
from turnlint.ledger.alike import normal_form
from turnlint.model import Call, Keys, Message, Pointer, Record, Result, Transcript, Wire
from turnlint.profiles import Profile
from turnlint.repeats import has_no_ids, removed_copies, repeats

CANONICAL = "canonical"
Signature = tuple[str | None, str | None, bytes]
"""The id, the tool and the arguments of a call."""


class Memory(Struct, frozen=True):
    """The ids of an earlier state of a conversation."""

    names: Mapping[Signature, Sequence[str]] = {}
    """The canonical ids of calls, for each signature in order."""
    strays: frozenset[str] = frozenset()
    """The ids of results without a call: no call may get one of these."""


REUSED, MISSING = "reused-call-id", "missing-call-id"
"""Rules whose weights show whether a provider accepts an id of an earlier turn, or a call without an id."""


class Entry(Struct, frozen=True):
    """One place that has or needs an id."""

    piece: Literal["call", "result"]
    message: int
    at: Pointer
    """The pointer in the message's record."""
    bearing: bool
    """Whether the wire has a key for the id; without one the call or result cannot get an id."""
    number: int
    """The number of the call, or of the call of the result, from 0; -1 for a result without a call."""
    old: str | None
    new: str | None
    tool: str | None

    @property
    def changed(self) -> bool:
        return self.old != self.new


class Projection(Struct, frozen=True):
    """The ids of a conversation for a provider, place by place."""

    target: str
    """A provider with its version, or `canonical`."""
    entries: tuple[Entry, ...]

    @property
    def changed(self) -> Iterator[Entry]:
        return (entry for entry in self.entries if entry.changed)

    @property
    def by_id(self) -> dict[str, tuple[str, ...]]:
        """Return each old id with its new ids, for display: an id of several calls has several."""
        found: dict[str, dict[str, None]] = {}
        for entry in self.entries:
            if entry.old is not None and entry.new is not None:
                found.setdefault(entry.old, {})[entry.new] = None
        return {old: tuple(new) for old, new in found.items()}


def entries_after(transcript: Transcript, pairs: Ledger, new: Sequence[str | None]) -> Iterator[Entry]:
    """Yield the places of a conversation's ids, with the new ids of its calls and results in their order."""
    book = _Book(transcript, pairs)
    for place, number in book.places:
        yield book.entry(place, number, new[place.seq])


class _Owner(Struct):
    """A unit with an id of its own: a call, or the unknown call of a result without a call."""

    old: str | None
    name: str | None
    key: str
    """The key of its turn; `index` is its position among the calls of that turn."""
    index: int
    provider: str
    """The provider that made the call."""
    content: str
    """A digest of the calls of its turn, which distinguishes it from others with this key and index."""
    block: Call | Result

    @property
    def stray(self) -> bool:
        return isinstance(self.block, Result)

    @property
    def signature(self) -> Signature:
        return self.block.id, self.name, short(self.block.body)


Given = list[str | None]
MAX_STARTS = 64
"""The number of starting numbers that are tried for counted ids before a start after all others."""


def remembered(transcript: Transcript, pairs: Ledger) -> Memory:
    """Return the ids of a conversation, for later states of it that a repair changes."""
    book = _Book(transcript, pairs)
    found: dict[Signature, list[str]] = {}
    for owner, name in zip(book.owners, book.canonical(), strict=True):
        if not owner.stray:
            found.setdefault(owner.signature, []).append(name)
    return Memory(found, book.strays)


def canonicalize(
    transcript: Transcript,
    pairs: Ledger | None = None,
    provider: str | None = None,
    memory: Memory | None = None,
    *,
    everywhere: bool = False,
) -> Projection:
    """Return every id in its canonical form, hashed with a provider's name, or by default that of `origin_of`.

    With `everywhere`, also a result that needs no id and has no call gets an id.
    """
    book = _Book(transcript, pairs, memory)
    strays = {id(orphan.result) for orphan in book.pairs.orphans}

    def leave(result: Result) -> bool:
        """Whether a result without a call stays without an id because the wire needs none."""
        return id(result) in strays and not result.needs_id and not everywhere

    return Projection(CANONICAL, tuple(book.entries([*book.canonical(provider)], leave)))


def project(
    transcript: Transcript,
    pairs: Ledger | None,
    profile: Profile,
    *,
    canonical: bool = False,
    model: str | None = None,
    memory: Memory | None = None,
    in_place: bool = False,
    prefixed: bool = False,
) -> Projection:
    """Return every id as a provider accepts it: unchanged where possible, else made from the canonical one.

    With `canonical`, every id is made from the canonical one. The `model` is the target model, where the conversation
    names another. Raises `NoFittingIdError` where no id can satisfy the profile's clauses.

    With `in_place`, the conversation stays on its wire, as in a repair. Otherwise it is converted to a wire of the
    provider: internal ids get the prefix of that wire, and missing ids are made. With `prefixed`, internal ids get that
    prefix in both cases.
    """
    book = _Book(transcript, pairs, memory)
    demands = Demands(profile, transcript, model, in_place=in_place)
    again = frozenset[int]() if canonical else book.reused(profile)
    lenient = in_place and book.may_lack_ids(profile)
    prefixed = prefixed or not demands.spelled
    given = _given(book, demands, anew=canonical, again=again, lenient=lenient, prefixed=prefixed)

    def leave(result: Result) -> bool:
        """Whether a result without an id stays without one: an empty id follows that of its call."""
        return demands.leaves(result) and not (prefixed and in_place and is_empty(result.id))

    return Projection(profile.label, tuple(book.entries(given, leave)))


def project_ids(calls: Iterable[tuple[str | None, str | None]], profile: Profile) -> list[str | None]:
    """Return the ids of some calls, each a turn of its own, from pairs of an id and the name of a tool."""
    record, keys = Record(1, 0, b""), Keys(("id",), ("name",), ("arguments",))
    messages = tuple(
        Message("assistant", (index,), (Call((), keys, identifier, name, b"{}", "object"),), record)
        for index, (identifier, name) in enumerate(calls)
    )
    found = project(Transcript(Wire(profile.wires[0]), messages), None, profile)
    return [entry.new for entry in found.entries]


def unused_id(seed: str, transcript: Transcript, profile: Profile | None, used: Container[str | None]) -> str:
    """Return an unused id that a provider accepts in a repair; without a provider, in the canonical form.

    Raises `NoFittingIdError` where no id can satisfy the profile's clauses.
    """
    demand = Demands(profile, transcript, in_place=True).call if profile else None
    names = (hashed(seed, salt) for salt in range(TRIES))
    made = (demand.made(name, 0) if demand else name for name in names)
    found = next((one for one in made if one not in used), None)
    if found is None:
        raise NoFittingIdError("there are more calls than ids that the clauses allow")
    return found


def origin_of(transcript: Transcript) -> str:
    """Return the provider that made the calls: as the user named it, or as the record shows it; else empty."""
    if transcript.origin is not None:
        return transcript.origin
    request = transcript.request
    return (
        providers.origin_of(request.host, request.model)
        if request and (request.host or request.model)
        else ""
    )


def provider_of(transcript: Transcript, message: Message) -> str:
    """Return the provider that made the calls of a message: its own, or that of the conversation."""
    own = message.origin
    if own is None or transcript.origin is not None:
        return origin_of(transcript)
    return providers.origin_named(own.provider, own.model) or origin_of(transcript)


class _Book:
    """A conversation's owners of ids, and the places of each owner's id."""

    def __init__(self, transcript: Transcript, pairs: Ledger | None, memory: Memory | None = None) -> None:
        self.transcript = transcript
        self.memory = memory or Memory()
        self.pairs = pairs or ledger.read(
            transcript.messages, transcript.wire, transcript.answer_at, transcript.gaps
        )
        self.owners = _calls(transcript, self.pairs)
        self.places = sorted(self._places(), key=lambda place: place[0].seq)

    @property
    def strays(self) -> frozenset[str]:
        """Return the ids of results without a call, now or before a repair."""
        own = (owner.old for owner in self.owners if owner.stray)
        return self.memory.strays.union(one for one in own if one is not None and usable(one))

    def _places(self) -> Iterator[tuple[Asked | Answered, int]]:
        """Yield every call and every result with its owner; results without a call are owners too."""
        number = {one.asked.seq: count for count, one in enumerate(self.pairs.interactions)}
        for count, one in enumerate(self.pairs.interactions):
            yield one.asked, count
            if one.answer is not None:
                yield one.answer, count
        for again, one in self.pairs.duplicates:
            yield again, number[one.asked.seq]
        strays: dict[tuple[str | None, bool], int] = {}
        for orphan in self.pairs.orphans:
            result = orphan.result
            known = strays.get((result.id, result.server)) if usable(result.id) else None
            if known is None:
                known = strays[result.id, result.server] = len(self.owners)
                self.owners.append(_stray(result, origin_of(self.transcript)))
            yield orphan, known

    def canonical(self, provider: str | None = None) -> list[str]:
        """Return the canonical ids of all owners."""

        def make(index: int, salt: int) -> str:
            owner = self.owners[index]
            parts = (
                owner.provider if provider is None else provider,
                owner.old,
                owner.name,
                owner.key,
                owner.index,
            )
            return hashed(*parts, owner.content, salt) if salt else canonical_id(*parts)

        keep = [owner.old if is_canonical(owner.old) else None for owner in self.owners]
        wishes = keep, self._remembered()
        given = _assign(self.owners, wishes, make, range(len(self.owners)), strays=self.strays)
        return [one or "" for one in given]

    def _remembered(self) -> Given:
        """Return the id of each call in the state before a repair."""
        left = {signature: deque(names) for signature, names in self.memory.names.items()}
        found: Given = []
        for owner in self.owners:
            names = None if owner.stray else left.get(owner.signature)
            found.append(names.popleft() if names else None)
        # An earlier step gave some calls another id: these are found by tool and arguments.
        renamed: dict[tuple[str | None, bytes], deque[str]] = {}
        for (_, name, body), names in left.items():
            renamed.setdefault((name, body), deque()).extend(names)
        for index, owner in enumerate(self.owners):
            names = renamed.get(owner.signature[1:])
            if found[index] is None and names and not owner.stray:
                found[index] = names.popleft()
        return found

    def takes(self, profile: Profile, rule: str) -> bool:
        """Whether a provider accepts the subject of a rule, on the wire of the conversation."""
        said = self.transcript.wire.speaks
        weights = (one for one in profile.by_rule.get(rule, ()) if not one.wires or said in one.wires)
        weight = next(weights, None)
        return weight is not None and "info" in (weight.mild, weight.severity)

    def may_lack_ids(self, profile: Profile) -> bool:
        """Whether calls and results stay without ids. The provider's rejection outranks the habit of the wire."""
        if has_no_ids(self.pairs, self.transcript.wire):
            return not self._refuses_no_ids(profile)
        return self.takes(profile, MISSING)

    def _refuses_no_ids(self, profile: Profile) -> bool:
        """Whether the provider rejects a conversation without ids on a wire that needs none."""
        said = self.transcript.wire.speaks
        first = self.pairs.interactions[0].asked.turn
        lone = sum(one.asked.turn == first for one in self.pairs.interactions) == 1
        for weight in profile.by_rule.get(MISSING, ()):
            if (not weight.wires or said in weight.wires) and (weight.when != "one-call" or lone):
                return weight.severity == "error"
        return False

    def reused(self, profile: Profile) -> frozenset[int]:
        """Return the calls that keep an id of a call in an earlier turn, where the provider accepts that."""
        if "taken" not in self.pairs.odd or not self.takes(profile, REUSED):
            return frozenset()
        loose = {orphan.result.id for orphan in self.pairs.orphans}
        number = {one.asked.seq: count for count, one in enumerate(self.pairs.interactions)}
        found: dict[str | None, set[int]] = {}
        parts = parts_of(self.pairs)
        for repeat in repeats(self.pairs):
            first, again = repeat.first.asked, repeat.again.asked
            if not repeat.same and parts[first.seq] != parts[again.seq]:
                found.setdefault(again.call.id, set()).add(number[again.seq])
        return frozenset(one for identifier, some in found.items() if identifier not in loose for one in some)

    def copies(self) -> dict[int, int]:
        """Return the calls that a repair removes as copies, with the calls that they repeat."""
        number = {one.asked.seq: count for count, one in enumerate(self.pairs.interactions)}
        return {
            number[one.again.asked.seq]: number[one.first.asked.seq] for one in removed_copies(self.pairs)
        }

    def entries(self, given: Given, leave: Callable[[Result], bool]) -> Iterator[Entry]:
        """Yield the places with their ids.

        A result for which `leave` holds stays without an id, whatever its call has.
        """
        for place, number in self.places:
            block: Call | Result = place.call if isinstance(place, Asked) else place.result
            new = given[number]
            left = new is None or (not usable(block.id) and isinstance(block, Result) and leave(block))
            yield self.entry(place, number, block.id if left else new)

    def entry(self, place: Asked | Answered, number: int, new: str | None) -> Entry:
        """Return a place with its new id. The number is that of the owner."""
        block: Call | Result = place.call if isinstance(place, Asked) else place.result
        owner = self.owners[number]
        return Entry(
            "call" if isinstance(place, Asked) else "result",
            place.message,
            (*self.transcript.messages[place.message].at, *block.at, *block.keys.id),
            block.keys.id != block.keys.name,
            -1 if owner.stray else number,
            block.id,
            new,
            owner.name or block.name,
        )


def _calls(transcript: Transcript, pairs: Ledger) -> list[_Owner]:
    ids = {one.asked.seq: known_id(one) for one in pairs.interactions}
    found = []
    for turn in turns(transcript, pairs):
        for index, one in zip(turn.places, turn.asked, strict=True):
            provider = provider_of(transcript, transcript.messages[one.message])
            owner = _Owner(ids[one.seq], one.call.name, turn.key, index, provider, turn.content, one.call)
            found.append(owner)
    return found


def _stray(result: Result, provider: str) -> _Owner:
    """Return the owner for a result without a call. Without a usable id, its name and content distinguish it."""
    if usable(result.id):
        return _Owner(result.id, None, "", 0, provider, "", result)
    return _Owner(result.id, result.name, short(result.body).hex(), 0, provider, "", result)


def _given(
    book: _Book, demands: Demands, *, anew: bool, again: Container[int], lenient: bool, prefixed: bool
) -> Given:
    """Return the provider id of each owner: the present one if accepted, else its canonical id in another form."""
    owners, names, strays = book.owners, book.canonical(), book.strays
    of = [demands.of(owner.block) for owner in owners]
    copies = book.copies() if demands.in_place else {}
    counted = [index for index, demand in enumerate(of) if demand.counted and index not in copies]
    start = 0 if anew else _first_number(counted, owners, of)
    numbers: dict[int, int] = {}

    def numbered(index: int) -> str:
        return of[index].numbered(owners[index].name, numbers[index], None if anew else owners[index].old)

    def is_foreign(index: int) -> bool:
        """Whether a result without a call has the numbered id, and the call has another id."""
        return (name := numbered(index)) in strays and name != owners[index].old

    # With the id of a result without a call, this call would get that result.
    for first_number in (*range(start, start + MAX_STARTS), 1 + max(map(number_in, strays), default=0)):
        numbers = {index: number for number, index in enumerate(counted, first_number)}
        places = [number_in(stray) - first_number for stray in strays]
        own = (counted[place] for place in places if 0 <= place < len(counted))
        if not any(is_foreign(index) for index in own if not owners[index].stray):
            break
    first: Given = [None] * len(owners)
    second: Given = [None] * len(owners)
    made = []
    for index, (owner, demand) in enumerate(zip(owners, of, strict=True)):
        old = owner.block.id if demands.in_place else owner.old
        # For the rules, a redacted id is present.
        lacks = demands.may_lack(owner.block) or lenient or (demands.in_place and is_redacted(old))
        is_distinct = prefixed and demands.in_place and is_empty(old)
        lacks = lacks and not is_distinct
        if not usable(old) and lacks and (not usable(owner.old) or demand.fits(owner.old or "")):
            continue
        if index in copies:
            continue
        made.append(index)
        if index in numbers and not owner.stray:
            first[index] = numbered(index)
        elif not anew and owner.old is not None and usable(owner.old):
            if owner.old.startswith(HISTORY) and prefixed and not demand.counted:
                second[index] = demand.under_prefix(owner.old)
            elif demand.fits(owner.old):
                first[index] = owner.old

    def make(index: int, salt: int) -> str:
        if index in numbers:
            return of[index].numbered(owners[index].name, numbers[index] + salt)
        return of[index].made(names[index], salt)

    given = _assign(owners, (first, second), make, made, again, strays=strays)
    for index, original in copies.items():
        given[index] = given[original]
    return given


def _first_number(counted: Sequence[int], owners: Sequence[_Owner], of: Sequence[Demand]) -> int:
    """Return the number of the first call. A history that was trimmed at its start continues its numbers."""
    for place, index in enumerate(counted):
        old = owners[index].old
        if old is not None and of[index].fits(old) and not owners[index].stray:
            return max(0, number_in(old) - place)
    return 0


def _assign(
    owners: list[_Owner], wishes: Sequence[Given], make: Callable[[int, int], str], made: Iterable[int],
    again: Container[int] = (), strays: Iterable[str] = (),
) -> Given:  # fmt: skip
    """Give each owner its first wish that no other owner has; each in `made` without one gets a new id.

    The owners in `again` share an id with an earlier one. No new id is in `strays`.
    """
    given: Given = [None] * len(owners)
    taken: dict[str, int] = {}
    for wish in wishes:
        for index, identifier in enumerate(wish):
            if owners[index].stray or given[index] is not None or identifier is None:
                continue
            kept = index in again and identifier == owners[index].old
            if taken.setdefault(identifier, index) == index or kept:
                given[index] = identifier
    _keep_strays(owners, wishes, given, taken)
    # A new id is unused in the old conversation, so that a search for an old id finds only its own places.
    before = {*strays, *(owner.old for owner in owners)}
    named = _named_calls(owners)
    for index in made:
        if index in named and given[named[index]] is not None:
            # An id that no call has could belong to a call that lost its own.
            given[index] = given[named[index]]
        elif given[index] is None:
            tries = (make(index, salt) for salt in range(TRIES))
            found = next((one for one in tries if one not in taken and one not in before), None)
            if found is None:
                raise NoFittingIdError("there are more calls than ids that the clauses allow")
            given[index] = found
            taken[found] = index
    return given


def _named_calls(owners: Sequence[_Owner]) -> dict[int, int]:
    """Return results without a call, with the only call that has the id of the result."""
    bearers: dict[str, list[int]] = {}
    for index, owner in enumerate(owners):
        if not owner.stray and usable(owner.block.id):
            bearers.setdefault(normal_form(owner.block.id or ""), []).append(index)
    found = {}
    for index, owner in enumerate(owners):
        own = bearers.get(normal_form(owner.old or ""), ()) if owner.stray else ()
        if len(own) == 1 and owner.old == owners[own[0]].block.id:
            found[index] = own[0]
    return found


def _keep_strays(owners: list[_Owner], wishes: Sequence[Given], given: Given, taken: dict[str, int]) -> None:
    """Let a result without a call keep its id while the same calls have it as before.

    None of them was its call, and none may become its call.
    """
    bearers: dict[str, list[int]] = {}
    now: dict[str, list[int]] = {}
    for index, owner in enumerate(owners):
        if not owner.stray:
            bearers.setdefault(normal_form(owner.block.id or ""), []).append(index)
            now.setdefault(normal_form(given[index] or ""), []).append(index)
    for index, owner in enumerate(owners):
        wish = next((wish[index] for wish in wishes if wish[index] is not None), None)
        if not owner.stray or wish is None:
            continue
        if bearers.get(normal_form(owner.old or ""), []) == now.get(normal_form(wish), []):
            given[index] = wish
            taken.setdefault(wish, index)
