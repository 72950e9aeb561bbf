"""The groups of commands. The module of a group is imported when one of its commands is needed: `pbem --help` is quick."""

from importlib import import_module
from typing import Final

import click

from pbem.ops.commands.terminal import CODES


class Group(click.Group):
    """A group whose modules add its commands."""

    def __init__(self, name: str, about: str, *modules: str) -> None:
        super().__init__(name, help=about, epilog=CODES)
        self._modules = [f"pbem.ops.commands.{module}" for module in modules]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        self._import()
        return super().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        self._import()
        return super().get_command(ctx, cmd_name)

    def _import(self) -> None:
        for module in self._modules:
            import_module(module)


MAIL_SYSTEM: Final = Group("mail", "Emails: what they look like, and whether they arrive.", "mail", "tables")
ORGANISER: Final = Group("organiser", "Those who may sign in to the desk.", "desk")
CALL: Final = Group("call", "People who called the organiser.", "desk")
AUDIT: Final = Group("audit", "What was done at the desk and with commands.", "desk")
TABLE: Final = Group("table", "Tables: what state they are in, and everything that can be done about one.", "tables")
PERSON: Final = Group(
    "person", "People: their addresses, which of them emails reach, and who takes no new seat.", "tables"
)
OUTAGE: Final = Group("outage", "Times in which the server, or the way of its emails, was not there.", "tables")
ALL: Final = Group(
    "all", "One act on many: on all tables that are being played, or on everyone who sits there.", "overview"
)
