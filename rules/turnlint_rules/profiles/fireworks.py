"""The profile of Fireworks, which rejects any key that OpenAI does not have, also in later requests."""

from turnlint.api import Capabilities, Known, Profile, accepted_format
from turnlint_rules.profiles._chat import (
    CHAT,
    CHAT_WIRE,
    KEYS,
    NO_MESSAGES,
    STREAM,
    allowed,
    unchecked,
    without,
)

_FOREIGN = "Extra inputs are not permitted, field: '{path}'"

PROFILES = (
    Profile(
        name="fireworks",
        title="Fireworks AI",
        wires=CHAT,
        hosts=("api.fireworks.ai",),
        models=r"^accounts/fireworks/",
        capabilities=Capabilities(
            format="openai-chat", schema="JSON Schema", streaming=STREAM, sources=(accepted_format(23), CHAT_WIRE)
        ),
        clauses=(
            *NO_MESSAGES,
            *allowed(
                without(KEYS, assistant=("reasoning_content",)), says=_FOREIGN, date="2026-05",
                source="pi 4514; stored:59335241037, 55334472060: tool_name, reasoning, reasoning_details, cache_control",
            ),
        ),
        weights=unchecked(source="no refusal is known; the model's template decides", date="2026-11"),
        known=(
            Known(
                pattern=r"Extra inputs are not permitted, field: .?(?P<path>messages\[(?P<index>\d+)\][^'\"‘’]*)",
                rules=("PR317", "ST116"), source="pi 4514", date="2026-05",
                sample="Extra inputs are not permitted, field: 'messages[3].tool_name'",
            ),
        ),
    ),
)  # fmt: skip
