"""How commands show themselves in a terminal: errors as one message, long work as a bar, help with examples and codes."""

import getpass
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import click

from pbem import config as settings
from pbem.config.settings import Config
from pbem.domain.acts import Actor, Role
from pbem.domain.errors import BadInput, PbemError
from pbem.domain.finding import Finding, Severity
from pbem.i18n import speech
from pbem.store.database_errors import explained

CODES: Final = """\b
Exit codes:
  0    done
  1    it could not be done, or something is wrong
  2    the command line or a setting is wrong
  130  interrupted"""

FAILED: Final = 1

_COLOURS: Final = {Severity.OK: "green", Severity.WARNING: "yellow", Severity.ERROR: "red"}


class Told(click.ClickException):
    """An error as it is shown: one message, no trace."""

    exit_code = 1


class WrongSettings(Told):
    """The settings cannot be used."""

    exit_code = 2


class Interrupted(Told):
    """Somebody pressed Ctrl-C."""

    exit_code = 130


class Commands(click.Group):
    """The group of all commands, where every expected error becomes a message."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            with explained():
                return super().invoke(ctx)
        except PbemError as error:
            raise Told(str(error)) from None
        except OSError as error:
            what = f"{error.filename}: " if error.filename else ""
            said = f"{what}{error.strerror or error}."
            raise Told(f"{said} Check that there is room, and that this account may read and write there.") from None
        except KeyboardInterrupt:
            raise Interrupted("Interrupted. What was confirmed is kept, what was half done is not.") from None


def command(
    of: click.Group, name: str | None = None, *, example: str
) -> Callable[[Callable[..., None]], click.Command]:
    """A command, with an example and the exit codes below its help."""
    return of.command(name, epilog=f"\b\nExample:\n  {example}\n\n{CODES}")


def read_settings() -> Config:
    """The settings of whoever typed the command, in whose language everybody is spoken to from now on."""
    try:
        config = settings.read(os.environ)
        speech.set_server_language(settings.language_of(config))
    except BadInput as refusal:
        raise WrongSettings(str(refusal)) from None
    return config


def tell(findings: Iterable[Finding]) -> None:
    """Show what was found, each as soon as it is known, and end the command as failed where there is trouble."""
    seen = []
    for found in findings:
        seen.append(found.severity)
        click.echo(f"{click.style(f'{found.severity:8}', fg=_COLOURS[found.severity])} {found.what}: {found.says}")
        if found.remedy:
            click.echo(f"{'':8} -> {found.remedy}")
    click.echo(f"{many(seen.count(Severity.ERROR), 'error')}, {many(seen.count(Severity.WARNING), 'warning')}.")
    if Severity.ERROR in seen:
        raise SystemExit(FAILED)


@contextmanager
def progress() -> Iterator[Callable[[str, int], Callable[[int], None]]]:
    """Bars for long work, one after the other: `begin(label, length)` gives what is told how much more was done."""
    with ExitStack() as bars:

        def begin(label: str, length: int) -> Callable[[int], None]:
            bars.close()
            return bars.enter_context(click.progressbar(length=length, label=label, file=sys.stderr)).update

        yield begin


def whoever() -> Actor:
    """Whoever typed the command, as the audit names them: the account on the machine, also behind sudo."""
    try:
        name = os.environ.get("SUDO_USER") or getpass.getuser()
    except (KeyError, OSError):
        name = str(os.getuid())
    return Actor(Role.MACHINE, name)


def say(sentence: str) -> None:
    """Show a sentence at once, also where somebody reads along through a pipe."""
    click.echo(sentence)
    sys.stdout.flush()


def many(number: int, what: str) -> str:
    """So many of something: 1 game, 2 games, no games."""
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
