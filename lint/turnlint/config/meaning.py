"""Check settings beyond their schema: formats, rules, dates, expressions and pointers must be valid.

The checks do not depend on the files that the settings apply to.
"""

import re
from collections.abc import Iterator
from typing import Any

from turnlint.config.reading import Layer
from turnlint.config.selectors import parts, unknown
from turnlint.errors import ExpressionError, LocatedError
from turnlint.globs import DEEP, is_plain, pointer_steps
from turnlint.handwritten import Path
from turnlint.own_rules.expressions import expression
from turnlint.schema_errors import in_words
from turnlint.text import did_you_mean, quote_value

PROFILES = (".yaml", ".yml")


def faults(layer: Layer, own: frozenset[str]) -> Iterator[LocatedError]:
    """Yield all errors in one settings file, given the names of all of the user's own rules."""
    value = layer.document.value
    found = [*_rules(value.get("rules", ())), *_ignores(value.get("ignore", ())), *unknown(value, own)]
    for prefix, part in parts(value):
        name = part.get("format", "auto")
        found += _format((*prefix, "format"), name)
        if "none" in (names := texts(part.get("provider", ()))) and len(names) > 1:
            found.append(((*prefix, "provider"), "'none' cannot be combined with other providers"))
        found += [
            (
                (*prefix, "provider"),
                f"{quote_value(one)} is a file; put the file in `profile` and the provider's name here",
            )
            for one in names
            if one.endswith(PROFILES)
        ]
    yield from (
        LocatedError(in_words(path) + sentence, layer.document.spot(path)) for path, sentence in found
    )


_Wrong = tuple[Path, str]


def texts(value: Any) -> list[str]:
    """Return a text, or the texts of a list, as a list."""
    return [value] if isinstance(value, str) else [one for one in value if isinstance(one, str)]


def _format(path: Path, name: str) -> Iterator[_Wrong]:
    from turnlint.carriers import NAMES

    if name not in ("auto", *NAMES):
        yield path, f"unknown format {did_you_mean(name, ('auto', *NAMES))}"


def _ignores(ignores: Any) -> Iterator[_Wrong]:
    for index, one in enumerate(ignores):
        if not isinstance(one, dict):
            continue
        path: Path = ("ignore", index)
        if not one.keys() - {"reason", "until"}:
            yield path, "selects nothing to ignore"
        for key in ("until", "before", "after"):
            if key in one and not _is_day(one[key]):
                yield (*path, key), f"not a date: {quote_value(one[key])}"
        for pointer in texts(one.get("pointer", ())):
            if pointer and not pointer.startswith("/"):
                yield (
                    (*path, "pointer"),
                    f"{quote_value(pointer)} is not a JSON Pointer: expected a leading slash",
                )


def _is_day(text: str) -> bool:
    from datetime import date

    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _rules(rules: Any) -> Iterator[_Wrong]:
    seen = set()
    for index, rule in enumerate(rules):
        path: Path = ("rules", index)
        if rule["name"] in seen:
            yield (*path, "name"), f"two rules have the name {rule['name']!r}"
        seen.add(rule["name"])
        each = pointer_steps(rule.get("each", ""))
        for where in rule.get("where", ()):
            if where and not where.startswith("/"):
                yield (
                    (*path, "where", where),
                    f"{quote_value(where)} is not a JSON Pointer: expected a leading slash",
                )
        for below in (rule["pointer"], *rule.get("where", ())):
            if DEEP in each and DEEP in pointer_steps(below):
                yield path, "`**` is allowed only once in `each` and the pointer below it"
                break
        yield from _condition((*path, "when"), rule["when"])
        for where, condition in rule.get("where", {}).items():
            yield from _condition((*path, "where", where), condition)
        steps = pointer_steps(rule["pointer"])
        if "absent" in rule["when"] and (not steps or not is_plain(steps[-1])):
            yield (*path, "pointer"), "`absent` needs a pointer that ends with a key"


def _condition(path: Path, condition: dict[str, Any]) -> Iterator[_Wrong]:
    if "absent" in condition and len(condition) > 1:
        yield (*path, "absent"), "`absent` cannot be combined with other conditions"
    for key in ("matches", "not-matches"):
        if key in condition:
            try:
                expression(condition[key])
            except ExpressionError as error:
                yield (*path, key), f"{quote_value(condition[key])} {error}"


def is_date(text: str) -> bool:
    """Whether a text is a date, as `--today` and `until` expect it."""
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII) is not None and _is_day(text)
