"""The server survives any document and any message, and shows no hidden or control characters."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from editor import Editor, Message
from hostile import WIRES, hidden_in
from settings import put
from test_privacy import CONTENT, KEY, _with_faults_in_content
from turnlint.lsp import desk, looking

ROOT = Path(__file__).parent.parent
HOSTILE = sorted(
    path for path in (ROOT / "fixtures" / "hostile").iterdir() if path.suffix in {".json", ".jsonl"}
)
ORPHAN = '{"messages": [{"role": "tool", "tool_call_id": "c1", "content": "18 °C"}]}\n'
MILLION = 1_000_000
DOCUMENTS = {
    "a million brackets": "[" * MILLION,
    "200,000 brackets, closed": "[" * 200_000 + "]" * 200_000,
    "deep objects": '{"a":' * 100_000,
    "a deep message": '{"messages": [{"role": "user", "content": ' + "[" * 100_000 + "]" * 100_000 + "}]}\n",
    "a million quotes": '"' * MILLION,
    "backslashes": '{"messages": "' + "\\" * MILLION,
    "nothing but NUL": "\0" * MILLION,
    "binary": "".join(chr(number % 256) for number in range(MILLION)),
    "carriage returns": "\r" * MILLION,
    "a key, often": "{" + ",".join(['"k": 1'] * 50_000) + "}\n",
    "lone surrogates": '{"messages": [{"role": "\ud800tool", "tool_call_id": "c\udfff1", "content": "\ud800"}]}\n',
    "half a pair": "\udc00" * 1000,
    "marks of order": "\ufeff" * 1000 + ORPHAN,
    "separators": ORPHAN.replace("18", "\u2028\u2029\x85\x0b\x0c" * 1000),
}


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    folder = tmp_path_factory.mktemp("project")
    put(folder, **{"turnlint.yaml": "level: lossy\n"})
    with Editor(folder) as editor:
        yield editor


def works(editor: Editor) -> bool:
    """Whether the server still publishes diagnostics."""
    shown = editor.open("sound.jsonl", ORPHAN)
    editor.close_document("sound.jsonl")
    return [item["code"] for item in shown] == ["PA202"]


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("before", ["", ORPHAN], ids=["alone", "behind a conversation"])
def test_no_document_crashes_the_server(editor: Editor, name: str, before: str) -> None:
    text = before + DOCUMENTS[name]
    shown = editor.open("a.jsonl", text)
    if before:
        assert "PA202" in [item["code"] for item in shown]
    for entry in shown[:20]:
        if entry["code"] == "format":  # the name of an unsupported format, which no rule explains
            continue
        start = entry["range"]["start"]
        assert editor.hover("a.jsonl", start["line"], start["character"])["contents"]["value"]
    for action in editor.actions("a.jsonl"):
        editor.applied("a.jsonl", action)
    editor.change("a.jsonl", {"range": {"start": {"line": 0, "character": 1}, "end": {"line": 0, "character": 3}}, "text": "\ud800"})  # fmt: skip
    editor.close_document("a.jsonl")
    assert not [item for item in editor.said if "internal" in item]
    editor.said.clear()
    assert works(editor)


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.name)
def test_hostile_text_is_shown_escaped(editor: Editor, path: Path) -> None:
    text = path.read_bytes().decode(errors="replace")
    shown = editor.open("a.jsonl", text)
    for item in shown:
        related = [about["message"] for about in item.get("relatedInformation", ())]
        start = item["range"]["start"]
        shown_there = editor.hover("a.jsonl", start["line"], start["character"])
        assert shown_there or item["code"] == "format"
        hover = shown_there["contents"]["value"] if shown_there else ""
        actions = editor.actions("a.jsonl", item["range"])
        titles = [action["title"] for action in actions]
        for words in (item["message"], item["code"], hover, *related, *titles):
            assert hidden_in(words) <= {"\n"}, words
            assert "##[" not in words
    editor.close_document("a.jsonl")
    editor.said.clear()


def test_half_a_character_is_not_written_back(editor: Editor) -> None:
    """It would be written as another character."""
    text = ORPHAN + '{"messages": [{"role": "user", "content": "\ud800"}]}\n'
    assert editor.open("half.jsonl", text)
    assert editor.repaired("half.jsonl") == text
    assert "unchanged: it contains half of a surrogate pair" in editor.said.pop()


def test_no_content_is_shown(editor: Editor) -> None:
    for wire in WIRES:
        put(editor.folder, **{"turnlint.yaml": f"format: {wire}\nlevel: lossy\n"})
        name = f"{wire}.jsonl"
        text = b"\n".join(_with_faults_in_content(wire)).decode(errors="replace")
        shown = editor.open(name, text)
        assert len({item["code"] for item in shown}) >= 10, wire
        lines = {item["range"]["start"]["line"]: item["range"]["start"]["character"] for item in shown}
        words = [json.dumps(shown), *(json.dumps(editor.hover(name, *place)) for place in lines.items())]
        words += [action["title"] for action in editor.actions(name)]
        for secret in (CONTENT, KEY):
            assert not [word for word in words if secret in word], wire
        editor.close_document(name)
    put(editor.folder, **{"turnlint.yaml": "level: lossy\n"})
    editor.save("none.jsonl")


def test_a_document_that_is_too_long_is_reported_once(editor: Editor) -> None:
    long = ORPHAN + " " * desk.MOST
    assert editor.open("long.jsonl", long) == []
    assert editor.change("long.jsonl", {"text": long + "\n"}) == []
    assert editor.actions("long.jsonl") == []
    assert editor.hover("long.jsonl", 0, 50) is None
    (sentence,) = editor.said
    assert sentence.endswith(
        "long.jsonl is larger than 16,777,216 bytes and is not checked in the editor; use `turnlint lint`"
    )
    editor.said.clear()
    assert len(editor.change("long.jsonl", {"text": ORPHAN})) == 1


@pytest.mark.slow
def test_the_most_severe_of_many_findings_are_shown(editor: Editor) -> None:
    mild = '{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hi"}, {"role": "assistant"}]}\n'
    shown = editor.open("many.jsonl", mild * 10 + ORPHAN * (looking.MOST + 5))
    assert [item["code"] for item in shown].count("PA202") == looking.MOST
    last = shown[-1]
    assert last["code"] == "more"
    assert last["severity"] == 3
    left = int(last["message"].split()[0])
    assert left >= 5
    assert editor.repaired("many.jsonl").count('"messages": []') == looking.MOST + 5
    shown = editor.change("many.jsonl", {"text": ORPHAN * looking.MOST_READ})
    assert len(shown) == looking.MOST + 1
    assert shown[-1]["message"].startswith("too many findings")
    assert editor.actions("many.jsonl") == []


BAD_MESSAGES = {
    "no JSON": b"{",
    "no UTF-8": b'{"jsonrpc": "2.0", "method": "\xff"}',
    "no object": b"[1, 2]",
    "null": b"null",
    "deep": b"[" * 100_000,
    "no version": b'{"id": 1}',
    "another version": b'{"jsonrpc": "1.0", "id": 1, "method": "shutdown"}',
    "no method": b'{"jsonrpc": "2.0"}',
    "a document that is none": b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": 1}}',
    "a text that is none": b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": '
    b'{"uri": "file:///a", "languageId": "x", "version": 1, "text": null}}}',
    "an answer to nothing": b'{"jsonrpc": "2.0", "id": 99, "result": {}}',
    "an error to nothing": b'{"jsonrpc": "2.0", "id": 98, "error": {"code": 1, "message": "x"}}',
    "a call of nothing": b'{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 12345}}',
}


@pytest.mark.parametrize("name", BAD_MESSAGES)
def test_no_message_crashes_the_server(editor: Editor, name: str) -> None:
    editor.send(BAD_MESSAGES[name])
    assert works(editor)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/hover", {"textDocument": {"uri": "file:///nowhere"}, "position": {"line": 0, "character": 0}}),
        ("textDocument/hover", {}),
        ("textDocument/hover", {"textDocument": {"uri": "file:///nowhere"}, "position": {"line": -1, "character": "x"}}),
        ("codeAction/resolve", {"title": "x"}),
        ("codeAction/resolve", {"title": "x", "data": {"uri": 1}}),
        ("codeAction/resolve", {"title": "x", "data": {"uri": "file:///nowhere", "rule": "PA201"}}),
        ("workspace/executeCommand", {"command": "rm"}),
        ("textDocument/completion", {"textDocument": {"uri": "file:///a"}, "position": {"line": 0, "character": 0}}),
        ("no/such/method", {}),
        ("initialize", {"capabilities": 1}),
    ],
)  # fmt: skip
def test_no_request_crashes_the_server(editor: Editor, method: str, params: Message) -> None:
    editor.ask(method, **params)
    assert works(editor)


@pytest.mark.parametrize("uri", ["file:///a%00b.jsonl", "file://", "", "::", "http://x/a.jsonl", "untitled:a\u202eb",
                                 "file:///" + "a" * 5000, "file:///%ff.jsonl", "vscode-notebook-cell:/a.ipynb#1"])  # fmt: skip
def test_no_address_crashes_the_server(editor: Editor, uri: str) -> None:
    params = {"uri": uri, "languageId": "jsonl", "version": 7, "text": ORPHAN}
    editor.notify("textDocument/didOpen", textDocument=params)
    editor.notify(
        "textDocument/didChange",
        textDocument={"uri": uri, "version": 8},
        contentChanges=[{"text": ORPHAN * 2}],
    )
    editor.notify("textDocument/didSave", textDocument={"uri": uri})
    editor.notify("textDocument/didClose", textDocument={"uri": uri})
    assert works(editor)
    assert not any(hidden_in(item) - {"\n"} for item in editor.said)
    editor.said.clear()


def test_messages_about_unopened_documents_are_ignored(editor: Editor) -> None:
    uri = editor.uri("closed.jsonl")
    editor.notify(
        "textDocument/didChange", textDocument={"uri": uri, "version": 2}, contentChanges=[{"text": ORPHAN}]
    )
    editor.notify("textDocument/didSave", textDocument={"uri": uri})
    editor.notify("textDocument/didClose", textDocument={"uri": uri})
    assert editor.actions("closed.jsonl") == []
    assert works(editor)


FAILING = """
from turnlint.lsp import desk, words
def fail(*_, **__):
    raise ValueError("hunter2")
