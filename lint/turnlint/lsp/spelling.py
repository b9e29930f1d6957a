"""Convert findings and repairs to types of the protocol, within the capabilities of the editor."""

import os
import re
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from lsprotocol import types
from pygls.uris import from_fs_path

from turnlint.lsp import words
from turnlint.lsp.desk import Document
from turnlint.lsp.looking import Note, Seen, Span
from turnlint.lsp.mending import Mended
from turnlint.neighbours import NOT_YET

SOURCE = "turnlint"
SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}
_START: Span = ((0, 0), (0, 0))
_RULE = re.compile(r"### (\S+) ")


class Editor:
    """The capabilities of the editor."""

    def __init__(self, capabilities: types.ClientCapabilities) -> None:
        document, workspace = capabilities.text_document, capabilities.workspace
        diagnostics = document and document.publish_diagnostics
        self.related = bool(diagnostics and diagnostics.related_information)
        self.links = bool(diagnostics and diagnostics.code_description_support)
        edits = workspace and workspace.workspace_edit
        self.versions = bool(edits and edits.document_changes)
        actions = document and document.code_action
        resolve = actions and actions.resolve_support
        self.resolves = bool(resolve and "edit" in resolve.properties)
        hover = document and document.hover
        formats = (hover and hover.content_format) or [types.MarkupKind.Markdown]
        self.markdown = types.MarkupKind.Markdown in formats
        watched = workspace and workspace.did_change_watched_files
        self.watches = bool(watched and watched.dynamic_registration)


def range_of(span: Span) -> types.Range:
    start, end = span
    return types.Range(types.Position(*start), types.Position(*end))


def span_of(where: types.Range) -> Span:
    return (where.start.line, where.start.character), (where.end.line, where.end.character)


def diagnostics(document: Document, seen: Seen, editor: Editor) -> list[types.Diagnostic]:
    told = [diagnostic(document, note, editor) for note in seen.notes]
    for crash in seen.crashes:
        start = (max(crash.line - 1, 0), 0)
        told.append(_plain(types.DiagnosticSeverity.Error, words.of_crash(crash), "crash", (start, start)))
    if seen.near is not None:
        near = words.of_note(f"not checked: {seen.near.likeness}; {NOT_YET}")
        told.append(_plain(types.DiagnosticSeverity.Information, near, "format", _START))
    if more := words.of_more(len(seen.notes), seen.count, cut=seen.is_cut):
        told.append(_plain(types.DiagnosticSeverity.Information, more, "more", _START))
    return told


def diagnostic(document: Document, note: Note, editor: Editor) -> types.Diagnostic:
    finding = note.finding
    told = _plain(SEVERITIES[finding.severity], words.of_finding(finding), finding.code, note.span)
    if editor.related and note.related:
        told.related_information = [
            types.DiagnosticRelatedInformation(
                types.Location(document.uri, range_of(span)), words.of_note(about)
            )
            for about, span in note.related
        ]
    if editor.links and finding.code in _pages():
        told.code_description = types.CodeDescription(_pages()[finding.code])
    return told


def _plain(severity: types.DiagnosticSeverity, message: str, code: str, span: Span) -> types.Diagnostic:
    return types.Diagnostic(range_of(span), message, severity, words.of_note(code), source=SOURCE)


@lru_cache(maxsize=1)
def _pages() -> dict[str, str]:
    """Return the address of each rule in the page that is installed with the rules."""
    package = find_spec("turnlint")
    path = os.path.join(os.path.dirname(package.origin or ""), "docs", "rules.md") if package else ""
    if not os.path.isfile(path):
        return {}
    with open(path, encoding="utf-8") as file:
        found = [(_RULE.match(line), number) for number, line in enumerate(file, 1)]
    uri = from_fs_path(path)
    return {match[1]: f"{uri}#L{number}" for match, number in found if match} if uri else {}


def edit_of(document: Document, mended: Mended, editor: Editor) -> types.WorkspaceEdit:
    edits = [types.TextEdit(range_of(span), text) for span, text in mended.edits]
    if not editor.versions:
        return types.WorkspaceEdit(changes={document.uri: edits})
    whose = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(whose, [*edits])])


def is_asked_for(kind: str, only: Any) -> bool:
    """Whether an editor requests actions of a kind, or of a parent kind."""
    return only is None or any(kind == one or kind.startswith(f"{one}.") or not one for one in only)
