"""Standing orders, set and dropped by the player of a seat, and what an undo does to them.

An undo brings back the orders of other players that had ended since, as if the choice had never been made. Their language
is in `engine.orders`.
"""

from collections.abc import Sequence

from engine import codec, orders
from engine.conditions import Condition
from engine.decisions import Decision, Refused
from engine.facts import fold, seen
from engine.records import replace
from engine.tell import say
from pbem.domain import hash_chain
from pbem.domain.errors import Stale
from pbem.i18n.speech import gettext as _
from pbem.service.play import changes, move, views
from pbem.service.play.log import TAKES_BACK, Kind, LogWriter, StandingEntry, body_of, latest_entries
from pbem.service.play.move import lock_seat
from pbem.service.play.positions import orders_of, position_of
from pbem.service.play.rules import rules_of
from pbem.service.play.seat_cache import decision_in
from pbem.service.server import Server
from pbem.store import log, seats
from pbem.store.database import Tx
from pbem.store.games import GameRow


def set_order(
    tx: Tx,
    server: Server,
    game_id: int,
    seat: int,
    text: str,
    person_id: int | None = None,
    turn: int | None = None,
    head: str = "",
    *,
    add: bool = False,
) -> orders.Order:
    """Replace the standing orders of a seat, or `add` some below them; they answer an open decision at once.

    Returns what the text means. `turn` is the turn that its player had seen, by default the open one: the order is for the
    first question since then. An order for one lot or auction never acts in another. Raises Stale if what it was for is over,
    or if the `head` that its player had seen is no more.
    """
    row = lock_seat(tx, game_id, seat, person_id)
    move.must_be_playing(row)
    if head and not _stands(tx, row, turn, head):
        raise Stale(
            _("The game has moved on since then."),
            why=_("Your order was for a turn that was undone."),
            remedy=_("Nothing changed."),
        )
    asked = rules_of(row).asks(views.view(tx, row, seat), seat)
    names = tuple(each.name for each in seats.taken(tx, game_id)) if " if " in text.casefold() else ()
    before = orders.as_list(orders_of(row).get(seat)) if add else ()
    try:
        if turn is not None and turn != row.turn:
            several = orders.as_list(orders.read_order(text, names=names))
            if any(_is_for_one_topic(each) for each in several):
                steps = any(isinstance(each.order, orders.Then) for each in several)
                asked = _asked_since(tx, row, seat, turn, asked, steps=steps)
        order = _about_others(orders.read_order(text, asked, names), seat, row.seats)
        new = (each for each in orders.as_list(order) if each not in before)
        together = orders.as_order((*before, *new))
    except Refused as refused:
        raise move.refusal(refused, rules_of(row)) from refused
    _change(tx, server, row, seat, together)
    return order


def drop_order(
    tx: Tx,
    server: Server,
    game_id: int,
    seat: int,
    person_id: int | None = None,
    rank: int | None = None,
    expected: str = "",
) -> None:
    """Drop a seat's standing orders, or the one at a rank of the list, counted from 0.

    Raises Stale unless that one is as `expected`.
    """
    row = lock_seat(tx, game_id, seat, person_id)
    several = orders.as_list(orders_of(row).get(seat))
    if not several:
        return
    move.must_be_playing(row)
    if rank is not None:
        _must_be_there(several, rank, expected)
    left = () if rank is None else (*several[:rank], *several[rank + 1 :])
    _replace(tx, server, row, seat, orders.as_order(left) if left else None)


def move_order(
    tx: Tx, server: Server, game_id: int, seat: int, person_id: int | None, rank: int, expected: str, *, up: bool
) -> None:
    """Move one of a seat's standing orders up or down by one rank. Raises Stale unless it is as `expected`."""
    row = lock_seat(tx, game_id, seat, person_id)
    move.must_be_playing(row)
    several = list(orders.as_list(orders_of(row).get(seat)))
    _must_be_there(several, rank, expected)
    other = min(max(rank + (-1 if up else 1), 0), len(several) - 1)
    several[rank], several[other] = several[other], several[rank]
    _change(tx, server, row, seat, orders.as_order(tuple(several)))


def _change(tx: Tx, server: Server, row: GameRow, seat: int, order: orders.Order) -> None:
    """Replace a seat's orders, unless the player has thought again too often; dropping one is always possible."""
    if orders_of(row).get(seat) != order:
        changes.must_be_few(tx, row, seat)
        _replace(tx, server, row, seat, order)


def _replace(tx: Tx, server: Server, row: GameRow, seat: int, order: orders.Order | None) -> None:
    standing = orders_of(row)
    record = LogWriter(row, server.now(), server.randomness)
    record.add(Kind.ORDER, seat, move.Actor.PERSON, {"order": order})
    others = {other: each for other, each in standing.items() if other != seat}
    move.set_orders(tx, server, row, others | ({} if order is None else {seat: order}), record)


def _must_be_there(several: Sequence[orders.Conditional], rank: int, expected: str) -> None:
    if not 0 <= rank < len(several) or expected != orders.write_one(several[rank]):
        raise Stale(_("Your standing orders have changed since then."), remedy=_("Nothing changed. Look again."))


