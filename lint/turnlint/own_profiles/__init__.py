"""Read provider profiles that a user writes in YAML.

The package parses the values with their positions, validates them, and resolves what a profile inherits from another.
Each fault is reported with file, line and column.
"""

from turnlint.own_profiles.reading import read

__all__ = ["read"]
