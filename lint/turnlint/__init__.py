"""turnlint: a linter for logged LLM conversations.

The public names are `lint` and `fix`; `turnlint.library` defines their types. They are imported on first use,
so that the import of this module takes no time.
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
