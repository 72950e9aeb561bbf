"""What can be agreed before a game of Sunset Poker."""

from __future__ import annotations

from typing import Final

from engine.facts import fact
from engine.options import Listed, Number, Options
from engine.tell import say

TARGET: Final = Number(
    name="target",
    called=say("Target score"),
    default=100,
    low=51,
    high=1000,
    about=say("The game ends when someone has this many points after a round."),
)
MAX_ROUNDS: Final = Number(
    name="max_rounds",
    called=say("Round limit"),
    default=25,
    low=1,
    high=100,
    about=say("The game ends after this many rounds, if not before."),
)
SPLIT_MIN: Final = Listed(
    name="split_min",
    called=say("Smallest split"),
    default="2",
    spoken=(("2", say("two cards")), ("4", say("two pairs"))),
    about=say("Whether any two cards of different ranks make a split, or it takes at least two pairs."),
)
SETTLE: Final = Listed(
    name="settle",
    called=say("Winner collects"),
    default="actual",
    spoken=(("actual", say("actual losses")), ("nominal", say("full losses"))),
    about=say("If a loser runs out of points, the winner gets either what they had left or the full loss."),
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
