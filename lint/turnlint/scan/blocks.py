"""Anthropic Messages, as far as nobody has to read it twice.

This module owns the lean shape of a conversation on that wire, and whether one of that shape is sound. It refuses
to know where a conversation stands.
"""

from collections import deque
from itertools import pairwise

from msgspec import UNSET, Raw, Struct, UnsetType, json

from turnlint.carrying.lines import Unread
from turnlint.ledger import usable
from turnlint.ledger.values import LONGEST_WORD
from turnlint.scan.around import Wire
from turnlint.scan.outline import Failed, are_plain, encode
from turnlint.scan.saying import all_say_something, may_hold_calls, trails
from turnlint.scan.terms import Shapes, Terms


class Message(Struct, gc=False, omit_defaults=True):
    role: str
    content: Raw


class Text(Struct, gc=False, tag_field="type", tag="text"):
    text: Raw


class Call(Struct, gc=False, tag_field="type", tag="tool_use"):
    id: str
    name: str
    input: Raw


class Result(Struct, gc=False, tag_field="type", tag="tool_result", omit_defaults=True):
    tool_use_id: str
    content: Raw
    is_error: bool | UnsetType = UNSET


Block = Text | Call | Result
ROLES = frozenset({"user", "assistant"})
_SAID = frozenset({"role", "content"})
SHAPES = Shapes(
    arguments="object",
    result="tool_result",
    alone=True,
    keys={
        **dict.fromkeys(ROLES, _SAID),
        "text": frozenset({"type", "text"}),
        "tool_use": frozenset({"type", "id", "name", "input"}),
        "tool_result": frozenset({"type", "tool_use_id", "content", "is_error"}),
    },
    lax=frozenset({"media", "list-result", "cache"}),
)
_blocks = json.Decoder(list[list[Block]])
_QUOTE, _LIST = 0x22, 0x5B
_TWICE = ("assistant", "assistant")


class _Said(Struct):
    """What a conversation says, gathered while its turns are looked at."""

    texts: list[bytes] = []
    spoken: list[bytes] = []
    """Those of the assistant."""
    calls: list[Call] = []
    results: list[Result] = []


def calls_in(messages: list[Message], terms: Terms) -> int | None:
    """How many calls, each answered once, a sound conversation has; nothing where one may not be sound."""
    if not messages or len(messages) > terms.most_messages:
        return None
    roles = [message.role for message in messages]
    if not terms.may_speak(roles) or _TWICE in pairwise(roles):
        return None
    contents = [bytes(message.content) for message in messages]
    blocks = _blocks_in([message.content for message in messages], contents)
    said = _Said()
    if blocks is None or _take_turns(roles, contents, blocks, said, terms) != []:
        return None
    if said.texts and not all_say_something(said.texts):
        return None
    if may_hold_calls(said.spoken) or _ends_in_space(roles, said, terms):
        return None
    return len(said.calls) if _are_good(said, terms) else None


def _ends_in_space(roles: list[str], said: _Said, terms: Terms) -> bool:
    return not terms.spaced_end and roles[-1] == "assistant" and bool(said.spoken) and trails(said.spoken[-1])


def _blocks_in(raws: list[Raw], contents: list[bytes]) -> list[list[Block]] | None:
    """The blocks of those contents that are lists; the others are texts."""
    lists = [raw for raw, content in zip(raws, contents, strict=True) if content[0] == _LIST]
    if len(lists) + sum([content[0] == _QUOTE for content in contents]) != len(contents):
        return None
    try:
        text = encode(lists)
        blocks: list[list[Block]] = _blocks.decode(text)
    except Failed:
        return None
    return blocks if len(encode(blocks)) == len(text) else None


