"""State rules: records, messages, ids or arguments are damaged, independent of pairing."""
