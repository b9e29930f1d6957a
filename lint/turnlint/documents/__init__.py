"""Bytes to records, and back to the byte where something stands.

This package owns files, encodings, framing and JSON as text. It refuses to know what a
conversation is: to it a record is a JSON value with a place.
"""
