"""Write conversations in the canonical form, for the tests of the form and of its ids."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from turnlint import notation
from turnlint.canonical_form import Form, Refusal, write_forms
from turnlint.cli.fix import command
from turnlint.documents.source import Source
from turnlint.model import Transcript

ROOT = Path(__file__).parent.parent
CONVERSATION = """
user       What is the weather in Paris and in Lyon?
assistant  I look.
  call     call_a1 get_weather {"city": "Paris", "days": 2}
  call     call_b2 get_weather {"city": "Lyon"}
result     call_a1 18 degrees
result     call_b2 20 degrees
assistant  It is warm.
user       And the time?
assistant
  call     call_c3 get_time {"zone": "CET"}
result     call_c3 noon
assistant  It is noon.
"""


def forms(data: bytes, format_name: str | None = None, origin: str | None = None) -> list[Form | Refusal]:
    def prepare(transcript: Transcript) -> Transcript:
        return with_origin(transcript, origin)

    return [*write_forms(Source("log.jsonl", None, data=data), format_name, prepare)]


def with_origin(transcript: Transcript, origin: str | None) -> Transcript:
    from msgspec import structs

    return structs.replace(transcript, origin=origin)


def form_of(*records: Any, origin: str | None = None) -> dict[str, Any]:
    (form,) = forms(b"\n".join(json.dumps(one).encode() for one in records), origin=origin)
    assert isinstance(form, Form), form
    found: dict[str, Any] = json.loads(form.data)
    return found


def blocks(form: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [one for content in form["history"] for one in content["blocks"] if one["type"] == kind]


def ids(form: dict[str, Any]) -> list[str]:
    return [one["id"] for one in blocks(form, "tool_call")]


def run(*arguments: str, data: bytes | None = None) -> Any:
    return CliRunner().invoke(command, arguments, input=data)


def records_of(text: str, format_name: str) -> list[Any]:
    return [json.loads(line) for line in notation.write(text, format_name).data.splitlines()]


def chat(**more: Any) -> dict[str, Any]:
    return {**records_of(CONVERSATION, "openai-chat")[0], **more}
