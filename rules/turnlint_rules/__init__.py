"""The built-in rules of turnlint, one module each. A scan of the folders beside this file finds them."""

REMOVED: dict[tuple[str, ...], str] = {}
"""Removed rules: their codes and names, and the reason. A run that selects such a rule reports the reason."""
