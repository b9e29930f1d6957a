"""Split a message of the assistant at the results in it, in the order of its blocks."""

from itertools import groupby
from typing import Any

from turnlint.model import Result
from turnlint.repair.sheet import Sheet

SPEAKER = ("role", "type")
"""Keys of a message that name its speaker."""


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
            where = {"before": index} if number < stays else {"behind": index}
            asking = index if is_result else None
            for some in (
                [[one] for one in pieces] if is_result and writer.one_result_per_message else [pieces]
            ):
                sheet.add(sheet.holder(some, index, more), asking=asking, goes_on=not is_result, **where)
    sheet.filled.add(index)
    return True
