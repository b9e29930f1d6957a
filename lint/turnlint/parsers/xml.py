"""Parse arguments in XML: an element for each argument, or pairs of keys and values.

Models write `<city>Paris</city>`, `<parameter name="city">Paris</parameter>`, `<parameter=city>Paris</parameter>` or
`<arg_key>city</arg_key><arg_value>Paris</arg_value>`. XML has no types: without a declared type, a value is its text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from json import loads
from typing import Any

from msgspec import Struct

MAX_DEPTH = 32
"""The maximum number of elements around an element."""
WRAPPERS = frozenset({"arguments", "args", "parameters", "params", "input"})
"""Names of an element around all arguments, if the tool has no argument of this name (Anthropic's format of 2023)."""
PAIRED = frozenset({"parameter", "param", "argument", "arg"})
"""Names of elements that name their argument in an attribute."""

_TAG = re.compile(
    r"""<(?P<end>/?)(?P<name>[A-Za-z_][\w.:-]*+)(?:=(?P<key>[\w.-]++))?"""
    r"""(?P<more>(?:\s++[A-Za-z_][\w.:-]*+\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'))*+)\s*+(?P<alone>/?)>"""
)
_ATTRIBUTE = re.compile(r"""([A-Za-z_][\w.:-]*+)\s*+=\s*+(?:"([^"<]*+)"|'([^'<]*+)')""")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_HEAD = re.compile(r"\s*<\?xml\b[^<>]*\?>")
_ENTITY = re.compile(r"&(?:#(\d{1,7})|#x([0-9A-Fa-f]{1,6})|(lt|gt|amp|quot|apos));")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_JSON_TYPES = {"integer", "number", "boolean", "null", "array", "object"}


class Element(Struct):
    name: str
    key: str | None
    """The argument in `<parameter=key>`."""
    attributes: dict[str, str]
    children: list["Element"] = []
    texts: list[str] = []
    """Its texts without entities."""

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def is_mixed(self) -> bool:
        """Whether it has elements and words beside them."""
        return bool(self.children) and not self.text.isspace() and bool(self.text)


class NoXmlError(Exception):
    """A text that is no sequence of whole elements."""


class UnclearError(Exception):
    """Elements with several readings."""


def read(text: str, types: Mapping[str, Any] | None) -> dict[str, Any] | str | None:
    """Return the arguments in a text, the reason why it has several readings, or nothing if it is no XML."""
    if text.lstrip()[:1] != "<" or text.rstrip()[-1:] != ">":
        return None
    try:
        elements = _elements_in(text)
        return _arguments_of(elements, types or {})
    except NoXmlError:
        return None
    except UnclearError as error:
        return str(error)


def _elements_in(text: str) -> list[Element]:
    """Return the elements of a text, in one pass. Raises `NoXmlError`."""
    root = Element("", None, {}, [], [])
    around = [root]
    start = found.end() if (found := _HEAD.match(text)) else 0
    for at, tag in _tags_in(text, start):
        _add_text(around[-1], text[start:at])
        start = at + len(tag[0])
        if tag.re is _CDATA:
            around[-1].texts.append(tag[1])
        elif tag["end"]:
            if (
                len(around) == 1
                or around[-1].name != tag["name"]
                or tag["more"]
                or tag["key"]
                or tag["alone"]
            ):
                raise NoXmlError
            around.pop()
        else:
            element = Element(tag["name"], tag["key"], _attributes_of(tag["more"]), [], [])
            around[-1].children.append(element)
            if not tag["alone"]:
                around.append(element)
            if len(around) > MAX_DEPTH:
                raise NoXmlError
    if len(around) > 1 or not root.children or (root.text + text[start:]).strip():
        raise NoXmlError
    return root.children


def _tags_in(text: str, start: int) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield each tag and each section of raw text. Any other `<` makes the text no XML."""
    at = text.find("<", start)
    while at >= 0:
        found = _TAG.match(text, at) or _CDATA.match(text, at)
        if found is None:
            raise NoXmlError
        yield at, found
        at = text.find("<", found.end())


def _add_text(element: Element, text: str) -> None:
    if text:
        element.texts.append(_plain(text))


def _plain(text: str) -> str:
    """Return a text without entities. Models often write a plain `&`, then no entity is meant."""
    count = text.count("&")
    if not count:
        return text
    entities = sum(1 for _ in _ENTITY.finditer(text))
    if entities and entities < count:
        raise UnclearError("`&` is written both as an entity and as a plain character")
    return _ENTITY.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    decimal, hexadecimal, name = found.groups()
    if name:
        return _ENTITIES[name]
    number = int(decimal) if decimal else int(hexadecimal, 16)
    if not 0 < number < 0x110000 or 0xD800 <= number < 0xE000:
        raise NoXmlError
    return chr(number)


def _attributes_of(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(text):
        if name in found:
            raise NoXmlError
        found[name] = _plain("".join(values))
    return found


def _arguments_of(elements: list[Element], types: Mapping[str, Any]) -> dict[str, Any]:
    declared = _members_of(types)
    if len(elements) == 1 and elements[0].name in WRAPPERS and elements[0].name not in declared:
        (one,) = elements
        if one.attributes and not one.children and not one.text.strip():
            return {name: _typed(name, value, declared.get(name)) for name, value in one.attributes.items()}
        if not one.attributes and (one.children or not one.text.strip()):
            _refuse_mixed(one)
            elements = one.children
    return _object_of(_pairs_in(elements), types)


def _pairs_in(elements: list[Element]) -> Iterator[tuple[str, Element]]:
    """Yield the name and the element of each argument, in any of the notations."""
    if [one.name for one in elements] == ["arg_key", "arg_value"] * (len(elements) // 2) and elements:
        yield from (
            (key.text.strip(), value) for key, value in zip(elements[::2], elements[1::2], strict=True)
        )
        return
    for one in elements:
        if one.key is not None and not one.attributes:
            one.texts = [_within_breaks(one.text)]
            yield one.key, one
        elif one.name in PAIRED and [*one.attributes] == ["name"]:
            yield one.attributes["name"], one
        elif one.attributes or one.key is not None:
            raise UnclearError(f"the element `{one.name}` has attributes")
        else:
            yield one.name, one


def _within_breaks(text: str) -> str:
    """Return a text without one line break at each end, which belong to the notation `<parameter=key>`."""
    return text.removeprefix("\n").removesuffix("\n")


def _object_of(pairs: Iterable[tuple[str, Element]], types: Mapping[str, Any]) -> dict[str, Any]:
    declared = _members_of(types)
    found: dict[str, list[Element]] = {}
    for name, element in pairs:
        if declared and name not in declared:
            raise UnclearError(f"no argument `{name}` is declared")
        found.setdefault(name, []).append(element)
    return {name: _member(name, elements, declared.get(name)) for name, elements in found.items()}


def _member(name: str, elements: list[Element], types: Any) -> Any:
    """Return the value of the elements of one name."""
    inner = types if isinstance(types, Mapping) else {}
    items = inner.get("items")
    if "array" in _types_of(inner):
        if any(one.children for one in elements) or len(elements) > 1:
            items_in = elements[0].children if len(elements) == 1 else elements
            return [_value(name, one, items) for one in items_in]
    elif len(elements) > 1:
        raise UnclearError(f"the element `{name}` occurs more than once")
    return _value(name, elements[0], inner)


def _value(name: str, element: Element, types: Any) -> Any:
    _refuse_mixed(element)
    if element.children:
        inner = types if isinstance(types, Mapping) else {}
        if not _members_of(inner):
            raise UnclearError(
                f"the element `{element.name}` has elements, and its argument is not declared as an object"
            )
        return _object_of(_pairs_in(element.children), inner)
    return _typed(name, element.text, types)


def _refuse_mixed(element: Element) -> None:
    if element.is_mixed:
        raise UnclearError(f"the element `{element.name}` has elements and words")


def _typed(name: str, text: str, types: Any) -> Any:
    """Return a text as a value of the declared type; the text itself without one."""
    declared = _types_of(types)
    if not declared or "string" in declared or not declared <= _JSON_TYPES:
        return text
    try:
        value = loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise UnclearError(f"the value of `{name}` has not the declared type") from None
    if not _is_of(value, declared) or not _is_exact(value, text):
        raise UnclearError(f"the value of `{name}` has not the declared type")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _is_of(value: Any, declared: set[str]) -> bool:
    kinds = {
        bool: {"boolean"},
        int: {"integer", "number"},
        float: {"number"},
        list: {"array"},
        dict: {"object"},
    }
    return not declared.isdisjoint(kinds.get(type(value), {"null"}))


def _is_exact(value: Any, text: str) -> bool:
    """Whether a number keeps all its digits."""
    return not isinstance(value, float) or Decimal(repr(value)) == Decimal(text.strip())


def _types_of(types: Any) -> set[str]:
    """Return the types of a schema; none if it has another way to name them."""
    said = types.get("type") if isinstance(types, Mapping) else None
    names = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    return {name.lower() for name in names if isinstance(name, str)}


def _members_of(types: Mapping[str, Any]) -> Mapping[str, Any]:
    found = types.get("properties")
    return found if isinstance(found, Mapping) else {}
