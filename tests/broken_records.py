"""Faults put into records of any wire, the same in every run of the same seed.

`break_record` changes a decoded record, `break_text` its JSON text. Both know only JSON and the keys at which wires
keep messages, names and ids, so that one list of faults serves every format.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

MESSAGE_KEYS = ("messages", "input", "contents", "chat_history", "history", "conversations")
PART_KEYS = ("content", "parts", "tool_calls", "toolCalls", "output", "summary")
ID_KEYS = frozenset(
    [
        "id",
        "call_id",
        "tool_call_id",
        "tool_use_id",
        "toolUseId",
        "toolUseID",
        "callId",
        "toolCallId",
        "item_id",
        "uuid",
        "parentUuid",
        "parentId",
    ]
)
NAME_KEYS = frozenset({"name", "tool_name", "toolName"})
TEXT_KEYS = frozenset({"text", "content", "output", "thinking", "arguments", "value"})
ROLES = ("user", "assistant", "system", "developer", "tool", "model", "function", "USER", "", "narrator")
BLANK_TEXTS = ("", " ", "\n\t", "\u00a0", "\u200b", " " * 70, "\u2003" * 20, " " * 65 + "x")
ODD_TEXTS = (
    "trailing \n", "\ud83d", "\udc00 alone", "a\u0000b", "\u2028", "\U0001f600" * 3, "é" * 40, "\\", '"', "{", "[]",
    "null", '<tool_call>{"name": "f", "arguments": {}}</tool_call>', "<function=f>{}</function>", "[TOOL_CALLS]",
    "(no content)", "No result provided", "x" * 5000,
)  # fmt: skip
ODD_IDS = (
    "", " ", "a b", "x" * 41, "x" * 65, "call:1", "functions.read:0", "é", "call_1\n", "toolu_01", "123456789", "0",
    "a.b", "functions.read_the_whole_file:0", "a longer id with spaces in it", "\u200bid", "fc_" + "a" * 70, "msg_1",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**20, "", "text", [], {}, [None], [[]], {"a": None}, ["text"],
    {"type": "text", "text": "x"}, [{"type": "text", "text": " "}], {"type": "tool_use"},
)  # fmt: skip
ODD_KEYS = (
    "", " ", "foo", "Role", "ID", "é", "a.b", "a/b", "~", "$ref", "type", "id", "name", "role", "status", "is_error",
    "refusal", "cache_control", "reasoning_content", "phase", "isError", "stop_reason", "finish_reason", "metadata",
)  # fmt: skip

Record = dict[str, Any]
Pick = random.Random


def choose(*parts: object) -> Pick:
    """A random generator that depends on these parts only."""
    return random.Random(" ".join(map(str, parts)))  # noqa: S311


def break_record(record: Record, pick: Pick, faults: int) -> Record:
    """A copy of the record with this number of faults."""
    broken = deepcopy(record)
    for _ in range(faults):
        pick.choice(FAULTS)(broken, pick)
    return broken


def dump_record(record: Record, pick: Pick) -> str:
    """The JSON text of a record, in one of the styles that programs write."""
    separators = pick.choice([(", ", ": "), (",", ":"), (",", ":"), (" , ", " : ")])
    return json.dumps(record, ensure_ascii=pick.random() < 0.4, separators=separators)


def break_text(text: str, pick: Pick) -> bytes:
    """The bytes of a JSON text with a fault in its syntax or its spelling."""
    return pick.choice(TEXT_FAULTS)(text, pick)


def encode_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# ---------------------------------------------------------------------------------------------------------- places


def find_lists(record: Any) -> Iterator[list[Any]]:
    """Every list of messages in a record, and every list of parts in a message."""
    for value in find_values(record):
        if isinstance(value, dict):
            for key, inner in value.items():
                if isinstance(inner, list) and inner and (key in MESSAGE_KEYS or key in PART_KEYS):
                    yield inner


def find_messages(record: Record) -> list[Any]:
    """The longest list of messages in a record, or an empty list."""
    lists = [
        inner
        for value in find_values(record)
        if isinstance(value, dict)
        for key, inner in value.items()
        if key in MESSAGE_KEYS and isinstance(inner, list)
    ]
    return max(lists, key=len, default=[])


def find_values(value: Any, limit: int = 4000) -> Iterator[Any]:
    """A value and the values in it, depth first, at most `limit` of them."""
    waiting = [value]
    while waiting and limit:
        limit -= 1
        here = waiting.pop()
        yield here
        if isinstance(here, dict):
            waiting += reversed(here.values())
        elif isinstance(here, list):
            waiting += reversed(here)


def find_fields(value: Any, keys: frozenset[str] | None = None) -> list[tuple[Record, str]]:
    """Objects in a value with one of their keys each; only these keys, where keys are given."""
    return [
        (holder, key)
        for holder in find_values(value)
        if isinstance(holder, dict)
        for key in holder
        if keys is None or key in keys
    ]


def choose_fields(record: Record, pick: Pick, keys: frozenset[str] | None = None) -> list[tuple[Record, str]]:
    """Fields of the messages mostly; definitions of tools have more fields, and fewer rules."""
    return (pick.random() < 0.85 and find_fields(find_messages(record), keys)) or find_fields(record, keys)


# ---------------------------------------------------------------------------------------------------------- faults


def _on_list(change: Callable[[list[Any], Pick], None]) -> Callable[[Record, Pick], None]:
    """Make a fault of the messages in two of three cases, and of any list in the third."""

    def fault(record: Record, pick: Pick) -> None:
        messages = find_messages(record)
        if not messages or pick.random() < 0.34:
            lists = list(find_lists(record))
            messages = pick.choice(lists) if lists else []
        if messages:
            change(messages, pick)

    return fault


def _on_field(
    change: Callable[[Record, str, Pick], None], keys: frozenset[str] | None = None
) -> Callable[[Record, Pick], None]:
    def fault(record: Record, pick: Pick) -> None:
        if fields := choose_fields(record, pick, keys):
            holder, key = pick.choice(fields)
            change(holder, key, pick)

    return fault


def _drop(items: list[Any], pick: Pick) -> None:
    del items[pick.randrange(len(items))]


def _drop_head(items: list[Any], pick: Pick) -> None:
    del items[: pick.randrange(1, len(items) + 1)]


def _drop_tail(items: list[Any], pick: Pick) -> None:
    del items[pick.randrange(len(items)) :]


def _duplicate(items: list[Any], pick: Pick) -> None:
    at = pick.randrange(len(items))
    items.insert(pick.choice([at, at + 1, len(items)]), deepcopy(items[at]))


def _duplicate_changed(items: list[Any], pick: Pick) -> None:
    at = pick.randrange(len(items))
    copy = deepcopy(items[at])
    if isinstance(copy, dict):
        _blank({"copy": copy}, pick)
    items.insert(at + 1, copy)


def _swap(items: list[Any], pick: Pick) -> None:
    first = pick.randrange(len(items))
    second = min(len(items) - 1, first + pick.choice([1, 1, 2, 5]))
    items[first], items[second] = items[second], items[first]


def _move(items: list[Any], pick: Pick) -> None:
    item = items.pop(pick.randrange(len(items)))
    items.insert(pick.randrange(len(items) + 1), item)


def _insert_odd(items: list[Any], pick: Pick) -> None:
    items.insert(pick.randrange(len(items) + 1), deepcopy(pick.choice(ODD_VALUES)))


def _insert_user(items: list[Any], pick: Pick) -> None:
    items.insert(pick.randrange(len(items) + 1), {"role": pick.choice(ROLES), "content": "wait"})


def _split(items: list[Any], pick: Pick) -> None:
    """Put the later parts of a message into a message of their own."""
    at = pick.randrange(len(items))
    message = items[at]
    if not isinstance(message, dict):
        return
    for key in PART_KEYS:
        parts = message.get(key)
        if isinstance(parts, list) and len(parts) > 1:
            second = {**message, key: parts[1:]}
            message[key] = parts[:1]
            items.insert(at + 1, second)
            return


def _merge(items: list[Any], pick: Pick) -> None:
    """Put the parts of a message into the message before it."""
    at = pick.randrange(len(items))
    if not (at and isinstance(items[at], dict) and isinstance(items[at - 1], dict)):
        return
    for key in PART_KEYS:
        first, second = items[at - 1].get(key), items[at].get(key)
        if isinstance(first, list) and isinstance(second, list):
            items[at - 1][key] = [*first, *second]
            del items[at]
            return


def _blank(record: Record, pick: Pick) -> None:
    fields = [
        (holder, key)
        for holder, key in choose_fields(record, pick, TEXT_KEYS)
        if isinstance(holder[key], str)
    ]
    if fields:
        holder, key = pick.choice(fields)
        holder[key] = pick.choice(BLANK_TEXTS)


def _change_text(record: Record, pick: Pick) -> None:
    fields = [
        (holder, key)
        for holder, key in choose_fields(record, pick, TEXT_KEYS)
        if isinstance(holder[key], str)
    ]
    if fields:
        holder, key = pick.choice(fields)
        odd = pick.choice(ODD_TEXTS)
        holder[key] = pick.choice([odd, holder[key] + odd, odd + holder[key]])


def _rename_id(record: Record, pick: Pick) -> None:
    """Change an id at one position, which separates a pair."""
    if fields := choose_fields(record, pick, ID_KEYS):
        holder, key = pick.choice(fields)
        holder[key] = pick.choice([f"{holder[key]}x", pick.choice(ODD_IDS)])


def _rename_pair(record: Record, pick: Pick) -> None:
    """Write an odd id at every position of an id, which keeps the pair together."""
    fields = [
        (holder, key) for holder, key in choose_fields(record, pick, ID_KEYS) if isinstance(holder[key], str)
    ]
    if fields:
        holder, key = pick.choice(fields)
        old, new = holder[key], pick.choice([*ODD_IDS, holder[key] * 3])
        for other, name in fields:
            if other[name] == old:
                other[name] = new


def _share_id(record: Record, pick: Pick) -> None:
    """Copy the id of another position."""
    fields = choose_fields(record, pick, ID_KEYS)
    if len(fields) > 1:
        (holder, key), (other, name) = pick.sample(fields, 2)
        holder[key] = other[name]


def _share_name(record: Record, pick: Pick) -> None:
    if fields := choose_fields(record, pick, NAME_KEYS):
        holder, key = pick.choice(fields)
        holder[key] = pick.choice(
            ["f", "", "a b", "x" * 70, "größe", f"{holder[key]}_2", pick.choice(fields)[1]]
        )


def _name_result(record: Record, pick: Pick) -> None:
    """Add a name beside the id of a result, as some programs do: the name of its tool, or another."""
    results = choose_fields(record, pick, frozenset({"tool_call_id", "tool_use_id", "call_id", "toolUseId"}))
    names = [holder[key] for holder, key in find_fields(record, NAME_KEYS)]
    if results:
        pick.choice(results)[0]["name"] = pick.choice([*names, "another"])


def _drop_key(holder: Record, key: str, _: Pick) -> None:
    del holder[key]


def _null_key(holder: Record, key: str, _: Pick) -> None:
    holder[key] = None


def _change_type(holder: Record, key: str, pick: Pick) -> None:
    holder[key] = deepcopy(pick.choice(ODD_VALUES))


def _wrap(holder: Record, key: str, pick: Pick) -> None:
    value = holder[key]
    holder[key] = pick.choice([[value], {"value": value}, [value, value], json.dumps(value)])


def _unwrap(holder: Record, key: str, _: Pick) -> None:
    value = holder[key]
    if isinstance(value, list) and value:
        holder[key] = value[0]
    elif isinstance(value, str) and value[:1] in "{[":
        try:
            holder[key] = json.loads(value)
        except ValueError:
            holder[key] = [value]


def _rename_key(holder: Record, key: str, pick: Pick) -> None:
    value = holder.pop(key)
    holder[pick.choice([key + "s", key.upper(), pick.choice(ODD_KEYS)])] = value


def _add_key(holder: Record, _: str, pick: Pick) -> None:
    holder.setdefault(pick.choice(ODD_KEYS), deepcopy(pick.choice(ODD_VALUES)))


def _move_key(holder: Record, key: str, _: Pick) -> None:
    """Move a key to the end of its object."""
    holder[key] = holder.pop(key)


def _change_role(holder: Record, key: str, pick: Pick) -> None:
    holder[key] = pick.choice(ROLES)


def _nest(holder: Record, key: str, pick: Pick) -> None:
    for _ in range(pick.choice([3, 30, 62, 63, 64, 70])):
        holder[key] = [holder[key]]


_ANY_FIELD = (_drop_key, _null_key, _change_type, _wrap, _unwrap, _rename_key, _add_key, _move_key, _nest)
_LIST_FAULTS = (
    _drop, _drop, _drop, _drop_head, _drop_tail, _duplicate, _duplicate, _duplicate_changed, _swap, _swap, _move,
    _insert_odd, _insert_user, _split, _merge,
)  # fmt: skip
FAULTS: tuple[Callable[[Record, Pick], None], ...] = (
    *map(_on_list, _LIST_FAULTS),
    *map(_on_field, _ANY_FIELD),
    _on_field(_change_role, frozenset({"role", "type", "from"})),
    _on_field(_drop_key, ID_KEYS | NAME_KEYS),
    _on_field(_change_type, ID_KEYS | NAME_KEYS | TEXT_KEYS),
    _on_field(_drop_key, TEXT_KEYS),
    _blank, _blank, _change_text, _change_text, _rename_id, _rename_id, _rename_pair, _rename_pair, _share_id,
    _share_id, _share_name, _name_result,
)  # fmt: skip


# ------------------------------------------------------------------------------------------------- faults of text


def _cut(text: str, pick: Pick) -> bytes:
    return encode_text(text)[: pick.randrange(1, len(text))]


def _cut_piece(text: str, pick: Pick) -> bytes:
    at = pick.randrange(len(text))
    data = encode_text(text)
    return data[:at] + data[at + pick.choice([1, 1, 2, 9, 200]) :]


def _replace_byte(text: str, pick: Pick) -> bytes:
    data = bytearray(encode_text(text))
    data[pick.randrange(len(data))] = pick.choice(b'\xff\x00\x01\x1f"\\{}[],: \t\xc0\xed0aZ')
    return bytes(data).replace(b"\n", b" ")


def _repeat_key(text: str, pick: Pick) -> bytes:
    """Repeat a key in one object."""
    keys = list(re.finditer(r'[{,]\s*("[a-z_]+"\s*:\s*)(?=")', text))
    if not keys:
        return encode_text(text)
    key = pick.choice(keys)
    value = pick.choice(['"user"', '""', "null", "1", "[]", '"call_1"'])
    return encode_text(f"{text[: key.start(1)]}{key[1]}{value},{text[key.start(1) :]}")


def _escape_key(text: str, pick: Pick) -> bytes:
    """Escape a letter of a key or of a string."""
    words = list(re.finditer(r'"([a-z])[a-z_]+"', text))
    if not words:
        return encode_text(text)
    word = pick.choice(words)
    return encode_text(f"{text[: word.start(1)]}\\u{ord(word[1]):04x}{text[word.end(1) :]}")


def _replace_literal(text: str, pick: Pick) -> bytes:
    old, new = pick.choice(
        [("null", "None"), ("true", "True"), ("false", "undefined"), ("{}", "NaN"), ('"', "'"), (":", "=")]
    )
    return encode_text(text.replace(old, new, pick.choice([1, -1])))


def _add_around(text: str, pick: Pick) -> bytes:
    before, after = pick.choice(
        [
            ("\ufeff", ""),
            ("  ", ""),
            ("", " \t"),
            ("", "\r"),
            ("", ","),
            ("", "}"),
            ("[", "]"),
            ("", "{}"),
            ("data: ", ""),
        ]
    )
    return encode_text(before + text + after)


def _add_inside(text: str, pick: Pick) -> bytes:
    added = pick.choice(
        [
            ",",
            " ",
            "\t",
            "\r",
            "\\",
            '"',
            "\\ud83d",
            "\\u0000",
            "\\/",
            "\\x41",
            "/* note */",
            "1e400",
            "0123",
            "\x00",
        ]
    )
    at = pick.randrange(len(text) + 1)
    return encode_text(text[:at] + added + text[at:])


TEXT_FAULTS = (
    _cut, _cut_piece, _replace_byte, _repeat_key, _repeat_key, _escape_key, _escape_key, _replace_literal, _add_around,
    _add_inside,
)  # fmt: skip
