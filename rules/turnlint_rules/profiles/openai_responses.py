"""OpenAI Responses: what the API refuses.

The same validators answer at Azure. Calls and outputs are items that meet by `call_id` wherever they stand;
items have ids of their own beside it. This module owns that table. It refuses to know how items are read,
and what a rule does.
"""

from turnlint.api import (
    AnyClause,
    ArgumentsEncoding,
    Capabilities,
    ContentKey,
    IdForm,
    IdLength,
    IdUnique,
    LastMessage,
    NameForm,
    OverLimit,
    Profile,
    ReasoningUnpaired,
    ResultContent,
    ResultsTogether,
    RoleOrder,
    UnknownKey,
    Weight,
)
from turnlint_rules.profiles._responses_texts import KNOWN

_SPEC = "OpenAPI document of 2026-08; openai 3.51.0"
_ROLES = ("user", "assistant", "system", "developer")
_NO_OUTPUT = "No tool output found for function call {id}."
_NO_CALL = "No tool call found for function call output with call_id {id}."
_TWO_OUTPUTS = (
    "Duplicate function_call_output for call_id '{id}'. Each function_call must have exactly one matching "
    "function_call_output"
)
_TOO_LONG = (
    "Invalid '{path}': string too long. Expected a string with maximum length {most}, but got a string with length "
    "{length} instead."
)
_PATTERN = "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
_PREFIXES = {
    "function_call": "fc", "function_call_output": "fco", "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco", "message": "msg", "reasoning": "rs",
}  # fmt: skip
"""How the id of an item begins. Ids of other items were only ever seen as the API made them."""


def _prefix(kind: str, prefix: str) -> IdForm:
    return IdForm(
        of="item", kinds=(kind,), pattern=f"{prefix}[A-Za-z0-9_-]*", wants=f"`{prefix}` with letters, digits, `_` and `-`",
        says=f"Invalid '{{path}}': '{{id}}'. Expected an ID that begins with '{prefix}'.",
        source="nodetool 4252, langchainjs 11044 and many others; all 101 accepted ids of these items begin so", date="2026-11",
    )  # fmt: skip


_IDS: tuple[AnyClause, ...] = (
    IdLength(most=64, says=_TOO_LONG, source=f"{_SPEC}; dsh-plugin 29, openclaw 137489", date="2026-08"),
    IdLength(most=64, of="item", says=_TOO_LONG, source=_SPEC, date="2026-08"),
    *(_prefix(kind, prefix) for kind, prefix in _PREFIXES.items()),
    IdUnique(
        of="item", over="request", date="2026-06", source="vercel/ai 13307, MacPaw/OpenAI 432",
        says="Duplicate item found with id {id}. Remove duplicate items from your input and try again.",
    ),
    IdUnique(
        of="call", over="request", severity="warning", says=_TWO_OUTPUTS, date="2026-09",
        source="hermes 102629 and pi 9057, both behind gateways; no accepted request has an id twice",
    ),
)  # fmt: skip
_FORMS = (
    NameForm(
        of="call", pattern="[a-zA-Z0-9_-]+", most=128, wants="letters, digits, `_` and `-`", says=_PATTERN,
        source=_SPEC, date="2026-08",
    ),
    NameForm(
        of="tool", pattern="[a-zA-Z0-9_-]+", most=128, wants="letters, digits, `_` and `-`", says=_PATTERN,
        source=_SPEC, date="2026-08",
    ),
    ArgumentsEncoding(
        wants="text", says="Invalid type for '{path}': expected a string, but got an object instead.",
        source=f"{_SPEC}; a text that is no object is accepted (af09eac15776bc4c and 77 more)", date="2026-11",
    ),
    OverLimit(what="result-characters", most=10_485_760, says=_TOO_LONG, source=_SPEC, date="2026-08"),
)  # fmt: skip
_TURNS = (
    RoleOrder(
        roles=(*_ROLES, ""), source="openai-python 2677 and many others", date="2026-11",
        says="Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
    ),
    LastMessage(open_calls=True, says=_NO_OUTPUT, source="openai-agents and codex reports", date="2026-11"),
    ContentKey(
        what="content", kinds=("absent",), roles=("user", "assistant", "system"),
        says="Missing required parameter: '{path}.content'.", source="public captures of the API's texts", date="2026-11",
    ),
    ContentKey(
        what="content", kinds=("null",), roles=_ROLES, severity="warning", date="2026-09",
        says="Invalid type for '{path}': expected one of an array of objects or string, but got null instead.",
        source="new-api 4776; oh-my-pi 10956 says that it is taken",
    ),
    ResultsTogether(
        place="after-each-call", severity="warning", date="2026-08",
        source="DeepSeek's servers of this wire refuse it: oh-my-pi 12014, awesome-deepseek-integration 740; OpenAI takes it "
        "(50dd369531354093)",
    ),
    ResultContent(
        written=("text", "list", "absent", "null"), kinds=("function_call_output", "custom_tool_call_output"), source=_SPEC, date="2026-08",
        says="Invalid type for 'input[{index}].output': expected one of a string or array of objects, but got an object instead.",
    ),
    ReasoningUnpaired(
        what="alone", date="2026-11",
        says="Item '{id}' of type 'reasoning' was provided without its required following item.",
        source="openai-python and openai-agents reports; with its encrypted content and nothing stored it is accepted "
        "(8040790f99e55416, 2e12bf739615f3e3, 249a24031de092b3, 0ff465710cfda03d, fc9decc035592946)",
    ),
)  # fmt: skip

