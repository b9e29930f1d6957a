"""A slow second opinion on who answers whom, and the notation in which its conversations are written.

The oracle is written from the five rules in the ledger's docstring and not from its code: it asks one
question at a time of a flat list of everything that was said, however often. It refuses to know carriers
and rules.

A conversation is written as messages between slashes: a role, then `?a` for a call with the id a, `!a` for
a result, `~` for a text. `?a.f` has a name, `?-` has no id, `$` marks the provider's own tools. Occurrences
are numbered as they are read, calls and results alike.
"""

from typing import NamedTuple

from turnlint import ledger
from turnlint.model import Block, Call, Keys, Message, Record, Result, Text, Wire

CHAT = Wire("chat")
JOINED = Wire("joined", joins=True)
BLOCKS = Wire("blocks", window=frozenset({"user", "tool"}), joins=True)
ITEMS = Wire("items", window=frozenset({"user", "tool", "system"}), joins=True, anywhere=True)
COUNTED = Wire("counted", window=frozenset({"user", "tool"}), joins=True, counts=True)
Item = tuple[str, str | None, str | None, bool]
"""A block: `call`, `result` or `text`, its id, its name, and whether it is the provider's own."""
Talk = list[tuple[str, list[Item]]]

TEXT: Item = ("text", None, None, False)
KEYS = Keys((), (), ())
RECORD = Record(1, 0, b"")


def talk(text: str) -> Talk:
    messages = [message.split() for message in text.split("/") if message.strip()]
    return [(role, [item(word) for word in words]) for role, *words in messages]


def item(word: str) -> Item:
    if word == "~":
        return TEXT
    kind, (identifier, _, name) = word.lstrip("$")[0], word.lstrip("$")[1:].partition(".")
    identified = None if identifier == "-" else identifier
    return ("call" if kind == "?" else "result", identified, name or None, word.startswith("$"))


def built(conversation: Talk) -> list[Message]:
    return [
        Message(role, (place,), tuple(block(one, (place, n)) for n, one in enumerate(items)), RECORD)
        for place, (role, items) in enumerate(conversation)
    ]


def block(one: Item, at: tuple[int, int]) -> Block:
    kind, identifier, name, server = one
    if kind == "call":
        return Call(at, KEYS, identifier, name, b"{}", "object", server)
    return Result(at, KEYS, identifier, name, b"", server) if kind == "result" else Text(at)


def read(conversation: Talk, wire: Wire) -> ledger.Ledger:
    return ledger.read(built(conversation), wire)


Story = dict[int, str]


def story(book: ledger.Ledger) -> Story:
    """What became of every call, and of every result that answers none."""
    told: Story = {}
    for one in book.interactions:
        open_call = "pending" if one.pending else "unanswered"
        told[one.asked.seq] = f"{one.how} {one.answer.seq}" if one.answer else open_call
    told |= {again.seq: f"repeats {one.asked.seq}" for again, one in book.duplicates}
    told |= {orphan.seq: "orphan" for orphan in book.orphans}
    return told


class Said(NamedTuple):
    seq: int
    kind: str
    id: str | None
    name: str | None
    server: bool
    turn: int
    zone: str
    """`asking`: in the assistant's part of its turn; `window`: where results may stand; or `outside`."""


Piece = tuple[int, str, list[Item]]


def pieces_of(conversation: Talk, wire: Wire) -> list[Piece]:
    """Messages with their turn and zone.

    Reading: a call outside an assistant message opens a turn there, so such a message is cut in two,
    and the second half, being what an assistant says, may be joined by the assistant messages after it.
    The window shuts for good at the first message whose role may not stand in it.
    """
    parts: list[tuple[str, list[Item]]] = []
    for role, items in conversation:
        cut = next((n for n, one in enumerate(items) if one[0] == "call" and role != "assistant"), len(items))
        parts.append((role, items[:cut]))
        if cut < len(items):
            parts.append(("assistant", items[cut:]))
    pieces: list[Piece] = []
    turn, zone = -1, "outside"
    for role, items in parts:
        if role == "assistant":
            turn, zone = (turn if wire.joins and zone == "asking" else turn + 1), "asking"
        else:
            zone = "window" if zone != "outside" and role in wire.window else "outside"
        pieces.append((turn, zone, items))
    return pieces