desk.{name} = words.{name} = fail
from turnlint.cli import main
main()
"""


@pytest.mark.parametrize("name", ["look", "mend", "explained"])
def test_an_internal_error_is_reported_without_details(tmp_path: Path, name: str) -> None:
    put(tmp_path, **{"turnlint.yaml": "level: lossy\n"})
    with Editor(tmp_path, program=FAILING.format(name=name)) as editor:
        editor.open("a.jsonl", ORPHAN)
        for action in editor.actions("a.jsonl", only=["source"]):
            assert editor.applied("a.jsonl", action) == (ORPHAN if name == "mend" else '{"messages": []}\n')
        start = ORPHAN.index('"c1"')
        params = {"textDocument": {"uri": editor.uri("a.jsonl")}, "position": {"line": 0, "character": start}}
        answer = editor.answer(editor.ask("textDocument/hover", **params))
        text = answer.get("error", {}).get("message", "") + "".join(editor.said)
        assert "internal error: ValueError" in text
        assert "hunter2" not in json.dumps([answer, editor.said, editor.shown])
        assert "raceback" not in json.dumps(answer)
    assert editor.errors == b""


def test_a_rule_that_fails_or_prints_is_reported(tmp_path: Path) -> None:
    """Its output must not reach the editor, and its message may quote a transcript."""
    for name, text in {
        "loud/__init__.py": "",
        "loud/rule.py": (
            "from turnlint.api import Rule\n"
            'RULE = Rule("XX901", "loud", "error", "state")\n'
            "def check(case):\n"
            "    print('Content-Length: 3')\n"
            "    raise ValueError('hunter2')\n"
            "    yield\n"
        ),
        "loud-1.dist-info/entry_points.txt": "[turnlint.rules]\nloud = loud\n",
        "loud-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: loud\nVersion: 1\n",
    }.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with Editor(tmp_path, PYTHONPATH=str(tmp_path / "site")) as editor:
        shown = editor.open("a.jsonl", ORPHAN)
    assert [(item["code"], item["message"]) for item in shown if item["code"] == "crash"] == [
        ("crash", "rule loud crashed: ValueError")
    ]
    assert "PA202" in [item["code"] for item in shown]
    assert b"Content-Length: 3" in editor.errors
