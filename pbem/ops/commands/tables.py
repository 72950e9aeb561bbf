"""The commands of `pbem table`, `pbem person` and `pbem outage`: the acts of the desk, from the command line.

Each goes through the same function as its form at the desk, with a reason, and `--dry-run` shows what it would do. As in
`cli`, no work is done here.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from pbem.domain.errors import BadInput
from pbem.ops.commands.terminal import CODES, command, counted, operator, read_settings

if TYPE_CHECKING:
    from pbem.service.desk.acts.perform import DeskAct, Outcome
    from pbem.service.server import Server

_SEAT = click.IntRange(1)
_DAY = click.DateTime(["%Y-%m-%d"])
_MOMENT = click.DateTime(["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"])


def act_command(of: click.Group, name: str, *, example: str) -> Callable[[Callable[..., "DeskAct"]], click.Command]:
    """A command that does the act which a function makes of what was typed, or shows what it would do."""

    def made(act: Callable[..., "DeskAct"]) -> click.Command:
        @command(of, name, example=example)
        @click.option("--reason", required=True, help="Why. Those whom it concerns read it, and it stays on record.")
        @click.option("--dry-run", is_flag=True, help="Show what it would do and who would be told, and do nothing.")
        @wraps(act)
        def run(*, reason: str, dry_run: bool, **given: Any) -> None:
            from pbem.ops.setup import open_server
            from pbem.service.desk.acts.perform import perform

            with open_server(read_settings()) as server:
                done = act(server, **given), reason
                _show(server.dry_run(perform, operator(), *done) if dry_run else server.run(perform, operator(), *done))
            click.echo("Nothing was done: this was a look." if dry_run else "Done.")

        return run

    return made


@click.group(epilog=CODES)
def table() -> None:
    """Tables: what state they are in, and everything that can be done about one."""


@command(table, "list", example="pbem table list --status frozen")
@click.option("--status", default="playing", show_default=True, help="Only tables in this state.")
@click.option("--most", type=click.IntRange(1), default=50, show_default=True, help="So many, the newest ones.")
def table_list(status: str, most: int) -> None:
    """Show tables, one a line: its number, its state, its turn and its title."""
    from pbem.ops.setup import open_server
    from pbem.store import games

    with open_server(read_settings()) as server, server.store.read() as tx:
        numbers = games.ids_with_status(tx, status)
        found = [games.read(tx, game_id) for game_id in numbers[-most:]]
    for game in found:
        state = "paused" if game.paused else game.status
        click.echo(f"{game.id:6}  {state:8} turn {game.turn:4}  {game.kind:18} {game.title}")
    click.echo(
        f"{counted(len(numbers), 'table')}{f', of which these are the newest {most}' if len(numbers) > most else ''}."
    )


@command(table, "show", example="pbem table show 12")
@click.argument("number", type=click.IntRange(1))
def table_show(number: int) -> None:
    """Show one table: seats and deadlines, what was done about it, its record, the turns that it can go back to.

    Nothing that is hidden from a player is shown.
    """
    from pbem.ops.setup import open_server
    from pbem.service.desk import table as desk_table

    with open_server(read_settings()) as server:
        found = server.read(desk_table.table, operator(), number)
        explained = {each.seat: lines for each, lines in server.read(desk_table.clocks, operator(), number)[1]}
    game = found.game
    click.echo(f"Table {game.id}: {game.title} ({found.rules.title}), {game.status}{', paused' if game.paused else ''}")
    click.echo(f"Turn {game.turn}, pace {game.pace}, {game.seq} rows, head {found.head}")
    for each in found.seats:
        click.echo(f"  seat {each.seat + 1}: {each.name}{' (bot)' if each.bot else f', person {each.person_id}'}")
        for line in explained.get(each.seat, ()):
            click.echo(f"      {line}")
    for row in found.acts:
        click.echo(f"  {row.at:%Y-%m-%d %H:%M} UTC  {row.actor}: {row.act}. {row.reason}")
    if found.turns:
        click.echo(f"Can go back to the turns {', '.join(str(turn) for turn, _ in reversed(found.turns))}.")


@act_command(table, "pause", example="pbem table pause 12 --reason 'The relay is down.'")
@click.argument("number", type=click.IntRange(1))
def table_pause(server: "Server", number: int) -> "DeskAct":
    """Stop all clocks of the table of this NUMBER until it is resumed, and tell its players."""
    from pbem.service.desk.acts.clocks import Pause

    return Pause(number)


@act_command(table, "resume", example="pbem table resume 12 --reason 'The relay works again.'")
@click.argument("number", type=click.IntRange(1))
def table_resume(server: "Server", number: int) -> "DeskAct":
    """Let the clocks of a paused table go on, and tell its players until when they have time."""
    from pbem.service.desk.acts.clocks import Resume

    return Resume(number)


@act_command(table, "extend", example="pbem table extend 12 2d --seat 3 --reason 'Ann is ill.'")
@click.argument("number", type=click.IntRange(1))
@click.argument("more")
@click.option("--seat", type=_SEAT, help="Only this seat, the first being 1; otherwise all who are asked.")
def table_extend(server: "Server", number: int, more: str, seat: int | None) -> "DeskAct":
    """Give MORE time, such as `12h`, `2d` or `2026-12-01 20:00`, at the table of this NUMBER."""
    from pbem.service.desk.acts.clocks import Extend

    return Extend(number, more, None if seat is None else seat - 1)


@act_command(table, "freeze", example="pbem table freeze 12 --reason 'Its record is doubted.'")
@click.argument("number", type=click.IntRange(1))
def table_freeze(server: "Server", number: int) -> "DeskAct":
    """Let nothing be decided at a table, and no clock run, until somebody has looked at its record."""
    from pbem.service.desk.acts.clocks import Freeze

    return Freeze(number)


@act_command(
    table, "unfreeze", example="pbem verify --game 12 && pbem table unfreeze 12 --reason 'The record is sound.'"
)
@click.argument("number", type=click.IntRange(1))
def table_unfreeze(server: "Server", number: int) -> "DeskAct":
    """Let a table that was stopped go on."""
    from pbem.service.desk.acts.clocks import Unfreeze

    return Unfreeze(number)


@act_command(table, "close", example="pbem table close 12 --reason 'All have asked for it.'")
@click.argument("number", type=click.IntRange(1))
def table_close(server: "Server", number: int) -> "DeskAct":
    """End a table. One that waits for players closes; a running game ends without a result, and its secret is told."""
    from pbem.service.desk.acts.clocks import Close

    return Close(number)


@act_command(
    table, "rewind", example="pbem table rewind 12 9 --reason 'Ben was timed out while our mails were lost.' --dry-run"
)
@click.argument("number", type=click.IntRange(1))
@click.argument("turn", type=click.IntRange(1))
def table_rewind(server: "Server", number: int, turn: int) -> "DeskAct":
    """Let a game go on from how it stood when TURN was asked; everything decided since then no longer stands.

    Luck is drawn anew, and all seats are told. `--dry-run` says who has learnt what meanwhile.
    """
    from pbem.service.desk.acts.rewind import Rewind

    return Rewind(number, turn)


@act_command(
    table, "substitute", example="pbem table substitute 12 3 --by ben@example.org --reason 'Ann has no time any more.'"
)
@click.argument("number", type=click.IntRange(1))
@click.argument("seat", type=_SEAT)
@click.option("--by", "address", default="", metavar="ADDRESS", help="Who plays on; without it, a bot does.")
def table_substitute(server: "Server", number: int, seat: int, address: str) -> "DeskAct":
    """Let somebody else, or a bot, play SEAT, the first being 1. The old links die."""
    from pbem.service.desk.acts.seats import Substitute

    return Substitute(number, seat - 1, address)


@act_command(table, "offer", example="pbem table offer 12 3 --reason 'Ann has not answered for weeks.'")
@click.argument("number", type=click.IntRange(1))
@click.argument("seat", type=_SEAT)
def table_offer(server: "Server", number: int, seat: int) -> "DeskAct":
    """Ask people who are willing to take over SEAT, the first being 1; until one does it is its player's."""
    from pbem.service.desk.acts.seats import Offer

    return Offer(number, seat - 1)


