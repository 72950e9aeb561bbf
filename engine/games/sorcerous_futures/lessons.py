"""What a newcomer hears while the first cards of Sorcerous Futures are sold."""

from __future__ import annotations

from typing import Final

from engine.game import Lesson
from engine.tell import say

from .cards import GROUP
from .state import State, sold

_FIRST_SALE: Final = Lesson(
    what=say("You're selling the next card. Nobody knows what every card is worth, but everyone knows part of it."),
    do=say(
        "Look at your Aces: the number under each is what every card of that suit scores. A closed "
        "auction hides what you know; an open one gives you the last word."
    ),
    why=say("A card with two valuable suits scores both. Any gold you keep scores points too, so don't overpay."),
)
_NEXT_SALE: Final = Lesson(
    what=say("You're selling again. You can buy the card yourself, like everyone else."),
    do=say("Choose a card you can get cheaply, or one the others will spend their gold on."),
    why=say("What the others pay hints at which suits are valuable. What you pay tells them."),
)
_CLOSED: Final = Lesson(
    what=say("Everyone bids in secret, and all bids are revealed together. Only the winner pays."),
    do=say("Add up the suits you know, guess the rest, and bid a bit less."),
    why=say(
        "A suit is worth 1 to 9 points a card. You've seen some of the numbers; the rest are under the others' Aces."
    ),
)
_MORE: Final = Lesson(
    what=say("It's an open auction: the seller bid the number on the card, and everyone else can raise once."),
    do=say("Raise if the card is worth more to you. Otherwise pass, and let them pay."),
    why=say("The seller has the last word: a small raise is often topped, and a bold one gives away what you know."),
)
_CROWN: Final = Lesson(
    what=say("Don't forget your Crown: cards of its suit score extra for you."),
    do=say("Bid a little more for a card in your Crown's suit, but not so much that the others notice."),
    why=say("Each such card also scores the card under the Excuse."),
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
