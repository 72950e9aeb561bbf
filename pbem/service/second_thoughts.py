"""Changing one's mind: choices taken back, standing orders set and dropped.

A sealed choice may be taken back while its window is open; another while it has told nobody anything: no mail about it
has left, and no number was drawn because of it. Nothing is deleted from a log: taking back is a row.
"""

import json

from engine import codec, orders
from engine.decisions import Refused
from engine.facts import fold
from pbem.domain.errors import Gone
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
    house.write(lambda tx: _take_back(tx, house, game_id, window, seat))


def may_take_back_in(tx: Tx, row: GameRow, window: int, seat: int) -> bool:
    """Whether the choice that a seat made in a window could still be taken back. Changes nothing."""
    if row.status != "playing" or row.paused:
        return False
    if row.window == window:
        return seat in play.position_of(row).box
    try:
        _undoable(tx, row, window, seat)
    except Gone:
        return False
    return True


def leave_order(house: House, game_id: int, seat: int, text: str) -> orders.Order:
    """Set a standing order of a seat in the place of any older one; if the seat is asked now, it answers at once."""
    return house.write(lambda tx: _leave_order(tx, house, game_id, seat, text))


def drop_order(house: House, game_id: int, seat: int) -> None:
    """Drop the standing order of a seat; nothing happens if it has none."""
    house.write(lambda tx: _drop_order(tx, house, game_id, seat))


def _take_back(tx: Tx, house: House, game_id: int, window: int, seat: int) -> None:
    row = games.lock(tx, game_id)
    if row.window == window:
        _withdraw(tx, house, row, seat)
    else:
        _undo(tx, house, row, window, seat)


def _withdraw(tx: Tx, house: House, row: GameRow, seat: int) -> None:
    play.must_go_on(row)
    position = play.position_of(row)
    try:
        left = position.withdraw(seat)
    except Refused as refused:
        raise Gone(play.rules_of(row).teller()(refused.text)) from refused
    record = Record(row, house.now(), house.randomness)
    record.add(Kind.WITHDRAWN, seat, play.By.PERSON, {"window": row.window})
    games.append(tx, row.id, record.rows)
    games.advance(tx, row, {"seq": record.seq, "head": record.head, "box": codec.dumps(sorted(left.box.items()))})
    deadlines.reopen(tx, row.id, row.window, seat)


def _undo(tx: Tx, house: House, row: GameRow, window: int, seat: int) -> None:
    """Undo the entries from a window on, if they are one choice of this seat that is still nobody's news."""
    play.must_go_on(row)
    _, letters = _undoable(tx, row, window, seat)
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
    deadlines.reopen(tx, row.id, window, seat)
    kept_views.forget(tx, row.id)


def _undoable(tx: Tx, row: GameRow, window: int, seat: int) -> tuple[list[Standing], list[OutboxRow]]:
    """The entries from a window on and the mails about them; refused unless they are one choice that told nobody anything."""
    undone = latest_entries(play.rules_of(row), games.chain_back(tx, row.id, row.key), window)
    made = [standing.entry for standing in undone]
    if not made or not play.may_be_undone(made) or seat not in made[0].choices or seat in made[0].alone:
        raise Gone("This choice cannot be taken back any more.", why="Others have decided since, or chance has spoken.")
    letters = outbox.of_game(tx, row.id, undone[0].seq - 1)
    if any(letter.status == "sent" or letter.attempts for letter in letters):
        raise Gone("This choice cannot be taken back any more.", why="A mail about it is on its way.")
    return undone, letters


def _leave_order(tx: Tx, house: House, game_id: int, seat: int, text: str) -> orders.Order:
    row = games.lock(tx, game_id)
    play.must_go_on(row)
    known = views.view(tx, row, seat).view
    try:
        order = orders.read_order(text, play.rules_of(row).asks(known, seat))
    except Refused as refused:
        raise play.refusal(refused, play.rules_of(row)) from refused
    record = Record(row, house.now(), house.randomness)
    record.add(Kind.ORDER, seat, play.By.PERSON, {"order": order})
    play.set_orders(tx, house, row, play.orders_of(row) | {seat: order}, record)
    return order


def _drop_order(tx: Tx, house: House, game_id: int, seat: int) -> None:
    row = games.lock(tx, game_id)
    left = play.orders_of(row)
    if left.pop(seat, None) is None:
        return
    play.must_go_on(row)
    record = Record(row, house.now(), house.randomness)
    record.add(Kind.ORDER, seat, play.By.PERSON, {"order": None})
    play.set_orders(tx, house, row, left, record)
