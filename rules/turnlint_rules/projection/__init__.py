"""Projection rules: the conversation is valid, but this provider rejects it."""
