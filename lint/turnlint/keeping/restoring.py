"""Restore a file from a document of a journal.

The restored file is put in place only if its bytes equal those before the fix.
"""

import binascii
from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha256

from turnlint.documents.source import Source
from turnlint.errors import JournalMismatchError
from turnlint.keeping.disk import Digests, replace, stamp, swap
from turnlint.keeping.journal import Edit, Entry
from turnlint.keeping.patches import Patch, changed
from turnlint.keeping.system import SYSTEM, System, sentences


def restore(path: str, document: Entry, system: System = SYSTEM) -> int:
    """Restore the removed bytes; return the number of edits. Raises `WriteError` and `JournalMismatchError`."""
    with sentences(path):
        expected = stamp(path, system)

    def prove(digests: Digests) -> None:
        if digests.before != document.after:
            raise changed(path)
        if digests.after != document.before:
            raise JournalMismatchError("the journal does not restore the original bytes; nothing was changed")

    if document.original is not None:
        pieces = (_decoded(document.original),)
        swap(path, pieces, expected=expected, before_replace=prove, system=system)
    else:
        patches = tuple(_patches(document))
        replace(Source(path, path), patches, expected=expected, before_replace=prove, system=system)
    return len(document.edits)


def _patches(document: Entry) -> Iterator[Patch]:
    at = 0
    for edit in document.edits:
        if not at <= edit.offset <= edit.offset + edit.length <= document.after.size:
            raise JournalMismatchError("the journal does not match the file; nothing was changed")
        at = edit.offset + edit.length
        yield Patch(edit.offset, at, _before(edit))


def _before(edit: Edit) -> bytes:
    data = _decoded(edit.base64) if edit.text is None else edit.text.encode("utf-8", "surrogatepass")
    if sha256(data).hexdigest() != edit.sha256:
        raise JournalMismatchError("the bytes in the journal are not the removed ones; nothing was changed")
    return data


def _decoded(text: str | None) -> bytes:
    try:
        return b64decode(text or "", validate=True)
    except (binascii.Error, ValueError):
        raise JournalMismatchError("the journal's bytes cannot be read; nothing was changed") from None
