"""What the log says to a seat, worked out once for each state of the log and remembered for a while.

It is remembered under the head of the chain and the seat. The head stands for every row before it, so what is found under
it is never out of date and never another game's; a row more makes another head, and so does a choice that is taken back.

What may change without a row of the log has no place in here: names, deadlines, votes, addresses.
"""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, Generic, TypeVar

from engine.board import Board
from engine.decisions import Decision
from engine.game import Game, Standing
from engine.table import answers_itself
from pbem.service import views
from pbem.service.record import Standing as StandingEntry
from pbem.service.record import entries_back
from pbem.store import games
from pbem.store.database import Tx
from pbem.store.games import GameRow

MOST_ENTRIES: Final = 200
"""Entries of a log that one page tells; whoever was away for longer asks for the history."""

MOST_REMEMBERED: Final = 500
"""Seats of which a process remembers what they know: some megabytes at most."""

V = TypeVar("V")


class Memory(Generic[V]):
    """The values that were asked for last, by a key that says all that they hang on."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[object, V] = OrderedDict()
        self._lock = Lock()

    def get(self, key: object) -> V | None:
        """What is remembered under a key."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: object, value: V) -> V:
        """Remember a value, and forget the one that was not asked for for the longest time."""
        with self._lock:
            self._values[key] = value
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        return value


@dataclass(frozen=True, slots=True)
class Known:
    """What a seat knows, and what it would be asked if the game goes on.

    `lately` are the entries from its last choice on; they hold what is not for its eyes.
    """

    view: Any
    board: Board
    decision: Decision | None
    standing: Standing
    lately: tuple[StandingEntry, ...]


_MEMORY: Final[Memory[Known]] = Memory(MOST_REMEMBERED)


def known_in(tx: Tx, row: GameRow, rules: Game[Any], seat: int) -> Known:
    """What a seat knows now. The game must be as this transaction sees it."""
    key = row.head, seat
    return _MEMORY.get(key) or _MEMORY.put(key, _work_out(tx, row, rules, seat))


def asked(rules: Game[Any], view: Any, seat: int) -> Decision | None:
    """What the seat is asked, from its own view; nothing where the table answers by itself."""
    decision = rules.asks(view, seat)
    return None if decision is None or answers_itself(decision) else decision


def _work_out(tx: Tx, row: GameRow, rules: Game[Any], seat: int) -> Known:
    view = views.view(tx, row, seat).view
    return Known(
        view=view,
        board=rules.board(view, seat),
        decision=asked(rules, view, seat),
        standing=rules.standing(view),
        lately=_since_last_choice(tx, row, rules, seat),
    )


def _since_last_choice(tx: Tx, row: GameRow, rules: Game[Any], seat: int) -> tuple[StandingEntry, ...]:
    """The entries from the last one on in which this seat has decided something."""
    found: list[StandingEntry] = []
    for standing in entries_back(rules, games.chain_back(tx, row.id, row.key)):
        found.append(standing)
        mine = seat in standing.entry.choices and seat not in standing.entry.alone
        if mine or len(found) == MOST_ENTRIES:
            break
    return tuple(found[::-1])
