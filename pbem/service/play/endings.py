"""How a table ended: its result, or why it has none, and which seats changed hands before that.

Everyone may know all of this. It is read in one statement and cached by the head of the log, which stands for every row
before it. Until a game is over, this module must never look into its state.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from engine.facts import SPECTATOR, fold, seen
from engine.game import Game
from engine.result import Place, Result, places_of, result_of
from engine.tell import Text, say
from pbem.domain.errors import Unplayable
from pbem.domain.states import TableStatus
from pbem.lru import LRU
from pbem.service.play.log import Kind, StandingEntry, json_body_of, standing_entries
from pbem.service.play.positions import state_of
from pbem.service.play.rules import rules_of
from pbem.service.play.seat_cache import has_ended
from pbem.store import log
from pbem.store.database import Tx
from pbem.store.games import GameRow

MOST_CACHED: Final = 300
"""Endings in the cache: a few kilobytes each."""


@dataclass(frozen=True, slots=True)
class Handover:
    """A seat with its last change of player: the turn, and whether a bot took over, after its player resigned."""

    seat: int
    turn: int
    by_bot: bool
    resigned: bool

    @property
    def sentence(self) -> Text:
        """What happened, by the name of the player who took over."""
        if self.resigned:
            return say("{seat} took over on turn {turn}, after a player left.", seat=self.seat, turn=self.turn)
        if self.by_bot:
            return say("{seat} took over on turn {turn}, after a player dropped out.", seat=self.seat, turn=self.turn)
        return say("{seat} took over on turn {turn} as a substitute.", seat=self.seat, turn=self.turn)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a table ended. `result` is None where it has none; then `why` says so, perhaps with an organiser's `reason`."""

    result: Result | None
    why: str
    reason: str
    handovers: tuple[Handover, ...]


_CACHE: Final[LRU[Ending]] = LRU(MOST_CACHED)

_RANKINGS: Final[LRU[tuple[Place, ...]]] = LRU(MOST_CACHED)
"""The rankings of finished games, for lists, which read no log."""


def ending_of(tx: Tx, row: GameRow) -> Ending | None:
    """How a table ended, or None while its game goes on."""
    if not has_ended(row):
        return None
    return _CACHE.get(row.head) or _CACHE.put(row.head, _read(tx, row))


def rank_at_end(tx: Tx, row: GameRow, seat: int) -> Place | None:
    """The rank of a seat in a finished game; None without a result."""
    if row.status != TableStatus.OVER:
        return None
    try:
        return next((rank for rank in ranking_at_end(tx, row) if seat in rank.seats), None)
    except Unplayable:
        return None


def ranking_at_end(tx: Tx, row: GameRow) -> tuple[Place, ...]:
    """The ranking of a finished game with a result. Raises Unplayable."""
    return _RANKINGS.get(row.head) or _RANKINGS.put(row.head, places_of(rules_of(row).standing(state_of(tx, row))))


def shown_scores(rules: Game[Any], view: Any) -> tuple[Text, tuple[int, ...]] | None:
    """The scores and their column heading, if the board shows them to everyone."""
    scores = rules.standing(view).scores
    grid = rules.board(view, SPECTATOR).scores()
    if grid is None:
        return None
    columns = zip(grid.columns, zip(*(numbers for _seat, numbers in grid.rows), strict=True), strict=True)
    return next(((heading, scores) for heading, numbers in columns if numbers == scores), None)


def _read(tx: Tx, row: GameRow) -> Ending:
    rules, turn = rules_of(row), 0
    rows = list(log.chain(tx, row.id, row.key))
    why, reason = "", ""
    handovers: dict[int, Handover] = {}
    resigned: set[int] = set()
    for each in rows:
        if each.kind == Kind.ENTRY:
            turn = json_body_of(each)["turn"] + 1
        elif each.kind == Kind.RESIGNED and each.seat is not None:
            resigned.add(each.seat)
        elif each.kind == Kind.SEATED and each.seat is not None:
            by_bot = json_body_of(each)["player"] == "bot"
            handovers[each.seat] = Handover(each.seat, turn, by_bot, by_bot and each.seat in resigned)
            resigned.discard(each.seat)
        elif each.kind == Kind.VOIDED:
            body = json_body_of(each)
            why, reason = body["why"], body.get("reason", "")
    result = _result(rules, row, standing_entries(rules, rows)) if row.status == TableStatus.OVER else None
    return Ending(result, why, reason, tuple(handovers[seat] for seat in sorted(handovers)))


def _result(rules: Game[Any], row: GameRow, entries: list[StandingEntry]) -> Result:
    start = rules.start(row.seats, json.loads(row.options))
    dealt = fold(start, (seen(each, SPECTATOR) for standing in entries[:1] for each in standing.entry.facts))
    turns = [(standing.turn, standing.entry.facts) for standing in entries]
    return result_of(rules, start, turns, shown=shown_scores(rules, dealt) is not None)
