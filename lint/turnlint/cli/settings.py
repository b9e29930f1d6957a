"""Resolve the options and settings for each source of a run.

The command line takes precedence over the nearest settings file.
"""

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from msgspec import Struct, structs

from turnlint.cli import option
from turnlint.cli.asking import providers_of, shown
from turnlint.config.nearest import Nearest
from turnlint.documents.source import Source
from turnlint.engine import Book, Options, Tally
from turnlint.model import SEVERITIES
from turnlint.spread.here import Question

if TYPE_CHECKING:
    from turnlint.baseline import Baseline
    from turnlint.config.settings import Config, Said, Settings
    from turnlint.rulebook import Entry
    from turnlint.sifting import Account, Sieve

Command = Callable[..., Any]
_ASKED = "turnlint.settings"
_UNITS = {"MiB": 20, "GiB": 30}
DAY = "TURNLINT_TODAY"


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep an option for the plan of the run: the command does not receive it."""
    ctx.meta.setdefault(_ASKED, {})[param.name] = value


def _day(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value:
        from turnlint.config.meaning import is_date

        if not is_date(value):
            raise click.BadParameter(f"{value!r} is not a date; expected YYYY-MM-DD", ctx, param)
    _keep(ctx, param, value or "")


OPTIONS = (
    option(
        "--config", metavar="FILE", expose_value=False, callback=_keep,
        help="Settings file for all inputs, instead of the nearest turnlint.yaml or pyproject.toml.",
    ),
    option(
        "--set", "settings_set", multiple=True, metavar="KEY=VALUE", expose_value=False, callback=_keep,
        help="Override one setting for this run, value in YAML: --set level=lossless; repeatable.",
    ),
    option("--no-config", is_flag=True, expose_value=False, callback=_keep, help="Read no settings file."),
)  # fmt: skip
TODAY = option(
    "--today", metavar="YYYY-MM-DD", envvar=DAY, expose_value=False, callback=_day,
    help=f"Date to compare with `until` of ignores. Without it, no ignore expires. Environment variable: {DAY}.",
)  # fmt: skip


EXCLUDING = option(
    "--force-exclude", is_flag=True, expose_value=False, callback=_keep,
    help="Apply `exclude` of the settings also to files named on the command line. If no file remains, exit with 0.",
)  # fmt: skip
PREVIEW = option(
    "--preview",
    is_flag=True,
    expose_value=False,
    callback=_keep,
    help="Also run rules in preview.",
)


def choosing(command: Command) -> Command:
    """Add the options that choose the settings to a command."""
    for one in reversed(OPTIONS):
        command = one(command)
    return command


def configured(command: Command) -> Command:
    """Add the same options, and those for the date, excluded files and rules in preview."""
    return PREVIEW(choosing(EXCLUDING(TODAY(command))))


class Asked(Struct, frozen=True):
    """The options of the command line for rules; nothing where an option is absent."""

    format: str | None = None
    providers: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str | None = None
    level: str | None = None
    baseline: str | None = None

    @property
    def narrows(self) -> bool:
        """Whether the options select other findings than the settings do."""
        return bool(self.format or self.providers or self.select or self.ignore)


def given(name: str, value: Any) -> Any:
    """Return the value of an option that the user set, or nothing."""
    source = click.get_current_context().get_parameter_source(name)
    return value if source in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT) else None


class Terms(Question, frozen=True):
    """The resolved settings of a source."""

    fail_on: str = "error"
    level: str = "placeholder"
    levels: tuple[tuple[str, Any], ...] = ()
    """Level of repairs for single rules."""
    sieve: "Sieve | None" = None

    def sift(self, events: Iterable[Any]) -> Iterable[Any]:
        return events if self.sieve is None else self.sieve.sift(events)

    def fails(self, tally: Tally) -> bool:
        """Whether a finding has at least the severity of `fail_on`."""
        return any(tally.findings[level] for level in levels(self.fail_on))


def levels(fail_on: str) -> tuple[str, ...]:
    """Return the severities that make the exit code 1."""
    return () if fail_on == "never" else SEVERITIES[: [*SEVERITIES].index(fail_on) + 1]  # type: ignore[arg-type]


class Plan:
    """The terms of all sources of a run, each resolved once. Unusable settings raise a `UsageError`."""

    def __init__(
        self, asked: Asked, options: Options, *, sifted: bool = True, with_baselines: bool = True,
        book: Callable[[Options], Book] = Book,
    ) -> None:  # fmt: skip
        self.asked = asked
        self.book = book
        self.options = options
        self.sifted = sifted
        """Whether known findings are counted as ignored; otherwise they are not found at all."""
        self.with_baselines = with_baselines
        said = click.get_current_context().meta.get(_ASKED, {})
        self.file: str | None = said.get("config")
        self.off: bool = said.get("no_config", False)
        self.today: str = said.get("today", "")
        self.excludes_named: bool = said.get("force_exclude", False)
        self.preview: bool = said.get("preview", False)
        self.given: tuple[str, ...] = said.get("settings_set", ())
        if self.file and self.off:
            raise click.UsageError("--config and --no-config cannot be combined")
        self.nearest = Nearest()
        self.files: dict[str, str | None] = {}
        self.configs: dict[str, Config] = {}
        self.baselines: dict[str, Baseline] = {}
        self.account: Account | None = None
        self.remarked: set[str] = set()
        self.terms: dict[int, tuple[Settings | None, Terms]] = {}

    def read(self, sources: list[Source]) -> list[Source]:
        """Return the sources to read: named ones, and those in folders that are not excluded."""
        left = [one for one in sources if self.excluding(one) is None]
        if sources and not left and self.excludes_named:
            click.echo("turnlint: all named files are excluded", err=True)
            raise click.exceptions.Exit(0)
        return [*map(self._limited, left)]

    def _limited(self, source: Source) -> Source:
        """Return the source with the record limit of its settings."""
        settings = self.settings(source)
        said = settings.max_record_size if settings else None
        if said is None:
            return source
        number, unit = said.value.split(" ")
        return structs.replace(source, limit=int(number) << _UNITS[unit])

    def excluding(self, source: Source) -> "Said | None":
        """Return the setting that excludes a source, if there is one."""
        if source.named and not self.excludes_named:
            return None
        config = self._config_of(source)
        return config.leaving_out(_path_of(source)) if config else None

    def prepare(self, sources: list[Source]) -> None:
        """Resolve the settings of each source, so that errors are known before any source is read."""
        for source in sources or [Source(".", None)]:
            book = self.of(source).book
            book.has_triggers  # noqa: B018 - loads the rules of other packages, which may be broken

    def of(self, source: Source) -> Terms:
        """Return the terms of a source."""
        settings = self.settings(source)
        if id(settings) not in self.terms:
            self.terms[id(settings)] = settings, self._terms(settings)
        return self.terms[id(settings)][1]

    def own_rules(self) -> "tuple[Entry, ...]":
        """Return the user's own rules, of all sources that were prepared."""
        found = {rule.name: rule for _, terms in self.terms.values() for rule in terms.options.own_rules}
        if not found:
            return ()
        from turnlint.own_rules.entries import entry_of

        return tuple(map(entry_of, found.values()))

    def settings(self, source: Source) -> "Settings | None":
        """Return the settings of a source, if there are any."""
        config = self._config_of(source)
        return config.of(_path_of(source)) if config else None

    def _config_of(self, source: Source) -> "Config | None":
        found = self._file(source)
        return self.config(found or "") if found or self.given else None

    def _file(self, source: Source) -> str | None:
        """Return the settings file of a source. Each folder is searched once: a run may have very many sources."""
        if self.off:
            return None
        folder = os.path.dirname(source.path or source.name)
        if folder not in self.files:
            absolute = os.path.abspath(folder)
            self.files[folder] = os.path.abspath(self.file) if self.file else self.nearest.of(absolute)
        return self.files[folder]

    def config(self, path: str) -> "Config":
        if path not in self.configs:
            from turnlint.config.settings import Config
            from turnlint.errors import ConfigError

            try:
                root = os.getcwd() if self.file or not path else None
                self.configs[path] = Config(path, root, self.given)
            except ConfigError as error:
                raise click.UsageError("\n".join(map(shown, error.lines))) from None
            self._remark(self.configs[path].remarks)
        return self.configs[path]

    def _terms(self, settings: "Settings | None") -> Terms:
        asked = self.asked
        if settings is None:
            options = self._named(asked.providers, asked.profiles)
            fail_on, level = asked.fail_on, asked.level
        else:
            options = self._configured(settings)
            fail_on = asked.fail_on or _value(settings.fail_on, None)
            level = asked.level or _value(settings.level, None)
        preview = self.preview or _value(settings.preview, False) if settings else self.preview
        options, sieve = self._sieve(structs.replace(options, preview=preview), settings)
        book = self._checked(settings, lambda: self.book(options))
        self._remark(book.providers.remarks)
        if options.select or asked.ignore:
            from turnlint.rulebook import everything, remarks, waiting

            entries = everything()
            self._remark(remarks((*asked.select, *asked.ignore), entries))
            self._remark(waiting(options.select, entries, preview=preview))
        levels = tuple(one.value for one in settings.levels) if settings else ()
        return Terms(options, book, fail_on or "error", level or "placeholder", levels, sieve)

    def _remark(self, lines: Iterable[str]) -> None:
        """Print remarks about named rules to standard error, each once."""
        for line in lines:
            if line not in self.remarked:
                self.remarked.add(line)
                click.echo(f"turnlint: {shown(line)}", err=True)

    def _configured(self, settings: "Settings") -> Options:
        asked = self.asked
        providers = asked.providers or settings.texts(settings.provider) or ()
        profiles = (*(one.value for one in settings.profiles), *asked.profiles)
        options: Options = self._checked(settings, lambda: self._named(providers, profiles))
        name = asked.format or _value(settings.format, "auto")
        # A rule that the command line selects is applied, even if the settings ignore it.
        left_out = () if asked.select else tuple(one.value for one in settings.ignore)
        return structs.replace(
            options,
            format=None if name == "auto" else name,
            select=asked.select or settings.texts(settings.select) or (),
            ignore=(*left_out, *asked.ignore),
            severities=tuple(one.value for one in settings.severities),
            own_rules=settings.rules,
            pardons=_value(settings.ignores_in_records, ""),
            root=os.getcwd() if self.file else os.path.dirname(settings.file),
        )

    def _named(self, providers: tuple[str, ...], profiles: Iterable[str]) -> Options:
        files = tuple(profiles)
        if not files and not any("." in name for name in providers):  # no file is named
            return structs.replace(self.options, providers=providers_of(providers))
        from turnlint.cli.own import own_profiles, tell_unused

        named, own = own_profiles(files, providers)
        tell_unused(named, own)
        return structs.replace(self.options, providers=providers_of(named), profiles=own)

    def _checked(self, settings: "Settings | None", make: Callable[[], Any]) -> Any:
        """Call `make`; an unknown provider in the settings becomes an error of their file."""
        from turnlint.errors import UnknownProviderError

        try:
            return make()
        except UnknownProviderError as error:
            if self.asked.providers or settings is None or settings.provider is None:
                raise
            raise click.UsageError(
                f"{shown(settings.provider.origin)}: provider: {shown(str(error))}"
            ) from None

    def _sieve(self, options: Options, settings: "Settings | None") -> "tuple[Options, Sieve | None]":
        """Return the sieve for known findings of a source, or options that never find them."""
        ignores = settings.ignores if settings else ()
        if not self.sifted:
            return structs.replace(
                options, without=tuple(one for one in ignores if not one.is_over(self.today))
            ), None
        file = self._baseline_file(settings) if self.with_baselines else None
        if not ignores and file is None and not options.pardons:
            return options, None
        from turnlint.sifting import VIEWS, Account, Sieve

        self.account = self.account or Account()
        baseline = self._baseline(file) if file else None
        by_fingerprint = baseline is not None or any(one.fingerprints for one in ignores)
        options = structs.replace(
            options,
            views_per_rule=VIEWS,
            fingerprints=options.fingerprints or by_fingerprint,
            says=options.says or any(one.asks_records for one in ignores),
            root=baseline.root if baseline else options.root,
        )
        return options, Sieve(ignores, baseline, self.today, self.account)

    def baseline_of(self, source: Source) -> str | None:
        """Return the baseline file of a source, if there is one."""
        return self._baseline_file(self.settings(source))

    def _baseline_file(self, settings: "Settings | None") -> str | None:
        file: str | None = self.asked.baseline or (_value(settings.baseline, None) if settings else None)
        return file

    def _baseline(self, file: str) -> "Baseline":
        from turnlint.baseline import read
        from turnlint.errors import BaselineError

        key = os.path.abspath(file)
        if key not in self.baselines:
            try:
                self.baselines[key] = read(file)
            except BaselineError as error:
                raise click.UsageError(shown(str(error))) from None
        return self.baselines[key]


def _path_of(source: Source) -> str:
    return os.path.abspath(source.path or source.name)


def _value(said: "Said | None", other: Any) -> Any:
    return other if said is None else said.value
