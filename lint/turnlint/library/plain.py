"""Convert Python objects to JSON values and back.

It supports objects of SDKs, dataclasses and structs. Values without a JSON form are encoded as SDKs encode
them (bytes in base64, times by ISO 8601), and are restored afterwards. No SDK is known by name, and the input
is never changed.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from json import JSONDecoder, dumps
from typing import Any

import msgspec
from msgspec import Struct

from turnlint.errors import InputError
from turnlint.placing import as_pointer
from turnlint.report.escape import visible

DEEPEST = 300
"""Limit of the nesting: Python allows about a thousand nested calls, some of which are the caller's own."""
_SCALARS = (str, int, float, bool, type(None))
_NO_LISTS = (str, bytes, bytearray, memoryview)
_SPACE = " \t\r\n"


class Plain(Struct, frozen=True):
    """The JSON value of an object, and its parts that were encoded in another form."""

    value: Any
    kept: dict[tuple[str | int, str], Any]
    """Original values by their key and the text that represents them."""


def plain(value: object) -> Plain:
    """Return the JSON value of an object. Raises `InputError` where there is none."""
    if not _is_list(value) and not isinstance(value, Mapping) and _fields_of(value, "") is None:
        hint = "; decode it first, or run `turnlint lint` on the file" if isinstance(value, _NO_LISTS) else ""
        raise InputError(f"expected a list of messages or a request, got {_kind(value)}{hint}")
    walk = _Walk()
    try:
        return Plain(walk.value(value), walk.kept)
    except RecursionError:
        raise InputError(_TOO_DEEP) from None


_TOO_DEEP = f"nested deeper than {DEEPEST} levels"


def text_of(given: Plain) -> bytes:
    """Return JSON on one line. Numbers that JSON lacks are written as Python does, and are then found as damage."""
    try:
        return dumps(given.value).encode()
    except (ValueError, RecursionError) as error:
        raise InputError(f"cannot be written as JSON: {error}") from None


def read_back(data: bytes, given: Plain, *, several: bool = False) -> Any:
    """Decode a repaired text, or `several` lines of it, and restore the values that had another form."""
    text, at, found = data.decode(), 0, []
    decoder = JSONDecoder(strict=False)
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(_restored(value, "", given.kept) if given.kept else value)
        while text[at : at + 1] in _SPACE and at < len(text):
            at += 1
    return found if several or len(found) != 1 else found[0]


def _restored(value: Any, key: str | int, kept: dict[tuple[str | int, str], Any]) -> Any:
    if isinstance(value, dict):
        return {name: _restored(inner, name, kept) for name, inner in value.items()}
    if isinstance(value, list):
        return [_restored(inner, key, kept) for inner in value]
    return kept.get((key, value), value) if isinstance(value, str) else value


class _Walk:
    """One traversal of an object."""

    def __init__(self) -> None:
        self.path: list[str | int] = []
        self.open: set[int] = set()
        """The objects that contain the current position."""
        self.kept: dict[tuple[str | int, str], Any] = {}

    def value(self, value: Any) -> Any:
        kind = type(value)
        if kind in _SCALARS:
            return value
        if isinstance(value, Enum):
            return self.value(value.value)
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int | float):
            return float(value) if isinstance(value, float) else int(value)
        if isinstance(value, Mapping) or _is_list(value):
            return self._inside(value, value)
        fields = _fields_of(value, self._here())
        return self._other(value) if fields is None else self._inside(value, fields)

    def _inside(self, owner: object, held: Any) -> Any:
        if id(owner) in self.open:
            raise InputError(f"{self._here()}: {_kind(owner)} contains itself")
        if len(self.path) >= DEEPEST:
            raise InputError(f"{self._here()}: {_TOO_DEEP}")
        self.open.add(id(owner))
        out: Any = self._object(held) if isinstance(held, Mapping) else self._list(held)
        self.open.discard(id(owner))
        return out

    def _object(self, held: Mapping[Any, Any]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, inner in held.items():
            name = self._key(key)
            if name in out:
                raise InputError(f"{self._here()}: two keys are both encoded as {visible(name)!r}")
            self.path.append(name)
            out[name] = self.value(inner)
            self.path.pop()
        return out

    def _list(self, held: Sequence[Any]) -> list[Any]:
        out: list[Any] = []
        for index, inner in enumerate(held):
            self.path.append(index)
            out.append(self.value(inner))
            self.path.pop()
        return out

    def _key(self, key: object) -> str:
        """Return a key as Python's own encoder writes it."""
        if isinstance(key, Enum):
            key = key.value
        if isinstance(key, str):
            return str.__str__(key)
        if key is None or isinstance(key, int | float):
            return dumps(key)
        raise InputError(f"{self._here()}: a key is {_kind(key)}, which JSON cannot represent")

    def _other(self, value: object) -> str:
        """Return the text that represents bytes, a time or a similar value."""
        try:
            text = msgspec.to_builtins(bytes(value) if isinstance(value, memoryview) else value)
        except (TypeError, ValueError, RecursionError):
            text = None
        if not isinstance(text, str):
            raise InputError(f"{self._here()}: {_kind(value)} cannot be written as JSON")
        names = [part for part in self.path if isinstance(part, str)]
        self.kept[names[-1] if names else "", text] = value
        return text

    def _here(self) -> str:
        return visible(as_pointer(tuple(self.path))) or "the whole"


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, _NO_LISTS)


