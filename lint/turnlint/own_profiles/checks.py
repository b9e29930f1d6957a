"""Validate a profile in a file, and report its faults with their positions.

The checks are: the shape by the JSON Schema, regular expressions that compile, texts whose fields exist, and known
rules and wires.
"""

import re
import warnings
from collections.abc import Iterator
from functools import cache
from string import Formatter
from typing import Any

from msgspec import Struct

from turnlint import wording
from turnlint.errors import LocatedError
from turnlint.handwritten import Document, Path
from turnlint.own_profiles.shape import NAME, VERSION, kinds, schema
from turnlint.schema_errors import Explained, ShapeChecker, in_words
from turnlint.text import did_you_mean, quote_value

EXPRESSIONS = frozenset({"pattern", "models", "other_models", "keep"})


class Names(Struct, frozen=True):
    """The names to which a profile may refer."""

    rules: dict[str, str]
    """The names of rules, with their codes."""
    told: frozenset[str]
    """Causes that built-in profiles give for a text, also where no rule checks them yet."""
    wires: frozenset[str]


def faults(document: Document, names: Names) -> Iterator[LocatedError]:
    """Yield all faults of a document; only the faults of its shape if it has any."""
    shaped = list(_checker().faults(document))
    yield from shaped
    if not shaped:
        for path, value in _texts(document.value, ()):
            yield from _text(document, path, value)
        yield from _named(document, names)
        yield from _samples(document)


class _ProfileShape(ShapeChecker):
    """The checker of a profile, which checks a clause against the kind of its rule, not against all kinds."""

    def _explain_choice(self, error: Any, path: Path) -> Explained:
        clause = error.instance
        if not isinstance(clause, dict):
            yield from super()._explain_choice(error, path)
            return
        rule = clause.get("rule")
        if "rule" not in clause:
            yield path, "missing 'rule'", False
        elif rule not in kinds():
            sentence = f"no clauses exist for the rule {did_you_mean(str(rule), kinds())}"
            yield (*path, "rule"), sentence, False
        else:
            branch = list(kinds()).index(str(rule))
            for one in error.context:
                if one.schema_path[0] == branch:
                    yield from self._explain(one)


@cache
def _checker() -> ShapeChecker:
    sentence = "is not a valid name: use lower-case letters, digits, `-`, `_` and `.`"
    return _ProfileShape(schema(), dict.fromkeys((NAME, VERSION), sentence))


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(one, (*path, key))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _texts(one, (*path, index))


def _text(document: Document, path: Path, value: str) -> Iterator[LocatedError]:
    why = None
    if path[-1] in EXPRESSIONS:
        why = _not_an_expression(value, inside=path[-1] == "keep")
    elif path[-1] == "says":
        why = _cannot_be_filled(value)
    elif path == ("name",) and (value in ("auto", "none") or value.endswith((".yaml", ".yml"))):
        why = f"{value!r} is reserved in --provider"
    if why:
        yield LocatedError(in_words(path) + why, document.spot(path))


def _not_an_expression(text: str, *, inside: bool = False) -> str | None:
    """Return the fault of an expression, also where it is used inside another."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error" if inside else "ignore")
            re.compile(text)
            re.compile(f"(?!{text})." if inside else text)
    except DeprecationWarning as error:
        return f"{quote_value(text)} cannot be used here: {error}"
    except re.error as error:
        place = f" at character {error.pos + 1}" if error.pos is not None else ""
        return f"{quote_value(text)} is not a valid regular expression: {error.msg}{place}"
    except (RecursionError, OverflowError, MemoryError):
        return f"{quote_value(text)} is too large for a regular expression"
    return None


def _cannot_be_filled(text: str) -> str | None:
    try:
        fields = [(name, spec or turn) for _, name, spec, turn in Formatter().parse(text) if name is not None]
    except ValueError:
        return "has an unmatched brace; write a literal brace twice"
    for name, more in fields:
        if name not in wording.FIELDS:
            return f"unknown field {did_you_mean(name, sorted(wording.FIELDS))}"
        if more:
            return f"a field is its name alone: {{{name}}}"
    return None


def _named(document: Document, names: Names) -> Iterator[LocatedError]:
    """Yield the faults of rules and wires that a profile names and that do not exist."""
    value = document.value
    by_code = {code: rule for rule, code in names.rules.items()}
    for path, name in _rules_in(value):
        if path[0] == "known" and (name in by_code or name in names.told):
            continue
        if name not in names.rules:
            code = name.upper()
            hint = (
                f"{name!r}; its name is {by_code[code]!r}"
                if code in by_code
                else did_you_mean(name, sorted(names.rules))
            )
            sentence = f"unknown rule {hint}"
            yield LocatedError(in_words(path) + sentence, document.spot(path))
        elif path[0] == "weights" and name in kinds():
            sentence = f"{name!r} gets its severity from clauses; `weights` is for the other rules"
            yield LocatedError(in_words(path) + sentence, document.spot(path))
    for path, name in _texts(value, ()):
        if len(path) > 1 and path[-2] in ("wires", "host_wires") and name not in names.wires:
            sentence = f"unknown wire {did_you_mean(name, sorted(names.wires))}"
            yield LocatedError(in_words(path) + sentence, document.spot(path))
    if "drop" in value and "extends" not in value:
        yield LocatedError("drop: needs `extends`", document.spot(("drop",), key=True))


def _rules_in(value: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    for index, name in enumerate(value.get("drop", ())):
        yield ("drop", index), name
    for index, weight in enumerate(value.get("weights", ())):
        yield ("weights", index, "rule"), weight["rule"]
    for index, known in enumerate(value.get("known", ())):
        for number, name in enumerate(known["rules"]):
            yield ("known", index, "rules", number), name


def _samples(document: Document) -> Iterator[LocatedError]:
    for index, known in enumerate(document.value.get("known", ())):
        path: Path = ("known", index, "pattern")
        sample = known["sample"]
        if _not_an_expression(known["pattern"]) is None:
            pattern = re.compile(known["pattern"], re.MULTILINE)
            if not pattern.search(sample) and not pattern.search(" ".join(sample.split())):
                yield LocatedError(f"{in_words(path)}does not match its own sample", document.spot(path))
