"""Explain the error message of a provider.

The package unwraps an error text and identifies the provider that wrote it. It then finds the rules that
explain it, and the matching findings of a conversation. The known texts are in the profiles.
"""

from turnlint.why.evidence import Agreed, Clues, agreement, clues_of, standing_in
from turnlint.why.recognising import Match, Near, Recognised, dialects_of, heard, nearest, recognise
from turnlint.why.words import candidates, word_in

__all__ = [
    "Agreed",
    "Clues",
    "Match",
    "Near",
    "Recognised",
    "agreement",
    "candidates",
    "clues_of",
    "dialects_of",
    "heard",
    "nearest",
    "recognise",
    "standing_in",
    "word_in",
]
