"""Name turns by keys that stay the same when a conversation is compressed.

Numbers are no keys: they change as soon as an earlier turn is pruned.

The key of a turn is its id in the log (`turn_id`). Without such an id, it is a digest of the turn's calls, in order:
ids, names, arguments, and whether the provider runs the tool. All other data may change while the turn stays the same:
a result comes later, or is cleared to save room; the previous turn is pruned; the same conversation is logged as one
request or as one message per line.

Turns with equal digests are numbered from the first. So appending to a conversation changes no key, nor does pruning
any turn without an equal. Where one of several equal turns is pruned, each later one takes the key of the one before
it. Only logs without ids, or with ids that start again in each turn, have such equals.
"""

from collections.abc import Iterable, Mapping
from hashlib import blake2b, sha256
from itertools import count

from msgspec import Struct

from turnlint import ledger
from turnlint.documents.decode import normal
from turnlint.ledger import Asked, Interaction, Ledger, is_adoptable, usable
from turnlint.model import Call, Transcript
from turnlint.repeats import repeats

SHORT = 64
"""The length above which a body counts by its digest, as logs with one message per line store it."""


class Turn(Struct, frozen=True):
    """A turn with calls."""

    key: str
    content: str
    """A digest of its calls alone."""
    asked: tuple[Asked, ...]
    places: tuple[int, ...]
    """The index of each of its calls: copies that a repair removes come last."""


def turn_keys(transcript: Transcript, pairs: Ledger | None = None) -> tuple[str, ...]:
    """Return a key for each turn with calls, in order. Turns share a key only if they share an id in the log."""
    return tuple(
        turn.key
        for turn in turns(
            transcript,
            pairs or ledger.read(transcript.messages, transcript.wire, transcript.answer_at, transcript.gaps),
        )
    )


def turns(transcript: Transcript, pairs: Ledger) -> list[Turn]:
    """Return the turns with calls, in order."""
    calls: dict[int, list[Asked]] = {}
    ids: dict[int, str | None] = {}
    parts = parts_of(pairs)
    copies = {
        one.again.asked.seq
        for one in repeats(pairs)
        if one.same and one.same_turn and one.again.answer is None
    }
    for interaction in pairs.interactions:
        calls.setdefault(parts[interaction.asked.seq], []).append(interaction.asked)
        ids[interaction.asked.seq] = known_id(interaction)
    met: dict[str, int] = {}
    found = []
    for asked in calls.values():
        own = [one for one in asked if one.seq not in copies]
        first, last = count(), count(len(own))
        places = tuple(next(last if one.seq in copies else first) for one in asked)
        content = _content(own or asked, ids)
        said = (transcript.messages[one.message].turn_id for one in asked)
        key = next((one for one in said if one), None) or _numbered(content, met)
        found.append(Turn(key, content, tuple(asked), places))
    return found


def parts_of(pairs: Ledger) -> dict[int, int]:
    """Return the turn number of each call, where a result among the calls of a turn splits it in two.

    A repair moves such a result after its call, and then there are two turns.
    """
    answers = (one.answer for one in pairs.interactions if one.answer is not None)
    results = (*answers, *pairs.orphans, *(again for again, _ in pairs.duplicates))
    inner = {one.seq for one in results if not one.result.server}
    found: dict[int, int] = {}
    before: Asked | None = None
    for interaction in pairs.interactions:
        asked, number = interaction.asked, len(found)
        if before is not None and before.turn == asked.turn:
            between = range(before.seq + 1, asked.seq)
            if inner.isdisjoint(between):
                number = found[before.seq]
        found[asked.seq] = number
        before = asked
    return found


def known_id(interaction: Interaction) -> str | None:
    """Return the id of a call, or if the call lost it, the id in its result."""
    call, answer = interaction.asked.call, interaction.answer
    if call.server or usable(call.id) or answer is None or not is_adoptable(answer.result.id):
        return call.id
    return answer.result.id


def _content(asked: Iterable[Asked], ids: Mapping[int, str | None]) -> str:
    digest = sha256()
    for one in asked:
        for part in _parts(one.call, ids[one.seq]):
            digest.update(b"-" if part is None else b"%d:%b" % (len(part), part))
    return digest.hexdigest()[:32]


def _parts(call: Call, identifier: str | None) -> tuple[bytes | None, ...]:
    return _bytes(identifier or None), _bytes(call.name), short(call.body), b"server" if call.server else b""


def is_digest(body: bytes) -> bool:
    """Whether a body is the digest of a long one."""
    return body.startswith(b"#")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogatepass")


def short(body: bytes) -> bytes:
    """Return a body in one spelling, or the digest of a long body. A body that is a digest stays unchanged."""
    text = normal(body)
    return b"#" + blake2b(text, digest_size=24).digest() if len(text) > SHORT else text


def _numbered(key: str, met: dict[str, int]) -> str:
    count = met[key] = met.get(key, -1) + 1
    return f"{key}.{count}" if count else key
