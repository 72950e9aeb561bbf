"""What changed the chances between the player's decisions: auctions that ended, and other facts that changed the scores."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from engine.coach.endings import Watch
from engine.coach.review import Point, Side, Swing
from engine.facts import seen
from engine.game import Game
from engine.table import Entry
from engine.tell import Text, sentence

NAMED: Final = 3
"""The most swings that are named."""
LEAST: Final = 100
"""Thousandths by which the chance has to change."""
_MOST_SENTENCES: Final = 2
"""Sentences that say what happened: the last ones."""


class Played(NamedTuple):
    """An entry with the truth before and after it."""

    turn: int
    entry: Entry
    before: Any
    after: Any


def swings(
    game: Game[Any], seat: int, played: Sequence[Played], side: Side, lucky: Collection[int]
) -> tuple[Swing, ...]:
    """Return the largest sure changes of a chart for which something that happened is to be named. Those that end with a decision
    that is named, or have a `lucky` turn in them, are explained already.
    """
    explained = {each.turn for each in (*side.mistakes, *side.best)}
    found = list[Swing]()
    for earlier, later in sorted(pairwise(side.chart), key=lambda pair: -abs(pair[1].chance - pair[0].chance)):
        turns = range(earlier.turn, later.turn)
        if later.turn in explained or not _is_sure(earlier, later) or any(turn in lucky for turn in turns):
            continue
        sentences = [(each.turn, says) for each in played if each.turn in turns for says in _events(game, seat, each)]
        if sentences:
            last = sentences[-_MOST_SENTENCES:]
            found.append(Swing(last[-1][0], earlier.chance, later.chance, tuple(says for _, says in last)))
    return tuple(sorted(found[:NAMED], key=lambda each: each.turn))


def ended_with(entry: Entry, seat: int) -> Text | None:
    """Return the last sentence of an entry, as a seat saw it: what was drawn comes last."""
    sentences = (sentence(seen(each, seat)) for each in reversed(entry.facts))
    return next((each for each in sentences if each is not None), None)


def _is_sure(earlier: Point, later: Point) -> bool:
    apart = later.low > earlier.high or later.high < earlier.low
    return apart and abs(later.chance - earlier.chance) >= LEAST


def _events(game: Game[Any], seat: int, played: Played) -> Iterator[Text]:
    """Yield what an entry says of auctions that ended in it, and of facts that changed the scores."""
    watch = Watch(game, seat, played.before)
    watch.see("", played.before, played.entry.facts, played.after)
    return (each.says for each in watch.outcomes.values())
