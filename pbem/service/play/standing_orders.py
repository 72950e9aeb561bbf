"""Standing orders, set and dropped by the player of a seat, and what an undo does to them.

An undo brings back the orders of other players that had ended since, as if the choice had never been made. Their language
is in `engine.orders`.
"""

from itertools import takewhile

from engine import codec, orders
from engine.decisions import Decision, Refused
from engine.facts import fold, seen
from engine.tell import Text
from pbem.domain import hash_chain
from pbem.domain.errors import Stale
from pbem.i18n.speech import gettext as _
from pbem.service.play import changes, move, views
from pbem.service.play.log import TAKES_BACK, Kind, LogWriter, StandingEntry, body_of, latest_entries
from pbem.service.play.move import lock_seat
from pbem.service.play.rules import rules_of
from pbem.service.play.seat_cache import decision_in
from pbem.service.server import Server
from pbem.store import log
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
) -> orders.Order:
    """Replace the standing order of a seat; it answers an open decision at once. Returns the order.

    `turn` is the turn that its player had seen, by default the open one: the order is for the first question since then. An
    order for one lot or auction never acts in another. Raises Stale if what it was for is over, or if the `head` that its
    player had seen is no more.
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
    try:
        if turn is not None and turn != row.turn and _is_for_one_topic(orders.read_order(text)):
            asked = _asked_since(tx, row, seat, turn, asked, steps=isinstance(orders.read_order(text), orders.Then))
        order = orders.read_order(text, asked)
    except Refused as refused:
        raise move.refusal(refused, rules_of(row)) from refused
    standing = move.orders_of(row)
    if standing.get(seat) == order:
        return order
    changes.must_be_few(tx, row, seat)
    record = LogWriter(row, server.now(), server.randomness)
    record.add(Kind.ORDER, seat, move.Actor.PERSON, {"order": order})
    move.set_orders(tx, server, row, standing | {seat: order}, record)
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


def after_undo(tx: Tx, row: GameRow, seat: int, record: LogWriter, undone: StandingEntry | None = None) -> str:
    """The standing orders once a seat has taken back its sealed choice or an entry, with the rows that say what changed.

    The seat's own order ends if it would act at once, since it would make a choice again as soon as anyone does anything.
    """
    before = move.orders_of(row)
    after = before if undone is None else before | _ended_since(tx, row, undone.seq)
    turn = row.turn if undone is None else undone.turn
    if seat in after and _acts(tx, row, turn, seat, after[seat]):
        after = {other: order for other, order in after.items() if other != seat}
    for each in sorted(before.keys() | after.keys()):
        if after.get(each) != before.get(each):
            record.add(Kind.ORDER, each, "table", {"order": after.get(each)})
    return codec.dumps(sorted(after.items()))


def notes(tx: Tx, row: GameRow, seat: int, since: int) -> list[Text]:
    """Why orders of a seat's present player have ended after row `since` of the log, unless an undo has brought them back."""
    rows = takewhile(
        lambda each: each.seq > since and (each.kind, each.seat) != (Kind.SEATED, seat),
        log.chain_back(tx, row.id, row.key),
    )
    own = [each for each in rows if each.kind == Kind.ORDER and each.seat == seat]
    found: list[Text] = []
    for each in reversed(own):
        body = body_of(rules_of(row), each)
        if body.get("note") is not None:
            found.append(body["note"])
        elif each.by == "table" and body["order"] is not None:
            del found[-1:]
    return found


def _stands(tx: Tx, row: GameRow, turn: int | None, head: str) -> bool:
    """Whether a head that was seen in a turn is that of the open turn, or of one before it."""
    if turn == row.turn:
        return hash_chain.fingerprint(row.entry_head) == head
    before = (each.hash for each in log.chain_back(tx, row.id, row.key, (Kind.ENTRY, *TAKES_BACK)))
    return any(hash_chain.fingerprint(each) == head for each in (*before, hash_chain.genesis(row.key)))


def _is_for_one_topic(order: orders.Order) -> bool:
    """Whether an order is about one lot or auction, or about certain questions; `always` is about all of them."""
    return not isinstance(order, orders.Again) or order.bound


def _asked_since(tx: Tx, row: GameRow, seat: int, turn: int, now: Decision | None, *, steps: bool) -> Decision | None:
    """The decision that an order left in sight of an earlier turn is for; `now` is the open one. None if none has come yet.

    Raises Stale if it is over. The topic says so, and choices for one question after the other fit no later question.
    """
    first = _first_question(tx, row, seat, turn)
    if first is None:
        return now
    # Where another seat is asked, everyone knows for which lot or auction.
    asked = [now] if now is not None else move.position_of(row).open().values()
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


def _acts(tx: Tx, row: GameRow, turn: int, seat: int, order: orders.Order) -> bool:
    """Whether a seat's order would answer, or end, in a turn."""
    given = orders.answer(order, rules_of(row), views.view_before(tx, row, seat, turn), seat)
    return given.choice is not None or given.note is not None
