"""The course of a game in numbers: the scores after each entry, and what was bid in each auction.

It is made of what everybody was told and of the board that anybody may see, and of nothing else: a number that custom
keeps off the table is not in here, and neither is a bid that nobody was shown. No game says anything for it: the score is
the column of the board that the standing repeats, and a bid is what a fact says that somebody bids.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from engine.board import Grid
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
"""How a sentence says what somebody bids: the same words in every game, which are the rules' own and not yet translated."""

MOST_REMEMBERED: Final = 200
"""Games whose course a process remembers, under the head of their chain: a few kilobytes each."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores by seat after each entry that changed them, and what they are counted in."""

    unit: Text
    moments: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Bid:
    """What a seat bid in an entry. `amount` is None where that is no number."""

    turn: int
    seat: int
    value: Any
    amount: int | None


@dataclass(frozen=True, slots=True)
class Course:
    """The course of a game. `scores` is None where the board shows none; an auction is its bids, in their order."""

    scores: Scores | None
    auctions: tuple[tuple[Bid, ...], ...]


_MEMORY: Final[LRU[Course]] = LRU(MOST_REMEMBERED)


def course_of(tx: Tx, row: GameRow) -> Course:
    """The course of a game so far."""
    return _MEMORY.get(row.head) or _MEMORY.put(row.head, _work_out(tx, row))


def bids_of(standing: StandingEntry) -> list[Bid]:
    """What was bid in an entry, by the facts of it that everybody was told."""
    told = (seen(each, SPECTATOR) for each in standing.entry.facts)
    return [
        Bid(standing.turn, seat, value, _amount(value))
        for each in told
        for seat, value in _said(each)
        if not is_hidden(value)
    ]


def _work_out(tx: Tx, row: GameRow) -> Course:
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
        # Where more happens than was chosen, something has come of the bids.
        if bids and len(standing.entry.facts) > len(standing.entry.choices):
            auctions.append(tuple(bids))
            bids = []
    return Course(_of_one_unit(scores), (*auctions, tuple(bids)) if bids else tuple(auctions))


def _shown_scores(rules: Game[Any], view: Any) -> tuple[Text, tuple[int, ...]] | None:
    """The scores, if they stand on the board, and what that calls them."""
    scores = rules.standing(view).scores
    for grid in rules.board(view, SPECTATOR).scores:
        if isinstance(grid, Grid) and [seat for seat, _ in grid.rows] == list(range(len(scores))):
            for place, heading in enumerate(grid.columns):
                if tuple(numbers[place] for _, numbers in grid.rows) == scores:
                    return heading, scores
    return None


def _of_one_unit(scores: Sequence[tuple[int, Text, tuple[int, ...]]]) -> Scores | None:
    """The scores as far as they are counted in the same: the last count may be of something else."""
    if not scores:
        return None
    unit = scores[0][1]
    return Scores(unit, tuple((number, points) for number, called, points in scores if called == unit))


def _said(told: Fact[Any]) -> Iterator[tuple[int, Any]]:
    """The seats that bid something by what a fact says, each with its bid."""
    values = {field.name: getattr(told, field.name) for field in fields(told)}  # type: ignore[arg-type]  # all are dataclasses
    if isinstance(bids := values.get("bids"), tuple):
        # Opened all at once, one for each seat.
        yield from enumerate(bids)
        return
    spoken = sentence(told)
    for template in ("" if spoken is None else spoken.template, type(told).__doc__ or ""):
        if "seat" in values and (bid := _BIDS.search(template)) is not None and bid[1] in values:
            yield values["seat"], values[bid[1]]
            return


def _amount(value: Any) -> int | None:
    if type(value) is int:
        return value
    if isinstance(value, tuple) and value and all(type(each) is int for each in value):
        return sum(value)
    return None
