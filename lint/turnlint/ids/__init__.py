"""Ids that follow from what they name: canonical ids, and what each provider is given in their place.

This package owns how an id is made and which call or result gets it. It refuses to know any provider
by name: what an id must be comes from the clauses of a profile, and who answers whom from the ledger.
Nothing in it looks at a clock or draws lots, so a conversation has the same ids in every run.
"""

from turnlint.ids.canonical import canonical_id, is_canonical, to_history, to_openai
from turnlint.ids.projection import (
    CANONICAL,
    Entry,
    Memory,
    Projection,
    canonicalize,
    entries_after,
    project,
    project_ids,
    remembered,
    unused_id,
)
from turnlint.ids.turns import turn_keys

__all__ = [
    "CANONICAL",
    "Entry",
    "Memory",
    "Projection",
    "canonical_id",
    "canonicalize",
    "entries_after",
    "is_canonical",
    "project",
    "project_ids",
    "remembered",
    "to_history",
    "to_openai",
    "turn_keys",
    "unused_id",
]
