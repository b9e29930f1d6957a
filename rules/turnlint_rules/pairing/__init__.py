"""Pairing rules: messages are valid, but calls and results do not match."""
