"""Errors whose text is a sentence for users: what is wrong, where, and what to do."""


class TurnlintError(Exception):
    """Base of all errors that turnlint raises on purpose."""


class InputError(TurnlintError, ValueError):
    """A transcript or an argument that `turnlint.lint` or `turnlint.fix` cannot use."""


class SourceError(TurnlintError):
    """A source that cannot be read."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


class DecompressionError(TurnlintError):
    """Compressed data that end early or make no sense."""


class PatternError(TurnlintError):
    """A line of a `.gitignore` that matches nothing."""


class LocatedError(TurnlintError):
    """A mistake in a file of the user's own, with its line and column."""

    def __init__(self, sentence: str, spot: tuple[int, int] | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.spot = spot


class FileError(TurnlintError):
    """Files of the user's own that cannot be used, with a line for each mistake."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class ConfigError(FileError):
    """Settings that cannot be used."""


class ProfilesError(FileError):
    """Provider profiles that cannot be used."""


class SettingsError(TurnlintError):
    """Settings of a document that an editor shows and that cannot be linted with them."""


class BaselineError(TurnlintError):
    """A baseline that cannot be read."""


class ExpressionError(TurnlintError):
    """A regular expression that is invalid, unsupported or too large."""


class InlineIgnoreError(TurnlintError):
    """A list of rules to ignore in a record that cannot be understood."""


class UnknownProviderError(TurnlintError):
    """A name of no provider, or of no version of one."""


class UnknownRuleError(TurnlintError):
    """A selector that matches no rule."""

    def __init__(self, selector: str, near: str | None) -> None:
        hint = f"; did you mean {near!r}?" if near else "; `turnlint rules` lists them"
        super().__init__(f"unknown rule {selector!r}{hint}")


class RemovedRuleError(UnknownRuleError):
    """A selector of a rule that was removed."""

    def __init__(self, selector: str, reason: str) -> None:
        TurnlintError.__init__(self, f"the rule {selector!r} was removed: {reason}")


class BrokenRulesError(TurnlintError):
    """A package of rules that cannot be loaded."""

    def __init__(self, package: str, error: Exception) -> None:
        super().__init__(f"the rules of {package} cannot be loaded: {type(error).__name__}: {error}")


class BrokenAdditionError(BrokenRulesError):
    """A wire, a parser or a grammar of another package that cannot be loaded."""

    def __init__(self, what: str, name: str, module: str, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}"
        TurnlintError.__init__(self, f"the {what} {name!r} of {module} cannot be loaded: {reason}")


class NoFittingIdError(TurnlintError):
    """A provider that accepts too few ids, or none that can be made."""


class UnrepairableError(TurnlintError):
    """A reason for which records stay as they are."""


class FormError(TurnlintError):
    """A conversation that cannot be written in the canonical form."""


class WriteError(TurnlintError):
    """A file that was not changed: `what` is the reason, `way` is what the user can do."""

    def __init__(self, what: str, way: str = "") -> None:
        super().__init__(f"{what}; {way}" if way else what)
        self.what = what
        self.way = way


class JournalMismatchError(TurnlintError):
    """A journal that would not restore the bytes that the fix found. Nothing was changed."""


class UnsafeFolderError(TurnlintError):
    """A folder for the cache that other users may write to."""
