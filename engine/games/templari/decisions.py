"""What players are asked in Templari, each from their own view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine.decisions import Act, Amount, Choice, Decision, OneOf
from engine.tell import Text, say

from .cards import things
from .digits import endings_allowed
from .scoring import cheapest_loss
from .state import Auction, State, most_one_may_bid

LEAST_SIDE_BID: Final = 1


def asks(view: State, seat: int) -> Decision | None:
    """Return what this seat may do now, or None if it is not asked."""
    if view.over:
        return None
    if view.offender is not None:
        return _for_a_card(view, seat) if seat == view.offender else None
    if view.auction is not None:
        return _for_a_bid(view, view.auction, seat) if seat == view.auction.turn else None
    return _to_sell(view, seat) if seat == view.sellers[0] else None


def barred(view: State, seat: int) -> Mapping[str, Text]:
    """Return the verbs that a player may expect but cannot use now, each with the reason."""
    if view.offender is not None:
        return {"bid": say("You can't pay your winning bid. Give up a card first.")}
    if view.auction is None:
        return {"bid": say("The lot isn't turned up yet.")}
    if view.terms.sale_limit is None:
        return {}
    if view.auction.seller is not None:
        return {"sell": say("Another card is being sold.")}
    return {"sell": say("You can only sell a card before the lot is turned up.")}


def _to_sell(view: State, seat: int) -> Decision:
    return Decision(
        seat,
        say("Auction one of your cards before lot {round} comes up? You get the price.", round=view.round),
        (
            Act("no", label="keep your cards", spoken="keep your cards"),
            Act("sell", (OneOf("card", things(view.cards[seat])),)),
        ),
        default=Choice("no"),
        topic=f"sale {view.round}",
        public=True,
        brief=say("Auction one of your cards? You get the price."),
    )


def caution(view: State, seat: int, choice: Choice) -> Text | None:
    """Return what a bid above a player's means will cost, or None."""
    if choice.verb != "bid" or choice.number() <= view.coins[seat]:
        return None
    return say(
        "You have {coins:coin|coins}, {missing} too few. If this bid wins, you give up a card, and the "
        "bidding starts again without you.",
        coins=view.coins[seat],
        missing=choice.number() - view.coins[seat],
    )


def _for_a_bid(view: State, auction: Auction, seat: int) -> Decision:
    low = auction.high + 1 if auction.high is not None else 0 if auction.seller is None else LEAST_SIDE_BID
    most = most_one_may_bid(seat, view)
    own = view.coins[seat]
    if most > own:
        why = say("A bid above your {own:coin|coins} is a bluff, and your bids can't end in a number you own.", own=own)
    else:
        why = say("You have {own:coin|coins}, and your bids can't end in a number you own.", own=own)
    bid = Amount("coins", low, most, endings_allowed(view.cards[seat]), raising=True, why=why)
    what = (auction.card,) if auction.seller is not None else view.lot
    if auction.high is None:
        prompt = say("Nobody has bid yet. What will you bid for {what}?", what=what)
        brief = say("Nobody has bid yet. What will you bid?")
    else:
        prompt = say("Bid above {high} for {what}?", high=auction.high, what=what)
        brief = say("Bid above {high}?", high=auction.high)
    return Decision(
        seat,
        prompt,
        (Act("pass"), *((Act("bid", (bid,)),) if bid.count() else ())),
        default=Choice("pass"),
        topic=f"lot {view.round}" if auction.seller is None else f"sale {view.round} {auction.card}",
        public=True,
        brief=brief,
    )


def _for_a_card(view: State, seat: int) -> Decision:
    return Decision(
        seat,
        say("You can't pay your bid. Which card will you give up?"),
        (Act("discard", (OneOf("card", things(view.cards[seat])),)),),
        default=Choice("discard", (cheapest_loss(view.cards[seat]),)),
        topic=f"lot {view.round}",
        public=True,
    )
