"""A finding's name across runs.

This module owns what makes two findings the same one: the rule, the provider, the file, the
conversation and the call; never a line number, so that records may be reordered and appended to.
"""

from functools import lru_cache
from os.path import normpath

from turnlint.model import Finding, Location, Record, Transcript
from turnlint.rows import Place

try:  # `hashlib` loads OpenSSL before it gives this one, which is 2 ms of each process that finds something (2026-11)
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


def fingerprint(finding: Finding, identity: str, place: Place, path: str, met: dict[str, int]) -> str:
    """Sixteen hex digits, and a counter where the same could be said more than once."""
    what = finding.call_id or place.pointer
    parts = (finding.code, finding.provider or "", _normal(path), identity, what)
    name = blake2b("\x1f".join(parts).encode(errors="surrogatepass"), digest_size=8).hexdigest()
    met[name] = met.get(name, 0) + 1
    return name if met[name] == 1 else f"{name}:{met[name]}"


_normal = lru_cache(maxsize=64)(normpath)


def named(record: Record, transcript: Transcript | None) -> str:
    """The conversation's own id, or what stands for a record of none; nothing where its first words must do."""
    if transcript is None or not transcript.messages:
        return digest(record.data)
    return transcript.id or transcript.identity


def first_words(transcript: Transcript) -> Location:
    """What is appended later leaves them alone."""
    first = next((one for one in transcript.messages if one.role != "system"), transcript.messages[0])
    return Location(first.record, first.at)


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()
