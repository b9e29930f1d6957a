"""Adapt the severity and text of findings about state and pairing to the providers of a run.

Some providers reject a fault that is only a warning elsewhere, and some do not check it.
"""

from msgspec import structs

from turnlint import wording
from turnlint.case import Case
from turnlint.model import SEVERITIES, Call, Finding, Result, Severity
from turnlint.profiles import Profile, Weight
from turnlint.providers import Chosen

_LISTS = frozenset({"messages", "contents", "input"})
"""Keys under which requests have their messages."""
_LISTED = frozenset({"unanswered-call", "pending-call", "misplaced-result"})
"""Rules whose texts list all open calls of a turn in `{ids}` (letta 3308, 2026-11)."""


def weigh(finding: Finding, case: Case, chosen: tuple[Chosen, ...]) -> Finding:
    """Return the finding with the highest severity among the providers, and the text of the first that has one."""
    transcript = case.transcript
    weights = [(one, _weight(finding, case, one.profile)) for one in chosen]
    severity: Severity | None = None
    said: tuple[Profile, str] | None = None
    for one, weight in weights:
        level = _severity(finding, one, weight)
        says = weight.says if weight else ""
        if severity is None or SEVERITIES.index(level) < SEVERITIES.index(severity):
            severity, said = level, None
        if level == severity and says and said is None:
            said = one.profile, says
    if severity is None or not any(weight for _, weight in weights):
        return finding
    if said is None:
        return structs.replace(finding, severity=severity)
    profile, says = said
    fields = _fields(finding, case, profile, wording.left_open(says))
    if transcript.is_log or transcript.wire.speaks not in profile.wires:
        fields = {name: value for name, value in fields.items() if name not in wording.PLACES}
    # A text without the id would be misleading.
    hollow = any(f"{{{name}}}" in says and not fields.get(name) for name in ("ids", "id", "name"))
    words = None if hollow else wording.told(says, fields)
    return structs.replace(finding, severity=severity, provider=profile.name, provider_error=words)


def _weight(finding: Finding, case: Case, profile: Profile) -> Weight | None:
    for one in profile.by_rule.get(finding.rule, ()):
        if (not one.wires or case.transcript.wire.speaks in one.wires) and _applies(one, finding, case):
            return one
    return None


def _applies(weight: Weight, finding: Finding, case: Case) -> bool:
    """Whether the condition of a weight holds for the position of a finding."""
    transcript = case.transcript
    if not _is_at(weight, finding) or (weight.role and weight.role != _role(finding, case)):
        return False
    if weight.when == "invoke-model":
        return _is_for_invoke_model(case)
    if weight.when == "absent":
        return finding.call_id is None
    index, messages = finding.message_index, transcript.messages
    if weight.when == "always" or index is None:
        return weight.when == "always"
    if weight.when == "no-results":
        index += 1
        while index < len(messages) and messages[index].role == "assistant":
            index += 1
        return index == len(messages) or not any(isinstance(one, Result) for one in messages[index].blocks)
    while index and messages[index].role != "assistant":
        index -= 1
    return sum(isinstance(block, Call) for block in messages[index].blocks) == 1


def _role(finding: Finding, case: Case) -> str:
    """Return the role of the message of a finding, as it is written."""
    index, request = finding.message_index, case.transcript.request
    if index is not None:
        return case.messages[index].written_role
    if request is None:
        return ""
    message = case.value_in(finding.where.record, finding.where.at[: len(request.at) + 2])
    role = message.get("role") if isinstance(message, dict) else None
    return role if isinstance(role, str) else ""


def _is_for_invoke_model(case: Case) -> bool:
    """Whether the body of a request is for Bedrock: `anthropic_version` then starts with `bedrock-`."""
    request = case.transcript.request
    version = case.value_in(request.record, (*request.at, "anthropic_version")) if request else None
    return isinstance(version, str) and version.startswith("bedrock-")


def _is_at(weight: Weight, finding: Finding) -> bool:
    """Whether a weight applies to the position of a finding, and to the value there."""
    if weight.found and weight.found != finding.kind:
        return False
    at = finding.where.at
    key = (
        "message" if at[-2:-1] and at[-2] in _LISTS else str(at[-1]) if at[-3:-2] and at[-3] in _LISTS else ""
    )
    return not weight.at or weight.at == key


def _severity(finding: Finding, chosen: Chosen, weight: Weight | None) -> Severity:
    """Return the severity for a provider.

    A rejection is an error unless the provider is a guess; otherwise only a milder severity applies.
    """
    severity = weight.severity if weight else None
    if weight is not None and weight.mild is not None and finding.severity == "warning":
        severity = weight.mild
    if severity is None:
        return finding.severity
    refused = severity == "error" and chosen.certain
    milder = SEVERITIES.index(severity) > SEVERITIES.index(finding.severity)
    return severity if refused or milder else finding.severity


def _fields(finding: Finding, case: Case, profile: Profile, wanted: tuple[str, ...]) -> dict[str, object]:
    index, transcript = finding.message_index, case.transcript
    if index is None:
        return _at_record(finding, case, profile)
    name = finding.call_id or ""
    fields: dict[str, object] = {"ids": name, "id": name, "name": finding.tool or "", "kind": finding.kind}
    first = next((one.message for one in finding.related if one.message is not None), "…")
    if finding.rule in _LISTED and "ids" in wanted:
        asking = first if finding.rule == "misplaced-result" else index
        fields["ids"] = case.open_ids.get(asking, name) if isinstance(asking, int) else name
    if fields.keys() >= {*wanted}:
        return fields
    message = transcript.messages[index]
    below = finding.where.at[len(message.at) :]
    place = wording.in_request(message, index, below, transcript.wire)
    number = place[1] if len(place) > 1 else index
    return fields | {
        "first": first, "behind": first + 1 if isinstance(first, int) else "…",
        "path": wording.path(place, profile.paths, finding.kind) if "path" in wanted else "", "index": number,
        "role": message.written_role, "next": int(number) + 1 if isinstance(number, int) else number,
        "block": next((part for part in below if isinstance(part, int)), 0),
        "after": transcript.messages[index - 1].written_role if index else "start",
    }  # fmt: skip


def _at_record(finding: Finding, case: Case, profile: Profile) -> dict[str, object]:
    """Return the fields for a finding at a position of a request whose message could not be read."""
    request = case.transcript.request
    place = finding.where.at[len(request.at) :] if request else ()
    if len(place) < 2 or not isinstance(place[1], int):
        return {}
    role = _role(finding, case) or "…"
    return {"path": wording.path(place, profile.paths), "index": place[1], "kind": finding.kind, "role": role}
