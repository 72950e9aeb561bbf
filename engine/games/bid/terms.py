"""What can be agreed before a game of Bid!."""

from __future__ import annotations

from typing import Final

from engine.facts import fact
from engine.options import Listed, Number, Options
from engine.tell import say

REROLL: Final = Listed(
    name="reroll",
    called=say("Reroll cost"),
    default="pawn",
    spoken=(("pawn", say("the Pawn")), ("coin", say("a coin"))),
    about=say("A Pawn rerolls all four dice, once a game. A coin rerolls one die, as often as you can pay."),
)
MAX_AUCTIONS: Final = Number(
    name="max_auctions",
    called=say("Auction limit"),
    default=150,
    low=1,
    high=1000,
    about=say("After this many auctions, the player with the most points wins; tied players share the win."),
)


@fact
class Terms:
    """What a table has agreed: whether coins or Pawns buy rerolls, and how many auctions there are at most."""

    coin_rerolls: bool
    auctions: int


def agreed(options: Options) -> Terms:
    """Return the terms of a table with these options."""
    return Terms(coin_rerolls=REROLL.value_in(options) == "coin", auctions=MAX_AUCTIONS.value_in(options))
