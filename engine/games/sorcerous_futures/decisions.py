"""What players are asked in Sorcerous Futures, each from their own view."""

from __future__ import annotations

from collections.abc import Mapping

from engine.decisions import Act, Amount, Choice, Decision, OneOf
from engine.decks.decktet import CROWNS, suits, things
from engine.seats import clockwise
from engine.tell import Text, say

from .cards import opening_bid
from .crowns import crown_things
from .state import Auction, State, sold


def asks(view: State, seat: int) -> Decision | None:
    """Return what this seat may do now, or None if it is not asked."""
    if view.over:
        return None
    if view.group == 0:
        return _for_crowns(view, seat) if seat == view.excuse else None
    if view.auction is None:
        return _for_a_card(view, seat) if seat == view.active else None
    if view.auction.closed:
        return _for_a_closed_bid(view, view.auction, seat) if seat in view.auction.waiting else None
    return _for_more(view, view.auction, seat) if seat == view.auction.waiting[0] else None


def barred(view: State, seat: int) -> Mapping[str, Text]:
    """Return the verbs that a player may expect but cannot use now, each with the reason."""
    selling = view.group > 0 and view.auction is None
    if not selling or any(opening_bid(card) <= view.gold[seat] for card in view.row):
        return {}
    least = min(map(opening_bid, view.row))
    why = say("The cheapest card would open at {least}, and you have {gold} gold.", least=least, gold=view.gold[seat])
    return {"open": why}


def objects(view: State, seat: int, choice: Choice) -> Text | None:
    """Return why values that fit one by one do not fit together, or None if they do."""
    for crown in choice.values if choice.verb == "give" else ():
        if choice.values.count(crown) > 1:
            return say("You named {crown} twice. Choose a different Crown for each player.", crown=crown)
    return None


def _for_crowns(view: State, seat: int) -> Decision:
    others = clockwise(0, len(view.gold), without=(seat,))
    blanks = tuple(
        OneOf(
            "Crown",
            crown_things(tuple(crown for crown in CROWNS if "A" + suits(crown) not in view.aces[other])),
            why=say("Nobody can get a Crown in the suit of one of their Aces."),
        )
        for other in others
    )
    gifts = ", ".join(f"{{}} to {other + 1}" for other in others)
    return Decision(
        seat,
        say(
            "Which Crown goes to each player, and which do you keep? {numbers}.",
            numbers=tuple(say("{number} is {seat}", number=other + 1, seat=other) for other in others),
        ),
        (
            Act(
                "deal",
                phrase="deal at random",
                note=say("any deal the rules allow"),
                spoken="deal the Crowns at random",
            ),
            Act("give", (*blanks, OneOf("Crown", crown_things(CROWNS))), phrase=f"give {gifts} and keep {{}}"),
        ),
        default=Choice("deal"),
        topic="the Crowns",
        public=True,
    )


def _for_a_card(view: State, seat: int) -> Decision:
    gold = view.gold[seat]
    affordable = tuple(card for card in view.row if opening_bid(card) <= gold)
    why = say("An open auction starts at the card's number (10 for a Pawn), and you have {gold} gold.", gold=gold)
    closed = Act(
        "closed",
        (OneOf("card", things(view.row)),),
        note=say("everyone bids in secret"),
        label="closed auction",
        spoken="sell {} in a closed auction",
    )
    opened = Act(
        "open",
        (OneOf("card", things(affordable), why),),
        note=say("you open the bidding at the card's number, or 10 for a Pawn"),
        label="open auction",
        spoken="sell {} in an open auction",
    )
    if affordable:
        prompt = say("Which card will you auction next, closed or open? You can bid for it too.")
        brief = say("Which card will you auction next?")
    else:
        prompt = brief = say("Which card will you auction next? You can't afford an open auction.")
    return Decision(
        seat,
        prompt,
        (closed, opened) if affordable else (closed,),
        default=Choice("closed", (view.row[0],)),
        topic=f"auction {sold(view) + 1}",
        public=True,
        brief=brief,
    )


def _for_a_closed_bid(view: State, auction: Auction, seat: int) -> Decision:
    gold = view.gold[seat]
    return Decision(
        seat,
        say("What's your secret bid for {card}?", card=auction.card),
        (Act("bid", (Amount("gold", 0, gold, why=say("You have {gold} gold.", gold=gold)),)),),
        default=Choice("bid", (0,)),
        topic=f"auction {sold(view) + 1}",
        public=True,
    )


def _for_more(view: State, auction: Auction, seat: int) -> Decision:
    gold = view.gold[seat]
    bid = Amount(
        "gold",
        auction.high + 1,
        gold,
        raising=True,
        why=say("The high bid is {high}, and you have {gold} gold.", high=auction.high, gold=gold),
    )
    if seat == view.active:
        prompt = say("Bid above {high} for {card}? You have the last word.", high=auction.high, card=auction.card)
        brief = say("Bid above {high}? You have the last word.", high=auction.high)
    else:
        prompt = say("Bid above {high} for {card}? You get one chance.", high=auction.high, card=auction.card)
        brief = say("Bid above {high}? You get one chance.", high=auction.high)
    return Decision(
        seat,
        prompt,
        (Act("pass"), *((Act("bid", (bid,)),) if bid.count() else ())),
        default=Choice("pass"),
        topic=f"auction {sold(view) + 1}",
        public=True,
        brief=brief,
    )
