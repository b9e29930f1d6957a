"""Define the form of a provider's ids, and make ids of that form.

The module reads a profile's clauses about ids, and searches for a spelling that fits all of them. The habits of wires
are in a table; all other constraints come from the clauses.
"""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from hashlib import shake_256
from itertools import product
from string import ascii_letters, ascii_lowercase, digits

from msgspec import Struct

from turnlint.clause import Clause
from turnlint.clauses import IdCharset, IdForm, IdLength
from turnlint.errors import NoFittingIdError
from turnlint.ids.canonical import ANTHROPIC, HISTORY, LENGTH, OPENAI
from turnlint.model import Call, Result, Transcript
from turnlint.profiles import Profile

IDLESS = frozenset({"gemini", "ollama"})
"""Wires on which a call may omit its id (google-genai 3.3.0 and ollama 0.6.3, types)."""

URL_SAFE = ascii_letters + digits + "-_"
LETTERS_AND_DIGITS = digits + ascii_letters
ALPHABETS = (URL_SAFE, LETTERS_AND_DIGITS, digits + ascii_lowercase, digits)
TRIES = 1000
"""The number of salts to try for one id; a form with enough ids for its calls needs a few at most."""
LEAST_AFTER_PREFIX = 9
"""The minimum number of characters after a prefix; fewer cannot distinguish many calls."""

_COUNTS = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_ODD = re.compile(r"[^A-Za-z0-9_-]")


