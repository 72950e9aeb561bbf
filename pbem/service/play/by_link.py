"""Moves and standing orders by the token of a link, each in one transaction with following it.

The token is the permission: a move's link makes its choice in its own turn, a seat's link acts in the turn that the form
names. The rules are checked where they always are.
"""

from engine.decisions import Choice
from engine.orders import Order
from pbem.service import links
from pbem.service.links import follow_seat, open_move, open_to_act
from pbem.service.play import standing_orders
from pbem.service.play.move import Actor, Receipt, play_locked
from pbem.service.server import Server
from pbem.store import games
from pbem.store.database import Tx
from pbem.store.links import LinkKey
from pbem.tokens import Purpose


def move(tx: Tx, server: Server, token: str, option: str) -> Receipt:
    """Make the choice of a move's link."""
    link, game, player = open_move(tx, server, token)
    return play_locked(tx, server, game, link.turn, link.seat, option, Actor.PERSON, link.person_id, player)


def play(
    tx: Tx,
    server: Server,
    token: str,
    turn: int,
    request: str | Choice,
    purpose: Purpose = Purpose.SEAT,
    head: str = "",
) -> Receipt:
    """Make a choice by a SEAT or API token, in the turn, and at the head if one is named, that the player or program has seen."""
    link, game, player = open_to_act(tx, server, token, purpose)
    by = Actor.API if purpose is Purpose.API else Actor.PERSON
    return play_locked(tx, server, game, turn, link.seat, request, by, link.person_id, player, head=head)


def add_order(tx: Tx, server: Server, token: str, turn: int, text: str, head: str = "") -> Order:
    """Add a standing order below the seat's others, for the first question from the turn on that its player has seen."""
    link = follow_seat(tx, server, token)
    return standing_orders.set_order(tx, server, link.game_id, link.seat, text, link.person_id, turn, head, add=True)


def drop_order(tx: Tx, server: Server, token: str, rank: int, expected: str) -> None:
    """Drop the one of the seat's standing orders at a rank of the list."""
    link = follow_seat(tx, server, token)
    standing_orders.drop_order(tx, server, link.game_id, link.seat, link.person_id, rank, expected)


def move_order(tx: Tx, server: Server, token: str, rank: int, expected: str, *, up: bool) -> None:
    """Move one of the seat's standing orders up or down."""
    link = follow_seat(tx, server, token)
    standing_orders.move_order(tx, server, link.game_id, link.seat, link.person_id, rank, expected, up=up)


def api_token(tx: Tx, server: Server, token: str) -> str:
    """The token with which a program may play this seat, made if missing. It is shown and never stored."""
    link = follow_seat(tx, server, token)
    # Two requests at once must not make two rows.
    games.lock(tx, link.game_id)
    return links.make_token(tx, server, LinkKey(Purpose.API, link.person_id, link.game_id, None, link.seat))