_ITEMS = {
    "function_call": "id call_id name arguments status namespace caller async",
    "function_call_output": "id call_id output status name namespace caller",
    "custom_tool_call": "id call_id name input status namespace caller async",
    "custom_tool_call_output": "id call_id output status caller",
    "computer_call": "id call_id action actions pending_safety_checks status",
    "computer_call_output": "id call_id output acknowledged_safety_checks status",
    "local_shell_call": "id call_id action status",
    "local_shell_call_output": "id call_id output status",
    "shell_call": "id call_id action environment status caller",
    "shell_call_output": "id call_id output max_output_length status caller",
    "apply_patch_call": "id call_id operation status caller",
    "apply_patch_call_output": "id call_id output status caller",
    "tool_search_call": "id call_id arguments execution status",
    "tool_search_output": "id call_id tools execution status",
    "reasoning": "id summary content encrypted_content status",
    "compaction": "id encrypted_content",
    "compaction_trigger": "id",
    "configuration_update": "id reasoning text",
    "item_reference": "id",
    "web_search_call": "id action status",
    "file_search_call": "id queries results status",
    "code_interpreter_call": "id code container_id outputs status",
    "image_generation_call": "id status result action background error output_format quality revised_prompt size svg_usage",
    "mcp_list_tools": "id server_label tools error",
    "mcp_approval_request": "id name arguments server_label",
    "mcp_approval_response": "id approval_request_id approve reason",
    "mcp_call": "id name arguments server_label approval_request_id error output status",
    "program": "id call_id code fingerprint",
    "program_output": "id call_id result status",
    "input_text": "text prompt_cache_breakpoint",
    "input_image": "detail file_id image_url prompt_cache_breakpoint",
    "input_file": "detail file_data file_id file_url filename prompt_cache_breakpoint",
    "input_audio": "input_audio",
    "output_text": "text annotations logprobs",
    "refusal": "refusal",
}
"""Keys of items and of parts of messages, beside `type`; `created_by` comes with items that the API gives out."""
_MESSAGES = {
    "user": "role content id status",
    "system": "role content id status",
    "developer": "role content id status tools",
    "assistant": "role content id status phase",
}


def _key(place: str, known: str, *roles: str) -> UnknownKey:
    return UnknownKey(
        place=place, roles=roles, known=("type", "created_by", *known.split()), says="Unknown parameter: '{path}'.",
        source="openai 3.51.0, types of input and output items; openai-python 2677, public captures of the API's texts",
        date="2026-11",
    )  # fmt: skip


_KEYS = (
    *(_key("message", known, role) for role, known in _MESSAGES.items()),
    *(_key(kind, known) for kind, known in _ITEMS.items()),
)


def _weights() -> tuple[Weight, ...]:
    """All of these are refused; the table says in which words."""
    says = {
        "unanswered-call": _NO_OUTPUT,
        "pending-call": _NO_OUTPUT,
        "orphan-result": _NO_CALL,
        "result-before-call": _NO_CALL,
        "duplicate-result": _TWO_OUTPUTS,
        "conflicting-results": _TWO_OUTPUTS,
        "missing-call-id": "Missing required parameter: '{path}'.",
        "missing-tool-name": "Missing required parameter: '{path}'.",
    }
    unparsed = Weight(
        rule="unreadable-arguments", mild="info", date="2026-11",
        source="a text that is never parsed: 78 calls of 66 recorded requests were accepted",
    )  # fmt: skip
    refused = (
        Weight(rule=rule, says=text, source="public reports, as in the list of known texts", date="2026-11")
        for rule, text in says.items()
    )
    return (*refused, unparsed)


PROFILES = (
    Profile(
        name="openai-responses",
        title="OpenAI Responses API",
        wires=("openai-responses",),
        hosts=(
            "api.openai.com",
            "chatgpt.com",
            "openai.azure.com",
            "cognitiveservices.azure.com",
            "services.ai.azure.com",
        ),
        models=r"^(gpt-[3-9]|chatgpt-|codex-|computer-use|o[134](-|$)|ft:(gpt-[3-9]|o[134]-))",
        capabilities=Capabilities(
            format="openai-responses",
            parallel_calls=True,
            parallel_switch="parallel_tool_calls",
            schema="JSON Schema",
            streaming="response.function_call_arguments.delta",
            quirks=(
                "an output may stand anywhere after its call",
                "an item without its own id is taken; with one, the reasoning that led to it must stand before it",
                "encrypted reasoning is bound to the organisation, the model and the deployment",
                "a call may be answered in a later request, by previous_response_id",
                "arguments are a text that is never parsed, those of custom tools free text",
            ),
        ),
        clauses=(*_IDS, *_FORMS, *_TURNS, *_KEYS),
        weights=_weights(),
        known=KNOWN,
    ),
)
