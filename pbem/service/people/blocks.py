"""Blocked players: hidden in talk, and kept off the blocker's new tables.

A blocked player's talk is neither shown nor emailed to the blocker, at any table, and their invitations are not sent. They
are not told, and the game goes on. A block is made at a table and stores the name used there, so it reveals nothing new.
"""

from pbem.domain.errors import BadInput, Forbidden, Stale
from pbem.i18n.speech import gettext as _
from pbem.service.links import follow_seat
from pbem.service.server import Server
from pbem.store import blocks, people, players as player_rows
from pbem.store.blocks import BlockRow
from pbem.store.database import Tx
from pbem.store.games import GameRow


def block(tx: Tx, server: Server, token: str, seat: int, called: str | None = None) -> None:
    """Block the player of another seat, by the link of one's own. Blocking twice changes nothing."""
    person_id, other_id, name = other_player(tx, server, token, seat, called)
    people.lock(tx, person_id)
    if not blocks.is_blocked(tx, person_id, other_id):
        blocks.add(tx, BlockRow(person_id, other_id, name, server.now()))


def unblock_seat(tx: Tx, server: Server, token: str, seat: int, called: str | None = None) -> None:
    """Unblock the player of another seat, by the link of one's own."""
    person_id, other_id, _name = other_player(tx, server, token, seat, called)
    blocks.drop(tx, person_id, other_id)


def unblock(tx: Tx, server: Server, person_id: int, blocked_id: int) -> None:
    """Unblock a person."""
    blocks.drop(tx, person_id, blocked_id)


def blocked_by(tx: Tx, server: Server, person_id: int) -> list[BlockRow]:
    """The people blocked by this person."""
    return blocks.blocked_by(tx, person_id)


def must_not_be_blocked(tx: Tx, row: GameRow, person_id: int) -> None:
    """Raise Forbidden if the host of the table blocks this person."""
    if blocks.is_blocked(tx, row.host_id, person_id):
        raise host_chooses()


def host_chooses() -> Forbidden:
    """The refusal of a player the host doesn't want, without a word about the reason."""
    return Forbidden(
        _("You can't join this table."),
        why=_("Its host chooses who plays."),
        remedy=_("Join another open table, or start your own."),
    )


def other_player(tx: Tx, server: Server, token: str, seat: int, called: str | None = None) -> tuple[int, int, str]:
    """The person of the link, and the person on another seat with their name there. Raises BadInput if there is none.

    Raises Stale if they aren't called so: someone else has taken the seat since the page was opened.
    """
    link = follow_seat(tx, server, token)
    for player in player_rows.of_game(tx, link.game_id):
        if player.seat == seat and player.person_id is not None and player.person_id != link.person_id:
            if called not in (None, player.name):
                raise Stale(_("Someone else plays this seat now."), remedy=_("Nothing changed. Open the page again."))
            return link.person_id, player.person_id, player.name
    raise BadInput(_("No other person plays that seat."), why=_("It's yours, a bot's, or doesn't exist."))
