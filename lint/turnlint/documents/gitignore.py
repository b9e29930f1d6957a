"""Find the files that git ignores, from `.gitignore` files with git's own meaning.

The patterns of a repository come from `.git/info/exclude` and from the `.gitignore` of each folder. Of several matching
patterns, the last of the deepest file applies. Matching works on bytes, as in git. Its time is proportional to pattern
and name, because a pattern file may come from an untrusted source.
"""

import os
import re
from collections.abc import Iterator
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits, punctuation

from msgspec import Struct

from turnlint.errors import PatternError

MAX_BYTES = 1 << 20
"""The maximum number of bytes that are read from a pattern file."""
MAX_PATTERN_BYTES = 4096
FILE = ".gitignore"
_SLASH = ord("/")
_WILD = re.compile(rb"[*?\[\\]")
_TRAILING = re.compile(rb"(?<!\\)((?:\\\\)*) +\Z")
_PRINTED = ascii_letters + digits + punctuation
_CLASSES = {
    b"alnum": ascii_letters + digits, b"alpha": ascii_letters, b"blank": " \t", b"digit": digits,
    b"cntrl": "".join(map(chr, (*range(32), 127))), b"graph": _PRINTED, b"lower": ascii_lowercase,
    b"print": _PRINTED + " ", b"punct": punctuation, b"space": " \t\n\r\v\f", b"upper": ascii_uppercase,
    b"xdigit": digits + "abcdefABCDEF",
}  # fmt: skip
_ALL = frozenset(range(256))
_NO_SLASH = _ALL - {_SLASH}


class Token(Struct, frozen=True):
    """A step of a pattern: one byte of a set, or any number of such bytes."""

    accepts: frozenset[int]
    repeats: bool = False
    skips: int = 1
    """The number of steps that are optional from this one on, for a repeating step."""


class Glob:
    """A pattern with wildcards, matched as a set of states, so that no pattern takes more than linear time."""

    def __init__(self, pattern: bytes, *, path: bool) -> None:
        self.tokens = tuple(_tokens(pattern, path=path))
        self.steps: dict[int, tuple[int, int]] = {}
        """For each byte: the states that it advances, and those in which it stays."""
        self.loops = [number for number, token in enumerate(self.tokens) if token.repeats]
        self.first = self._closed(1)

    def matches(self, name: bytes) -> bool:
        states = self.first
        for byte in name:
            on, stay = self.steps.get(byte) or self._step(byte)
            states = (states & on) << 1 | states & stay
            if not states:
                return False
            states = self._closed(states)
        return bool(states >> len(self.tokens) & 1)

    def _step(self, byte: int) -> tuple[int, int]:
        on = stay = 0
        for number, token in enumerate(self.tokens):
            if byte in token.accepts:
                if token.repeats:
                    stay |= 1 << number
                else:
                    on |= 1 << number
        self.steps[byte] = on, stay
        return on, stay

    def _closed(self, states: int) -> int:
        for number in self.loops:
            if states >> number & 1:
                states |= 1 << number + 1 | 1 << number + self.tokens[number].skips
        return states


def _tokens(pattern: bytes, *, path: bool) -> Iterator[Token]:
    """Yield the steps of a pattern. In a path, only `**` between slashes matches a slash."""
    at = 0
    any_byte = _NO_SLASH if path else _ALL
    while at < len(pattern):
        start, char = at, pattern[at : at + 1]
        at += 1
        if char == b"*":
            while pattern[at : at + 1] == b"*":
                at += 1
            bounded = (
                at - start > 1
                and pattern[start - 1 : start] in (b"", b"/")
                and pattern[at : at + 1] in (b"", b"/")
            )
            if path and bounded and pattern[at : at + 1] == b"/":
                at += 1  # no folder, or any number of folders with the slash after them
                yield Token(frozenset(), repeats=True, skips=3)
                yield Token(_ALL, repeats=True)
                yield Token(frozenset({_SLASH}))
            else:
                yield Token(_ALL if bounded else any_byte, repeats=True)
        elif char == b"?":
            yield Token(any_byte)
        elif char == b"[":
            accepted, at = _bracket(pattern, at)
            yield Token(accepted & any_byte)
        elif char == b"\\":
            if at == len(pattern):
                raise PatternError
            yield Token(frozenset({pattern[at]}))
            at += 1
        else:
            yield Token(frozenset(char))


