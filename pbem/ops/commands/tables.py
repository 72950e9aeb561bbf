"""The commands of `pbem table`, `pbem person` and `pbem outage`, and others that are acts of the desk.

Each goes through the same function as its form at the desk, with a reason, and `--dry-run` shows what it would do.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from pbem.domain.errors import BadInput
from pbem.domain.week import bound_text
from pbem.ops.backup import write_privately
from pbem.ops.commands.groups import MAIL_SYSTEM, OUTAGE, PERSON, TABLE, Group
from pbem.ops.commands.terminal import command, counted, operator, read_settings
from pbem.ops.setup import open_server
from pbem.service.desk import export_table, overview, table as desk_table
from pbem.service.desk.acts.clocks import (
    Close,
    DeclareOutage,
    Extend,
    Freeze,
    Pause,
    PauseMail,
    Resume,
    ResumeMail,
    Unfreeze,
)
from pbem.service.desk.acts.correct import Correct, Redact
from pbem.service.desk.acts.emails import Resend, ResendOfNoTable, RetryDeadline
from pbem.service.desk.acts.people import Ban, ChangeAddress, Delete, Merge, NewLinks, Release, SendExport, Unban
from pbem.service.desk.acts.perform import DeskAct, Outcome, perform
from pbem.service.desk.acts.rewind import Rewind
from pbem.service.desk.acts.seats import NewSeatLinks, Offer, Substitute
from pbem.service.server import Server
from pbem.store import games

_TABLE: Final = click.argument("number", type=click.IntRange(1))
_PERSON: Final = click.argument("who")
_DAY: Final = click.DateTime(["%Y-%m-%d"])
_MOMENT: Final = click.DateTime(["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"])


class _Seat(click.IntRange):
    """A seat as people count, from 1; the value counts from 0."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The seat."""
        return int(super().convert(value, param, ctx)) - 1


_SEAT: Final = _Seat(1)

_PEOPLE: Final = ("who", "other")
"""Arguments that are people: typed as a number or an address, and given to the act as a number."""


def act_command(
    group: Group, name: str, *, example: str, before: str = "", why: str | None = None
) -> Callable[[Callable[..., DeskAct]], click.Command]:
    """A command that does the act which a function makes of its arguments, or shows what it would do.

    `example` has example arguments; `before` is a command to run first; `why` is the reason where none is given.
    """
    asks = "Reason, logged and shown to everyone concerned."

    def decorate(make: Callable[..., DeskAct]) -> click.Command:
        @command(group, name, example=f"{before}pbem {group.name} {name} {example}")
        @click.option("--reason", **({"required": True} if why is None else {"default": why}), help=asks)
        @click.option("--dry-run", is_flag=True, help="Preview what would happen, and who would be told.")
        @wraps(make)
        def run(*, reason: str, dry_run: bool, **typed: Any) -> None:
            with open_server(read_settings()) as server:
                act = make(**typed | {name: person_number(server, typed[name]) for name in _PEOPLE if name in typed})
                to_do = operator(), act, reason
                _show(server.dry_run(perform, *to_do) if dry_run else server.run(perform, *to_do))
            click.echo("Nothing was changed: this was a preview." if dry_run else "Done.")

        return run

    return decorate


@command(TABLE, "list", example="pbem table list --status frozen")
@click.option("--status", default="playing", show_default=True, help="Only tables in this state.")
@click.option(
    "--most", type=click.IntRange(1), default=50, show_default=True, help="Show at most this many tables, newest first."
)
def table_list(status: str, most: int) -> None:
    """List tables, one per line: number, state, turn and title."""
    with open_server(read_settings()) as server, server.store.read() as tx:
        numbers = games.ids_with_status(tx, status)
        found = [games.read(tx, game_id) for game_id in numbers[-most:]]
    for game in found:
        state = "paused" if game.paused else game.status
        click.echo(f"{game.id:6}  {state:8} turn {game.turn:4}  {game.kind:18} {game.title}")
    click.echo(f"{counted(len(numbers), 'table')}{f'; these are the newest {most}' if len(numbers) > most else ''}.")


