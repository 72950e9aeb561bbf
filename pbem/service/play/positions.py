"""The position of a game as its row keeps it: what the rules know, sealed choices and standing orders.

Decoding a position takes as long as applying the rules of a move, so the last ones are kept. A state that another release
stored in another shape is read from the log, until the next move stores a new one.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

from engine.decisions import Choice
from engine.facts import fold
from engine.orders import Order
from engine.table import Position
from pbem.domain.errors import Gone
from pbem.i18n.speech import gettext as _
from pbem.lru import LRU
from pbem.plugins.away import loads, loads_snapshot
from pbem.service.play.log import StandingEntry, standing_entries
from pbem.service.play.rules import rules_of
from pbem.store import log
from pbem.store.database import Tx
from pbem.store.games import GameRow

POSITIONS: Final[LRU[Position]] = LRU(500)
"""Positions, each by everything that it is made of, so that none is ever stale."""


def position_of(tx: Tx, row: GameRow) -> Position:
    """The position of a game. Raises Gone before its start."""
    if row.seed is None:
        raise Gone(_("This game hasn't started."), remedy=_("We'll email you when it does."))
    if (known := POSITIONS.get(_key(row))) is not None:
        return known
    rules = rules_of(row)
    position = Position(rules, row.seats, row.seed, state_of(tx, row), row.turn, box_of(row))
    keep(row, position)
    return position


def state_of(tx: Tx, row: GameRow) -> Any:
    """What the rules know of a game."""
    rules = rules_of(row)
    if (state := loads_snapshot(rules, row.state)) is not None:
        return state
    return fold_state(row, standing_entries(rules, log.chain(tx, row.id, row.key)))


def fold_state(row: GameRow, entries: Iterable[StandingEntry]) -> Any:
    """What the rules know of a game after these entries, its first ones."""
    start = rules_of(row).start(row.seats, json.loads(row.options))
    return fold(start, (fact for standing in entries for fact in standing.entry.facts))


def keep(row: GameRow, position: Position) -> None:
    """Keep the position of a game, which would have to be decoded otherwise."""
    POSITIONS.put(_key(row), position)


def box_of(row: GameRow) -> dict[int, Choice]:
    """The sealed choices by seat. Each is its seat's secret."""
    return _by_seat(row, row.box)


def orders_of(row: GameRow) -> dict[int, Order]:
    """The standing orders by seat. Each is its seat's secret."""
    return _by_seat(row, row.orders)


def _key(row: GameRow) -> tuple[object, ...]:
    return rules_of(row), row.seats, row.seed, row.state, row.turn, row.box


def _by_seat(row: GameRow, pairs: str) -> dict[int, Any]:
    # Most of the time there are none, and every page of a seat asks for both.
    return {} if pairs == "[]" else dict(loads(rules_of(row), pairs))
