"""Names and counts inside sentences: cut, quoted, in the plural, or with a suggestion."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from turnlint.model import Call, Pointer, Result

MAX_QUOTED_CHARS = 64
MAX_WRONG_CHARS = 60
MAX_LISTED = 20
_INVARIABLE = ("info",)
T = TypeVar("T", str, str | None)


def truncate(text: T, max_chars: int) -> T:
    """Return the text, or its first characters and an ellipsis if it is longer."""
    return text if text is None or len(text) <= max_chars else text[:max_chars] + "…"


def pluralize(count: int, noun: str, plural: str | None = None) -> str:
    if count == 1 or noun in _INVARIABLE:
        return f"{count:,} {noun}"
    return f"{count:,} {plural or noun + 's'}"


def quote_name(name: str | None) -> str:
    """Return a name from a transcript as a message has it: marked, and no longer than a line."""
    if name is None:
        return "(none)"
    if len(name) > MAX_QUOTED_CHARS:
        return f"`{name[: MAX_QUOTED_CHARS - 1]}…` ({len(name)} characters)"
    return f"`{name}`"


def name_key(at: "Pointer") -> str:
    """Return the last key of a position with its index, as the start of a message; empty for a whole record."""
    place = ""
    for part in reversed(at):
        if isinstance(part, str):
            return f"{quote_name(part + place)}: "
        place = f"[{part}]{place}"
    return ""


def quote_value(text: str) -> str:
    """Return a text of the user's own as a message has it: in the quotes of Python, and cut."""
    return repr(truncate(text, MAX_WRONG_CHARS))


def nearest_name(wrong: str, known: Sequence[str]) -> str | None:
    """Return the known name that is most like a wrong one, if any is like it."""
    from difflib import get_close_matches

    spellings = dict.fromkeys((wrong, wrong.lower(), wrong.upper()))
    return next((near for one in spellings for near in get_close_matches(one, known, 1)), None)


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return the wrong name, quoted, with the nearest known name or a list of them."""
    names = list(known)
    near = nearest_name(wrong, names)
    if near is not None:
        return f"{quote_value(wrong)}; did you mean {near!r}?"
    more = f" and {len(names) - MAX_LISTED:,} more" if len(names) > MAX_LISTED else ""
    return f"{quote_value(wrong)}; expected one of {', '.join(names[:MAX_LISTED])}{more}"


def describe_call(call: "Call") -> str:
    """Return a call by its id and its tool, if it has them."""
    if not call.id:
        return f"the call to {quote_name(call.name)}" if call.name else "a call"
    suffix = f" to {quote_name(call.name)}" if call.name else ""
    return f"call {quote_name(call.id)}{suffix}"


def describe_result(result: "Result") -> str:
    """Return a result by the id of its call, or by its tool."""
    if result.id:
        return f"result for {quote_name(result.id)}"
    return f"result of tool {quote_name(result.name)}" if result.name else "result without an id"


def also_calls(count: int) -> str:
    """Return words for the calls inside a result, to append to the words for the result."""
    if not count:
        return ""
    return " and the call inside it" if count == 1 else f" and the {count} calls inside it"
