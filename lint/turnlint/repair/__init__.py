"""From findings to a file that has none of them.

This package owns what a repair is: steps that rules ask for, chosen and put together into byte edits, made
round after round until nothing is left to do, and verified. It refuses to find anything itself, to know how
a format spells what it adds, and to write files.
"""
