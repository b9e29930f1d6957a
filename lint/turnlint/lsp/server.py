"""Communicate with an editor over standard input and output.

A failed request is answered with the type of the error only.
"""

import asyncio
import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import to_fs_path

from turnlint import __version__
from turnlint.lsp import spelling, words
from turnlint.lsp.desk import Desk, Document
from turnlint.lsp.looking import Note, Seen, has_placeholder, repairable
from turnlint.lsp.terms import House
from turnlint.lsp.text import Text

if TYPE_CHECKING:
    from turnlint.model import Level

FIX_ALL = "source.fixAll.turnlint"
QUICK = types.CodeActionKind.QuickFix.value
SETTINGS = ("**/turnlint.{yaml,yml}", "**/turnlint.baseline", "**/pyproject.toml")
"""Files whose changes the editor is asked to report."""
Steps = Generator[Any, Any, Any]
"""Generators of the protocol library: its handlers that can be extended run in steps."""


class Protocol(LanguageServerProtocol):
    """The protocol of the library without its copy of the documents.

    The desk has a copy that counts lines as editors do.
    """

    _server: "Server"

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        one = params.text_document
        path = to_fs_path(one.uri)
        self._server.desk.open(Document(one.uri, path, one.version, Text(one.text)))

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        def changed(text: Text) -> Text:
            for change in params.content_changes:
                if isinstance(change, types.TextDocumentContentChangePartial):
                    text = text.changed(*spelling.span_of(change.range), change.text)
                else:
                    text = Text(change.text)
            return text

        self._server.desk.change(params.text_document.uri, params.text_document.version, changed)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.desk.drop(params.text_document.uri)

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Steps:
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None  # every editor supports UTF-16
        self._server.editor = spelling.Editor(params.capabilities)
        return (yield from super().lsp_initialize(params))

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Steps:
        self._server.is_done = True
        return (yield from super().lsp_shutdown(*args))

    def _send_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        # After a failure, the library adds its traceback and the message of the exception, which may quote
        # content.
        if error is not None and error.data is not None:
            error.message, error.data = f"internal error: {error.message.partition(':')[0]}", None
        super()._send_response(msg_id, result, error)


class Server(LanguageServer):
    def __init__(self, house: House) -> None:
        super().__init__("turnlint", __version__, protocol_cls=Protocol)
        self.desk = Desk(house, self)
        self.editor = spelling.Editor(types.ClientCapabilities())
        self.is_done = False
        """Whether the editor requested a shutdown."""

    def show(self, document: Document, seen: Seen) -> None:
        told = spelling.diagnostics(document, seen, self.editor)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(document.uri, told, document.version)
        )

    def say(self, sentence: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"turnlint: {sentence}"))

    def say_of(self, document: Document, sentence: str) -> None:
        self.say(f"{words.of_note(document.name)}: {words.of_note(sentence)}")

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ARG002 - the library calls it so
        self.window_log_message(
            types.LogMessageParams(types.MessageType.Warning, f"turnlint: invalid message: {type(error).__name__}")
        )  # fmt: skip

    def actions(self, document: Document, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return the actions for the findings at a position, and for all findings."""
        only, seen = params.context.only, document.seen
        found: list[types.CodeAction] = []
        if seen.is_cut:
            return found
        if spelling.is_asked_for(QUICK, only):
            here = spelling.span_of(params.range)
            by_rule: dict[tuple[Level | None, str], list[Note]] = {}
            for note in seen.notes:
                if repairable(note, seen.policy, alone=True):
                    by_rule.setdefault((None, note.finding.code), []).append(note)
                elif has_placeholder(note, seen.policy):
                    by_rule.setdefault(("placeholder", note.finding.code), []).append(note)
            for (level, code), notes in by_rule.items():
                if near := [note for note in notes if note.is_near(here)]:
                    told = [spelling.diagnostic(document, note, self.editor) for note in near]
                    title = words.of_repair(code, [note.fix for note in notes if note.fix])
                    data = {"uri": document.uri, "rule": code, "level": level}
                    found.append(types.CodeAction(title, QUICK, told, data=data))
        if spelling.is_asked_for(FIX_ALL, only) and any(repairable(note, seen.policy) for note in seen.notes):
            title = words.FIX_ALL.format(level=seen.policy.level)
            data = {"uri": document.uri, "rule": None, "level": None}
            found.append(types.CodeAction(title, FIX_ALL, data=data))
        return found

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Return the action with its edit, if there is anything to do."""
        data: Any = action.data
        document = await self.desk.settled(data["uri"]) if _is_ours(data) else None
        if document is None:
            return action
        mended = await self.desk.mended(document, data["rule"], data.get("level"))
        if mended.edits:
            action.edit = spelling.edit_of(document, mended, self.editor)
        elif not mended.reason:
            self.say_of(document, words.NOTHING.format(level=document.seen.policy.level))
        if mended.reason:
            self.say_of(document, f"unchanged: {mended.reason}")
        return action


def _is_ours(data: Any) -> bool:
    return (
        isinstance(data, dict)
        and isinstance(data.get("uri"), str)
        and isinstance(data.get("rule", 0), str | None)
        and data.get("level") in (None, "placeholder")
    )


def serve(house: House) -> bool:
    """Communicate until the editor exits; return whether it requested a shutdown before."""
    server = Server(house)
    _answer(server)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # output of a user's rule must not reach the editor
    try:
        server.start_io(stdin, stdout)
    finally:
        server.desk.close()
    return server.is_done


def _answer(server: Server) -> None:
    """Register all handlers but those that open, change and close documents."""

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        if server.editor.watches:
            watchers = [types.FileSystemWatcher(pattern) for pattern in SETTINGS]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            server.client_register_capability(
                types.RegistrationParams([types.Registration("turnlint-settings", method, options)])
            )

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.desk.look_again(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def settings_changed(_: types.DidChangeWatchedFilesParams) -> None:
        server.desk.look_again()

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        document = await server.desk.settled(params.text_document.uri)
        here = (params.position.line, params.position.character)
        near = [note for note in document.seen.notes if note.is_near((here, here))] if document else []
        if document is None or not near:
            return None
        text = words.explained([note.finding for note in near], await server.desk.entries(document))
        kind = types.MarkupKind.Markdown if server.editor.markdown else types.MarkupKind.PlainText
        return types.Hover(types.MarkupContent(kind, text), spelling.range_of(near[0].span))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[QUICK, FIX_ALL], resolve_provider=True),
    )
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = await server.desk.settled(params.text_document.uri)
        found = server.actions(document, params) if document else []
        if server.editor.resolves:
            return found
        whole = await asyncio.gather(*map(server.resolve, found))
        return [one for one in whole if one.edit is not None]

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        return await server.resolve(action)
