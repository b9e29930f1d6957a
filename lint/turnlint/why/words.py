"""Find the rules for a single word of an error text.

A word is too little to recognise a text. It still selects rules: by their code, name and headline, by the
known texts of the providers, and by the keys that a provider rejects or requires.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from turnlint.profiles import Profile
from turnlint.rulebook import Entry

MAX_CANDIDATES = 3
MAX_WORD_CHARACTERS = 80
MIN_WORD_CHARACTERS = 4
"""A shorter word is in too many texts."""
EXACT, HEADLINE, KEY, PAGE = 100.0, 3.0, 2.0, 0.25
TEXT, MAX_TEXTS = 0.5, 3.0
"""Weight of a known text, and of all known texts of a rule."""
_TOKEN = re.compile(r"[A-Za-z][\w-]*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def word_in(text: str) -> str:
    """Return the word if it is the whole text, in lower case with `_` between its parts; else an empty text."""
    bare = text.strip().strip("`'\"“”‘’.,:;!?()[]")
    is_word = _TOKEN.fullmatch(bare) is not None
    return _spelled(bare) if is_word and MIN_WORD_CHARACTERS <= len(bare) <= MAX_WORD_CHARACTERS else ""


def candidates(word: str, entries: Iterable[Entry], profiles: Iterable[Profile]) -> list[Entry]:
    """Return the rules that a word most likely concerns."""
    entries = list(entries)
    codes = {name: one.rule.code for one in entries for name in (one.rule.code, one.rule.name)}
    scores: defaultdict[str, float] = defaultdict(float)
    texts: defaultdict[str, float] = defaultdict(float)
    for entry in entries:
        rule = entry.rule
        if word in (_spelled(rule.code), _spelled(rule.name)):
            scores[rule.code] += EXACT
        elif word in _tokens(f"{entry.headline} {rule.name.replace('-', ' ')}"):
            scores[rule.code] += HEADLINE
        elif "_" in word and word in _tokens(entry.docs):
            scores[rule.code] += PAGE  # only names of fields: a page has too many other words
    keys: set[str] = set()
    for profile in profiles:
        for name, share, text in _texts(profile):
            if name in codes and word in _tokens(text):
                texts[codes[name]] += share
        for clause in profile.clauses:
            named = (getattr(clause, "key", ""), *getattr(clause, "refused", ()))
            if clause.code in codes and any(_spelled(str(one)) == word for one in named):
                keys.add(clause.code)
    for code in keys:
        scores[code] += KEY
    for code, found in texts.items():
        scores[code] += min(found, MAX_TEXTS)
    best = sorted(scores, key=lambda code: (-scores[code], code))[:MAX_CANDIDATES]
    if best and scores[best[0]] >= EXACT:
        best = best[:1]
    by_code = {one.rule.code: one for one in entries}
    return [by_code[code] for code in best]


def _texts(profile: Profile) -> Iterator[tuple[str, float, str]]:
    """Yield each text of a provider with its rule and its weight."""
    for known in profile.known:
        for rank, name in enumerate(known.rules):
            yield name, 2 * TEXT / (rank + 1), known.sample
    for clause in profile.clauses:
        yield clause.code, TEXT, clause.says
    for weight in profile.weights:
        yield weight.rule, TEXT, weight.says


def _tokens(text: str) -> set[str]:
    """Return the words of a text, and the singular of each word."""
    found = {_spelled(one) for one in _TOKEN.findall(text)}
    return found | {one.removesuffix("s") for one in found}


def _spelled(word: str) -> str:
    return _HUMP.sub("_", word).replace("-", "_").lower().rstrip("_")
