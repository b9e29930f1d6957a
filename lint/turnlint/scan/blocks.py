"""Anthropic Messages, as far as nobody has to read it twice.

This module owns the lean shape of a conversation on that wire, and whether one of that shape is sound. It refuses
to know where a conversation stands.
"""

from msgspec import Raw, Struct, json

from turnlint.carrying.raws import NOTHING
from turnlint.ledger import usable
from turnlint.scan.outline import Failed, are_plain, encode
from turnlint.scan.requests import Wire
from turnlint.scan.saying import LONGEST_WORD, all_say_something, may_hold_calls, trails
from turnlint.scan.terms import Shapes, Terms


class Message(Struct, gc=False, omit_defaults=True):
    role: str
    content: Raw


class Block(Struct, gc=False, omit_defaults=True):
    """A wide struct: as quick as one type for each kind, and quicker where the type comes last."""

    type: str
    text: Raw = NOTHING
    id: str = ""
    name: str = ""
    input: Raw = NOTHING
    tool_use_id: str = ""
    content: Raw = NOTHING
    is_error: bool = False


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
)
_blocks = json.Decoder(list[list[Block]])
_QUOTE, _LIST, _OBJECT = 0x22, 0x5B, 0x7B
_EMPTY = Block("")


class _Said(Struct):
    """What a conversation says, gathered while its turns are looked at."""

    texts: list[bytes] = []
    spoken: list[bytes] = []
    """Those of the assistant."""
    ids: list[str] = []
    names: list[str] = []
    inputs: list[Raw] = []
    results: list[Block] = []


def calls_in(messages: list[Message], terms: Terms) -> int | None:
    """How many calls, each answered once, a sound conversation has; nothing where one may not be sound."""
    if not messages or len(messages) > terms.most_messages:
        return None
    roles = [message.role for message in messages]
    if not terms.roles.issuperset(roles) or (terms.first and roles[0] not in terms.first):
        return None
    if (terms.last and roles[-1] not in terms.last) or (terms.needs and terms.needs.isdisjoint(roles)):
        return None
    contents = [bytes(message.content) for message in messages]
    raws = [
        message.content for message, content in zip(messages, contents, strict=True) if content[0] == _LIST
    ]
    try:
        text = encode(raws)
        blocks = _blocks.decode(text)
    except Failed:
        return None
    if len(encode(blocks)) != len(text):
        return None
    said = _Said()
    if not _take_turns(roles, contents, blocks, said, terms):
        return None
    if may_hold_calls(said.spoken) or not all_say_something(said.texts):
        return None
    if not terms.spaced_end and said.texts and trails(said.texts[-1]):
        return None
    return len(said.ids) if _are_good(said, terms) else None


def _take_turns(
    roles: list[str], contents: list[bytes], blocks: list[list[Block]], said: _Said, terms: Terms
) -> bool:
    """Every turn of calls is followed by one message with its results in order, and no other has results."""
    following = iter(blocks)
    waiting: list[str] = []
    before = ""
    for role, content in zip(roles, contents, strict=True):
        if role == before == "assistant":
            return False
        before = role
        mine: list[Block] | None = None
        if content[0] == _LIST:
            mine = next(following)
            if not mine:
                return False
        elif content[0] != _QUOTE or waiting:
            return False
        else:
            said.texts.append(content)
            if role == "assistant":
                said.spoken.append(content)
            continue
        if role == "assistant":
            if waiting:
                return False
            waiting = _asked(mine, said)  # type: ignore[assignment]
            if waiting is None or len(waiting) > terms.most_calls:
                return False
        elif waiting:
            if [block.tool_use_id for block in mine] != waiting or not _are_results(mine, said):
                return False
            waiting = []
        else:
            for block in mine:
                if block.type != "text" or not _is_text(block):
                    return False
                said.texts.append(bytes(block.text))
    return not waiting


def _asked(blocks: list[Block], said: _Said) -> list[str] | None:
    """The ids of an assistant's calls, all of them behind what it says."""
    ids: list[str] = []
    for block in blocks:
        if block.type == "tool_use":
            if (
                block.text is not NOTHING
                or block.content is not NOTHING
                or block.tool_use_id
                or block.is_error
            ):
                return None
            ids.append(block.id)
            said.names.append(block.name)
            said.inputs.append(block.input)
        elif block.type != "text" or ids or not _is_text(block):
            return None
        else:
            text = bytes(block.text)
            said.texts.append(text)
            said.spoken.append(text)
    said.ids += ids
    return ids


def _is_text(block: Block) -> bool:
    if block.id or block.name or block.tool_use_id or block.is_error:
        return False
    return block.input is NOTHING and block.content is NOTHING and bytes(block.text)[:1] == b'"'


def _are_results(blocks: list[Block], said: _Said) -> bool:
    for block in blocks:
        if block.type != "tool_result" or block.id or block.name or block.is_error:
            return False
        if block.text is not NOTHING or block.input is not NOTHING:
            return False
    said.results += blocks
    return True


def _are_good(said: _Said, terms: Terms) -> bool:
    ids = said.ids
    if not ids:
        return True
    if not terms.calls or len(set(ids)) != len(ids) or not terms.take_ids(ids):
        return False
    if min(map(len, ids)) <= LONGEST_WORD and not all(map(usable, ids)):
        return False
    if not terms.take_names(set(said.names)):
        return False
    results = [bytes(block.content) for block in said.results]
    if not all(result[:1] == b'"' for result in results) or max(map(len, results)) > terms.longest_result:
        return False
    if not terms.hollow_results and b'""' in results:
        return False
    # Results are looked at for echoes of calls only where they are lists, so a text is none.
    return all(bytes(raw)[:1] == b"{" for raw in said.inputs) and are_plain(said.inputs)


WIRE = Wire(Message, ROLES, SHAPES, calls_in)
