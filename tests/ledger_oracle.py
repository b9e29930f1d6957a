"""A slow oracle for the pairing of calls with results, and the notation of its conversations.

The oracle follows the five rules in the ledger's docstring, not its code: it evaluates each rule on a flat list of
all items, at any cost. Independent of carriers and rules.

A conversation is written as messages between slashes: a role, then `?a` for a call with the id a, `!a` for a result,
`~` for a text. `?a.f` has a name, `?-` has no id, `$` marks the provider's own tools. Occurrences are numbered in
reading order, calls and results alike.
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
Conversation = list[tuple[str, list[Item]]]

TEXT: Item = ("text", None, None, False)
KEYS = Keys((), (), ())
RECORD = Record(1, 0, b"")


def parse_conversation(text: str) -> Conversation:
    messages = [message.split() for message in text.split("/") if message.strip()]
    return [(role, [item(word) for word in words]) for role, *words in messages]


def item(word: str) -> Item:
    if word == "~":
        return TEXT
    kind, (identifier, _, name) = word.lstrip("$")[0], word.lstrip("$")[1:].partition(".")
    identified = None if identifier == "-" else identifier
    return ("call" if kind == "?" else "result", identified, name or None, word.startswith("$"))


def built(conversation: Conversation) -> list[Message]:
    return [
        Message(role, (place,), tuple(block(item, (place, n)) for n, item in enumerate(items)), RECORD)
        for place, (role, items) in enumerate(conversation)
    ]


def block(one: Item, at: tuple[int, int]) -> Block:
    kind, identifier, name, server = one
    if kind == "call":
        return Call(at, KEYS, identifier, name, b"{}", "object", server)
    return Result(at, KEYS, identifier, name, b"", server) if kind == "result" else Text(at)


def read(conversation: Conversation, wire: Wire) -> ledger.Ledger:
    return ledger.read(built(conversation), wire)


Outcome = dict[int, str]


def outcome_of(book: ledger.Ledger) -> Outcome:
    """The outcome of every call, and of every result without a call."""
    outcome: Outcome = {}
    for one in book.interactions:
        open_call = "pending" if one.pending else "unanswered"
        outcome[one.asked.seq] = f"{one.how} {one.answer.seq}" if one.answer else open_call
    outcome |= {again.seq: f"repeats {one.asked.seq}" for again, one in book.duplicates}
    outcome |= {orphan.seq: "orphan" for orphan in book.orphans}
    return outcome


class Occurrence(NamedTuple):
    seq: int
    kind: str
    id: str | None
    name: str | None
    server: bool
    turn: int
    zone: str
    """`asking`: in the assistant's part of its turn; `window`: where results may be; or `outside`."""


Piece = tuple[int, str, list[Item]]


def pieces_of(conversation: Conversation, wire: Wire) -> list[Piece]:
    """Messages with their turn and zone.

    Reading: a call outside an assistant message opens a turn there, so such a message is cut in two. The second half
    counts as an assistant message, and the assistant messages after it may join it. The window closes for good at the
    first message whose role may not be in it.
    """
    parts: list[tuple[str, list[Item]]] = []
    for role, items in conversation:
        cut = next(
            (n for n, item in enumerate(items) if item[0] == "call" and role != "assistant"), len(items)
        )
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


def flatten(pieces: list[Piece]) -> list[Occurrence]:
    flat = [(*item, turn, zone) for turn, zone, items in pieces for item in items if item != TEXT]
    return [Occurrence(seq, *item) for seq, item in enumerate(flat)]


def nameless(identifier: str | None) -> bool:
    return identifier in (None, "", "null", "REDACTED")


def texts_in_windows(pieces: list[Piece], turns: set[int]) -> tuple[set[int], bool]:
    """Turns with a text in their window, and whether a result comes after it: such a result is not immediate."""
    turns_with_text: set[int] = set()
    interrupted = False
    for turn, zone, items in pieces:
        for kind, _, _, server in items if zone == "window" and turn in turns else ():
            if kind == "text":
                turns_with_text.add(turn)
            interrupted |= kind == "result" and not server and turn in turns_with_text
    return turns_with_text, interrupted


