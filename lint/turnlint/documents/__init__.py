"""Decode bytes into records, and find the bytes of a value.

This package covers files, encodings, framing and JSON as text. A record is a JSON value with a position; what a
conversation is, other packages define.
"""
