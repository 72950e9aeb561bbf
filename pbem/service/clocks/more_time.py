"""More time from a player: another player who has to move gets a day, once a turn from each of the others.

It is given alike to a seat that has answered already, and nobody is told who has: neither the giver nor the log.
"""

from datetime import timedelta
from typing import Final

from pbem.domain.duration import DAY, short_duration
from pbem.domain.errors import BadInput, Forbidden, Gone, NotFound, Stale, quoted
from pbem.domain.extension import ExtendedBy, givers_of, read_extensions, with_extension
from pbem.domain.states import TurnStatus
from pbem.i18n.speech import gettext as _
from pbem.service.clocks import pauses
from pbem.service.clocks.deadlines import queue_notice
from pbem.service.play.log import Kind, add_row
from pbem.service.play.move import Actor
from pbem.service.server import Server
from pbem.store import deadlines, players as player_rows
from pbem.store.database import Tx

MORE_TIME: Final[timedelta] = DAY


def give(tx: Tx, server: Server, game_id: int, giver: int, person_id: int, seat: int, turn: int | None = None) -> str:
    """Give a seat a day more for the open turn, or for this turn only; returns the name of its player.

    Raises BadInput, Forbidden, Gone, NotFound or Stale.
    """
    game = pauses.playing(tx, game_id)
    if turn not in (None, game.turn):
        raise Stale(_("That turn is over."), remedy=_("Nothing changed."))
    if game.paused:
        raise Gone(_("This table is paused."), why=_("No clocks are running."), remedy=_("Nothing changed."))
    players = {player.seat: player for player in player_rows.of_game(tx, game_id)}
    if giver not in players or players[giver].person_id != person_id:
        raise Forbidden(_("Only a table's players can give more time there."))
    if seat not in players:
        raise NotFound(_("This game has no such seat."))
    who, receiver = players[seat].name, players[seat].person_id
    if receiver == person_id:
        raise BadInput(_("You can't give yourself more time."), remedy=_("Ask another player, or the organiser."))
    if receiver is None:
        raise BadInput(_("%(who)s is a bot.", who=who), why=_("Bots need no more time."), remedy=_("Nothing changed."))
    row = deadlines.read(tx, game_id, game.turn, seat)
    if row is None or row.status == TurnStatus.REWOUND:
        raise Gone(_("It isn't %(who)s's turn.", who=who), remedy=_("Nothing changed."))
    if giver in givers_of(read_extensions(row.extensions)):
        raise Gone(
            _("You've already given %(who)s a day for this turn.", who=who),
            why=_("You can do that once a turn."),
            remedy=_("Nothing changed."),
        )
    game = add_row(
        tx, server, game, Kind.EXTENDED, seat, Actor.PERSON, {"more": short_duration(MORE_TIME), "giver": giver}
    )
    extension = ExtendedBy(MORE_TIME, giver)
    if row.status == TurnStatus.MISSED:
        # Noted all the same, or giving it a second time would tell that the turn was missed.
        deadlines.change(tx, row, extensions=with_extension(row.extensions, extension))
        return who
    # A player who has answered may take that back as long as the turn is open, and has more time then too.
    due_at = pauses.extend_seat(tx, server, game, row, extension)
    if row.status == TurnStatus.OPEN:
        facts = {"by": "player", "who": players[giver].called, "due_at": due_at}
        queue_notice(tx, server, receiver, game, row, "extended", facts)
    return who


def give_by_name(tx: Tx, server: Server, game_id: int, giver: int, person_id: int, name: str, turn: int) -> str:
    """The same for the player of this name, by a reply to an email about a turn; returns it as the table has it.

    Where that player was asked in that turn, it is meant, and no later one.
    """
    seats = {
        player.name.casefold(): player.seat for player in player_rows.of_game(tx, game_id) if player.seat is not None
    }
    seat = seats.get(name.casefold(), seats.get(name.rstrip(" .!").casefold()))
    if seat is None:
        raise NotFound(
            _("Nobody at this table is called %(name)s.", name=quoted(name)),
            remedy=_("Write the name as your emails have it."),
        )
    if turn != pauses.playing(tx, game_id).turn and deadlines.read(tx, game_id, turn, seat) is not None:
        # The receipt is about the open turn.
        remedy = _("Nothing changed. To give a day for the turn that's open now, reply to this email.")
        raise Stale(_("That turn is over."), remedy=remedy)
    return give(tx, server, game_id, giver, person_id, seat)
