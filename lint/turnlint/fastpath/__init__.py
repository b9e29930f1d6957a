"""The fast path: facts of records from their bytes, and the decision which records need the plain reader."""
