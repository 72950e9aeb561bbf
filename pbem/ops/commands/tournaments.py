"""The commands of `pbem tournament`: a list, one of them, opening one, and what its host can do.

Each act goes through the same function as the host's form, and `--dry-run` shows what it would do. All are on record.
"""

from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Final

import click

from engine.options import parse_choices
from engine.search import LEVELS, USUAL
from pbem.domain.conditions import Conditions
from pbem.domain.states import TournamentStatus
from pbem.domain.tournaments.pairing import FORMATS, TIE_BREAKS
from pbem.domain.tournaments.plan import USUAL_TIE_BREAKS
from pbem.domain.tournaments.words import points_text
from pbem.ops.commands.groups import TOURNAMENT
from pbem.ops.commands.tables import act_moment, person_number
from pbem.ops.commands.terminal import command, counted, operator, read_settings
from pbem.ops.setup import open_server
from pbem.service.desk import tournaments as desk_tournaments
from pbem.service.play.rules import newest_rules
from pbem.service.tournaments import hosting, reading, sign_up
from pbem.service.tournaments.new import LATE, SEEDINGS, TournamentSettings
from pbem.service.tournaments.preview import HostAct, Preview
from pbem.store import tournaments as rows

_KEY: Final = click.argument("key")
_MOMENT: Final = click.DateTime(["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"])

_WHY: Final = "Reason, logged; players read it after a correction, a removal or the end."

Given = tuple[HostAct, tuple[object, ...]]
"""What to do, and what it is given."""


def act_command(name: str, *, example: str) -> Callable[[Callable[..., Given]], click.Command]:
    """A command that does what a host can do, which a function makes of its arguments, or shows what it would do."""

    def decorate(make: Callable[..., Given]) -> click.Command:
        @command(TOURNAMENT, name, example=f"pbem tournament {name} {example}")
        @_KEY
        @click.option("--reason", required=True, help=_WHY)
        @click.option("--dry-run", is_flag=True, help="Preview what would happen, and who would be told.")
        @wraps(make)
        def run(*, key: str, reason: str, dry_run: bool, **typed: Any) -> None:
            do, given = make(reason=reason, **typed)
            with open_server(read_settings()) as server:
                once = server.dry_run if dry_run else server.run
                _show(once(desk_tournaments.act, operator(), key, name, do, given, reason))
            click.echo("Nothing was changed: this was a preview." if dry_run else "Done.")

        return run

    return decorate


@command(TOURNAMENT, "list", example="pbem tournament list --status playing")
@click.option(
    "--status",
    type=click.Choice([each.value for each in TournamentStatus]),
    default="open",
    show_default=True,
    help="Only those in this state.",
)
@click.option(
    "--most", type=click.IntRange(1), default=50, show_default=True, help="Show at most this many, newest first."
)
def tournament_list(status: str, most: int) -> None:
    """List tournaments: key, round, players, game and name."""
    with open_server(read_settings()) as server, server.store.read() as tx:
        found = rows.all_with_status(tx, TournamentStatus(status), most)
        counts = rows.count_entrants(tx, [row.id for row in found])
    for row in found:
        paused = "  paused" if row.paused_at else ""
        click.echo(f"{row.key}  round {row.round}  {counts[row.id]:4} players  {row.kind:18} {row.name}{paused}")
    click.echo(f"{counted(len(found), 'tournament')}.")


