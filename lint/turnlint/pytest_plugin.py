"""Check conversations in tests: an assertion, and files whose conversations are tests.

Pytest imports this module wherever turnlint is installed, so it imports only modules that pytest has loaded.
It collects files only on request: by `--turnlint`, or by `turnlint_files` in the configuration.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from turnlint.documents.source import Source
    from turnlint.engine import Content, Event, Options

Names = str | Sequence[str]
FILES = pytest.StashKey[set[Path]]()
RECORDS = "records"
"""Name of the test for findings outside of conversations, such as unreadable lines."""
MARGIN = 4
"""Width of the margin that pytest adds to each line of a failure."""
LONGEST_NAME = 60


def assert_valid_transcript(
    transcript: object, /, *, provider: Names = "auto", format: str = "auto", fail_on: str = "error",  # noqa: A002
    select: Names = (), ignore: Names = (),
) -> None:  # fmt: skip
    """Fail if a conversation has findings with at least the severity `fail_on`, and show each finding at its position.

    It takes the same input as `turnlint.lint`: a list of messages or a request, with the objects of any SDK
    in it.
    """
    __tracebackhide__ = True
    from msgspec import structs

    from turnlint.library import running, showing

    options = structs.replace(running.options_of(provider, format, select, ignore), content=_content())
    fault = showing.fault_of(transcript, options, showing.level_of(fail_on), _width())
    if fault is not None:
        raise AssertionError(fault)


@pytest.fixture(name="assert_valid_transcript")
def _assertion() -> Any:
    """`turnlint.pytest_plugin.assert_valid_transcript`, for tests that do not import it."""
    return assert_valid_transcript


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("turnlint", "transcripts of LLM conversations")
    group.addoption(
        "--turnlint", action="store_true", help="each conversation in a .jsonl, .ndjson or .json file is a test"
    )  # fmt: skip
    parser.addini("turnlint_files", "patterns of files whose conversations are tests", type="args")
    parser.addini("turnlint_provider", "provider whose rules apply (default: auto)", type="args")
    parser.addini("turnlint_format", "format of the transcripts (default: auto)", default="auto")
    parser.addini("turnlint_fail_on", "lowest severity that fails a test (default: error)", default="error")


def pytest_configure(config: pytest.Config) -> None:
    """Find the files of the configuration, and collect them where no paths are given."""
    patterns = config.getini("turnlint_files")
    config.stash[FILES] = files = set(_matching(patterns, _root(config)))
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        roots = [config.invocation_params.dir / arg.partition("::")[0] for arg in config.args]
        config.args += [
            str(file) for file in sorted(files) if not any(root in (file, *file.parents) for root in roots)
        ]


def _root(config: pytest.Config) -> Path:
    return config.inipath.parent if config.inipath else config.rootpath


def _matching(patterns: Iterable[str], root: Path) -> Iterator[Path]:
    from glob import glob

    for pattern in patterns:
        found = [root / name for name in glob(pattern, root_dir=root, recursive=True)]
        if not any(
            path.is_file() for path in found
        ):  # a pattern that matches nothing tests nothing, for ever
            raise pytest.UsageError(f"turnlint_files: no file matches {pattern!r} in {root}")
        yield from (path for path in found if path.is_file())


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    named = file_path in parent.config.stash[FILES]
    if not named and not parent.config.getoption("turnlint"):
        return None
    from turnlint.documents.source import wanted

    if not named and not wanted(file_path.name):
        return None
    file: Transcripts = Transcripts.from_parent(parent, path=file_path)
    file.named = named or parent.session.isinitpath(file_path)
    return file


class Transcripts(pytest.File):
    """A file of conversations."""

    named = False
    """Whether the user named the file, and did not only name its folder: then its format must be known."""
    known: "dict[int | None, list[Event]] | None" = None

    def collect(self) -> Iterator[pytest.Item]:
        from turnlint.engine import Book
        from turnlint.errors import SourceError, TurnlintError
        from turnlint.model import Transcript
        from turnlint.neighbours import sentence_of
        from turnlint.reading import Foreign, batches

        try:
            options = self.options()
            found = [
                item
                for batch in batches(self.source, options.format, prefer=Book(options).wires)
                for item in ((batch,) if isinstance(batch, SourceError) else batch)
            ]
        except TurnlintError as error:
            raise self.CollectError(str(error)) from None
        for item in found:
            if isinstance(item, SourceError):
                raise self.CollectError(str(item))
        for item in found:
            if isinstance(item, Foreign):
                if self.named:
                    raise self.CollectError(f"{self.source.name}: {sentence_of(item.near)}")
                return
        yield self._item(RECORDS, None, 0)
        taken = {RECORDS}
        for one in found:
            if isinstance(one, Transcript):
                line = one.messages[0].record.line if one.messages else 1
                name = _name(one.id, one.index, taken)
                taken.add(name)
                yield self._item(name, one.index, line)

    def _item(self, name: str, index: int | None, line: int) -> pytest.Item:
        item: Conversation = Conversation.from_parent(self, name=name)
        item.index, item.line = index, line
        return item

    @property
    def source(self) -> "Source":
        from turnlint.documents.source import Source

        return Source(os.path.relpath(self.path, self.config.invocation_params.dir), str(self.path))

    def options(self) -> "Options":
        from msgspec import structs

        from turnlint.library import running

        chosen = running.options_of(
            self.config.getini("turnlint_provider"), self.config.getini("turnlint_format"), (), ()
        )
        return structs.replace(chosen, view=True, content=_content())

    def events(self, index: int | None) -> "list[Event]":
        """Return the events of one conversation, or those outside of conversations.

        The file is linted once, for its first test.
        """
        if self.known is None:
            from turnlint.engine import Book, Tally, lint
            from turnlint.rows import Row

            self.known = {}
            options = self.options()
            for event in lint(self.source, options, Book(options)):
                if not isinstance(event, Tally):
                    owner = event.finding.conversation_index if isinstance(event, Row) else None
                    self.known.setdefault(owner, []).append(event)
        return self.known.get(index, [])


class Fault(Exception):  # noqa: N818 - a failed test, with what it shows
    """A conversation with findings."""


class Conversation(pytest.Item):
    """One conversation of a file, or the findings outside of conversations."""

    index: int | None = None
    line = 0

    def runtest(self) -> None:
        from turnlint.library import showing

        file = self.parent
        assert isinstance(file, Transcripts)
        events = file.events(self.index)
        fail_on = showing.level_of(self.config.getini("turnlint_fail_on"))
        if showing.is_faulty(events, fail_on):
            raise Fault(showing.text_of(events, fail_on, _width()))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return (
            str(excinfo.value) if isinstance(excinfo.value, Fault) else super().repr_failure(excinfo, style)
        )

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, self.line - 1 if self.line else None, self.name


def _name(conversation: str | None, index: int, taken: set[str]) -> str:
    """Return a conversation's id, or its number where it has no id, or another conversation has the same."""
    from turnlint.report.escape import clip, visible

    name = clip(visible(conversation[:LONGEST_NAME]), LONGEST_NAME) if conversation else f"#{index}"
    return f"{name}#{index}" if name in taken else name


def _content() -> "Content":
    """Return the amount of content to show: none on a build server, whose log others may read."""
    return "none" if os.environ.get("CI") else "excerpt"


def _width() -> int:
    from turnlint.cli.look import width

    return width() - MARGIN
