"""Clauses of any kind with arbitrary fields, as users may write them into their own profiles.

Fields with names draw from names that conversations have, so that conversations violate many clauses.
"""

import typing
from random import Random
from typing import Any

import turnlint.clauses  # noqa: F401 - defines the subclasses
from turnlint.clause import Clause

KINDS = Clause.__subclasses__()
ROLES = (
    "system", "user", "assistant", "tool", "developer", "model", "function", "", "call", "result", "start", "end",
    "server-result", "prefix",
)  # fmt: skip
PIECES = (
    "message", "reasoning", "function_call", "function_call_output", "item_reference", "server_tool_use", "tool_use",
    "tool_result", "tool", "function", "text", "image", "functionCall", "functionResponse", "toolUse", "toolResult",
)  # fmt: skip
PATTERNS = (
    "[a-zA-Z0-9_-]+", "[a-z]+", "[a-zA-Z0-9]{9}", "[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}", "[a-zA-Z0-9_-]{1,10}", "[a-f0-9_]+",
    r"(functions\.)?[\w.$-]+:\d+", "call_.*", "msg[A-Za-z0-9_-]*", "fc[A-Za-z0-9_-]*", "rs[A-Za-z0-9_-]*", ".*", "[^ ]+",
    "srvtoolu_[a-zA-Z0-9_]+|mcptoolu_[a-zA-Z0-9_-]+", "toolu_[a-z0-9]+", r"\w+", "[a-z][a-z0-9_]*", "",
)  # fmt: skip
TEXTS = {
    "pattern": PATTERNS,
    "keep": ("[a-zA-Z0-9_-]", "[a-zA-Z0-9]", "[a-z]"),
    "replace": ("", "_"),
    "place": ("message", "call", "function", "text", "part", "tool_use", "tool_result"),
    "role": ROLES,
    "unless": ("", "output_config"),
}
LISTS = {
    "names": ("get_weather", "read", "web_search"),
    "parts": ("text", "image", "json", "json-other", "document"),
    "written": ("absent", "null", "text", "object", "list", "other"),
    "known": (
        "role", "content", "type", "text", "id", "tool_calls", "name", "input", "tool_use_id", "function", "parts",
    ),
    "refused": ("name", "cache_control", "id", "image", "json"),
}  # fmt: skip
ABOUT = ("source", "date", "severity", "says", "wires", "models", "other_models", "unnamed")


def drawn_clause(random: Random) -> Clause:
    kind = random.choice(KINDS)
    hints = typing.get_type_hints(kind)
    fields = {
        name: _drawn(random, kind, name, hints[name]) for name in hints if name in kind.__struct_fields__
    }
    return kind(
        **{name: value for name, value in fields.items() if name not in ABOUT},
        source="a test",
        date="2026-11",
    )


def _drawn(random: Random, kind: type[Clause], name: str, hint: Any) -> Any:
    if typing.get_origin(hint) is typing.Literal:
        return random.choice(typing.get_args(hint))
    if hint is int:
        return random.choice([0, 1, 2, 3, 9, 20, 64])
    if hint is bool:
        return random.random() < 0.5
    if hint == bool | None:
        return random.choice([None, True, False])
    if hint is str:
        return random.choice(TEXTS.get(name, ("",)))
    if name == "kinds" and kind.code == "PR318":
        some: tuple[str, ...] = ("absent", "null", "no-parts", "text", "parts", "blank")
    else:
        some = LISTS.get(name, PIECES if name == "kinds" else ROLES)
    return tuple(random.sample(some, random.choice([0, 0, 1, 2, min(len(some), 6)])))
