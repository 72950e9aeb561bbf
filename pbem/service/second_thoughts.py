"""Changing one's mind: choices taken back, standing orders set and dropped.

A sealed choice may be taken back while its window is open; another while it has told nobody anything: no mail about it
has left, no number was drawn because of it, and no other player has answered what it led to. Either way only a choice of
the player's own, and only while the player has time left: otherwise the clock would decide in its place at once. Nothing is
deleted from a log: taking back is a row.
"""

import json
from collections.abc import Callable, Sequence

from engine import codec, orders
from engine.decisions import Refused
from engine.facts import fold
from engine.table import Position
from pbem.domain import speech
from pbem.domain.errors import Gone
from pbem.domain.speech import gettext as _
from pbem.service import play, views
from pbem.service.house import House
from pbem.service.record import Kind, Record, Standing, latest_entries, standing_entries
from pbem.store import deadlines, games, outbox
from pbem.store import views as kept_views
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.outbox import OutboxRow


def take_back(house: House, game_id: int, window: int, seat: int) -> None:
    """Take back the choice that a seat made in a window, if it has told nobody anything yet."""
    house.write(lambda tx: take_back_in(tx, house, game_id, window, seat))


def take_back_in(tx: Tx, house: House, game_id: int, window: int, seat: int, person_id: int | None = None) -> None:
    """The same within a transaction that is under way; with a person, only as long as the seat is theirs."""
    row = _locked(tx, game_id, seat, person_id)
    if row.window == window:
        _withdraw(tx, house, row, seat)
    else:
        _undo(tx, house, row, window, seat)


def may_withdraw_in(tx: Tx, row: GameRow, seat: int) -> bool:
    """Whether a seat could still take back its sealed choice, as long as the player has time left. Changes nothing."""
    return _goes_on(row) and _is_open(lambda: _withdrawable(tx, row, seat))


def may_undo_in(tx: Tx, row: GameRow, since: Sequence[Standing], seat: int) -> bool:
    """The same of the choice that was carried out in the first of these entries, which are the log from there on."""
    return _goes_on(row) and _is_open(lambda: _undoable(tx, row, since, seat))


def leave_order(house: House, game_id: int, seat: int, text: str) -> orders.Order:
    """Set a standing order of a seat in the place of any older one; if the seat is asked now, it answers at once."""
    return house.write(lambda tx: leave_order_in(tx, house, game_id, seat, text))


def drop_order(house: House, game_id: int, seat: int) -> None:
    """Drop the standing order of a seat; nothing happens if it has none."""
    house.write(lambda tx: drop_order_in(tx, house, game_id, seat))


def leave_order_in(
    tx: Tx, house: House, game_id: int, seat: int, text: str, person_id: int | None = None
) -> orders.Order:
    """The same within a transaction that is under way; with a person, only as long as the seat is theirs."""
    row = _locked(tx, game_id, seat, person_id)
    play.must_go_on(row)
    known = views.view(tx, row, seat).view
    try:
        order = orders.read_order(text, play.rules_of(row).asks(known, seat))
    except Refused as refused:
        raise play.refusal(refused, play.rules_of(row)) from refused
    standing = play.orders_of(row)
    if standing.get(seat) == order:
        return order
    record = Record(row, house.now(), house.randomness)
    record.add(Kind.ORDER, seat, play.By.PERSON, {"order": order})
    play.set_orders(tx, house, row, standing | {seat: order}, record)
    # An order is a word of the player's own, so it ends the count of silent turns.
    games.set_silent(tx, game_id, seat, 0)
    return order


def drop_order_in(tx: Tx, house: House, game_id: int, seat: int, person_id: int | None = None) -> None:
    """The same within a transaction that is under way; with a person, only as long as the seat is theirs."""
    row = _locked(tx, game_id, seat, person_id)
    left = play.orders_of(row)
    if left.pop(seat, None) is None:
        return
    play.must_go_on(row)
    record = Record(row, house.now(), house.randomness)
    record.add(Kind.ORDER, seat, play.By.PERSON, {"order": None})
    play.set_orders(tx, house, row, left, record)


def _locked(tx: Tx, game_id: int, seat: int, person_id: int | None) -> GameRow:
    """The game, locked, with the person still on the seat."""
    row = games.lock(tx, game_id)
    if person_id is not None and (seat, person_id) not in {
        (place.seat, place.person_id) for place in games.places(tx, game_id)
    }:
        raise Gone(_("Somebody else plays this seat now."), why=_("It has changed hands."))
    return row


def _withdraw(tx: Tx, house: House, row: GameRow, seat: int) -> None:
    play.must_go_on(row)
    left = _withdrawable(tx, row, seat)
    _must_have_time(tx, house, row, row.window, seat)
    record = Record(row, house.now(), house.randomness)
    record.add(Kind.WITHDRAWN, seat, play.By.PERSON, {"window": row.window})
    games.append(tx, row.id, record.rows)
    games.advance(tx, row, {"seq": record.seq, "head": record.head, "box": codec.dumps(sorted(left.box.items()))})
    _ask_again(tx, house, row, row.window, seat, record.seq)


