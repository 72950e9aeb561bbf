"""The table of Sun Bid as one reader sees it."""

from __future__ import annotations

from engine.board import Amounts, Board, Grid, Line, Part, Row
from engine.decks.decktet import faces, in_order
from engine.facts import SPECTATOR
from engine.seats import clockwise
from engine.tell import Text, say

from .scoring import in_words, points_of_take
from .state import ROUNDS, Auction, State, all_sums
from .words import sun_face, sun_faces


def show(view: State, seat: int) -> Board:
    """Return the board for a seat or the SPECTATOR."""
    others = clockwise(seat + 1, len(view.suns), without=(seat,))
    return Board(
        title=say("Sun Bid, round {round} of {rounds}", round=view.round, rounds=ROUNDS),
        turn=_turn(view),
        up=_up(view) if not view.over else (),
        mine=_mine(view, seat) if seat != SPECTATOR else (),
        others=tuple(part for other in others for part in _belongings(view, other)),
        scores=(_scores(view),),
    )


def _turn(view: State) -> Text:
    auction = view.auction
    if view.over:
        return say("The game is over.")
    if auction is None and view.deck:
        return say("It is {seat's} turn.", seat=view.lead)
    if auction is None:
        return say("The deck is empty. {seat} may call a last auction.", seat=view.lead)
    if auction.aces:
        return say("{seat} must discard for {aces}.", seat=auction.leader, aces=auction.aces)
    if auction.leader is None:
        return say("It is {seat's} turn to bid. Nobody has bid yet.", seat=auction.bidders[0])
    return say(
        "It is {seat's} turn to bid. The high bid is {high}, by {leader:seat}.",
        seat=auction.bidders[0],
        high=auction.high,
        leader=auction.leader,
    )


def _up(view: State) -> tuple[Part, ...]:
    parts: list[Part] = [
        Row(say("The pool"), faces(in_order(view.pool))),
        Row(say("The Sun in the centre"), (sun_face(view.centre, view.terms),)),
    ]
    if view.auction is not None and view.auction.bidders:
        parts.append(Line(_how_it_began(view, view.auction)))
        parts.append(Line(say("Still to bid, in this order: {seats:seats}.", seats=view.auction.bidders)))
    counts = (
        (say("cards in the pool"), len(view.pool)),
        (say("cards in a full pool"), view.terms.full),
        (say("cards to come"), len(view.deck)),
    )
    return (*parts, Amounts(counts))


def _how_it_began(view: State, auction: Auction) -> Text:
    if not auction.called:
        return say("The pool is full. Nobody has to bid.")
    if auction.leader is None:
        return say("{seat} called, and must bid if nobody else does.", seat=view.lead)
    return say("{seat} called.", seat=view.lead)


def _mine(view: State, seat: int) -> tuple[Part, ...]:
    points = points_of_take(view.takes[seat], view.terms.per_suit)
    worth = say("Your take is worth nothing yet.")
    if any(points):
        worth = say("Your take is worth {points:point|points}: {parts}.", points=sum(points), parts=in_words(*points))
    return (*_belongings(view, seat), *(() if view.over else (Line(worth),)))


def _belongings(view: State, seat: int) -> tuple[Part, ...]:
    down = Row(say("{seat's} Suns face down", seat=seat), sun_faces(view.spent[seat], view.terms))
    return (
        Row(say("{seat's} Suns to bid", seat=seat), sun_faces(view.suns[seat], view.terms)),
        *((down,) if view.spent[seat] else ()),
        Row(say("{seat's} take", seat=seat), faces(in_order(view.takes[seat]))),
    )


def _scores(view: State) -> Grid:
    columns = [(say("points"), view.scores), (say("sum of Suns"), all_sums(view))]
    # At the end the points count the takes already.
    if not view.over:
        worth = tuple(sum(points_of_take(cards, view.terms.per_suit)) for cards in view.takes)
        columns.append((say("take now"), worth))
    rows = tuple((seat, tuple(column[seat] for _, column in columns)) for seat in range(len(view.scores)))
    return Grid(tuple(head for head, _ in columns), rows)
