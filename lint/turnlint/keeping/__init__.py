"""Files that are changed: put in place at one stroke, with a journal of what was taken away.

This package owns writing: the file that takes another's place, the journal, and the way back. It
refuses to know what a conversation is, and why its bytes are changed.
"""
