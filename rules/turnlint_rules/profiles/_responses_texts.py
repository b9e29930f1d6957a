"""Error texts of OpenAI's Responses API, with the rules that explain them.

The expressions also match texts that lost their quotes. This module defines no profile.
"""

from turnlint.api import Known

_Q = r"""[\\`'"]*"""
"""A quote, escaped or missing."""
_PLACE = r"(?P<path>input\[(?P<index>\d+)\]"
_ID = r"(?P<ids>[\w:|.-]*[\w-])"
_KINDS = "(?:function|computer|shell|local shell|apply patch|tool search)"

_PAIRING = (
    Known(
        pattern=r"Invalid type for .?(?P<path>input\[(?P<index>\d+)\]\.output).?: expected", rules=("PR321", "ST103"),
        sample="Invalid type for 'input[1].output': expected one of a string or array of objects, but got an object instead.",
        source="OpenAPI document of 2026-08", date="2026-08", status="templated",
    ),
    Known(
        pattern=rf"No tool output found for {_KINDS} call {_Q}{_ID}",
        rules=("PA201", "PA206", "PR311", "PA204", "PR302", "ST104"),
        sample="No tool output found for function call call_abc.", source="openai-agents and codex reports",
        date="2026-11", about="another possible cause: previous_response_id does not name the response that has the call",
    ),
    Known(
        pattern=rf"No tool output found for custom tool call {_Q}{_ID}", rules=("PA201", "PA206", "PR311", "PA204"),
        sample="No tool output found for custom tool call call_abc.", source="OmniRoute 8946", date="2026-11",
    ),
    Known(
        pattern=rf"No tool call found for [a-z_ ]+ output with call_id {_Q}{_ID}", rules=("PA202", "PA204", "ST104"),
        sample="No tool call found for function call output with call_id call_abc.", source="context_agent 140 and many",
        date="2026-11", about="another possible cause: the call is in an earlier response, and the request does not refer to it",
    ),
    Known(
        pattern=r"Duplicate call_ids submitted: \[(?P<ids>[^\]]*)\]", rules=("PA205", "PR305", "ST109"),
        sample='Duplicate call_ids submitted: ["call_abc"]', source="zod-to-openai-tool 263, of the Assistants' days",
        date="2024-12",
    ),
    Known(
        pattern=rf"Duplicate {_Q}function_call_output{_Q} for call_id {_Q}{_ID}", date="2026-09",
        rules=("PA205", "PR305", "ST108", "ST109", "ST107"), source="hermes 102629, behind a gateway",
        sample="Duplicate function_call_output for call_id 'terminal:0'. Each function_call must have exactly one "
        "matching function_call_output",
    ),
    Known(
        pattern=rf"Duplicate item found with id {_Q}{_ID}", rules=("PR305", "ST109"), date="2026-06",
        sample="Duplicate item found with id fc_68abc. Remove duplicate items from your input and try again.",
        source="vercel/ai 13307, MacPaw/OpenAI 432",
        about="another possible cause: the item is part of the response that previous_response_id names",
    ),
)  # fmt: skip
_REASONING = (
    Known(
        pattern=rf"Item {_Q}{_ID}{_Q} of type {_Q}reasoning{_Q} was provided without its required following item",
        rules=("PR315",), source="openai-python and openai-agents reports", date="2026-11",
        sample="Item 'rs_68abc' of type 'reasoning' was provided without its required following item.",
    ),
    Known(
        pattern=rf"Item {_Q}{_ID}{_Q} of type {_Q}(?P<kind>\w+){_Q} was provided without its required {_Q}reasoning{_Q} item",
        rules=("PR315", "PR305"), source="many reports", date="2026-11",
        sample="Item 'fc_68abc' of type 'function_call' was provided without its required 'reasoning' item: 'rs_68abc'.",
        about="the API has stored this item: add the reasoning item before it, or remove the item id",
    ),
    Known(
        pattern=rf"Item with id {_Q}{_ID}{_Q} not found", rules=("PR326",), source="many reports", date="2026-09",
        sample="Item with id 'rs_68abc' not found. Items are not persisted when `store` is set to false. Try again with "
        "`store` set to true, or remove this item from your input.",
        about="nothing is stored under this id: send the whole item without its id, or remove it",
    ),
    Known(
        pattern=r"The encrypted content .{0,400}? could not be verified", rules=(), status="abridged",
        sample="The encrypted content gAAAAAB… could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
        source="many reports", date="2026-11",
        about="the reasoning comes from another organization, model or deployment, which a log does not show: remove it "
        "and the ids of the items after it",
    ),
    Known(
        pattern=r"invalid_encrypted_content", rules=(), sample='"code": "invalid_encrypted_content"',
        source="many reports", date="2026-11",
        about="the reasoning comes from another organization, model or deployment, which a log does not show: remove it",
    ),
    Known(
        pattern=rf"reasoning {_Q}encrypted_content{_Q} was not issued to this caller", rules=(), source="codex reports",
        sample="reasoning encrypted_content was not issued to this caller", date="2026-11",
        about="the reasoning belongs to another account: remove it",
    ),
    Known(
        pattern=r"Conflicting authenticated continuation identities", rules=(), date="2026-09",
        sample="Conflicting authenticated continuation identities", source="hermes 101243 and 106718, Azure",
        about="Azure accepts the encrypted reasoning of one response only: remove that of the earlier turns",
    ),
    Known(
        pattern=rf"Previous response with id {_Q}(?P<ids>[^'`\"\\ ]*){_Q} not found", rules=(),
        sample="Previous response with id 'resp_nonexistent123456789' not found.", source="public captures", date="2026-11",
        about="the earlier response is not stored here: send the whole conversation instead",
    ),
)  # fmt: skip
_SHAPE = (
    Known(
        pattern=rf"One of {_Q}input{_Q} or {_Q}previous_response_id{_Q}.{{0,80}}must be provided|"
        rf"Missing required parameter: {_Q}input(?![\w\[]){_Q}", rules=("PR323",), date="2026-11",
        sample="One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided.",
        source="quoted in public repositories",
    ),
    Known(
        pattern=rf"Invalid {_Q}{_PLACE}\.(?:call_id|id)){_Q}: string too long", rules=("PR302",),
        sample="Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64, but got a string "
        "with length 116 instead.", source="dsh-plugin 29, openclaw 137489", date="2026-11",
    ),
    Known(
        pattern=rf"Invalid {_Q}(?P<path>(?:input\[(?P<index>\d+)\]|tools\[\d+\])\.name){_Q}: (?:string|empty)",
        rules=("PR306", "ST105"), source="public reports", date="2026-11",
        sample="Invalid 'input[189].name': string does not match pattern. Expected a string that matches the pattern "
        "'^[a-zA-Z0-9_-]+$'.",
    ),
    Known(
        pattern=rf"Invalid {_Q}{_PLACE}\.output){_Q}: string too long", rules=("PR319",), status="templated",
        sample="Invalid 'input[4].output': string too long. Expected a string with maximum length 10485760, but got a "
        "string with length 12000000 instead.", source="OpenAPI document of 2026-08", date="2026-08",
    ),
    Known(
        pattern=rf"Invalid {_Q}{_PLACE}\.id){_Q}: {_Q}(?P<ids>[^'\"`\\]*){_Q}\. Expected an ID that begins with "
        rf"{_Q}(?P<prefix>\w+)", rules=("PR303",), source="nodetool 4252 and many others", date="2026-11",
        sample="Invalid 'input[3].id': '__fake_id__'. Expected an ID that begins with 'fc'.",
    ),
    Known(
        pattern=rf"Invalid {_Q}{_PLACE}\.id){_Q}: {_Q}(?P<ids>[^'\"`\\]*){_Q}\. Expected an ID that contains letters",
        rules=("PR303",), source="langchainjs 11044", date="2026-07",
        sample="Invalid 'input[2].id': ''. Expected an ID that contains letters, numbers, underscores, or dashes, but "
        "this value contained additional characters.",
    ),
    Known(
        pattern=rf"Invalid type for {_Q}{_PLACE}\.(?:arguments|input)){_Q}: expected a string", status="templated",
        rules=("PR307",), sample="Invalid type for 'input[2].arguments': expected a string, but got an object instead.",
        source="OpenAPI document of 2026-08", date="2026-08",
    ),
    Known(
        pattern=rf"Invalid type for {_Q}{_PLACE}\.content){_Q}: expected", rules=("PR318", "ST103"),
        sample="Invalid type for 'input[1].content': expected one of an array of objects or string, but got null instead.",
        source="new-api 4776", date="2026-05",
    ),
    Known(
        pattern=rf"Missing required parameter: {_Q}{_PLACE}[\w.\[\]]*)", rules=("ST104", "PR318", "ST105", "ST103"),
        sample="Missing required parameter: 'input[1].call_id'.", source="public captures", date="2026-11",
    ),
    Known(
        pattern=rf"[Ii]nput\[(?P<index>\d+)\] missing required field {_Q}summary", rules=("PR318",), source="Agora 141, Meta",
        sample="Input[3] missing required field `summary`", date="2026-09",
    ),
    Known(
        pattern=rf"Unknown parameter: {_Q}{_PLACE}[\w.\[\]]*)", rules=("PR317", "ST116"),
        sample="Unknown parameter: 'input[0].content[0].cache_control'.", source="openai-python 2677 and many others",
        date="2026-11",
    ),
    Known(
        pattern=rf"Invalid value: {_Q}(?P<role>\w*){_Q}\. Supported values are: {_Q}assistant{_Q}, {_Q}system{_Q}",
        rules=("ST116", "PR310"), source="public captures", date="2026-11",
        sample="Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
    ),
    Known(
        pattern=rf"Invalid value: {_Q}(?P<kind>\w*){_Q}\. Supported values are: {_Q}additional_tools{_Q}",
        rules=("ST116", "ST103"), source="public captures", date="2026-11", status="abridged",
        sample="Invalid value: 'tool_result'. Supported values are: 'additional_tools', 'agent_message', and others.",
    ),
    Known(
        pattern=rf"Invalid value: {_Q}(?P<kind>\w*){_Q}\. Supported values are: {_Q}(?:in|out)put_text{_Q}",
        rules=("PR325", "ST116"), source="openhuman 3624; recorded 9b901f3ad33001a9 for another type", date="2026-06",
        sample="Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
        about="assistant text has the type output_text; text of all other roles has input_text",
    ),
    Known(
        pattern=rf"Image generation items without {_Q}id{_Q} are not supported", rules=("PR303",), source="public reports",
        sample="Image generation items without `id` are not supported for this request.", date="2026-11",
        about="the item needs its item id: restore the id, or remove the item",
    ),
    Known(
        pattern=rf"Invalid file data: {_Q}(?P<path>\w+\[(?P<index>\d+)\][\w.\[\]]*){_Q}.{{0,200}}?unsupported MIME type",
        rules=("PR321",), source="recorded cc9635357041067f, 51fe8afa7c914e93", date="2026-11",
        sample="Invalid file data: 'input[3].output[0].file_data'. Expected a base64-encoded data URL with a valid file MIME type "
        "(e.g. 'data:text/plain;base64,SGVsbG8sIFdvcmxkIQ=='), but got unsupported MIME type 'audio/mpeg'. Please see "
        "https://platform.openai.com/docs/assistants/tools/file-search#supported-files for supported file types.",
    ),
    Known(
        pattern=r"Your input exceeds the context window of this model", rules=(), date="2026-11",
        sample="Your input exceeds the context window of this model. Please adjust your input and try again.",
        source="recorded 30c7525d0377db84, 896c841c11e14220",
        about="the conversation exceeds the context window of the model; shorten it",
    ),
)  # fmt: skip

KNOWN = (*_PAIRING, *_REASONING, *_SHAPE)