def _kind(value: object) -> str:
    return f"a value of type {visible(type(value).__name__)}"


def _fields_of(value: object, here: str) -> Mapping[Any, Any] | Sequence[Any] | None:
    """Return the fields of an object of a class with fields, or nothing. Fields that were never set are left out."""
    kind: Any = type(value)
    reader = next((read for mark, read in _READERS if hasattr(kind, mark)), None)
    if reader is None:
        return None
    try:
        found: Any = reader(value)
    except Exception as error:  # noqa: BLE001 - the object's own code, whose message is passed on
        said = visible(str(error)).partition("\\u{a}")[0]
        raise InputError(f"{here or 'the whole'}: {_kind(value)} cannot be read: {said}") from None
    return found if isinstance(found, Mapping) or _is_list(found) else None


def _pydantic(value: Any) -> Any:
    """Return fields that were set, and those that are not `None`.

    A default may be a role, which matters, or an absent list of calls, which does not.
    """
    whole = value.model_dump(mode="python", by_alias=True, warnings=False)
    return _meant(whole, value.model_dump(mode="python", by_alias=True, warnings=False, exclude_unset=True))


def _meant(whole: Any, given: Any) -> Any:
    if isinstance(whole, dict) and isinstance(given, dict):
        return {
            key: _meant(inner, given.get(key))
            for key, inner in whole.items()
            if key in given or inner is not None
        }
    if isinstance(whole, list) and isinstance(given, list) and len(whole) == len(given):
        return [_meant(*pair) for pair in zip(whole, given, strict=True)]
    return whole


def _struct(value: Any) -> Any:
    fields = msgspec.structs.fields(value)
    settings = type(value).__struct_config__
    if settings.array_like:
        return msgspec.to_builtins(value)
    said = [
        (field.encode_name, inner)
        for field in fields
        if (inner := getattr(value, field.name)) is not msgspec.UNSET
        and not (inner is None and field.default is None)
    ]
    return {**({settings.tag_field: settings.tag} if settings.tag is not None else {}), **dict(said)}


def _dataclass(value: Any) -> Any:
    return {
        name: inner
        for name, field in type(value).__dataclass_fields__.items()
        if hasattr(value, name)
        and not field._field_type.name.startswith("_FIELD_CLASSVAR")  # noqa: SLF001 - no other way without an import
        and not ((inner := getattr(value, name)) is None and field.default is None)
    }


def _attrs(value: Any) -> Any:
    return {
        field.name: inner
        for field in type(value).__attrs_attrs__
        if not ((inner := getattr(value, field.name)) is None and field.default is None)
    }


_READERS = (
    ("model_dump", _pydantic),
    ("__struct_fields__", _struct),
    ("__dataclass_fields__", _dataclass),
    ("__attrs_attrs__", _attrs),
    ("to_dict", lambda value: value.to_dict()),
)
"""Readers by the attribute of each family of classes, so that none has to be imported. The first match applies."""
