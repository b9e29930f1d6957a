"""The rules that come with turnlint: one module each, found by scanning the folders beside this file."""
