"""turnlint: a linter for logged LLM conversations.

This module owns the version and nothing else: importing it must cost nothing.
"""

__version__ = "0.1.0"
