"""Assign findings about records to conversations: to the message at their place, or else to the request."""

from msgspec import structs

from turnlint.model import Finding, Message, Transcript


def within(transcript: Transcript, heard: dict[int, list[Finding]]) -> list[Finding]:
    """Return the findings in the records of a conversation that are inside it, and remove them from `heard`."""
    found: list[Finding] = []
    messages: dict[int, list[tuple[int, Message]]] = {}
    for number, message in enumerate(transcript.messages):
        if message.record.offset in heard:
            messages.setdefault(message.record.offset, []).append((number, message))
    request = transcript.request
    if request is not None and request.record.offset in heard:
        messages.setdefault(request.record.offset, [])
    for offset, some in messages.items():
        left: list[Finding] = []
        for finding in heard[offset]:
            at = finding.where.at
            here = [one for one in some if at[: len(one[1].at)] == one[1].at]
            deepest = max(here, key=lambda one: len(one[1].at), default=None)
            index = deepest[0] if deepest else None
            below = (
                request is not None
                and request.record.offset == offset
                and at[: len(request.at)] == request.at
            )
            if index is None and not below:
                left.append(finding)
                continue
            found.append(structs.replace(
                finding, conversation=transcript.id, conversation_index=transcript.index, message_index=index,
            ))  # fmt: skip
        if left:
            heard[offset] = left
        else:
            del heard[offset]
    return found
