"""Turn errors of a JSON Schema into messages with positions."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from turnlint.errors import LocatedError
from turnlint.handwritten import Document, Path
from turnlint.text import did_you_mean, quote_value

_TYPES = {
    "string": "a string", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list", "object": "a mapping", "null": "null",
}  # fmt: skip
_FOUND = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list"}
Explained = Iterator[tuple[Path, str, bool]]
"""A path, the message, and whether it concerns the key."""


class ShapeChecker:
    """A JSON Schema, and the sentences for texts that do not match one of its patterns."""

    def __init__(self, schema: dict[str, Any], patterns: Mapping[str, str]) -> None:
        self.schema = schema
        self.patterns = patterns

    def faults(self, document: Document) -> Iterator[LocatedError]:
        """Yield the errors of a document, each path and message once."""
        told = set()
        for error in self._validator.iter_errors(document.value):
            for path, sentence, is_key in self._explain(error):
                if (path, sentence) not in told:  # jsonschema has an error for each missing key
                    told.add((path, sentence))
                    spot = document.spot(path, key=is_key)
                    yield LocatedError(in_words(path[:-1] if is_key else path) + sentence, spot)

    @cached_property
    def _validator(self) -> Any:
        from jsonschema import Draft202012Validator
        from jsonschema.validators import extend

        types = Draft202012Validator.TYPE_CHECKER.redefine(
            "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
        )
        keywords = {"pattern": _check_pattern, "minLength": _check_min_length}
        kind: Any = extend(Draft202012Validator, keywords, type_checker=types)  # type: ignore[no-untyped-call]
        return kind(self.schema)

    def _explain(self, error: Any) -> Explained:
        path: Path = tuple(error.absolute_path)
        if error.validator == "anyOf":
            yield from self._explain_choice(error, path)
        elif error.validator == "additionalProperties":
            known = [name for name in error.schema["properties"] if name[0] != "$"]
            for key in error.instance:
                if key not in error.schema["properties"]:
                    yield (*path, key), f"unknown key {did_you_mean(key, known)}", True
        elif sentence := self._sentence(error):
            yield path, sentence, False

    def _explain_choice(self, error: Any, path: Path) -> Explained:
        """Explain the errors of the first choice that has the right type."""
        kinds: list[str] = []
        for number in range(len(error.validator_value)):
            errors = [one for one in error.context if one.schema_path[0] == number]
            wrong = next((one for one in errors if not one.path and _is_of_type(one)), None)
            if wrong is None:
                for one in errors:
                    yield from self._explain(one)
                return
            kinds.append(
                _TYPES["string"] if wrong.validator == "enum" else _type_names(wrong.validator_value)
            )
        yield path, f"expected {' or '.join(dict.fromkeys(kinds))}, got {_found(error.instance)}", False

    def _sentence(self, error: Any) -> str | None:
        kind, wants, found = error.validator, error.validator_value, error.instance
        if kind == "type":
            return f"expected {_type_names(wants)}, got {_found(found, wants)}"
        if kind == "enum":
            if isinstance(found, str):
                return f"unknown value {did_you_mean(found, wants)}"
            return f"expected one of {', '.join(wants)}, got {_found(found)}"
        if kind == "const":
            return f"expected {str(wants).lower()}"
        if kind == "required":
            return f"missing {' and '.join(repr(key) for key in wants if key not in found)}"
        if kind == "minProperties":
            if any(key not in found for key in error.schema.get("required", ())):
                return None
            return "names nothing" if found else "is empty"
        if kind == "pattern":
            return f"{quote_value(found)} {self.patterns[wants]}"
        return {
            "minimum": f"expected {wants} or more, got {found}",
            "minItems": "expected at least one",
            "minLength": "is blank",
            "maxLength": f"is longer than {wants} characters",
        }.get(kind, str(error.message)[:200])


def in_words(path: Path) -> str:
    """Return a path as the start of a message."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return f"{text}: " if text else ""


def _is_of_type(error: Any) -> bool:
    """Whether an error says that a value has another type than the choice."""
    return error.validator == "type" or (error.validator == "enum" and not isinstance(error.instance, str))


def _type_names(types: str | list[str]) -> str:
    return " or ".join(_TYPES[one] for one in ([types] if isinstance(types, str) else types))


def _found(value: Any, wants: str | list[str] = "") -> str:
    if value is None:
        return "nothing"
    if isinstance(value, float) and "integer" in wants:
        return "a number with a point"
    return _FOUND.get(type(value), "a mapping")


def _check_pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[Any]:
    """Check a pattern as ECMA 262 does: `$` is the end of the text; in Python it may match before a line end."""
    from jsonschema import ValidationError

    if isinstance(value, str) and not re.search(pattern.replace("$", r"\Z"), value):
        yield ValidationError("does not match")


def _check_min_length(_: Any, length: int, value: Any, __: Any) -> Iterator[Any]:
    """Check a least length; white space alone counts as empty."""
    from jsonschema import ValidationError

    if isinstance(value, str) and len(value.strip()) < length:
        yield ValidationError("is blank")