class Shape(Struct, frozen=True):
    """The spelling of one kind of ids."""

    prefix: str
    alphabet: str
    length: int

    def spell(self, canonical: str, salt: int) -> str:
        """Return an id that derives from a canonical one. Each salt gives another id."""
        if self.alphabet == URL_SAFE and not salt:
            return self.prefix + canonical.removeprefix(HISTORY)[: self.length]
        seed = f"{canonical}|{salt}" if salt else canonical
        number = int.from_bytes(shake_256(seed.encode()).digest(self.length + 16))
        made = []
        for _ in range(self.length):
            number, rest = divmod(number, len(self.alphabet))
            made.append(self.alphabet[rest])
        return self.prefix + "".join(made)

    def specimens(self) -> Iterator[str]:
        """Yield ids of this shape in which each character occurs once at each position."""
        around = self.alphabet * (self.length // len(self.alphabet) + 2)
        return (self.prefix + around[start:][: self.length] for start in range(len(self.alphabet)))


USUAL = Shape(OPENAI, URL_SAFE, LENGTH)
HABITS = {
    "anthropic": Shape(ANTHROPIC, URL_SAFE, LENGTH),
    "bedrock": Shape("tooluse_", URL_SAFE, LENGTH),
    "mistral": Shape("", LETTERS_AND_DIGITS, 9),
}
"""The form of the ids of a wire's own calls, as recorded (2026-11); other wires use OpenAI's form."""
SERVER_HABITS = (
    Shape("srvtoolu_", LETTERS_AND_DIGITS, LENGTH),
    Shape("mcptoolu_", LETTERS_AND_DIGITS, LENGTH),
)
"""The forms of the ids of calls that a provider runs itself (Anthropic's API reference)."""


class Demand:
    """The constraints on the ids of one kind of calls."""

    def __init__(self, habits: tuple[Shape, ...], clauses: tuple[Clause, ...]) -> None:
        self.habits = habits
        self.required = any(isinstance(one, IdForm) and one.required for one in clauses)
        """Whether a call must have an id, even where the wire allows none."""
        forms = [one.pattern for one in clauses if isinstance(one, IdCharset | IdForm) and one.pattern]
        self.patterns = tuple(dict.fromkeys(forms))
        self.matches = [re.compile(pattern).fullmatch for pattern in self.patterns]
        self.most = min((one.most for one in clauses if isinstance(one, IdLength)), default=0)
        self.counted = any(isinstance(one, IdForm) and one.global_count for one in clauses)
        """Whether ids contain the number of their call in the request."""

    def fits(self, identifier: str) -> bool:
        return (not self.most or len(identifier) <= self.most) and all(
            match(identifier) for match in self.matches
        )

    @cached_property
    def shape(self) -> Shape:
        """Return the likeliest spelling whose ids all fit, else the likeliest with some ids that fit."""
        for enough in (all, any):
            for shape in self._shapes():
                if enough(map(self.fits, shape.specimens())):
                    return shape
        raise NoFittingIdError(f"no id can be {' and '.join(self._wants())}")

    def _shapes(self) -> Iterator[Shape]:
        yield from self.habits
        said = (pair for pattern in self.patterns for pair in _COUNTS.findall(pattern))
        counts = [int(count) for pair in said for count in pair if count]
        prefixes = dict.fromkeys((*(shape.prefix for shape in self.habits), ""))
        for prefix, alphabet in product(prefixes, ALPHABETS):
            ends = (size - len(prefix) for size in (*counts, self.most))
            least = LEAST_AFTER_PREFIX if prefix else 1
            for length in dict.fromkeys((LENGTH, *counts, *ends)):
                if least <= length <= 256:
                    yield Shape(prefix, alphabet, length)

    def _wants(self) -> Iterator[str]:
        yield from (f"`{pattern}`" for pattern in self.patterns)
        if self.most:
            yield f"at most {self.most} characters long"

    def made(self, canonical: str, salt: int) -> str:
        """Return an id that derives from a canonical one. Each salt gives another id."""
        for again in range(TRIES):
            identifier = self.shape.spell(canonical, salt + again * TRIES)
            if self.fits(identifier):
                return identifier
        raise NoFittingIdError(f"hardly any id can be {' and '.join(self._wants())}")

    def under_prefix(self, internal: str) -> str | None:
        """Return the id of a stored history under the provider's own prefix, if it fits."""
        prefix, rest = self.shape.prefix, internal.removeprefix(HISTORY)
        return prefix + rest if prefix and rest and self.fits(prefix + rest) else None

    def numbered(self, name: str | None, number: int, old: str | None = None) -> str:
        """Return the id of a call that is counted through the request: the old one, if it has this number."""
        if old is not None and old.endswith(f":{number}") and self.fits(old):
            return old
        said = name or "tool"
        for one in (said, _ODD.sub("_", said), "tool"):
            identifier = f"functions.{one}:{number}"
            if self.fits(identifier):
                return identifier
        raise NoFittingIdError(f"no id like functions.name:0 is {' and '.join(self._wants())}")


def number_in(identifier: str) -> int:
    """Return the number after the last colon of a counted id."""
    digits = identifier.rpartition(":")[2]
    return int(digits) if digits.isdecimal() and len(digits) < 9 else 0


class Demands:
    """The constraints of a profile on the ids of a conversation."""

    def __init__(
        self, profile: Profile, transcript: Transcript, model: str | None = None, *, in_place: bool = False
    ) -> None:
        self.label = profile.label
        said = transcript.wire.speaks
        self.in_place = in_place
        self.spelled = in_place or said in profile.wires
        """Whether the conversation stays on its wire, or is on a wire of the provider, and needs no conversion."""
        wire = said if said in profile.wires else profile.wires[0]
        holds = _holding(wire, model or _model_of(profile, transcript))
        clauses = tuple(one for one in profile.clauses if holds(one))
        own = HABITS.get(wire, USUAL)
        self.idless = wire in IDLESS
        self.call = Demand((own,), tuple(one for one in clauses if _is_of_calls(one)))
        server = tuple(one for one in clauses if isinstance(one, IdForm) and one.of == "server")
        if server or said in profile.wires:
            self.server = Demand((*SERVER_HABITS, own), server)
        else:  # on another wire it is an ordinary call
            self.server = self.call

    def of(self, block: Call | Result) -> Demand:
        return self.server if block.server else self.call

    def may_lack(self, block: Call | Result) -> bool:
        """Whether a call or a result may be without an id."""
        lacks = self.idless and not self.in_place
        return not self.of(block).required and (lacks or (self.spelled and not block.needs_id))

    def leaves(self, result: Result) -> bool:
        """Whether a result without an id stays without one, although its call has an id."""
        return self.spelled and self.may_lack(result)


def _is_of_calls(clause: Clause) -> bool:
    if isinstance(clause, IdForm | IdLength):
        return clause.of == "call"
    return isinstance(clause, IdCharset)


def _holding(wire: str, model: str | None) -> Callable[[Clause], bool]:
    """Return a predicate for the clauses that apply. A clause about models applies only to a known model."""

    def holds(clause: Clause) -> bool:
        if clause.wires and wire not in clause.wires:
            return False
        if model is None:
            return not clause.models
        if clause.other_models and re.search(clause.other_models, model):
            return False
        return not clause.models or re.search(clause.models, model) is not None

    return holds


def _model_of(profile: Profile, transcript: Transcript) -> str | None:
    """Return the model with which the conversation continues, if it may be one of the provider's."""
    model = transcript.request.model if transcript.request else None
    if model is None or transcript.wire.speaks not in profile.wires:
        return None
    return model if not profile.models or re.search(profile.models, model) else None
