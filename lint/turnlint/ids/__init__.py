"""Make ids from the calls that they identify: canonical ids, and provider ids in their place.

The clauses of a profile define the form of an id, and the ledger pairs calls with results. No id depends on a clock or
on chance, so a conversation has the same ids in every run.
"""

from turnlint.ids.canonical import canonical_id, is_canonical, is_empty, is_internal, to_history, to_openai
from turnlint.ids.projection import (
    CANONICAL,
    Entry,
    Memory,
    Projection,
    canonicalize,
    entries_after,
    origin_of,
    project,
    project_ids,
    provider_of,
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
    "is_empty",
    "is_internal",
    "origin_of",
    "project",
    "project_ids",
    "provider_of",
    "remembered",
    "to_history",
    "to_openai",
    "turn_keys",
    "unused_id",
]
