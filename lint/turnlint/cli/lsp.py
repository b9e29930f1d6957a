"""`turnlint lsp`: the options of the command, and the settings of documents for the server.

The protocol library is imported on the call of the command.
"""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from msgspec import structs

from turnlint.cli.look import is_terminal
from turnlint.cli.settings import TODAY, Asked, Plan, choosing
from turnlint.documents.source import Source
from turnlint.engine import Options
from turnlint.errors import SettingsError
from turnlint.lsp.terms import Terms
from turnlint.repair.choosing import Policy

if TYPE_CHECKING:
    from turnlint.model import Level

EXIT_ENDED, EXIT_USAGE = 1, 2


@click.command("lsp")
@choosing
@TODAY
@click.pass_context
def command(ctx: click.Context) -> None:
    """Run the language server for editors.

    An editor starts this command and speaks the Language Server Protocol over standard input and output. `turnlint
    explain editors` shows how to configure editors.

    Exit codes: 0 after a regular shutdown, 1 after a lost connection, 2 usage error.
    """
    try:
        from turnlint.lsp.server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        click.echo("turnlint: the language server needs an extra: pip install 'turnlint[lsp]'", err=True)
        raise click.exceptions.Exit(EXIT_USAGE) from None
    if is_terminal(sys.stdin):
        click.echo("turnlint: editors start this command; `turnlint explain editors` shows how", err=True)
    if not os.environ.get("TURNLINT_TRACEBACK"):
        logging.disable()
    raise click.exceptions.Exit(0 if serve(Settings(ctx)) else EXIT_ENDED)


class Settings:
    """The settings of documents: the nearest settings files and the options of the command.

    One thread calls at a time.
    """

    def __init__(self, ctx: click.Context) -> None:
        self.ctx = ctx
        self.plans: dict[str | None, Plan] = {}

    def forget(self) -> None:
        self.plans = {}

    def to_lint(self, source: Source) -> Terms | None:
        with self._worked_out():
            plan = self._plan(None)
            is_read = plan.read([structs.replace(source, named=False)])
            return self._terms(plan, source) if is_read else None

    def to_fix(self, source: Source, rule: str | None, level: "Level | None" = None) -> Terms:
        with self._worked_out():
            terms = self._terms(self._plan(rule or ""), source)
            policy = structs.replace(terms.policy, level=level or terms.policy.level)
            return structs.replace(terms, policy=policy)

    def _plan(self, purpose: str | None) -> Plan:
        """Return a cached plan: to lint for None, to repair all findings for an empty text, else those of one rule."""
        plans = self.plans
        if purpose not in plans:
            select = (purpose,) if purpose else ()
            plans[purpose] = Plan(Asked(select=select), Options(select=select), sifted=purpose is None)
        return plans[purpose]

    def _terms(self, plan: Plan, source: Source) -> Terms:
        plan.prepare([source])
        terms = plan.of(source)
        said = plan.settings(source)
        # An editor changes a document that the user sees, so the default level is lossless.
        level: Level = said.level.value if said and said.level else "lossless"
        named = frozenset(name.partition("@")[0] for name in terms.options.providers if name != "auto")
        policy = Policy(level=level, named=named, select=bool(plan.asked.select))
        return Terms(terms.options, terms.book, policy, terms.sift)

    @contextmanager
    def _worked_out(self) -> Iterator[None]:
        from turnlint.errors import BrokenRulesError, UnknownProviderError, UnknownRuleError

        try:
            with self.ctx.scope(cleanup=False):
                yield
        except click.UsageError as error:
            raise SettingsError(error.message) from None
        except (UnknownRuleError, UnknownProviderError, BrokenRulesError) as error:
            raise SettingsError(str(error)) from None
