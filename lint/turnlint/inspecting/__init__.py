"""Describe a file: its container, its format with the evidence for it, and its content.

The package states facts without judging them. For an unknown format it names the nearest formats and the
missing keys. It claims nothing without evidence in the file: content that fits several formats is reported as
such.
"""
