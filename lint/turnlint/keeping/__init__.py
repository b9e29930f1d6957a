"""Change files: replace them atomically, and keep a journal of the removed bytes.

The package writes the new file and the journal, and restores the old bytes. It does not parse conversations.
"""
