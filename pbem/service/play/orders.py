"""Standing orders: set and dropped by the player of a seat. What an order may say is `engine.orders`' business."""

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
    """Set a standing order of a seat in the place of any older one; if the seat is asked now, it answers at once."""
    row = lock_seat(tx, game_id, seat, person_id)
    move.must_be_playing(row)
    known = views.view(tx, row, seat).view
    try:
        order = orders.read_order(text, rules_of(row).asks(known, seat))
    except Refused as refused:
        raise move.refusal(refused, rules_of(row)) from refused
    standing = move.orders_of(row)
    if standing.get(seat) == order:
        return order
    record = LogWriter(row, server.now(), server.randomness)
    record.add(Kind.ORDER, seat, move.By.PERSON, {"order": order})
    move.set_orders(tx, server, row, standing | {seat: order}, record)
    # An order is a word of the player's own, so it ends the count of silent turns.
    players.set_missed(tx, game_id, seat, 0)
    return order


def drop_order(tx: Tx, server: Server, game_id: int, seat: int, person_id: int | None = None) -> None:
    """Drop the standing order of a seat; nothing happens if it has none."""
    row = lock_seat(tx, game_id, seat, person_id)
    left = move.orders_of(row)
    if left.pop(seat, None) is None:
        return
    move.must_be_playing(row)
    record = LogWriter(row, server.now(), server.randomness)
    record.add(Kind.ORDER, seat, move.By.PERSON, {"order": None})
    move.set_orders(tx, server, row, left, record)
