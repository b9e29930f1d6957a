"""Issue 17, spec 003 §7: arguments in XML are named as such, and repaired into JSON with the raw text in the journal."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import run_cli
from turnlint.parsers import parse

TYPES = {
    "type": "object",
    "properties": {
        "upto": {"type": "integer"}, "step": {"type": "number"}, "loud": {"type": "boolean"}, "word": {"type": "string"},
        "names": {"type": "array", "items": {"type": "string"}}, "raw": {},
        "range": {"type": "object", "properties": {"low": {"type": "integer"}}},
    },
}  # fmt: skip
UNTYPED: dict[str, Any] = {
    "<a>1</a>": {"a": "1"},
    "<a>1</a><b/>": {"a": "1", "b": ""},
    "<a> 1 </a>\n<b>x\ny</b>\n": {"a": " 1 ", "b": "x\ny"},
    "<args><a>1</a></args>": {"a": "1"},
    "<parameters>\n<a>1</a>\n</parameters>": {"a": "1"},
    "<input>1</input>": {"input": "1"},
    "<params/>": {},
    "<args a=\"1\" b='x y'/>": {"a": "1", "b": "x y"},
    '<parameter name="a">1</parameter><parameter name="b">2</parameter>': {"a": "1", "b": "2"},
    "<parameter=a>\n1\n</parameter>": {"a": "1"},
    "<arg_key>a</arg_key>\n<arg_value>1</arg_value>": {"a": "1"},
    "<a>x &lt; y &#38; &#x7a;</a>": {"a": "x < y & z"},
    "<a>x && y</a>": {"a": "x && y"},
    "<a><![CDATA[<b>]]></a>": {"a": "<b>"},
    "<?xml version='1.0'?><a>1</a>": {"a": "1"},
}
TYPED: dict[str, Any] = {
    "<upto>3</upto>": {"upto": 3},
    "<upto> 3 </upto>": {"upto": 3},
    "<step>1.50</step><loud>true</loud>": {"step": 1.5, "loud": True},
    "<word>3</word>": {"word": "3"},
    "<raw>3</raw>": {"raw": "3"},
    "<names>a</names><names>b</names>": {"names": ["a", "b"]},
    "<names><item>a</item><item>b</item></names>": {"names": ["a", "b"]},
    '<names>["a"]</names>': {"names": ["a"]},
    "<range><low>1</low></range>": {"range": {"low": 1}},
    "<args><upto>3</upto></args>": {"upto": 3},
}
UNCLEAR = {
    "<a>1</a><a>2</a>": "the element `a` occurs more than once",
    "<a>1<b/></a>": "the element `a` has elements and words",
    "<a><b>1</b></a>": "the element `a` has elements, and its argument is not declared as an object",
    '<a n="1">2</a>': "the element `a` has attributes",
    "<a>&lt; && x</a>": "`&` is written both as an entity and as a plain character",
}
UNCLEAR_TYPED = {
    "<upto>three</upto>": "the value of `upto` has not the declared type",
    "<upto>1.0</upto>": "the value of `upto` has not the declared type",
    "<step>0.10000000000000000001</step>": "the value of `step` has not the declared type",
    "<step>NaN</step>": "the value of `step` has not the declared type",
    "<html><body/></html>": "no argument `html` is declared",
}
NO_XML = ("<a>1", "1</a>", "<a>1</b>", "x <a>1</a>", "<a>1</a> x", "<a>x < y</a>", "<!DOCTYPE a><a>1</a>", "<>", "< >", "",
          "<a b='1' b='2'/>", "<a>&#0;</a>", "<a>" * 99 + "</a>" * 99)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "types", "value"),
    [
        *((text, None, value) for text, value in UNTYPED.items()),
        *((text, TYPES, value) for text, value in TYPED.items()),
    ],
)
def test_arguments_in_xml_are_read(text: str, types: Any, value: Any) -> None:
    parsed = parse(text, types)
    assert parsed is not None
    assert (parsed.parser.title, parsed.value, parsed.reason) == ("XML", value, "")
    assert json.dumps(parsed.value) == json.dumps(value)


@pytest.mark.parametrize(
    ("text", "types", "reason"),
    [
        *((text, None, one) for text, one in UNCLEAR.items()),
        *((text, TYPES, one) for text, one in UNCLEAR_TYPED.items()),
    ],
)
def test_xml_with_several_readings_is_named_and_not_guessed(text: str, types: Any, reason: str) -> None:
    parsed = parse(text, types)
    assert parsed is not None
    assert (parsed.value, parsed.reason) == (None, reason)


@pytest.mark.parametrize("text", NO_XML)
def test_other_texts_are_no_xml(text: str) -> None:
    assert parse(text) is None


@given(st.text(st.sampled_from("<>/=&;!?[]ab '\"\n1#x-"), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    parsed = parse(text, TYPES)
    assert parsed is None or (parsed.value is None) == bool(parsed.reason)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True), st.text(max_size=20), min_size=1, max_size=4
    )
)
def test_texts_in_elements_are_kept_to_the_character(arguments: dict[str, str]) -> None:
    escaped = {name: value.replace("&", "&amp;").replace("<", "&lt;") for name, value in arguments.items()}
    parsed = parse("".join(f"<{name}>{value}</{name}>" for name, value in escaped.items()))
    wrapped = len(arguments) == 1 and next(iter(arguments)) in (
        "args",
        "input",
        "params",
        "arguments",
        "parameters",
    )
    assert parsed is not None
    assert parsed.value == arguments or (wrapped and parsed.value == {})


@pytest.mark.parametrize(
    "piece", ["<a>", "<a ", "<", "<a b='1' ", "&", "<![CDATA[", "<a>1</a>", "<a\n=", "]]>"]
)
def test_hostile_xml_takes_linear_time(piece: str) -> None:
    text = "<x>" + piece * (900_000 // len(piece)) + "</x>"
    start = time.process_time()
    parse(text)
    assert time.process_time() - start < 3


USER, DONE = {"role": "user", "content": "Count."}, {"role": "assistant", "content": "Done."}


def chat(arguments: Any, **more: Any) -> Any:
    call = {"id": "c1", "type": "function", "function": {"name": "count", "arguments": arguments}}
    result = {"role": "tool", "tool_call_id": "c1", "content": "3"}
    return {
        "messages": [USER, {"role": "assistant", "content": None, "tool_calls": [call]}, result, DONE],
        **more,
    }


def anthropic(arguments: Any, **more: Any) -> Any:
    call = {"type": "tool_use", "id": "toolu_1", "name": "count", "input": arguments}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "3"}]}
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9}
    return {**body, "messages": [USER, {"role": "assistant", "content": [call]}, result, DONE], **more}


def gemini(arguments: Any, **more: Any) -> Any:
    turns = (("user", {"text": "Count."}), ("model", {"functionCall": {"name": "count", "args": arguments}}),
             ("user", {"functionResponse": {"name": "count", "response": {"n": 3}}}), ("model", {"text": "Done."}))  # fmt: skip
    return {"contents": [{"role": role, "parts": [part]} for role, part in turns], **more}


def bedrock(arguments: Any, **more: Any) -> Any:
    call = {"toolUse": {"toolUseId": "t1", "name": "count", "input": arguments}}
    result = {"toolResult": {"toolUseId": "t1", "content": [{"text": "3"}]}}
    turns = (
        ("user", {"text": "Count."}),
        ("assistant", call),
        ("user", result),
        ("assistant", {"text": "Done."}),
        ("user", {"text": "And?"}),
    )
    return {"messages": [{"role": role, "content": [block]} for role, block in turns], **more}


DECLARED = {
    "chat": {"tools": [{"type": "function", "function": {"name": "count", "parameters": TYPES}}]},
    "anthropic": {"tools": [{"name": "count", "input_schema": TYPES}]},
    "gemini": {"tools": [{"functionDeclarations": [{"name": "count", "parameters": TYPES}]}]},
    "bedrock": {"toolConfig": {"tools": [{"toolSpec": {"name": "count", "inputSchema": {"json": TYPES}}}]}},
}
FORMATS = {"chat": "openai-chat"}
WIRES = {"chat": chat, "anthropic": anthropic, "gemini": gemini, "bedrock": bedrock}


@pytest.mark.parametrize("is_typed", [False, True], ids=["untyped", "typed"])
@pytest.mark.parametrize("name", WIRES)
def test_fix_writes_xml_as_json_and_keeps_the_raw_text_in_the_journal(
    tmp_path: Path, name: str, *, is_typed: bool
) -> None:
    more = DECLARED[name] if is_typed else {}
    (log := tmp_path / "log.json").write_text(before := json.dumps(WIRES[name]("<upto>3</upto>", **more)))
    form = ("--format", FORMATS.get(name, name))
    linted = run_cli("lint", "log.json", *form, "--output-format", "jsonl", cwd=tmp_path, text=True)
    (row,) = (json.loads(line) for line in linted.stdout.splitlines() if '"ST106"' in line)
    texts = "" if is_typed else ", with texts as values"
    assert row["message"].endswith(" to `count` are XML, not JSON")
    assert (row["fix"]["level"], row["fix"]["title"]) == (
        "lossless",
        f"write the XML as a JSON object{texts}",
    )

    fixed = run_cli(
        "fix", "log.json", *form, "--level", "lossless", "--journal", "kept.json", cwd=tmp_path, text=True
    )
    assert fixed.returncode == 0, fixed.stdout + fixed.stderr
    value = {"upto": 3 if is_typed else "3"}
    assert json.loads(log.read_text()) == WIRES[name](json.dumps(value) if name == "chat" else value, **more)
    (edit,) = json.loads((tmp_path / "kept.json").read_text())["edits"]
    assert "<upto>3</upto>" in edit["text"]
    assert run_cli("undo", "log.json", "--journal", "kept.json", cwd=tmp_path).returncode == 0
    assert log.read_text() == before


def test_xml_with_several_readings_is_kept_as_raw(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps(chat("<a>1</a><a>2</a>")))
    linted = run_cli("lint", "log.json", "--output-format", "concise", cwd=tmp_path, text=True).stdout
    assert "are XML, not JSON: the element `a` occurs more than once" in linted
    assert run_cli("fix", "log.json", "--no-journal", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "log.json").read_text()) == chat('{"raw": "<a>1</a><a>2</a>"}')


def test_xml_inside_a_json_text_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps(chat(json.dumps("<a>1</a>"))))
    assert run_cli("fix", "log.json", "--no-journal", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "log.json").read_text()) == chat('{"a": "1"}')


def test_two_tools_of_one_name_declare_no_types(tmp_path: Path) -> None:
    tools = [
        *DECLARED["chat"]["tools"],
        {"type": "function", "function": {"name": "count", "parameters": {}}},
    ]
    (tmp_path / "log.json").write_text(json.dumps(chat("<upto>3</upto>", tools=tools)))
    assert run_cli("fix", "log.json", "--no-journal", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "log.json").read_text()) == chat('{"upto": "3"}', tools=tools)