def said(pieces: list[Piece]) -> list[Said]:
    flat = [(*one, turn, zone) for turn, zone, items in pieces for one in items if one != TEXT]
    return [Said(seq, *one) for seq, one in enumerate(flat)]


def nameless(identifier: str | None) -> bool:
    return identifier in (None, "", "null", "REDACTED")


def texts_in_windows(pieces: list[Piece], turns: set[int]) -> tuple[set[int], bool]:
    """Turns in whose window something was said, and whether a result came after it: then it was not at once."""
    spoken: set[int] = set()
    interrupted = False
    for turn, zone, items in pieces:
        for kind, _, _, server in items if zone == "window" and turn in turns else ():
            if kind == "text":
                spoken.add(turn)
            interrupted |= kind == "result" and not server and turn in spoken
    return spoken, interrupted


def oracle(conversation: Talk, wire: Wire) -> tuple[Story, bool]:
    """The rules one after the other, each asked of a flat list of all that was said; slow on purpose."""
    pieces = pieces_of(conversation, wire)
    everything = said(pieces)
    calls = [one for one in everything if one.kind == "call"]
    results = [one for one in everything if one.kind == "result"]
    answers: dict[Said, tuple[Said, str]] = {}

    def is_open(call: Said) -> bool:
        return call not in answers

    def is_spare(result: Said) -> bool:
        return all(result != answer for answer, _ in answers.values())

    def same_id(call: Said, result: Said) -> bool:
        return not nameless(call.id) and (call.id, call.server) == (result.id, result.server)

    def in_window(result: Said, turn: int) -> bool:
        # Reading of "server tools inside the message": the provider's own results have the asking part of
        # the turn as their window, all others what follows it.
        return result.turn == turn and result.zone == ("asking" if result.server else "window")

    for turn in sorted({call.turn for call in calls}):
        own = [call for call in calls if call.turn == turn]
        here = [result for result in results if in_window(result, turn)]
        # Rule 1. A result cannot answer what was not asked yet, not even inside one message.
        for result in here:
            asked = [
                call for call in own if same_id(call, result) and is_open(call) and call.seq < result.seq
            ]
            if asked:
                answers[asked[0]] = (result, "in-place")
        # Rule 2, last half, where a window holds exactly the results of its own turn and of earlier ones that
        # still wait for the id: the first asked is the first answered. Reading: nobody still waits for whom a
        # result has come in the meantime, and the provider's own tools never wait beyond their turn.
        for identifier in {call.id for call in own if not call.server and not nameless(call.id)}:
            mine = [call for call in own if call.id == identifier and not call.server]
            earlier = [
                call for call in calls if call.turn < turn and same_id(call, mine[0]) and is_open(call)
            ]
            theirs = [result for result in here if same_id(mine[0], result)]
            if not earlier or len(theirs) != len(mine) + len(earlier):
                continue
            come = [r for r in results if same_id(mine[0], r) and is_spare(r) and r not in theirs]
            if any(earlier[0].seq < result.seq < theirs[-1].seq for result in come):
                continue
            for call, result in zip(earlier + mine, theirs, strict=True):
                answers[call] = (result, "in-place" if call in mine else "late")

    for identifier, server in {(call.id, call.server) for call in calls if not nameless(call.id)}:
        named = [call for call in calls if (call.id, call.server) == (identifier, server)]
        waiting = [call for call in named if is_open(call)]
        spare = [result for result in results if same_id(named[0], result) and is_spare(result)]
        # Rule 2. "Earlier" is earlier in the conversation: a result in the assistant's own message counts too.
        pairs = list(zip(waiting, spare, strict=False))
        if len(waiting) == len(spare) and all(call.seq < result.seq for call, result in pairs):
            answers |= {call: (result, "late") for call, result in pairs}
        for result in filter(is_spare, spare):
            before = [call for call in waiting if is_open(call) and call.seq < result.seq]
            if before:
                nearest = [call for call in before if call.turn == before[-1].turn]
                answers[nearest[0]] = (result, "late")
        # Rule 3. Reading of "the only one it can belong to": one call and one result are left; no call with
        # the id precedes the result, or it may repeat that one's answer; and the call stands after everything
        # the windows left of this id, or a late result might as well be its own.
        left = [call for call in waiting if is_open(call)]
        early = [result for result in spare if is_spare(result)]
        if len(left) == 1 and early and early[0].seq < named[0].seq and spare[-1].seq < left[0].seq:
            answers[left[0]] = (early[0], "early")

    # Rule 4, and the ledger's extension of it: an id that no call bears may answer a call that lost its own.
    known = {call.id for call in calls}
    for lost in (False, True):
        for result in results:
            if not is_spare(result) or nameless(result.id) == lost or (lost and result.id in known):
                continue
            for call in calls:
                near = in_window(result, call.turn) and call.seq < result.seq and call.server == result.server
                agree = not call.name or not result.name or call.name == result.name
                if near and agree and is_open(call) and (nameless(call.id) or not lost):
                    answers[call] = (result, "by-position")
                    break

    # Where a wire counts only, as many results without ids as calls without are each other's, in order.
    for turn in sorted({call.turn for call in calls}) if wire.counts else ():
        left = [
            call
            for call in calls
            if call.turn == turn and is_open(call) and nameless(call.id) and not call.server
        ]
        here = [one for one in results if one.turn == turn and one.zone != "outside" and in_window(one, turn)]
        unnamed = [
            result for result in here if is_spare(result) and nameless(result.id) and not result.server
        ]
        pairs = list(zip(left, unnamed, strict=False))
        if len(left) == len(unnamed) and all(call.seq < result.seq for call, result in pairs):
            answers |= {call: (result, "by-position") for call, result in pairs}

    # Rule 4, last part: one open call and one result without an id behind it, wherever that stands.
    left = [call for call in calls if is_open(call) and not call.server]
    lost_ones = [one for one in results if is_spare(one) and nameless(one.id) and not one.server]
    if len(left) == len(lost_ones) == 1:
        names = [one.name for one in (left[0], lost_ones[0]) if one.name]
        if len(set(names)) < 2 and left[0].seq < lost_ones[0].seq:
            answers[left[0]] = (lost_ones[0], "late")
        elif len(names) == 2 and len(set(names)) == 1:
            answers[left[0]] = (lost_ones[0], "early")

    # Rule 3, its exception: not where a result beside it has no call, and another turn is before the call.
    orphans = [one for one in results if is_spare(one) and not one.server and one.zone != "asking"]
    for call, (result, how) in [*answers.items()]:
        others = [one.seq for one in calls if result.seq < one.seq < call.seq and one.turn != call.turn]
        start = max((one.seq for one in calls if one.seq < result.seq), default=-1)
        beside = [
            one for one in orphans if one.turn == result.turn and others and start < one.seq < others[0]
        ]
        if how == "early" and beside and not result.server and result.zone != "asking":
            del answers[call]

    # Rule 5. Readings: a duplicate repeats the nearest call before it, and one that precedes its call is an
    # orphan; "nothing follows" where the last message is of the last turn, or holds nothing but results for it.
    last = max((call.turn for call in calls), default=-1)
    turn, zone, items = pieces[-1] if pieces else (-1, "outside", [])
    only_results = bool(items) and all(one[0] == "result" for one in items)
    spoken, interrupted = texts_in_windows(pieces, {call.turn for call in calls})
    quiet = turn == last and (zone == "asking" or (zone == "window" and only_results and turn not in spoken))
    # A wire that lets a result stand anywhere after its call knows no late ones; tidy is one that stands in the window
    # all the same.
    late = "in-place" if wire.anywhere else "late"
    told: Story = {}
    for call in calls:
        open_call = "pending" if quiet and call.turn == last else "unanswered"
        how = answers[call][1].replace("late", late) if call in answers else ""
        told[call.seq] = f"{how} {answers[call][0].seq}" if call in answers else open_call
    for result in filter(is_spare, results):
        before = [
            call for call in calls if call.seq < result.seq and same_id(call, result) and call in answers
        ]
        told[result.seq] = f"repeats {before[-1].seq}" if before else "orphan"

    # Reading: "distinct ids" over the whole conversation, and a result that says another name is not tidy.
    tidy = (
        len(answers) == len(calls) == len(results)
        and not interrupted
        and len(known) == len(calls)
        and all(how == "in-place" for _, how in answers.values())
        and all(not result.name or result.name == call.name for call, (result, _) in answers.items())
    )
    return told, tidy
