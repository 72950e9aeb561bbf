"""The table of Templari as one reader sees it."""

from __future__ import annotations

from engine.board import Amounts, Board, Fold, Grid, Line, Panel, Part, Row
from engine.facts import SPECTATOR
from engine.tell import Text, say

from .cards import COLOURS, colour, faces, number
from .digits import endings_allowed
from .scoring import standing, worth_of_colours
from .state import State, most_one_may_bid
from .terms import LOTS


def _possible_endings(view: State, seat: int) -> tuple[Line, ...]:
    """Return the digits that a player's bids may end in, while they may bid and own a number."""
    if not _may_bid(view, seat) or not view.cards[seat]:
        return ()
    endings = tuple(sorted(endings_allowed(view.cards[seat])))
    if not endings:
        return (Line(say("You own every number, so you can't bid.")),)
    return (Line(say("Your bids can end in {endings:or}, the numbers you don't own.", endings=endings)),)


def _may_bid(view: State, seat: int) -> bool:
    """Return whether a player can still bid in the auction that is under way."""
    return not view.over and view.offender is None and view.auction is not None and seat in view.auction.bidders


def show(view: State, seat: int) -> Board:
    """Return the board for a seat or the SPECTATOR."""
    return Board(
        title=say("Templari, lot {round} of {lots}", round=view.round, lots=LOTS),
        turn=_turn(view),
        centre=_centre(view),
        mine=_mine(view, seat) if seat != SPECTATOR else (),
        players=_players(view),
        folds=() if view.over else _folds(view),
    )


def _turn(view: State) -> Text:
    if view.over:
        return say("The game is over.")
    if view.offender is not None:
        return say("{seat} must give up a card.", seat=view.offender)
    if view.auction is None:
        return say("{seat} can sell a card before the lot comes up.", seat=view.sellers[0])
    lot = view.lot if view.auction.seller is None else (view.auction.card,)
    if view.auction.leader is None:
        return say("It's {seat's} turn to bid for {lot}. Nobody has bid yet.", seat=view.auction.turn, lot=lot)
    return say(
        "It's {seat's} turn to bid for {lot}. {leader:seat} [has|have] the high bid: {high}.",
        seat=view.auction.turn,
        lot=lot,
        high=view.auction.high,
        leader=view.auction.leader,
    )


def _centre(view: State) -> tuple[Part, ...]:
    parts: list[Part] = []
    if view.auction is not None and view.auction.seller is not None:
        seller, card = view.auction.seller, faces((view.auction.card,))
        still = say("{seat's} card, still for sale", seat=seller)
        parts.append(Row(say("{seat's} card for sale", seat=seller) if view.offender is None else still, card, "lot"))
    if view.lot:
        label = say("The lot") if view.offender is None else say("The lot, still to be won")
        parts.append(Row(label, faces(view.lot), "lot"))
    elif view.sellers and not view.over and view.auction is None and view.offender is None:
        offer = say("{seat} may auction a card to the others. The highest bidder pays {seat}.", seat=view.sellers[0])
        parts.append(Line(offer))
    parts.append(Amounts(((say("coins in the pot"), view.pot), (say("cards to come"), len(view.deck)))))
    return tuple(parts)


def _mine(view: State, seat: int) -> tuple[Part, ...]:
    coins = () if view.terms.open_money or view.over else ((say("coins"), view.coins[seat]),)
    counts = (*coins, *_gain(view, seat))
    amounts = (Amounts(counts),) if counts else ()
    return amounts if view.over else (*amounts, *_possible_endings(view, seat), *_price_of_too_high_a_bid(view, seat))


def _gain(view: State, seat: int) -> tuple[tuple[Text, int], ...]:
    """Return the points that this player would gain by winning the auction."""
    if view.auction is None or not _may_bid(view, seat):
        return ()
    won = view.lot if view.auction.seller is None else (view.auction.card,)
    gain = worth_of_colours(view.cards[seat] + won) - worth_of_colours(view.cards[seat])
    return ((say("points this lot would gain you"), gain),)


def _price_of_too_high_a_bid(view: State, seat: int) -> tuple[Line, ...]:
    """Return what it costs to win with a bid above one's own coins, where that is allowed."""
    possible, endings = range(view.coins[seat] + 1, most_one_may_bid(seat, view) + 1), endings_allowed(view.cards[seat])
    most = max((bid for bid in possible if bid % 10 in endings), default=None)
    if not _may_bid(view, seat) or most is None:
        return ()
    return (
        Line(
            say(
                "You can bluff up to {most}: if a bid above your {coins:coin|coins} wins, you get nothing and give up a card.",
                most=most,
                coins=view.coins[seat],
            )
        ),
    )


def _folds(view: State) -> tuple[Fold, ...]:
    """Return how many cards of each colour everyone has and which last digits that forbids, and the cards to come."""

    def digits(seat: int) -> Text | None:
        barred = tuple(sorted({number(card) for card in view.cards[seat]}))
        return say("{digits}", digits=" ".join(map(str, barred))) if barred else None

    rows = tuple(
        (seat, (digits(seat), *(sum(colour(card) == each for card in cards) or None for each in COLOURS)))
        for seat, cards in enumerate(view.cards)
    )
    heads = tuple(say("{colour}", colour=name) for name in COLOURS.values())
    left = dict[str, list[int]]()
    for card in sorted(view.deck):
        left.setdefault(colour(card), []).append(number(card))
    lines = tuple(
        Line(say("{colour}: {numbers}.", colour=name, numbers=tuple(left[each])))
        for each, name in COLOURS.items()
        if each in left
    )
    return (
        *((Fold(say("Colours"), (Grid((say("numbers owned"), *heads), rows),)),) if any(view.cards) else ()),
        *((Fold(say("Cards to come"), lines, bulky=True),) if lines else ()),
    )


def _players(view: State) -> tuple[Panel, ...]:
    scores = standing(view).scores
    shows_coins = view.terms.open_money or view.over

    def panel(other: int) -> Panel:
        numbers = [(say("points"), scores[other]), (say("cards"), len(view.cards[other]))]
        if shows_coins:
            numbers.append((say("coins"), view.coins[other]))
        state, chip, out = _state(view, other)
        cards = (Row(say("cards"), faces(view.cards[other])),) if view.cards[other] else ()
        return Panel(other, tuple(numbers), state, chip, out, cards)

    return tuple(map(panel, range(len(view.coins))))


def _state(view: State, seat: int) -> tuple[Text | None, int | None, bool]:
    """Return what a player does in the auction, the bid in front of them, and whether they are out of it."""
    auction = view.auction
    if view.over or auction is None or view.offender is not None:
        return None, None, False
    if seat == auction.leader:
        return say("high bid"), auction.high, False
    if seat == auction.seller:
        return say("selling"), None, True
    if seat == auction.turn:
        return None, None, False
    if seat in auction.bidders:
        return say("still bidding"), None, False
    return say("passed"), None, True