def _withdrawable(tx: Tx, row: GameRow, seat: int) -> Position:
    """Where the game stands without the sealed choice of a seat; refused unless it is the player's to take back."""
    try:
        left = play.position_of(row).withdraw(seat)
    except Refused as refused:
        raise Gone(speech.teller(play.rules_of(row))(refused.text)) from refused
    _must_be_own(_sealed_by(tx, row, seat))
    return left


def _sealed_by(tx: Tx, row: GameRow, seat: int) -> str:
    """Through whom the choice came that a seat has in the box."""
    sealed = games.chain_back(tx, row.id, row.key, [Kind.SEALED])
    return next(each.by for each in sealed if each.seat == seat)


def _undo(tx: Tx, house: House, row: GameRow, window: int, seat: int) -> None:
    """Undo the entries from a window on, if they are one choice of this seat that is still nobody's news."""
    play.must_go_on(row)
    undone = latest_entries(play.rules_of(row), games.chain_back(tx, row.id, row.key), window)
    letters = _undoable(tx, row, undone, seat)
    _must_have_time(tx, house, row, window, seat)
    now = house.now()
    for letter in letters:
        outbox.change(tx, letter.id, status="superseded")
        outbox.note(tx, letter.id, now, "superseded", "the move was taken back")
    record = Record(row, now, house.randomness)
    record.add(Kind.UNDONE, seat, play.By.PERSON, {"from": window})
    start = play.rules_of(row).start(row.seats, json.loads(row.options))
    entries = standing_entries(play.rules_of(row), games.chain(tx, row.id, row.key))
    left = [each for standing in entries if standing.number < window for each in standing.entry.facts]
    games.append(tx, row.id, record.rows)
    games.advance(
        tx,
        row,
        {
            "seq": record.seq,
            "head": record.head,
            "entry_head": record.entry_head,
            "window": window,
            "state": codec.dumps(fold(start, left)),
            "box": "[]",
        },
    )
    deadlines.forget_after(tx, row.id, window)
    _ask_again(tx, house, row, window, seat, record.seq)
    kept_views.forget(tx, row.id, window)


def _undoable(tx: Tx, row: GameRow, undone: Sequence[Standing], seat: int) -> list[OutboxRow]:
    """The mails about the last entries; refused unless these are one choice that told nobody anything."""
    made = [standing.entry for standing in undone]
    stands = not made or not play.may_be_undone(made) or seat not in made[0].choices or seat in made[0].alone
    if stands or _another_has_decided(tx, row, seat):
        raise Gone(
            _("This choice cannot be taken back any more."), why=_("Others have decided since, or chance has spoken.")
        )
    _must_be_own(undone[0].by)
    letters = outbox.of_game(tx, row.id, undone[0].seq - 1)
    if any(letter.status == "sent" or letter.attempts for letter in letters):
        raise Gone(_("This choice cannot be taken back any more."), why=_("A mail about it is on its way."))
    return letters


def _another_has_decided(tx: Tx, row: GameRow, seat: int) -> bool:
    """Whether the present window holds a choice that another player was told is in: taking back would lose it unseen."""
    return any(_sealed_by(tx, row, other) in play.THEMSELVES for other in play.box_of(row).keys() - {seat})


def _goes_on(row: GameRow) -> bool:
    return row.status == "playing" and not row.paused


def _is_open(way: Callable[[], object]) -> bool:
    try:
        way()
    except Gone:
        return False
    return True


def _must_be_own(by: str) -> None:
    if by in (play.By.CLOCK, play.By.BOT):
        raise Gone(
            _("This was decided without you, so it is not yours to take back."),
            remedy=_("As long as the turn is open, you can put a choice of your own in its place."),
        )


def _must_have_time(tx: Tx, house: House, row: GameRow, window: int, seat: int) -> None:
    asked = deadlines.read(tx, row.id, window, seat)
    if asked is not None and asked.due_at is not None and asked.due_at <= house.now():
        raise Gone(
            _("Your time for this turn is over, so your choice stands."),
            why=_("Without it, the clock would decide for you at once."),
            remedy=_("As long as the turn is open, you can put another choice in its place."),
        )


def _ask_again(tx: Tx, house: House, row: GameRow, window: int, seat: int, seq: int) -> None:
    """The seat is asked as before. A clock that a mail was to start gets another mail, if that one was given up."""
    deadlines.reopen(tx, row.id, window, seat)
    asked = deadlines.read(tx, row.id, window, seat)
    if asked is None or asked.due_at is not None:
        return
    written = [
        each for each in outbox.of_game(tx, row.id) if (each.kind, each.seat, each.window) == ("turn", seat, window)
    ]
    if any(each.status in ("queued", "sent") for each in written):
        return
    place = next(place for place in games.places(tx, row.id) if place.seat == seat)
    if place.person_id is not None:
        now = house.now()
        outbox.queue(tx, [outbox.Letter(place.person_id, "turn", row.id, seq, seat, window)], now, now)
