"""The profile of the OpenAI Responses API, also at Azure, which runs the same validators.

Calls and outputs are items that are paired by `call_id`, at any position. Items also have item ids.
"""

from turnlint.api import (
    ITEM_PATTERNS,
    ITEM_PREFIXES,
    AnyClause,
    ArgumentsEncoding,
    Capabilities,
    ContentKey,
    ContentKind,
    EmptyRequest,
    IdForm,
    IdLength,
    IdUnique,
    ItemNotStored,
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
    accepted_format,
    accepted_switch,
    accepted_without_tools,
    source_of,
    source_of_quirks,
)
from turnlint_rules.profiles._responses_texts import KNOWN

_SPEC = "OpenAPI document of 2026-08; openai 3.51.0"
_ROLES = ("user", "assistant", "system", "developer")
_NO_INPUT = "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided."
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
_ALONE = "Item '{id}' of type 'reasoning' was provided without its required following item."
_O_MODELS = r"(?:^|[/:])o\d(?:-|$)"
_TWICE = "Duplicate item found with id {id}. Remove duplicate items from your input and try again."


def _prefix(kind: str, prefix: str) -> IdForm:
    # For types of items without a prefix, all recorded ids were created by the API.
    return IdForm(
        of="item", kinds=(kind,), doubtful="silent", pattern=ITEM_PATTERNS[kind], wants=f"`{prefix}` with letters, digits, `_` and `-`",
        says=f"Invalid '{{path}}': '{{id}}'. Expected an ID that begins with '{prefix}'.",
        source="nodetool 4252, langchainjs 11044 and many others; all 101 accepted ids of these items begin so. "
        "OpenRouter, DeepSeek and xAI took others 35 times (028e6fa5da056273)", date="2026-11",
    )  # fmt: skip