@act_command(table, "correct", example="pbem table correct 12 pace 3d --reason 'It was written wrongly.'")
@click.argument("number", type=click.IntRange(1))
@click.argument("what", type=click.Choice(["name", "title", "pace", "missed_limit", "successor", "option"]))
@click.argument("to")
@click.option("--seat", type=_SEAT, help="Whose name it is, the first seat being 1.")
def table_correct(server: "Server", number: int, what: str, to: str, seat: int | None) -> "DeskAct":
    """Correct WHAT was agreed on, or a name, so that it is TO. An option, written name=value, only before the start."""
    from pbem.service.desk.acts.correct import Correct

    return Correct(number, what, to, None if seat is None else seat - 1)


@act_command(table, "redact", example="pbem table redact 12 4 --reason 'It was an insult.'")
@click.argument("number", type=click.IntRange(1))
@click.argument("line", type=click.IntRange(1))
def table_redact(server: "Server", number: int, line: int) -> "DeskAct":
    """Take the text of a LINE of a table's talk away for good."""
    from pbem.service.desk.acts.correct import Redact

    return Redact(number, line)


@act_command(table, "resend", example="pbem table resend 12 345 --reason 'It never arrived.'")
@click.argument("number", type=click.IntRange(1))
@click.argument("mail", type=click.IntRange(1))
def table_resend(server: "Server", number: int, mail: int) -> "DeskAct":
    """Send the MAIL of this number again, the same bytes with the links that its reader has now."""
    from pbem.service.desk.acts.emails import Resend

    return Resend(number, mail)


