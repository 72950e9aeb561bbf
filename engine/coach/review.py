"""A review as plain data, and its sentences.

Chances are in thousandths, each with an interval that holds the true one 95 times in 100. Choices are written as commands.
"""

from __future__ import annotations

from typing import Any, Final

from engine.facts import fact
from engine.tell import Text, say


@fact
class Point:
    """The chance of winning after a turn, with its interval."""

    turn: int
    chance: int
    low: int
    high: int


@fact
class Verdict:
    """A decision compared with another choice.

    `gain` is how much better `chosen` did than `other`, with its interval: negative for a mistake. `chance` is that with
    `chosen`. `sold` and `other_sold` say how often each would have won the auction, in thousandths; None without an auction.
    `worth` is about the most that paid; None if that can't be told.
    """

    turn: int
    chosen: str
    other: str
    chance: int
    gain: int
    low: int
    high: int
    sold: int | None = None
    other_sold: int | None = None
    worth: int | None = None


@fact
class Luck:
    """What the draws of a turn did to the chance of winning, compared with other draws; with its interval."""

    turn: int
    gain: int
    low: int
    high: int


@fact
class Side:
    """A game as it looked from somewhere: the chart, the costliest mistakes, and the best moves, each in order."""

    chart: tuple[Point, ...]
    mistakes: tuple[Verdict, ...]
    best: tuple[Verdict, ...]


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


KINDS: Final[dict[str, Any]] = {kind.__name__: kind for kind in (Point, Verdict, Luck, Side, Review)}
"""The kinds of a review by name, for `codec.decoder`."""

_QUARTERS: Final = (
    say("almost never"),
    say("a quarter of the time"),
    say("half the time"),
    say("three quarters of the time"),
    say("almost always"),
)


def percent(thousandths: int) -> int:
    """Return thousandths as whole percent, rounded to even halves.

    >>> percent(375), percent(-124)
    (38, -12)
    """
    return round(thousandths / 10)


def of_mistake(verdict: Verdict) -> tuple[Text, ...]:
    """Return what to say about a mistake."""
    return (
        say(
            "You chose “{chosen}”, but “{other}” would have been better: it wins the game {better} of the time; your choice, {chance}.",
            chosen=verdict.chosen,
            other=verdict.other,
            better=_share(verdict.chance - verdict.gain),
            chance=_share(verdict.chance),
        ),
        *_worth(verdict),
        *_auction(verdict),
    )


def of_best(verdict: Verdict) -> tuple[Text, ...]:
    """Return what to say about one of the best moves."""
    return (
        say(
            "You chose “{chosen}”. The obvious choice was “{other}”: it wins the game {less} of the time; your choice, {chance}.",
            chosen=verdict.chosen,
            other=verdict.other,
            less=_share(verdict.chance - verdict.gain),
            chance=_share(verdict.chance),
        ),
    )


def of_hint(verdict: Verdict, games: int) -> tuple[Text, ...]:
    """Return what to say about a suggested choice, compared in a number of imagined games."""
    chance, other = percent(verdict.chance), percent(verdict.chance - verdict.gain)
    found = say(
        "The Expert bot would choose “{chosen}”. It won about {chance}% of {games} games simulated from here.",
        chosen=verdict.chosen,
        chance=chance,
        games=games,
    )
    if verdict.chosen == verdict.other:
        return (found,)
    if verdict.low <= 0 <= verdict.high:
        return (found, say("“{other}” did about as well.", other=verdict.other))
    return (found, say("“{other}” won about {chance}%.", other=verdict.other, chance=other))


def of_luck(luck: Luck) -> Text:
    """Return what to say about the draws of a turn."""
    if luck.gain < 0:
        return say(
            "Bad luck lowered your chance of winning by {points:percentage point|percentage points}.",
            points=-percent(luck.gain),
        )
    return say(
        "Good luck raised your chance of winning by {points:percentage point|percentage points}.",
        points=percent(luck.gain),
    )


def _share(thousandths: int) -> Text:
    """Return a chance in percent. What always or never happened in the imagined games can still go the other way."""
    whole = percent(thousandths)
    if whole >= 100:
        return say("over 99%")
    return say("{whole}%", whole=whole) if whole > 0 else say("under 1%")


def _worth(verdict: Verdict) -> tuple[Text, ...]:
    if verdict.worth is None:
        return ()
    if verdict.worth == 0:
        return (say("No bid would have been worth it."),)
    return (say("The auction was worth a bid of up to about {worth}.", worth=verdict.worth),)


def _auction(verdict: Verdict) -> tuple[Text, ...]:
    # Who passes knows that they win nothing.
    if verdict.sold is None or not verdict.other_sold or abs(verdict.sold - verdict.other_sold) < 100:
        return ()
    if not verdict.sold:
        often = _often(verdict.other_sold)
        return (say("“{other}” would have won the auction {often}.", other=verdict.other, often=often),)
    return (
        say(
            "“{other}” would have won the auction {often}; yours, {yours}.",
            other=verdict.other,
            often=_often(verdict.other_sold),
            yours=_often(verdict.sold),
        ),
    )


def _often(thousandths: int) -> Text:
    return _QUARTERS[(thousandths + 125) // 250]
