"""How a format writes what a repair adds.

This module owns the values by which a carrier says so, and what Chat Completions and its kin have in common.
It refuses to know when anything is added, and where.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from turnlint.lifecycle import UNKNOWN
from turnlint.model import Call, Pointer, Role

Answer = Callable[[Call, Sequence[str], bool], Any]
"""A result of a call: its texts, and whether it is an error. Nothing where the wire has no such result."""
Ask = Callable[[str, str, Any], Any]
"""A call: its id, the tool, the arguments."""
Speak = Callable[[Role, Sequence[str], Sequence[Any]], Any]
"""A message with texts and calls. Nothing where the wire has no such message."""


Around = Callable[[Mapping[str, Any], Mapping[str, Any] | None], tuple[dict[str, Any], dict[str, Any]]]
"""The keys of a new record, and those of the message in it, from the record beside which it will stand and the one
that holds the call that it answers, if it answers one."""


class Splice(Struct, frozen=True):
    """A format's own spelling of results, calls and messages."""

    answer: Answer
    ask: Ask
    speak: Speak
    blocks: str = ""
    """The list of a message in which its results stand; nothing where a result is a message of its own."""
    holder: Mapping[str, Any] = {}
    """What else a message of results has."""
    mark: Mapping[str, Any] = {}
    """What says that a message was written by a repair, on formats that can; or what a call says beside its result."""
    words: str = UNKNOWN
    """The text of a result that nobody knows, as the tool that owns the format words it."""
    alone: bool = False
    """Each result is a message of its own, though it stands in a list."""
    inside: Pointer = ()
    """Where, below its call, a result stands on formats that keep the two together, and whose calls are objects."""
    around: Around | None = None
    """What the record of a new message has, on formats whose records have more than a few common keys."""
    resume: Callable[[Mapping[str, Any], str], tuple[dict[str, Any], dict[str, Any]]] | None = None
    """The same for a message that continues an assistant message, from the record of that and a new id."""
    names: tuple[str, str] = ("", "")
    """The keys of such a record by which it is known, and by which it names the one before it."""
    mint: Callable[[str], str] = str
    """An id for a new record, from a digest of 32 digits."""


def one_or_parts(texts: Sequence[str]) -> Any:
    """A text by itself, several as parts; nothing is null."""
    if len(texts) > 1:
        return [{"type": "text", "text": text} for text in texts]
    return texts[0] if texts else None


def chat_answer(call: Call, texts: Sequence[str], failed: bool) -> Any:  # noqa: ARG001 - no place for it
    content = one_or_parts(texts)
    if call.kind == "function_call":
        return {"role": "function", "name": call.name, "content": content}
    # Where no call of a conversation has an id, results are known by their place and their name.
    own = {"tool_call_id": call.id} if call.id else {"name": call.name} if call.name else {}
    return {"role": "tool", **own, "content": content}


def chat_ask(identifier: str, name: str, arguments: Any) -> Any:
    from json import dumps

    said = dumps(arguments, ensure_ascii=False)
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": said}}


def chat_speak(role: Role, texts: Sequence[str], calls: Sequence[Any]) -> Any:
    said = {"role": role, "content": one_or_parts(texts)}
    return said | {"tool_calls": list(calls)} if calls else said


CHAT = Splice(chat_answer, chat_ask, chat_speak)
