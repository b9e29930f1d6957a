"""A language server: findings and repairs in an editor, while a transcript is written.

This package owns what an editor is told of its open documents, and when. It refuses to know commands and how settings
are found; nothing but the command that starts it imports it, for the library it speaks through takes long to load.
"""