def _about_others(order: orders.Order, seat: int, many: int) -> orders.Order:
    """The order with the owner's own numbers as such. Raises Refused for a player that isn't there."""
    return orders.as_order(
        tuple(
            replace(each, when=tuple(_about_other(condition, seat, many) for condition in each.when))
            for each in orders.as_list(order)
        )
    )


def _about_other(condition: Condition, seat: int, many: int) -> Condition:
    if condition.seat is not None and not 0 <= condition.seat < many:
        raise Refused(say("This table has no seat {number}.", number=condition.seat + 1))
    return replace(condition, seat=None) if (condition.about, condition.seat) == ("number", seat) else condition


def after_undo(tx: Tx, row: GameRow, seat: int, record: LogWriter, undone: StandingEntry | None = None) -> str:
    """The standing orders once a seat has taken back its sealed choice or an entry, with the rows that say what changed.

    An order of the seat's own ends if it would act at once, since it would make a choice again as soon as anyone does anything.
    """
    before = orders_of(row)
    after = before if undone is None else before | _ended_since(tx, row, undone.seq)
    turn = row.turn if undone is None else undone.turn
    if seat in after:
        own = _without_acting(tx, row, turn, seat, after[seat])
        after = {other: order for other, order in after.items() if other != seat} | ({} if own is None else {seat: own})
    for each in sorted(before.keys() | after.keys()):
        if after.get(each) != before.get(each):
            record.add(Kind.ORDER, each, "table", {"order": after.get(each)})
    return codec.dumps(sorted(after.items()))


def _stands(tx: Tx, row: GameRow, turn: int | None, head: str) -> bool:
    """Whether a head that was seen in a turn is that of the open turn, or of one before it."""
    if turn == row.turn:
        return hash_chain.fingerprint(row.entry_head) == head
    before = (each.hash for each in log.chain_back(tx, row.id, row.key, (Kind.ENTRY, *TAKES_BACK)))
    return any(hash_chain.fingerprint(each) == head for each in (*before, hash_chain.genesis(row.key)))


def _is_for_one_topic(one: orders.Conditional) -> bool:
    """Whether an order is about one lot or auction, or about certain questions; `always` is about all of them."""
    return not one.is_for_any_lot and (not isinstance(one.order, orders.Again) or one.order.bound)


def _asked_since(tx: Tx, row: GameRow, seat: int, turn: int, now: Decision | None, *, steps: bool) -> Decision | None:
    """The decision that an order left in sight of an earlier turn is for; `now` is the open one. None if none has come yet.

    Raises Stale if it is over. The topic says so, and choices for one question after the other fit no later question.
    """
    first = _first_question(tx, row, seat, turn)
    if first is None:
        return now
    # Where another seat is asked, everyone knows for which lot or auction.
    asked = [now] if now is not None else position_of(tx, row).open().values()
    if steps or not first.topic or all(each.topic != first.topic for each in asked):
        raise _over(row, turn)
    return now or first


def _first_question(tx: Tx, row: GameRow, seat: int, turn: int) -> Decision | None:
    """What a seat was asked first from a turn on that is over; None if nothing before the open turn. Raises Stale."""
    rules = rules_of(row)
    since = latest_entries(rules, log.chain_back(tx, row.id, row.key), turn)
    if not since or since[0].turn != turn:
        # The turn was taken back, and what its player had seen of it.
        raise _over(row, turn)
    view = views.view_before(tx, row, seat, turn)
    for standing in since:
        if (asked := decision_in(rules, view, seat)) is not None:
            return asked
        view = fold(view, (seen(fact, seat) for fact in standing.entry.facts))
    return None


def _over(row: GameRow, turn: int) -> Stale:
    return Stale(
        _("That order was for turn %(turn)s, and the game is now on turn %(present)s.", turn=turn, present=row.turn),
        why=_("It could bid for something you hadn't seen."),
        remedy=_(
            "Nothing changed. To leave it for what comes now, reply to the latest email, or use the page of your seat."
        ),
    )


def _ended_since(tx: Tx, row: GameRow, seq: int) -> dict[int, orders.Order]:
    """The orders that ended by themselves after this row, unless their seats have had other orders or players since."""
    ended: dict[int, orders.Order] = {}
    for each in log.chain(tx, row.id, row.key, seq):
        if each.seat is not None and each.kind in (Kind.ORDER, Kind.SEATED):
            ended.pop(each.seat, None)
            if each.by == move.Actor.ORDER and (order := body_of(rules_of(row), each).get("ended")) is not None:
                ended[each.seat] = order
    return ended


def _without_acting(tx: Tx, row: GameRow, turn: int, seat: int, order: orders.Order) -> orders.Order | None:
    """A seat's orders without those that would answer, or end, in a turn."""
    view, left = views.view_before(tx, row, seat, turn), order
    while True:
        given = orders.answer(left, rules_of(row), view, seat)
        if given.choice is not None:
            several = orders.as_list(left)
            remaining = (*several[: given.rank], *several[given.rank + 1 :])
        elif given.note is not None:
            remaining = orders.as_list(given.order)
        else:
            return left
        if not remaining:
            return None
        left = orders.OrderList(remaining)
