"""The names of configuration files, which are no damaged transcripts."""

import re
from collections.abc import Sequence

from turnlint.neighbours import Near

_ADVICE = "it is a configuration file, not a transcript"
_TOKEN = re.compile(rb'"(?:[^"\\\n]++|\\.)*+"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(rb",(?=\s*[}\]])")


def configuration_in(records: Sequence[bytes]) -> Near | None:
    """The configuration format that the first records of a file are, where all of them fit its grammar."""
    text = b"\n".join(records)
    if _is_json_with_comments(text):
        return Near("JSON with comments", _ADVICE, is_certain=True)
    if _is_toml(text):
        return Near("a TOML file", _ADVICE, is_certain=True)
    return None


def _is_json_with_comments(text: bytes) -> bool:
    """Whether comments and trailing commas are all that makes a text no JSON; a sample may end early."""
    from turnlint.documents import exact

    bare = _TOKEN.sub(lambda found: found[0] if found[0][:1] == b'"' else b" ", text)
    if bare == text:
        return False
    reading = exact.read(_TRAILING_COMMA.sub(b"", bare).strip())
    faults = {trouble.kind for trouble in reading.troubles} - {"duplicate-key", "duplicate-keys"}
    return not faults if reading.whole else faults == {"torn"}


def _is_toml(text: bytes) -> bool:
    import tomllib

    try:
        return any(isinstance(one, dict) for one in tomllib.loads(text.decode()).values())
    except (ValueError, RecursionError):
        return False