def _take_turns(
    roles: list[str], contents: list[bytes], blocks: list[list[Block]], said: _Said, terms: Terms
) -> list[str] | None:
    """Every turn of calls is followed by one message with its results in order, and no other has results.

    Gives the ids that still wait at the end; nothing where all this may not be so.
    """
    following = iter(blocks)
    waiting: list[str] = []
    for role, content in zip(roles, contents, strict=True):
        if content[0] == _QUOTE:
            if waiting:
                return None
            (said.spoken if role == "assistant" else said.texts).append(content)
            continue
        mine = next(following)
        if not mine:
            return None
        kind = type(mine[-1])
        if kind is Result:
            if not _answers(mine, waiting, said):
                return None
            waiting = []
        elif waiting:
            return None
        elif kind is Call and role == "assistant":
            waiting = _asks(mine, said)
            if not waiting or len(waiting) > terms.most_calls:
                return None
        elif not _says(mine, said.spoken if role == "assistant" else said.texts):
            return None
    if said.spoken:
        said.texts += said.spoken
    return waiting


def _answers(mine: list[Block], waiting: list[str], said: _Said) -> bool:
    results = [block for block in mine if type(block) is Result]
    said.results += results
    return len(results) == len(mine) and [block.tool_use_id for block in results] == waiting


def _asks(mine: list[Block], said: _Said) -> list[str]:
    """The ids of an assistant's calls, all of them behind what it says; none where they are not."""
    calls = [block for block in mine if type(block) is Call]
    said.calls += calls
    before = len(mine) - len(calls)
    return [call.id for call in calls] if not before or _says(mine[:before], said.spoken) else []


def _says(mine: list[Block], texts: list[bytes]) -> bool:
    for block in mine:
        if type(block) is not Text:
            return False
        text = bytes(block.text)
        if text[0] != _QUOTE:
            return False
        texts.append(text)
    return True


def _are_good(said: _Said, terms: Terms) -> bool:
    ids = [call.id for call in said.calls]
    if not ids:
        return True
    if not terms.calls or len(set(ids)) != len(ids) or not terms.take_ids(ids):
        return False
    if min(map(len, ids)) <= LONGEST_WORD and not all(map(usable, ids)):
        return False
    if not terms.take_names({call.name for call in said.calls}):
        return False
    return _are_results(said.results, terms) and are_plain([call.input for call in said.calls])


def _are_results(some: list[Result], terms: Terms) -> bool:
    """Of a list, which may hold anything, nothing is known; a text is no echo of a call."""
    if not some:
        return True
    results = [bytes(result.content) for result in some]
    if {result[0] for result in results} != {_QUOTE} or max(map(len, results)) > terms.longest_result:
        return False
    return terms.hollow_results or b'""' not in results


def follows(message: Message, unread: Unread, terms: Terms) -> bool:
    """Whether a message may come next in a conversation that is sound so far."""
    role, content = message.role, bytes(message.content)
    if role not in terms.roles or role == unread.role == "assistant":
        return False
    if terms.first and not unread.role and role not in terms.first:
        return False
    blocks = _blocks_in([message.content], [content])
    said = _Said()
    if blocks is None or not _may_follow(role, content, blocks, said, unread, terms):
        return False
    texts = said.spoken or said.texts
    if (texts and not all_say_something(texts)) or may_hold_calls(said.spoken):
        return False
    ids = [call.id for call in said.calls]
    if not unread.ids.isdisjoint(ids) or not _are_good(said, terms) or not _are_results(said.results, terms):
        return False
    unread.ids.update(ids)
    unread.waiting = deque((call.id, call.name) for call in said.calls)
    unread.calls += len(ids)
    unread.role = role
    return True


def _may_follow(
    role: str, content: bytes, blocks: list[list[Block]], said: _Said, unread: Unread, terms: Terms
) -> bool:
    if not unread.waiting:
        return _take_turns([role], [content], blocks, said, terms) is not None
    if role != "user" or not blocks or not blocks[0]:
        return False
    return _answers(blocks[0], [identifier for identifier, _ in unread.waiting], said)


WIRE = Wire(Message, ROLES, SHAPES, calls_in, follows)
