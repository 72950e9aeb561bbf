"""What can be agreed before a game of Templari."""

from __future__ import annotations

from typing import Final

from engine.facts import fact
from engine.options import Listed, Number, Options
from engine.tell import say

OVERBID: Final = Listed(
    name="overbid",
    called=say("Bidding more than you have"),
    default="allowed",
    spoken=(("allowed", say("allowed")), ("forbidden", say("forbidden"))),
    about=say("Whether players can bid more coins than they have."),
)
SIDE_AUCTION: Final = Listed(
    name="side_auction",
    called=say("Selling a card"),
    default="active",
    spoken=(("active", say("the start player")), ("any", say("anyone")), ("off", say("nobody"))),
    about=say("Whether players can sell a card before a lot is turned up."),
)
SIDE_LIMIT: Final = Number(
    name="side_limit",
    called=say("Seller's coin limit"),
    default=5,
    low=0,
    high=60,
    about=say("Players with more coins can't sell a card."),
)
LAYOUT: Final = Listed(
    name="layout",
    called=say("Card numbers"),
    default="fixed",
    spoken=(("fixed", say("balanced")), ("random", say("random"))),
    about=say("Which numbers each colour has: balanced, so that no colour is better, or random."),
)
MONEY: Final = Listed(
    name="money",
    called=say("Other players' coins"),
    default="hidden",
    spoken=(("hidden", say("hidden")), ("open", say("shown"))),
    about=say("Whether you can see how many coins the others have."),
)
START_MONEY: Final = Number(
    name="start_money",
    called=say("Starting coins"),
    default=12,
    low=1,
    high=60,
    about=say("What everyone starts with."),
)
CARDS_IN_A_LOT: Final = Listed(
    name="lots",
    called=say("Cards in a lot"),
    default="2",
    spoken=(("2", say("two every time")), ("1-2-3", say("first one, then two, then three, then one again"))),
    about=say("How many cards are sold together."),
)
MONEY_BONUS: Final = Number(
    name="money_bonus",
    called=say("Bonus for most coins"),
    default=2,
    low=0,
    high=10,
    about=say("Points at the end for the most coins."),
)


LOTS: Final = 15


@fact
class Terms:
    """What a table has agreed. A player with more coins than `sale_limit` may not sell a card; with None no one may."""

    sale_limit: int | None
    all_may_sell: bool
    overbids: bool
    open_money: bool
    lots: tuple[int, ...]
    bonus: int
    random_layout: bool


def agreed(options: Options) -> Terms:
    """Return the terms of a table with these options."""
    selling = SIDE_AUCTION.value_in(options)
    return Terms(
        sale_limit=None if selling == "off" else SIDE_LIMIT.value_in(options),
        all_may_sell=selling == "any",
        overbids=OVERBID.value_in(options) == "allowed",
        open_money=MONEY.value_in(options) == "open",
        lots=(2,) * LOTS if CARDS_IN_A_LOT.value_in(options) == "2" else (1, 2, 3) * (LOTS // 3),
        bonus=MONEY_BONUS.value_in(options),
        random_layout=LAYOUT.value_in(options) == "random",
    )
