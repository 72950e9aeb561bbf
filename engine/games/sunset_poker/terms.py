"""What can be agreed before a game of Sunset Poker."""

from __future__ import annotations

from typing import Final

from engine.facts import fact
from engine.options import Listed, Number, Options
from engine.tell import say

TARGET: Final = Number(
    name="target",
    called=say("Points that end the game"),
    default=100,
    low=51,
    high=1000,
    about=say("The game ends when someone has this many points after a round."),
)
MAX_ROUNDS: Final = Number(
    name="max_rounds",
    called=say("Most rounds"),
    default=25,
    low=1,
    high=100,
    about=say("The game ends after this many rounds in any case."),
)
SPLIT_MIN: Final = Listed(
    name="split_min",
    called=say("Smallest split"),
    default="2",
    spoken=(("2", say("two cards")), ("4", say("two pairs"))),
    about=say("Two cards of any two ranks make a split, or it takes two pairs."),
)
SETTLE: Final = Listed(
    name="settle",
    called=say("The winner collects"),
    default="actual",
    spoken=(("actual", say("what others lost")), ("nominal", say("what others should have lost"))),
    about=say("The winner collects what the others really lost, or what they would have lost with enough points."),
)


@fact
class Terms:
    """What a table has agreed."""

    target: int
    max_rounds: int
    split_min: int
    nominal: bool


def agreed(options: Options) -> Terms:
    """Return the terms of a table with these options."""
    return Terms(
        target=TARGET.value_in(options),
        max_rounds=MAX_ROUNDS.value_in(options),
        split_min=int(SPLIT_MIN.value_in(options)),
        nominal=SETTLE.value_in(options) == "nominal",
    )
