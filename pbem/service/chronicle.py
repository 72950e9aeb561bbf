"""The course of a game in numbers: the scores after each entry, and what was bid in each auction.

It is made of what everybody was told and of the board that anybody may see, and of nothing else: a number that custom
keeps off the table is not in here, and neither is a bid that nobody was shown. No game says anything for it: the score is
the column of the board that the standing repeats, a bid is a choice that a public fact repeats.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from engine.board import Grid
from engine.decisions import Choice
from engine.facts import SPECTATOR, Fact, seen
from engine.game import Game
from engine.tell import Text
from pbem.service import play
from pbem.service.memory import Memory
from pbem.service.record import Standing, standing_entries
from pbem.store import games
from pbem.store.database import Tx
from pbem.store.games import GameRow

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

    number: int
    seat: int
    value: Any
    amount: int | None


@dataclass(frozen=True, slots=True)
class Chronicle:
    """The course of a game. `scores` is None where the board shows none; an auction is its bids, in their order."""

    scores: Scores | None
    auctions: tuple[tuple[Bid, ...], ...]


_MEMORY: Final[Memory[Chronicle]] = Memory(MOST_REMEMBERED)


def chronicle_in(tx: Tx, row: GameRow) -> Chronicle:
    """The course of a game so far."""
    return _MEMORY.get(row.head) or _MEMORY.put(row.head, _work_out(tx, row))


def bids_of(standing: Standing, told: Sequence[Fact[Any]]) -> list[Bid]:
    """What was bid in an entry, as far as the facts repeat it: give them as the reader was told of them."""
    found = []
    for seat, choice in standing.entry.choices.items():
        value = _value(choice)
        if value is not None and any(_repeats(each, seat, value) for each in told):
            found.append(Bid(standing.number, seat, value, _amount(value)))
    return found


def _work_out(tx: Tx, row: GameRow) -> Chronicle:
    rules = play.rules_of(row)
    view = rules.start(row.seats, json.loads(row.options))
    scores: list[tuple[int, Text, tuple[int, ...]]] = []
    auctions: list[tuple[Bid, ...]] = []
    bids: list[Bid] = []
    for standing in standing_entries(rules, games.chain(tx, row.id, row.key)):
        told = [seen(each, SPECTATOR) for each in standing.entry.facts]
        for each in told:
            view = each.apply(view)
        shown = _shown_scores(rules, view)
        if shown is not None and (not scores or scores[-1][1:] != shown):
            scores.append((standing.number, *shown))
        bids += bids_of(standing, told)
        # Where more happens than was chosen, something has come of the bids.
        if bids and len(told) > len(standing.entry.choices):
            auctions.append(tuple(bids))
            bids = []
    return Chronicle(_of_one_unit(scores), (*auctions, tuple(bids)) if bids else tuple(auctions))


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


def _value(choice: Choice) -> Any:
    """What might be a bid: a number, or whatever the verb calls one."""
    if len(choice.values) != 1 or not (choice.verb == "bid" or type(choice.values[0]) is int):
        return None
    return choice.values[0]


def _repeats(told: Fact[Any], seat: int, value: Any) -> bool:
    """Whether a fact tells everybody that this seat chose this."""
    values = {field.name: getattr(told, field.name) for field in fields(told)}  # type: ignore[arg-type]
    if values.pop("seat", None) == seat:
        return any(each == value or each == (value,) for each in values.values())
    # Or it names a value for each seat, like bids that are opened all at once.
    return any(isinstance(each, tuple) and len(each) > seat and each[seat] == value for each in values.values())


def _amount(value: Any) -> int | None:
    if type(value) is int:
        return value
    if isinstance(value, tuple) and value and all(type(each) is int for each in value):
        return sum(value)
    return None
