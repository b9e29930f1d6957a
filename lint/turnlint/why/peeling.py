"""Unwrap an error text: SDKs, gateways, shells and logs wrap the message of the server.

The time of each step is proportional to the text. Long texts are first cut to the relevant parts.
"""

import re
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import chain
from json import dumps

from msgspec import Struct

LONGEST = 64 << 10
"""Limit of the characters of a text that are examined."""
AROUND = 4 << 10
MOST_PIECES = 60
MOST_KEYS = 40
"""Limit of the messages from one body: the first and the last ones, since a body may quote a whole conversation."""
MOST_ROUNDS = 8
SHORTEST = 4

_PAINT = re.compile(r"\x1b(?:\[[0-?]{0,24}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\))")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[^ux])", re.DOTALL)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": "", "0": "", "e": ""}
_PAIRS = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_TYPOGRAPHIC = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " ", "\u200b": ""})
_ENTITIES = {"&quot;": '"', "&#34;": '"', "&#39;": "'", "&#x27;": "'", "&apos;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&"}  # fmt: skip
_ENTITY = re.compile("|".join(map(re.escape, _ENTITIES)))
_ELEMENT = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_QUOTED = re.compile(r"^[ \t]{0,8}(?:> ?)+", re.MULTILINE)
_KEY = re.compile(
    r"(?<![\w$])[\"']?(?:message|msg|raw|detail|error|err|body|reason|description|error_?message|response_?body|"
    r"response_?text|cause|errors?|original_?error)[\"']?[ \t]{0,4}[:=][ \t\n]{0,40}b?(?=[\"'`])",
    re.IGNORECASE,
)
_STRING = {
    quote: re.compile(rf"{quote}((?:[^{quote}\\]|\\.)*)(?:{quote}|\Z)", re.DOTALL)
    for quote in ('"', "'", "`")
}
_TOKEN = re.compile(
    r"""(?P<text>b?"(?:[^"\\]|\\.)*(?:"|\Z)|b?'(?:[^'\\]|\\.)*(?:'|\Z)|`(?:[^`\\]|\\.)*(?:`|\Z))|(?P<mark>[{}\[\]:,()])"""
    r"""|(?P<word>[^\s{}\[\]:,()"'`]+)|(?P<rest>\s+|.)""",
    re.DOTALL,
)
_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_MARKS = {"(": "[", ")": "]"}

WRAPPERS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.DOTALL))
    for name, pattern in (
        ("answer with headers", r"(?:^|\n)HTTP/[\d.]{1,4} \d{3}[^\n]{0,200}\n(?:[\w-]{1,80}:[^\n]{0,4000}\n){0,60}\s{0,9}\n(?P<inner>.+)"),
        ("log line", r"(?:^|\n)[\[(]?\d{4}[-/]\d\d[-/]\d\d[T ,]\d\d:\d\d[^\s\])]*[\])]?\s+(?P<inner>[^\n]+)"),
        ("LiteLLM", r"\blitellm\.[\w.]+: (?P<inner>.+)"),
        ("LiteLLM", r"\b[A-Z]\w*Exception - (?P<inner>.+)"),
        ("SDK", r"\bError code: \d{3} - (?P<inner>.+)"),
        ("pydantic-ai", r"\bstatus_code: \d{3}, model_name: [^\n,]{0,200}, body: (?P<inner>.+)"),
        ("AWS SDK", r"\bAn error occurred \(\w+\) when calling the \w+ operation(?: \([^)\n]{0,200}\))?: (?P<inner>.+)"),
        ("Bedrock", r"\bThe model returned the following errors: (?P<inner>.+)"),
        ("DashScope", r"<\d{3}> InternalError\.[\w.]+: (?P<inner>.+)"),
        ("exception", r"(?:^|\n|Caused by: )[^\S\n]*[\w.$]*(?:Error|Exception|Argument|Request)\b(?: ?\[\w+\])?: (?:\d{3}:? )?(?P<inner>.+)"),
        ("client", r"(?:^|[\n:])[^\n:]{0,80}\b(?:calling|from|invoking|running|to|by) [^\n:]{1,80}: (?P<inner>.+)"),
        ("status", r"\b(?:status(?: code)?|error|HTTP|API Error)?:? ?\(?400\)?[:,]? (?P<inner>\S.+)"),
    )
)  # fmt: skip


class Piece(Struct, frozen=True):
    """A text and the wrappers that were removed from it, the outermost first."""

    text: str
    peeled: tuple[str, ...] = ()


