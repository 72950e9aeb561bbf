"""The table of Templari as one reader sees it."""

from __future__ import annotations

from engine.board import Amounts, Board, Grid, Line, Part, Row
from engine.facts import SPECTATOR
from engine.seats import clockwise
from engine.tell import Text, say

from .cards import faces
from .digits import DIGITS, endings_allowed
from .scoring import standing
from .state import State
from .terms import LOTS


def _barred_endings(barred: tuple[int, ...]) -> Line:
    """Return a line with the digits that a bid may not end in."""
    if barred:
        return Line(say("Your bids may not end in {digits:or}.", digits=barred))
    return Line(say("Your bids may end in any digit."))


def show(view: State, seat: int) -> Board:
    """Return the board for a seat or the SPECTATOR."""
    return Board(
        title=say("Templari, lot {round} of {lots}", round=view.round, lots=LOTS),
        turn=_turn(view),
        up=_up(view),
        mine=_mine(view, seat) if seat != SPECTATOR else (),
        others=tuple(
            Row(say("{seat}", seat=other), faces(view.cards[other]))
            for other in clockwise(seat + 1, len(view.coins), without=(seat,))
        ),
        scores=(_scores(view),),
    )


def _turn(view: State) -> Text:
    if view.over:
        return say("The game is over.")
    if view.offender is not None:
        return say("{seat} must give up a card.", seat=view.offender)
    if view.auction is None:
        return say("{seat} may sell a card before the lot comes up.", seat=view.sellers[0])
    if view.auction.leader is None:
        return say("It is {seat's} turn to bid. Nobody has bid yet.", seat=view.auction.turn)
    return say(
        "It is {seat's} turn to bid. The high bid is {high}, by {leader:seat}.",
        seat=view.auction.turn,
        high=view.auction.high,
        leader=view.auction.leader,
    )


def _up(view: State) -> tuple[Part, ...]:
    parts: list[Part] = []
    if view.auction is not None and view.auction.seller is not None:
        parts.append(Row(say("For sale by {seat}", seat=view.auction.seller), faces((view.auction.card,))))
    if view.lot:
        parts.append(Row(say("The lot"), faces(view.lot)))
    if view.auction is not None:
        parts.append(Line(say("Still bidding: {seats:seats}.", seats=view.auction.bidders)))
    parts.append(Amounts(((say("coins in the pot"), view.pot), (say("cards to come"), len(view.deck)))))
    return tuple(parts)


def _mine(view: State, seat: int) -> tuple[Part, ...]:
    barred = tuple(sorted(DIGITS - endings_allowed(view.cards[seat])))
    return (
        Amounts(((say("coins"), view.coins[seat]),)),
        Row(say("cards"), faces(view.cards[seat])),
        *(() if view.over else (_barred_endings(barred),)),
    )


def _scores(view: State) -> Grid:
    scores = standing(view).scores
    coins = (say("coins"),) if view.terms.open_money or view.over else ()
    return Grid(
        (say("points"), say("cards"), *coins),
        tuple(
            (seat, (scores[seat], len(view.cards[seat]), *((view.coins[seat],) if coins else ())))
            for seat in range(len(view.coins))
        ),
    )