def oracle(conversation: Conversation, wire: Wire) -> tuple[Outcome, bool]:
    """Apply the rules in order, each to a flat list of all items; slow on purpose."""
    pieces = pieces_of(conversation, wire)
    everything = flatten(pieces)
    calls = [item for item in everything if item.kind == "call"]
    results = [item for item in everything if item.kind == "result"]
    answers: dict[Occurrence, tuple[Occurrence, str]] = {}

    def is_open(call: Occurrence) -> bool:
        return call not in answers

    def is_spare(result: Occurrence) -> bool:
        return all(result != answer for answer, _ in answers.values())

    def same_id(call: Occurrence, result: Occurrence) -> bool:
        return not nameless(call.id) and (call.id, call.server) == (result.id, result.server)

    def in_window(result: Occurrence, turn: int) -> bool:
        # Reading of "server tools inside the message": the window of the provider's own results is the asking part of
        # the turn, the window of all others comes after it.
        return result.turn == turn and result.zone == ("asking" if result.server else "window")

    for turn in sorted({call.turn for call in calls}):
        own = [call for call in calls if call.turn == turn]
        here = [result for result in results if in_window(result, turn)]
        # Rule 1. A result cannot belong to a later call, not even inside one message.
        for result in here:
            open_calls = [
                call for call in own if same_id(call, result) and is_open(call) and call.seq < result.seq
            ]
            if open_calls:
                answers[open_calls[0]] = (result, "in-place")
        # Rule 2, last half, where a window holds exactly the results of its own turn and of earlier calls that are
        # still open under the id: first call, first result. Reading: a call is no longer open if a result has come in
        # the meantime, and the provider's own tools never stay open after their turn.
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
        # Rule 3. Reading of "the only one it can belong to": one call and one result are left; no call with the id
        # precedes the result, or it may repeat the result of that call; and the call is after all results of this id
        # that the windows left, or a late result might as well be its own.
        left = [call for call in waiting if is_open(call)]
        early = [result for result in spare if is_spare(result)]
        if len(left) == 1 and early and early[0].seq < named[0].seq and spare[-1].seq < left[0].seq:
            answers[left[0]] = (early[0], "early")

    # Rule 4, and the ledger's extension of it: a result with an id of no call may belong to a call that lost its own.
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

    # On a wire that only counts, as many results without ids as calls without ids are paired in order.
    for turn in sorted({call.turn for call in calls}) if wire.counts else ():
        left = [
            call
            for call in calls
            if call.turn == turn and is_open(call) and nameless(call.id) and not call.server
        ]
        here = [
            result
            for result in results
            if result.turn == turn and result.zone != "outside" and in_window(result, turn)
        ]
        unnamed = [
            result for result in here if is_spare(result) and nameless(result.id) and not result.server
        ]
        pairs = list(zip(left, unnamed, strict=False))
        if len(left) == len(unnamed) and all(call.seq < result.seq for call, result in pairs):
            answers |= {call: (result, "by-position") for call, result in pairs}

    # Rule 4, last part: one open call and one result without an id after it, at any position.
    left = [call for call in calls if is_open(call) and not call.server]
    without_id = [
        result for result in results if is_spare(result) and nameless(result.id) and not result.server
    ]
    if len(left) == len(without_id) == 1:
        names = [item.name for item in (left[0], without_id[0]) if item.name]
        if len(set(names)) < 2 and left[0].seq < without_id[0].seq:
            answers[left[0]] = (without_id[0], "late")
        elif len(names) == 2 and len(set(names)) == 1:
            answers[left[0]] = (without_id[0], "early")

    # Rule 3, its exception: not if a result beside it has no call, and another turn is before the call.
    orphans = [
        result for result in results if is_spare(result) and not result.server and result.zone != "asking"
    ]
    for call, (result, how) in [*answers.items()]:
        others = [item.seq for item in calls if result.seq < item.seq < call.seq and item.turn != call.turn]
        start = max((call.seq for call in calls if call.seq < result.seq), default=-1)
        beside = [
            orphan
            for orphan in orphans
            if orphan.turn == result.turn and others and start < orphan.seq < others[0]
        ]
        if how == "early" and beside and not result.server and result.zone != "asking":
            del answers[call]

    # Rule 5. Readings: a duplicate repeats the nearest call before it, and one that precedes its call is an orphan;
    # "nothing follows" if the last message is of the last turn, or holds nothing but results for it.
    last = max((call.turn for call in calls), default=-1)
    turn, zone, items = pieces[-1] if pieces else (-1, "outside", [])
    only_results = bool(items) and all(item[0] == "result" for item in items)
    turns_with_text, interrupted = texts_in_windows(pieces, {call.turn for call in calls})
    quiet = turn == last and (
        zone == "asking" or (zone == "window" and only_results and turn not in turns_with_text)
    )
    # A wire that accepts a result anywhere after its call has no late results. A tidy result is in the window all the
    # same.
    late = "in-place" if wire.anywhere else "late"
    outcome: Outcome = {}
    for call in calls:
        open_call = "pending" if quiet and call.turn == last else "unanswered"
        how = answers[call][1].replace("late", late) if call in answers else ""
        outcome[call.seq] = f"{how} {answers[call][0].seq}" if call in answers else open_call
    for result in filter(is_spare, results):
        before = [
            call for call in calls if call.seq < result.seq and same_id(call, result) and call in answers
        ]
        outcome[result.seq] = f"repeats {before[-1].seq}" if before else "orphan"

    # Reading: "distinct ids" over the whole conversation, and a result with another name is not tidy.
    tidy = (
        len(answers) == len(calls) == len(results)
        and not interrupted
        and len(known) == len(calls)
        and all(how == "in-place" for _, how in answers.values())
        and all(not result.name or result.name == call.name for call, (result, _) in answers.items())
    )
    return outcome, tidy
