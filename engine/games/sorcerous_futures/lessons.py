"""What a newcomer hears while the first cards of Sorcerous Futures are sold."""

from __future__ import annotations

from typing import Final

from engine.game import Lesson
from engine.tell import say

from .cards import GROUP
from .state import State, sold

_FIRST_SALE: Final = Lesson(
    what=say("You sell the next card. Nobody knows what all the cards are worth, but everyone knows a part."),
    do=say(
        "Look at your Aces: the number under each is what every card of that suit scores. Sell by closed bids to "
        "hide what you know, or openly to have the last word."
    ),
    why=say("A card with two valuable suits scores both numbers. Gold you keep is points too, so don't overpay."),
)
_NEXT_SALE: Final = Lesson(
    what=say("You sell again. You may buy the card yourself, like everyone else."),
    do=say("Choose a card that you want cheaply, or one for which the others will spend their gold."),
    why=say("What the others paid so far tells which suits are valuable. What you pay tells them."),
)
_CLOSED: Final = Lesson(
    what=say("Everyone bids in secret, and all bids are shown together. Only the winner pays."),
    do=say("Add the values you know of the card's suits, guess the others, and bid somewhat less."),
    why=say(
        "A suit is worth 1 to 9 points a card. You have seen some of the numbers; the rest are under the others' Aces."
    ),
)
_MORE: Final = Lesson(
    what=say("An open sale: the seller bid the number on the card, and each of the others may raise once."),
    do=say("Raise if the card is worth more to you than that. Otherwise pass, and let them pay."),
    why=say("The seller has the last word, so a small raise is often topped, and a bold one tells what you know."),
)
_CROWN: Final = Lesson(
    what=say("Don't forget your Crown: cards of its suit score extra for you, and nobody else knows."),
    do=say("Bid a little more for a card that shows the suit of your Crown, but not so much that it shows."),
    why=say("Each such card also scores the card under the Excuse, which is turned up later in the game."),
)


def lesson(view: State, seat: int) -> Lesson | None:
    """Return what is new for this seat, or None."""
    if view.group != 1:
        return None
    first = sold(view) < GROUP // 2
    if view.auction is None:
        return _FIRST_SALE if first else _NEXT_SALE
    if not first:
        return _CROWN
    return _CLOSED if view.auction.closed else _MORE
