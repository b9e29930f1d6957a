"""Read messages in the spelling of Chat Completions inside another wire.

The module defines the keys that identify such a message. Few logs have one, so the spelling itself is imported at the
first use.
"""

from typing import TYPE_CHECKING

from msgspec import Raw, Struct, json, structs

from turnlint.carrying.draft import Draft
from turnlint.carrying.raws import NOTHING, given
from turnlint.model import Block, Call, Message, Misfit, Pointer, Record, Result

if TYPE_CHECKING:
    from turnlint.carrying.chat_turns import Turn


class Guest(Struct, gc=False):
    """A message of another wire, with the keys that identify the spelling of Chat Completions."""

    role: str | None = None
    content: Raw = NOTHING
    tool_calls: Raw = NOTHING
    tool_call_id: Raw = NOTHING


def as_chat(turn: Guest, at: Pointer, record: Record) -> tuple[Message, list[Misfit]]:
    """Read a message of another wire as a Chat Completions message. A block of a third wire keeps its dialect."""
    from turnlint.carrying.chat_turns import WIRE, read_turn

    found, wrong = _as_turn(turn, at)
    message, misfits = read_turn(found, at, record)
    blocks = tuple(_named(block, WIRE) for block in message.blocks)
    return structs.replace(message, dialect=WIRE, blocks=blocks), [*wrong, *misfits]


def add_chat(turn: Guest, out: Draft, name: str | None = None) -> None:
    """Add the calls or the result under this wire's keys to a content that another wire has read."""
    from turnlint.carrying.chat_turns import WIRE, calls_of, result_of

    found, wrong = _as_turn(turn, out.at)
    out.misfits += wrong
    if out.role == "tool":
        out.blocks = [structs.replace(result_of(found), id=found.tool_call_id, name=name, dialect=WIRE)]
        return
    twins = {call.id: call for call in calls_of(found, WIRE) if call.id is not None}
    seen = {block.id for block in out.blocks if isinstance(block, Call)}
    out.blocks = [
        structs.replace(block, also=(*block.also, twins[block.id]))
        if isinstance(block, Call) and block.id in twins
        else block
        for block in out.blocks
    ]
    out.blocks += [call for call in calls_of(found, WIRE) if call.id is None or call.id not in seen]


def _as_turn(turn: Guest, at: Pointer) -> "tuple[Turn, tuple[Misfit, ...]]":
    from turnlint.carrying.chat_turns import TURN, Turn

    keys = {"content": turn.content, "tool_calls": turn.tool_calls, "tool_call_id": turn.tool_call_id}
    text = json.encode({"role": turn.role, **{key: raw for key, raw in keys.items() if given(raw)}})
    found, wrong = TURN.inner(text, at)
    return found or Turn(turn.role), wrong


def _named(block: Block, wire: str) -> Block:
    own = isinstance(block, (Call, Result)) and block.dialect is None
    return structs.replace(block, dialect=wire) if own else block
