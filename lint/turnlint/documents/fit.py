"""Compare a decoded JSON value with the shape that a format declares for it.

The comparison names every place whose kind differs from the declared kind, and empties it. Thus the rest of a damaged
record can still be decoded. Shapes are msgspec structs.
"""

from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from turnlint.model import Misfit, Pointer

_NAMES = {
    inspect.StrType: "a string",
    inspect.IntType: "a number",
    inspect.FloatType: "a number",
    inspect.BoolType: "a boolean",
    inspect.NoneType: "null",
    inspect.ListType: "a list",
    inspect.StructType: "an object",
    inspect.DictType: "an object",
}
_ANYTHING = (inspect.AnyType, inspect.RawType)


def kind_of(value: Any) -> str:
    """Return the JSON name of a decoded value's kind, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names[type(value)]


def fit(value: Any, shape: Any) -> tuple[Any, list[Misfit]]:
    """Return the value reduced to the shape, and the misfits. The original value does not change."""
    misfits: list[Misfit] = []
    healed = _fit(value, _type_of(shape), (), misfits)
    return healed, misfits


@cache  # the shapes of the formats, each of which takes 0.4 ms
def _type_of(shape: Any) -> inspect.Type:
    return inspect.type_info(shape)


def _options(declared: inspect.Type) -> tuple[inspect.Type, ...]:
    return declared.types if isinstance(declared, inspect.UnionType) else (declared,)


def _fit(value: Any, declared: inspect.Type, at: Pointer, misfits: list[Misfit]) -> Any:
    options = _options(declared)
    if any(isinstance(option, _ANYTHING) for option in options):
        return value
    kind = kind_of(value)
    option = next((option for option in options if _NAMES.get(type(option)) == kind), None)
    if option is None:
        expected = [_NAMES[type(option)] for option in options if type(option) in _NAMES]
        expected.sort(key=lambda name: name == "null")
        misfits.append(Misfit(at, " or ".join(dict.fromkeys(expected)), kind))
        return _empty(options)
    if isinstance(option, inspect.ListType):
        return [_fit(item, option.item_type, (*at, index), misfits) for index, item in enumerate(value)]
    if isinstance(option, inspect.StructType):
        fields = {field.encode_name: field.type for field in option.fields}
        return {
            key: _fit(item, fields[key], (*at, key), misfits) if key in fields else item
            for key, item in value.items()
        }
    return value


def _empty(options: tuple[inspect.Type, ...]) -> Any:
    """Return an empty value of a declared kind, so that the indices of later values stay correct."""
    kinds = [type(option) for option in options]
    if inspect.NoneType in kinds:
        return None
    if inspect.StructType in kinds or inspect.DictType in kinds:
        return {}
    return [] if inspect.ListType in kinds else ""


def encode(value: Any) -> bytes | None:
    """Encode a value for a decoder; none where the value is nested too deeply for the encoder."""
    try:
        return msgspec.json.encode(value)
    except (RecursionError, UnicodeEncodeError, OverflowError):
        return None