@command(TABLE, "show", example="pbem table show 12")
@_TABLE
def table_show(number: int) -> None:
    """Show one table: seats, deadlines, history and log.

    Nothing hidden from any player is shown.
    """
    with open_server(read_settings()) as server:
        found = server.read(desk_table.table, operator(), number)
        explained = {each.seat: lines for each, lines in server.read(desk_table.clocks, operator(), number)[1]}
    game = found.game
    click.echo(f"Table {game.id}: {game.title} ({found.rules.title}), {game.status}{', paused' if game.paused else ''}")
    click.echo(
        f"Turn {game.turn}, pace {game.pace}, time off {bound_text(game.time_off)}, {game.seq} rows, head {found.head}"
    )
    for each in found.seats:
        click.echo(f"  seat {each.seat + 1}: {each.name}{' (bot)' if each.bot else f', person {each.person_id}'}")
        for line in explained.get(each.seat, ()):
            click.echo(f"      {line}")
    for row in found.acts:
        click.echo(f"  {row.at:%Y-%m-%d %H:%M} UTC  {row.actor}: {row.act}. {row.reason}")
    if found.turns:
        click.echo(f"Can go back to the turns {', '.join(str(turn) for turn, _ in reversed(found.turns))}.")


@command(TABLE, "export", example="pbem table export 12 table-12.json --reason 'It is moving to another server.'")
@_TABLE
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--reason", required=True, help="Reason, logged.")
def table_export(number: int, path: Path, reason: str) -> None:
    """Export a table to PATH, with every secret. `pbem restore --game` restores it."""
    with open_server(read_settings()) as server:
        if path.exists():
            raise BadInput(f"{path} already exists.", remedy="Nothing was overwritten. Choose another name.")
        _, text = server.run(export_table.export, operator(), number, reason)
        write_privately(path, text)
    click.echo(f"Table {number} is in {path}. It shows every hidden card: keep it from everyone who plays there.")


@act_command(TABLE, "pause", example="12 --reason 'The relay is down.'")
@_TABLE
def table_pause(number: int) -> DeskAct:
    """Pause table NUMBER, and tell its players."""
    return Pause(number)


@act_command(TABLE, "resume", example="12 --reason 'The relay works again.'")
@_TABLE
def table_resume(number: int) -> DeskAct:
    """Resume a paused table, and tell its players."""
    return Resume(number)


@act_command(TABLE, "extend", example="12 2d --seat 3 --reason 'Ann is ill.'")
@_TABLE
@click.argument("more")
@click.option("--seat", type=_SEAT, help="Only this seat (the first is 1); otherwise everyone whose turn it is.")
def table_extend(number: int, more: str, seat: int | None) -> DeskAct:
    """Give the players of table NUMBER more time. MORE is `12h` or `2026-12-01 20:00`, for example."""
    return Extend(number, more, seat)


@act_command(TABLE, "freeze", example="12 --reason 'Someone doubts its log.'")
@_TABLE
def table_freeze(number: int) -> DeskAct:
    """Stop a table until its log has been checked. Nobody can move, and no clock runs."""
    return Freeze(number)


@act_command(TABLE, "unfreeze", before="pbem verify --game 12 && ", example="12 --reason 'The log is sound.'")
@_TABLE
def table_unfreeze(number: int) -> DeskAct:
    """Resume a stopped table."""
    return Unfreeze(number)


@act_command(TABLE, "close", example="12 --reason 'All players asked for it.'")
@_TABLE
def table_close(number: int) -> DeskAct:
    """Close a table. A running game ends without a result, and its secret is published."""
    return Close(number)


@act_command(TABLE, "rewind", example="12 9 --reason 'Ben was timed out while our emails were lost.' --dry-run")
@_TABLE
@click.argument("turn", type=click.IntRange(1))
def table_rewind(number: int, turn: int) -> DeskAct:
    """Take a game back to TURN. Luck is drawn again, and everyone is told.

    `--dry-run` shows who has learnt what since then.
    """
    return Rewind(number, turn)


