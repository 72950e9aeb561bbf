"""What a newcomer hears in the first rounds of Templari."""

from __future__ import annotations

from typing import Final

from engine.game import Lesson
from engine.tell import say

from .cards import number
from .state import Auction, State

_TAUGHT: Final = 4
"""The rounds that teach something."""

_SELL: Final = Lesson(
    what=say("You're short of coins, so you can sell a card before the next lot."),
    do=say("Say no unless you badly need coins. To sell, choose a card: the others bid for it, and you get the price."),
    why=say("You get coins for free whenever someone pays with a number you own. A card you sell is gone."),
)
_GIVE_UP: Final = Lesson(
    what=say("You won with a bid you can't pay, and that costs you a card."),
    do=say("Give up your least useful card: one without others of its colour."),
    why=say("The lot is auctioned again without you, and you keep your coins."),
)
_COLLECT: Final = Lesson(
    what=say("Two cards are sold together, and the highest bid takes both."),
    do=say("Bid a few coins, or pass. If you pass you're out of this lot, but there are fifteen."),
    why=say(
        "In the end, one to five cards of a colour score 1, 3, 6, 10 or 15 points. Collect few colours, "
        "and pay more for those you have."
    ),
)
_PAY: Final = Lesson(
    what=say("Here's the trick: the last digit of your bid decides who gets your coins."),
    do=say("Before you bid, look at the others' numbers. Choose a last digit nobody has."),
    why=say("Pay 7, and the player with the most 7s collects the 7 coins. If nobody has a 7, the others share them."),
)
_OVERBID: Final = Lesson(
    what=say("You can even bid more than you have, to make a rival pay more."),
    do=say("Try it only if someone is sure to go higher. Otherwise, bid what the lot is worth to you."),
    why=say("If the winner can't pay, they lose a card, and the lot is sold again without them."),
)


def lesson(view: State, seat: int) -> Lesson | None:
    """Return what is new for this seat, or None."""
    if view.offender is not None:
        return _GIVE_UP
    if view.auction is None:
        return _SELL
    if view.round > _TAUGHT:
        return None
    if view.auction.seller is not None:
        return None
    return _of_round(view, view.auction, seat)


def _of_round(view: State, auction: Auction, seat: int) -> Lesson:
    if view.round == 1:
        return _COLLECT
    if not view.cards[seat]:
        return _PAY
    return _own_numbers(view, seat) if view.round < _TAUGHT else _OVERBID


def _own_numbers(view: State, seat: int) -> Lesson:
    own = tuple(sorted({number(card) for card in view.cards[seat]}))
    return Lesson(
        what=say(
            "You own cards now, and they work for you: a rival who pays with {own:or} may be paying you.", own=own
        ),
        do=say("Your bids can't end in {own:or}. Choose another digit, and check who it pays.", own=own),
        why=say("Numbers earn coins during the game; colours earn points at the end. The best cards do both."),
    )
