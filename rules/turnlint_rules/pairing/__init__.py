"""Pairing: the pieces are whole, but calls and results do not meet."""
