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
ORGANISER: Final = Group("organiser", "People who can sign in to the desk.", "desk")
CALL: Final = Group("call", "Messages from players.", "desk")
AUDIT: Final = Group("audit", "What was done at the desk and with commands.", "desk")
TABLE: Final = Group("table", "Tables: their state, and everything you can do about one.", "tables")
TOURNAMENT: Final = Group("tournament", "Tournaments: opening one, and what their hosts can do.", "tournaments")
PERSON: Final = Group("person", "People: their addresses, links, emails and bans.", "tables")
OUTAGE: Final = Group("outage", "Times when the server or its email was down.", "tables")
KEYS: Final = Group("keys", "The keys that links are signed with. Restart a running server after a change.", "keys")
ALL: Final = Group("all", "Act on all running tables, or on everyone who plays.", "overview")
