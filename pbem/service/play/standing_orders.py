"""Standing orders, set and dropped by the player of a seat. Their language is in `engine.orders`."""

from engine import orders
from engine.decisions import Refused
from pbem.service.play import move, views
from pbem.service.play.log import Kind, LogWriter
from pbem.service.play.move import lock_seat
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import players
from pbem.store.database import Tx


def set_order(tx: Tx, server: Server, game_id: int, seat: int, text: str, person_id: int | None = None) -> orders.Order:
    """Replace the standing order of a seat; it answers an open decision at once. Returns the order."""
    row = lock_seat(tx, game_id, seat, person_id)
    move.must_be_playing(row)
    view = views.view(tx, row, seat)
    try:
        order = orders.read_order(text, rules_of(row).asks(view, seat))
    except Refused as refused:
        raise move.refusal(refused, rules_of(row)) from refused
    standing = move.orders_of(row)
    if standing.get(seat) == order:
        return order
    record = LogWriter(row, server.now(), server.randomness)
    record.add(Kind.ORDER, seat, move.Actor.PERSON, {"order": order})
    move.set_orders(tx, server, row, standing | {seat: order}, record)
    # The player has acted, so the count of missed turns starts over.
    players.set_missed(tx, game_id, seat, 0)
    return order


def drop_order(tx: Tx, server: Server, game_id: int, seat: int, person_id: int | None = None) -> None:
    row = lock_seat(tx, game_id, seat, person_id)
    others = move.orders_of(row)
    if others.pop(seat, None) is None:
        return
    move.must_be_playing(row)
    record = LogWriter(row, server.now(), server.randomness)
    record.add(Kind.ORDER, seat, move.Actor.PERSON, {"order": None})
    move.set_orders(tx, server, row, others, record)