def _bracket(pattern: bytes, at: int) -> tuple[frozenset[int], int]:
    """Return the bytes that a bracket set accepts, and the end of the set."""
    negated = pattern[at : at + 1] in (b"!", b"^") and pattern[at : at + 1] != b""
    at += negated
    accepted: set[int] = set()
    before: int | None = None
    first = True
    while first or pattern[at : at + 1] != b"]":
        first = False
        if at >= len(pattern):
            raise PatternError
        if (
            pattern.startswith(b"[:", at)
            and (end := pattern.find(b"]", at + 2)) >= 0
            and pattern[end - 1 : end] == b":"
            and end > at + 2
        ):
            name = pattern[at + 2 : end - 1]
            if name not in _CLASSES:
                raise PatternError
            accepted.update(_CLASSES[name].encode())
            before, at = None, end + 1
            continue
        if (
            pattern[at : at + 1] == b"-"
            and before is not None
            and pattern[at + 1 : at + 2] not in (b"", b"]")
        ):
            last, at = _literal(pattern, at + 1)
            accepted.update(range(before, last + 1))
            before = None
            continue
        before, at = _literal(pattern, at)
        accepted.add(before)
    return (_ALL - accepted if negated else frozenset(accepted)), at + 1


def _literal(pattern: bytes, at: int) -> tuple[int, int]:
    """Return a byte of a set, and the position of the next."""
    at += pattern[at : at + 1] == b"\\"
    if at >= len(pattern):
        raise PatternError
    return pattern[at], at + 1


class Pattern:
    """A line of a pattern file."""

    def __init__(self, line: bytes) -> None:
        """Parse a pattern. Raises `PatternError` where it matches nothing."""
        self.negated = line.startswith(b"!")
        line = line[self.negated :]
        self.folders_only = line.endswith(b"/")
        line = line[: len(line) - self.folders_only]
        self.by_path = b"/" in line
        self.text = line.removeprefix(b"/") if self.by_path else line
        if not self.text:
            raise PatternError
        wild = _WILD.search(self.text)
        self.suffix = b""
        self.glob: Glob | None = None
        tail = self.text[1:]
        if tail and not self.by_path and self.text.startswith(b"*") and not _WILD.search(tail):
            self.suffix = tail
        elif wild:
            self.glob = Glob(self.text, path=self.by_path)

    def matches(self, path: bytes, name: bytes, *, folder: bool) -> bool:
        """Whether the pattern matches an entry: its path below the folder of the patterns, and its name."""
        if self.folders_only and not folder:
            return False
        subject = path if self.by_path else name
        if self.suffix:
            return subject.endswith(self.suffix)
        return self.glob.matches(subject) if self.glob else subject == self.text


class Patterns(Struct, frozen=True):
    """The patterns of one file, and the folder that they are relative to."""

    base: str
    patterns: tuple[Pattern, ...]

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Return whether an entry is ignored; none where no pattern matches it."""
        inside = os.fsencode(path[len(self.base) :]).lstrip(b"/")
        name = inside.rpartition(b"/")[2]
        for one in reversed(self.patterns):
            if one.matches(inside, name, folder=folder):
                return not one.negated
        return None


def parse(data: bytes) -> tuple[Pattern, ...]:
    """Parse the patterns of a file; skip lines that match nothing."""
    found = []
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line.startswith(b"#") or len(line) > MAX_PATTERN_BYTES:
            continue
        try:
            found.append(Pattern(_TRAILING.sub(rb"\1", line.removesuffix(b"\r"))))
        except PatternError:
            continue
    return tuple(found)


def read_patterns(path: str, base: str) -> tuple[Patterns, ...]:
    """Return the patterns of a file, relative to a folder; none where it is unreadable or empty."""
    try:
        if not os.path.isfile(path):
            return ()
        with open(path, "rb") as file:
            found = parse(file.read(MAX_BYTES))
    except OSError:
        return ()
    return (Patterns(base, found),) if found else ()


def is_root(folder: str) -> bool:
    """Whether a folder is the root of a repository, or of a work tree of a repository."""
    return os.path.exists(os.path.join(folder, ".git"))


def root_of(folder: str) -> str | None:
    """Return the root of the repository that contains a folder."""
    while not is_root(folder):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def patterns_in(folder: str) -> tuple[Patterns, ...]:
    """Return the patterns that a folder itself defines."""
    own = read_patterns(os.path.join(folder, FILE), folder)
    return (
        (*read_patterns(os.path.join(folder, ".git", "info", "exclude"), folder), *own)
        if is_root(folder)
        else own
    )


def is_ignored(path: str, chain: tuple[Patterns, ...], *, folder: bool) -> bool:
    """Whether the patterns of the folders above an entry ignore it. The deepest folder decides first."""
    for patterns in reversed(chain):
        verdict = patterns.verdict(path, folder=folder)
        if verdict is not None:
            return verdict
    return False


def chain_above(folder: str) -> tuple[Patterns, ...] | None:
    """Return the patterns that apply inside a folder; none outside of a repository.

    Where the folder itself is ignored, only its own patterns apply: a user who names it wants to see its files.
    """
    root = root_of(folder)
    if root is None:
        return None
    between: list[str] = []
    here = folder
    while here != root:
        between.append(here)
        here = os.path.dirname(here)
    chain = patterns_in(root)
    ignored = False
    for one in reversed(between):
        ignored = ignored or is_ignored(one, chain, folder=True)
        chain = (*(() if ignored else chain), *patterns_in(one))
    return chain
