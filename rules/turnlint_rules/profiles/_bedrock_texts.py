"""Error texts of Bedrock's Converse and of boto3, with the rules that explain them.

The expressions also match texts that lost their quotes. This module defines no profile.
"""

from turnlint.api import Known

_Q = r"""[\\`'"]*"""
"""A quote, escaped or missing."""
_MEMBER = r"(?P<path>messages\.(?P<index>\d+)[\w.]*"
_EXECUTED = "botocore 1.44.3, executed"

_PAIRING = (
    Known(
        pattern=r"Malformed input request: #/messages/(?P<index>\d+)/content/\d+: extraneous key \[toolResult\] is not permitted",
        rules=("PR321",), source="recorded 4c6b042a0be13af5, 2f6c9cf2b588ac43", date="2026-02",
        sample="Malformed input request: #/messages/2/content/0: extraneous key [toolResult] is not permitted, please "
        "reformat your input and try again.",
        about="Nova reads texts and pictures in a result, no documents and no videos",
    ),
    Known(
        pattern=r"Value at .?toolConfig\.tools.? failed to satisfy constraint: Member must have length greater", rules=("PR316",),
        sample="1 validation error detected: Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length "
        "greater than or equal to 1", source="genkit aws-bedrock-js-plugin 43", date="2025-11",
    ),
    Known(
        pattern=r"The toolUse blocks at messages\.(?P<index>\d+)\.content contain duplicate Ids: (?P<ids>[\w.:, -]+)",
        rules=("PR305", "ST108", "ST109"), source="public reports", date="2026-11",
        sample="The toolUse blocks at messages.2.content contain duplicate Ids: tooluse_abc",
    ),
    Known(
        pattern=r"Expected toolResult blocks at messages\.(?P<index>\d+)\.content for the following Ids: "
        r"(?P<ids>[\w:.-]*[\w-](?:,\s*[\w:.-]*[\w-])*)",
        rules=("PA201", "PA206", "PR309", "PA203", "PR308", "PR311", "PR312"),
        sample="Expected toolResult blocks at messages.2.content for the following Ids: tooluse_abc",
        source="langchain-aws, litellm, strands 1.62; genkit aws-bedrock-js-plugin 664", date="2026-11",
    ),
    Known(
        pattern=r"number of toolResult blocks at messages\.(?P<index>\d+)\.content exceeds the number of toolUse blocks",
        rules=("PA202", "PA205", "PA203", "PA204", "ST107"), source="strands harness-sdk 1435 and many others",
        sample="The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn.",
        date="2026-11",
    ),
    Known(
        pattern=r"toolConfig field must be defined when using toolUse and toolResult", rules=("PR316",), date="2026-11",
        sample="The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        source="zot 18 and many others",
    ),
    Known(
        pattern=r"Conversation blocks and tool result blocks cannot be provided in the same turn", rules=("PR308",),
        sample="Conversation blocks and tool result blocks cannot be provided in the same turn.", date="2026-11",
        source="strands 1.62; public reports",
    ),
    Known(
        pattern=r"A conversation must start with a user message", rules=("PR310",), date="2026-11",
        sample="A conversation must start with a user message. Try again with a conversation that starts with a user message.",
        source="langchain-aws 238",
    ),
    Known(
        pattern=r"A conversation must alternate between user and assistant roles", rules=("PR310",), date="2024-12",
        sample="A conversation must alternate between user and assistant roles. Make sure the conversation alternates "
        "between user and assistant roles and try again.", source="public reports",
        about="older API versions; the service now merges consecutive messages of one role (782d8785fc45f0f6)",
    ),
)  # fmt: skip
_SHAPE = (
    Known(
        pattern=rf"Value (?:{_Q}[^'\"]*{_Q} )?at {_Q}{_MEMBER}toolUseId){_Q} failed to satisfy constraint: Member must satisfy "
        r"regular expression", rules=("PR301",), source="botocore, shape ToolUseId; vercel/ai 13326", date="2026-11",
        sample="Value at 'messages.2.member.content.1.member.toolUse.toolUseId' failed to satisfy constraint: Member must "
        "satisfy regular expression pattern: [a-zA-Z0-9_-]+",
    ),
    Known(
        pattern=rf"Value (?:{_Q}[^'\"]*{_Q} )?at {_Q}{_MEMBER}toolUseId){_Q} failed to satisfy constraint: Member must have "
        r"length", rules=("PR302", "ST104"), source="litellm 34239", date="2026-11",
        sample="4 validation errors detected: Value at 'messages.4.member.content.2.member.toolUse.toolUseId' failed to "
        "satisfy constraint: Member must have length less than or equal to 64",
    ),
    Known(
        pattern=rf"Value (?:{_Q}[^'\"]*{_Q} )?at {_Q}(?P<path>[\w.]*(?:toolSpec|toolUse)\.name){_Q} failed to satisfy",
        rules=("PR306", "ST105"), source="botocore, shape ToolName; public reports", date="2026-11",
        sample="Value at 'toolConfig.tools.1.member.toolSpec.name' failed to satisfy constraint: Member must satisfy "
        "regular expression pattern: [a-zA-Z0-9_-]+",
    ),
    Known(
        pattern=rf"Value (?:{_Q}(?P<role>\w*){_Q} )?at {_Q}{_MEMBER}\.role){_Q} failed to satisfy", rules=("PR310", "ST116"),
        sample="1 validation error detected: Value 'tool' at 'messages.1.member.role' failed to satisfy constraint: Member "
        "must satisfy enum value set: [user, assistant]", source="public reports", date="2026-11",
    ),
    Known(
        pattern=r"Missing required parameter in (?P<path>messages\[(?P<index>\d+)\][\w.\[\]]*): \"?(?P<key>\w+)",
        rules=("ST104", "ST105", "PR321", "PR318", "ST103"), source=_EXECUTED, date="2026-11",
        sample='Parameter validation failed:\nMissing required parameter in messages[2].content[0].toolResult: "content"',
    ),
    Known(
        pattern=r"Invalid length for parameter (?P<path>messages\[(?P<index>\d+)\][\w.\[\]]*)", rules=("ST104", "ST105"),
        sample="Parameter validation failed:\nInvalid length for parameter messages[0].content[0].toolUse.toolUseId, value: "
        "0, valid min length: 1", source=_EXECUTED, date="2026-11",
    ),
    Known(
        pattern=r"Invalid length for parameter toolConfig\.tools", rules=("PR316",), source=_EXECUTED, date="2026-11",
        sample="Parameter validation failed:\nInvalid length for parameter toolConfig.tools, value: 0, valid min length: 1",
    ),
    Known(
        pattern=r"Invalid type for parameter (?P<path>messages\[(?P<index>\d+)\][\w.\[\]]*)", date="2026-11",
        rules=("PR321", "ST103", "ST116"), source=_EXECUTED,
        sample="Parameter validation failed:\nInvalid type for parameter messages[0].content, value: hi, type: <class 'str'>, "
        "valid types: <class 'list'>, <class 'tuple'>",
    ),
    Known(
        pattern=r"Unknown parameter in (?P<path>messages\[(?P<index>\d+)\][\w.\[\]]*): \"?(?P<key>\w+)", date="2026-11",
        rules=("PR317", "ST116"), source=_EXECUTED,
        sample='Parameter validation failed:\nUnknown parameter in messages[0]: "timestamp", must be one of: role, content',
    ),
    Known(
        pattern=r"set for tagged union structure (?P<path>messages\[(?P<index>\d+)\][\w.\[\]]*)", rules=("ST103", "ST116"),
        sample="Parameter validation failed:\nInvalid number of parameters set for tagged union structure "
        "messages[0].content[0]. Can only set one of the following keys: text, image, document", status="abridged",
        source=_EXECUTED, date="2026-11", about="a content block has several members of the union, or none",
    ),
)  # fmt: skip
_CONTENT = (
    Known(
        pattern=r"text field in the ContentBlock object at (?P<path>messages\.(?P<index>\d+)[\w.]*) is blank",
        rules=("PR312", "ST110"), source="public reports", date="2026-11",
        sample="The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field, and "
        "try again.", about="another possible cause: a blank text inside a result",
    ),
    Known(
        pattern=r"content field in the Message object at messages\.(?P<index>\d+) is empty", rules=("PR312", "ST110"),
        sample="The content field in the Message object at messages.1 is empty. Add a ContentBlock object to the content "
        "field and try again.", source="public reports", date="2026-11",
    ),
    Known(
        pattern=r"format of the value at (?P<path>messages\.(?P<index>\d+)[\w.]*\.toolUse\.input) is invalid",
        rules=("ST106", "PR307"), source="public reports", date="2026-11",
        sample="The format of the value at messages.1.content.0.toolUse.input is invalid. Provide a json object for the "
        "field and try again.",
    ),
    Known(
        pattern=r"format of the value at (?P<path>messages\.(?P<index>\d+)[\w.]*\.toolResult[\w.]*\.json) is invalid",
        rules=("PR321",), source="aichat 1550; public reports", date="2026-11",
        sample="The format of the value at messages.28.content.0.toolResult.content.0.json is invalid. Provide a json object "
        "for the field and try again.",
    ),
    Known(
        pattern=r"(?:at (?P<path>messages\.(?P<index>\d+)[\w.]*) )?cannot be empty when status value is error",
        rules=("PR312",), source="public reports", date="2026-11",
        sample="The content field at messages.2.content.0.toolResult cannot be empty when status value is error.",
    ),
    Known(
        pattern=rf"This model doesn{_Q}t support the status field", rules=("PR317",), source="public reports", date="2026-11",
        sample="This model doesn't support the status field. Remove status and try again.",
    ),
    Known(
        pattern=r"Tool call id was (?P<ids>.*?) but must be a-z, A-Z, 0-9, with a length of 9", rules=("PR303", "PR304"),
        sample="Tool call id was a but must be a-z, A-Z, 0-9, with a length of 9.", source="opencode 48843, live",
        date="2026-09",
    ),
    Known(
        pattern=r"The model returned the following errors: (?P<inner>.+)", rules=(), date="2026-11", status="abridged",
        sample="The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
        source="recorded 055b00d05e754aae, 6dd01969e2da0f99",
        about="the rest of the text comes from the model's own API: run `turnlint why` with it and the provider of that model",
    ),
)  # fmt: skip

KNOWN = (*_PAIRING, *_SHAPE, *_CONTENT)
