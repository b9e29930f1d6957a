"""Identify a finding across runs.

A fingerprint depends on the rule, the provider, the file, the conversation and the call. It never depends on
a line number, so that records may be reordered and appended.
"""

from functools import lru_cache
from os.path import normpath

from turnlint.model import Finding, Location, Record, Transcript
from turnlint.rows import Place

try:  # `hashlib` loads OpenSSL first, which takes 2 ms of each process that finds something (2026-11)
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


def fingerprint(finding: Finding, identity: str, place: Place, path: str, met: dict[str, int]) -> str:
    """Return sixteen hex digits, and a counter from the second occurrence on."""
    what = finding.call_id or place.pointer
    parts = (finding.code, finding.provider or "", _normal(path), identity, what)
    name = blake2b("\x1f".join(parts).encode(errors="surrogatepass"), digest_size=8).hexdigest()
    met[name] = met.get(name, 0) + 1
    return name if met[name] == 1 else f"{name}:{met[name]}"


_normal = lru_cache(maxsize=64)(normpath)


def named(record: Record, transcript: Transcript | None) -> str:
    """Return the identity of a conversation or of a record without one; empty where its first words identify it."""
    if transcript is None or not transcript.messages:
        return digest(record.data)
    return transcript.id or transcript.identity


def first_words(transcript: Transcript) -> Location:
    """Return the location of the first words, which stay the same when records are appended."""
    first = next((one for one in transcript.messages if one.role != "system"), transcript.messages[0])
    return Location(first.record, first.at)


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()
