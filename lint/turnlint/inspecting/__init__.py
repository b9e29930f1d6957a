"""What is this file? Its container, its format and how that was recognised, and what is in it.

This package owns the facts that can be told of a source without judging it, and, where no format knows it, what it
is near to and what it lacks. It refuses to judge a conversation, and to say anything of a file that nothing in it says:
what could be several formats' is told as just that.
"""
