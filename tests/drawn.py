"""Random conversations: mostly sound, some with an odd step, some with damage below their messages.

The tests define the expected findings.
"""

import copy
from typing import Any

from hypothesis import strategies as st

from turnlint.carrying.examples import NotationLine

IDS = st.sampled_from(
    ["c1", "c2", "c3", "", "REDACTED", "a b", "functions.read:0", "x" * 41, "x" * 70, "aB3dE6gH9"]
)
NAMES = st.sampled_from(["read", "write", "", "a.b", "n" * 70])
TEXTS = st.sampled_from(["", " ", "fine", "fine ", "<tool_call> {}", "No result provided"])


@st.composite
def steps(draw: st.DrawFn) -> list[NotationLine]:
    """Mostly sound conversations, some with an odd step."""
    made: list[NotationLine] = []
    count = 0
    for _ in range(draw(st.integers(1, 4))):
        made.append(NotationLine("user", draw(st.sampled_from(["hello", "go on"]))))
        calls = []
        made.append(NotationLine("assistant", "let me see"))
        for _ in range(draw(st.integers(0, 3))):
            count += 1
            calls.append(f"c{count}")
            made.append(NotationLine("call", "", f"c{count}", "read", "{}"))
        made += [NotationLine("result", "", identifier, body="done") for identifier in calls]
        made.append(NotationLine("assistant", "so it is"))
    if draw(st.booleans()):
        at = draw(st.integers(1, len(made)))
        kind = draw(st.sampled_from(["user", "assistant", "call", "result"]))
        if kind in ("user", "assistant"):
            made.insert(at, NotationLine(kind, draw(TEXTS)))
        elif kind == "result" or any(step.kind == "assistant" for step in made[:at]):
            made.insert(
                at, NotationLine(kind, "", draw(IDS), draw(NAMES), draw(TEXTS) if kind == "result" else "{}")
            )
    if draw(st.booleans()):
        made.pop(draw(st.integers(0, len(made) - 1)))
    return made


def writable(lines: list[NotationLine]) -> bool:
    """Whether each call follows an assistant message, as the notation requires."""
    under = None
    for step in lines:
        if step.kind == "call" and under != "assistant":
            return False
        under = step.kind if step.kind != "call" else under
    return True


LISTS = ("messages", "history", "contents", "input")
ODD = st.sampled_from([None, 5, "", " ", [], {}, "tool", "x ", {"": 1}, "user", "system"])


def disturb(record: dict[str, Any], draw: Any) -> None:
    """Damage a value below the messages in a way that no notation can: at any depth, or with an unknown key."""
    value: Any = draw(st.sampled_from(record[next(key for key in LISTS if key in record)]))
    while True:
        keys = sorted(value) if isinstance(value, dict) else list(range(len(value)))
        if isinstance(value, dict) and draw(st.integers(0, 5)) == 0:
            value[draw(st.sampled_from(["reasoning_content", "timestamp", "id", "name", "tools"]))] = draw(
                ODD
            )
            return
        if not keys:
            return
        key = draw(st.sampled_from(keys))
        if not isinstance(value[key], (dict, list)) or draw(st.integers(0, 2)) == 0:
            value[key] = draw(st.one_of(ODD, st.just(copy.deepcopy(value[key]))))
            return
        value = value[key]
