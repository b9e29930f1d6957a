"""Serve findings and repairs to an editor while a conversation is written.

The package decides which findings of the open documents to send, and when. Only the command that starts the
server imports it, since its protocol library takes long to load.
"""
