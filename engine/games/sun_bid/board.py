"""The table of Sun Bid as one reader sees it."""

from __future__ import annotations

from engine.board import Amounts, Board, Face, Fold, Line, Panel, Part, Row
from engine.decks.decktet import ACES, by_suit, faces, in_order
from engine.facts import SPECTATOR, take
from engine.tell import Text, say

from .aces import NONE, cheapest_way
from .decisions import uses
from .scoring import HIGHEST_SUN_TOTAL, in_words, points_of_take
from .state import ROUNDS, Auction, State, all_sums
from .words import sun_face, sun_faces


def show(view: State, seat: int) -> Board:
    """Return the board for a seat or the SPECTATOR."""
    return Board(
        title=say("Sun Bid, round {round} of {rounds}", round=view.round, rounds=ROUNDS),
        turn=_turn(view),
        centre=_centre(view) if not view.over else (),
        mine=_mine(view, seat) if seat != SPECTATOR else (),
        players=_players(view),
        notes=() if view.over else (Line(_how_it_scores()),),
        folds=() if view.over else _folds(view, seat),
    )


def _turn(view: State) -> Text:
    auction = view.auction
    if view.over:
        return say("The game is over.")
    if auction is None and view.deck:
        return _turn_to_act(view)
    if auction is None:
        return say("The deck is empty. {seat} can call one last auction.", seat=view.lead)
    if auction.aces:
        return say("{seat} must discard for {aces}.", seat=auction.leader, aces=auction.aces)
    bidder, lot = auction.bidders[0], say("the pool") if view.pool else say("the centre Sun")
    if auction.leader is None and auction.called and auction.bidders == (view.lead,):
        return say("Nobody else bid, so {seat} must bid for {lot}.", seat=bidder, lot=lot)
    if auction.leader is None:
        return say("It's {seat's} turn to bid for {lot}. Nobody has bid yet.", seat=bidder, lot=lot)
    return say(
        "It's {seat's} turn to bid for {lot}. {leader:seat} [has|have] the high bid: {high}.",
        seat=bidder,
        lot=lot,
        high=auction.high,
        leader=auction.leader,
    )


def _turn_to_act(view: State) -> Text:
    if any(uses(view, view.lead)):
        return say("It's {seat's} turn to flip a card, call an auction, or use a Pawn or Court.", seat=view.lead)
    return say("It's {seat's} turn to flip a card or call an auction.", seat=view.lead)


def _how_it_scores() -> Text:
    return say(
        "“Take value” is what each take would score now. At the end of the round, the highest Sun total scores {bonus:point|points}.",
        bonus=HIGHEST_SUN_TOTAL,
    )


def _centre(view: State) -> tuple[Part, ...]:
    parts: list[Part] = [
        Row(say("The pool"), faces(in_order(view.pool)), "lot") if view.pool else Line(say("The pool is empty.")),
        Row(say("Centre Sun"), (sun_face(view.centre, view.terms),)),
    ]
    if view.auction is not None and view.auction.bidders:
        parts.append(Line(_how_it_began(view, view.auction)))
        parts.append(Line(say("Still to bid, in order: {seats:seats}.", seats=view.auction.bidders)))
    counts = ((say("cards in a full pool"), view.terms.full), (say("cards in the deck"), len(view.deck)))
    return (*parts, Amounts(counts))


def _how_it_began(view: State, auction: Auction) -> Text:
    if not auction.called:
        return say("The pool is full, and nobody has to bid.")
    if auction.leader is None:
        return say("{seat} called, and must bid if nobody else does.", seat=view.lead)
    return say("{seat} called.", seat=view.lead)


def _mine(view: State, seat: int) -> tuple[Part, ...]:
    return () if view.over or not view.pool else (_with_the_pool(view, seat),)


def _folds(view: State, seat: int) -> tuple[Fold, ...]:
    """Return what the player's take is worth, and the cards to come."""
    own = () if seat == SPECTATOR else (Fold(say("Your take"), (_worth(view, seat),)),)
    return (*own, *((Fold(say("Cards in the deck"), by_suit(view.deck), bulky=True),) if view.deck else ()))


def _worth(view: State, seat: int) -> Line:
    points = points_of_take(view.takes[seat], view.terms.per_suit)
    worth = say("Your take is worth nothing yet.")
    if any(points):
        worth = say("Your take is worth {points:point|points}: {parts}.", points=sum(points), parts=in_words(*points))
    return Line(worth)


def _with_the_pool(view: State, seat: int) -> Line:
    """Return what the player's take would be worth with the pool, once its Aces are paid for in the best way."""
    aces = tuple(card for card in view.pool if card in ACES)
    cards = in_order(view.takes[seat] + tuple(card for card in view.pool if card not in ACES))
    for card in cheapest_way(aces, cards, view.terms.per_suit) if aces else ():
        if card != NONE:
            cards = take(cards, card)
    before = sum(points_of_take(view.takes[seat], view.terms.per_suit))
    after = sum(points_of_take(cards, view.terms.per_suit))
    if after == before:
        return Line(say("With this pool, your take would still be worth {after:point|points}.", after=after))
    if after < before:
        return Line(
            say(
                "With this pool, your take would be worth {after:point|points} ({less} less).",
                after=after,
                less=before - after,
            )
        )
    return Line(
        say(
            "With this pool, your take would be worth {after:point|points} ({more} more).",
            after=after,
            more=after - before,
        )
    )


def _players(view: State) -> tuple[Panel, ...]:
    sums = all_sums(view)

    def panel(other: int) -> Panel:
        numbers = [(say("points"), view.scores[other]), (say("Sun total"), sums[other])]
        # At the end the points count the takes already.
        if not view.over:
            numbers.append((say("take value"), sum(points_of_take(view.takes[other], view.terms.per_suit))))
        return Panel(other, tuple(numbers), *_state(view, other), _belongings(view, other))

    return tuple(map(panel, range(len(view.suns))))


def _state(view: State, seat: int) -> tuple[Text | None, Face | None, bool]:
    """Return what a player does in the auction, the high bid if it is theirs, and whether they are out of it."""
    auction = view.auction
    if auction is None:
        return None, None, False
    if seat == auction.leader:
        return say("high bid"), sun_face(auction.high, view.terms), False
    if seat in auction.bidders:
        return None, None, False
    return (say("passed") if view.suns[seat] else say("no Suns")), None, True


def _belongings(view: State, seat: int) -> tuple[Part, ...]:
    down = Row(say("Suns face down"), sun_faces(view.spent[seat], view.terms), "spent")
    return (
        Row(say("Suns face up"), sun_faces(view.suns[seat], view.terms)),
        *((down,) if view.spent[seat] else ()),
        Row(say("take"), faces(in_order(view.takes[seat]))),
    )
