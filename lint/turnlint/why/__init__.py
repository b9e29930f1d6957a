"""A provider's refusal, explained.

This package owns the way from an error text, however wrapped, to the provider that wrote it, to the rules that
explain it, and to the findings of a transcript that it speaks of. It refuses to print, and the texts themselves
stand in the profiles.
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
