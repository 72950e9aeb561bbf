"""What a newcomer hears in the first auctions of Bid!."""

from __future__ import annotations

from typing import Final

from engine.game import Lesson
from engine.tell import say

from .auction import doubling, prize
from .state import State
from .words import spoken_prize

_TRAVEL: Final = Lesson(
    what=say("Tiles travel: after each auction the winner's tile goes to the player with the next highest bid."),
    do=say(
        "A high tile now means a high tile for a rival later. Win when it pays, and get rid of low tiles when it doesn't."
    ),
    why=say(
        "Every other tile moves down by one as well, and the lowest goes to the winner: losing with a low tile improves your hand."
    ),
)
_REROLL: Final = Lesson(
    what=say("If you don't like the roll, you can have it changed. The button says what that costs."),
    do=say("Save it for a roll that suits a rival, or one worth nothing. Otherwise just bid a tile."),
    why=say("A new roll drops all bids made so far, and everyone bids again."),
)
_COINS: Final = Lesson(
    what=say("You are tied, and coins break the tie. Everyone in it pays in secret."),
    do=say("Pay what the prize is worth to you, or nothing. Coins score no points themselves."),
    why=say("The most coins win, but all coins that were bid are gone, the losers' too."),
)


def lesson(view: State, seat: int) -> Lesson | None:
    """Return what is new for this seat, or None."""
    if view.tied:
        return _COINS
    return {1: _first(view), 2: _TRAVEL, 3: _REROLL}.get(view.auction)


def _first(view: State) -> Lesson:
    return Lesson(
        what=say(
            "Four dice say what this auction is worth: {prize}. Everyone seals a bid at the same time.",
            prize=spoken_prize(*prize(view.dice)),
        ),
        do=say(
            "Choose {tiles:tile|tiles} of yours. The single highest bid wins; if it is tied, coins decide.",
            tiles=doubling(view.dice),
        ),
        why=say("100 points win the game. Everyone begins with the same tiles, 0 to 5, so outguess the others."),
    )
