"""An LRU cache of what the log tells each seat.

The key is the head of the hash chain and the seat. The head stands for every row before it, so a cached value is never
stale and never another game's: every new row, a choice taken back too, changes the head.

Nothing that changes without a row of the log may be cached here: names, deadlines, votes, addresses.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from engine.auctions import MOST_SHOWN, Auction, auctions, step_of, with_bids
from engine.board import Board
from engine.decisions import Decision
from engine.facts import seen
from engine.game import Game, Standing
from engine.table import answers_itself
from engine.tell import Text
from pbem.domain.causes import Cause, TurnFacts
from pbem.domain.states import TableStatus
from pbem.lru import LRU
from pbem.plugins.away import loads
from pbem.service.play import order_notes, views
from pbem.service.play.log import StandingEntry, causes
from pbem.store.database import Tx
from pbem.store.games import GameRow
from pbem.store.views import last_of

MOST_AUCTIONS_READ: Final = 12
"""Entries that are read for the bids of the auctions before the running one."""

MOST_ENTRIES: Final = 200
"""The most entries on one page; longer absences are in the history."""

MOST_NOTES: Final = 3
"""Notes of standing orders on one page."""

MOST_CACHED: Final = 500
"""The most seats in the cache: some megabytes."""


@dataclass(frozen=True, slots=True)
class SeatKnowledge:
    """A seat's view, its board and its decision if the game is running.

    `recent_facts` starts with the turn of its last choice. `recent_entries` has the entries of the same turns, with facts
    that are secret from the seat. `order_notes` are the latest of its standing orders.
    """

    view: Any
    board: Board
    decision: Decision | None
    standing: Standing
    recent_facts: tuple[TurnFacts, ...]
    recent_entries: tuple[StandingEntry, ...]
    order_notes: tuple[Text, ...] = ()


CACHE: Final[LRU[SeatKnowledge]] = LRU(MOST_CACHED)

AUCTIONS: Final[LRU[tuple[Auction, ...]]] = LRU(MOST_CACHED)
"""The last auctions by the last entry of the log. Everyone may know of them, so all seats share them."""


class LatestAuctions:
    """Reads entries backwards until the running auction and a few before it are known."""

    def __init__(self) -> None:
        self._read: list[StandingEntry] = []
        self._begun = 0

    def wants(self, standing: StandingEntry) -> bool:
        """Take an entry, and say whether one before it is needed, too.

        Only entries count. The number of other rows is nobody's business: it would tell who has sealed a choice.
        """
        self._read.append(standing)
        steps = [step for each in standing.entry.facts if (step := step_of(each)) is not None]
        self._begun += sum(step.opens for step in steps)
        many = len(self._read)
        if not self._begun:
            return many < MOST_ENTRIES and (many < MOST_AUCTIONS_READ or bool(steps))
        return self._begun <= MOST_SHOWN and many < MOST_AUCTIONS_READ

    def found(self) -> tuple[Auction, ...]:
        """The auctions in what was read."""
        facts = ((each.turn, happened) for each in reversed(self._read) for happened in each.entry.facts)
        return auctions(facts)[-MOST_SHOWN - 1 :]


def knowledge_of(
    tx: Tx, row: GameRow, rules: Game[Any], seat: int, read_saved: views.ReadSaved = last_of
) -> SeatKnowledge:
    """The current knowledge of a seat. The row must have been read in this transaction."""
    key = row.head, seat
    return CACHE.get(key) or CACHE.put(key, _compute(tx, row, rules, seat, read_saved))


def decision_in(rules: Game[Any], view: Any, seat: int) -> Decision | None:
    """The decision of a seat by its own view; None where the table answers automatically."""
    decision = rules.asks(view, seat)
    return None if decision is None or answers_itself(decision) else decision


def facts_by_turn(row: GameRow, entries: Iterable[StandingEntry], seat: int) -> tuple[TurnFacts, ...]:
    """The facts that a reader saw in these entries of a game, by turn."""
    return tuple(turn_facts(standing, seat, ended=has_ended(row)) for standing in entries)


def turn_facts(standing: StandingEntry, seat: int, *, ended: bool) -> TurnFacts:
    """The facts that a reader saw in an entry."""
    facts = tuple(seen(each, seat) for each in standing.entry.facts)
    return TurnFacts(standing.turn, facts, causes(standing, seat, ended=ended), standing.sealed)


def has_ended(row: GameRow) -> bool:
    """Whether a game is over, so that nothing about it is secret any more."""
    return row.status in (TableStatus.OVER, TableStatus.VOID)


def _compute(tx: Tx, row: GameRow, rules: Game[Any], seat: int, read_saved: views.ReadSaved) -> SeatKnowledge:
    def has_decided(standing: StandingEntry) -> bool:
        return seat in standing.entry.choices and seat not in standing.entry.alone

    known = AUCTIONS.get(row.entry_head)
    since = LatestAuctions() if known is None else None
    view, entries = views.view_and_entries(tx, row, seat, has_decided, MOST_ENTRIES, since, read_saved)
    if since is not None:
        known = AUCTIONS.put(row.entry_head, since.found())
    return SeatKnowledge(
        view=view,
        board=with_bids(rules.board(view, seat), known or ()),
        decision=decision_in(rules, view, seat),
        standing=rules.standing(view),
        recent_facts=facts_by_turn(row, entries, seat),
        recent_entries=entries,
        order_notes=order_notes.latest(tx, row, seat, MOST_NOTES) if _has_ordered(row, rules, seat, entries) else (),
    )


def _has_ordered(row: GameRow, rules: Game[Any], seat: int, entries: Iterable[StandingEntry]) -> bool:
    """Whether a seat has standing orders, or one of them has made a choice in these entries."""
    if any((maker := each.makers.get(seat)) is not None and maker.by == Cause.ORDER for each in entries):
        return True
    return row.orders != "[]" and seat in dict(loads(rules, row.orders))
