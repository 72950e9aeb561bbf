"""Standing orders that a reply drops by their numbers.

A number is that of the list which the writer had before the reply. If it has meant another order since the turn of the email
began, the email may have shown that one, so nothing is dropped.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from engine import orders
from engine.orders import Conditional
from pbem.domain.errors import Gone, Stale
from pbem.i18n import speech
from pbem.i18n.speech import gettext as _
from pbem.service.play import move, standing_orders
from pbem.service.play.log import Kind, body_of, json_body_of
from pbem.service.play.positions import orders_of
from pbem.service.play.rules import rules_of
from pbem.service.server import Server
from pbem.store import log, seats
from pbem.store.database import Tx
from pbem.store.games import GameRow


@dataclass(frozen=True, slots=True)
class Numbered:
    """The standing orders of a seat before a reply, the turn of the email that it answers, and the last row of the log."""

    seat: int
    turn: int
    orders: tuple[Conditional, ...]
    seq: int


def before_reply(game: GameRow, seat: int, turn: int) -> Numbered:
    return Numbered(seat, turn, _orders_of(game, seat), game.seq)


def drop(tx: Tx, server: Server, game: GameRow, person_id: int, before: Numbered, number: str) -> str:
    """Drop the order with a number, or all of them without one; returns what was dropped, with the players' names.

    Raises Gone without such an order, and Stale if it's gone or the number has meant another one since the turn began.
    """
    seat, now = before.seat, _orders_of(game, before.seat)
    teller = speech.teller(rules_of(game), seat, tuple(each.name for each in seats.taken(tx, game.id)))
    if not now:
        raise Gone(_("You have no standing order."), remedy=_("Nothing changed."))
    if not number:
        standing_orders.drop_order(tx, server, game.id, seat, person_id)
        return orders.in_words(orders.as_order(now), teller)
    rank = int(number) - 1
    if not 0 <= rank < len(before.orders):
        raise Gone(_("You have no standing order %(number)s.", number=number), remedy=_("Nothing changed."))
    order = before.orders[rank]
    written = orders.write_one(order)
    ranks = [at for at, one in enumerate(now) if orders.write_one(one) == written]
    earlier = (several[rank] for several in _lists_since(tx, game, before) if rank < len(several))
    if not ranks or not all(_continues(one, order) for one in earlier):
        present = "; ".join(f"{at}. {orders.in_words(one, teller)}" for at, one in enumerate(now, 1))
        raise Stale(
            _("Your standing orders have changed, so order %(number)s may not be the one you meant.", number=number),
            why=_("They are now: %(orders)s.", orders=present),
            remedy=_("Nothing changed. You can drop one at your table, or all with “drop order”."),
        )
    standing_orders.drop_order(tx, server, game.id, seat, person_id, ranks[0], written)
    return orders.in_words(order, teller)


def _orders_of(game: GameRow, seat: int) -> tuple[Conditional, ...]:
    return orders.as_list(orders_of(game).get(seat))


def _continues(before: Conditional, now: Conditional) -> bool:
    """Whether an order is the same as one before, perhaps with fewer steps left."""
    first, left = before.order, now.order
    if isinstance(first, orders.Then) and isinstance(left, orders.Then) and before.when == now.when:
        return first.texts[-len(left.texts) :] == left.texts
    return orders.write_one(before) == orders.write_one(now)


def _lists_since(tx: Tx, game: GameRow, before: Numbered) -> Iterator[tuple[Conditional, ...]]:
    """The lists that the seat has had since the turn began, if they were changed otherwise than by playing steps."""
    kinds = (Kind.ENTRY, Kind.ORDER, Kind.SEATED)
    rows = log.chain_back(tx, game.id, game.key, kinds, before.seq)
    changed, began = [], None
    for row in rows:
        if row.kind == Kind.ENTRY and json_body_of(row)["turn"] < before.turn:
            began = row.at
            break
        if row.kind != Kind.ENTRY and row.seat == before.seat:
            changed.append(row)
    first = None
    # What ended as the turn began was in no email about it.
    while changed and (changed[-1].by, changed[-1].at) == (move.Actor.ORDER, began):
        first = changed.pop()
    if not changed:
        return
    if first is None:
        first = next((row for row in rows if row.kind != Kind.ENTRY and row.seat == before.seat), None)
    for row in (*changed, *(() if first is None else (first,))):
        if row.kind == Kind.ORDER:
            yield orders.as_list(body_of(rules_of(game), row)["order"])
