"""The profile of Together; one unspecific error text is known, and no error about pairing."""

from turnlint.api import Capabilities, Known, Profile, accepted_format, accepted_parallel_calls
from turnlint_rules.profiles._chat import CHAT, CHAT_WIRE, NO_MESSAGES, STREAM, unchecked

PROFILES = (
    Profile(
        name="together",
        title="Together AI",
        wires=CHAT,
        hosts=("api.together.xyz", "api.together.ai"),
        capabilities=Capabilities(
            format="openai-chat", parallel_calls=True, schema="JSON Schema", streaming=STREAM,
            sources=(accepted_format(37), accepted_parallel_calls(4, "deb4de2665b89d53", 2), CHAT_WIRE),
        ),
        clauses=NO_MESSAGES,
        weights=unchecked(source="no refusal is known; the model's template decides", date="2026-11"),
        known=(
            Known(
                pattern=r"(?:^|[\"':-])\s*Input validation error\b(?!:)", source="any-llm 714", date="2026-01",
                rules=("ST103", "PR318", "PR317", "PA201", "PA202"), sample="Input validation error",
                about="the server has one text for all requests that do not match the schema",
            ),
        ),
    ),
)  # fmt: skip
