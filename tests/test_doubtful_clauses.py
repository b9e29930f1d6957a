"""A clause that providers often did not enforce is reported only where it is certain or the user names the provider.

Records with such a trait are counted in the summary.
"""

import json

import pytest

from test_provider_facts import GO_ON, HI, Json, gemini, items, turn_of
from turnlint.events import Tally
from turnlint.judging import Options
from turnlint.testing import events_of, rows_of

ENDS = gemini(HI, turn_of("model", {"text": "x"}))
ODD_ID = items(
    {
        "type": "message",
        "id": "item_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "yes"}],
    }
)


def without_model(record: Json) -> Json:
    return {key: value for key, value in record.items() if key != "model"}


ROWS: list[tuple[str, str, Json, dict[str, str]]] = [
    ("gemini", "auto", without_model(ENDS), {}),
    ("gemini", "gemini", without_model(ENDS), {"PR311": "warning"}),
    ("gemini", "vertex", without_model(ENDS), {"PR311": "warning"}),
    ("gemini", "auto", {**ENDS, "model": "gemini-3.6-flash"}, {"PR311": "warning"}),
    ("gemini", "auto", ENDS, {}),
    ("openai-responses", "auto", ODD_ID, {"PR303": "error"}),
    ("openai-responses", "auto", without_model(ODD_ID), {"PR303": "error"}),
    ("openai-responses", "auto", {**ODD_ID, "model": "google/gemini-2.5-flash-lite"}, {}),
    ("openai-responses", "auto", {**ODD_ID, "model": "some-deployment"}, {}),
    ("openai-responses", "openai-responses", {**ODD_ID, "model": "some-deployment"}, {"PR303": "error"}),
]


@pytest.mark.parametrize(("wire", "provider", "record", "expected"), ROWS)
def test_a_doubtful_clause_waits_for_its_provider(
    wire: str, provider: str, record: Json, expected: dict[str, str]
) -> None:
    rows = rows_of(json.dumps(record).encode(), wire, provider)
    assert {row.finding.code: row.finding.severity for row in rows} == expected


COUNTED: list[tuple[str, Json, dict[str, int]]] = [
    ("auto", without_model(ENDS), {"model-last": 1}),
    ("auto", ENDS, {}),
    ("auto", without_model(gemini(HI, turn_of("model", {"text": "x"}), GO_ON)), {}),
    ("auto", without_model(gemini(HI, turn_of("model", {"functionCall": {"name": "f", "args": {}}}))), {}),
    ("gemini", without_model(ENDS), {}),
]


@pytest.mark.parametrize(("provider", "record", "noted"), COUNTED)
def test_a_request_that_ends_with_the_model_is_counted(
    provider: str, record: Json, noted: dict[str, int], tmp_path: object
) -> None:
    path = f"{tmp_path}/log.jsonl"
    with open(path, "wb") as file:
        file.write(json.dumps(record).encode())
    events = events_of(path, "log.jsonl", Options(format="gemini", providers=(provider,)))
    (tally,) = (event for event in events if isinstance(event, Tally))
    assert tally.noted == noted
