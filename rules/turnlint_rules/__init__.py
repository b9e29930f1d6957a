"""The rules that come with turnlint: one module each, found by scanning the folders beside this file."""

REMOVED: dict[tuple[str, ...], str] = {}
"""Rules that are no more: the code and the names that each had, and why it went. Who selects one is told that."""
