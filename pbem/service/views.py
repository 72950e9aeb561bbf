"""What a seat knows: the fold of what it was told, from the last kept view on.

Everything that speaks to a person is made from what this module returns. It must never look into a game's state.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from engine import codec, game
from engine.facts import Fact, fold, seen
from pbem.service.record import latest_entries, standing_entries
from pbem.store import games, views
from pbem.store.database import Tx
from pbem.store.games import GameRow

KEEP_AFTER: Final = 20
"""A view is kept anew when so many rows had to be folded: folding a few costs less than writing."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A view, and how many rows were read to get at it."""

    view: Any
    seq: int
    rows: int


def view(tx: Tx, row: GameRow, seat: int) -> Seen:
    """What the seat, or the SPECTATOR, knows now. Changes nothing."""
    rules = game.load(row.kind)
    kept = views.read(tx, row.id, seat)
    if kept is None:
        known, since = rules.start(row.seats, json.loads(row.options)), 0
    else:
        known, since = codec.loads(rules, kept.body), kept.seq
    rows = list(games.chain(tx, row.id, row.key, since))
    told = (seen(each, seat) for standing in standing_entries(rules, rows) for each in standing.entry.facts)
    return Seen(fold(known, told), row.seq, len(rows))


def view_before(tx: Tx, row: GameRow, seat: int, window: int) -> Any:
    """What the seat knew when it was asked in a window, as far as that still stands. Changes nothing."""
    if window == row.window:
        return view(tx, row, seat).view
    rules = game.load(row.kind)
    entries = standing_entries(rules, games.chain(tx, row.id, row.key))
    told = (seen(each, seat) for standing in entries if standing.number < window for each in standing.entry.facts)
    return fold(rules.start(row.seats, json.loads(row.options)), told)


def keep(tx: Tx, row: GameRow, seat: int, found: Seen) -> None:
    """Keep a view if getting at it was work. The game must be locked."""
    if found.rows >= KEEP_AFTER:
        views.keep(tx, row.id, seat, found.seq, codec.dumps(found.view))


def told_since(tx: Tx, row: GameRow, seat: int, window: int) -> list[Fact[Any]]:
    """What the seat was told in the entries from this number on."""
    entries = latest_entries(game.load(row.kind), games.chain_back(tx, row.id, row.key), window)
    return [seen(each, seat) for standing in entries for each in standing.entry.facts]
