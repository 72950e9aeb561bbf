"""A full table begins: seats by draw, the seed, the deal, the first questions.

The server's secret was committed to before anybody gave a word; the seed is made of both, and so is the order of the
seats. From here on `play` moves the game.
"""

import json
from datetime import datetime
from typing import Final

from engine import codec
from engine.chance import Stream, seed_from
from engine.table import deal
from pbem.service.house import House
from pbem.service.play import rules_of
from pbem.service.record import Kind, Record
from pbem.store import deadlines, games, lobby, outbox
from pbem.store.database import Tx
from pbem.store.games import GameRow, PlaceRow

SEATING: Final = 2**63
"""The stream of the seed that seats the players: no log is so long that an entry would draw from it."""


def begin_in(tx: Tx, house: House, row: GameRow, places: list[PlaceRow]) -> None:
    """Seat the players, deal and ask, in a transaction that holds the lock of the game."""
    now = house.now()
    rules = rules_of(row)
    words = [place.word for place in places]
    seed = seed_from(row.secret, words)
    seating = Stream(seed, SEATING).shuffle(range(row.seats))
    lobby.seat_all(tx, row.id, [(place.place, seat) for place, seat in zip(places, seating, strict=True)])
    options = json.loads(row.options)
    position, entries = deal(rules, row.seats, seed, options)
    record = Record(row, now, house.randomness)
    began = {
        "kind": row.kind,
        "seats": row.seats,
        "options": options,
        "commitment": row.commitment,
        "words": words,
        "seating": seating,
    }
    record.add(Kind.BEGAN, None, "table", began)
    record.entries(0, entries, None, "table")
    games.append(tx, row.id, record.rows)
    lobby.change_game(
        tx,
        row.id,
        status="playing",
        started_at=now,
        seed=seed,
        seq=record.seq,
        head=record.head,
        entry_head=record.entry_head,
        window=position.number,
        state=codec.dumps(position.state),
        box="[]",
        orders="[]",
    )
    _ask(tx, row, places, seating, position.number, sorted(position.open()), record.seq, now)


def _ask(
    tx: Tx,
    row: GameRow,
    places: list[PlaceRow],
    seating: list[int],
    window: int,
    asked: list[int],
    seq: int,
    now: datetime,
) -> None:
    """The first questions; whoever is not asked yet is told that the game has begun."""
    by_seat = {seat: place for place, seat in zip(places, seating, strict=True)}
    deadlines.ask(tx, row.id, window, [(seat, now if by_seat[seat].bot is not None else None) for seat in asked], now)
    letters = [
        outbox.Letter(place.person_id, kind, row.id, seq, seat, window)
        for seat, place in sorted(by_seat.items())
        if place.person_id is not None
        for kind in (("welcome", "turn") if seat in asked else ("welcome",))
    ]
    outbox.queue(tx, letters, now, now)
