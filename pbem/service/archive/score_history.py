"""The course of a game in numbers: the scores after each entry, and the bids of each auction.

It uses only public facts and the spectator's board, so hidden scores and bids are not in it. The score is the board's column
that equals the standing; the bids, and where an auction begins and ends, are what the steps of facts say.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.auctions import Auction, auctions
from engine.facts import SPECTATOR, Fact, fold, seen
from engine.tell import Text
from pbem.lru import LRU
from pbem.service.play.endings import shown_scores
from pbem.service.play.log import standing_entries
from pbem.service.play.rules import rules_of
from pbem.store import log
from pbem.store.database import Tx
from pbem.store.games import GameRow

MOST_REMEMBERED: Final = 200
"""Cached courses, by the head of the log: a few kilobytes each."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores by seat after each entry that changed them, and their unit."""

    unit: Text
    moments: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Course:
    """The course of a game. `scores` is None if the board shows none; `auctions` are those in which someone bid or passed."""

    scores: Scores | None
    auctions: tuple[Auction, ...]


_CACHE: Final[LRU[Course]] = LRU(MOST_REMEMBERED)


def course_of(tx: Tx, row: GameRow) -> Course:
    return _CACHE.get(row.head) or _CACHE.put(row.head, _compute(tx, row))


def _compute(tx: Tx, row: GameRow) -> Course:
    rules = rules_of(row)
    view = rules.start(row.seats, json.loads(row.options))
    scores: list[tuple[int, Text, tuple[int, ...]]] = []
    facts: list[tuple[int, Fact[Any]]] = []
    for standing in standing_entries(rules, log.chain(tx, row.id, row.key)):
        view = fold(view, (seen(each, SPECTATOR) for each in standing.entry.facts))
        shown = shown_scores(rules, view)
        if shown is not None and (not scores or scores[-1][1:] != shown):
            scores.append((standing.turn, *shown))
        facts += ((standing.turn, each) for each in standing.entry.facts)
    return Course(_of_one_unit(scores), tuple(auction for auction in auctions(facts) if auction.calls))


def _of_one_unit(scores: Sequence[tuple[int, Text, tuple[int, ...]]]) -> Scores | None:
    """The scores with the first heading: the last ones may count something else."""
    if not scores:
        return None
    unit = scores[0][1]
    return Scores(unit, tuple((turn, points) for turn, heading, points in scores if heading == unit))