@command(TOURNAMENT, "show", example="pbem tournament show 5d9831957504d90e")
@_KEY
def tournament_show(key: str) -> None:
    """Show one tournament: its players, tables and standings."""
    with open_server(read_settings()) as server, server.store.read() as tx:
        found = reading.page_of(tx, rows.by_key(tx, key))
    row = found.summary.row
    click.echo(
        f"{row.name} ({row.kind}), {row.status}{', paused' if row.paused_at else ''}, host: person {row.host_id}"
    )
    click.echo(
        f"Sign-up ends {act_moment(row.closes_at)}; round {row.round} of {found.summary.rounds} ends {act_moment(row.due_at)}"
    )
    for each in found.entrants:
        click.echo(
            f"  {each.number:4}  {each.status:8} {each.name}{'' if each.person_id is None else f', person {each.person_id}'}"
        )
    for round_ in found.rounds:
        for table in round_.tables:
            names = ", ".join(f"{each.name} ({each.place or '-'})" for each in table.players)
            click.echo(f"  round {round_.number}, table {table.number}: {names}")
    _show_standings(found.standings)


@command(
    TOURNAMENT,
    "open",
    example="pbem tournament open bid 'Spring cup' --host ann@example.org --closes '2026-12-01 20:00' --reason 'Ann asked.'",
)
@click.argument("kind")
@click.argument("name")
@click.option("--host", required=True, help="Person who hosts it: a number or an address.")
@click.option("--closes", type=_MOMENT, required=True, help="When sign-up ends, in UTC.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="swiss", show_default=True, help="Format.")
@click.option("--rounds", type=int, default=3, show_default=True, help="Rounds (Swiss, groups, league).")
@click.option("--size", type=int, default=4, show_default=True, help="Players per table.")
@click.option("--least", type=int, default=3, show_default=True, help="Fewest players per table.")
@click.option("--advance", type=int, default=2, show_default=True, help="How many go on from a table or group.")
@click.option("--fewest", type=int, default=3, show_default=True, help="Fewest players.")
@click.option("--most", type=int, default=64, show_default=True, help="Most players.")
@click.option("--variant", "variants", metavar="NAME=VALUE", multiple=True, help="A variant; repeat it for more.")
@click.option("--pace", default="1d", show_default=True, help="Time per turn.")
@click.option("--round-days", type=int, default=21, show_default=True, help="Days per round.")
@click.option("--late", type=click.Choice(LATE), default="bots", show_default=True, help="What happens to late tables.")
@click.option(
    "--seeding", type=click.Choice(SEEDINGS), default="draw", show_default=True, help="How players are seeded."
)
@click.option(
    "--tie-break",
    "tie_breaks",
    type=click.Choice(list(TIE_BREAKS)),
    multiple=True,
    help="A tie-break; repeat it for more, in order.",
)
@click.option(
    "--bot", "level", type=click.Choice(list(LEVELS)), default=USUAL, show_default=True, help="Replacement bots."
)
@click.option("--rated/--friendly", default=True, help="Whether results change ratings.")
@click.option("--group", default="", metavar="KEY", help="The group whose members alone see it; the host organises it.")
@click.option("--in-time", type=int, default=0, help="Least share of turns on time, in percent.")
@click.option("--finished", type=int, default=0, help="Fewest games finished in the last year.")
@click.option("--lowest", type=int, default=0, help="Lowest rating in this kind of game.")
@click.option("--highest", type=int, default=0, help="Highest rating in this kind of game.")
@click.option("--friends", is_flag=True, help="Only the host's friends can sign up without an invitation.")
@click.option("--reason", required=True, help="Reason, logged.")
@click.option("--dry-run", is_flag=True, help="Only check whether it could be opened.")
def tournament_open(
    *,
    kind: str,
    host: str,
    closes: datetime,
    tie_breaks: tuple[str, ...],
    variants: tuple[str, ...],
    reason: str,
    dry_run: bool,
    **typed: Any,
) -> None:
    """Open a tournament of KIND, called NAME, for sign-up."""
    conditions = Conditions(**{each.name: typed.pop(each.name) for each in fields(Conditions)})
    config = read_settings()
    with open_server(config) as server:
        settings = TournamentSettings(
            kind=kind,
            closes_at=closes.replace(tzinfo=UTC),
            tie_breaks=tie_breaks or USUAL_TIE_BREAKS,
            options=parse_choices(newest_rules(kind).options, variants),
            conditions=conditions,
            **typed,
        )
        once = server.dry_run if dry_run else server.run
        key = once(desk_tournaments.open_for, operator(), person_number(server, host), settings, reason)
    address = f"{config.base_url.rstrip('/')}/tournaments/{key}"
    click.echo("It could be opened. Nothing was changed: this was a preview." if dry_run else f"It's open: {address}")


@act_command("invite", example="5d9831957504d90e zoe@example.org --reason 'She asked.'")
@click.argument("addresses", nargs=-1, required=True)
def tournament_invite(*, reason: str, addresses: tuple[str, ...]) -> Given:
    """Invite ADDRESSES."""
    return sign_up.invite, (addresses,)


@act_command("pause", example="5d9831957504d90e --reason 'The relay is down.'")
def tournament_pause(*, reason: str) -> Given:
    """Pause a tournament.

    Games go on, but no round opens and none is late.
    """
    return hosting.pause, ()


@act_command("resume", example="5d9831957504d90e --reason 'The relay works again.'")
def tournament_resume(*, reason: str) -> Given:
    """Resume a paused tournament.

    Sign-up and the round last longer by the pause.
    """
    return hosting.resume, ()


@act_command("extend", example="5d9831957504d90e 3 --reason 'Many are ill.'")
@click.argument("days", type=click.IntRange(1))
def tournament_extend(*, reason: str, days: int) -> Given:
    """Give sign-up, or the round, DAYS more days."""
    return hosting.extend, (days,)


@act_command("correct", example="5d9831957504d90e 1 2 1 2 2 4 --reason 'A typo.' --dry-run")
@click.argument("round_number", metavar="ROUND", type=click.IntRange(1))
@click.argument("table", type=click.IntRange(1))
@click.argument("places", nargs=-1, type=click.IntRange(1), required=True)
def tournament_correct(*, reason: str, round_number: int, table: int, places: tuple[int, ...]) -> Given:
    """Correct the PLACES at TABLE of ROUND, in the order of the seats."""
    return hosting.correct, (round_number, table, places, reason)


@act_command("remove", example="5d9831957504d90e 7 --reason 'They asked for it.'")
@click.argument("number", type=click.IntRange(1))
def tournament_remove(*, reason: str, number: int) -> Given:
    """Take player NUMBER out, from the next round on."""
    return hosting.remove, (number, reason)


@act_command("seed", example="5d9831957504d90e 7 3 1 2 --reason 'By their ratings elsewhere.'")
@click.argument("numbers", nargs=-1, type=click.IntRange(1), required=True)
def tournament_seed(*, reason: str, numbers: tuple[int, ...]) -> Given:
    """Put the players in order by their NUMBERS.

    The strongest is first. For tournaments that are seeded by hand.
    """
    return hosting.seed, ({number: at for at, number in enumerate(numbers, start=1)},)


@act_command("call-off", example="5d9831957504d90e --reason 'Its host asked for it.'")
def tournament_call_off(*, reason: str) -> Given:
    """Call a tournament off.

    There is no winner; games that have begun go on.
    """
    return hosting.call_off, (reason,)


def _show(changed: Preview) -> None:
    """What an act did, or would do, line by line."""
    for each in changed.moved:
        click.echo(f"  {each.name}: {act_moment(each.before)} -> {act_moment(each.after)}")
    for name in changed.readers:
        click.echo(f"  mail to {name}")
    for name in changed.goes:
        click.echo(f"  out from the next round on: {name}")
    for name in changed.comes:
        click.echo(f"  in from the next round on: {name}")
    for at, name in enumerate(changed.seeds, start=1):
        click.echo(f"  seed {at}: {name}")
    _show_standings(changed.standings)


def _show_standings(standings: tuple[reading.Ranked, ...]) -> None:
    for each in standings:
        click.echo(f"  {each.standing.place:4}. {each.name}: {points_text(each.standing.points)}")