@act_command(table, "retry-deadline", example="pbem table retry-deadline 12 3 --reason 'The fault is mended.'")
@click.argument("number", type=click.IntRange(1))
@click.argument("seat", type=click.IntRange(1))
def table_retry_deadline(server: "Server", number: int, seat: int) -> "DeskAct":
    """Act on the deadline of a SEAT again that was given up after many tries."""
    from pbem.service.desk.acts.emails import RetryDeadline

    return RetryDeadline(number, seat - 1)


@click.group(epilog=CODES)
def person() -> None:
    """People: their addresses, which of them mails reach, and who takes no new seat."""


@act_command(
    person, "address", example="pbem person address ann@example.org ann@example.net --reason 'She wrote from there.'"
)
@click.argument("who")
@click.argument("new")
def person_address(server: "Server", who: str, new: str) -> "DeskAct":
    """Let the mails of WHO, an address or a number, go to the NEW address from now on."""
    from pbem.service.desk.acts.people import ChangeAddress

    return ChangeAddress(_number(server, who), new)


@act_command(
    person, "ban", example="pbem person ban ben@example.org --until 2027-01-31 --reason 'Insults at three tables.'"
)
@click.argument("who")
@click.option("--until", type=_DAY, help="Last day; without it the ban has no end.")
def person_ban(server: "Server", who: str, until: datetime | None) -> "DeskAct":
    """Keep WHO, an address or a number, from new tables, seats and talk. Their games go on."""
    from pbem.service.desk.acts.people import Ban

    return Ban(_number(server, who), None if until is None else date(until.year, until.month, until.day))


@act_command(
    person, "merge", example="pbem person merge ann@example.org ann@example.net --reason 'She wrote from both.'"
)
@click.argument("who")
@click.argument("other")
def person_merge(server: "Server", who: str, other: str) -> "DeskAct":
    """Let everything of OTHER be that of WHO: seats, tables, bans. Each is an address or a number, and both are told."""
    from pbem.service.desk.acts.people import Merge

    return Merge(_number(server, who), _number(server, other))


