"""Define the keys beside a conversation's messages that wires have in common."""

from msgspec import Raw, Struct

from turnlint.carrying.raws import NOTHING
from turnlint.model import Pointer


class Envelope(Struct, gc=False, kw_only=True):
    """Keys of a record that belong to no message. All values stay raw: a proxy may record any kind."""

    body: Raw = NOTHING
    inputBodyJson: Raw = NOTHING
    outputBodyJson: Raw = NOTHING
    params: Raw = NOTHING
    request: Raw = NOTHING
    request_body: Raw = NOTHING
    content: Raw = NOTHING
    response: Raw = NOTHING
    response_body: Raw = NOTHING
    result: Raw = NOTHING
    input: Raw = NOTHING
    inputs: Raw = NOTHING
    output: Raw = NOTHING
    outputs: Raw = NOTHING
    message: Raw = NOTHING
    error: Raw = NOTHING
    model: Raw = NOTHING
    modelId: Raw = NOTHING
    host: Raw = NOTHING
    url: Raw = NOTHING
    base_url: Raw = NOTHING
    api_base: Raw = NOTHING
    endpoint: Raw = NOTHING
    tools: Raw = NOTHING
    functions: Raw = NOTHING
    tool_choice: Raw = NOTHING
    toolConfig: Raw = NOTHING
    thinking: Raw = NOTHING
    max_tokens: Raw = NOTHING
    max_completion_tokens: Raw = NOTHING
    max_output_tokens: Raw = NOTHING
    parallel_tool_calls: Raw = NOTHING
    response_format: Raw = NOTHING
    options: Raw = NOTHING
    seed: Raw = NOTHING
    random_seed: Raw = NOTHING
    top_p: Raw = NOTHING
    stop: Raw = NOTHING
    n: Raw = NOTHING
    include: Raw = NOTHING
    stream_options: Raw = NOTHING
    reasoning_effort: Raw = NOTHING
    temperature: Raw = NOTHING
    stream: Raw = NOTHING
    generationConfig: Raw = NOTHING
    inferenceConfig: Raw = NOTHING
    store: Raw = NOTHING
    previous_response_id: Raw = NOTHING
    role: Raw = NOTHING
    speaker: Raw = NOTHING
    type: Raw = NOTHING

    id: Raw = NOTHING
    custom_id: Raw = NOTHING
    key: Raw = NOTHING
    conversation_id: Raw = NOTHING
    conversationId: Raw = NOTHING
    conversation: Raw = NOTHING
    thread_id: Raw = NOTHING
    threadId: Raw = NOTHING
    session_id: Raw = NOTHING
    sessionId: Raw = NOTHING
    chat_id: Raw = NOTHING
    trace_id: Raw = NOTHING
    request_id: Raw = NOTHING
    requestId: Raw = NOTHING

    message_id: Raw = NOTHING
    uuid: Raw = NOTHING
    parent_id: Raw = NOTHING
    parentId: Raw = NOTHING
    parent_message_id: Raw = NOTHING
    parentUuid: Raw = NOTHING

    def thinking_place(self) -> Pointer:
        """Return the pointer of the setting for thinking in a request body."""
        return ("thinking",)
