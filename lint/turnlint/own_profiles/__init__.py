"""Profiles that a user writes, in YAML.

This package owns the way from a user's file to profiles: text to values with their places, what may stand where,
what a profile takes over from another, and a sentence with file, line and column for whatever is wrong. It refuses
to judge transcripts, and to know any provider.
"""

from turnlint.own_profiles.reading import read

__all__ = ["read"]
