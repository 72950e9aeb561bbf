"""What a newcomer hears in the first auctions of Sun Bid."""

from __future__ import annotations

from typing import Final

from engine.game import Lesson
from engine.tell import say

from .state import Auction, State

_TAUGHT: Final = 3
"""The auctions that teach something."""

_FLIP: Final = Lesson(
    what=say("It's your turn: flip a card into the pool, or call an auction of all that is in it."),
    do=say("Flip a card. The pool is worth little yet."),
    why=say(
        "You have only a few Suns to bid with, and each can win once a round. Spend them on a pool you really want."
    ),
)
_CALL: Final = Lesson(
    what=say("The pool is filling up, and everyone wants it for a different reason."),
    do=say("If you like it as it is, call an auction. If not, flip one more card, and hope."),
    why=say("The caller bids last and sees every other bid. But if you call and nobody bids, you have to."),
)
_BID: Final = Lesson(
    what=say("An auction: each player bids one Sun or passes, and it goes round only once."),
    do=say("Bid the lowest Sun that may win. Pass if the pool doesn't fit the cards you have."),
    why=say(
        "Equal numbers score 2 points a card, and neighbours in number that share a suit 1. An Ace makes you discard."
    ),
)
_CENTRE: Final = Lesson(
    what=say("Look at the Sun in the centre: it is part of the prize."),
    do=say("A low Sun that wins a high one is a good deal. It waits face down and can bid in the next round."),
    why=say("The Sun you win with takes its place, for someone else to win. The highest sum of Suns scores 5 points."),
)
_ACES: Final = Lesson(
    what=say("You won, and the Aces in the pool are hungry."),
    do=say("For each Ace, give up the card of its suit that you need least."),
    why=say("Aces are why a full pool is not always worth having."),
)


def lesson(view: State, seat: int) -> Lesson | None:
    """Return what is new for this seat, or None."""
    if view.round > 1 or view.auctions > _TAUGHT:
        return None
    if view.auction is None:
        return _CALL if len(view.pool) > 1 else _FLIP
    return _of_auction(view, view.auction)


def _of_auction(view: State, auction: Auction) -> Lesson:
    if auction.aces:
        return _ACES
    return _BID if view.auctions == 1 else _CENTRE
