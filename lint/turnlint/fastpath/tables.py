"""Compile the syntax of a wire to the tables of the native scanner."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, structs

from turnlint.carrying.saying import TIMES
from turnlint.carrying.syntax import ROLES, MessageClass, ObjectSyntax, WireSyntax
from turnlint.facts import ITEM_PREFIXES
from turnlint.ledger import MISSING, REDACTED
from turnlint.model import Content
from turnlint.names import CLASS_OF

NAMES = frozenset({
    "chat_id", "conversation_id", "conversationId", "custom_id", "id", "request_id", "requestId",
    "session_id", "sessionId", "thread_id", "threadId", "trace_id",
})  # fmt: skip
"""Keys whose value names a record. A key with a second meaning (`conversation`, `key`) is not masked."""

CONTENTS: tuple[Content, ...] = ("absent", "null", "text", "blank", "parts", "no-parts", "other")
"""In the order of `native/facts.h`."""
_SPEAKERS = ("", "assistant", "others")
"""In the order of `native/syntax.h`."""
MAX_CLASSES = 8
_ALONE, _BY_TYPE, _BY_KEY = range(3)


_ENVELOPE = {
    **dict.fromkeys(sorted(NAMES | TIMES), "naming"),
    **dict.fromkeys(
        (
            "model", "modelId", "host", "url", "base_url", "api_base", "endpoint", "type", "store",
            "key", "role", "speaker", "options",
        ),
        "keep",
    ),
    **dict.fromkeys(
        (
            "response", "response_body", "result", "output", "outputs", "outputBodyJson", "message", "choices", "candidates",
            "content", "inputs", "parts", "history", "chat_history", "tool_results", "text_results",
        ),
        "null",
    ),
    **dict.fromkeys(
        (
            "max_tokens", "max_completion_tokens", "temperature", "top_p", "stream", "stream_options", "n", "stop",
            "reasoning_effort", "parallel_tool_calls", "response_format", "seed",
        ),
        "setting",
    ),
    "tools": "tools:tool",
    "functions": "tools:tool",
    "toolConfig": "record:tool-config",
    "thinking": "choice:choice",
    "tool_choice": "choice:choice",
}  # fmt: skip
"""The keys around messages. Of all others only the JSON kind of the value is kept."""
_SHAPES = {
    "tool": ObjectSyntax({
        "type": "type", "name": "name", "function": "object:named", "custom": "object:named", "toolSpec": "object:named",
        "functionDeclarations": "list:named", "function_declarations": "list:named", "cachePoint": "skip",
    }, is_open=True),
    "named": ObjectSyntax({"name": "name"}, is_open=True),
    "tool-config": ObjectSyntax({
        "tools": "tools:tool",
        **dict.fromkeys(("toolChoice", "functionCallingConfig", "function_calling_config"), "choice:choice"),
    }, is_envelope=True),
    "choice": ObjectSyntax({
        "type": "keep", "mode": "keep", "function": "opaque", "any": "opaque", "tool": "opaque", "auto": "opaque",
    }, is_envelope=True, is_open=True),
}  # fmt: skip
_EVIDENCE = (
    (b'"function"', 400, b'"function":{"name":"x"},'),
    (b'"input_schema"', 4000, b'"input_schema":{},'),
    (b'"toolSpec"', 400, b'"toolSpec":{"name":"x"},'),
    (b"unction", 40, b'"functionDeclarations":[{"name":"x"}],'),
)
"""Parts of a list of tools that are evidence for a format: the word, its window in bytes, and the replacement."""


class Tables(Struct, frozen=True):
    """A syntax for the native reader, and the meaning of its numbers."""

    objects: tuple[Any, ...]
    settings: tuple[Any, ...]
    classes: tuple[MessageClass, ...]
    """By number; the first one is the start."""
    places: tuple[tuple[str, str | None, tuple[str, ...]], ...]
    """For each place its name, the role of its message, and its keys in order."""
    unread: frozenset[str]
    """Keys that show the kind of an object, and whose own keys are not read."""
    result_types: tuple[str, ...]
    server_types: frozenset[str]
    """Types of results of tools that the provider runs."""
    item_kinds: tuple[str, ...]
    output_kinds: tuple[tuple[str, ...], ...]
    """The words that each kind may mean."""
    anywhere: bool
    """As `Wire.anywhere`."""
    message: int
    """The number of the object of a message."""
    line: int = -1
    """The number of the object of a line, for a session."""
    line_kinds: tuple[str, ...] = ()
    """The types of lines, and at the end an empty one for lines that are messages."""


def compile_syntax(syntax: WireSyntax, native: Any) -> Tables:
    """Make the tables that `native.FactScanner` takes."""
    record = dict(_ENVELOPE)
    record |= dict.fromkeys(syntax.keep, "keep")
    record |= dict.fromkeys(syntax.wrapped, "record:record")
    record[syntax.messages] = "messages:message"
    shapes = {"record": ObjectSyntax(record, is_envelope=True), **_SHAPES, **syntax.shapes}
    names = list(shapes)
    roles = _roles_of(syntax)
    actions, pieces = {name: n for n, name in enumerate(native.ACTIONS)}, list(native.PIECES)
    marks = {name: n for n, name in enumerate(native.MARKS)}
    result_types = _result_types(syntax)
    rows: list[Any] = []
    places: list[tuple[str, str | None, tuple[str, ...]]] = []
    for name, shape in shapes.items():
        rows.append(_row(shape, syntax, names, actions, pieces, marks, result_types))
        places += _places_of(name, shape, syntax)
    settings = (
        names.index("record"),
        tuple((said.written or None, n, ROLES.index(said.role)) for n, said in enumerate(roles)),
        tuple((roles.index(_bare(said)), said.calls, said.results) for said in syntax.classes),
        tuple(sorted({word.lower() for word in MISSING | REDACTED})),
        b"".join((1 << number).to_bytes(2, "little") for number in CLASS_OF),
        _EVIDENCE,
        next((n for n, one in enumerate(roles) if not one.written and not syntax.items), -1),
        next((n for n, one in enumerate(roles) if not one.written and one.role == "assistant"), -1),
        next((n for n, one in enumerate(roles) if one.role == "user"), -1),
        _result_role(syntax, roles),
        sum(1 << ROLES.index(role) for role in syntax.window),
        sum({1 << roles.index(_bare(said)) for said in syntax.classes if said.written in syntax.list_roles}),
        syntax.joins, syntax.anywhere, syntax.idless, syntax.needs_call_type,
        syntax.needs_arguments, syntax.may_be_empty, syntax.has_bare_lines,
        len(rows),
    )  # fmt: skip
    message = syntax.shapes["message"]
    outputs = next(
        (one for name, one in syntax.shapes.items() if name in ("output", "part") and one.kinds), None
    )
    outputs = syntax.shapes.get("output", outputs or message)
    return Tables(
        tuple(rows), settings, (MessageClass("start", "system"), *syntax.classes), tuple(places), _unread_in(shapes.values()), result_types,
        frozenset(
            kind for shape in shapes.values() for kind, piece in shape.kinds.items() if piece.piece == "server_result"
        ),
        tuple(message.kinds), tuple(piece.means or (kind,) for kind, piece in outputs.kinds.items()), syntax.anywhere,
        names.index("message"), names.index("line") if "line" in names else -1,
        (*shapes["line"].kinds, "") if "line" in names else (),
    )  # fmt: skip


def _unread_in(shapes: Iterable[ObjectSyntax]) -> frozenset[str]:
    """Keys of checked objects whose value may be an object without a table."""
    checked = (shape for shape in shapes if shape.by_key and shape.place)
    return frozenset(
        word
        for shape in checked
        for word, action in shape.keys.items()
        if action in ("media", "skip", "braces")
    )


def _bare(said: MessageClass) -> MessageClass:
    return structs.replace(said, calls=False, results=False)


def _roles_of(syntax: WireSyntax) -> list[MessageClass]:
    """Each role as written, with its neutral role."""
    return list(dict.fromkeys(map(_bare, syntax.classes)))


def _result_role(syntax: WireSyntax, roles: list[MessageClass]) -> int:
    if syntax.items:
        return next(n for n, one in enumerate(roles) if not one.written and one.role == "tool")
    return next((n for n, one in enumerate(roles) if one.written == syntax.result_role), -1)


def _result_types(syntax: WireSyntax) -> tuple[str, ...]:
    kinds = (
        kind
        for shape in syntax.shapes.values()
        for kind, piece in shape.kinds.items()
        if piece.piece == "result"
    )
    return syntax.result_types or tuple(dict.fromkeys(kinds))


def _row(
    shape: ObjectSyntax,
    syntax: WireSyntax,
    names: list[str],
    actions: dict[str, int],
    pieces: list[str],
    marks: dict[str, int],
    types: tuple[str, ...],
) -> tuple[Any, ...]:
    words = list(shape.keys)
    keys = []
    for word, said in shape.keys.items():
        action, _, argument = said.partition(":")
        keys.append((word, actions[action], _number_of(action, argument, syntax, names, marks)))
    every = (1 << len(words)) - 1
    kinds = []
    for word, piece in shape.kinds.items():
        needed = _bits(words, piece.needed)
        allowed = (
            every
            if shape.by_key
            else needed | _bits(words, piece.also) | _bits(words, "type" if "type" in words else "")
        )
        group = types.index(word) if word in types else 0
        mark = 1 << marks[piece.mark] if piece.mark else 0
        letters = word, ITEM_PREFIXES.get(word, ""), piece.tool
        speaker = _SPEAKERS.index(piece.speaker)
        flags = pieces.index(piece.piece), group, piece.may_be_hosted, speaker
        kinds.append((*letters, allowed, needed, mark, *flags))
    how = _ALONE if not shape.kinds else _BY_KEY if shape.by_key else _BY_TYPE
    default = list(shape.kinds).index(shape.default) if shape.default else -1
    return tuple(keys), tuple(kinds), how, default, shape.is_envelope, shape.is_open


def _number_of(
    action: str, argument: str, syntax: WireSyntax, names: list[str], marks: dict[str, int]
) -> int:
    """Return the number of the argument of an action, or -1 without an argument."""
    if not argument:
        return -1
    if action == "told":
        return [said.written for said in _roles_of(syntax) if said.written].index(argument)
    if action in ("column", "loose", "number"):
        return syntax.columns.index(argument)
    if action in ("flag", "given"):
        return syntax.flags.index(argument)
    return marks[argument] if argument in marks else names.index(argument)


def _bits(words: list[str], some: str) -> int:
    return sum(1 << words.index(word) for word in some.split())


def _places_of(
    name: str, shape: ObjectSyntax, syntax: WireSyntax
) -> Iterator[tuple[str, str | None, tuple[str, ...]]]:
    """Yield the place of each kind of an object, and then of each class of messages."""
    words = tuple(shape.keys)
    for kind in shape.kinds:
        # No provider checks the keys of the parts of an output.
        yield "" if name == "output" else shape.place or kind, None, words
    if name == "message":
        yield "", None, words  # the class of a message is not known while it is read
        for said in (*syntax.classes, *[None] * (MAX_CLASSES - 1 - len(syntax.classes))):
            yield "message", said.written if said else None, words
    else:
        yield from [(shape.place, None, words)] * MAX_CLASSES
