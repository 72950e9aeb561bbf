"""A review as plain data.

Chances are in thousandths, each with an interval that holds the true one 95 times in 100. Choices are written as commands.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from engine.facts import fact
from engine.tell import Text


@fact
class Point:
    """The chance of winning after a turn, with its interval."""

    turn: int
    chance: int
    low: int
    high: int


@fact
class Outcome:
    """Something that happened soon after the choice: its sentence, and how often after `chosen` and after `other`."""

    says: Text
    often: int
    other: int


@fact
class Change:
    """By how many thousandths of a point `chosen` changes another player's score at the end."""

    seat: int
    points: int


def _in_words(data: dict[str, Any]) -> dict[str, Any]:
    """Bring up a bid from when only amounts were tried."""
    amount = data.pop("amount")
    return {**data, "bid": str(amount)}


@fact
class Tried:
    """A bid that the coach tried: how often it won the auction, and for what on average, in thousandths; None if it's not known."""

    older: ClassVar = (_in_words,)
    bid: str
    won: int | None
    paid: int | None


@fact
class Reasons:
    """What was clearly different between two choices.

    `points` is by how many thousandths of a point `chosen` changes the player's score at the end, and `rival` the same for
    another player. `paid` is the average winning bid after each of them, in thousandths, in `money` if bids are paid. `worth` is
    about the most that a bid could be without doing harm. None where there's nothing to say.
    """

    outcomes: tuple[Outcome, ...] = ()
    points: int | None = None
    rival: Change | None = None
    paid: tuple[int, int] | None = None
    tried: tuple[Tried, ...] = ()
    worth: int | None = None
    money: str | None = None


def _without_reasons(data: dict[str, Any]) -> dict[str, Any]:
    """Bring up a verdict from before there were reasons: it reads as before, with its commands."""
    worth = data.pop("worth")
    del data["sold"], data["other_sold"]
    spoken = {"spoken": f"“{data['chosen']}”", "other_spoken": f"“{data['other']}”"}
    return {**data, **spoken, "reasons": Reasons(worth=worth)}


@fact
class Verdict:
    """A decision compared with another choice.

    `gain` is how much better `chosen` did than `other`, with its interval: negative for a mistake. `chance` is that with
    `chosen`. `spoken` and `other_spoken` are the two as they're told to their player after “to”.
    """

    older: ClassVar = (_without_reasons,)
    turn: int
    chosen: str
    other: str
    chance: int
    gain: int
    low: int
    high: int
    spoken: str
    other_spoken: str
    reasons: Reasons = Reasons()


@fact
class Luck:
    """What the draws of a turn did to the chance of winning, compared with other draws; with its interval.

    `says` is what the turn ended with, such as the card that was turned up; None for the deal.
    """

    turn: int
    gain: int
    low: int
    high: int
    says: Text | None = None


@fact
class Swing:
    """A large change of the chance of winning between two of the player's decisions, and what happened up to `turn`."""

    turn: int
    before: int
    after: int
    says: tuple[Text, ...]


@fact
class Side:
    """A game as it looked from somewhere: the chart, the costliest mistakes, and the best moves, each in order.

    `swings` are the largest changes that neither a decision named here nor luck explains, as they happened.
    """

    chart: tuple[Point, ...]
    mistakes: tuple[Verdict, ...]
    best: tuple[Verdict, ...]
    swings: tuple[Swing, ...] = ()


@fact
class Review:
    """A game reviewed for one player.

    `known` is by what the player knew at the time, and `opened` with all hands open; None if nothing was hidden. `share` is
    the player's part of the win. `decisions` were theirs, and `imagined` is the number of games played for this.
    """

    seat: int
    share: int
    decisions: int
    imagined: int
    known: Side
    opened: Side | None
    luck: tuple[Luck, ...]


KINDS: Final[dict[str, Any]] = {
    kind.__name__: kind for kind in (Point, Outcome, Change, Tried, Reasons, Verdict, Luck, Swing, Side, Review, Text)
}
"""The kinds of a review by name, for `codec.decoder`."""
