"""Assign ids in repairs.

The module determines the id of an occurrence for the provider that requires it, from `ids`, and writes it at all places
of a call at once. Other ids stay unchanged.
"""

from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct

from turnlint.documents.locate import PlaceFinder
from turnlint.errors import NoFittingIdError
from turnlint.ids import Entry, Memory, Projection, canonicalize, is_empty, is_internal, project, unused_id
from turnlint.ledger import usable
from turnlint.ledger.alike import normal_form
from turnlint.model import Call, Pointer, Result
from turnlint.profiles import Profile
from turnlint.repair.sheet import Sheet, id_place
from turnlint.repeats import Known, id_below, name_below
from turnlint.text import quote_name

Place = tuple[int, Pointer]
"""A message, and a pointer in its record."""


class Renamed(Struct, frozen=True):
    """One place where an id was written."""

    message: int
    at: Pointer
    """The pointer of the id, below the message."""
    piece: str
    old: str | None
    new: str
    tool: str | None

    @property
    def done(self) -> str:
        return f"give the {self.piece} {quote_name(self.old)} the id {quote_name(self.new)}"


class _Plan:
    """The ids of a conversation for one provider, by place and by owner."""

    def __init__(self, projection: Projection, profile: Profile | None = None) -> None:
        self.profile = profile
        """Nothing where the ids are canonical."""
        self.written: set[tuple[int, str | None]] = set()
        """The owners whose ids are written: many calls of one id have the same results without a call."""
        self.owner: dict[tuple[int, Pointer], tuple[int, str | None]] = {}
        self.places: dict[tuple[int, str | None], list[Entry]] = {}
        self.strays: dict[str, dict[tuple[int, str | None], None]] = {}
        for entry in projection.entries:
            # Results without a call have no number; those with one id have one owner.
            key = entry.number, None if entry.number >= 0 else entry.new
            self.owner[entry.message, entry.at] = key
            self.places.setdefault(key, []).append(entry)
            if entry.number < 0 and entry.changed:
                self.strays.setdefault(normal_form(entry.old or ""), {})[key] = None

    @cached_property
    def used(self) -> set[str | None]:
        """Return all ids before and after."""
        every = (entry for places in self.places.values() for entry in places)
        return {one for entry in every for one in (entry.old, entry.new)}

    @cached_property
    def nameless(self) -> list[tuple[int, str | None]]:
        """Return the owners without an id."""
        return [
            key
            for key, places in self.places.items()
            if key[0] >= 0 and not any(usable(one.old) for one in places)
        ]

    def strays_of(self, identifier: str | None) -> Iterable[tuple[int, str | None]]:
        """Return the owners of results without a call that have this id and get another."""
        return self.strays.get(normal_form(identifier or ""), ()) if usable(identifier) else ()


