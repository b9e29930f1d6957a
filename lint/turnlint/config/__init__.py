"""Settings that a project keeps in a file.

This package owns the way from a path to the settings that hold for it: which file is nearest, what it takes over,
what is wrong in it, which of its sections hold, and where each setting comes from. It refuses to know commands.
"""
