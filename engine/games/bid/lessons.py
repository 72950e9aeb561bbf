"""What a newcomer hears in the first auctions of Bid!."""

from __future__ import annotations

from typing import Final

from engine.game import Lesson
from engine.tell import say

from .auction import doubling, prize
from .state import State
from .words import spoken_prize

_TRAVEL: Final = Lesson(
    what=say("Tiles travel: after each auction, the winner's tile goes to the next highest bidder."),
    do=say("Bid high now, and a rival bids high later. Win when it pays; when it doesn't, get rid of a low tile."),
    why=say(
        "The other tiles move down too, and the lowest goes to the winner: losing with a low tile improves your hand."
    ),
)
_REROLL: Final = Lesson(
    what=say("If you don't like the roll, you can reroll. The button shows the cost."),
    do=say("Save it for a roll that suits a rival, or a worthless one. Otherwise, just bid a tile."),
    why=say("A reroll throws away all bids so far, and everyone bids again."),
)
_COINS: Final = Lesson(
    what=say("You're tied, and coins break the tie. Everyone in it pays in secret."),
    do=say("Pay what the prize is worth to you, or nothing. Coins score no points."),
    why=say("The highest coin bid wins, but everyone's coins are gone, even the losers'."),
)


def lesson(view: State, seat: int) -> Lesson | None:
    """Return what is new for this seat, or None."""
    if view.tied:
        return _COINS
    return {1: _first(view), 2: _TRAVEL, 3: _REROLL}.get(view.auction)


def _first(view: State) -> Lesson:
    return Lesson(
        what=say(
            "Four dice set the prize: {prize}. Everyone bids at the same time, in secret.",
            prize=spoken_prize(*prize(view.dice)),
        ),
        do=say(
            "Choose {tiles:tile|tiles} to bid. The highest bid wins; if it's tied, coins decide.",
            tiles=doubling(view.dice),
        ),
        why=say("100 points wins the game. Everyone starts with the same tiles, 0 to 5, so outguess the others."),
    )
