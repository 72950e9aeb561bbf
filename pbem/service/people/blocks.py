"""Whom somebody does not want to hear, nor to have at a new table of their own.

What a blocked player says is neither shown nor mailed to whoever has blocked them, at any table; nobody is told, and the
game goes on as it is. They cannot join a table that the other one opens from then on, and the other one is sent no
invitation of theirs. A block is made at a table, and keeps the name that was met there: it tells nothing new of anybody.
"""

from pbem.domain.errors import BadInput, Forbidden
from pbem.i18n.speech import gettext as _
from pbem.service.links import follow_seat
from pbem.service.server import Server
from pbem.store import blocks, people
from pbem.store import players as player_rows
from pbem.store.blocks import BlockRow
from pbem.store.database import Tx
from pbem.store.games import GameRow


def block(tx: Tx, server: Server, token: str, seat: int) -> None:
    """Hear the player of another seat no longer, by the link of one's own; again changes nothing."""
    person_id, other_id, name = _met(tx, server, token, seat)
    people.lock(tx, person_id)
    if not blocks.is_blocked(tx, person_id, other_id):
        blocks.add(tx, BlockRow(person_id, other_id, name, server.now()))


def unblock_seat(tx: Tx, server: Server, token: str, seat: int) -> None:
    """Hear the player of another seat again, by the link of one's own; again changes nothing."""
    person_id, other_id, _ = _met(tx, server, token, seat)
    blocks.drop(tx, person_id, other_id)


def unblock(tx: Tx, server: Server, person_id: int, blocked_id: int) -> None:
    """Hear somebody again; again changes nothing."""
    blocks.drop(tx, person_id, blocked_id)


def of_person(tx: Tx, server: Server, person_id: int) -> list[BlockRow]:
    """Whom a person does not hear."""
    return blocks.of_person(tx, person_id)


def must_be_welcome(tx: Tx, row: GameRow, person_id: int) -> None:
    """Refuse whom the host of a table does not want there."""
    if blocks.is_blocked(tx, row.host_id, person_id):
        raise Forbidden(
            _("You cannot join this table."),
            why=_("Its host chooses whom to play with."),
            remedy=_("Other tables wait in the lobby, and you can open one yourself."),
        )


def _met(tx: Tx, server: Server, token: str, seat: int) -> tuple[int, int, str]:
    """Who asks, and who is meant: the person on another seat of the same table, with the name there."""
    link = follow_seat(tx, server, token)
    for player in player_rows.of_game(tx, link.game_id):
        if player.seat == seat and player.person_id is not None and player.person_id != link.person_id:
            return link.person_id, player.person_id, player.name
    raise BadInput(
        _("Nobody else sits there whom you could hear or not."), why=_("That seat is yours, a bot's or not there.")
    )
