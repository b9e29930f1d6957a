"""Split a message with calls and results at each result, in the order of its blocks."""

from itertools import groupby
from json import dumps
from typing import Any

from turnlint.documents.edit import Built, Piece
from turnlint.model import Pointer, Result, Thinking
from turnlint.repair.sheet import Sheet

SPEAKER = ("role", "type")
"""Keys of a message that name its speaker."""
_MARK = "\0call"
"""The place of a call in a new message; no message has this text."""


def split(sheet: Sheet, index: int) -> bool:
    """Put each run of results, and each run of blocks after one, into a message of its own."""
    writer, message = sheet.writer, sheet.messages[index]
    host, busy = sheet.host(index), index in sheet.dropped or index in sheet.removed
    if writer is None or not writer.blocks_key or host is None or busy:
        return False
    blocks = sheet.value(index, (writer.blocks_key,))
    shell = writer.write_message("assistant", [], [])
    if shell is None and host.list is None and (not message.at or writer.has_continued_frame):
        # Where a format writes no text into a log, the new message repeats the speaker.
        shell = {key: value for key, value in sheet.value(index).items() if key in SPEAKER}
    if not isinstance(blocks, list) or not isinstance(shell, dict):
        return False
    results = {one.at for one in message.blocks if isinstance(one, Result) and not one.server}
    runs = [
        (is_result, [(writer.blocks_key, number) for number in numbers])
        for is_result, numbers in groupby(
            range(len(blocks)), lambda number: (writer.blocks_key, number) in results
        )
    ]
    stays = next((number for number, (is_result, _) in enumerate(runs) if not is_result), None)
    if stays is None or len(runs) == 1:
        return False
    own = {key: value for key, value in shell.items() if key != writer.blocks_key}
    for number, (is_result, places) in enumerate(runs):
        if number != stays:
            pieces = [sheet.lift(index, place) for place in places]
            more: dict[str, Any] = {**writer.result_message_keys} if is_result else own
            asking = index if is_result else None
            for some in (
                [[one] for one in pieces] if is_result and writer.one_result_per_message else [pieces]
            ):
                piece = sheet.holder(some, index, more)
                _add(sheet, piece, index, before=number < stays, asking=asking, goes_on=not is_result)
    sheet.filled.add(index)
    return True


def unmix(sheet: Sheet, index: int, calls: frozenset[Pointer]) -> bool:
    """Move the calls of a message of another role into messages of the model, each run at its place."""
    writer, message = sheet.writer, sheet.messages[index]
    shell = writer.write_message("assistant", [], []) if writer else None
    if writer is None or sheet.host(index) is None or not isinstance(shell, dict) or index in sheet.removed:
        return False
    if not writer.blocks_key:
        return _lead(sheet, index, calls)
    blocks = sheet.value(index, (writer.blocks_key,))
    if not isinstance(blocks, list) or index in sheet.dropped:
        return False
    thoughts = {one.at for one in message.blocks if isinstance(one, Thinking)}
    places = [(writer.blocks_key, number) for number in range(len(blocks))]
    of_model: set[Pointer] = set()
    for place in reversed(places):  # thoughts belong to the call behind them
        follows = (place[0], int(place[1]) + 1) in of_model
        if place in calls or (place in thoughts and follows):
            of_model.add(place)
    if len(of_model) == len(places):
        return _give_to_model(sheet, index, shell)
    runs = [(is_model, [*some]) for is_model, some in groupby(places, lambda place: place in of_model)]
    stays = next((number for number, (is_model, _) in enumerate(runs) if not is_model), None)
    if stays is None or len(runs) == 1:
        return False
    speaker = writer.write_message(message.role, [], []) or writer.result_message_keys
    for number, (is_model, some) in enumerate(runs):
        if number != stays:
            own = shell if is_model else speaker
            more = {key: value for key, value in own.items() if key != writer.blocks_key}
            piece = sheet.holder([sheet.lift(index, place) for place in some], index, more)
            _add(sheet, piece, index, before=number < stays)
    sheet.filled.add(index)
    return True


def _give_to_model(sheet: Sheet, index: int, shell: dict[str, Any]) -> bool:
    """Change the speaker of a message that has only calls."""
    assert sheet.writer is not None
    for key, value in shell.items():
        if key != sheet.writer.blocks_key:
            sheet.edits(index).put(sheet.place(index, (key,)), sheet.written(value, index))
    sheet.filled.add(index)
    return True


def _add(
    sheet: Sheet, piece: Piece, index: int, *, before: bool, asking: int | None = None, goes_on: bool = False
) -> None:
    """Add a message before or behind the one that is split."""
    if before:
        sheet.add(piece, before=index, asking=asking, goes_on=goes_on)
    else:
        sheet.add(piece, behind=index, asking=asking, goes_on=goes_on)


def _lead(sheet: Sheet, index: int, calls: frozenset[Pointer]) -> bool:
    """Move the calls of a message that is a result into a message of the model before it."""
    assert sheet.writer is not None
    shell = sheet.writer.write_message("assistant", [], [_MARK, _MARK])
    parts = sheet.written(shell, index).split(dumps(_MARK).encode()) if shell else []
    if len(parts) != 3:
        return False
    head, comma, tail = parts
    pieces: list[Piece] = [head]
    for number, place in enumerate(sorted(calls, key=lambda one: one[1])):
        pieces += [comma, sheet.lift(index, place)] if number else [sheet.lift(index, place)]
    sheet.filled.add(index)
    return sheet.add(Built((*pieces, tail)), before=index)