@act_command(TABLE, "substitute", example="12 3 --by ben@example.org --reason 'Ann has no time to play on.'")
@_TABLE
@click.argument("seat", type=_SEAT)
@click.option("--by", "address", default="", metavar="ADDRESS", help="New player; without it, a bot.")
def table_substitute(number: int, seat: int, address: str) -> DeskAct:
    """Let someone else, or a bot, play SEAT (the first is 1). Old links stop working."""
    return Substitute(number, seat, address)


@act_command(TABLE, "offer", example="12 3 --reason 'Ann has not answered for weeks.'")
@_TABLE
@click.argument("seat", type=_SEAT)
def table_offer(number: int, seat: int) -> DeskAct:
    """Offer SEAT (the first is 1) to substitutes. Until one takes it, its player keeps it."""
    return Offer(number, seat)


@act_command(TABLE, "seat-links", example="12 3 --reason 'Ann forwarded an email by mistake.'")
@_TABLE
@click.argument("seat", type=_SEAT)
def table_seat_links(number: int, seat: int) -> DeskAct:
    """Email the player of SEAT (the first is 1) new links to it. The old ones stop working; links to other tables stay."""
    return NewSeatLinks(number, seat)


@act_command(TABLE, "correct", example="12 pace 3d --reason 'It was a typo.'")
@_TABLE
@click.argument("what", type=click.Choice(["name", "title", "pace", "missed_limit", "successor", "option", "result"]))
@click.argument("to")
@click.option("--seat", type=_SEAT, help="The seat whose name it is (the first is 1).")
@click.option("--former", default="", metavar="NAME", help="The former player whose name it is.")
def table_correct(number: int, what: str, to: str, seat: int | None, former: str) -> DeskAct:
    """Change a setting or a name (WHAT) to TO. Variants, written name=value, only before the start.

    A result concerns ratings alone: the places of the seats, such as "2 1 1", or "none" if the game doesn't count.
    """
    return Correct(number, what, to, seat, former)


@act_command(TABLE, "redact", example="12 4 --reason 'It was an insult.'")
@_TABLE
@click.argument("line", type=click.IntRange(1))
def table_redact(number: int, line: int) -> DeskAct:
    """Remove message LINE of a table's talk for good."""
    return Redact(number, line)


@act_command(TABLE, "resend", example="12 345 --reason 'It never arrived.'")
@_TABLE
@click.argument("email", type=click.IntRange(1))
def table_resend(number: int, email: int) -> DeskAct:
    """Resend EMAIL, by its number. Same bytes, with its recipient's current links."""
    return Resend(number, email)


@act_command(TABLE, "retry-deadline", example="12 3 --reason 'The error is fixed.'")
@_TABLE
@click.argument("seat", type=_SEAT)
def table_retry_deadline(number: int, seat: int) -> DeskAct:
    """Retry the deadline of a SEAT that failed too often."""
    return RetryDeadline(number, seat)


@act_command(PERSON, "address", example="ann@example.org ann@example.net --reason 'She wrote from there.'")
@_PERSON
@click.argument("new")
def person_address(who: int, new: str) -> DeskAct:
    """Change the address of WHO (an address or a number) to NEW."""
    return ChangeAddress(who, new)


@act_command(PERSON, "ban", example="ben@example.org --until 2027-01-31 --reason 'Insults at three tables.'")
@_PERSON
@click.option("--until", type=_DAY, help="Last day of the ban; without it, until further notice.")
def person_ban(who: int, until: datetime | None) -> DeskAct:
    """Ban WHO, an address or number, from new tables. They can't take seats or talk; their games go on."""
    return Ban(who, None if until is None else until.date())