def pieces(text: str, marks: Iterable[str] = ()) -> list[Piece]:
    """Return the text and the texts inside it, always with the innermost.

    `marks` are words to search for in a long text.
    """
    whole = _PAINT.sub("", _cut(text, marks)).replace("\r\n", "\n").translate(_TYPOGRAPHIC)
    found = {whole: Piece(whole)}
    queue = [(len(whole), 0, whole, True)]
    while queue:  # the shortest first, since they are the innermost
        _, _, outer, respell = heappop(queue)
        peeled = found[outer].peeled
        inside = ((inner, names, True) for inner, names in _inside(outer))
        others = ((inner, (), False) for inner in _respelled(outer)) if respell else ()
        for inner, names, proper in chain(inside, others):
            if len(found) >= MOST_PIECES:
                return list(found.values())
            if len(inner) >= SHORTEST and inner not in found:
                found[inner] = Piece(inner, (*peeled, *(name for name in names if name not in peeled)))
                heappush(queue, (len(inner), len(found), inner, proper))
    return list(found.values())


def _cut(text: str, marks: Iterable[str]) -> str:
    """Return the parts of a long text around the marks; without marks, its start and its end."""
    if len(text) <= LONGEST:
        return text
    firsts = {mark: place for mark in marks if (place := text.find(mark)) >= 0}
    places = {*firsts.values(), *map(text.rfind, firsts)}
    spans: list[tuple[int, int]] = []
    for place in sorted(places):
        start, end = max(0, place - AROUND), place + AROUND
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    if not spans:
        spans = [(0, LONGEST // 4), (len(text) - 3 * LONGEST // 4, len(text))]
    return "\n".join(text[start:end] for start, end in spans)[:LONGEST]


def _inside(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the texts inside a text, each with the names of its wrappers."""
    around: list[tuple[int, str]] = []
    for name, pattern in WRAPPERS:
        if match := pattern.search(text):
            around.append((match.start("inner"), name))
            yield match["inner"].strip(), (name,)
    for place, inner in _messages(text):
        yield inner, (*(name for start, name in around if start <= place), "body")
    if text.startswith(">") or "\n>" in text:
        yield _QUOTED.sub("", text), ("quotation",)
    if "&" in text or "</" in text:
        plain = _ELEMENT.sub("", text) if "</" in text else text
        yield _ENTITY.sub(lambda match: _ENTITIES[match[0]], plain), ("HTML",)


def _respelled(text: str) -> Iterator[str]:
    """Yield other forms of the same text: without escapes, as compact JSON, on one line."""
    plain = text
    for _ in range(MOST_ROUNDS):
        before, plain = plain, unescaped(plain)
        if plain == before:
            break
        yield plain
    if start := _body(text):
        yield as_json(text[start - 1 :])
    if "\n" in text:
        yield " ".join(text.split())


def _messages(text: str) -> Iterator[tuple[int, str]]:
    """Yield the values of keys that hold error messages, in JSON, Python or JavaScript, at any depth."""
    places = [match.end() for match in _KEY.finditer(text)]
    if len(places) > MOST_KEYS:
        places = [*places[: MOST_KEYS // 2], *places[-MOST_KEYS // 2 :]]
    for place in places:
        match = _STRING[text[place]].match(text, place)
        if match:
            yield place, unescaped(match[1]).strip()


def _body(text: str) -> int:
    """Return the position of the first structure, counted from 1."""
    return min((place for mark in "{[" if (place := text.find(mark) + 1)), default=0)


def unescaped(text: str) -> str:
    """Return the original of a text that was written inside quotes."""
    plain = _ESCAPE.sub(_character, text)
    return _PAIRS.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), plain)


def _character(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _NAMED.get(code, code)


def as_json(text: str) -> str:
    """Return a structure as compact JSON.

    The input may be Python, JavaScript or pretty printed JSON, and may be truncated.
    """
    written: list[str] = []
    for token in _TOKEN.finditer(text):
        kind, value = token.lastgroup, token[0]
        if kind == "text":
            inner = value[2:-1] if value.startswith("b") else value[1:-1]
            written.append(dumps(unescaped(inner), ensure_ascii=False))
        elif kind == "mark":
            written.append(_MARKS.get(value, value))
        elif kind == "word":
            word = _WORDS.get(value, value)
            written.append(word if word in _WORDS.values() or word[0] in "-0123456789" else dumps(word, ensure_ascii=False))  # fmt: skip
    return "".join(written)
