"""Logs of which every line is a request, and so a conversation of its own.

This module owns the taking apart of such a line: the messages, which a wire's own predicate looks at, and what is
said around them. It refuses to know a wire.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Raw, defstruct, json

from turnlint.carrying.carrier import Carrier
from turnlint.carrying.raws import NOTHING
from turnlint.documents.gate import Ended, Scan, Span
from turnlint.model import Record
from turnlint.scan.around import Around, Choose, Wire
from turnlint.scan.outline import Failed, compact, encode, is_utf8
from turnlint.scan.seam import Passed

LONGEST = 1 << 22
"""A longer line is not looked at: that takes more memory than reading it."""
MOST_KEYS = 64


class Requests:
    """A scanner for one log. It learns from the first records which keys to look for."""

    def __init__(
        self, wire: Wire, carrier: Carrier, choose: Choose, sample: Iterable[Record], *, told: bool = False
    ) -> None:
        self.wire = wire
        self.around = Around(wire, carrier, choose, told=told)
        self.keys: set[str] = set()
        self.missed = 0
        for record in sample:
            self._learn(record.data)
        self.decode = self._decoder()

    def _learn(self, data: bytes) -> None:
        try:
            keys = json.decode(data, type=dict[str, Raw]).keys()
        except Failed:
            return
        new = {key for key in keys if key.isidentifier() and not key.startswith("__")}
        if len(self.keys | new) <= MOST_KEYS:
            self.keys |= new

    def _decoder(self) -> Callable[[bytes], Any]:
        fields: list[Any] = [("messages", list[self.wire.message])]  # type: ignore[name-defined]
        fields += [(f"k{n}", Raw, NOTHING) for n, _ in enumerate(sorted(self.keys - {"messages"}))]
        names = {f"k{n}": key for n, key in enumerate(sorted(self.keys - {"messages"}))}
        body = defstruct("Body", fields, rename=names, omit_defaults=True, gc=False)
        return json.Decoder(body).decode

    def scan(self, window: bytes, _: int = 1, __: int = 0) -> Scan:
        spans: list[Span | Ended] = []
        size = len(window)
        at = number = vouched = 0
        while at < size:
            end = window.find(b"\n", at)
            end = size if end < 0 else end
            if end - at < LONGEST and self._vouches(window[at:end]):
                vouched += 1
            else:
                spans.append(Span(at, end, number, vouched))
            number += 1
            at = end + 1
        return Scan(spans, number, vouched)

    def _vouches(self, line: bytes) -> bool:
        if not is_utf8(line):
            return False
        try:
            text = compact(line)
            body = self.decode(text)
        except Failed:
            return False
        if len(encode(body)) != len(text):
            self._miss(line)
            return False
        messages = body.messages
        body.messages = []
        shell = encode(body)
        facts = self.around.facts(shell)
        calls = None if facts is None else self.wire.calls_in(messages, facts.terms)
        if facts is None or calls is None:
            return False
        self.around.count(facts, len(messages), calls)
        return True

    def _miss(self, line: bytes) -> None:
        """A key that was not looked for: a few more such lines, and it will be."""
        known = len(self.keys)
        self._learn(line)
        if len(self.keys) > known:
            self.decode = self._decoder()

    @property
    def passed(self) -> Passed:
        return self.around.passed
