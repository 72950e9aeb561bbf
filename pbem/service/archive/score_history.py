"""The course of a game in numbers: the scores after each entry, and the bids of each auction.

It uses only public facts and the spectator's board, so hidden scores and bids are not in it. Games declare nothing for
it: the score is the board's column that equals the standing, and a bid is what a fact's sentence says a seat bids.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from engine.facts import SPECTATOR, Fact, fold, is_hidden, seen
from engine.game import Game
from engine.tell import Text, sentence
from pbem.lru import LRU
from pbem.service.play.log import StandingEntry, standing_entries
from pbem.service.play.rules import rules_of
from pbem.store import log
from pbem.store.database import Tx
from pbem.store.games import GameRow

_BIDS: Final = re.compile(r"\[bids\|bid\] \{(\w+)")
"""How a sentence says that a seat bids: the same words in every game, before translation."""

MOST_REMEMBERED: Final = 200
"""Cached courses, by the head of the log: a few kilobytes each."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores by seat after each entry that changed them, and their unit."""

    unit: Text
    moments: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Bid:
    """A seat's bid in an entry. `amount` is None if it is no number."""

    turn: int
    seat: int
    value: Any
    amount: int | None


@dataclass(frozen=True, slots=True)
class Course:
    """The course of a game. `scores` is None if the board shows none; an auction is its bids in order."""

    scores: Scores | None
    auctions: tuple[tuple[Bid, ...], ...]


_CACHE: Final[LRU[Course]] = LRU(MOST_REMEMBERED)


def course_of(tx: Tx, row: GameRow) -> Course:
    return _CACHE.get(row.head) or _CACHE.put(row.head, _compute(tx, row))


def bids_of(standing: StandingEntry) -> list[Bid]:
    """The bids in an entry, by its public facts."""
    facts = (seen(fact, SPECTATOR) for fact in standing.entry.facts)
    bids = (bid for fact in facts for bid in _bids(fact))
    return [Bid(standing.turn, seat, value, _amount(value)) for seat, value in bids if not is_hidden(value)]


def _compute(tx: Tx, row: GameRow) -> Course:
    rules = rules_of(row)
    view = rules.start(row.seats, json.loads(row.options))
    scores: list[tuple[int, Text, tuple[int, ...]]] = []
    auctions: list[tuple[Bid, ...]] = []
    bids: list[Bid] = []
    for standing in standing_entries(rules, log.chain(tx, row.id, row.key)):
        view = fold(view, (seen(each, SPECTATOR) for each in standing.entry.facts))
        shown = _shown_scores(rules, view)
        if shown is not None and (not scores or scores[-1][1:] != shown):
            scores.append((standing.turn, *shown))
        bids += bids_of(standing)
        # More facts than choices means that the auction was settled.
        if bids and len(standing.entry.facts) > len(standing.entry.choices):
            auctions.append(tuple(bids))
            bids = []
    return Course(_of_one_unit(scores), (*auctions, tuple(bids)) if bids else tuple(auctions))


def _shown_scores(rules: Game[Any], view: Any) -> tuple[Text, tuple[int, ...]] | None:
    """The scores and their column heading, if the board shows them."""
    scores = rules.standing(view).scores
    grid = rules.board(view, SPECTATOR).scores()
    if grid is None:
        return None
    columns = zip(grid.columns, zip(*(numbers for _seat, numbers in grid.rows), strict=True), strict=True)
    return next(((heading, scores) for heading, numbers in columns if numbers == scores), None)


def _of_one_unit(scores: Sequence[tuple[int, Text, tuple[int, ...]]]) -> Scores | None:
    """The scores with the first heading: the last ones may count something else."""
    if not scores:
        return None
    unit = scores[0][1]
    return Scores(unit, tuple((turn, points) for turn, heading, points in scores if heading == unit))


def _bids(fact: Fact[Any]) -> Iterator[tuple[int, Any]]:
    """The seats that bid something by a fact, each with its bid."""
    values = {field.name: getattr(fact, field.name) for field in fields(fact)}  # type: ignore[arg-type]  # all are dataclasses
    if isinstance(bids := values.get("bids"), tuple):
        # Sealed bids, one for each seat.
        yield from enumerate(bids)
        return
    text = sentence(fact)
    for template in ("" if text is None else text.template, type(fact).__doc__ or ""):
        if "seat" in values and (bid := _BIDS.search(template)) is not None and bid[1] in values:
            yield values["seat"], values[bid[1]]
            return


def _amount(value: Any) -> int | None:
    if type(value) is int:
        return value
    is_sum = isinstance(value, tuple) and value and all(type(each) is int for each in value)
    return sum(value) if is_sum else None
