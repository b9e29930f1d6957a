"""An editor that communicates with a language server.

Starts `turnlint lsp`, sends the messages of an editor, keeps the published diagnostics, and applies edits as the
protocol defines them, in UTF-16 code units. It shares no code with the server.
"""

import json
import os
import queue
import re
import subprocess
import sys
import threading
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Self

MAX_WAIT_SECONDS = 60
"""Seconds without output after which a server is taken to hang."""
HIDDEN_PREFIXES = ("CI", "GITHUB", "NO_COLOR", "TURNLINT")
ROOT = Path(__file__).parent.parent
ORPHAN = '{"messages": [{"role": "tool", "tool_call_id": "c1", "content": "18 °C"}]}\n'
SOUND = '{"messages": [{"role": "user", "content": "hi"}]}\n'
LATE_RESULT = (ROOT / "fixtures/rules/misplaced-result/slow-tool-answers-a-turn-late.jsonl").read_text(
    encoding="utf-8"
)
MODERN = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "codeDescriptionSupport": True, "versionSupport": True},
        "codeAction": {"resolveSupport": {"properties": ["edit"]}, "dataSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
    },
    "workspace": {
        "workspaceEdit": {"documentChanges": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
}  # fmt: skip
_ENDS = re.compile("\r\n|\n|\r")

Message = dict[str, Any]


class Editor:
    """A session with the server, from start to exit."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        capabilities: Message | None = None,
        program: str = "",
        **env: str,
    ) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(HIDDEN_PREFIXES)}
        self.process = subprocess.Popen(
            [sys.executable, *(("-c", program) if program else ("-m", "turnlint")), "lsp", *arguments], cwd=folder, env={**clean, **env},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.folder = folder
        self.heard: queue.Queue[Message | None] = queue.Queue()
        self.errors = b""
        self.count = 0
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.shown: list[Message] = []
        """All published diagnostics, in order."""
        self.said: list[str] = []
        """All messages to the user."""
        self.asked: list[Message] = []
        """Requests from the server."""
        self.ears = [
            threading.Thread(target=ear, daemon=True) for ear in (self._listen, self._listen_for_errors)
        ]
        for ear in self.ears:
            ear.start()
        self.greeting = self.request(
            "initialize",
            processId=None, rootUri=folder.as_uri(), capabilities=MODERN if capabilities is None else capabilities,
        )  # fmt: skip
        self.notify("initialized")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.process.kill()
            self.process.wait()
            self.close()
            return
        if self.process.poll() is None:
            self.request("shutdown")
            self.notify("exit")
        assert self.process.wait(MAX_WAIT_SECONDS) == 0
        self.close()
        assert b"Traceback" not in self.errors, self.errors.decode()

    def close(self) -> None:
        for ear in self.ears:
            ear.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        while head := self.process.stdout.readline():
            size = int(head.split(b": ")[1])
            while self.process.stdout.readline().strip():
                pass
            self.heard.put(json.loads(self.process.stdout.read(size)))
        self.heard.put(None)

    def _listen_for_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()

    # The protocol.

    def send(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def notify(self, method: str, **params: Any) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def ask(self, method: str, **params: Any) -> int:
        self.count += 1
        more = {} if method == "shutdown" else {"params": params}
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method, **more}).encode())
        return self.count

    def answer(self, number: int) -> Message:
        while True:
            message = self._next()
            if message.get("id") == number and "method" not in message:
                return message

    def request(self, method: str, **params: Any) -> Any:
        answer = self.answer(self.ask(method, **params))
        assert "error" not in answer, answer
        return answer["result"]

    def _next(self) -> Message:
        message = self.heard.get(timeout=MAX_WAIT_SECONDS)
        assert message is not None, self.errors.decode()
        if message.get("method") == "textDocument/publishDiagnostics":
            self.shown.append(message["params"])
        elif message.get("method") == "window/showMessage":
            self.said.append(message["params"]["message"])
        elif "method" in message and "id" in message:
            self.asked.append(message)
            self.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": None}).encode())
        return message

    # Documents.

    def uri(self, name: str) -> str:
        return name if ":" in name else (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> list[Message]:
        uri = self.uri(name)
        self.texts[uri], self.versions[uri] = text, 1
        self.notify(
            "textDocument/didOpen",
            textDocument={"uri": uri, "languageId": "jsonl", "version": 1, "text": text},
        )
        return self.diagnostics(name)

    def type(self, name: str, *changes: Message) -> None:
        """Change a document without waiting, as during typing."""
        uri = self.uri(name)
        for change in changes:
            self.texts[uri] = edited(self.texts[uri], [{"range": change["range"], "newText": change["text"]}]) \
                if "range" in change else change["text"]  # fmt: skip
        self.versions[uri] += 1
        self.notify(
            "textDocument/didChange",
            textDocument={"uri": uri, "version": self.versions[uri]}, contentChanges=list(changes),
        )  # fmt: skip

    def change(self, name: str, *changes: Message) -> list[Message]:
        self.type(name, *changes)
        return self.diagnostics(name)

    def save(self, name: str) -> None:
        self.notify("textDocument/didSave", textDocument={"uri": self.uri(name)})

    def close_document(self, name: str) -> list[Message]:
        self.notify("textDocument/didClose", textDocument={"uri": self.uri(name)})
        return self.diagnostics(name)

    def diagnostics(self, name: str) -> list[Message]:
        """The next published diagnostics of a document in its current version."""
        uri = self.uri(name)
        while True:
            shown = self._next().get("params", {})
            if (
                shown.get("uri") == uri
                and shown.get("version") == self.versions[uri]
                and "diagnostics" in shown
            ):
                return shown["diagnostics"]

    def hover(self, name: str, line: int, character: int) -> Any:
        return self.request(
            "textDocument/hover",
            textDocument={"uri": self.uri(name)}, position={"line": line, "character": character},
        )  # fmt: skip

    def actions(
        self, name: str, where: Message | None = None, only: list[str] | None = None
    ) -> list[Message]:
        end = {"line": 1 << 20, "character": 0}
        return self.request(
            "textDocument/codeAction",
            textDocument={"uri": self.uri(name)},
            range=where or {"start": {"line": 0, "character": 0}, "end": end},
            context={"diagnostics": [], **({"only": only} if only else {})},
        )  # fmt: skip

    def resolve(self, action: Message) -> Message:
        return self.request("codeAction/resolve", **action)

    def applied(self, name: str, action: Message) -> str:
        """The text after one action."""
        uri = self.uri(name)
        edit = action.get("edit") or self.resolve(action).get("edit") or {}
        if "changes" in edit:
            return edited(self.texts[uri], edit["changes"][uri])
        for change in edit.get("documentChanges", ()):
            assert change["textDocument"] == {"uri": uri, "version": self.versions[uri]}
            return edited(self.texts[uri], change["edits"])
        return self.texts[uri]

    def repaired(self, name: str) -> str:
        """The text after a repair of the whole document."""
        for action in self.actions(name, only=["source.fixAll"]):
            assert action["kind"] == "source.fixAll.turnlint"
            return self.applied(name, action)
        return self.texts[self.uri(name)]


def edited(text: str, edits: list[Message]) -> str:
    """Apply edits: all positions refer to the text before, and edits at one position keep their order."""
    units = text.encode("utf-16-le", "surrogatepass")
    ends = [0, *(end.end() for end in _ENDS.finditer(text))]
    lines = (text[start:end] for start, end in pairwise(ends))
    starts = [0, *accumulate(len(line.encode("utf-16-le", "surrogatepass")) // 2 for line in lines)]

    def offset(position: Message) -> int:
        line = position["line"]
        if line >= len(starts):
            return len(units) // 2
        last = starts[line + 1] if line + 1 < len(starts) else len(units) // 2
        return min(starts[line] + position["character"], last)

    spans = [
        (offset(edit["range"]["start"]), offset(edit["range"]["end"]), edit["newText"]) for edit in edits
    ]
    made, at = [], 0
    for start, end, words in sorted(spans, key=lambda span: span[:2]):
        assert at <= start <= end, "edits overlap"
        made += [units[2 * at : 2 * start], words.encode("utf-16-le", "surrogatepass")]
        at = end
    return b"".join([*made, units[2 * at :]]).decode("utf-16-le", "surrogatepass")


def span(start: int, end: int, line: int = 0) -> Message:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