_IDS: tuple[AnyClause, ...] = (
    IdLength(most=64, says=_TOO_LONG, source=f"{_SPEC}; dsh-plugin 29, openclaw 137489", date="2026-08"),
    IdLength(most=64, of="item", says=_TOO_LONG, source=_SPEC, date="2026-08"),
    *(_prefix(kind, prefix) for kind, prefix in ITEM_PREFIXES.items()),
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
    ContentKind(
        role="assistant", text_type="output_text", date="2026-07",
        says="Invalid value: '{kind}'. Supported values are: 'output_text' and 'refusal'.",
        source="rust-genai 119, ai-dial-adapter-openai 511, litellm 17507, openhuman 3624; all accepted text parts have the type "
        "of their role",
    ),
    ContentKind(
        text_type="input_text", date="2026-08",
        says="Invalid value: '{kind}'. Supported values are: 'input_text', 'input_image', 'input_audio', 'output_text', 'refusal', "
        "'input_file', 'computer_screenshot', 'summary_text', and 'encrypted_content'.",
        source="PraisonAI 3934; recorded 9b901f3ad33001a9 for another type; all accepted text parts have the type of their role",
    ),
    RoleOrder(
        roles=(*_ROLES, ""), source="openai-python 2677 and many others", date="2026-11",
        says="Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
    ),
    LastMessage(open_calls=True, says=_NO_OUTPUT, source="openai-agents and codex reports", date="2026-11"),
    ContentKey(
        what="summary", says="Missing required parameter: 'input[{index}].summary'.", date="2026-09",
        source="WaLiAPI 61; Agora 141 of another host; OpenAPI document; all 3,600 accepted reasoning items have it",
    ),
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
    ResultContent(
        sources=("input_file:audio",), severity="warning", date="2026-02",
        says="Invalid file data: '{place}.output[{count}].file_data'. Expected a base64-encoded data URL with a valid file MIME "
        "type (e.g. 'data:text/plain;base64,SGVsbG8sIFdvcmxkIQ=='), but got unsupported MIME type '{kind}'. Please see "
        "https://platform.openai.com/docs/assistants/tools/file-search#supported-files for supported file types.",
        source="recorded cc9635357041067f, 51fe8afa7c914e93; PDF was accepted 5 times",
    ),
    ReasoningUnpaired(
        what="alone", date="2026-11", other_models=_O_MODELS, says=_ALONE,
        source="recorded 24a30041973d6edf, 081354e4a4f7384c, 025e9774b59cd42e: the next item has no id; about 3,400 "
        "accepted items of GPT-5 and later have one behind them",
    ),
    ReasoningUnpaired(
        what="alone", date="2026-11", models=_O_MODELS, severity="warning", says=_ALONE,
        source="openai-node 1567; accepted in 831fdd19a84c3d21, 6ec3fe57592a2748, bf93d4c637f7de0c",
    ),
    ReasoningUnpaired(
        what="call-alone", date="2026-11", models=rf"{_O_MODELS}|gpt-([5-9]|\d\d)", severity="warning",
        says="Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: 'rs_…'.",
        source="mastra 8738 and 10713, agency-swarm 367, laravel/ai 1052; 64 accepted requests have no reasoning at all",
    ),
    ItemNotStored(
        kinds=("reasoning", "item_reference"), date="2026-11",
        says="Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` "
        "set to true, or remove this item from your input.",
        source="public reports; no accepted request with `store: false` has one, 56 have encrypted reasoning",
    ),
    EmptyRequest(
        what="absent", says=_NO_INPUT, date="2026-11",
        source="quoted in public repositories; no accepted request is without input, prompt and earlier response",
    ),
    EmptyRequest(
        what="empty", says=_NO_INPUT, date="2026-11", source="quoted in public repositories, for requests of the Codex CLI "
        "with system messages only; no accepted request has an empty list",
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
"""Keys of items and of parts of messages, without `type`; items from the API also have `created_by`."""
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
    """Return the weights of rules about pairs, ids and names, with the error texts of the API."""
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


def _profile(version: str, about: str, models: str, unique: IdUnique) -> Profile:
    return Profile(
        name="openai-responses",
        origin="openai",
        version=version,
        about=about,
        title="OpenAI Responses API",
        wires=("openai-responses",),
        hosts=(
            "api.openai.com",
            "chatgpt.com",
            "openai.azure.com",
            "cognitiveservices.azure.com",
            "services.ai.azure.com",
        ),
        models=models,
        capabilities=Capabilities(
            format="openai-responses",
            parallel_calls=True,
            parallel_switch="parallel_tool_calls",
            schema="JSON Schema",
            requires_schema=False,
            streaming="response.function_call_arguments.delta",
            quirks=(
                "an output may be anywhere after its call",
                "an item without an item id is accepted; an item with one needs its reasoning item before it",
                "encrypted reasoning is valid for one organization, model and deployment",
                "the output of a call may be in a later request with previous_response_id",
                "arguments are a string that is not parsed; those of custom tools are free text",
            ),
            sources=(
                accepted_format(2467),
                source_of(
                    "parallel_calls", "schema", "streaming", source="openai-openapi f85dbe2", date="2026-08"
                ),
                accepted_switch(9, "38e33884e4e0af65"),
                accepted_without_tools(15, "a80d1bb2b35b36fb"),
                source_of_quirks(),
            ),
        ),
        clauses=(*_IDS, unique, *_FORMS, *_TURNS, *_KEYS),
        weights=_weights(),
        known=KNOWN,
    )


PROFILES = (
    _profile(
        "",
        "",
        r"^(gpt-[3-9]|chatgpt-|codex-|computer-use|o[134](-|$)|ft:(gpt-[3-9]|o[134]-))",
        IdUnique(
            of="item",
            over="request",
            says=_TWICE,
            date="2026-06",
            source="vercel/ai 13307, MacPaw/OpenAI 432; pi 5147 to 5165 and vscode 321977: also with `store: false`, since "
            "about 2026-05-28",
        ),
    ),
    _profile(
        "2026-05",
        "before 2026-05-28: with `store: false`, an item id may be repeated",
        "",
        IdUnique(
            of="item",
            over="request",
            says=_TWICE,
            date="2026-05",
            severity="warning",
            source="accepted with `store: false` until 2026-05-06, such as a2d9a66d4b14fdd3",
        ),
    ),
)
