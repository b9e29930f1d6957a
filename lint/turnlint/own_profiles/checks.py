"""What is wrong with a profile in a file, in sentences with places.

This module owns the questions to one document: its shape by the JSON Schema, expressions that compile, texts that
can be filled in, rules and wires that exist. It refuses to build the profile.
"""

import re
import warnings
from collections.abc import Iterator
from functools import cache
from string import Formatter
from typing import Any

from msgspec import Struct

from turnlint import wording
from turnlint.handwritten import Document, Fault, Path
from turnlint.own_profiles.shape import kinds, schema
from turnlint.text import did_you_mean, quote_value

EXPRESSIONS = frozenset({"pattern", "models", "other_models", "keep"})
_TYPES = {
    "string": "a string",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}


class Names(Struct, frozen=True):
    """What a profile may name."""

    rules: dict[str, str]
    """Names with their codes."""
    told: frozenset[str]
    """What built-in profiles name as the cause of a text, also where no rule looks for it yet."""
    wires: frozenset[str]


def faults(document: Document, names: Names) -> Iterator[Fault]:
    """All that is wrong with a document; where its shape is wrong, only that."""
    shaped = list(_shape(document))
    yield from shaped
    if not shaped:
        for path, value in _texts(document.value, ()):
            yield from _text(document, path, value)
        yield from _named(document, names)
        yield from _samples(document)


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    def is_integer(_: Any, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
    validator: Any = extend
    return validator(Draft202012Validator, type_checker=checker)(schema())


def _shape(document: Document) -> Iterator[Fault]:
    told = set()
    for error in _validator().iter_errors(document.value):
        for fault in _told(document, error):
            if fault.sentence not in told:  # one error for each key that is not there
                told.add(fault.sentence)
                yield fault


def _told(document: Document, error: Any) -> Iterator[Fault]:
    path: Path = tuple(error.absolute_path)
    if error.validator == "anyOf":
        yield from _clause(document, error, path)
        return
    if error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        for key in error.instance:
            if key not in known:
                sentence = f"unknown key {did_you_mean(key, known)}"
                yield Fault(_at(path) + sentence, document.spot((*path, key), key=True))
        return
    yield Fault(_at(path) + _sentence(error), document.spot(path))


def _clause(document: Document, error: Any, path: Path) -> Iterator[Fault]:
    """A clause is held against the kind that its rule names, not against all."""
    clause = error.instance
    if not isinstance(clause, dict):
        yield Fault(f"{_at(path)}wants a mapping, got {_kind(clause)}", document.spot(path))
        return
    rule = clause.get("rule")
    if "rule" not in clause:
        yield Fault(f"{_at(path)}missing 'rule'", document.spot(path))
    elif rule not in kinds():
        where = document.spot((*path, "rule"))
        yield Fault(
            f"{_at((*path, 'rule'))}no clauses exist for the rule {did_you_mean(str(rule), kinds())}", where
        )
    else:
        branch = list(kinds()).index(str(rule))
        for one in error.context:
            if one.schema_path[0] == branch:
                yield from _told(document, one)


def _sentence(error: Any) -> str:
    kind, wants, found = error.validator, error.validator_value, error.instance
    if kind == "type":
        types = [wants] if isinstance(wants, str) else wants
        return f"expected {' or '.join(_TYPES[one] for one in types)}, got {_kind(found)}"
    if kind == "enum":
        return f"unknown value {did_you_mean(str(found), wants)}"
    if kind == "required":
        return f"missing {' and '.join(repr(key) for key in wants if key not in found)}"
    if kind == "minimum":
        return f"expected {wants} or more, got {found}"
    if kind == "minItems":
        return "expected at least one"
    if kind == "maxLength":
        return f"is longer than {wants} characters"
    if kind == "pattern":
        return f"{quote_value(found)} is not a valid name: use lower-case letters, digits, `-`, `_` and `.`"
    return str(error.message)[:200]


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    kinds_of_value = {
        bool: "true or false",
        int: "a number",
        float: "a number with a point",
        str: "a string",
        list: "a list",
    }
    return kinds_of_value.get(type(value), "a mapping")


def _at(path: Path) -> str:
    """The place in words, to stand before a sentence."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return f"{text}: " if text else ""


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(one, (*path, key))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _texts(one, (*path, index))


def _text(document: Document, path: Path, value: str) -> Iterator[Fault]:
    why = None
    if path[-1] in EXPRESSIONS:
        why = _not_an_expression(value, inside=path[-1] == "keep")
    elif path[-1] == "says":
        why = _cannot_be_filled(value)
    elif path == ("name",) and (value in ("auto", "none") or value.endswith((".yaml", ".yml"))):
        why = f"{value!r} is reserved in --provider"
    if why:
        yield Fault(_at(path) + why, document.spot(path))


def _not_an_expression(text: str, *, inside: bool = False) -> str | None:
    """What is wrong with an expression, also where it is used inside of another."""
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


def _named(document: Document, names: Names) -> Iterator[Fault]:
    """Rules and wires that a profile names and that do not exist."""
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
            yield Fault(_at(path) + sentence, document.spot(path))
        elif path[0] == "weights" and name in kinds():
            sentence = f"{name!r} gets its severity from clauses; `weights` is for the other rules"
            yield Fault(_at(path) + sentence, document.spot(path))
    for path, name in _texts(value, ()):
        if len(path) > 1 and path[-2] in ("wires", "host_wires") and name not in names.wires:
            sentence = f"unknown wire {did_you_mean(name, sorted(names.wires))}"
            yield Fault(_at(path) + sentence, document.spot(path))
    if "drop" in value and "extends" not in value:
        yield Fault("drop: needs `extends`", document.spot(("drop",), key=True))


def _rules_in(value: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    for index, name in enumerate(value.get("drop", ())):
        yield ("drop", index), name
    for index, weight in enumerate(value.get("weights", ())):
        yield ("weights", index, "rule"), weight["rule"]
    for index, known in enumerate(value.get("known", ())):
        for number, name in enumerate(known["rules"]):
            yield ("known", index, "rules", number), name


def _samples(document: Document) -> Iterator[Fault]:
    for index, known in enumerate(document.value.get("known", ())):
        path: Path = ("known", index, "pattern")
        sample = known["sample"]
        if _not_an_expression(known["pattern"]) is None:
            pattern = re.compile(known["pattern"], re.MULTILINE)
            if not pattern.search(sample) and not pattern.search(" ".join(sample.split())):
                yield Fault(f"{_at(path)}does not match its own sample", document.spot(path))
