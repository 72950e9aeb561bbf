"""What bids would have done: how often each of a few wins the auction at hand, and the most that one was worth."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from engine import grammar
from engine.coach import endings
from engine.coach.endings import Watch
from engine.coach.review import Tried
from engine.decisions import Act, Amount, Choice, Decision
from engine.search.tree import STEPS

Hopes = Callable[[list[Choice]], tuple[list[int], list[list[Watch]]]]
"""Returns how good each choice looks once the auction is over, and what was seen in each of its games."""
MOST_TRIED: Final = 12
_BID: Final = "bid"


def act_of(decision: Decision, *pair: Choice) -> Act | None:
    """Return the act with which two choices bid, if each of them is a bid or the default; None otherwise.

    A bid is an amount, or what a player names after the verb “bid”: tiles, or a Sun.
    """
    raised = next((each for each in pair if each != decision.default), decision.default)
    act = next(act for act in decision.acts if raised in act)
    bids = len(act.blanks) == 1 and (isinstance(act.blanks[0], Amount) or act.verb == _BID)
    return act if bids and all(each in act or each == decision.default for each in pair) else None


def tried(decision: Decision, act: Act, pair: Iterable[Choice], hopes: Hopes) -> tuple[tuple[Tried, ...], int | None]:
    """Return how often some bids win the auction, and the highest amount that does no worse than the default; None if
    bids are no amounts.
    """
    own = [each for each in pair if each in act]
    blank = act.blanks[0]
    if not isinstance(blank, Amount):
        bids = list(islice(act.choices(), MOST_TRIED))
        bids += [each for each in dict.fromkeys(own) if each not in bids]
        seen = hopes(bids)[1]
        return tuple(_row(decision, bid, each, paid=False) for bid, each in zip(bids, seen, strict=True)), None
    amounts = sorted({n for step in STEPS if (n := blank.low + step) in blank}.union(each.number() for each in own))
    bids = [Choice(act.verb, (number,)) for number in amounts]
    values, seen = hopes([decision.default, *bids])
    worth = max((n for n, each in zip(amounts, values[1:], strict=True) if each >= values[0]), default=0)
    # One amount that is too much is as many as a reader wants to see.
    shown = bisect_right(amounts, max(worth, *(each.number() for each in own))) + 1
    return tuple(_row(decision, bid, each, paid=True) for bid, each in zip(bids[:shown], seen[1:], strict=False)), worth


def _row(decision: Decision, bid: Choice, seen: list[Watch], *, paid: bool) -> Tried:
    won, price = endings.outcome_of_bid(seen)
    return Tried(grammar.filled_in(decision, bid), won, price if paid else None)
