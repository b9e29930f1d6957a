"""Projection: the conversation is sound, but this provider will not take it."""
