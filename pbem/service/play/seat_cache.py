"""What the log says to a seat, worked out once for each state of the log and remembered for a while.

It is remembered under the head of the chain and the seat. The head stands for every row before it, so what is found under
it is never out of date and never another game's; a row more makes another head, and so does a choice that is taken back.

What may change without a row of the log has no place in here: names, deadlines, votes, addresses.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from engine.board import Board
from engine.decisions import Decision
from engine.facts import Fact, seen
from engine.game import Game, StandingEntry
from engine.table import answers_itself
from pbem.lru import LRU
from pbem.service.play import views
from pbem.service.play.log import StandingEntry as StandingEntry
from pbem.store.database import Tx
from pbem.store.games import GameRow

MOST_ENTRIES: Final = 200
"""Entries of a log that one page tells; whoever was away for longer asks for the history."""

MOST_CACHED: Final = 500
"""Seats of which a process remembers what they know: some megabytes at most."""


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """What a reader was told in one turn."""

    turn: int
    facts: tuple[Fact[Any], ...]


@dataclass(frozen=True, slots=True)
class SeatKnowledge:
    """What a seat knows, and what it would be asked if the game goes on.

    `told` begins with the turn of its last choice. `lately` are the entries of the same turns; they hold what is not
    for its eyes.
    """

    view: Any
    board: Board
    decision: Decision | None
    standing: StandingEntry
    facts_by_turn: tuple[TurnFacts, ...]
    lately: tuple[StandingEntry, ...]


CACHE: Final[LRU[SeatKnowledge]] = LRU(MOST_CACHED)


def knowledge_of(tx: Tx, row: GameRow, rules: Game[Any], seat: int) -> SeatKnowledge:
    """What a seat knows now. The game must be as this transaction sees it."""
    key = row.head, seat
    return CACHE.get(key) or CACHE.put(key, _work_out(tx, row, rules, seat))


def decision_in(rules: Game[Any], view: Any, seat: int) -> Decision | None:
    """What the seat is asked, from its own view; nothing where the table answers by itself."""
    decision = rules.asks(view, seat)
    return None if decision is None or answers_itself(decision) else decision


def facts_by_turn(entries: Iterable[StandingEntry], seat: int) -> tuple[TurnFacts, ...]:
    """What a reader was told in these entries."""
    return tuple(
        TurnFacts(standing.turn, tuple(seen(each, seat) for each in standing.entry.facts)) for standing in entries
    )


def _work_out(tx: Tx, row: GameRow, rules: Game[Any], seat: int) -> SeatKnowledge:
    view, lately = views.view_and_entries(tx, row, seat, lambda standing: _decided(standing, seat), MOST_ENTRIES)
    return SeatKnowledge(
        view=view,
        board=rules.board(view, seat),
        decision=decision_in(rules, view, seat),
        standing=rules.standing(view),
        told=facts_by_turn(lately, seat),
        lately=lately,
    )


def _decided(standing: StandingEntry, seat: int) -> bool:
    """Whether this seat has decided something in an entry, and not the table in its place."""
    return seat in standing.entry.choices and seat not in standing.entry.alone
