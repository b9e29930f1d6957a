"""What becomes of memory that is no longer needed.

This module owns one hint to the C library of most systems. It refuses to know who holds what.
"""

_KEPT = 1 << 22


def keep_freed() -> None:
    """Have pieces of some MiB kept for the next that is asked for.

    That library keeps as much free memory as twice the longest piece that was ever given back by itself, and else gives
    back a window after each look at it: half of the page faults of a run, and 5 % of the time of one over a compressed
    log (2026-11). A piece of this size, never touched, is enough.
    """
    bytes(_KEPT)
