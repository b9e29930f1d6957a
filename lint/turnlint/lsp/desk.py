"""Keep the open documents, and lint each one after a change.

One thread lints one document at a time, beside the communication with the editor, and always its latest text.
There is no timer. Each failure is a message to the user.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Protocol, TypeVar

from turnlint.documents.source import Source
from turnlint.errors import SettingsError
from turnlint.lsp import words
from turnlint.lsp.looking import Seen, look
from turnlint.lsp.mending import Mended, mend
from turnlint.lsp.terms import House
from turnlint.lsp.text import Text
from turnlint.model import Level
from turnlint.report.escape import visible
from turnlint.rulebook import Entry

MOST = 16 << 20
"""Limit of a document in bytes: a longer one would take too long at each key."""
STACK = 16 << 20
"""Stack of the thread that reads, in bytes.

Decoders recurse as deep as a document nests, and some systems give half a megabyte.
"""
T = TypeVar("T")


class Reader(Protocol):
    """The client that shows findings."""

    def show(self, document: "Document", seen: Seen) -> None: ...
    def say(self, sentence: str) -> None: ...


class Document:
    """One open document."""

    def __init__(self, uri: str, path: str | None, version: int, text: Text) -> None:
        self.uri = uri
        self.path = path
        self.version = version
        self.text = text
        self.seen = Seen()
        self.wanted = True
        """Whether its text or its settings may have changed since it was linted."""
        self.is_known = False
        """Whether it was a conversation before: it still is one during an edit that makes it hard to parse."""
        self.task: asyncio.Task[None] | None = None
        self.trouble = ""
        """The last message about a failure to lint it."""

    @property
    def name(self) -> str:
        return self.path or self.uri

    @property
    def is_too_long(self) -> bool:
        return len(self.text.data) > MOST

    def source(self) -> Source:
        # A document that was no conversation so far is skipped like a file found in a folder, whatever its
        # errors.
        return Source(self.name, self.path, named=self.is_known, data=self.text.data)


class Desk:
    def __init__(self, house: House, reader: Reader) -> None:
        self.house = house
        self.reader = reader
        self.documents: dict[str, Document] = {}
        with suppress(ValueError, RuntimeError):
            threading.stack_size(STACK)
        self.worker = ThreadPoolExecutor(max_workers=1)

    def close(self) -> None:
        self.worker.shutdown(wait=False, cancel_futures=True)

    def open(self, document: Document) -> None:
        self.documents[document.uri] = document
        self.house.forget()
        self._want(document)

    def change(self, uri: str, version: int, change: Callable[[Text], Text]) -> None:
        document = self.documents.get(uri)
        if document is not None:
            document.text = change(document.text)
            document.version = version
            self._want(document)

    def look_again(self, uri: str | None = None) -> None:
        """Lint one document or all again, since settings may have changed."""
        self.house.forget()
        for document in self.documents.values():
            if uri in (None, document.uri):
                self._want(document)

    def drop(self, uri: str) -> None:
        document = self.documents.pop(uri, None)
        if document is not None:
            self.reader.show(document, Seen())

    async def settled(self, uri: str) -> Document | None:
        """Return a document after its latest text was linted."""
        document = self.documents.get(uri)
        while document is not None and document.task is not None:
            await asyncio.shield(document.task)
        return document

    async def mended(self, document: Document, rule: str | None, level: Level | None = None) -> Mended:
        """Return the repair of the latest text of a document."""
        mended = Mended()
        text = None
        while document.text is not text and not document.is_too_long:
            text, source = document.text, document.source()
            mended = await self._done(partial(self._mend, text, source, rule, level), document) or Mended()
        return mended

    def _mend(self, text: Text, source: Source, rule: str | None, level: Level | None) -> Mended:
        return mend(text, source, self.house.to_fix(source, rule, level))

    async def entries(self, document: Document) -> list[Entry]:
        """Return the rules that can have findings in a document."""
        return await self._done(partial(self._find, document.source()), document) or []

    def _find(self, source: Source) -> list[Entry]:
        terms = self.house.to_lint(source)
        return words.entries_of(terms.options) if terms else []

    def _want(self, document: Document) -> None:
        document.wanted = True
        if document.task is None:
            document.task = asyncio.get_running_loop().create_task(self._look(document))

    async def _look(self, document: Document) -> None:
        try:
            while document.wanted and self.documents.get(document.uri) is document:
                document.wanted = False
                seen = await self._seen(document)
                # If the document changed meanwhile, the result is discarded and the new text is linted.
                if not document.wanted and self.documents.get(document.uri) is document:
                    document.seen = seen
                    document.is_known |= seen.is_transcript
                    self.reader.show(document, seen)
        finally:
            document.task = None

    async def _seen(self, document: Document) -> Seen:
        if document.is_too_long:
            self._say(document, f"{document.name} {words.TOO_LONG.format(most=MOST)}")
            return Seen()
        return await self._done(partial(self._judge, document.text, document.source()), document) or Seen()

    def _judge(self, text: Text, source: Source) -> Seen:
        terms = self.house.to_lint(source)
        return look(text, source, terms) if terms else Seen()

    async def _done(self, work: Callable[[], T], document: Document) -> T | None:
        """Run work for a document on the thread; report a failure to the user."""
        try:
            done = await asyncio.get_running_loop().run_in_executor(self.worker, work)
        except SettingsError as error:
            self._say(document, str(error))
        except Exception as error:  # noqa: BLE001 - a document may be anything; one that cannot be read stops no other
            self._say(document, f"{document.name}: internal error: {type(error).__name__}")
        else:
            document.trouble = ""
            return done
        return None

    def _say(self, document: Document, trouble: str) -> None:
        """Report a failure once for all documents, and not again until it is over."""
        if all(one.trouble != trouble for one in self.documents.values()):
            self.reader.say("\n".join(map(visible, trouble.split("\n"))))
        document.trouble = trouble
