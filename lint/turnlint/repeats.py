"""Find calls with the id of an earlier call, and compare the two.

The ledger decides to which of them a result belongs.
"""

from collections.abc import Iterable, Iterator
from json import dumps, loads

from msgspec import Struct

from turnlint.ledger import Interaction, Ledger, is_missing, usable
from turnlint.ledger.alike import is_same_call
from turnlint.model import Call, Pointer, Wire

SHELLS = ("functionCall", "toolUse", "function")
IDS = ("id", "toolUseId", "call_id")
ARGUMENTS = ("input", "args", "arguments", "parameters")
"""Keys of a call in the encoding of any wire."""


class Repeat(Struct, frozen=True):
    """A call with the id of an earlier call."""

    first: Interaction
    again: Interaction
    same: bool
    """Whether both have the same tool and arguments, independent of the encoding: then the call is a copy."""
    same_turn: bool


def repeats(ledger: Ledger) -> Iterator[Repeat]:
    """Yield each call with the id of an earlier call, with the first such call of its own turn, else of all."""
    if "taken" not in ledger.odd:
        return
    firsts: dict[tuple[str | None, bool], Interaction] = {}
    latest: dict[tuple[str | None, bool], Interaction] = {}
    for interaction in ledger.interactions:
        call = interaction.asked.call
        if not usable(call.id):
            continue
        key = call.id, call.server
        first = firsts.setdefault(key, interaction)
        near = latest.setdefault(key, interaction)
        if near.asked.turn != interaction.asked.turn:
            latest[key] = interaction
        elif near is not interaction:
            first = near
        if first is not interaction:
            other = first.asked.call
            same = is_same_call(call, other)
            yield Repeat(first, interaction, same, first.asked.turn == interaction.asked.turn)


def removed_copies(ledger: Ledger) -> Iterator[Repeat]:
    """Yield the calls that a repair removes as copies of an earlier one."""
    return (
        one for one in repeats(ledger) if one.same and (one.first.answer is None or one.again.answer is None)
    )


def has_no_ids(ledger: Ledger, wire: Wire) -> bool:
    """Whether no call and no result has an id, on a wire whose logs may have none."""
    calls = [one.asked.call for one in ledger.interactions if one.asked.call.needs_id]
    answers = [one.answer for one in ledger.interactions if one.answer is not None]
    results = [one.result for one in (*answers, *ledger.orphans) if one.result.needs_id]
    ids = [*(one.id for one in calls), *(one.id for one in results)]
    return wire.idless and bool(calls) and all(map(is_missing, ids))


class Known:
    """The calls of a conversation by tool, arguments and id."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self.calls: dict[tuple[object, object, str], Call] = {}
        for call in calls:
            arguments = _spelled(call.body)
            self.calls.setdefault((call.name, call.id, arguments), call)
            self.calls.setdefault((call.name, None, arguments), call)

    def repeated(self, value: object) -> Call | None:
        """Find the call that a call in a message of results repeats: its arguments, and its id if both have one."""
        found = _opened(value)
        identifier = next((found[key] for key in IDS if found.get(key)), None)
        arguments = _spelled(next((found[key] for key in ARGUMENTS if key in found), None))
        name = found.get("name")
        if not isinstance(name, str | None) or not isinstance(identifier, str | None):
            return None
        return self.calls.get((name, identifier, arguments))


def id_below(value: object) -> Pointer:
    """Return the pointer of the id of a call in the encoding of any wire, or the pointer where it belongs."""
    at: Pointer = ()
    while isinstance(value, dict):
        key = next((key for key in IDS if value.get(key)), None)
        inner = next((key for key in SHELLS if isinstance(value.get(key), dict)), None)
        if key or not inner or inner == "function":
            return (*at, key or ("toolUseId" if at == ("toolUse",) else "id"))
        at, value = (*at, inner), value[inner]
    return ()


def name_below(value: object) -> object:
    """Return the name of the tool of a call in the encoding of any wire."""
    return _opened(value).get("name")


def _opened(value: object) -> dict[str, object]:
    """Return the keys of a call and of the objects around its name and arguments."""
    found: dict[str, object] = {}
    while isinstance(value, dict):
        found |= value
        value = next((value[key] for key in SHELLS if key in value), None)
    return found


def _spelled(value: object) -> str:
    """Return arguments in one encoding, whether a wire writes them as a value or as a text."""
    try:
        while isinstance(value, str | bytes):
            value = loads(value or "null")
        return dumps(value, sort_keys=True)
    except (ValueError, RecursionError):
        return repr(value)
