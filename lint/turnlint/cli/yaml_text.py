"""Settings as YAML: a mapping in lines, or a value on one line."""

from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

MAX_COLUMNS = 1 << 20
"""Width without folding: callers may comment out the text line by line."""


def lines_of(mapping: dict[str, Any]) -> list[str]:
    """Return a line for each key; lists and mappings of plain values are on one line."""
    block = CommentedMap(mapping)
    block.fa.set_block_style()
    return _dump(block, None).splitlines()


def inline(value: Any) -> str:
    return _dump(value, True).removesuffix("...\n").rstrip("\n")


def _dump(value: Any, flow_style: bool | None) -> str:
    yaml = YAML()
    yaml.default_flow_style = flow_style
    yaml.allow_unicode = False  # no text steers a terminal
    yaml.width = MAX_COLUMNS
    yaml.indent(sequence=4, offset=2)
    stream = StringIO()
    yaml.dump(value, stream)
    return stream.getvalue()
