"""The table of Sorcerous Futures as one reader sees it."""

from __future__ import annotations

from engine.board import Amounts, Board, Grid, Line, Part, Row
from engine.decks.decktet import NAMES, faces
from engine.facts import SPECTATOR, take
from engine.seats import clockwise
from engine.tell import Text, say

from .cards import AUCTIONS, GROUP, MARKERS, known
from .state import Auction, State, markers_of, sold
from .words import crowns_sentence, owner, worths_sentence
from .worth import crown_bonus, standing, total_in_front, total_worth, worth_of_card, worths_of


def show(view: State, seat: int) -> Board:
    """Return the board for a seat or the SPECTATOR."""
    return Board(
        title=_title(view),
        turn=_turn(view),
        up=_up(view),
        mine=_mine(view, seat) if seat != SPECTATOR else (),
        others=tuple(
            Row(owner(other, view), faces(view.bought[other]))
            for other in clockwise(seat + 1, len(view.gold), without=(seat,))
        ),
        scores=(_scores(view),),
    )


def _title(view: State) -> Text:
    if view.over:
        return say("Sorcerous Futures, the end")
    if view.group == 0:
        return say("Sorcerous Futures, the Crowns")
    return say("Sorcerous Futures, auction {number} of {all}", number=sold(view) + 1, all=AUCTIONS)


def _turn(view: State) -> Text:
    if view.over:
        return say("The game is over.")
    if view.group == 0:
        return say("{seat} [deals|deal] the Crowns.", seat=view.excuse)
    if view.auction is None:
        return say("It is {seat's} turn to sell a card.", seat=view.active)
    if view.auction.closed:
        return say(
            "Everybody bids in secret for {card}. A tie goes to {seat}, or else to the left.",
            card=view.auction.card,
            seat=view.active,
        )
    return say(
        "It is {seat's} turn to bid for {card}. The high bid is {high}, by {leader:seat}.",
        seat=view.auction.waiting[0],
        card=view.auction.card,
        high=view.auction.high,
        leader=view.auction.leader,
    )


def _up(view: State) -> tuple[Part, ...]:
    parts: list[Part] = []
    row = view.row
    if view.over:
        parts += [Line(worths_sentence(view.down.valuations)), Line(crowns_sentence(view.down.crowns))]
    if view.auction is not None:
        row = take(row, view.auction.card)
        parts.append(Row(say("Being sold"), faces((view.auction.card,))))
        if not view.auction.closed:
            parts.append(Line(_still_to_bid(view, view.auction)))
    if row:
        parts.append(Row(say("For sale") if view.auction is None else say("For sale later"), faces(row)))
    if view.group and not view.over:
        parts.append(Amounts(((say("cards to come"), AUCTIONS - GROUP * view.group),)))
        parts += _under_the_excuse(view)
    return tuple(parts)


def _still_to_bid(view: State, auction: Auction) -> Text:
    if auction.leader != view.active:
        return say("Still to bid: {seats:seats}.", seats=auction.waiting)
    return say("Still to bid: {seats:seats}; then {seat}, if outbid.", seats=auction.waiting[:-1], seat=view.active)


def _under_the_excuse(view: State) -> tuple[Part, ...]:
    """Return the card under the Excuse, which no one owns with three players."""
    card = view.down.valuations[-1]
    if view.excuse is not None:
        return ()
    if not known(card):
        return (Line(say("The card under the Excuse will be turned up after ten auctions.")),)
    return (Row(say("Under the Excuse"), faces((card,))),)


def _mine(view: State, seat: int) -> tuple[Part, ...]:
    down, parts = view.down, list[Part]()
    parts.append(Amounts(((say("gold"), view.gold[seat]),)))
    for marker in markers_of(seat, view):
        if known(card := down.valuations[MARKERS.index(marker)]):
            parts.append(Row(say("Under {marker}", marker=marker), faces((card,))))
    if known(down.crowns[seat]):
        parts.append(Row(say("Crown"), faces((down.crowns[seat],))))
    if seat == view.excuse and known(down.crowns[seat]) and not view.over:
        parts.append(Line(crowns_sentence(down.crowns)))
    if down.seven and seat == view.excuse and not view.over:
        parts.append(Row(say("The seven cards face down"), faces(down.seven)))
    parts.append(Row(say("cards"), faces(view.bought[seat])))
    if view.group and not view.over:
        parts += _known_to(view, seat)
    return tuple(parts)


def _known_to(view: State, seat: int) -> tuple[Part, ...]:
    """Return what a player knows about values, with 0 for suits whose card they have not seen."""
    worths, crown = worths_of(view.down.valuations), view.down.crowns[seat]
    missing = tuple(marker[-1] for marker, card in zip(MARKERS, view.down.valuations, strict=True) if not known(card))
    row = view.row if view.auction is None else (view.auction.card,)
    each = tuple(say("{card} {worth}", card=NAMES[card], worth=total_worth((card,), worths, crown)) for card in row)
    mine = total_worth(view.bought[seat], worths, crown)
    return (
        Line(say("Your cards score {mine}, plus the worth of {missing}.", mine=mine, missing=missing)),
        Line(say("Counted like that, what is for sale would score you: {each}.", each=each)),
    )


def _scores(view: State) -> Grid:
    scores = standing(view).scores
    if not view.over:
        return Grid(
            (say("gold"), say("cards")),
            tuple((seat, (gold, len(view.bought[seat]))) for seat, gold in enumerate(view.gold)),
        )
    worths = worths_of(view.down.valuations)
    rows = []
    for seat, gold in enumerate(view.gold):
        cards = view.bought[seat]
        plain = sum(worth_of_card(card, worths) for card in cards)
        bonus = sum(crown_bonus(card, worths, view.down.crowns[seat]) for card in cards)
        front = total_in_front(markers_of(seat, view), worths)
        rows.append((seat, (gold, plain, bonus, scores[seat], front)))
    return Grid((say("gold"), say("cards"), say("Crown"), say("points"), say("in front")), tuple(rows))
