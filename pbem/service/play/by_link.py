"""Acts by the token of a link: opening it and acting are one transaction.

Whoever holds the token may act, and nobody else: a link of one choice makes that choice in its own turn, a link of a seat
acts in the turn that the form names. Whether the act fits is decided where it is always decided.
"""

from engine.decisions import Choice
from engine.orders import Order
from pbem.service import links
from pbem.service.links import follow, open_to_act
from pbem.service.play import orders, undo
from pbem.service.play.move import By, Receipt, play_locked
from pbem.service.play.seat_view import seat_of
from pbem.service.server import Server
from pbem.store import games
from pbem.store import links as link_rows
from pbem.store.database import Tx
from pbem.store.links import LinkKey
from pbem.tokens import Purpose


def move(tx: Tx, server: Server, token: str, option: str) -> Receipt:
    """Make the one choice of a link."""
    link, game, player = open_to_act(tx, server, token, Purpose.MOVE)
    _, seat, person_id = seat_of(link)
    assert link.turn is not None
    return play_locked(tx, server, game, link.turn, seat, option, By.PERSON, person_id, player)


def play(tx: Tx, server: Server, token: str, turn: int, wanted: str | Choice) -> Receipt:
    """Make a choice on the page of a seat, in the turn that its form was made for."""
    return _play(tx, server, token, Purpose.SEAT, turn, wanted, By.PERSON)


def play_by_api(tx: Tx, server: Server, token: str, turn: int, wanted: str | Choice) -> Receipt:
    """Make a choice by the API, in the turn that the program has seen."""
    return _play(tx, server, token, Purpose.API, turn, wanted, By.API)


def take_back(tx: Tx, server: Server, token: str, purpose: Purpose, turn: int | None = None) -> None:
    """Take back the choice that the seat made in a turn, if not named that of the link."""
    link = follow(tx, server, token, purpose)
    game_id, seat, person_id = seat_of(link)
    in_turn = link.turn if turn is None else turn
    assert in_turn is not None
    undo.take_back(tx, server, game_id, in_turn, seat, person_id)


def set_order(tx: Tx, server: Server, token: str, text: str) -> Order:
    """Set a standing order of the seat."""
    game_id, seat, person_id = seat_of(follow(tx, server, token, Purpose.SEAT))
    return orders.set_order(tx, server, game_id, seat, text, person_id)


def drop_order(tx: Tx, server: Server, token: str) -> None:
    """Drop the standing order of the seat."""
    game_id, seat, person_id = seat_of(follow(tx, server, token, Purpose.SEAT))
    orders.drop_order(tx, server, game_id, seat, person_id)


def api_token(tx: Tx, server: Server, token: str) -> str:
    """The token by which a program may play this seat, made if there is none: to be shown once, never kept by us."""
    game_id, seat, person_id = seat_of(follow(tx, server, token, Purpose.SEAT))
    # The lock of the game keeps two requests from making two rows.
    games.lock(tx, game_id)
    row = links.make(tx, server, LinkKey(Purpose.API, person_id, game_id, None, seat))
    link = link_rows.read(tx, row)
    assert link is not None
    return links.token(server, link)


def _play(tx: Tx, server: Server, token: str, purpose: Purpose, turn: int, wanted: str | Choice, by: By) -> Receipt:
    link, game, player = open_to_act(tx, server, token, purpose)
    _, seat, person_id = seat_of(link)
    return play_locked(tx, server, game, turn, seat, wanted, by, person_id, player)
