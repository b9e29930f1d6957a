"""A finding's name across runs.

This module owns what makes two findings the same one: the rule, the provider, the file, the
conversation and the call; never a line number, so that records may be reordered and appended to.
"""

from hashlib import blake2b

from turnlint.model import Finding, Transcript
from turnlint.rows import Place

HEAD = 2048


def fingerprint(
    finding: Finding, transcript: Transcript | None, place: Place, path: str, met: dict[str, int]
) -> str:
    """Sixteen hex digits, and a counter where the same could be said more than once."""
    what = finding.call_id or place.pointer
    parts = (finding.code, finding.provider or "", path, _identity(finding, transcript), what)
    text = "\x1f".join(parts).encode(errors="surrogatepass")
    name = blake2b(text, digest_size=8).hexdigest()
    met[name] = met.get(name, 0) + 1
    return name if met[name] == 1 else f"{name}:{met[name]}"


def _identity(finding: Finding, transcript: Transcript | None) -> str:
    """The conversation's own id, else the beginning of its record: what is appended later leaves it alone."""
    if finding.conversation:
        return finding.conversation
    record = transcript.messages[0].record if transcript and transcript.messages else finding.where.record
    return blake2b(record.data[:HEAD], digest_size=8).hexdigest()
