"""What a newcomer hears in the first auctions of Sun Bid."""

from __future__ import annotations

from typing import Final

from engine.game import Lesson
from engine.tell import say

from .state import Auction, State

_TAUGHT: Final = 3
"""The auctions that teach something."""

_FLIP: Final = Lesson(
    what=say("It's your turn: flip a card into the pool, or call an auction for everything in it."),
    do=say("Flip a card. The pool isn't worth much yet."),
    why=say("You have only a few Suns, and each can win only once a round. Save them for a pool you really want."),
)
_CALL: Final = Lesson(
    what=say("The pool is filling up, and everyone wants it for a different reason."),
    do=say("If you like it as it is, call an auction. If not, flip one more card and hope."),
    why=say("The caller bids last, knowing every other bid. But if nobody else bids, the caller must."),
)
_BID: Final = Lesson(
    what=say("It's an auction: everyone gets one chance to bid a Sun."),
    do=say("Bid the lowest Sun that might win. Pass if the pool doesn't suit your cards."),
    why=say(
        "Matching numbers score 2 points a card. Neighbouring numbers with a suit in common score 1 each. "
        "An Ace costs you a card."
    ),
)
_CENTRE: Final = Lesson(
    what=say("Look at the Sun in the centre: the winner gets that too."),
    do=say(
        "Winning a high Sun with a low one is a good deal. It stays face down this round; next round you can bid it."
    ),
    why=say(
        "The Sun you win with takes its place, for someone else to win. The highest Sun total scores 5 points a round."
    ),
)
_ACES: Final = Lesson(
    what=say("You won the pool, and its Aces cost you cards."),
    do=say("For each Ace, discard the card of its suit you need least."),
    why=say("Aces are why a full pool isn't always worth winning."),
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
