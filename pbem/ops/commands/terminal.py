"""Commands on a terminal: errors as one message, progress bars, help with examples and exit codes."""

import getpass
import os
import signal
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


class CommandError(click.ClickException):
    """An expected error, shown as one message without a traceback."""

    def __init__(self, message: str, exit_code: int = FAILED) -> None:
        super().__init__("\n".join(map(plain, message.split("\n"))))
        self.exit_code = exit_code  # type: ignore[misc]  # a class variable by its annotation only


class Commands(click.Group):
    """The group of all commands, which turns expected errors into messages."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command. SIGTERM ends it like Ctrl-C, so that it removes what was half done."""
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            with explained():
                return super().invoke(ctx)
        except PbemError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            what = f"{error.filename}: " if error.filename else ""
            check = "Check that there is room, and that this account may read and write there."
            raise CommandError(f"{what}{error.strerror or error}. {check}") from None
        except KeyboardInterrupt:
            raise CommandError("Interrupted. Nothing is left half done.", 130) from None
        finally:
            signal.signal(signal.SIGTERM, before)


def command(
    of: click.Group, name: str | None = None, *, example: str
) -> Callable[[Callable[..., None]], click.Command]:
    """A command with an example and the exit codes below its help."""
    return of.command(name, epilog=f"\b\nExample:\n  {example}\n\n{CODES}")


def plain(text: object) -> str:
    """A text without what a terminal would obey: it may come from a file that anyone has written."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in str(text))


def read_settings() -> Config:
    """The settings of this environment; sets the language of the process."""
    try:
        config = settings.read(os.environ)
        speech.set_server_language(settings.language_of(config))
    except BadInput as refusal:
        raise CommandError(str(refusal), 2) from None
    return config


def show_findings(findings: Iterable[Finding]) -> None:
    """Show findings as they come. Exits with FAILED if one is an error."""
    seen = []
    for found in findings:
        seen.append(found.severity)
        click.echo(f"{click.style(f'{found.severity:8}', fg=_COLOURS[found.severity])} {found.what}: {found.says}")
        if found.remedy:
            click.echo(f"{'':8} -> {found.remedy}")
    click.echo(f"{counted(seen.count(Severity.ERROR), 'error')}, {counted(seen.count(Severity.WARNING), 'warning')}.")
    if Severity.ERROR in seen:
        raise SystemExit(FAILED)


@contextmanager
def progress() -> Iterator[Callable[[str, int], Callable[[int], None]]]:
    """Progress bars, one after the other: `begin(label, length)` returns the function that reports progress."""
    with ExitStack() as bars:

        def begin(label: str, length: int) -> Callable[[int], None]:
            bars.close()
            return bars.enter_context(click.progressbar(length=length, label=label, file=sys.stderr)).update

        yield begin


def operator() -> Actor:
    """The account that runs the command, as an actor of the audit; behind sudo, the real one."""
    try:
        name = os.environ.get("SUDO_USER") or getpass.getuser()
    except (KeyError, OSError):
        name = str(os.getuid())
    return Actor(Role.MACHINE, name)


def say(sentence: str) -> None:
    """Print a sentence at once, even into a pipe."""
    click.echo(sentence)
    sys.stdout.flush()


def counted(number: int, what: str) -> str:
    """A number with its noun: 1 game, 2 games, no games."""
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