@act_command(person, "export", example="pbem person export ann@example.org --reason 'She has asked for it.'")
@click.argument("who")
def person_export(server: "Server", who: str) -> "DeskAct":
    """Mail WHO, an address or a number, a link to their own page, where all that is known of them is a file."""
    from pbem.service.desk.acts.people import SendExport

    return SendExport(_number(server, who))


@act_command(person, "delete", example="pbem person delete ann@example.org --reason 'She has asked for it.'")
@click.argument("who")
def person_delete(server: "Server", who: str) -> "DeskAct":
    """Delete what is written down of WHO, an address or a number. Their seats are given away, and the games stay."""
    from pbem.service.desk.acts.people import Delete

    return Delete(_number(server, who))


@act_command(person, "resend", example="pbem person resend 345 --reason 'It never arrived.'")
@click.argument("mail", type=click.IntRange(1))
def person_resend(server: "Server", mail: int) -> "DeskAct":
    """Send the MAIL of this number, which is about no table, again: the same bytes with the links that its reader has now."""
    from pbem.service.desk.acts.emails import ResendOfNoTable

    return ResendOfNoTable(mail)


@act_command(person, "unban", example="pbem person unban ben@example.org --reason 'He has said sorry.'")
@click.argument("who")
def person_unban(server: "Server", who: str) -> "DeskAct":
    """Lift the ban of WHO, an address or a number, before its end."""
    from pbem.service.desk.acts.people import Unban

    return Unban(_number(server, who))


@act_command(person, "release", example="pbem person release ann@example.org --reason 'Her mailbox has room again.'")
@click.argument("who")
def person_release(server: "Server", who: str) -> "DeskAct":
    """Let mails go to WHO, an address or a number, again, where the address was left alone because mails came back."""
    from pbem.service.desk.acts.people import Release

    return Release(_number(server, who))


@click.group(epilog=CODES)
def outage() -> None:
    """Times in which the server, or the way of its mails, was not there."""


@act_command(
    outage,
    "declare",
    example="pbem outage declare '2026-11-20 22:00' '2026-11-21 06:00' --reason 'The relay lost mails.'",
)
@click.argument("start", type=_MOMENT)
@click.argument("end", type=_MOMENT)
def outage_declare(server: "Server", start: datetime, end: datetime) -> "DeskAct":
    """Say that nobody could be reached from START to END, both in UTC: clocks that ran are moved by that time.

    Turns that the clock decided meanwhile are listed; `pbem table rewind` gives them back.
    """
    from pbem.service.desk.acts.clocks import DeclareOutage

    return DeclareOutage(start.replace(tzinfo=UTC), end.replace(tzinfo=UTC))


def _number(server: "Server", who: str) -> int:
    """The number of a person who was named by it or by their address."""
    from pbem.service.people.addresses import normalised
    from pbem.store import people

    if who.isdigit():
        return int(who)
    with server.store.read() as tx:
        found = people.by_mailbox(tx, normalised(who)[1])
    if found is None:
        raise BadInput("Nobody here has this address.", remedy="Nothing was changed.")
    return found.id


def _show(found: "Outcome") -> None:
    """What an act did, or would do, line by line."""
    for says in found.says:
        click.echo(f"  {says}")
    for moved in found.moved:
        click.echo(f"  deadline of {moved.name}: {_said(moved.before)} -> {_said(moved.after)}")
    for email in found.emails:
        click.echo(f"  mail to {email.name}: {email.what or email.kind}")
    for kind, seat in found.rows:
        click.echo(f"  row of its record: {kind}{'' if seat is None else f', seat {seat + 1}'}")


def _said(moment: datetime | None) -> str:
    return "none" if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"
