"""turnlint: a linter for logged LLM conversations.

`lint` and `fix` are what may be imported from here; their types stand in `turnlint.library`. This module owns
those two names and the version, and nothing else: importing it must cost nothing.
"""

__version__ = "0.1.0"
__all__ = ["fix", "lint"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from turnlint.library import fix, lint


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from turnlint import library

    return getattr(library, name)