class Names:
    """The new ids of a conversation, computed once for each provider."""

    def __init__(self, sheet: Sheet, memory: Memory | None = None, *, anew: bool = False) -> None:
        self.sheet = sheet
        self.memory = memory
        self.anew = anew
        """Whether every id becomes the canonical one in the end."""
        self.plans: dict[str, _Plan | None] = {}
        self.finder = PlaceFinder()
        """The places of present and missing ids."""

    def rename(self, message: int, at: Pointer, profile: Profile) -> list[Renamed]:
        """Give a call, or a result without a call, an acceptable id at all its places."""
        plan = self._plan(profile)
        asked, answered = self.sheet.call(message, at), self.sheet.results.get((message, at))
        block = asked.call if asked else answered.result if answered else None
        if plan is None or block is None:
            return []
        owner = plan.owner.get((message, self.sheet.place(message, (*block.at, *block.keys.id))))
        if owner is None:
            return []
        done = self._together(plan, owner)
        # A result without a call must not get the one call that keeps the id they shared.
        named = {block.id, *(one.new for one in done)}
        strays = {stray: None for name in named for stray in plan.strays_of(name)} if done else {}
        # Nor may it match a call without an id by its position.
        for key in (*strays, *(plan.nameless if strays else ())):
            done += self._together(plan, key)
        return done

    def canonical(self) -> list[Renamed]:
        """Give every call its canonical id."""
        judged = self.sheet.judged
        plan = _Plan(canonicalize(judged.transcript, judged.pairs, memory=self.memory))
        self._look_for(plan)
        return [one for owner in plan.places for one in self._together(plan, owner)]

    def projected(self, profile: Profile) -> list[Renamed]:
        """Give every call with an internal id the same id under the prefix of a provider, and empty ids distinct ones."""
        judged, memory = self.sheet.judged, self.memory
        try:
            found = project(
                judged.transcript, judged.pairs, profile, memory=memory, in_place=True, prefixed=True
            )
        except NoFittingIdError:
            return []
        plan = _Plan(found, profile)
        self._look_for(plan)
        internal = (
            owner
            for owner, places in plan.places.items()
            if any(is_internal(one.old) or is_empty(one.old) for one in places)
        )
        return [one for owner in internal for one in self._together(plan, owner)]

    def _together(self, plan: _Plan, owner: tuple[int, str | None]) -> list[Renamed]:
        """Rename a call and its results together or not at all."""
        places = plan.places[owner]
        if owner in plan.written or not all(map(self._can_stand, places)):
            return []
        plan.written.add(owner)
        done = self._write(places)
        for identifier in {one.old: None for one in done if one.old in self._unclear}:
            self._part(plan, identifier or "")
        return done

    def _part(self, plan: _Plan, identifier: str) -> None:
        """Give each call in a message of results that has an unclear id an id of its own."""
        for number, (message, at) in enumerate(self._unclear.pop(identifier)):
            try:
                new = unused_id(
                    f"{identifier}|{number}", self.sheet.judged.transcript, plan.profile, plan.used
                )
            except NoFittingIdError:
                return
            plan.used.add(new)
            if self.sheet.edits(message).put(at, self.sheet.written(new, message)):
                self.sheet.changes.along.append((self.sheet.cell(message), at))

    def _look_for(self, plan: _Plan) -> None:
        for one in (one for some in plan.places.values() for one in some):
            self.finder.add(self.sheet.cell(one.message), one.at)

    def _can_stand(self, entry: Entry) -> bool:
        """Whether an id can be written at its place: the wire has a key for it, and the object exists."""
        if not entry.bearing:
            return False
        data = self.sheet.data(entry.message)
        found, start, _ = self.finder.find(self.sheet.cell(entry.message), data, entry.at)
        first = data[start : start + 1]
        # An object or a list at the place of an id has content of its own.
        return first not in (b"{", b"[") if found == entry.at else found == entry.at[:-1] and first == b"{"

    def _plan(self, profile: Profile) -> _Plan | None:
        if profile.label not in self.plans:
            judged = self.sheet.judged
            try:
                if self.anew:
                    plan = _Plan(canonicalize(judged.transcript, judged.pairs, memory=self.memory))
                else:
                    memory = self.memory
                    found = project(judged.transcript, judged.pairs, profile, memory=memory, in_place=True)
                    plan = _Plan(found, profile)
            except NoFittingIdError:  # then the finding stays, and states the requirement
                plan = None
            self.plans[profile.label] = plan
            if plan:
                self._look_for(plan)
        return self.plans[profile.label]

    def _write(self, entries: Iterable[Entry]) -> list[Renamed]:
        done = []
        sheet = self.sheet
        for entry in entries:
            if entry.new is None or entry.new == entry.old or not entry.bearing:
                continue
            data = sheet.written(entry.new, entry.message)
            if not sheet.edits(entry.message).put(entry.at, data):
                continue
            for message, twin in self._twins.get((entry.message, entry.at), ()):
                sheet.edits(message).put(twin, data)
                sheet.changes.along.append((sheet.cell(message), twin))
            below = entry.at[len(sheet.messages[entry.message].at) :]
            done.append(Renamed(entry.message, below, entry.piece, entry.old, entry.new, entry.tool))
        return done

    @property
    def _twins(self) -> dict[Place, list[Place]]:
        """Return the other places of a call's id: a framework's copy, or a call in a message of results."""
        return self._elsewhere[0]

    @property
    def _unclear(self) -> dict[str | None, list[Place]]:
        """Return ids of calls that a call in a message of results has too, where several results may belong to it."""
        return self._elsewhere[1]

    @cached_property
    def _elsewhere(self) -> tuple[dict[Place, list[Place]], dict[str | None, list[Place]]]:
        """The places of `_twins` and of `_unclear`."""
        found: dict[Place, list[Place]] = {}
        unclear: dict[str | None, list[Place]] = {}
        pairs = self.sheet.judged.pairs.interactions
        strays = {id(orphan.result) for orphan in self.sheet.judged.pairs.orphans}
        for one in pairs:
            for twin in one.asked.call.also:
                self._add_twin(found, one.asked.message, one.asked.call, (one.asked.message, id_place(twin)))
        mixed = [index for index, said in enumerate(self.sheet.messages) if said.inner_calls]
        asked = {id(one.asked.call): one.asked for one in pairs} if mixed else {}
        calls = Known(one.call for one in asked.values())
        bearers = {one.call.id for one in asked.values()}
        end, results = 0, dict[str, list[tuple[int, Result]]]()
        fitting: dict[tuple[str, str | None], tuple[list[tuple[int, Result]], bool]] = {}
        for index in mixed:
            said, written = self.sheet.messages[index], self.sheet.value(index)
            if index >= end:
                (end, results), fitting = self._results_around(index), {}
            for at in said.inner_calls:
                value = _below(written, at)
                below = (*at, *id_below(value))
                known = calls.repeated(value)
                identifier = _below(written, below)
                if known is not None:
                    self._add_twin(found, asked[id(known)].message, known, (index, below))
                    continue
                if not isinstance(identifier, str) or identifier not in results:
                    continue
                name = name_below(value)
                key = identifier, name if isinstance(name, str) else None
                if key not in fitting:
                    own = [one for one in results[identifier] if one[1].name in (key[1], None)]
                    loose = [one for one in results[identifier] if id(one[1]) in strays]
                    fitting[key] = own, [*map(id, loose)] == [*map(id, own)]
                own, is_loose = fitting[key]
                if is_loose and len(own) > 1 and identifier in bearers:
                    # Any of the results may be that of this call or of another one.
                    unclear.setdefault(identifier, []).append((index, self.sheet.place(index, below)))
                elif own and (is_loose or (len(own) == 1 and id(own[0][1]) not in strays)):
                    # A call that no assistant message has keeps the id of its result. Results of one id that
                    # answer no call get one id, so that all of them must be results of this call.
                    self._add_twin(found, *own[0], (index, below))
        return found, unclear

    def _results_around(self, message: int) -> tuple[int, dict[str, list[tuple[int, Result]]]]:
        """The results by id in the messages of one role around a message, and where these messages end."""
        messages, start, end = self.sheet.messages, message, message + 1
        while start and messages[start - 1].role == messages[message].role:
            start -= 1
        while end < len(messages) and messages[end].role == messages[message].role:
            end += 1
        found: dict[str, list[tuple[int, Result]]] = {}
        for index in range(start, end):
            for block in messages[index].blocks:
                if isinstance(block, Result) and block.id:
                    found.setdefault(block.id, []).append((index, block))
        return end, found

    def _add_twin(
        self,
        found: dict[Place, list[Place]],
        message: int,
        block: Call | Result,
        twin: tuple[int, Pointer | None],
    ) -> None:
        here, (index, below) = id_place(block), twin
        if here is not None and below is not None:
            found.setdefault((message, self.sheet.place(message, here)), []).append(
                (index, self.sheet.place(index, below))
            )


def _below(value: object, at: Pointer) -> object:
    """Return the value at a pointer below a decoded value."""
    for key in at:
        try:
            value = value[key]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return None
    return value