@act_command(PERSON, "new-links", example="ann@example.org --reason 'Her phone was stolen.'")
@_PERSON
def person_new_links(who: int) -> DeskAct:
    """Email WHO (an address or a number) new links. All old links and sign-ins stop working."""
    return NewLinks(who)


@act_command(PERSON, "merge", example="ann@example.org ann@example.net --reason 'She wrote from both.'")
@_PERSON
@click.argument("other")
def person_merge(who: int, other: int) -> DeskAct:
    """Merge OTHER into WHO: seats, tables, bans. Each is an address or a number, and both are told."""
    return Merge(who, other)


@act_command(PERSON, "export", example="ann@example.org --reason 'She asked for it.'")
@_PERSON
def person_export(who: int) -> DeskAct:
    """Email WHO, an address or number, a link to their data."""
    return SendExport(who)


@act_command(PERSON, "delete", example="ann@example.org --reason 'She asked for it.'")
@_PERSON
def person_delete(who: int) -> DeskAct:
    """Delete WHO (an address or a number). They resign from their games, and the games stay."""
    return Delete(who)


@act_command(PERSON, "resend", example="345 --reason 'It never arrived.'")
@click.argument("email", type=click.IntRange(1))
def person_resend(email: int) -> DeskAct:
    """Resend EMAIL, by its number, if it's about no table. Same bytes, with its recipient's current links."""
    return ResendOfNoTable(email)


@act_command(PERSON, "unban", example="ben@example.org --reason 'He has apologised.'")
@_PERSON
def person_unban(who: int) -> DeskAct:
    """Lift the ban of WHO (an address or a number)."""
    return Unban(who)


@act_command(PERSON, "release", example="ann@example.org --reason 'Her mailbox has room again.'")
@_PERSON
def person_release(who: int) -> DeskAct:
    """Resume emails to WHO (an address or a number) after bounces."""
    return Release(who)


@act_command(OUTAGE, "declare", example="'2026-11-20 22:00' '2026-11-21 06:00' --reason 'The relay lost emails.'")
@click.argument("start", type=_MOMENT)
@click.argument("end", type=_MOMENT)
def outage_declare(start: datetime, end: datetime) -> DeskAct:
    """Log an outage (UTC). Running clocks are extended by its length.

    Turns that timed out meanwhile are listed; `pbem table rewind` gives them back.
    """
    return DeclareOutage(start.replace(tzinfo=UTC), end.replace(tzinfo=UTC))


@act_command(
    MAIL_SYSTEM,
    "pause",
    example="--reason 'Our IP address is blocklisted.'",
    why="The operator has paused all outgoing email.",
)
def mail_pause() -> DeskAct:
    """Pause all outgoing email until `pbem mail resume`. Nobody is timed out meanwhile.

    An email being sent may still go out. Pages and replies work, and their emails wait.
    """
    return PauseMail()


@act_command(
    MAIL_SYSTEM, "resume", example="--reason 'We are off the blocklist.'", why="The operator lets email leave again."
)
def mail_resume() -> DeskAct:
    """Resume outgoing email. Running clocks are extended by the pause, as after an outage."""
    return ResumeMail()


def person_number(server: Server, who: str) -> int:
    """The number of a person who was named by it or by their address."""
    person_id = int(who) if who.isdigit() else server.read(overview.person_with, who)
    if person_id is None:
        raise BadInput("Nobody here uses this address.", remedy="Nothing was changed.")
    return person_id


def _show(outcome: Outcome) -> None:
    """What an act did, or would do, line by line."""
    for sentence in outcome.says:
        click.echo(f"  {sentence}")
    for deadline in outcome.moved:
        click.echo(f"  deadline of {deadline.name}: {act_moment(deadline.before)} -> {act_moment(deadline.after)}")
    for email in outcome.emails:
        click.echo(f"  mail to {email.name}: {email.about}")
    for kind, seat in outcome.rows:
        click.echo(f"  row of its record: {kind}{'' if seat is None else f', seat {seat + 1}'}")


def act_moment(moment: datetime | None) -> str:
    return "none" if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"
