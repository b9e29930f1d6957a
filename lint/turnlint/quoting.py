"""Names from a transcript inside a sentence.

This module owns how they are marked and how long they may be. It refuses to know what the sentence says.
"""

from turnlint.model import Call, Result

LONGEST_QUOTE = 64


def called(call: Call) -> str:
    """A call by its id and its tool, as far as it has them."""
    if not call.id:
        return f"the call to {quote(call.name)}" if call.name else "a call"
    return f"call {quote(call.id)} to {quote(call.name)}" if call.name else f"call {quote(call.id)}"


def answering(result: Result) -> str:
    """A result by the id of its call, or by its tool."""
    if result.id:
        return f"result for {quote(result.id)}"
    return f"result of tool {quote(result.name)}" if result.name else "result without an id"


def also_calls(count: int) -> str:
    """The calls that go with a result, behind the words for the result."""
    return (
        "" if not count else " and the call inside it" if count == 1 else f" and the {count} calls inside it"
    )


def quote(text: str | None) -> str:
    """A name from the transcript inside a message: marked as such, and never longer than a line."""
    if text is None:
        return "(none)"
    if len(text) > LONGEST_QUOTE:
        return f"`{text[: LONGEST_QUOTE - 1]}…` ({len(text)} characters)"
    return f"`{text}`"
