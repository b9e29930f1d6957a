"""Repair the findings of a file.

A repair consists of steps that rules request. The package chooses them, combines them into byte edits, repeats this
until no step is left, and verifies the result. It neither finds faults itself nor writes files.
"""
